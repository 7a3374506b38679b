//! Arithmetic in every rounding mode against comparisons with the exact results: which of two neighbours it must be.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::cmp::Ordering;

use crate::common::{launch, map, module, per_thread, shape, u64_arg};
use girih_sim::{Launch, Memory, Options};

const MODES: [&str; 4] = ["rm", "rp", "rz", "rn"];

/// The sign of an exact sum of products of finite numbers: the sum in units of 2^-2148, which is the square of the smallest
/// number, by 32 bits.
fn sign(products: &[(f64, f64)]) -> Ordering {
    let parts = |x: f64| {
        let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7ff) as usize, x.to_bits() & ((1 << 52) - 1));
        (u128::from(if exponent == 0 { fraction } else { fraction | 1 << 52 }), exponent.max(1) - 1)
    };
    let (mut limbs, mut from, mut upto) = ([0i64; 144], 144, 0);
    for &(a, b) in products {
        let ((m, e), (n, f)) = (parts(a), parts(b));
        let (product, first, shift) = (m * n, (e + f) / 32, (e + f) % 32);
        let by = if a.is_sign_negative() == b.is_sign_negative() { 1 } else { -1 };
        for (half, at) in [(product & u128::from(u64::MAX), first), (product >> 64, first + 2)] {
            let bits = half << shift;
            (0..3).for_each(|i| limbs[at + i] += by * i64::from((bits >> (32 * i)) as u32));
        }
        (from, upto) = (from.min(first), upto.max(first + 5));
    }
    let mut rest = 0;
    for limb in from..upto {
        let carry = limbs[limb] >> 32;
        rest |= limbs[limb] - (carry << 32);
        limbs[limb + 1] += carry;
    }
    limbs[upto].cmp(&0).then(rest.cmp(&0))
}

/// A result in a mode, of the nearest number, its neighbours, and how the exact result compares with it. `opposite` says that
/// it is a sum of numbers with opposite signs, which has a zero of its own where it is rounded down.
fn directed(mode: &str, nearest: f64, [down, up]: [f64; 2], exact: Ordering, opposite: bool) -> f64 {
    match (mode, exact) {
        ("rm", Ordering::Equal) if nearest == 0.0 && opposite => -0.0,
        ("rm", Ordering::Less) => down,
        ("rp", Ordering::Greater) => up,
        ("rz", Ordering::Less) if nearest.is_sign_positive() => down,
        ("rz", Ordering::Greater) if nearest.is_sign_negative() => up,
        _ => nearest,
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Numbers of all magnitudes, and a generator of more.
fn numbers() -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    };
    let mut numbers =
        vec![0.0, -0.0, 1.0, -1.0, 3.0, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 1.5, 0.1];
    numbers.extend((0..150).map(|_| f64::from_bits(next())));
    // Exponents near each other, where sums cancel.
    numbers
        .extend((0..50).map(|_| {
            f64::from_bits(next() >> 12 | 0x3fe << 52) * if next() >> 63 == 1 { -1.0 } else { 1.0 }
        }));
    numbers
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// An operation on all pairs and a third number, in every mode.
fn results(numbers: &[f64], operation: &str, third: f64) -> Vec<[f64; 4]> {
    let each: String = (MODES.iter().enumerate())
        .map(|(i, mode)| operation.replace("RND", mode).replace("DST", &format!("%d{i}")))
        .collect();
    let text = module(&format!(
        ".visible .entry k(.param .u64 numbers, .param .u64 out, .param .f64 third) {{
         .reg .f64 %a, %b, %c, %d<4>; .reg .b64 %p, %q, %o; .reg .b32 %i, %j, %n;
         ld.param.u64 %p, [numbers]; ld.param.u64 %q, [out]; ld.param.f64 %c, [third];
         mov.u32 %i, %ctaid.x; mov.u32 %j, %tid.x; mov.u32 %n, %ntid.x;
         mul.wide.u32 %o, %i, 8; add.s64 %o, %o, %p; ld.global.f64 %a, [%o];
         mul.wide.u32 %o, %j, 8; add.s64 %o, %o, %p; ld.global.f64 %b, [%o];
         {each}
         mad.lo.u32 %i, %i, %n, %j; mul.wide.u32 %o, %i, 32; add.s64 %o, %o, %q;
         st.global.v2.f64 [%o], {{%d0, %d1}}; st.global.v2.f64 [%o+16], {{%d2, %d3}}; ret; }}"
    ));
    let memory = Memory::new();
    let n = numbers.len();
    let (from, out) = (memory.alloc(8 * n).unwrap(), memory.alloc(32 * n * n).unwrap());
    memory.write(from, &bytes(numbers)).unwrap();
    let args = vec![u64_arg(from), u64_arg(out), bytes(&[third])];
    let shape = Launch { args, ..shape(n as u32, n as u32) };
    launch(&text, &memory, &shape, &Options::default()).unwrap();
    let mut results = vec![0; 32 * n * n];
    memory.read(out, &mut results).unwrap();
    let number = |at: &[u8]| f64::from_le_bytes(at.try_into().unwrap());
    results.chunks_exact(32).map(|four| [0, 8, 16, 24].map(|i| number(&four[i..i + 8]))).collect()
}

/// What an operation is: its nearest result, how that compares with it, whether it is a sum of numbers with opposite signs.
type Exact = fn(f64, f64, f64) -> (f64, Ordering, bool);

/// How many results were inexact.
fn check(numbers: &[f64], operation: &str, third: f64, exact: Exact) -> usize {
    let pairs = numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (a, b)));
    let mut inexact = 0;
    for ((a, b), found) in pairs.zip(results(numbers, operation, third)) {
        let (nearest, order, opposite) = exact(a, b, third);
        for (mode, found) in MODES.iter().zip(found) {
            let neighbours = [nearest.next_down(), nearest.next_up()];
            let want = directed(mode, nearest, neighbours, order, opposite);
            assert!(same(found, want), "{operation} {mode} {a:e} {b:e} {third:e}: {found:e}, not {want:e}");
        }
        inexact += usize::from(order != Ordering::Equal);
    }
    inexact
}

/// How the exact result of operands compares with its nearest number; `products` have the sum of the sign of their difference.
fn compare(nearest: f64, operands: &[f64], products: &[(f64, f64)]) -> Ordering {
    if operands.iter().any(|x| !x.is_finite()) || nearest.is_nan() {
        return Ordering::Equal;
    }
    // What finite operands give is finite.
    if nearest.is_infinite() { 0f64.total_cmp(&nearest) } else { sign(products) }
}

/// `a * b + c`
fn fused(a: f64, b: f64, c: f64) -> (f64, Ordering, bool) {
    let nearest = a.mul_add(b, c);
    let opposite = (a.is_sign_negative() != b.is_sign_negative()) != c.is_sign_negative();
    (nearest, compare(nearest, &[a, b, c], &[(a, b), (c, 1.0), (-nearest, 1.0)]), opposite)
}

#[test]
fn doubles_are_rounded_once_in_every_mode() {
    let numbers = numbers();
    let operations: [(&str, Exact); 5] = [
        ("add.RND.f64 DST, %a, %b;", |a, b, _| fused(a, 1.0, b)),
        ("sub.RND.f64 DST, %a, %b;", |a, b, _| fused(a, 1.0, -b)),
        ("mul.RND.f64 DST, %a, %b;", |a, b, _| {
            (a * b, compare(a * b, &[a, b], &[(a, b), (-(a * b), 1.0)]), false)
        }),
        ("div.RND.f64 DST, %a, %b;", |a, b, _| {
            let (q, by) = (a / b, 1f64.copysign(b));
            let order =
                if b == 0.0 { Ordering::Equal } else { compare(q, &[a, b], &[(a, by), (-q, b.abs())]) };
            (q, order, false)
        }),
        ("sqrt.RND.f64 DST, %a;", |a, _, _| {
            let root = a.sqrt();
            (root, compare(root, &[a], &[(a, 1.0), (-root, root)]), false)
        }),
    ];
    for (operation, exact) in operations {
        let inexact = check(&numbers, operation, 0.0, exact);
        assert!(inexact > 10_000, "{operation}: {inexact}");
    }
    let inexact: usize =
        (numbers.iter().step_by(7)).map(|&c| check(&numbers, "fma.RND.f64 DST, %a, %b, %c;", c, fused)).sum();
    assert!(inexact > 1_000_000, "{inexact}");
}

/// Integers of 64 bits that f64 has no room for.
#[test]
fn integers_are_rounded_once_in_every_mode() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state ^ state >> 29
    };
    let mut values =
        vec![0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64, 1 << 63, (1 << 63) + 1, (1 << 53) + 1];
    values.extend((0..500).map(|i| next() >> (i % 12)));
    // In the middle between two.
    values.extend((0..500).map(|i| (next() | 1 << 63 | 1 << 10) >> (i % 11) >> 10 << 10));
    let input: Vec<u32> = values.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    for ty in ["s64", "u64"] {
        let each: String = (MODES.iter().enumerate())
            .map(|(i, mode)| {
                let at = 2 * i;
                format!("cvt.{mode}.f64.{ty} %fd0, %rd0; mov.b64 {{%d{at}, %d{}}}, %fd0;", at + 1)
            })
            .collect();
        let text = per_thread(2, 8, &format!("mov.b64 %rd0, {{%a0, %a1}}; {each}"));
        let found = map(&text, values.len() as u32, &input, 8 * values.len()).unwrap();
        let mut inexact = 0;
        for (&bits, found) in values.iter().zip(found.chunks_exact(8)) {
            let exact = if ty == "s64" { i128::from(bits as i64) } else { i128::from(bits) };
            let nearest = if ty == "s64" { bits as i64 as f64 } else { bits as f64 };
            let order = exact.cmp(&(nearest as i128));
            for (mode, words) in MODES.iter().zip(found.chunks_exact(2)) {
                let found = f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32);
                let want = directed(mode, nearest, [nearest.next_down(), nearest.next_up()], order, false);
                assert!(same(found, want), "cvt.{mode}.f64.{ty} {exact}: {found}, not {want}");
            }
            inexact += usize::from(order != Ordering::Equal);
        }
        assert!(inexact > 300, "{ty}: {inexact}");
    }
}

/// What is less than the smallest normal number when it has been rounded to 24 bits, as if there were smaller ones, is
/// flushed: also what would be that number if it were rounded to a subnormal one.
#[test]
fn results_are_flushed_as_they_are_before_they_are_subnormal() {
    const LEAST: f64 = f32::MIN_POSITIVE as f64;
    let scale = 2f64.powi(100);
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    // Operands whose result is near the smallest normal number.
    let mut cases: Vec<[f32; 3]> = Vec::new();
    for i in 0..900 {
        let m = 1.0 + below(1 << 23) as f64 / 2f64.powi(23);
        let (small, large) = (m * 2f64.powi(-1 - below(60) as i32), m * 2f64.powi(below(60) as i32));
        let c = if below(2) == 0 { -LEAST } else { LEAST } * (2.0 + below(1 << 22) as f64 / 2f64.powi(20));
        let [a, b, c] = match i % 3 {
            0 => [small, LEAST / small, 0.0],
            1 => [LEAST * large, large, 0.0],
            _ => [small / 16.0, (LEAST - c) / (small / 16.0), c],
        };
        let (a, mut b) = (a as f32, b as f32);
        (0..below(4)).for_each(|_| b = if i % 2 == 0 { b.next_up() } else { b.next_down() });
        let turned = if below(2) == 0 { 1.0 } else { -1.0 };
        cases.push([turned * a, b, (f64::from(turned) * c) as f32]);
    }
    let input: Vec<u32> = cases.iter().flatten().map(|x| x.to_bits()).collect();
    let mut raised = 0;
    for (first, operation) in ["mul.RND.ftz.f32", "div.RND.ftz.f32", "fma.RND.ftz.f32"].iter().enumerate() {
        let third = if first == 2 { ", %a2" } else { "" };
        let each: String = (MODES.iter().enumerate())
            .map(|(i, mode)| format!("{} %d{i}, %a0, %a1{third};", operation.replace("RND", mode)))
            .collect();
        let found = map(&per_thread(3, 4, &each), cases.len() as u32, &input, 4 * cases.len()).unwrap();
        for (nth, (case, found)) in cases.iter().zip(found.chunks_exact(4)).enumerate() {
            if nth % 3 != first {
                continue;
            }
            let [a, b, c] = case.map(f64::from);
            assert!(case.iter().all(|x| !x.is_subnormal()), "{case:?}");
            // To 53 bits, of which more are left than rounding to 24 needs.
            let close = [a * b, a / b, a.mul_add(b, c)][first];
            let nearest = (close * scale) as f32;
            let [down, near, up] =
                [nearest.next_down(), nearest, nearest.next_up()].map(|x| f64::from(x) / scale);
            let products = [
                [(a, b), (-near, 1.0), (0.0, 0.0)],
                [(a, 1.0), (-near, b), (0.0, 0.0)],
                [(a, b), (c, 1.0), (-near, 1.0)],
            ];
            let order = sign(&products[first]);
            for (mode, &found) in MODES.iter().zip(found) {
                let want = directed(mode, near, [down, up], order, false);
                let flushed = if want.abs() < LEAST { 0f64.copysign(want) } else { want } as f32;
                assert_eq!(found, flushed.to_bits(), "{operation} {mode} {case:?}: {want:e}");
                raised += u32::from(want.abs() < LEAST && (want as f32).abs() == f32::MIN_POSITIVE);
            }
        }
    }
    assert!(raised > 100, "only {raised} would become normal numbers otherwise");
}
