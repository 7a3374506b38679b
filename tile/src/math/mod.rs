//! Functions that no instruction gives to tolerance, as tile IR: sums, products, fused multiply-adds, selections and bits.
//!
//! Tolerance is 5e-6 of f32 and 1e-12 of f64, relative; `docs/tile-math.md` has the measured errors, which are far below. f16 and bf16 are
//! computed in f32 and rounded once more.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::ir::{Rounding, table::Each};
//! use girih_tile::math::expands;
//!
//! // An instruction gives 2 to the power x; e to the power x is made of it.
//! assert!(!expands(Each::Exp2, DType::F32, Rounding::Nearest));
//! assert!(expands(Each::Exp, DType::F32, Rounding::Nearest));
//! ```

pub(crate) mod emit;
mod exp;
mod log;
pub(crate) mod narrow;
mod other;
mod trig;

use girih_tensor::DType;

use crate::ir::table::Each;
use crate::ir::{Build, Kind, Nan, Overflow, Rounding, Type, Value};
use emit::Emit;

/// Whether the pass [`expand`](crate::pass) replaces a function of operands of this dtype. What it does not replace is an instruction, or
/// a few, of lowering's.
///
/// What stays, besides arithmetic, comparison and bits:
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

/// Writes a function out, if it [`expands`].
pub(crate) fn expand(b: &mut Build, kind: &Kind, operands: &[Value], ty: Type) -> Option<Value> {
    let &Kind::Each { op, rounding, ftz, .. } = kind else { return None };
    let dtype = b.ty(*operands.last()?).dtype;
    if !expands(op, dtype, rounding) {
        return None;
    }
    if matches!(dtype, DType::F16 | DType::Bf16) {
        return Some(half(b, op, rounding, operands, ty));
    }
    let mut m = Emit { b, dtype, dims: ty.dims };
    if !ftz {
        return Some(function(&mut m, op, rounding, operands));
    }
    // Products with 1 flush.
    let flush = |m: &mut Emit<'_>, value: Value| {
        let one = m.c(1.0);
        let kind = Kind::Each {
            op: Each::Mul,
            rounding: Rounding::Nearest,
            ftz: true,
            nan: Nan::Ignored,
            overflow: Overflow::Wraps,
        };
        m.b.push1(kind, &[value, one], Type { dtype, dims: m.dims })
    };
    let operands: Vec<Value> = operands.iter().map(|&value| flush(&mut m, value)).collect();
    let result = function(&mut m, op, rounding, &operands);
    Some(flush(&mut m, result))
}

/// A function of f16 or bf16 by f32, which holds enough digits that rounding again is harmless to quotients and roots.
fn half(b: &mut Build, op: Each, rounding: Rounding, operands: &[Value], ty: Type) -> Value {
    let dtype = b.ty(operands[0]).dtype;
    let mut m = Emit { b, dtype: DType::F32, dims: ty.dims };
    let operands: Vec<Value> = operands.iter().map(|&value| m.cast(value, DType::F32)).collect();
    // Digits that a half does not have need no care.
    let inner = match op {
        Each::Exp | Each::Log => Rounding::Approx,
        _ => rounding,
    };
    let result = match op {
        // The quotient is rounded before it is rounded down.
        Each::FloorDiv => {
            let quotient = m.div(operands[0], operands[1]);
            let quotient = m.cast(quotient, dtype);
            let quotient = m.cast(quotient, DType::F32);
            m.op(Each::Floor, &[quotient])
        }
        Each::Log2 => m.round_by(op, Rounding::Approx, &operands),
        _ if expands(op, DType::F32, inner) => function(&mut m, op, inner, &operands),
        _ => m.round_by(op, inner, &operands),
    };
    m.b.push1(Kind::Cast(rounding), &[result], ty)
}

fn function(m: &mut Emit<'_>, op: Each, rounding: Rounding, operands: &[Value]) -> Value {
    let x = operands[0];
    let y = operands.get(1).copied().unwrap_or(x);
    match op {
        Each::Exp => m.exp(x, rounding),
        Each::Exp2 => m.exp2(x),
        Each::Log => m.log(x, rounding),
        Each::Log2 => m.log2(x),
        Each::Rsqrt => m.rsqrt(x),
        Each::Sin => m.sin(x),
        Each::Cos => m.cos(x),
        Each::Tan => m.tan(x),
        Each::Sinh => m.sinh(x),
        Each::Cosh => m.cosh(x),
        Each::Tanh => m.tanh(x),
        Each::Erf => m.erf(x),
        Each::Sigmoid => m.sigmoid(x),
        Each::Pow => m.pow(x, y),
        Each::Atan2 => m.atan2(x, y),
        Each::FloorDiv => m.floor_div(x, y),
        Each::Mod => m.modulo(x, y),
        // `expands` names the functions above.
        _ => m.op(op, operands),
    }
}

/// The cosine of a turn's part, of which a u32 counts 2^-32.
pub(crate) fn cosine_of_turn(b: &mut Build, part: Value) -> Value {
    let dims = b.ty(part).dims;
    Emit { b, dtype: DType::F32, dims }.cosine_of_turn(part)
}
