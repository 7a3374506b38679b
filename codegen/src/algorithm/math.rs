//! Math functions for which no instruction is exact enough, by arithmetic: sums, products, fused multiply-adds, selections and bits.
//!
//! Tolerance is 5e-6 of f32 and 1e-12 of f64, relative; `docs/tile-math.md` has the measured errors, which are far below. f16 and bf16 are
//! computed in f32 and rounded once more. [`compute`] writes functions of registers, and [`expand`] writes them in any language that has
//! the operations of [`Emit`].
//!
//! # Examples
//! ```
//! use girih_codegen::algorithm::element::{Each, Rounding};
//! use girih_codegen::algorithm::math::expands;
//! use girih_tensor::DType;
//!
//! // An instruction gives 2 to the power x; e to the power x is made of it.
//! assert!(!expands(Each::Exp2, DType::F32, Rounding::Nearest));
//! assert!(expands(Each::Exp, DType::F32, Rounding::Nearest));
//! ```

mod emit;
mod exp;
mod log;
pub mod narrow;
mod other;
mod random;
mod registers;
mod trig;

use girih_tensor::DType;

pub use emit::{Beside, Emit, X};
pub use random::{normal, philox, unit};
pub use registers::compute;

use crate::algorithm::element::{Each, How, Rounding};

/// Whether a function of operands of this dtype is expanded to other functions. A function that is not expanded is one instruction or a few.
///
/// These are not expanded, nor are arithmetic, comparison and bits:
///
/// | function | dtype | rounding |
/// |---|---|---|
/// | `truediv`, `sqrt` | f32, f64 | all |
/// | `exp2`, `rsqrt` | f32 | all: `ex2.approx` and `rsqrt.approx` are within 2 units of the last place |
/// | `log2` | f32 | full and approximate: `lg2.approx` |
/// | `sin`, `cos`, `tanh` | f32 | approximate: `sin.approx`, `cos.approx`, `tanh.approx` |
/// | `floor`, `ceil`, `round`, `trunc` | f32, f64 | |
/// | `add`, `sub`, `mul`, `fma` | f16, bf16 | to nearest; other directions are computed in f32 |
pub fn expands(op: Each, dtype: DType, rounding: Rounding) -> bool {
    use Each::*;
    let fast = matches!(rounding, Rounding::Approx | Rounding::Full);
    let arithmetic = matches!(op, Add | Sub | Mul | Fma);
    match dtype {
        DType::F16 | DType::Bf16 => {
            computes(op)
                || matches!(op, Floor | Ceil | Round | Trunc)
                || arithmetic && rounding != Rounding::Nearest
        }
        DType::F32 => match op {
            TrueDiv | Sqrt | Exp2 | Rsqrt => false,
            Log2 => !fast,
            Sin | Cos | Tanh => rounding != Rounding::Approx,
            _ => computes(op),
        },
        DType::F64 => computes(op) && !matches!(op, TrueDiv | Sqrt),
        _ => false,
    }
}

/// Functions that take more than an instruction of f16, f32 and f64 alike.
fn computes(op: Each) -> bool {
    use Each::*;
    matches!(
        op,
        TrueDiv
            | FloorDiv
            | Mod
            | Pow
            | Atan2
            | Exp
            | Exp2
            | Log
            | Log2
            | Sqrt
            | Rsqrt
            | Sin
            | Cos
            | Tan
            | Sinh
            | Cosh
            | Tanh
            | Erf
            | Sigmoid
    )
}

/// The dtype that a function of a float dtype is computed in.
pub fn computed_in(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Writes a function out that [`expands`], in the dtype that operands of this one are [computed in](computed_in).
pub fn expand<'e, E: Emit>(e: &'e E, op: Each, how: How, operands: &[E::Value]) -> E::Value {
    let operands: Vec<X<'e, E>> = operands.iter().map(|&value| X::new(e, value)).collect();
    let dtype = operands[operands.len() - 1].dtype();
    if dtype != e.dtype() {
        return e.cast(half(op, how.rounding, &operands).value, dtype, how.rounding);
    }
    if !how.ftz {
        return function(op, how.rounding, &operands).value;
    }
    // Products with 1 flush.
    let flush = |x: X<'e, E>| {
        let one = e.float(dtype, 1.0);
        x.with(e.apply(Each::Mul, How { ftz: true, ..How::default() }, &[x.value, one], dtype))
    };
    let operands: Vec<X<'e, E>> = operands.into_iter().map(flush).collect();
    flush(function(op, how.rounding, &operands)).value
}

/// A function of f16 or bf16 in f32, which holds enough digits that rounding again is harmless to quotients and roots.
fn half<'e, E: Emit>(op: Each, rounding: Rounding, operands: &[X<'e, E>]) -> X<'e, E> {
    let dtype = operands[0].dtype();
    let operands: Vec<X<'e, E>> = operands.iter().map(|x| x.cast(DType::F32)).collect();
    // Digits that a half does not have need no care.
    let inner = match op {
        Each::Log => Rounding::Approx,
        _ => rounding,
    };
    match op {
        // The quotient is rounded before it is rounded down.
        Each::FloorDiv => (operands[0] / operands[1]).cast(dtype).cast(DType::F32).map(Each::Floor),
        Each::Log2 => operands[0].apply(op, Rounding::Approx, &operands[1..]),
        _ if expands(op, DType::F32, inner) => function(op, inner, &operands),
        _ => operands[0].apply(op, inner, &operands[1..]),
    }
}

fn function<'e, E: Emit>(op: Each, rounding: Rounding, operands: &[X<'e, E>]) -> X<'e, E> {
    let x = operands[0];
    let y = operands.get(1).copied().unwrap_or(x);
    match op {
        Each::Exp => x.exp(Rounding::Approx),
        Each::Exp2 => x.exp2(),
        Each::Log => x.log(rounding),
        Each::Log2 => x.log2(),
        Each::Rsqrt => x.rsqrt(),
        Each::Sin => x.sin(),
        Each::Cos => x.cos(),
        Each::Tan => x.tan(),
        Each::Sinh => x.sinh(),
        Each::Cosh => x.cosh(),
        Each::Tanh => x.tanh(),
        Each::Erf => x.erf(),
        Each::Sigmoid => x.sigmoid(),
        Each::Pow => x.pow(y),
        Each::Atan2 => x.atan2(y),
        Each::FloorDiv => x.floor_div(y),
        Each::Mod => x.modulo(y),
        // `expands` names the functions above.
        _ => x.apply(op, Rounding::Nearest, &operands[1..]),
    }
}
