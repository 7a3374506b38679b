//! Blocks and repeats that are left and repeated from any depth.

use girih_codegen::{Builder, Cond, Error, Expr};
use girih_ptx::Type;

use super::harness::{Harness, UNTOUCHED};

/// A thread counts up to its own number, skips the numbers that 4 divides, and leaves both loops at 20. Values that are asked for inside
/// are computed on every way to their use.
#[test]
fn loops_are_left_and_repeated_from_any_depth() {
    let mut h = Harness::new(2);
    let (thread, out) = (h.thread.clone(), h.out.clone());
    let b = &mut h.b;
    let (i, sum) = (b.reg(Type::S32), b.reg(Type::S32));
    b.ptx("mov.b32 %0, -1; mov.b32 %1, 0;", &[&i, &sum]).unwrap();
    let around = b.open_block();
    let again = b.open_repeat();
    let turn = b.open_block();
    b.ptx("add.s32 %0, %0, 1;", &[&i]).unwrap();
    let number = b.var(&i, 0, 1 << 20, 1);
    b.leave(&around, &Cond::less(&Expr::from(19), &number), false).unwrap();
    let inner = b.open_block();
    b.leave(&inner, &Cond::less(&number, &thread), false).unwrap();
    b.leave(&around, &Cond::Always, false).unwrap();
    b.close_block(inner).unwrap();
    let fourth = number.rem(4).unwrap();
    b.leave(&turn, &Cond::less(&fourth, &Expr::from(1)), false).unwrap();
    let twice = b.value(&(&number * 2), girih_codegen::Width::W32).unwrap();
    b.ptx("add.s32 %0, %0, %1;", &[&sum, &twice]).unwrap();
    b.close_block(turn).unwrap();
    b.again(&again, &Cond::Always, true).unwrap();
    b.close_block(again).unwrap();
    b.close_block(around).unwrap();
    let sum = b.var(&sum, 0, 1 << 20, 1);
    out.store(b, Expr::from(0), &sum).unwrap();
    h.check(&[], |_, thread, slot| {
        let counted = (0..thread.min(20)).filter(|i| i % 4 != 0).map(|i| 2 * i).sum();
        if slot == 0 { counted } else { UNTOUCHED }
    });
}

#[test]
fn registers_change_places() {
    let mut h = Harness::new(3);
    let out = h.out.clone();
    let b = &mut h.b;
    let regs = b.regs(Type::S32, 3);
    b.ptx("mov.b32 %0, 10; mov.b32 %1, 20; mov.b32 %2, 30;", &[&regs[0], &regs[1], &regs[2]]).unwrap();
    let sources = [regs[1].clone(), regs[2].clone(), regs[0].clone()];
    b.move_all(&regs, &sources).unwrap();
    for (slot, reg) in regs.iter().enumerate() {
        let value = b.var(reg, 0, 100, 1);
        out.store(b, Expr::from(slot as i64), &value).unwrap();
    }
    h.check(&[], |_, _, slot| [20, 30, 10][slot as usize]);
}

#[test]
fn blocks_are_left_while_they_are_open() {
    let mut b = Builder::new("k", 80, 32);
    let around = b.open_block();
    let inner = b.open_block();
    assert!(matches!(b.again(&inner, &Cond::Always, true), Err(Error::Builder(_))));
    assert!(matches!(b.close_block(around), Err(Error::Builder(_))));
    let (x, y) = (b.reg(Type::F32), b.reg(Type::B16));
    assert!(matches!(b.move_all(&[x], &[y]), Err(Error::Mismatch { .. })));
}
