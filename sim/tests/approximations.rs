//! Approximations, compared with f64 over dense samples: each error must be within the bound that the PTX ISA gives.

use crate::common::sweep;
use half::{bf16, f16};

const SAMPLES: usize = 16 << 10;

type Function = fn(f64) -> f64;
/// A number of 16 bits.
type Value = fn(u16) -> f64;

/// Numbers of both signs as asked for, evenly spread over the encodings from `from` to `to`: as many in every power of two.
fn spread(from: f32, to: f32, negative: bool) -> Vec<u32> {
    let (first, last) = (from.to_bits(), to.to_bits());
    let step = (last - first) as f64 / SAMPLES as f64;
    let number = |i: usize| first + (i as f64 * step) as u32;
    (0..SAMPLES).map(|i| number(i) | if negative && i % 2 == 1 { 1 << 31 } else { 0 }).collect()
}

/// A bound of the error, as a power of two.
#[derive(Clone, Copy)]
enum Bound {
    Relative(f64),
    Absolute(f64),
}

/// Runs `body`, from `%f0` to `%f1`, over the inputs.
fn check(body: &str, inputs: &[u32], exact: impl Fn(f64) -> f64, bound: Bound) {
    let text = format!("mov.b32 %f0, %a0; {body} mov.b32 %d0, %f1;");
    for (&input, got) in inputs.iter().zip(sweep(&text, inputs)) {
        let (x, got) = (f64::from(f32::from_bits(input)), f64::from(f32::from_bits(got)));
        near(got, exact(x), bound, &format!("{body} of {x:e}"));
    }
}

#[track_caller]
fn near(got: f64, want: f64, bound: Bound, what: &str) {
    let most = match bound {
        Bound::Relative(power) => power.exp2() * want.abs(),
        Bound::Absolute(power) => power.exp2(),
    };
    assert!((got - want).abs() <= most, "{what}: {got:e}, not {want:e}");
}

#[test]
fn quotients_and_roots() {
    let normal = spread(1e-37, 1e37, true);
    check("rcp.approx.f32 %f1, %f0;", &normal, |x| 1.0 / x, Bound::Relative(-23.0));
    // Two units in the last place.
    check("div.full.f32 %f1, 0f40400000, %f0;", &normal, |x| 3.0 / x, Bound::Relative(-22.0));
    check("div.approx.f32 %f1, 0f40400000, %f0;", &normal, |x| 3.0 / x, Bound::Relative(-22.0));
    let positive = spread(1.2e-38, 3e38, false);
    check("sqrt.approx.f32 %f1, %f0;", &positive, f64::sqrt, Bound::Relative(-23.0));
    check("rsqrt.approx.f32 %f1, %f0;", &positive, |x| 1.0 / x.sqrt(), Bound::Relative(-22.9));
}

#[test]
fn powers_and_logarithms() {
    check("ex2.approx.f32 %f1, %f0;", &spread(1e-6, 120.0, true), f64::exp2, Bound::Relative(-22.0));
    check("lg2.approx.f32 %f1, %f0;", &spread(0.5, 2.0, false), f64::log2, Bound::Absolute(-22.0));
    check("lg2.approx.f32 %f1, %f0;", &spread(2.0, 3e38, false), f64::log2, Bound::Relative(-22.0));
    check("lg2.approx.f32 %f1, %f0;", &spread(1.2e-38, 0.5, false), f64::log2, Bound::Relative(-22.0));
}

#[test]
fn circular_and_hyperbolic_functions() {
    let turn = spread(1e-6, std::f32::consts::TAU, true);
    check("sin.approx.f32 %f1, %f0;", &turn, f64::sin, Bound::Absolute(-20.5));
    check("cos.approx.f32 %f1, %f0;", &turn, f64::cos, Bound::Absolute(-20.5));
    check("tanh.approx.f32 %f1, %f0;", &spread(1e-6, 20.0, true), f64::tanh, Bound::Relative(-11.0));
}

type Case = (&'static str, Value, Function, Bound);

/// All finite numbers of 16 bits between -8 and 8.
#[test]
fn functions_of_16_bits() {
    let (half, bfloat): (Value, Value) =
        (|bits| f16::from_bits(bits).into(), |bits| bf16::from_bits(bits).into());
    let cases: [Case; 4] = [
        ("ex2.approx.f16", half, f64::exp2, Bound::Relative(-9.9)),
        ("tanh.approx.f16", half, f64::tanh, Bound::Absolute(-10.987)),
        ("ex2.approx.ftz.bf16", bfloat, f64::exp2, Bound::Relative(-7.0)),
        ("tanh.approx.bf16", bfloat, f64::tanh, Bound::Absolute(-8.0)),
    ];
    let inputs: Vec<u32> = (0..1 << 16).collect();
    for (instruction, value, exact, bound) in cases {
        let body = format!(
            "{{ .reg .b16 %x, %y; cvt.u16.u32 %x, %a0; {instruction} %y, %x; cvt.u32.u16 %d0, %y; }}"
        );
        let mut count = 0;
        for (&input, got) in inputs.iter().zip(sweep(&body, &inputs)) {
            let x = value(input as u16);
            if x.abs() <= 8.0 {
                near(value(got as u16), exact(x), bound, &format!("{instruction} of {x}"));
                count += 1;
            }
        }
        assert!(count > 30_000, "{count}");
    }
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`, which use and give only the upper halves of the numbers.
#[test]
fn coarse_functions_of_f64() {
    let inputs = spread(1e-30, 1e30, false);
    let functions: [(&str, Function); 2] =
        [("rcp.approx.ftz.f64", |x| 1.0 / x), ("rsqrt.approx.ftz.f64", |x| 1.0 / x.sqrt())];
    for (instruction, exact) in functions {
        let body = format!(
            "{{ .reg .b32 %low; .reg .f64 %x, %y; mov.b32 %f0, %a0; cvt.f64.f32 %x, %f0; {instruction} %y, %x;
             mov.b64 {{%low, %d0}}, %y; }}"
        );
        for (&input, got) in inputs.iter().zip(sweep(&body, &inputs)) {
            let x = f64::from(f32::from_bits(input));
            let got = f64::from_bits(u64::from(got) << 32);
            near(got, exact(x), Bound::Relative(-19.0), &format!("{instruction} of {x:e}"));
        }
    }
}
