//! Conversions of elements, each in a register of its own.

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Rounding;
use super::register::{constant, extended, float, integer, m, moved, of, selp, setp};
use crate::algorithm::{byte_to_f16, f32_to_byte, f32_to_tf32};
use crate::builder::{Builder, Reg};
use crate::scalar::{immediate, register};
use crate::{AlgorithmError, Error};

/// The bits of a register as another dtype of the same width.
#[track_caller]
pub fn recast(b: &mut Builder, from: DType, to: DType, reg: &Reg) -> Reg {
    let (old, new) = (register(from), register(to));
    match (old, new) {
        (Type::B16, Type::B16) => reg.clone(),
        (Type::B16, _) => {
            let ty = if to.is_signed() { Type::S16 } else { Type::U16 };
            b.inst_to(new, Opcode::Cvt, m![new, ty], of([reg]))
        }
        (_, Type::B16) => b.inst_to(new, Opcode::Cvt, m![Type::U16, Type::U32], of([reg])),
        _ if old == new && (from.bits() == 32 || from.is_signed() == to.is_signed()) => reg.clone(),
        _ if from.bits() < 32 => extended(b, to, reg),
        _ => {
            let bits = if to.bits() == 64 { Type::B64 } else { Type::B32 };
            b.inst_to(new, Opcode::Mov, m![bits], of([reg]))
        }
    }
}

/// Converts the element in a register to another dtype. Floats are rounded in the direction `rounding`. Floats become integers toward zero, clamped
/// to the dtype's range, and NaN becomes 0. Integers wrap. A bool is 0 or 1, and every other number is true.
///
/// [`convert`](crate::algorithm::convert()) converts registers that elements share.
///
/// # Errors
/// [`AlgorithmError::Rounding`] for a direction that a conversion does not support.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::element::{Rounding, constant, convert_element};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 90, 32);
/// let x = constant(&mut b, DType::F32, DType::F32.encode(1.5))?;
/// let half = convert_element(&mut b, DType::F32, DType::F16, Rounding::Zero, &x)?;
/// convert_element(&mut b, DType::F16, DType::S8, Rounding::Nearest, &half)?;
/// assert!(b.finish()?.module().to_string().contains("cvt.rz.f16.f32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn convert_element(
    b: &mut Builder,
    from: DType,
    to: DType,
    rounding: Rounding,
    reg: &Reg,
) -> Result<Reg, Error> {
    if from == to {
        return Ok(reg.clone());
    }
    b.on_behalf(Location::caller(), |b| match (from.is_float(), to.is_float()) {
        _ if to == DType::Bool => Ok(truth(b, from, reg)),
        (_, float) if from == DType::Bool => {
            let one = constant(b, to, if float { to.encode(1.0) } else { 1 })?;
            let zero = constant(b, to, 0)?;
            Ok(selp(b, to, reg, &one, &zero))
        }
        (false, false) => Ok(integer_to_integer(b, from, to, reg)),
        (false, true) => integer_to_float(b, from, to, rounding, reg),
        (true, false) => Ok(float_to_integer(b, from, to, reg)),
        (true, true) => float_to_float(b, from, to, rounding, reg),
    })
}

fn truth(b: &mut Builder, from: DType, reg: &Reg) -> Reg {
    if from.is_integer() {
        return setp(b, Word::Ne, integer(from), reg, Operand::Int(0));
    }
    let (dtype, reg) = match from {
        DType::F64 | DType::F32 | DType::Tf32 => (from, reg.clone()),
        _ => (DType::F32, widened(b, from, reg)),
    };
    setp(b, Word::Neu, float(dtype), &reg, immediate(dtype, 0))
}

fn integer_to_integer(b: &mut Builder, from: DType, to: DType, reg: &Reg) -> Reg {
    let (old, new) = (integer(from), integer(to));
    let value = match (from.bits() == 64, to.bits() == 64) {
        (true, false) => b.inst_to(new, Opcode::Cvt, m![Type::U32, Type::U64], of([reg])),
        (false, true) => {
            let wide = if from.is_signed() { Type::S64 } else { Type::U64 };
            return b.inst_to(new, Opcode::Cvt, m![wide, old], of([reg]));
        }
        (true, true) => return b.inst_to(new, Opcode::Mov, m![Type::B64], of([reg])),
        (false, false) => reg.clone(),
    };
    let kept = from.bits() < to.bits() && !from.is_signed()
        || from.bits() < to.bits() && from.is_signed() && to.is_signed();
    if kept || to.bits() == 32 { value } else { extended(b, to, &value) }
}

fn integer_to_float(
    b: &mut Builder,
    from: DType,
    to: DType,
    rounding: Rounding,
    reg: &Reg,
) -> Result<Reg, Error> {
    let source = integer(from);
    let word = rounding.word();
    match to {
        DType::F64 | DType::F32 | DType::F16 => {
            Ok(b.inst_to(register(to), Opcode::Cvt, m![word, float(to), source], of([reg])))
        }
        // f32 represents numbers of up to 24 bits exactly.
        _ if from.bits() <= 16 => {
            let exact = b.inst_to(Type::F32, Opcode::Cvt, m![Word::Rn, Type::F32, source], of([reg]));
            float_to_float(b, DType::F32, to, rounding, &exact)
        }
        _ => {
            let cut = b.inst_to(Type::F32, Opcode::Cvt, m![Word::Rz, Type::F32, source], of([reg]));
            // The number is clamped to the integer's range.
            let back = b.inst_to(source, Opcode::Cvt, m![Word::Rzi, source, Type::F32], of([&cut]));
            let inexact = setp(b, Word::Ne, source, &back, Operand::from(reg));
            let odd = sticky(b, &cut, &inexact);
            float_to_float(b, DType::F32, to, rounding, &odd)
        }
    }
}

/// The f32 with its lowest bit set if bits were cut off (a sticky bit), so that a second rounding gives the result of one rounding.
fn sticky(b: &mut Builder, cut: &Reg, inexact: &Reg) -> Reg {
    let odd = b.inst_to(Type::F32, Opcode::Or, m![Type::B32], vec![Operand::from(cut), Operand::Int(1)]);
    selp(b, DType::F32, inexact, &odd, cut)
}

fn float_to_integer(b: &mut Builder, from: DType, to: DType, reg: &Reg) -> Reg {
    let (source, reg) = match from {
        DType::F64 | DType::F32 | DType::F16 => (from, reg.clone()),
        _ => (DType::F32, widened(b, from, reg)),
    };
    let ty = match (to.bits(), to.is_signed()) {
        (8, true) => Type::S8,
        (8, false) => Type::U8,
        (16, true) => Type::S16,
        (16, false) => Type::U16,
        _ => integer(to),
    };
    let value = b.inst_to(register(to), Opcode::Cvt, m![Word::Rzi, ty, float(source)], of([&reg]));
    if to.bits() == 64 || source == DType::F64 {
        // Among 32 bits NaN becomes 0 by itself.
        let nan = setp(b, Word::IsNan, float(source), &reg, Operand::from(&reg));
        let zero = b.inst_to(register(to), Opcode::Mov, m![moved(to)], vec![Operand::Int(0)]);
        let value = selp(b, to, &nan, &zero, &value);
        return extended(b, to, &value);
    }
    extended(b, to, &value)
}

/// A float of at most 32 bits as an f32, exactly.
pub(crate) fn widened(b: &mut Builder, from: DType, reg: &Reg) -> Reg {
    match from {
        DType::F16 => b.inst_to(Type::F32, Opcode::Cvt, m![Type::F32, Type::F16], of([reg])),
        DType::Bf16 => {
            // A bf16 is the upper half of an f32.
            let zero = b.inst_to(Type::B16, Opcode::Mov, m![Type::B16], vec![Operand::Int(0)]);
            b.join(Type::F32, [&zero, reg])
        }
        DType::E4m3 | DType::E5m2 => {
            let half = byte_to_f16(b, from, reg);
            b.inst_to(Type::F32, Opcode::Cvt, m![Type::F32, Type::F16], of([&half]))
        }
        _ => reg.clone(),
    }
}

/// A float as another float.
pub(crate) fn float_to_float(
    b: &mut Builder,
    from: DType,
    to: DType,
    rounding: Rounding,
    reg: &Reg,
) -> Result<Reg, Error> {
    let word = match rounding {
        Rounding::Full | Rounding::Approx => Word::Rn,
        direct => direct.word(),
    };
    if to == DType::F64 {
        return Ok(match from {
            DType::F32 | DType::F16 | DType::Tf32 => {
                b.inst_to(Type::F64, Opcode::Cvt, m![Type::F64, float(from)], of([reg]))
            }
            _ => {
                let wide = widened(b, from, reg);
                b.inst_to(Type::F64, Opcode::Cvt, m![Type::F64, Type::F32], of([&wide]))
            }
        });
    }
    if from == DType::F64 {
        if matches!(to, DType::F32 | DType::F16) {
            return Ok(b.inst_to(register(to), Opcode::Cvt, m![word, float(to), Type::F64], of([reg])));
        }
        let cut = b.inst_to(Type::F32, Opcode::Cvt, m![Word::Rz, Type::F32, Type::F64], of([reg]));
        let back = b.inst_to(Type::F64, Opcode::Cvt, m![Type::F64, Type::F32], of([&cut]));
        // Ordered, since NaN needs no bit; a number beyond f32 was cut to the greatest one.
        let inexact = setp(b, Word::Ne, Type::F64, &back, Operand::from(reg));
        let odd = sticky(b, &cut, &inexact);
        return float_to_float(b, DType::F32, to, rounding, &odd);
    }
    if !matches!(from, DType::F32 | DType::Tf32) {
        let wide = widened(b, from, reg);
        return float_to_float(b, DType::F32, to, rounding, &wide);
    }
    match to {
        DType::F32 => Ok(reg.clone()),
        DType::F16 | DType::Bf16 => {
            Ok(b.inst_to(Type::B16, Opcode::Cvt, m![word, float(to), Type::F32], of([reg])))
        }
        DType::Tf32 if from == DType::Tf32 => Ok(reg.clone()),
        DType::Tf32 if rounding == Rounding::Nearest => Ok(f32_to_tf32(b, reg)),
        DType::E4m3 | DType::E5m2 if rounding == Rounding::Nearest => Ok(f32_to_byte(b, to, reg)),
        _ => Err(AlgorithmError::Rounding { rounding: rounding.to_string(), from, to }.into()),
    }
}
