//! `numbers.cu`: the math library, compared with the host's functions in f64, within the errors that its documentation
//! gives.

use std::f64::consts::PI;

use half::{bf16, f16};

use super::{Call, Plain, assert_near, doubled, each, fractions};

/// Threads of a block.
const N: usize = 64;

/// Arguments from -2 to 2 and from 0 to 4.
fn arguments() -> (Vec<f32>, Vec<f32>) {
    let x = fractions(N, 1).iter().map(|x| 2.0 * x).collect();
    let y = fractions(N, 2).iter().map(|y| 2.0 * y + 2.001).collect();
    (x, y)
}

/// Runs a kernel that computes function `block` of `x` and `y` in each block.
fn results<T: Plain>(kernel: &str, blocks: usize, x: &[T], y: &[T], test: impl Fn(&[T])) {
    each_numbers(&|program| {
        let mut call = Call::row(program, blocks as u32, N as u32);
        call.buffer(x);
        call.buffer(y);
        let out = call.zeros::<T>(blocks * N);
        call.arg(N as i32).run(kernel);
        test(&call.read::<T>(out));
    });
}

fn each_numbers(test: &dyn Fn(&girih_sim::Program)) {
    each("nvrtc_numbers", test);
}

/// The error function, by its Taylor series: exact to f64 for small arguments.
pub(crate) fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / PI.sqrt()
}

/// The logarithm of the gamma function, by Stirling's series after a shift.
fn lgamma(x: f64) -> f64 {
    let shifted: f64 = (0..20).map(|i| (x + f64::from(i)).ln()).sum();
    let z = x + 20.0;
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * PI).ln() + series - shifted
}

/// A function, its largest error in units of the last place, and in absolute terms.
type Function = (fn(f64, f64) -> f64, f64, f64);

fn check(got: &[f64], x: &[f64], y: &[f64], functions: &[Function], ulp: f64, kernel: &str) {
    for (block, &(function, ulps, absolute)) in functions.iter().enumerate() {
        let want: Vec<f64> = x.iter().zip(y).map(|(&a, &b)| function(a, b)).collect();
        let what = format!("{kernel} {block}");
        assert_near(&got[block * N..][..N], &want, ulps * ulp, absolute, &what);
    }
}

#[test]
fn singles_are_within_the_documented_errors() {
    let ulp = 2f64.powi(-23);
    let functions: [Function; 22] = [
        (|a, _| a.sin(), 2.0, 0.0),
        (|a, _| a.cos(), 2.0, 0.0),
        (|a, _| a.exp(), 2.0, 0.0),
        (|_, b| b.ln(), 1.0, 1e-9),
        (|a, b| b.powf(a), 4.0, 0.0),
        (|a, _| a.tanh(), 2.0, 0.0),
        (|a, _| erf(a), 2.0, 0.0),
        (|_, b| b.sqrt(), 0.5, 0.0),
        (|a, b| a / b, 0.5, 0.0),
        (|a, b| a % b, 0.0, 0.0),
        (|a, b| a.atan2(b), 3.0, 0.0),
        (|a, _| a.cbrt(), 1.0, 0.0),
        (|a, b| a.round_ties_even() + b.floor() + a.ceil() + b.trunc() + a.round(), 0.0, 0.0),
        (|a, _| a.exp(), 5.0, 0.0),
        (|a, _| a.sin(), 0.0, 4e-7),
        (|_, b| b.ln(), 3.0, 4e-7),
        (|a, b| a / b, 2.0, 0.0),
        (|_, b| 1.0 / b.sqrt(), 2.0, 0.0),
        (|a, _| f64::from(a as f32 * 1000.0).tan(), 4.0, 0.0),
        (|a, b| b.ln_1p() + a.exp_m1(), 2.0, 3e-7),
        (|a, b| a.hypot(b), 3.0, 0.0),
        (|_, b| lgamma(b), 6.0, 3e-7),
    ];
    let (x, y) = arguments();
    results("singles", functions.len(), &x, &y, |got| {
        check(&doubled(got), &doubled(&x), &doubled(&y), &functions, ulp, "singles");
    });
}

#[test]
fn doubles_are_within_the_documented_errors() {
    // The host's functions have errors of their own.
    let functions: [Function; 15] = [
        (|a, _| a.sin(), 3.0, 0.0),
        (|a, _| a.cos(), 3.0, 0.0),
        (|a, _| a.exp(), 2.0, 0.0),
        (|_, b| b.ln(), 2.0, 0.0),
        (|a, b| b.powf(a), 3.0, 0.0),
        (|a, _| a.tanh(), 3.0, 0.0),
        // The terms of the series cancel.
        (|a, _| erf(a), 8.0, 2e-15),
        (|_, b| b.sqrt(), 0.0, 0.0),
        (|a, b| a / b, 0.0, 0.0),
        (|a, b| a % b, 0.0, 0.0),
        (|a, b| a.atan2(b), 3.0, 0.0),
        (|a, _| a.cbrt(), 2.0, 0.0),
        (|a, b| a.round_ties_even() + b.floor() + a.ceil() + b.trunc() + a.round(), 0.0, 0.0),
        (|_, b| 1.0 / b.sqrt(), 2.0, 0.0),
        (|a, b| a * b + (a + b) + (a * b + a) + a / b + b.sqrt(), 8.0, 1e-14),
    ];
    let (x, y) = arguments();
    let (x, y) = (doubled(&x), doubled(&y));
    results("doubles", functions.len(), &x, &y, |got| {
        check(got, &x, &y, &functions, f64::EPSILON, "doubles");
    });
}

fn half(x: f64) -> f64 {
    f16::from_f64(x).into()
}

#[test]
fn halves_are_rounded_once() {
    // Arithmetic is exact but for one rounding; the functions are within a unit in the last place or so.
    let functions: [Function; 18] = [
        (|a, b| half(a + b), 0.0, 0.0),
        (|a, b| half(a * b), 0.0, 0.0),
        (|a, b| half(a * b + a), 0.0, 0.0),
        (|a, b| half(a / b), 0.0, 0.0),
        (|a, _| a.exp(), 1.0, 0.0),
        (|_, b| b.ln(), 1.0, 1e-4),
        (|_, b| b.sqrt(), 1.0, 0.0),
        (|a, _| a.sin(), 1.0, 1e-4),
        (f64::min, 0.0, 0.0),
        (f64::max, 0.0, 0.0),
        (|a, b| half(a.round_ties_even() + b.floor()), 0.0, 0.0),
        (|a, b| half(-a.abs() - b), 0.0, 0.0),
        (f64::min, 0.0, 0.0),
        (|a, _| half(half(a * 100.0).trunc()), 0.0, 0.0),
        (|a, b| half(a * b + b), 0.0, 0.0),
        (|a, b| half(a + b).clamp(0.0, 1.0), 0.0, 0.0),
        (|_, b| 1.0 / b, 1.0, 0.0),
        (|a, _| a.tanh(), 1.0, 5e-4),
    ];
    let (x, y) = arguments();
    let [x, y] = [x, y].map(|x| x.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>());
    results("halves", functions.len(), &x, &y, |got| {
        check(&doubled(got), &doubled(&x), &doubled(&y), &functions, 2f64.powi(-10), "halves");
    });
}

fn bfloat(x: f64) -> f64 {
    bf16::from_f64(x).into()
}

#[test]
fn bfloats_are_rounded_once() {
    let functions: [Function; 10] = [
        (|a, b| bfloat(a + b), 0.0, 0.0),
        (|a, b| bfloat(a * b), 0.0, 0.0),
        (|a, b| bfloat(a * b + a), 0.0, 0.0),
        (|a, b| a / b, 0.51, 0.0),
        (|a, _| a.exp(), 1.0, 0.0),
        (|_, b| b.sqrt(), 1.0, 0.0),
        (f64::min, 0.0, 0.0),
        (f64::max, 0.0, 0.0),
        (|_, b| bfloat(b * b), 0.0, 0.0),
        // Toward zero: at most one unit too small.
        (|a, _| f64::from(f32::from_bits((a as f32 * 1.001).to_bits() & 0xffff_0000)), 0.0, 0.0),
    ];
    let (x, y) = arguments();
    let [x, y] = [x, y].map(|x| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
    results("bfloats", functions.len(), &x, &y, |got| {
        check(&doubled(got), &doubled(&x), &doubled(&y), &functions, 2f64.powi(-7), "bfloats");
    });
}

#[test]
fn conversions_saturate_and_round() {
    let mut x =
        vec![0.0f32, -0.5, 0.5, 1.5, 2.5, -1e10, 1e10, 3e38, -3e38, f32::NAN, f32::INFINITY, 2147483648.0];
    x.extend(fractions(20, 3).iter().map(|x| x * 1e6));
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, &x)| f64::from(x) * 1.000000123 + i as f64 / 3.0).collect();
    each_numbers(&|program| {
        let mut call = Call::row(program, 1, x.len() as u32);
        call.buffer(&x);
        call.buffer(&y);
        let out = call.zeros::<i64>(12 * x.len());
        call.run("conversions");
        let want = x.iter().zip(&y).flat_map(|(&a, &b)| {
            let narrowed = b as f32;
            let down = if f64::from(narrowed) > b { narrowed.next_down() } else { narrowed };
            let whole = (a as i32).wrapping_mul(77_777_777);
            let near = whole as f32;
            let inward = f64::from(near).abs() > f64::from(whole).abs();
            let zero = if inward { f32::from_bits(near.to_bits() - 1) } else { near };
            let nearest = f16::from_f32(a);
            let up = if f32::from(nearest) < a {
                nearest.to_bits().wrapping_add_signed(away(a))
            } else {
                nearest.to_bits()
            };
            let bits = |x: f16| i64::from(if x.is_nan() { 0x7fff } else { x.to_bits() });
            // NaN is 0 from f32 to 32 bits, and else the number with the highest bit alone (PTX ISA, "cvt").
            let long = |x: f64, value: i64| if x.is_nan() { i64::MIN } else { value };
            let int = |x: f64| if x.is_nan() { i32::MIN } else { x as i32 };
            [
                i64::from(a as i32),
                i64::from(a as u32),
                long(a.into(), a as i64),
                long(b, b as u64 as i64),
                i64::from(int(b) as i16),
                i64::from(a.round_ties_even() as i32),
                i64::from(int(b.ceil())),
                i64::from((long(b, b as i64) as f32).to_bits() as i32),
                (long(b, b as u64 as i64) as u64 as f64).to_bits() as i64,
                i64::from(down.to_bits() as i32),
                i64::from(zero.to_bits() as i32),
                i64::from(f16::from_f64(b).to_bits())
                    | bits(if a.is_nan() { f16::NAN } else { f16::from_bits(up) }) << 16,
            ]
        });
        for (i, (got, want)) in call.read::<i64>(out).into_iter().zip(want).enumerate() {
            assert_eq!(got, want, "{} {}, conversion {}", x[i / 12], y[i / 12], i % 12);
        }
    });
}

/// The step of a float's bits towards larger numbers.
fn away(x: f32) -> i16 {
    if x < 0.0 { -1 } else { 1 }
}
