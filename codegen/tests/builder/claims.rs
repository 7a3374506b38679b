//! The simulator checks what a caller claims of a value, and the kernel's text has no trace of the claim.

use girih_codegen::{Builder, Cond, Expr, Scalar, Width};
use girih_ptx::{Claim, Module, Special, Type};
use girih_sim::{Error, Memory, Options};
use girih_tensor::{DType, Space};
use proptest::prelude::*;

use super::harness::{BLOCKS, Harness, THREADS, launch};
use crate::expr::formula::{Formula, Leaf};
use crate::expr::program::programs;
use crate::simulator::{addresses, block, checked, run};

/// Runs a kernel with these symbols; returns the claim that the simulator finds false, and the value.
fn found(module: &Module, symbols: &[u32], slots: i64) -> Option<(Claim, i64)> {
    let memory = Memory::new();
    let out = memory.alloc((8 * BLOCKS * THREADS * slots) as usize).unwrap();
    match checked(module, &memory, &launch(out, symbols)) {
        Ok(_) => None,
        Err(Error::FalseClaim { claim, value, .. }) => Some((*claim, value)),
        Err(error) => panic!("{error}\n{module}"),
    }
}

/// The line of this file that ends with the comment `what`.
fn line(what: &str) -> u32 {
    let place = include_str!("claims.rs").lines().position(|line| line.ends_with(&format!("// {what}")));
    place.unwrap() as u32 + 1
}

#[test]
fn a_false_bound_is_an_error_with_the_line_that_claims_it() {
    let mut h = Harness::new(1);
    let sum = &h.thread + &(&h.block * 3);
    let sum = h.b.bounded(&sum, 60).unwrap(); // false: the sum is 69 at the most
    h.out.clone().store(&mut h.b, 0, &sum).unwrap();
    let module = h.finish();
    let (claim, value) = found(&module, &[], 1).unwrap();
    assert!(claim.fact.site.file.ends_with("claims.rs"), "{claim}");
    assert_eq!(claim.fact.site.line, line("false: the sum is 69 at the most"));
    assert!((claim.fact.lower, claim.fact.upper) == (0, 60) && value > 60, "{claim}: {value}");
    // A module that has been changed does not have the claims.
    let mut changed = module.clone();
    changed.version = (8, 8);
    assert_eq!(found(&changed, &[], 1), None);
    assert_eq!(found(&Module::parse(&module.to_string()).unwrap(), &[], 1), None);
}

/// A claim is checked for the threads that come to it, and each time that they do.
#[test]
fn claims_hold_where_they_are_made() {
    for (limit, bound, right) in [(8, 7, true), (9, 7, false)] {
        let mut h = Harness::new(1);
        let (thread, out) = (h.thread.clone(), h.out.clone());
        h.b.if_(&Cond::less(&thread, &Expr::from(limit)), |b| {
            let small = b.bounded(&thread, bound)?;
            out.store(b, 0, &small)
        })
        .unwrap();
        assert_eq!(found(&h.finish(), &[], 1).is_none(), right, "{limit}");
    }
    for (rounds, right) in [(5, true), (6, false)] {
        let mut h = Harness::new(1);
        let out = h.out.clone();
        h.b.for_range(&Expr::from(rounds), |b, i| {
            let i = b.bounded(i, 4)?;
            out.store(b, 0, &i)
        })
        .unwrap();
        assert_eq!(found(&h.finish(), &[], 1).is_none(), right, "{rounds}");
    }
}

/// A u64 of 2^63 or more is no index, and is reported.
#[test]
fn integers_of_64_bits_are_claimed_to_be_below_2_63() {
    for (shift, right) in [(62, true), (63, false)] {
        let mut h = Harness::new(1);
        let one = (Scalar::index(&h.b.special(Special::Laneid), DType::U64) & 1) | 1;
        let index = h.b.index_of(&(one << shift)).unwrap();
        h.out.clone().store(&mut h.b, 0, &index).unwrap();
        assert_eq!(found(&h.finish(), &[], 1).is_none(), right, "{shift}");
    }
}

#[test]
fn quotients_and_variables_are_claims_too() {
    for (upper, right) in [(9, true), (8, false)] {
        let mut h = Harness::new(1);
        let (thread, seven) = (h.thread.clone(), Expr::from(7));
        let quotient = h.b.divide(&thread, &seven, upper).unwrap();
        h.out.clone().store(&mut h.b, 0, &quotient).unwrap();
        assert_eq!(found(&h.finish(), &[], 1).is_none(), right, "{upper}");
    }
    for (lower, upper, multiple, right) in
        [(-126, 0, 2, true), (-126, 0, 3, false), (-125, 0, 1, false), (-126, -1, 1, false)]
    {
        let mut h = Harness::new(1);
        let down = &h.thread * -2;
        let reg = h.b.value(&down, Width::W32).unwrap();
        let down = h.b.var(&reg, lower, upper, multiple);
        h.out.clone().store(&mut h.b, 0, &down).unwrap();
        assert_eq!(found(&h.finish(), &[], 1).is_none(), right, "{lower} {upper} {multiple}");
    }
}

/// The facts of a parameter are checked.
#[test]
fn the_facts_of_symbols_are_claims() {
    for (value, right) in [(64, true), (128, true), (8, false), (65, false), (136, false)] {
        let mut h = Harness::new(1);
        let symbol = h.b.symbol("m", |m| m.at_least(16).at_most(128).divisible_by(8)).unwrap();
        let m = Expr::from_int(&girih_layout::Int::symbol(symbol));
        h.out.clone().store(&mut h.b, 0, &m).unwrap();
        assert_eq!(found(&h.finish(), &[value], 1).is_none(), right, "{value}");
    }
}

/// A loop that waits forever is reported as such, with a claim in the loop or without.
#[test]
fn a_claim_in_a_loop_that_waits_hides_no_livelock() {
    for claimed in [false, true] {
        let mut b = Builder::new("k", 80, 32);
        let flag = b.pointer("flag", 4);
        b.repeat_until(|b| {
            let [value, done] = [b.reg(Type::U32), b.reg(Type::Pred)];
            b.load(Space::Gmem, std::slice::from_ref(&value), &flag, &Cond::Always)?;
            if claimed {
                b.var(&value, 0, 1, 1);
            }
            b.ptx("setp.ne.u32 %0, %1, 0;", &[&done, &value])?;
            Ok(done)
        })
        .unwrap();
        let memory = Memory::new();
        let flag = memory.alloc(4).unwrap();
        memory.fill(flag, 0, 4).unwrap();
        let module = b.finish().unwrap().into_module();
        let options = Options { steps: Some(1_000_000), ..Options::checked() };
        let found = run(&module, &memory, &block(32, 0, addresses(&[flag])), &options);
        assert!(matches!(found, Err(Error::Spinning { .. })), "{claimed}: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// A claim of the least and the greatest value of a random expression holds, and a claim of one less does not; the text is
    /// the same.
    #[test]
    fn claims_are_exact(program in programs(6)) {
        let h = Harness::new(1);
        let expr_of = |h: &Harness| {
            let inputs = vec![h.thread.clone(), h.block.clone(), &h.thread * 3];
            program.over(&inputs).exprs.pop().unwrap()
        };
        let (thread, block, expr) = (h.thread.clone(), h.block.clone(), expr_of(&h));
        let (formula, of_thread) = (Formula::of(&expr), Leaf::of(&thread));
        let at = |t: i64, b: i64| formula.value(&|leaf| if leaf == of_thread { t } else { b });
        let values = (0..THREADS).flat_map(|t| (0..BLOCKS).map(move |b| (t, b))).map(|(t, b)| at(t, b));
        let values: Vec<i64> = values.collect();
        let (least, most) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        prop_assume!(block != thread && expr.as_constant().is_none());
        let kernel = |lower: i64, upper: i64| {
            let mut h = Harness::new(1);
            let expr = expr_of(&h);
            let reg = h.b.value(&expr, Width::W64).unwrap();
            let claimed = h.b.var(&reg, lower, upper, 1);
            h.out.clone().store(&mut h.b, 0, &claimed).unwrap();
            h.finish()
        };
        prop_assert_eq!(found(&kernel(least, most), &[], 1), None);
        if least < most {
            prop_assert!(found(&kernel(least + 1, most), &[], 1).is_some());
            prop_assert!(found(&kernel(least, most - 1), &[], 1).is_some());
            prop_assert_eq!(kernel(least, most).to_string(), kernel(least - 9, most + 9).to_string());
        }
    }
}
