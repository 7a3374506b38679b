//! When two results of an instruction agree: to the bit, but for what the PTX ISA leaves open.

use girih_ptx::{Inst, Modifier, Opcode, Type, Word};

use super::value::Class;

/// How the results of two machines are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agree {
    /// The same bits.
    Bits,
    /// The same bits in these places.
    Masked(u64),
    /// The same bits, or both NaN of this type: the ISA doesn't say which.
    Nan(Type),
    /// As close as the ISA's bounds of an approximation make two results.
    Near {
        /// The type.
        ty: Type,
        /// Greatest distance as a share of the greater magnitude.
        relative: f64,
        /// Greatest distance, where that is more.
        absolute: f64,
    },
}

impl Agree {
    /// Whether `a` and `b`, the values of registers of this class, agree.
    pub fn holds(self, class: Class, a: u64, b: u64) -> bool {
        let (a, b) = (a & class.mask(), b & class.mask());
        if a == b {
            return true;
        }
        match self {
            Agree::Bits => false,
            Agree::Masked(mask) => a & mask == b & mask,
            Agree::Nan(ty) => {
                parts(ty, a).zip(parts(ty, b)).all(|((a, x), (b, y))| a == b || x.is_nan() && y.is_nan())
            }
            Agree::Near { ty, relative, absolute } => {
                parts(ty, a).zip(parts(ty, b)).all(|((_, x), (_, y))| {
                    x == y || x.is_nan() && y.is_nan() || {
                        let most = (relative * x.abs().max(y.abs())).max(absolute);
                        (x - y).abs() <= most
                    }
                })
            }
        }
    }
}

/// The parts of a register that holds one value or a pair: bits and number.
fn parts(ty: Type, bits: u64) -> impl Iterator<Item = (u64, f64)> {
    let (width, count) = match ty {
        Type::F16x2 | Type::Bf16x2 => (16, 2),
        _ => (ty.bits().unwrap_or(64), 1),
    };
    (0..count).map(move |i| {
        let part = bits >> (width * i) & (u64::MAX >> (64 - width));
        (part, number(ty, part))
    })
}

fn number(ty: Type, bits: u64) -> f64 {
    let (e, m) = match ty {
        Type::F16 | Type::F16x2 => (5, 10),
        Type::Bf16 | Type::Bf16x2 => return f32::from_bits((bits as u32) << 16).into(),
        Type::F32 | Type::Tf32 => return f32::from_bits(bits as u32).into(),
        _ => return f64::from_bits(bits),
    };
    let (exponent, significand) = ((bits >> m & ((1 << e) - 1)) as i32, (bits & ((1 << m) - 1)) as f64);
    let one = f64::from(1 << m);
    let magnitude = match exponent {
        31 if significand == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        0 => significand / one * f64::powi(2.0, -14),
        _ => (1.0 + significand / one) * f64::powi(2.0, exponent - 15),
    };
    if bits >> (e + m) & 1 == 1 { -magnitude } else { magnitude }
}

/// How the results of an instruction are compared, by what its section of the PTX ISA promises.
pub(super) fn rule(inst: &Inst) -> Agree {
    use Opcode as O;
    let has = |word: Word| inst.modifiers.contains(&Modifier::Word(word));
    let types =
        inst.modifiers.iter().filter_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None });
    let Some(ty) = types.clone().next() else { return Agree::Bits };
    let approximate = has(Word::Approx) || has(Word::Full);
    match inst.opcode {
        O::Rcp | O::Sqrt | O::Rsqrt | O::Div | O::Sin | O::Cos | O::Lg2 | O::Ex2 | O::Tanh if approximate => {
            let (relative, absolute) = bound(inst.opcode, ty);
            // What one machine flushes the other may have rounded up to the smallest normal number.
            let flushed =
                if has(Word::Ftz) && ty == Type::F32 { f32::MIN_POSITIVE.into() } else { f64::from_bits(1) };
            let smallest = if ty == Type::F32 { f64::from(f32::from_bits(2)) } else { 0.0 };
            Agree::Near { ty, relative, absolute: absolute.max(flushed).max(smallest) }
        }
        // "NaN payloads" of f64 are not specified, nor what abs and neg make of NaN.
        O::Cvt if ty == Type::F64 => Agree::Nan(ty),
        // One driver keeps the NaN's bits where it optimises, and makes its own where it does not.
        O::Cvt if inst.modifiers[..] == [Modifier::Type(Type::F32); 2] => Agree::Nan(ty),
        O::Abs | O::Neg if ty.is_int() => Agree::Bits,
        O::Abs | O::Neg => Agree::Nan(ty),
        O::Cvt | O::Setp | O::Set | O::Selp | O::Slct | O::Mov | O::Copysign | O::Testp => Agree::Bits,
        _ if ty == Type::F64 => Agree::Nan(ty),
        _ => Agree::Bits,
    }
}

/// Greatest relative and absolute error of an approximation, doubled where both machines may err, from the
/// descriptions of the instructions in the PTX ISA.
fn bound(opcode: Opcode, ty: Type) -> (f64, f64) {
    let two = |exponent: f64| exponent.exp2();
    let (relative, absolute) = match (opcode, ty) {
        (Opcode::Rcp, Type::F64) | (Opcode::Rsqrt, Type::F64) => (two(-20.0), 0.0),
        (Opcode::Rcp, _) => (two(-23.0), 0.0),
        (Opcode::Sqrt, _) => (two(-23.0), 0.0),
        (Opcode::Rsqrt, _) => (two(-22.9), 0.0),
        (Opcode::Div, _) => (two(-22.0), 0.0),
        (Opcode::Sin | Opcode::Cos, _) => (0.0, two(-20.5)),
        (Opcode::Lg2, _) => (two(-22.0), two(-22.0)),
        (Opcode::Ex2, Type::F32) => (two(-22.0), 0.0),
        (Opcode::Ex2, Type::F16 | Type::F16x2) => (two(-9.9), 0.0),
        (Opcode::Ex2, _) => (two(-7.0), 0.0),
        (Opcode::Tanh, Type::F32) => (two(-11.0), 0.0),
        (Opcode::Tanh, Type::F16 | Type::F16x2) => (0.0, two(-10.987)),
        (Opcode::Tanh, _) => (0.0, two(-8.0)),
        _ => (0.0, 0.0),
    };
    // The other result is the exact one, rounded: half a unit in the last place of a short format, and a whole one
    // between subnormal numbers.
    let rounding = match ty {
        Type::F16 | Type::F16x2 => two(-11.0),
        Type::Bf16 | Type::Bf16x2 => two(-8.0),
        Type::F32 => two(-24.0),
        _ => 0.0,
    };
    let half = if matches!(ty, Type::F16 | Type::F16x2) { two(-24.0) } else { 0.0 };
    (relative + rounding, if absolute > 0.0 { absolute + rounding } else { half })
}
