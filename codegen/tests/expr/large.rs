//! Expressions that share their parts, that are deep, and that are large: equality and order, the work that they take, and what is refused.

use std::collections::{HashMap, hash_map::DefaultHasher};
use std::hash::{Hash, Hasher};

use girih_codegen::{Builder, Cond, Error, Expr, Width};
use girih_ptx::Type;
use proptest::prelude::*;

use super::program::programs;
use super::{inputs, registers};
use crate::builder::harness::Harness;

/// A stack on which nothing recurses whose depth a program chooses.
const STACK: usize = 256 << 10;
const MOST_FACTORS: usize = 1024;
const DEEPEST: usize = 1000;

/// Runs `test` on a small stack.
fn on_small_stack<R: Send + 'static>(test: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::Builder::new().stack_size(STACK).spawn(test).unwrap().join().unwrap()
}

/// A builder and variables with these facts.
fn variables(count: usize, (lower, upper): (i64, i64)) -> (Builder, Vec<Expr>) {
    let mut b = Builder::new("k", 80, 32);
    let variables = (0..count).map(|_| {
        let reg = b.reg(Type::B32);
        b.var(&reg, lower, upper, 1)
    });
    let variables = variables.collect();
    (b, variables)
}

/// The instructions that compute an expression.
fn instructions(mut b: Builder, expr: &Expr) -> Result<usize, Error> {
    b.value(expr, Width::W64)?;
    let text = b.finish()?.module().to_string();
    Ok(text.lines().filter(|line| line.contains('%') && !line.contains(".reg")).count())
}

fn refused(expr: &Expr) -> (&'static str, usize, usize) {
    let mut b = Builder::new("k", 80, 32);
    match b.value(expr, Width::W64) {
        Err(Error::Large { what, found, most, operands, .. }) => {
            assert!(!operands.is_empty() && operands.iter().all(|text| text.len() < 2000), "{operands:?}");
            assert!(found > most, "{found} {what}, {most} are accepted");
            (what, found, most)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{expr} is accepted"),
    }
}

/// `(x0 + y0) * (x1 + y1) * ...` has `2^n` terms of `n` factors.
#[test]
fn products_of_sums_are_multiplied_out_up_to_a_bound() {
    on_small_stack(|| {
        let product = |n: usize| {
            let (b, v) = variables(2 * n, (0, 1));
            let product = v.chunks(2).fold(Expr::from(1), |product, pair| &product * &(&pair[0] + &pair[1]));
            (b, product)
        };
        for n in [2, 5, 7] {
            let (b, product) = product(n);
            // Each prefix of a term and of the sum once: at most two products and one addition a term.
            let count = instructions(b, &product).unwrap();
            assert!(count <= 8 * (1 << n), "{count} instructions for n = {n}");
        }
        for n in [8, 10, 12, 13, 20, 200] {
            let (_, product) = product(n);
            assert_eq!(refused(&product), ("factors in all terms", 8 << 8, MOST_FACTORS), "n = {n}");
        }
    });
}

/// Equal variables collapse: `(x + y)^n` has `n + 1` terms.
#[test]
fn products_collapse() {
    on_small_stack(|| {
        let [x, y] = registers([(0, 1, 1), (0, 1, 1)]);
        let sum = &x + &y;
        let power = |n: usize| (0..n).fold(Expr::from(1), |power, _| &power * &sum);
        assert_eq!(power(20).to_string().split(" + ").count(), 21);
        assert_eq!(power(20), &power(12) * &power(8));
        assert_eq!(&(&x + &y) * &(&x - &y), &(&x * &x) - &(&y * &y));
        assert_eq!(refused(&power(33)).0, "factors in all terms");
        let [many, others] =
            [0, 1].map(|_| variables(200, (0, 1)).1.iter().fold(Expr::from(0), |s, v| &s + v));
        let (what, found, most) = refused(&(&many * &others));
        assert_eq!((what, found, most), ("factors before like terms are collected", 2 * 200 * 201, 1 << 14));
    });
}

#[test]
fn long_sums_are_accepted_up_to_a_bound() {
    on_small_stack(|| {
        let sum = |v: &[Expr]| v.iter().fold(Expr::from(0), |sum, v| &sum + v);
        for n in [300, MOST_FACTORS] {
            let (b, v) = variables(n, (0, 9));
            let count = instructions(b, &sum(&v)).unwrap();
            assert!(count <= 3 * n, "{count} instructions for a sum of {n}");
        }
        for n in [MOST_FACTORS + 1, 10_000, 100_000] {
            let (_, v) = variables(n, (0, 9));
            assert_eq!(refused(&sum(&v)), ("factors in all terms", MOST_FACTORS + 1, MOST_FACTORS));
        }
        // What goes away again does not count.
        let (b, v) = variables(MOST_FACTORS, (0, 9));
        let all = sum(&v);
        let none = v.iter().rev().fold(all.clone(), |sum, v| &sum - v);
        assert_eq!(none, Expr::from(0));
        let held = {
            let mut b = b;
            let held = b.hold_index(&all, Width::W32).unwrap();
            b.value(&(&held + &held), Width::W32).unwrap();
            held
        };
        assert_eq!(held.range(), (0, 9 * MOST_FACTORS as i64));
    });
}

/// Chains of one operation over itself, in each of which the operand occurs more than once, so that a tree of it doubles with every step.
type Step = fn(&Expr, &Expr) -> Result<Expr, Error>;
const CHAINS: [(&str, Step); 8] = [
    ("min, then a sum", |e, y| Ok(&e.minimum(&(y + e)) + e)),
    ("min, then max", |e, y| Ok(e.maximum(&e.minimum(&(y + e))))),
    ("max of a product", |e, y| Ok((e * y).maximum(&(e + y)).minimum(&Expr::from(1000)))),
    ("div and rem", |e, y| Ok(&(&e.rem(977)? * 3) + &(&e.div(7)? + y))),
    ("div of a sum of div", |e, y| (&(&e.div(3)? + &e.div(5)?) + y).div(2)),
    ("xor with itself moved", |e, y| e.xor(&(e + y))?.rem(1009)),
    ("and of a sum", |e, y| (&(&e.and(0x155)? + &e.and(0xaa)?) + y).and(0x1fff)),
    ("exclusive or of a minimum", |e, y| e.minimum(&(y * 3)).xor(&e.maximum(y))?.and(0x3ff)),
];

/// Every step of a chain adds a few nodes and a few instructions, or is refused for one of the bounds.
#[test]
fn chains_take_work_in_their_length() {
    on_small_stack(|| {
        for (name, step) in CHAINS {
            let mut before: Option<(usize, usize)> = None;
            for n in [16usize, 24, 60, 200, 1100] {
                let (b, v) = variables(2, (0, 900));
                let first = Expr::nodes_alive();
                let chain = (0..n).try_fold(v[0].clone(), |e, _| step(&e, &v[1]));
                let nodes = Expr::nodes_alive() - first;
                assert!(nodes <= 12 * n, "{name}: {nodes} nodes for {n} steps");
                match chain.and_then(|chain| instructions(b, &chain)) {
                    Ok(count) => {
                        assert!(count <= 60 * n, "{name}: {count} instructions for {n} steps");
                        assert!(before.is_none_or(|(_, found)| found <= count), "{name}: {n} steps");
                        before = Some((n, count));
                    }
                    Err(Error::Large { what, found, most, .. }) => {
                        assert!(n > 200 && found > most, "{name}: {n} steps have {found} {what}")
                    }
                    // Numbers that only grow leave 64 bits.
                    Err(Error::Arithmetic { .. } | Error::Beyond { .. }) if n > 16 => {}
                    Err(error) => panic!("{name}, {n} steps: {error}"),
                }
            }
            assert!(before.is_some(), "{name}");
        }
    });
}

/// A chain that cannot be refused for its numbers, of `n` operations inside one another.
fn deep(x: &Expr, n: usize) -> Expr {
    (0..n).fold(x.clone(), |e, i| match i % 4 {
        0 => (&e + x).div(3).unwrap(),
        1 => (&(&e * 5) + 1).rem(1021).unwrap(),
        2 => e.maximum(x),
        _ => (&e * 3).minimum(&(x * 7)),
    })
}

#[test]
fn deep_expressions_are_accepted_up_to_a_bound() {
    on_small_stack(|| {
        let (mut b, v) = variables(3, (0, 1000));
        let [low, other] = [&v[0], &v[1]].map(|v| deep(v, DEEPEST));
        assert!(low < other, "the order of chains of v0 and v1");
        assert_eq!(low, deep(&v[0], DEEPEST));
        assert!(low.to_string().len() < 1 << 20 && format!("{low:?}") == low.to_string());
        for expr in [&low, &other, &(&low + &other)] {
            b.value(expr, Width::W32).unwrap();
        }
        b.for_range(&v[2], |b, i| {
            b.value(&(&deep(i, DEEPEST) + &low), Width::W32)?;
            b.barrier();
            Ok(())
        })
        .unwrap();
        assert_eq!(refused(&low.maximum(&v[1])).0, "operations inside one another");
        // Quotients return the error at once.
        let e = (0..2 * DEEPEST).try_fold(v[0].clone(), |e, _| (&(&e * 5) + 1).rem(1021));
        assert!(matches!(e, Err(Error::Large { operation: "remainder", most: DEEPEST, .. })), "{e:?}");
        // What is held begins anew.
        let mut e = v[0].clone();
        for _ in 0..4 {
            e = b.hold_index(&deep(&e.minimum(&v[1]), DEEPEST - 1), Width::W32).unwrap();
        }
        b.finish().unwrap();
    });
}

/// A thread has the nodes of the expressions that are alive, and no others.
#[test]
fn nodes_end_with_their_expressions() {
    on_small_stack(|| {
        let before = Expr::nodes_alive();
        let mut most = 0;
        for round in 0..50 {
            let (mut b, v) = variables(2, (0, 1000));
            let chain = deep(&v[round % 2], 100);
            b.value(&chain, Width::W32).unwrap();
            most = most.max(Expr::nodes_alive());
            drop(b.finish().unwrap());
            drop((chain, v));
            assert_eq!(Expr::nodes_alive(), before, "round {round}");
        }
        assert!((100..3000).contains(&(most - before)), "{most}");
        // The last holder of a chain may be any of its parts' holders.
        let (_b, v) = variables(1, (0, 1000));
        let mut held: Vec<Expr> = (1..DEEPEST).step_by(7).map(|n| deep(&v[0], n)).collect();
        held.rotate_left(40);
        held.into_iter().for_each(drop);
        drop(v);
        assert_eq!(Expr::nodes_alive(), before);
    });
}

/// The value that a kernel computes, against the same steps on integers.
#[test]
fn shared_parts_are_computed() {
    let mut h = Harness::new(CHAINS.len() as i64);
    let steps = 12;
    let (thread, out) = (h.thread.clone(), h.out.clone());
    for (slot, (_, step)) in CHAINS.iter().enumerate() {
        let y = &thread.rem(5).unwrap() + 2;
        let chain = (0..steps).fold(thread.clone(), |e, _| step(&e, &y).unwrap());
        out.store(&mut h.b, slot as i64, &chain).unwrap();
    }
    let direct: [fn(i64, i64) -> i64; CHAINS.len()] = [
        |e, y| e.min(y + e) + e,
        |e, y| e.max(e.min(y + e)),
        |e, y| (e * y).max(e + y).min(1000),
        |e, y| e % 977 * 3 + e / 7 + y,
        |e, y| (e / 3 + e / 5 + y) / 2,
        |e, y| (e ^ (e + y)) % 1009,
        |e, y| ((e & 0x155) + (e & 0xaa) + y) & 0x1fff,
        |e, y| (e.min(3 * y) ^ e.max(y)) & 0x3ff,
    ];
    h.check(&[], |_, thread, slot| (0..steps).fold(thread, |e, _| direct[slot as usize](e, thread % 5 + 2)));
}

/// A conjunction takes an instruction for each further condition, and there may be so many of them.
#[test]
fn conjunctions_are_accepted_up_to_a_bound() {
    on_small_stack(|| {
        let below = |v: &Expr| Cond::less(v, &Expr::from(5));
        for n in [3, 1024] {
            let (mut b, v) = variables(n, (0, 9));
            b.cond(&Cond::all(v.iter().map(below))).unwrap();
            b.cond(&Cond::any(v.iter().map(below))).unwrap();
            let text = b.finish().unwrap().module().to_string();
            assert_eq!(text.matches("and.pred").count(), 2 * (n - 1), "{n} conditions");
        }
        for n in [1025, 10_000] {
            let (mut b, v) = variables(n, (0, 9));
            let error = b.cond(&Cond::all(v.iter().map(below))).unwrap_err();
            assert!(
                matches!(&error, Error::Scalar { accepted, .. } if accepted.contains("at most 1024")),
                "{error}"
            );
        }
    });
}

fn hash_of(expr: &Expr) -> u64 {
    let mut hasher = DefaultHasher::new();
    expr.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Expressions are equal when their texts are, however they were made, and equal ones have equal hashes.
    #[test]
    fn equality_is_structural(program in programs(10), again in programs(6)) {
        let inputs = inputs();
        let first = program.over(&inputs).exprs;
        let others = again.over(&first[..inputs.len()]).exprs;
        let second = program.over(&inputs).exprs;
        let all: Vec<&Expr> = first.iter().chain(&others).chain(&second).collect();
        let mut by_text: HashMap<String, &Expr> = HashMap::new();
        for &expr in &all {
            let same = *by_text.entry(format!("{expr:.60000}")).or_insert(expr);
            prop_assert!(same == expr && hash_of(same) == hash_of(expr), "{} and {}", same, expr);
        }
        let different: Vec<&Expr> = by_text.into_values().collect();
        for (i, a) in different.iter().enumerate() {
            for b in &different[i + 1..] {
                prop_assert!(a != b && a.cmp(b) == b.cmp(a).reverse() && a.cmp(b).is_ne(), "{} and {}", a, b);
            }
        }
    }

    /// Order, hash and text do not depend on what the thread has built before.
    #[test]
    fn order_is_structural(program in programs(10), noise in programs(10)) {
        let sorted = move |noise: Option<&super::program::Program>| {
            let inputs = inputs();
            // Parts of the program may be there already, and in another order.
            let earlier = noise.map(|noise| noise.over(&inputs.iter().rev().cloned().collect::<Vec<_>>()));
            let mut exprs = program.over(&inputs).exprs;
            drop(earlier);
            exprs.sort();
            exprs.iter().map(|e| (hash_of(e), format!("{e:.60000}"))).collect::<Vec<_>>()
        };
        prop_assert_eq!(sorted(None), sorted(Some(&noise)));
    }
}
