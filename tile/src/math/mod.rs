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
use crate::ir::{Build, Kind, Rounding, Type, Value};
use emit::{Emit, X};

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
    let e = Emit::new(b, dtype, ty.dims);
    let operands: Vec<X<'_, '_>> = operands.iter().map(|&value| e.x(value)).collect();
    if !ftz {
        return Some(function(op, rounding, &operands).value);
    }
    // Products with 1 flush.
    let flush = |x: X<'_, '_>| {
        let mut kind = Kind::each(Each::Mul);
        if let Kind::Each { ftz, .. } = &mut kind {
            *ftz = true;
        }
        e.push(kind, &[x.value, e.c(1.0).value], dtype)
    };
    let operands: Vec<X<'_, '_>> = operands.into_iter().map(flush).collect();
    Some(flush(function(op, rounding, &operands)).value)
}

/// A function of f16 or bf16 by f32, which holds enough digits that rounding again is harmless to quotients and roots.
fn half(b: &mut Build, op: Each, rounding: Rounding, operands: &[Value], ty: Type) -> Value {
    let dtype = b.ty(operands[0]).dtype;
    let e = Emit::new(b, DType::F32, ty.dims);
    let operands: Vec<X<'_, '_>> = operands.iter().map(|&value| e.x(value).cast(DType::F32)).collect();
    // Digits that a half does not have need no care.
    let inner = match op {
        Each::Log => Rounding::Approx,
        _ => rounding,
    };
    let result = match op {
        // The quotient is rounded before it is rounded down.
        Each::FloorDiv => (operands[0] / operands[1]).cast(dtype).cast(DType::F32).map(Each::Floor),
        Each::Log2 => operands[0].apply(op, Rounding::Approx, &operands[1..]),
        _ if expands(op, DType::F32, inner) => function(op, inner, &operands),
        _ => operands[0].apply(op, inner, &operands[1..]),
    };
    e.push(Kind::Cast(rounding), &[result.value], ty.dtype).value
}

fn function<'e, 'b>(op: Each, rounding: Rounding, operands: &[X<'e, 'b>]) -> X<'e, 'b> {
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
