//! Conversions of 4-bit and 8-bit integers to floats and bytes without `cvt` (the magic numbers of CUTLASS's `NumericArrayConverter`).
//!
//! An unsigned integer n is or-ed into the low bits of the mantissa of a float C whose last place is 1: 2^10 for f16, 2^7 for bf16, 2^23 for f32. The
//! float's value is C + n, and C is subtracted. A signed integer with an inverted sign bit is n + 8 or n + 128, so that 8 or 128 is subtracted too.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Pair;
use super::words::{Derived, Words};
use crate::builder::Reg;

/// 1 and -1 as bf16, in both halves of a register.
const ONE: i64 = 0x3f80_3f80;
const MINUS_ONE: i64 = 0xbf80_bf80;
/// The bits of 2^10 as f16, 2^7 as bf16 and 2^23 as f32.
const F16_MAGIC: i64 = 0x6400;
const BF16_MAGIC: i64 = 0x4300;
const F32_MAGIC: i64 = 0x4b00_0000;

/// The bits of a number that f16 represents exactly.
fn f16(value: f32) -> i64 {
    i64::from(half::f16::from_f32(value).to_bits())
}

fn bf16(value: f32) -> i64 {
    i64::from(half::bf16::from_f32(value).to_bits())
}

fn both([low, high]: [i64; 2]) -> i64 {
    low | high << 16
}

/// Writes two integers as floats of 16 bits.
pub(super) fn widen(words: &mut Words<'_>, pair: &Pair, from: DType, to: DType) {
    match (from, to) {
        (DType::S8, DType::Bf16) => bytes_to_bf16(words, pair, true),
        (DType::U8, DType::Bf16) => bytes_to_bf16(words, pair, false),
        (DType::S8 | DType::U8, _) => bytes_to_f16(words, pair, from.is_signed()),
        (_, DType::Bf16) => nibbles_to_bf16(words, pair, from.is_signed()),
        _ => nibbles_to_f16(words, pair, from.is_signed()),
    }
}

/// The bytes of `source` with inverted sign bits, which makes them unsigned.
fn unsigned(words: &mut Words<'_>, source: &Reg, signed: bool) -> Reg {
    if !signed {
        return source.clone();
    }
    words.once(source, Derived::Flipped, |words| {
        words.make(Opcode::Xor, Type::B32, vec![Operand::from(source), Operand::Int(0x8080_8080)])
    })
}

fn bytes_to_f16(words: &mut Words<'_>, pair: &Pair, signed: bool) {
    let (source, [low, high]) = (unsigned(words, &pair.source, signed), pair.bytes());
    let spread = words.permute(&source, Operand::Int(0x6464_6464), 0x4040 | low | high << 8);
    let offset = words.constant(both([f16(if signed { -1152.0 } else { -1024.0 }); 2]));
    let operands = vec![Operand::from(&spread), Operand::from(&offset)];
    words.write(&pair.target, Opcode::Add, &[Word::Rn.into(), Type::F16x2.into()], operands);
}

/// The low seven bits and the top bit of a byte, each or-ed into the bf16 128, are `128 + low` and `128 + 128 * top`. The result is `low - 128 * top`
/// if the byte is signed, else `low + 128 * top`.
fn bytes_to_bf16(words: &mut Words<'_>, pair: &Pair, signed: bool) {
    let [low, high] = pair.bytes();
    let spread = words.permute(&pair.source, Operand::Int(0x4343_4343), 0x4040 | low | high << 8);
    let (low, top) = (words.and(&spread, 0xff7f_ff7f), words.and(&spread, 0xff80_ff80));
    if signed {
        return multiply_add(words, &pair.target, Type::Bf16x2, &top, MINUS_ONE, &low);
    }
    // 256 is subtracted first, since the sum of both parts would need nine bits.
    let (one, offset) = (words.constant(ONE), words.constant(both([bf16(-256.0); 2])));
    let part = words.b.reg(Type::B32);
    let operands = [&top, &one, &offset].map(Operand::from).to_vec();
    words.write(&part, Opcode::Fma, &[Word::Rn.into(), Type::Bf16x2.into()], operands);
    multiply_add(words, &pair.target, Type::Bf16x2, &low, ONE, &part);
}

/// A nibble in the upper half of a byte stays there, as 16 times its value.
fn nibbles_to_f16(words: &mut Words<'_>, pair: &Pair, signed: bool) {
    let nibbles = pair.bits.map(|bit| bit / 4);
    let upper = nibbles.map(|nibble| nibble % 2 == 1);
    let shift = upper.map(|upper| if upper { 4 } else { 0 });
    let sign = both(shift.map(|shift| if signed { 8 << shift } else { 0 }));
    let mask = both(shift.map(|shift| 0xf << shift));
    let float = if nibbles[1] == nibbles[0] + 4 {
        // The nibbles are in the two halves of the register already.
        let word = words.shifted(&pair.source, nibbles[0] / 2 * 8);
        words.and_xor(&word, mask, both([F16_MAGIC; 2]) ^ sign)
    } else {
        let [low, high] = pair.bytes();
        let spread = words.permute(&pair.source, Operand::Int(0x6464_6464), 0x4040 | low | high << 8);
        let mask = mask | 0xff00_ff00;
        if signed { words.and_xor(&spread, mask, sign) } else { words.and(&spread, mask) }
    };
    let number = |upper| if upper { 1.0 / 16.0 } else { 1.0 };
    let sign = if signed { 8.0 } else { 0.0 };
    let offset = upper.map(|upper| f16(-1024.0 * number(upper) - sign));
    let offset = words.constant(both(offset));
    let factor = both(upper.map(|upper| f16(number(upper))));
    multiply_add(words, &pair.target, Type::F16x2, &float, factor, &offset);
}

/// The mantissa of bf16 has room for the lower half of a byte only. Upper halves are shifted down first, all of a register at once.
fn nibbles_to_bf16(words: &mut Words<'_>, pair: &Pair, signed: bool) {
    let nibbles = pair.bits.map(|bit| bit / 4);
    let spread = if nibbles[1] == nibbles[0] + 4 {
        words.shifted(&pair.source, 4 * nibbles[0])
    } else {
        let upper = words.shifted(&pair.source, 4);
        let select = |nibble: i64| nibble / 2 + nibble % 2 * 4;
        let selector = select(nibbles[0]) | select(nibbles[1]) << 8;
        words.permute(&pair.source, Operand::from(&upper), selector)
    };
    let magic = BF16_MAGIC | if signed { 8 } else { 0 };
    let float = words.and_xor(&spread, 0x000f_000f, both([magic; 2]));
    let offset = words.constant(both([bf16(if signed { -136.0 } else { -128.0 }); 2]));
    multiply_add(words, &pair.target, Type::Bf16x2, &float, ONE, &offset);
}

/// Converts the integer at bit `bit` of the register `source` to f32.
pub(super) fn to_f32(words: &mut Words<'_>, from: DType, (source, bit): &(Reg, i64), target: &Reg) {
    let signed = from.is_signed();
    // The mantissa holds the number times 2^scale.
    let (float, scale) = if from.bits() == 8 {
        let source = unsigned(words, source, signed);
        (words.permute(&source, Operand::Int(F32_MAGIC), 0x7440 | (bit / 8)), 0)
    } else {
        let above = if *bit > 16 { 20 } else { 0 };
        let (word, scale) = (words.shifted(source, above), bit - above);
        let sign = if signed { 8 << scale } else { 0 };
        (words.and_xor(&word, 0xf << scale, F32_MAGIC | sign), scale)
    };
    let factor = 1.0 / (1 << scale) as f32;
    let sign = if signed { (1 << (from.bits() - 1)) as f32 } else { 0.0 };
    let offset = Operand::F32((-8_388_608.0 * factor - sign).to_bits());
    let modifiers = [Word::Rn.into(), Type::F32.into()];
    if scale == 0 {
        return words.write(target, Opcode::Add, &modifiers, vec![Operand::from(&float), offset]);
    }
    let operands = vec![Operand::from(&float), Operand::F32(factor.to_bits()), offset];
    words.write(target, Opcode::Fma, &modifiers, operands);
}

/// Writes four integers of 4 bits, all in one register, as the bytes of `target`.
pub(super) fn to_bytes(words: &mut Words<'_>, from: DType, four: &[(Reg, i64)], target: &Reg) {
    let source = &four[0].0;
    let [low, high] = [false, true].map(|upper| nibbles(words, source, upper, from.is_signed()));
    let select = |(i, (_, bit)): (usize, &(Reg, i64))| (bit / 8 + bit / 4 % 2 * 4) << (4 * i);
    let selector: i64 = four.iter().enumerate().map(select).sum();
    let operands = vec![Operand::from(&low), Operand::from(&high), Operand::Int(selector)];
    words.write(target, Opcode::Prmt, &[Type::B32.into()], operands);
}

/// The lower or the upper nibble of each byte, extended to a byte.
fn nibbles(words: &mut Words<'_>, source: &Reg, upper: bool, signed: bool) -> Reg {
    words.once(source, Derived::Nibbles(upper), |words| {
        let word = words.shifted(source, if upper { 4 } else { 0 });
        let number = words.and(&word, 0x0f0f_0f0f);
        if !signed {
            return number;
        }
        // 30 times the sign bit 8 is 0xf0, the upper nibble of a negative byte.
        let sign = words.and(&word, 0x0808_0808);
        let operands = vec![Operand::from(&sign), Operand::Int(30), Operand::from(&number)];
        let out = words.b.reg(Type::B32);
        words.write(&out, Opcode::Mad, &[Word::Lo.into(), Type::U32.into()], operands);
        out
    })
}

/// Writes `x * factor + addend` to the target.
fn multiply_add(words: &mut Words<'_>, target: &Reg, ty: Type, x: &Reg, factor: i64, addend: &Reg) {
    let factor = words.constant(factor);
    let operands = [x, &factor, addend].map(Operand::from).to_vec();
    words.write(target, Opcode::Fma, &[Word::Rn.into(), ty.into()], operands);
}
