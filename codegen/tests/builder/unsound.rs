//! Mistakes that the builder must not believe: claims that are wrong, and registers that have changed.

use girih_codegen::{Builder, Cond, Error, Expr, Kernel, Reg, Scalar, Width};
use girih_layout::{Int, Symbol};
use girih_ptx::{Opcode, Operand, Special, Type};
use girih_tensor::DType;
use proptest::prelude::*;

use super::harness::Harness;
use crate::expr::formula::Formula;

fn builder() -> Builder {
    Builder::new("k", 80, 32)
}

fn set(b: &mut Builder, reg: &Reg, value: i64) {
    b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(reg), Operand::Int(value)]);
}

#[test]
fn a_block_has_1_to_1024_threads() {
    for (threads, right) in
        [(0, false), (1, true), (1024, true), (1025, false), (2000, false), (u32::MAX, false)]
    {
        let found = Builder::new("k", 80, threads).finish();
        assert_eq!(found.is_ok(), right, "{threads}");
        if let Err(error) = found {
            assert_eq!(error.to_string(), format!("a block of {threads} threads: 1 to 1024 are accepted"));
        }
    }
    // The builder refuses to compute once it has been told something wrong.
    assert!(Builder::new("k", 80, 0).value(&Expr::from(1), Width::W32).is_err());
}

/// The range of a thread's index has every thread of the block.
#[test]
fn special_registers_have_the_range_of_the_kernel() {
    for threads in [1, 32, 64, 1024] {
        let mut b = Builder::new("k", 80, threads);
        let range = |b: &mut Builder, special| b.special(special).range();
        assert_eq!(range(&mut b, Special::TidX), (0, i64::from(threads) - 1));
        assert_eq!(range(&mut b, Special::CtaidX), (0, (1 << 31) - 2));
        assert_eq!(range(&mut b, Special::Clock64).1, i64::MAX / 4);
    }
}

/// A clock is read each time that it is asked for, a thread's index once.
#[test]
fn what_changes_is_read_again() {
    let mut b = builder();
    assert_eq!(b.special(Special::TidX), b.special(Special::TidX));
    assert_ne!(b.special(Special::Clock), b.special(Special::Clock));
}

#[test]
fn symbols_are_handed_out_once() {
    let mut b = builder();
    let (m, host, n) = (
        b.symbol("m", |m| m.at_most(64)).unwrap(),
        b.unbound_symbol(|it| it).unwrap(),
        b.symbol("n", |n| n.at_most(1 << 20)).unwrap(),
    );
    assert_eq!([m, host, n].map(Symbol::id), [0, 1, 2]);
    let of = |symbol| Expr::from_int(&Int::symbol(symbol));
    let (m_reg, n_reg) = (b.value(&of(m), Width::W32).unwrap(), b.value(&of(n), Width::W32).unwrap());
    assert_ne!(m_reg, n_reg);
    assert_eq!(b.value(&of(host), Width::W32).unwrap_err(), Error::UnboundSymbol { symbol: 1 });
    // Neither another symbol with the id of a parameter's is accepted, nor the parameter's symbol with a fact that nothing checks.
    for other in [Symbol::new(0), m.divisible_by(8)] {
        let error = b.value(&of(other), Width::W32).unwrap_err();
        assert!(matches!(error, Error::OtherSymbol { .. }), "{error}");
    }
    assert!(b.symbol("x", |_| Symbol::new(9)).is_err());
    for _ in 3..256 {
        b.unbound_symbol(|it| it).unwrap();
    }
    assert!(b.symbol("one too many", |it| it).is_err());
}

/// A variable is the value that its register had at the declaration; once the register is written, the variable is refused.
#[test]
fn registers_that_are_written_are_stale() {
    let mut h = Harness::new(2);
    let reg = h.b.reg(Type::B32);
    set(&mut h.b, &reg, 5);
    let five = h.b.var(&reg, 0, 9, 1);
    let twice = &five * 2;
    h.out.clone().store(&mut h.b, 0, &twice).unwrap();
    set(&mut h.b, &reg, 7);
    for stale in [&five, &twice, &(&five + 1)] {
        assert_eq!(h.b.value(stale, Width::W32).unwrap_err(), Error::Stale { expr: stale.to_string() });
        let cond = Cond::less(stale, &Expr::from(6));
        assert!(matches!(h.b.cond(&cond), Err(Error::Stale { .. })));
    }
    let seven = h.b.var(&reg, 0, 9, 1);
    h.out.clone().store(&mut h.b, 1, &(&seven * 2)).unwrap();
    h.check(&[], |_, _, slot| [10, 14][slot as usize]);
}

#[test]
fn inline_ptx_writes_registers_too() {
    let mut b = builder();
    let regs = b.regs(Type::U32, 2);
    let (first, second) = (b.var(&regs[0], 0, 9, 1), b.var(&regs[1], 0, 9, 1));
    b.ptx("{ add.u32 %0, %1, 1; }", &[&regs[0], &regs[1]]).unwrap();
    assert!(matches!(b.value(&first, Width::W32), Err(Error::Stale { .. })));
    assert!(b.value(&second, Width::W32).is_ok());
}

/// The builder hands out the register of a computed value again and again, and no one may write it.
#[test]
fn registers_of_expressions_are_not_written() {
    let kernel = |which: usize| {
        let mut b = builder();
        let expr = &b.special(Special::TidX) * 3;
        let scalar = Scalar::index(&expr, DType::S32) + 1;
        let regs =
            [b.value(&expr, Width::W32)?, b.scalar(&scalar)?, b.cond(&scalar.less(7))?, b.reg(Type::B32)];
        let set = if which == 2 { "setp.eq.u32 %0, 1, 2;" } else { "mov.b32 %0, 5;" };
        b.ptx(set, &[&regs[which]])?;
        b.finish()
    };
    for which in 0..4 {
        let found = kernel(which);
        let refused = matches!(&found, Err(Error::Computed { .. }));
        assert_eq!((refused, found.is_ok()), (which < 3, which == 3), "{which}: {found:?}");
    }
}

/// In a loop's second round, instructions read what the first round has written, so that such writes are refused.
#[test]
fn loops_do_not_change_what_they_read_from_outside() {
    let kernel = |inside: bool, read: bool| -> Result<Kernel, Error> {
        let mut b = builder();
        let reg = b.reg(Type::B32);
        set(&mut b, &reg, 0);
        let outside = b.var(&reg, 0, 9, 1);
        // The value is asked for before the loop, so that only the use in the loop counts.
        b.value(&outside, Width::W32)?;
        b.for_range(&Expr::from(4), |b, _| {
            let value = if inside { b.var(&reg, 0, 9, 1) } else { outside.clone() };
            if read {
                b.value(&value, Width::W32)?;
            }
            set(b, &reg, 1);
            Ok(())
        })?;
        b.finish()
    };
    for (inside, read, right) in
        [(true, true, true), (true, false, true), (false, false, true), (false, true, false)]
    {
        let found = kernel(inside, read);
        assert_eq!(found.is_ok(), right, "{inside} {read}: {found:?}");
        if let Err(error) = found {
            assert_eq!(
                error.to_string(),
                "`mov.b32 %r0, 1` in a loop writes %r0, which the loop reads as a variable that was declared outside of it: \
                 call `Builder::var` inside the loop"
            );
        }
    }
}

#[test]
fn numbers_beyond_64_bits_are_refused() {
    let mut b = builder();
    let x = b.special(Special::TidX);
    let large = &x * i64::MAX;
    for beyond in
        [&large * 2, &large + &large, &(&x + i64::MAX) + 1, &large * &(&x + 2), &Expr::from(i64::MIN) * -1]
    {
        let error = b.value(&beyond, Width::W64).unwrap_err();
        assert!(matches!(error, Error::Beyond { .. }));
        assert_eq!(format!("[{error}]"), beyond.to_string());
        assert_eq!(beyond.as_constant(), None);
        // An expression beyond 64 bits never cancels, nor does an expression made from it.
        for still in [&beyond - &beyond, &beyond * &Expr::from(0), beyond.minimum(&x), x.maximum(&beyond)] {
            assert!(matches!(b.value(&still, Width::W64), Err(Error::Beyond { .. })), "{still}");
        }
        assert!(beyond.div(2).is_err() && beyond.rem(2).is_err() && beyond.and(1).is_err());
        let cond = Cond::less(&beyond, &x);
        assert!(matches!(b.cond(&cond), Err(Error::Beyond { .. })));
    }
    // Sums and products are computed modulo 2^64; an operation that needs the whole value is refused if that may be beyond.
    let wide = &(&large + 0) + &x;
    assert!(b.value(&large, Width::W64).is_ok() && b.value(&wide, Width::W64).is_err());
    assert!(large.div(3).is_err() && large.rem(5).is_err() && large.xor(&x).is_err());
    assert!(b.cond(&Cond::less(&large, &Expr::from(7))).is_err());
}

/// Every node keeps its facts, so that nested expressions are not walked again: depth 5 took 25 s once.
#[test]
fn nested_swizzles_take_no_time() {
    let swizzle = girih_layout::Swizzle::new(3, 4, 3).unwrap();
    let start = std::time::Instant::now();
    let mut b = builder();
    let mut expr = &b.special(Special::TidX) * 48;
    for depth in 0..12 {
        expr = &expr.swizzle(&swizzle).unwrap().rem(4093 - depth).unwrap() * 3;
    }
    assert!(expr.range().1 > 0);
    // An optimised build takes less than 1 ms; the limit is a thousand times as much.
    assert!(start.elapsed().as_secs() < 1, "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// An expression with large coefficients is exact, or refused.
    #[test]
    fn large_coefficients_are_exact_or_refused(steps in proptest::collection::vec((0..4u8, any::<i64>(), 0..63u32), 1..8), x in -9..9i64) {
        let mut b = builder();
        let reg = b.reg(Type::B64);
        let variable = b.var(&reg, -9, 9, 1);
        let (mut expr, mut exact) = (variable.clone(), i128::from(x));
        for (op, number, shift) in steps {
            let number = number >> shift;
            (expr, exact) = match op {
                0 => (&expr * number, exact.saturating_mul(number.into())),
                1 => (&expr + number, exact + i128::from(number)),
                2 => (&expr - &(&variable * number), exact - i128::from(number) * i128::from(x)),
                _ => (&expr + &expr, exact * 2),
            };
            if matches!(b.value(&expr, Width::W64), Err(Error::Beyond { .. })) {
                return Ok(());
            }
            prop_assert_eq!(Formula::of(&expr).wide(&|_| x), exact, "{}", expr);
        }
    }
}
