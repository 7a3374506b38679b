//! Formats and directions of floats, against other implementations and exact integers.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile::ir::table::How;
use girih_tile::ops::table::Each;
use girih_tile_reference::{apply, convert, float};
use half::{bf16, f16};
use rand::RngExt;

use crate::common::differ::{cases, random};

const DIRECTED: [Rounding; 3] = [Rounding::Zero, Rounding::Down, Rounding::Up];

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Every pattern of the small formats is decoded as the crates `half` and `float8` decode it, and comes back.
#[test]
fn all_patterns_decode_and_come_back() {
    for bits in 0..=u16::MAX {
        let all = [
            (DType::F16, u64::from(bits), f16::from_bits(bits).to_f64()),
            (DType::Bf16, u64::from(bits), bf16::from_bits(bits).to_f64()),
            (DType::E4m3, u64::from(bits as u8), float8::F8E4M3::from_bits(bits as u8).to_f64()),
            (DType::E5m2, u64::from(bits as u8), float8::F8E5M2::from_bits(bits as u8).to_f64()),
        ];
        for (dtype, bits, want) in all {
            let got = float::decode(dtype, bits);
            assert!(same(got, want), "{dtype} {bits:#x}: {got} where {want} is expected");
            // 8-bit floats saturate, so that infinity does not come back.
            if got.is_nan() || got.is_infinite() && dtype == DType::E5m2 {
                continue;
            }
            for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
                assert_eq!(float::encode(dtype, got, rounding), bits, "{dtype} {got} by {rounding:?}");
            }
        }
    }
}

/// Rounding to nearest is Rust's for f32; each direction gives the neighbour on its side, and all agree on exact numbers.
#[test]
fn directions_bracket_the_number() {
    let mut rng = random(11);
    for _ in 0..cases(4000) {
        let power = rng.random_range(-180..140);
        let x = (rng.random::<f64>() - 0.5) * 2f64.powi(power);
        assert_eq!(float::encode(DType::F32, x, Rounding::Nearest), u64::from((x as f32).to_bits()), "{x:e}");
        for dtype in [DType::F32, DType::Tf32, DType::F16, DType::Bf16] {
            let at = |rounding| float::decode(dtype, float::encode(dtype, x, rounding));
            let (down, up, zero) = (at(Rounding::Down), at(Rounding::Up), at(Rounding::Zero));
            assert!(down <= x && x <= up, "{dtype} {x:e}: {down:e} {up:e}");
            assert_eq!(zero, if x < 0.0 { up } else { down }, "{dtype} {x:e}");
            // Nothing of the format stands between them.
            let between = if down.is_finite() && up.is_finite() { down / 2.0 + up / 2.0 } else { continue };
            let nearest = at(Rounding::Nearest);
            assert!(nearest == down || nearest == up, "{dtype} {x:e}");
            let middle = float::decode(dtype, float::encode(dtype, between, Rounding::Nearest));
            assert!(middle == down || middle == up, "{dtype} {x:e}: {middle:e} between {down:e} and {up:e}");
        }
    }
}

/// An f64 as an integer times 2^-60, if it is one of moderate size.
fn fixed(x: f64) -> i128 {
    (x * 2f64.powi(60)) as i128
}

/// Sums, products and quotients of integers times powers of two, against integer arithmetic.
#[test]
fn arithmetic_is_rounded_once_in_every_direction() {
    let mut rng = random(12);
    for dtype in [DType::F64, DType::F32, DType::F16, DType::Bf16] {
        let digits = match dtype {
            DType::F64 => 50,
            DType::F32 => 24,
            DType::F16 => 10,
            _ => 8,
        };
        for _ in 0..cases(500) {
            let mut number = || {
                let n = rng.random_range(-(1i64 << digits)..1 << digits);
                let power = rng.random_range(-3..4) - digits;
                let bits = float::encode(dtype, n as f64 * 2f64.powi(power), Rounding::Nearest);
                (bits, float::decode(dtype, bits))
            };
            let ((a, x), (b, y)) = (number(), number());
            let at = |op, rounding| {
                let bits = apply(op, How { rounding, ..How::default() }, dtype, [a, b, 0]).unwrap();
                float::decode(dtype, bits)
            };
            // The exact sum, in units of 2^-60.
            let sum = fixed(x) + fixed(y);
            let exact_sum = |z: f64| fixed(z).cmp(&sum);
            bracket(dtype, |rounding| at(Each::Add, rounding), exact_sum, &format!("{x:e} + {y:e}"));
            // The exact product, in units of 2^-120. Smaller results would have bits below 2^-60.
            let product = fixed(x) * fixed(y);
            if at(Each::Mul, Rounding::Nearest).abs() > 2f64.powi(-6) {
                let order = |z: f64| (fixed(z) << 60).cmp(&product);
                bracket(dtype, |rounding| at(Each::Mul, rounding), order, &format!("{x:e} * {y:e}"));
            }
            if y != 0.0 {
                // The sign of z * y - x, which is rounded once, is exact.
                let order = |z: f64| {
                    let order = z.mul_add(y, -x).partial_cmp(&0.0).unwrap();
                    if y < 0.0 { order.reverse() } else { order }
                };
                bracket(dtype, |rounding| at(Each::TrueDiv, rounding), order, &format!("{x:e} / {y:e}"));
            }
        }
    }
}

/// `order` compares a number with the exact result.
fn bracket(
    dtype: DType,
    at: impl Fn(Rounding) -> f64,
    order: impl Fn(f64) -> std::cmp::Ordering,
    what: &str,
) {
    let [zero, down, up] = DIRECTED.map(&at);
    assert!(order(down).is_le() && order(up).is_ge(), "{dtype} {what}: {down:e} to {up:e}");
    assert_eq!(down == up, order(down).is_eq(), "{dtype} {what}: {down:e} to {up:e}");
    assert!(zero == down || zero == up, "{dtype} {what}");
    assert!(zero.abs() <= down.abs() && zero.abs() <= up.abs(), "{dtype} {what}");
    let nearest = at(Rounding::Nearest);
    assert!(nearest == down || nearest == up, "{dtype} {what}");
}

/// Sums of f16 as f16 has them, exhaustively along one operand: the sum of two f16 is an f64, which `half` rounds.
#[test]
fn sums_and_products_of_f16_are_rounded_once() {
    let mut rng = random(13);
    for _ in 0..cases(20000) {
        let (a, b) = (f16::from_bits(rng.random()), f16::from_bits(rng.random()));
        for (op, exact) in [(Each::Add, a.to_f64() + b.to_f64()), (Each::Mul, a.to_f64() * b.to_f64())] {
            let args = [a.to_bits().into(), b.to_bits().into(), 0];
            let got = apply(op, How::default(), DType::F16, args).unwrap();
            let got = f16::from_bits(got as u16);
            // f32 holds what decides a tie of f16 when it is rounded to odd, as the element type does it.
            let want = <f16 as girih_tensor::Element>::from_f64(exact);
            assert!(
                got == want || got.is_nan() && want.is_nan(),
                "{a} {op:?} {b}: {got} where {want} is expected"
            );
        }
    }
}

/// A fused product keeps what two roundings lose.
#[test]
fn fused_products_are_rounded_once() {
    let mut rng = random(14);
    for _ in 0..cases(4000) {
        let mut number = || f32::from_bits(rng.random::<u32>() & !(0x60 << 24) | 0x30 << 24);
        let (a, b) = (number(), number());
        let c = -(a * b);
        let args = [a, b, c].map(|x| u64::from(x.to_bits()));
        let got = apply(Each::Fma, How::default(), DType::F32, args).unwrap();
        assert_eq!(f32::from_bits(got as u32), a.mul_add(b, c), "{a:e} * {b:e} + {c:e}");
        let args = [a, b, c].map(|x| f64::from(x).to_bits());
        let got = apply(Each::Fma, How::default(), DType::F64, args).unwrap();
        assert_eq!(f64::from_bits(got), f64::from(a) * f64::from(b) + f64::from(c));
    }
}

/// Integers of 64 bits are rounded once, though f64 does not hold them; floats beyond an integer dtype stay at its ends.
#[test]
fn conversions_round_once_and_saturate() {
    let mut rng = random(15);
    for _ in 0..cases(4000) {
        let n: i64 = rng.random::<i64>() >> rng.random_range(0..40);
        let got = convert(DType::S64, DType::F32, Rounding::Nearest, n as u64);
        assert_eq!(got, u64::from((n as f32).to_bits()), "{n}");
        let x = f64::from_bits(rng.random());
        assert_eq!(
            convert(DType::F64, DType::S8, Rounding::Nearest, x.to_bits()),
            u64::from(x as i8 as u8),
            "{x:e}"
        );
        assert_eq!(convert(DType::F64, DType::U64, Rounding::Nearest, x.to_bits()), x as u64, "{x:e}");
        assert_eq!(convert(DType::S64, DType::Bool, Rounding::Nearest, n as u64), u64::from(n != 0));
    }
}
