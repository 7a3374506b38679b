//! Floats of 4 bits and powers of two, e2m1 and e8m0, by integer arithmetic: their conversion instructions are of sm_100a.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::fp8;
use super::words::Words;
use crate::builder::{Builder, Reg};
use crate::{Error, Scalar};

/// The f32 whose bits in the narrow format are a u32.
pub(super) fn to_f32(b: &mut Builder, from: DType, bits: &Scalar) -> Result<Scalar, Error> {
    let bits = b.scalar(bits)?;
    let out = b.reg(Type::F32);
    let mut words = Words::new(b, true);
    let int = Operand::Int;
    let shifted = |words: &mut Words<'_>, x: &Reg, by: i64| {
        words.make(Opcode::Shl, Type::B32, vec![Operand::from(x), int(by)])
    };
    if from == DType::E8m0 {
        // The exponent of an f32, except for a number that is subnormal there, and NaN.
        let number = shifted(&mut words, &bits, 23);
        let least = choose(&mut words, Type::U32, Word::Eq, &bits, int(0), int(0x40_0000), &number);
        let number = choose(&mut words, Type::U32, Word::Eq, &bits, int(0xff), int(0x7fc0_0000), &least);
        words.write(&out, Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&number)]);
    } else {
        // Exponent and significand in their places of an f32, times 2^126 for the difference of the biases: 1 and 127.
        let magnitude = words.and(&bits, 7);
        let sign = words.and(&bits, 8);
        let (magnitude, sign) = (shifted(&mut words, &magnitude, 22), shifted(&mut words, &sign, 28));
        let small = words.b.reg(Type::F32);
        words.write(&small, Opcode::Or, &[Type::B32.into()], [&magnitude, &sign].map(Operand::from).to_vec());
        let factor = Operand::F32(2f32.powi(126).to_bits());
        let operands = vec![Operand::from(&small), factor];
        words.write(&out, Opcode::Mul, &[Word::Rn.into(), Type::F32.into()], operands);
    }
    b.scalar_in(&out, DType::F32)
}

/// The bits, a u32, of the narrow float that is nearest to an f32.
pub(in crate::algorithm) fn of_f32(b: &mut Builder, to: DType, single: &Scalar) -> Result<Scalar, Error> {
    let x = b.scalar(single)?;
    let out = b.reg(Type::U32);
    let mut words = Words::new(b, true);
    let code = if to == DType::E8m0 { exponent(&mut words, &x) } else { fp8::rounded(&mut words, to, &x) };
    let nan = Operand::Int(to.float().map_or(0, |float| float.nan_bits() as i64));
    let code = choose(&mut words, Type::F32, Word::IsNan, &x, Operand::from(&x), nan, &code);
    words.write(&out, Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&code)]);
    b.scalar_in(&out, DType::U32)
}

/// The exponent of the nearest power of two, of two the one with the even exponent.
fn exponent(words: &mut Words<'_>, x: &Reg) -> Reg {
    let int = Operand::Int;
    let bits = words.make(Opcode::Mov, Type::B32, vec![Operand::from(x)]);
    let last = words.make(Opcode::Bfe, Type::U32, vec![Operand::from(&bits), int(23), int(1)]);
    let sum = words.make(Opcode::Add, Type::U32, [&bits, &last].map(Operand::from).to_vec());
    let sum = words.make(Opcode::Add, Type::U32, vec![Operand::from(&sum), int(0x3f_ffff)]);
    let code = words.make(Opcode::Shr, Type::U32, vec![Operand::from(&sum), int(23)]);
    let code = words.make(Opcode::Min, Type::U32, vec![Operand::from(&code), int(254)]);
    // Up to 1.5 * 2^-127, negative numbers included.
    choose(words, Type::S32, Word::Le, &bits, int(0x60_0000), int(0), &code)
}

/// `yes` if `a` compares to `than`, else `no`.
fn choose(
    words: &mut Words<'_>,
    ty: Type,
    word: Word,
    a: &Reg,
    than: Operand,
    yes: Operand,
    no: &Reg,
) -> Reg {
    let holds = words.b.reg(Type::Pred);
    words.write(&holds, Opcode::Setp, &[word.into(), ty.into()], vec![Operand::from(a), than]);
    words.make(Opcode::Selp, Type::B32, vec![yes, Operand::from(no), Operand::from(&holds)])
}
