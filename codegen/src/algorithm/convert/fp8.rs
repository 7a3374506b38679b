//! Floats of 8 bits: to floats of 16 and 32 bits, and from f32 and f16.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Pair;
use super::words::{Derived, Words};
use crate::builder::{Builder, Reg, vector};

/// The bits of -0 as a float of 16 bits, in both halves of a register.
const MINUS_ZERO: i64 = 0x8000_8000;

/// Two numbers of a dtype in a register.
fn pair_of(dtype: DType) -> Type {
    match dtype {
        DType::E4m3 => Type::E4m3x2,
        DType::E5m2 => Type::E5m2x2,
        DType::Bf16 => Type::Bf16x2,
        _ => Type::F16x2,
    }
}

/// The same 16 bits in both halves of a register.
const fn twice(bits: i64) -> i64 {
    bits | bits << 16
}

/// Writes two 8-bit floats as f16 or bf16.
pub(super) fn widen(words: &mut Words<'_>, pair: &Pair, from: DType, to: DType) {
    match (from, to) {
        (DType::E5m2, DType::F16) => {
            // The upper half of an f16.
            let operands = vec![Operand::from(&pair.source), Operand::Int(0), Operand::Int(selector(pair))];
            words.write(&pair.target, Opcode::Prmt, &[Type::B32.into()], operands);
        }
        (DType::E4m3, DType::F16) if words.sm() >= 89 => {
            let both = neighbours(words, pair);
            let modifiers = [Word::Rn.into(), Type::F16x2.into(), Type::E4m3x2.into()];
            words.write(&pair.target, Opcode::Cvt, &modifiers, vec![Operand::from(&both)]);
        }
        (DType::E5m2, DType::Bf16) if words.exact => {
            let [low, high] = singles(words, pair, from);
            // The first source is the upper half.
            let modifiers = [Word::Rn.into(), Type::Bf16x2.into(), Type::F32.into()];
            words.write(&pair.target, Opcode::Cvt, &modifiers, [&high, &low].map(Operand::from).to_vec());
        }
        _ => scaled(words, pair, from, to),
    }
}

/// The selector of `prmt` that makes the two bytes the upper bytes of the halves of a register.
fn selector(pair: &Pair) -> i64 {
    let [low, high] = pair.bytes();
    0x0404 | low << 4 | high << 12
}

/// The two bytes in a register of 16 bits.
fn neighbours(words: &mut Words<'_>, pair: &Pair) -> Reg {
    let [low, high] = pair.bytes();
    let (word, upper) = match low % 2 == 0 && high == low + 1 {
        true => (pair.source.clone(), low == 2),
        false => (words.permute(&pair.source, Operand::Int(0), 0x4400 | low | high << 4), false),
    };
    if let Some(known) = words.derived(&word, Derived::Half(upper)) {
        return known;
    }
    let halves = [false, true].map(|upper| (upper, words.b.reg(Type::B16)));
    let list = vector(halves.iter().map(|(_, reg)| reg));
    words.b.inst(Opcode::Mov, &[Type::B32.into()], vec![list, Operand::from(&word)]);
    for (upper, half) in &halves {
        words.once(&word, Derived::Half(*upper), |_| half.clone());
    }
    halves[usize::from(upper)].1.clone()
}

/// The two numbers as f32.
fn singles(words: &mut Words<'_>, pair: &Pair, from: DType) -> [Reg; 2] {
    let both = words.b.reg(Type::B32);
    let halved = Pair { source: pair.source.clone(), bits: pair.bits, target: both.clone() };
    widen(words, &halved, from, DType::F16);
    let halves = [(); 2].map(|()| words.b.reg(Type::B16));
    let list = vector(&halves);
    words.b.inst(Opcode::Mov, &[Type::B32.into()], vec![list, Operand::from(&both)]);
    halves.map(|half| {
        let single = words.b.reg(Type::F32);
        let modifiers = [Type::F32.into(), Type::F16.into()];
        words.write(&single, Opcode::Cvt, &modifiers, vec![Operand::from(&half)]);
        single
    })
}

/// The values at these places as f32, two by two where they share a register.
pub(super) fn to_f32(words: &mut Words<'_>, from: DType, places: &[(Reg, i64)]) -> Vec<Reg> {
    let mut out = Vec::new();
    while let Some((source, bit)) = places.get(out.len()) {
        let next = places.get(out.len() + 1).filter(|(other, _)| other == source);
        let target = source.clone();
        let pair = Pair { source: source.clone(), bits: [*bit, next.map_or(*bit, |(_, bit)| *bit)], target };
        let singles = singles(words, &pair, from);
        out.extend(singles.into_iter().take(if next.is_some() { 2 } else { 1 }));
    }
    out
}

/// With the exponent and the fraction of a byte as the lowest bits of an exponent and the highest of a fraction, the number is too small
/// by a power of two, which the biases give.
fn scaled(words: &mut Words<'_>, pair: &Pair, from: DType, to: DType) {
    let (Some(narrow), Some(wide)) = (from.float(), to.float()) else { return };
    let bias = i64::from(wide.bias());
    let spread = words.permute(&pair.source, Operand::Int(0), selector(pair));
    let longer = i64::from(wide.exponent - narrow.exponent);
    let shifted = words.make(Opcode::Shr, Type::U32, vec![Operand::from(&spread), Operand::Int(longer)]);
    let sign = words.and(&spread, MINUS_ZERO);
    let small = words.and_or(&shifted, twice(0x7f00 >> longer), Operand::from(&sign));
    let zero = words.constant(MINUS_ZERO);
    let power = |exponent: i64| twice((exponent + bias) << wide.significand);
    let factor = power(bias - i64::from(narrow.bias()));
    let fma = |words: &mut Words<'_>, out: &Reg, x: &Reg, by: i64, plus: &Reg| {
        let by = words.constant(by);
        let operands = [x, &by, plus].map(Operand::from).to_vec();
        words.write(out, Opcode::Fma, &[Word::Rn.into(), pair_of(to).into()], operands);
    };
    if !words.exact {
        return fma(words, &pair.target, &small, factor, &zero);
    }
    // NaN of e4m3 is 480 by now, and the greatest number is 448. Times this factor, only 480 is infinity, which times 0 is NaN.
    let [number, great] = [(); 2].map(|()| words.b.reg(Type::B32));
    fma(words, &number, &small, factor, &zero);
    let beyond = if wide.exponent == 5 { 0x5860 } else { 0x7b0d }; // 1.09 * 2^7, 1.10 * 2^119
    fma(words, &great, &number, twice(beyond), &zero);
    fma(words, &pair.target, &great, 0, &number);
}

/// Writes the four f16 of two registers as the bytes of `target`, from sm_89 on.
pub(super) fn narrow_halves(words: &mut Words<'_>, to: DType, pairs: &[Reg; 2], target: &Reg) {
    let modifiers = [Word::Rn.into(), Word::Satfinite.into(), pair_of(to).into(), Type::F16x2.into()];
    let halves = pairs.each_ref().map(|pair| {
        let half = words.b.reg(Type::B16);
        words.write(&half, Opcode::Cvt, &modifiers, vec![Operand::from(pair)]);
        Operand::from(&half)
    });
    words.write(target, Opcode::Mov, &[Type::B32.into()], vec![Operand::Vector(halves.to_vec())]);
}

/// One or two f32 as 8-bit floats in a register of 16 bits, rounded to nearest even and clamped to the greatest finite number.
pub(in crate::algorithm) fn narrow(b: &mut Builder, to: DType, low: &Reg, high: Option<&Reg>) -> Reg {
    let out = b.reg(Type::B16);
    if b.sm() >= 89 {
        // The first source is the upper half.
        let high = high.map_or(Operand::F32(0), Operand::from);
        let modifiers = [Word::Rn.into(), Word::Satfinite.into(), pair_of(to).into(), Type::F32.into()];
        b.inst(Opcode::Cvt, &modifiers, vec![Operand::from(&out), high, Operand::from(low)]);
        return out;
    }
    let mut words = Words::new(b, true);
    let mut byte = rounded(&mut words, to, low);
    if let Some(high) = high {
        let high = rounded(&mut words, to, high);
        byte = words.permute(&byte, Operand::from(&high), 0x7740);
    }
    b.inst(
        Opcode::Cvt,
        &[Type::U16.into(), Type::U32.into()],
        vec![Operand::from(&out), Operand::from(&byte)],
    );
    out
}

/// The float of 8 bits or fewer that is nearest to an f32, in the lowest bits of a register, by integer arithmetic.
pub(super) fn rounded(words: &mut Words<'_>, to: DType, x: &Reg) -> Reg {
    let Some(format) = to.float() else { return x.clone() };
    let (most, least) = (format.greatest() as f32, format.least_normal() as f32);
    // Its last bit is that of subnormal numbers.
    let magic = (format.least() * 2f64.powi(23)) as f32;
    let drop = i64::from(23 - format.significand);
    let bias = i64::from(127 - format.bias()) << format.significand;
    let (float, int) = (|x: f32| Operand::F32(x.to_bits()), Operand::Int);
    let bits = words.make(Opcode::Mov, Type::B32, vec![Operand::from(x)]);
    let size = words.make(Opcode::Abs, Type::F32, vec![Operand::from(x)]);
    let size = words.make(Opcode::Min, Type::F32, vec![Operand::from(&size), float(most)]);
    let last = words.make(Opcode::Bfe, Type::U32, vec![Operand::from(&size), int(drop), int(1)]);
    let sum = words.make(Opcode::Add, Type::U32, vec![Operand::from(&size), Operand::from(&last)]);
    let sum = words.make(Opcode::Add, Type::U32, vec![Operand::from(&sum), int((1 << (drop - 1)) - 1)]);
    let normal = words.make(Opcode::Shr, Type::U32, vec![Operand::from(&sum), int(drop)]);
    let normal = words.make(Opcode::Sub, Type::U32, vec![Operand::from(&normal), int(bias)]);
    let shifted = words.b.reg(Type::B32);
    let operands = vec![Operand::from(&size), float(magic)];
    words.write(&shifted, Opcode::Add, &[Word::Rn.into(), Type::F32.into()], operands);
    let subnormal = vec![Operand::from(&shifted), int(magic.to_bits().into())];
    let subnormal = words.make(Opcode::Sub, Type::U32, subnormal);
    let mut select = |word: Word, a: &Reg, than: Operand, yes: Operand, no: &Reg| {
        let holds = words.b.reg(Type::Pred);
        words.write(&holds, Opcode::Setp, &[word.into(), Type::F32.into()], vec![Operand::from(a), than]);
        words.make(Opcode::Selp, Type::B32, vec![yes, Operand::from(no), Operand::from(&holds)])
    };
    let code = select(Word::Lt, &size, float(least), Operand::from(&subnormal), &normal);
    // All bits of exponent and significand: NaN, if there is one.
    let below = i64::from(format.exponent + format.significand);
    let magnitudes = (1 << below) - 1;
    let code = select(Word::IsNan, x, Operand::from(x), int(magnitudes), &code);
    let sign = words.make(Opcode::Shr, Type::U32, vec![Operand::from(&bits), int(31 - below)]);
    words.and_or(&sign, magnitudes + 1, Operand::from(&code))
}
