//! Conversions of values one by one, through scalars, and integers that fill registers of 8, 4 and 2 values.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Tensor};

use super::fp8;
use super::words::Words;
use crate::algorithm::math::narrow::{is_narrow, to_f32};
use crate::algorithm::scalars::{place, read};
use crate::atom::ptx_type;
use crate::builder::{Builder, Reg};
use crate::scalar::{Rounding, computed, lower};
use crate::{Error, Rmem, Scalar};

/// The numbers of a fragment; those of floats of 8 bits and fewer are f32.
pub(super) fn read_numbers(
    b: &mut Builder,
    source: &Tensor<Rmem>,
    values: &[Rmem],
) -> Result<Vec<Scalar>, Error> {
    let from = source.engine().dtype();
    if is_narrow(from) {
        return read(b, source)?.iter().map(|bits| to_f32(b, from, bits)).collect();
    }
    if !from.is_narrow_float() {
        return read(b, source);
    }
    let places: Vec<(Reg, i64)> = values.iter().map(place).collect();
    let singles = fp8::to_f32(&mut Words::new(b, true), from, &places);
    singles.iter().map(|single| b.scalar_in(single, DType::F32)).collect()
}

/// The number `x`, a scalar of a value of `from`, as the scalar that is written to a value of `to`.
pub(super) fn cast(b: &mut Builder, x: &Scalar, from: DType, to: DType) -> Result<Scalar, Error> {
    let x = match from {
        DType::Bool => Scalar::new(DType::U32, 1.0).select(&x.differs(0), 0),
        _ => x.clone(),
    };
    Ok(match to {
        DType::F64 | DType::F32 | DType::F16 => x.to(to),
        DType::Bf16 if x.dtype() == DType::F16 => x.to(to),
        DType::Bf16 => odd(b, &x, from)?.to(to),
        DType::Tf32 => tf32(b, &x, from)?,
        // Integers that f32 rounds are beyond the greatest number, but for e8m0.
        _ if to.is_narrow_float() && (from.is_float() || to == DType::E8m0) => odd(b, &x, from)?,
        _ if to.is_narrow_float() => x.to(DType::F32),
        DType::Bool => {
            let x = if x.dtype().bits() == 16 { x.to(DType::F32) } else { x };
            Scalar::new(DType::U32, 1.0).select(&x.differs(0), 0)
        }
        _ => integer(&x, from, to),
    })
}

/// A number as the nearest integer of a dtype.
fn integer(x: &Scalar, from: DType, to: DType) -> Scalar {
    let ends = |dtype: DType| dtype.range().unwrap_or((0, 1));
    if !from.is_float() {
        return clamp(x, ends(from), to);
    }
    let whole = if to.bits() == 64 || to == DType::U32 { to } else { DType::S32 };
    let x = if x.dtype().bits() == 16 { x.to(DType::F32) } else { x.clone() };
    let mut rounded = x.rounded_to(whole, Rounding::NearestEven);
    if x.dtype().bits() == 64 || whole.bits() == 64 {
        // Among 32 bits NaN becomes 0 by itself.
        rounded = rounded.select(&x.equals(&x), 0);
    }
    clamp(&rounded, ends(whole), to)
}

/// An integer between `least` and `most` as the nearest one of a dtype.
fn clamp(x: &Scalar, (least, most): (i128, i128), to: DType) -> Scalar {
    let (low, high) = to.range().unwrap_or((least, most));
    let end = |end: i128| Scalar::of_bits(x.dtype(), end as u64);
    let x = if least < low { x.max(end(low)) } else { x.clone() };
    let x = if most > high { x.min(end(high)) } else { x };
    x.to(computed(to))
}

/// A number as f32. If f32 does not have the number, it is the one of its two neighbours whose last bit is 1, so that rounding to fewer bits
/// is as if the number had not been rounded before.
fn odd(b: &mut Builder, x: &Scalar, from: DType) -> Result<Scalar, Error> {
    if from.bits() <= 16 || matches!(from, DType::F32 | DType::Tf32) {
        return Ok(x.to(DType::F32));
    }
    let (dtype, wide) = (x.dtype(), b.scalar(x)?);
    let ty = lower::ty(dtype);
    let out = |b: &mut Builder, ty, opcode, words: &[girih_ptx::Modifier], operands: Vec<Operand>| {
        let out = b.reg(ty);
        b.inst(opcode, words, [Operand::from(&out)].into_iter().chain(operands).collect());
        out
    };
    let cut = [Word::Rz.into(), Type::F32.into(), ty.into()];
    let cut = out(b, Type::F32, Opcode::Cvt, &cut, vec![Operand::from(&wide)]);
    let back = if dtype == DType::F64 {
        out(b, ty, Opcode::Cvt, &[ty.into(), Type::F32.into()], vec![Operand::from(&cut)])
    } else {
        let words = [Word::Rzi.into(), ty.into(), Type::F32.into()];
        out(b, ty, Opcode::Cvt, &words, vec![Operand::from(&cut)])
    };
    let operands = [&back, &wide].map(Operand::from).to_vec();
    let inexact = out(b, Type::Pred, Opcode::Setp, &[Word::Ne.into(), ty.into()], operands);
    let operands = vec![Operand::from(&cut), Operand::Int(1)];
    let odd = out(b, Type::F32, Opcode::Or, &[Type::B32.into()], operands);
    let operands = [&odd, &cut, &inexact].map(Operand::from).to_vec();
    let chosen = out(b, Type::F32, Opcode::Selp, &[Type::F32.into()], operands);
    b.scalar_in(&chosen, DType::F32)
}

/// A number as the nearest tf32, ten bits of fraction.
fn tf32(b: &mut Builder, x: &Scalar, from: DType) -> Result<Scalar, Error> {
    let single = odd(b, x, from)?;
    if matches!(from, DType::F16 | DType::Bf16) || from.bits() <= 8 {
        return Ok(single);
    }
    let reg = b.scalar(&single)?;
    let out = nearest_tf32(b, &reg);
    b.scalar_in(&out, DType::F32)
}

/// An f32 as the nearest tf32.
pub(super) fn nearest_tf32(b: &mut Builder, reg: &Reg) -> Reg {
    let mut words = Words::new(b, true);
    let bits = words.make(Opcode::Mov, Type::B32, vec![Operand::from(reg)]);
    let last = vec![Operand::from(&bits), Operand::Int(13), Operand::Int(1)];
    let last = words.make(Opcode::Bfe, Type::U32, last);
    let sum = words.make(Opcode::Add, Type::U32, [&bits, &last].map(Operand::from).to_vec());
    let sum = words.make(Opcode::Add, Type::U32, vec![Operand::from(&sum), Operand::Int(0xfff)]);
    let rounded = words.and(&sum, 0xffff_e000);
    let (nan, out) = (words.b.reg(Type::Pred), words.b.reg(Type::F32));
    let operands = [reg, reg].map(Operand::from).to_vec();
    words.write(&nan, Opcode::Setp, &[Word::IsNan.into(), Type::F32.into()], operands);
    let operands = vec![Operand::Int(0x7fff_e000), Operand::from(&rounded), Operand::from(&nan)];
    words.write(&out, Opcode::Selp, &[Type::B32.into()], operands);
    out
}

/// Whether integers of `to` are clamped and put into a register by `cvt.pack`.
pub(super) fn packs(b: &Builder, to: DType) -> bool {
    to.is_integer() && matches!(to.bits(), 4 | 8 | 16) && b.sm() >= 75
}

/// Writes numbers as the integers of `to` that fill `registers`.
pub(super) fn pack(
    b: &mut Builder,
    numbers: &[Scalar],
    from: DType,
    to: DType,
    registers: &[Reg],
) -> Result<(), Error> {
    let ty = ptx_type(to);
    let each = numbers.len() / registers.len().max(1);
    for (numbers, register) in numbers.chunks(each.max(1)).zip(registers) {
        let whole = |x: &Scalar| {
            let x = cast(b, x, from, DType::S32)?;
            b.scalar(&x)
        };
        let whole = numbers.iter().map(whole).collect::<Result<Vec<_>, Error>>()?;
        // The last numbers first: each step moves the others up.
        let mut above = Operand::Int(0);
        for (i, pair) in whole.chunks(2).enumerate().rev() {
            let out = if i == 0 { register.clone() } else { b.reg(Type::B32) };
            let mut words = vec![Word::Pack.into(), Word::Sat.into(), ty.into(), Type::S32.into()];
            let mut operands = vec![Operand::from(&out), Operand::from(&pair[1]), Operand::from(&pair[0])];
            if to.bits() < 16 {
                words.push(Type::B32.into());
                operands.push(above);
            }
            b.inst(Opcode::Cvt, &words, operands);
            above = Operand::from(&out);
        }
    }
    Ok(())
}
