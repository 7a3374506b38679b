//! Values: the registers that hold them, and bits that are likely to go wrong.

use girih_ptx::{Name, Operand, Type};
use rand::RngExt;
use rand::rngs::StdRng;

/// A class of registers. All are declared with bit types, which fit every type of their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Predicates.
    Pred,
    /// 16 bits; the types of 8 bits live here too.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 4] = [Class::Pred, Class::B16, Class::B32, Class::B64];

    /// Where a value of the type lives; none for 128 bits.
    pub fn of(ty: Type) -> Option<Class> {
        Some(match ty.bits() {
            None => Class::Pred,
            Some(..=16) => Class::B16,
            Some(32) => Class::B32,
            Some(64) => Class::B64,
            Some(_) => return None,
        })
    }

    /// The type that its registers are declared with.
    pub fn ty(self) -> Type {
        match self {
            Class::Pred => Type::Pred,
            Class::B16 => Type::B16,
            Class::B32 => Type::B32,
            Class::B64 => Type::B64,
        }
    }

    /// The prefix of its registers' names.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::B16 => "%h",
            Class::B32 => "%r",
            Class::B64 => "%d",
        }
    }

    /// The bits of a value that count.
    pub(super) fn mask(self) -> u64 {
        match self {
            Class::Pred => 1,
            Class::B16 => 0xffff,
            Class::B32 => 0xffff_ffff,
            Class::B64 => u64::MAX,
        }
    }
}

/// A register that is written once, and the type that its value was made as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its register.
    pub name: Name,
    /// The register's class.
    pub class: Class,
    /// What the bits mean.
    pub ty: Type,
}

impl Value {
    pub(super) fn operand(&self) -> Operand {
        Operand::Name(self.name.clone())
    }
}

/// Which bits an input gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Values of a type, the nasty ones often.
    Of(Type),
    /// Shift amounts and lane numbers: 0 to 70 mostly.
    Small,
    /// 0 to 255.
    Byte,
    /// An f32 of -2 pi to 2 pi.
    Angle,
    /// Elements of a matrix: whole numbers of a type, small enough for sums to be exact.
    Elements(Type),
    /// Of a sparse matrix of such elements, which of them are there: indices that say something, in ascending order.
    Metadata(Type),
}

impl Flavour {
    pub(super) fn draw(self, rng: &mut StdRng) -> u64 {
        match self {
            Flavour::Of(ty) => nasty(ty, rng),
            Flavour::Small => match rng.random_range(0..10) {
                0 => rng.random_range(0..300),
                1 => rng.random::<u32>().into(),
                _ => rng.random_range(0..=70),
            },
            Flavour::Byte => match rng.random_range(0..3) {
                0 => rng.random_range(0..256),
                _ => rng.random_range(0..=70),
            },
            Flavour::Angle => match rng.random_range(0..12) {
                0 => nasty_small_f32(rng),
                _ => (rng.random_range(-std::f32::consts::TAU..=std::f32::consts::TAU)).to_bits().into(),
            },
            Flavour::Elements(ty) => elements(ty, rng),
            Flavour::Metadata(ty) => {
                let all: &[u64] = if ty == Type::Tf32 { &[4, 14] } else { &[4, 8, 9, 12, 13, 14] };
                (0..8).fold(0, |bits, i| bits | all[rng.random_range(0..all.len())] << (4 * i))
            }
        }
    }
}

/// Zeros, subnormal numbers, infinities and NaN.
fn nasty_small_f32(rng: &mut StdRng) -> u64 {
    const BITS: [u32; 9] =
        [0, 1 << 31, 1, 0x8000_0001, 0x007f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x0080_0000];
    BITS[rng.random_range(0..BITS.len())].into()
}

/// A binary format: bits of the exponent and of the significand.
fn format(ty: Type) -> Option<(u32, u32)> {
    Some(match ty {
        Type::F16 | Type::F16x2 => (5, 10),
        Type::Bf16 | Type::Bf16x2 => (8, 7),
        Type::F32 | Type::Tf32 => (8, 23),
        Type::F64 => (11, 52),
        Type::E4m3 | Type::E4m3x2 => (4, 3),
        Type::E5m2 | Type::E5m2x2 => (5, 2),
        _ => return None,
    })
}

/// A value of `ty`, one in two of them from the edges of its range.
pub(super) fn nasty(ty: Type, rng: &mut StdRng) -> u64 {
    match ty {
        Type::Pred => rng.random_range(0..2),
        Type::F16x2 | Type::Bf16x2 | Type::E4m3x2 | Type::E5m2x2 => {
            let (e, m) = format(ty).unwrap_or((5, 10));
            let half = 1 + e + m;
            nasty_float(e, m, rng) | nasty_float(e, m, rng) << half
        }
        Type::U16x2 | Type::S16x2 => nasty_int(16, rng) | nasty_int(16, rng) << 16,
        _ => match format(ty) {
            Some((e, m)) => nasty_float(e, m, rng),
            None => nasty_int(ty.bits().unwrap_or(64), rng),
        },
    }
}

fn nasty_int(bits: u32, rng: &mut StdRng) -> u64 {
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    let value = match rng.random_range(0..8) {
        0 => rng.random_range(0..4),
        1 => rng.random_range(0u64..4).wrapping_neg(),
        // Around the limits of every width.
        2 => (1u64 << rng.random_range(0..bits)).wrapping_add(rng.random_range(0..3)).wrapping_sub(1),
        3 => (1u64 << rng.random_range(0..bits)).wrapping_neg().wrapping_sub(rng.random_range(0..2)),
        4 => rng.random_range(0..256),
        _ => rng.random(),
    };
    value & mask
}

fn nasty_float(e: u32, m: u32, rng: &mut StdRng) -> u64 {
    let (ones, mantissa) = ((1u64 << e) - 1, (1u64 << m) - 1);
    let bias = ones >> 1;
    let sign = rng.random_range(0u64..2) << (e + m);
    if rng.random_range(0..8) == 0 {
        // Pairs whose products are just below the smallest normal number, by more or less than rounding moves them.
        let tiny = [1 << m | mantissa, 1 << m | (mantissa - 1), 1 << m, 1 << m | 1];
        let near_one =
            [bias << m, bias << m | 1, (bias - 1) << m | 1, (bias - 1) << m | mantissa, bias << m | mantissa];
        return sign
            | if rng.random() { tiny[rng.random_range(0..4)] } else { near_one[rng.random_range(0..5)] };
    }
    let significand = |rng: &mut StdRng| match rng.random_range(0..6) {
        0 => 0,
        1 => mantissa,
        2 => 1,
        3 => 1u64 << rng.random_range(0..m),
        // Halfway between numbers of a shorter format.
        4 => (rng.random::<u64>() & mantissa) >> (m / 2) << (m / 2) | 1u64 << (m / 2).saturating_sub(1),
        _ => rng.random::<u64>() & mantissa,
    };
    let exponent = match rng.random_range(0..16) {
        0 => 0,
        1 => return sign | if rng.random_bool(0.5) { 0 } else { 1u64 << m },
        2 => return sign | ones << m | if rng.random_bool(0.4) { 0 } else { significand(rng) },
        3 => ones - 1,
        4 => rng.random_range(0..=ones),
        // Where integers and the 16-bit formats end: about 2^7 to 2^64, and 2^-26 to 2^-14.
        5 | 6 => (bias + rng.random_range(6..66)).min(ones - 1),
        7 => bias.saturating_sub(rng.random_range(10..28)),
        _ => (bias + rng.random_range(0..9)).saturating_sub(4).min(ones - 1),
    };
    sign | exponent << m | significand(rng)
}

/// The matrix elements that a register holds.
fn elements(ty: Type, rng: &mut StdRng) -> u64 {
    let mut whole = |most: i32| f64::from(rng.random_range(-most..=most));
    match ty {
        Type::F64 => whole(100).to_bits(),
        Type::F32 | Type::Tf32 => (whole(64) as f32).to_bits().into(),
        Type::F16 | Type::F16x2 => {
            let mut half = || u64::from(encode(whole(4), 5, 10));
            half() | half() << 16
        }
        Type::Bf16 | Type::Bf16x2 => {
            let mut half = || u64::from(encode(whole(16), 8, 7));
            half() | half() << 16
        }
        Type::E4m3 => (0..4).fold(0, |all, i| all | u64::from(encode(whole(8), 4, 3)) << (8 * i)),
        Type::E5m2 => (0..4).fold(0, |all, i| all | u64::from(encode(whole(4), 5, 2)) << (8 * i)),
        // Of integers, all bits; sums of them stay far from the ends of 32 bits.
        Type::S32 => (i64::from(rng.random_range(-(1i32 << 24)..1 << 24)) as u64) & 0xffff_ffff,
        _ => rng.random::<u32>().into(),
    }
}

/// A whole number in a small format that has it exactly.
fn encode(value: f64, e: u32, m: u32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u16) << (e + m);
    if value == 0.0 {
        return sign;
    }
    let bias = (1i64 << (e - 1)) - 1;
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023 + bias;
    sign | (exponent as u16) << m | (bits >> (52 - m)) as u16 & ((1 << m) - 1)
}
