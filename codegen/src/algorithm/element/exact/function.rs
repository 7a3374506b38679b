//! Exact functions of elements.

use std::cmp::Ordering;

use girih_tensor::DType;

use super::float::{self, Exact, decode, sign_bit};
use super::{integer, mask};
use crate::algorithm::element::{Each, How, Nan, Rounding};

/// The bits of a function's value for operands of a dtype; `None` where it has none, as a quotient by 0 of integers.
pub fn apply(op: Each, how: How, dtype: DType, args: [u64; 3]) -> Option<u64> {
    if dtype.is_float() { Some(of_floats(op, how, dtype, args)) } else { of_integers(op, dtype, args) }
}

fn compared(op: Each, order: Option<Ordering>) -> Option<u64> {
    let holds = match op {
        Each::Less => order == Some(Ordering::Less),
        Each::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Each::Greater => order == Some(Ordering::Greater),
        Each::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Each::Equal => order == Some(Ordering::Equal),
        Each::NotEqual => order != Some(Ordering::Equal),
        _ => return None,
    };
    Some(u64::from(holds))
}

fn of_integers(op: Each, dtype: DType, args: [u64; 3]) -> Option<u64> {
    let [a, b, c] = args.map(|bits| integer(dtype, bits));
    if let Some(truth) = compared(op, Some(a.cmp(&b))) {
        return Some(truth);
    }
    let floor = |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    // Amounts count as unsigned numbers, and beyond the width as the width.
    let amount = args[1].min(u64::from(dtype.bits())) as u32;
    let value = match op {
        Each::Add => a + b,
        Each::Sub => a - b,
        // Products of 64-bit integers wrap at 128 bits, which leaves the lower half right.
        Each::Mul => a.wrapping_mul(b),
        Each::MulHi if dtype.is_signed() => (a * b) >> dtype.bits(),
        Each::MulHi => ((a.cast_unsigned() * b.cast_unsigned()) >> dtype.bits()) as i128,
        Each::FloorDiv | Each::CeilDiv | Each::Mod if b == 0 => return None,
        Each::FloorDiv => floor(a, b),
        Each::CeilDiv => -floor(-a, b),
        Each::Mod => a - floor(a, b) * b,
        Each::Min => a.min(b),
        Each::Max => a.max(b),
        Each::And => a & b,
        Each::Or => a | b,
        Each::Xor => a ^ b,
        Each::Shl => a << amount,
        Each::Shr => a >> amount,
        Each::Not if dtype == DType::Bool => 1 - a,
        Each::Not => !a,
        Each::Fma => a.wrapping_mul(b).wrapping_add(c),
        Each::Neg => -a,
        Each::Abs => a.abs(),
        _ => return None,
    };
    Some(value as u64 & mask(dtype))
}

fn of_floats(op: Each, how: How, dtype: DType, args: [u64; 3]) -> u64 {
    let [a, b, c] = args.map(|bits| {
        let x = decode(dtype, bits);
        if how.ftz { flushed(x) } else { x }
    });
    if let Some(truth) = compared(op, a.partial_cmp(&b)) {
        return truth;
    }
    let rounding = how.rounding;
    let exact = match op {
        Each::Neg => return args[0] ^ sign_bit(dtype),
        Each::Abs => return args[0] & !sign_bit(dtype),
        Each::IsNan => return u64::from(a.is_nan()),
        Each::IsInf => return u64::from(a.is_infinite()),
        Each::Min | Each::Max => Exact::whole(extreme(op == Each::Max, how.nan, a, b)),
        Each::Add => Exact::add(a, b, rounding),
        Each::Sub => Exact::add(a, -b, rounding),
        Each::Mul => Exact::mul(a, b),
        Each::TrueDiv => Exact::div(a, b),
        Each::Sqrt => Exact::sqrt(a),
        Each::Fma => Exact::fma(a, b, c, rounding),
        Each::FloorDiv => {
            let quotient = Exact::div(a, b).round(dtype, Rounding::Nearest);
            Exact::whole(decode(dtype, quotient).floor())
        }
        Each::Mod => modulo(a, b),
        _ => Exact::whole(transcendental(op, a, b)),
    };
    let bits = exact.round(dtype, rounding);
    if how.ftz {
        return float::encode(dtype, flushed(decode(dtype, bits)), Rounding::Nearest);
    }
    bits
}

/// Subnormal f32 numbers as zeros of their sign.
fn flushed(x: f64) -> f64 {
    if x.abs() < f64::from(f32::MIN_POSITIVE) { 0f64.copysign(x) } else { x }
}

/// The greater or smaller of two; -0 is below 0.
fn extreme(greatest: bool, nan: Nan, a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan(), nan) {
        (true, true, _) | (true, _, Nan::Propagated) | (_, true, Nan::Propagated) => f64::NAN,
        (true, false, Nan::Ignored) => b,
        (false, true, Nan::Ignored) => a,
        // Neither is NaN, so that the total order is that of numbers with -0 below 0.
        _ if (a.total_cmp(&b) == Ordering::Greater) == greatest => a,
        _ => b,
    }
}

/// The exact remainder with the sign of the divisor.
fn modulo(a: f64, b: f64) -> Exact {
    let rest = a % b;
    if rest == 0.0 {
        return Exact::whole(0f64.copysign(b));
    }
    if (rest < 0.0) != (b < 0.0) { Exact::add(rest, b, Rounding::Nearest) } else { Exact::whole(rest) }
}

fn transcendental(op: Each, a: f64, b: f64) -> f64 {
    match op {
        Each::Pow => a.powf(b),
        Each::Atan2 => a.atan2(b),
        Each::Exp => a.exp(),
        Each::Exp2 => a.exp2(),
        Each::Log => a.ln(),
        Each::Log2 => a.log2(),
        Each::Rsqrt => 1.0 / a.sqrt(),
        Each::Sin => a.sin(),
        Each::Cos => a.cos(),
        Each::Tan => a.tan(),
        Each::Sinh => a.sinh(),
        Each::Cosh => a.cosh(),
        Each::Tanh => a.tanh(),
        Each::Erf => libm::erf(a),
        Each::Sigmoid => 1.0 / (1.0 + (-a).exp()),
        Each::Floor => a.floor(),
        Each::Ceil => a.ceil(),
        Each::Round => a.round_ties_even(),
        Each::Trunc => a.trunc(),
        _ => f64::NAN,
    }
}
