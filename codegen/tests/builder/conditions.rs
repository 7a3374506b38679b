//! Conditions and predicates.

use girih_codegen::{Cond, Expr};
use girih_ptx::{Opcode, Type};

use super::LD;
use super::harness::{Harness, THREADS, UNTOUCHED};

#[test]
fn conditions_decided_by_ranges_cost_nothing() {
    let h = Harness::new(1);
    let (t, b) = (&h.thread, &h.block);
    assert_eq!(Cond::less(t, &Expr::from(THREADS)), Cond::Always);
    assert_eq!(Cond::less(t, &(t + 1)), Cond::Always);
    assert_eq!(Cond::less(t, t), Cond::Never);
    assert_eq!(Cond::less(&(t + THREADS), t), Cond::Never);
    let open = Cond::less(t, b);
    assert_eq!(Cond::all([]), Cond::Always);
    assert_eq!(Cond::all([Cond::Always, open.clone(), open.clone()]), open);
    assert_eq!(Cond::all([open.clone(), Cond::Never]), Cond::Never);
    let other = Cond::less(b, t);
    let both = Cond::all([other.clone(), Cond::all([open.clone(), other.clone()])]);
    assert_eq!(both, Cond::all([open, other]));
}

#[test]
fn conditions_are_their_comparisons() {
    let mut h = Harness::new(8);
    let ld = h.symbol(LD);
    let (thread, block) = (h.thread.clone(), h.block.clone());
    let far = &(&ld * &thread) * 1024; // past 32 bits
    let constant = |c: i64| Expr::from(c);
    let conds = [
        Cond::less(&thread, &constant(7)),
        Cond::less(&constant(7), &thread),
        Cond::less(&far, &constant(1 << 40)),
        Cond::less(&(&thread + -30), &(&block * -5)),
    ];
    let all = Cond::all(conds[1..].iter().cloned());
    let out = h.out.clone();
    for (slot, cond) in (0..).zip(&conds) {
        h.out.store_if(&mut h.b, slot, &constant(1), cond).unwrap();
    }
    h.b.if_(&all, |b| out.store(b, 4, &constant(1))).unwrap();
    h.b.if_(&Cond::Never, |b| out.store(b, 5, &constant(1))).unwrap();
    h.b.if_(&Cond::Always, |b| out.store(b, 6, &constant(1))).unwrap();
    // On request, even decided conditions get a predicate register.
    let decided = [Cond::Always, Cond::Never].map(|c| h.b.cond(&c).unwrap());
    let chosen = h.b.reg(Type::B32);
    let [always, never] = &decided;
    h.b.ptx("selp.b32 %0, 1, 2, %1; @%2 mov.b32 %0, 3;", &[&chosen, always, never]).unwrap();
    let chosen = h.b.var(&chosen, 0, 3, 1);
    h.out.store(&mut h.b, 7, &chosen).unwrap();
    let ld = 1 << 24;
    h.check(&[ld as u32], |block, thread, slot| {
        let holds = [thread < 7, 7 < thread, ld * thread * 1024 < 1 << 40, thread - 30 < -5 * block];
        let stored = match slot {
            4 => holds[1..].iter().all(|&h| h),
            5 => false,
            6 | 7 => true,
            slot => holds[slot as usize],
        };
        if stored { 1 } else { UNTOUCHED }
    });
}

#[test]
fn select_or_zero_selects() {
    let mut h = Harness::new(4);
    let (thread, block) = (h.thread.clone(), h.block.clone());
    let conds = [Cond::less(&thread, &(&block * 20)), Cond::Always, Cond::Never];
    for (slot, cond) in (0..).zip(&conds) {
        let chosen = h.b.select_or_zero(cond, &(&thread + 5)).unwrap();
        let reg = h.b.reg(Type::B32);
        h.b.inst(Opcode::Mov, &[Type::B32.into()], vec![(&reg).into(), chosen]);
        let value = h.b.var(&reg, 0, 1 << 20, 1);
        h.out.store(&mut h.b, slot, &value).unwrap();
    }
    h.check(&[], |block, thread, slot| match slot {
        0 if thread < 20 * block => thread + 5,
        1 => thread + 5,
        3 => UNTOUCHED,
        _ => 0,
    });
}
