//! Functions that no instruction gives to tolerance, as tile IR: sums, products, fused multiply-adds, selections and bits.
//!
//! Tolerance is 5e-6 of f32 and 1e-12 of f64, relative; `docs/tile-math.md` has the measured errors, which are far below. f16 and bf16 are
//! computed in f32 and rounded once more.

use girih_tensor::DType;

use crate::ir::Rounding;
use crate::ops::table::Each;

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
