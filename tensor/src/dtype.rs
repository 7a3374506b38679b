//! Element types.

mod format;
mod small;

use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

pub use format::{Float, Format, Numbers, Round};
pub use small::{F4E2M1, F8E8M0, S4, U4};

/// Defines [`DType`] and its table of [`Format`]s: each variant's name in Rust and in text, its bits, its numbers, its
/// names in CuTe, PTX and numpy, and its documentation.
macro_rules! dtypes {
    ($($variant:ident: $name:literal, $bits:literal, $numbers:expr, $cute:literal, $ptx:literal, $npy:literal, $doc:literal;)*) => {
        /// The type of a tensor's elements.
        ///
        /// [`DType::S4`], [`DType::U4`], [`DType::E2m1`] and [`DType::B1`] are smaller than a byte: an array of them is packed, the
        /// first element in the lowest bits (PTX ISA, "Alternate Floating-Point Data Formats", "Matrix Data-types").
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType {
            $(#[doc = $doc] $variant),*
        }

        impl DType {
            /// Every dtype.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            const FORMATS: &[Format] = &[
                $(Format { name: $name, bits: $bits, numbers: $numbers, cute: $cute, ptx: $ptx, npy: $npy }),*
            ];
        }
    };
}

const fn ieee(exponent: u32, significand: u32) -> Numbers {
    Numbers::Float(Float::ieee(exponent, significand))
}

dtypes! {
    F64: "f64", 64, ieee(11, 52), "F64", "f64", "<f8", "IEEE binary64.";
    F32: "f32", 32, ieee(8, 23), "F32", "f32", "<f4", "IEEE binary32.";
    Tf32: "tf32", 32, Numbers::Float(Float { low: 13, ..Float::ieee(8, 10) }), "TF32", "tf32", "<f4",
        "A binary32 whose significand is rounded to 10 bits.";
    F16: "f16", 16, ieee(5, 10), "F16", "f16", "<f2", "IEEE binary16.";
    Bf16: "bf16", 16, ieee(8, 7), "BF16", "bf16", "<u2", "bfloat16: the upper half of a binary32.";
    E4m3: "e4m3", 8, Numbers::Float(Float::finite(4, 3, true)), "E4M3", "e4m3", "|u1",
        "8-bit float, 4 bits of exponent: no infinities, 448 is the greatest.";
    E5m2: "e5m2", 8, Numbers::Float(Float { saturates: true, ..Float::ieee(5, 2) }), "E5M2", "e5m2", "|u1",
        "8-bit float, 5 bits of exponent: the upper half of a binary16.";
    S64: "s64", 64, Numbers::Signed, "S64", "s64", "<i8", "Signed integer of 64 bits.";
    U64: "u64", 64, Numbers::Unsigned, "U64", "u64", "<u8", "Unsigned integer of 64 bits.";
    S32: "s32", 32, Numbers::Signed, "S32", "s32", "<i4", "Signed integer of 32 bits.";
    U32: "u32", 32, Numbers::Unsigned, "U32", "u32", "<u4", "Unsigned integer of 32 bits.";
    S16: "s16", 16, Numbers::Signed, "S16", "s16", "<i2", "Signed integer of 16 bits.";
    U16: "u16", 16, Numbers::Unsigned, "U16", "u16", "<u2", "Unsigned integer of 16 bits.";
    S8: "s8", 8, Numbers::Signed, "S8", "s8", "|i1", "Signed integer of 8 bits.";
    U8: "u8", 8, Numbers::Unsigned, "U8", "u8", "|u1", "Unsigned integer of 8 bits.";
    S4: "s4", 4, Numbers::Signed, "S4", "s4", "|u1", "Signed integer of 4 bits, two in a byte.";
    U4: "u4", 4, Numbers::Unsigned, "U4", "u4", "|u1", "Unsigned integer of 4 bits, two in a byte.";
    B1: "b1", 1, Numbers::Unsigned, "U1", "b1", "|u1", "A bit, eight in a byte.";
    Bool: "bool", 8, Numbers::Truth, "BOOL", "u8", "|b1",
        "A truth value in a byte: 0 is false, 1 is true. It takes no part in arithmetic.";
    E2m1: "e2m1", 4, Numbers::Float(Float::finite(2, 1, false)), "E2M1", "e2m1", "|u1",
        "4-bit float, 2 bits of exponent, two in a byte: no infinities, no NaN, 6 is the greatest.";
    E8m0: "e8m0", 8, Numbers::Float(Float { signed: false, ..Float::finite(8, 0, true) }), "UE8M0", "ue8m0", "|u1",
        "Powers of two from 2^-127 to 2^127 by their exponent, and NaN: scales of blocks.";
}

impl DType {
    /// The bytes that `elements` elements occupy; `None` if that is no whole number or overflows an `i64`.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!((DType::F64.bytes_of(3), DType::S4.bytes_of(6)), (Some(24), Some(3)));
    /// assert_eq!((DType::S4.bytes_of(3), DType::F64.bytes_of(i64::MAX)), (None, None));
    /// ```
    pub const fn bytes_of(self, elements: i64) -> Option<i64> {
        let bits = elements as i128 * self.bits() as i128;
        let bytes = bits / 8;
        if bits % 8 == 0 && bytes <= i64::MAX as i128 && bytes >= i64::MIN as i128 {
            Some(bytes as i64)
        } else {
            None
        }
    }

    /// The bytes that an element alone takes: one where it is smaller than a byte.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!((DType::F64.bytes(), DType::Bool.bytes(), DType::S4.bytes()), (8, 1, 1));
    /// ```
    pub const fn bytes(self) -> i64 {
        self.bits().div_ceil(8) as i64
    }

    /// The facts of the dtype.
    pub const fn format(self) -> &'static Format {
        &DType::FORMATS[self as usize]
    }

    /// Size of an element in bits. A `Tf32` occupies the 32 bits of an f32.
    pub const fn bits(self) -> u32 {
        self.format().bits
    }

    /// The name, as in `--dtype bf16`.
    pub const fn name(self) -> &'static str {
        self.format().name
    }

    /// The format of a dtype whose values are floating-point numbers.
    pub const fn float(self) -> Option<Float> {
        match self.format().numbers {
            Numbers::Float(float) => Some(float),
            _ => None,
        }
    }

    /// The least and the greatest number of a dtype whose values are integers.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!((DType::S8.range(), DType::F16.range()), (Some((-128, 127)), None));
    /// ```
    pub const fn range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.format().numbers {
            Numbers::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Numbers::Unsigned => Some((0, (1 << bits) - 1)),
            Numbers::Truth | Numbers::Float(_) => None,
        }
    }

    /// Whether the values are integers. Truth values are not.
    pub const fn is_integer(self) -> bool {
        self.range().is_some()
    }

    /// Whether the values are signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self.format().numbers, Numbers::Signed)
    }

    /// Whether the values are floating-point numbers.
    pub const fn is_float(self) -> bool {
        self.float().is_some()
    }

    /// Whether the values are floating-point numbers of 8 bits or fewer, which are converted before arithmetic.
    pub const fn is_narrow_float(self) -> bool {
        self.is_float() && self.bits() <= 8
    }

    /// Unit roundoff: half the distance from 1 to the next number. Integers and bits have none: 0.
    pub const fn epsilon(self) -> f64 {
        match self.float() {
            Some(float) => 1.0 / (2u64 << float.significand) as f64,
            None => 0.0,
        }
    }

    /// The bits of the element that is nearest to `value`, in the lowest bits, as [`Element::from_f64`] rounds.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!([DType::S4, DType::E4m3, DType::Bf16].map(|dtype| dtype.encode(-1.0)), [0xf, 0xb8, 0xbf80]);
    /// ```
    pub fn encode(self, value: f64) -> u64 {
        match (self.format().numbers, self.range()) {
            (Numbers::Float(float), _) => float.encode(value, Round::Nearest),
            (_, Some((least, greatest))) => {
                let whole = (value.round_ties_even() as i128).clamp(least, greatest);
                whole as u64 & (u64::MAX >> (64 - self.bits()))
            }
            _ => u64::from(value != 0.0),
        }
    }

    /// The value whose bits are the lowest bits of `bits`, as [`Element::to_f64`] says.
    pub fn decode(self, bits: u64) -> f64 {
        let above = 64 - self.bits();
        match self.format().numbers {
            Numbers::Float(float) => float.decode(bits << above >> above),
            Numbers::Signed => ((bits << above) as i64 >> above) as f64,
            Numbers::Unsigned => (bits << above >> above) as f64,
            Numbers::Truth => f64::from(u8::from(bits << above != 0)),
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that is a [`DType`]'s element on the host. One of 4 bits takes a byte there, and half a byte in an array.
/// Bits have no such type.
pub trait Element: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: DType;
    /// The value, exact except for 64-bit integers beyond 2^53, which are rounded to nearest.
    fn to_f64(self) -> f64;
    /// The nearest element, ties to even. Integers and floats of 8 bits and fewer saturate at their greatest and
    /// least finite value, the wider floats become infinite; NaN becomes NaN, an integer 0, an e2m1 6.
    fn from_f64(value: f64) -> Self;
}

/// A TF32 number: an f32 whose significand has 10 bits after the point (PTX ISA, "Alternate Floating-Point Data
/// Formats"). The lower 13 bits of the f32 are zero.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Tf32(f32);

impl std::fmt::Debug for Tf32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Tf32 {
    /// The nearest TF32 number, ties to even.
    ///
    /// ```
    /// use girih_tensor::Tf32;
    /// assert_eq!(Tf32::new(1.0 + 1.5 / 1024.0).get(), 1.0 + 2.0 / 1024.0);
    /// ```
    pub fn new(value: f32) -> Tf32 {
        let bits = value.to_bits();
        if value.is_nan() {
            return Tf32(f32::from_bits((bits & !0x1fff) | 0x0040_0000));
        }
        let even = (bits >> 13) & 1;
        // The carry of the sum goes into the exponent, and from the greatest number to infinity.
        Tf32(f32::from_bits((bits + 0xfff + even) & !0x1fff))
    }

    /// The number as an f32, exactly.
    pub const fn get(self) -> f32 {
        self.0
    }

    /// The bits of the f32.
    pub const fn to_bits(self) -> u32 {
        self.0.to_bits()
    }
}

/// `value` cut to an f32 whose last bit is set if anything was cut off: rounding this f32 to fewer bits gives the same
/// as rounding `value` once. (`half` looks only at the upper 32 bits of an f64, and takes values next to a tie for the
/// tie.)
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

macro_rules! element {
    ($($ty:ty, $dtype:ident, |$x:ident| $to:expr, |$v:ident| $from:expr;)*) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 {
                let $x = self;
                $to
            }
            fn from_f64($v: f64) -> $ty {
                $from
            }
        })*
    };
}

element! {
    f64, F64, |x| x, |v| v;
    f32, F32, |x| f64::from(x), |v| v as f32;
    Tf32, Tf32, |x| f64::from(x.0), |v| Tf32::new(rounded_to_odd(v));
    f16, F16, |x| f16::to_f64(x), |v| f16::from_f32(rounded_to_odd(v));
    bf16, Bf16, |x| bf16::to_f64(x), |v| bf16::from_f32(rounded_to_odd(v));
    F8E4M3, E4m3, |x| F8E4M3::to_f64(&x), |v| F8E4M3::from_f64(v);
    F8E5M2, E5m2, |x| F8E5M2::to_f64(&x), |v| F8E5M2::from_f64(v);
    i64, S64, |x| x as f64, |v| v.round_ties_even() as i64;
    u64, U64, |x| x as f64, |v| v.round_ties_even() as u64;
    i32, S32, |x| f64::from(x), |v| v.round_ties_even() as i32;
    u32, U32, |x| f64::from(x), |v| v.round_ties_even() as u32;
    i16, S16, |x| f64::from(x), |v| v.round_ties_even() as i16;
    u16, U16, |x| f64::from(x), |v| v.round_ties_even() as u16;
    i8, S8, |x| f64::from(x), |v| v.round_ties_even() as i8;
    u8, U8, |x| f64::from(x), |v| v.round_ties_even() as u8;
    bool, Bool, |x| f64::from(u8::from(x)), |v| v != 0.0;
}
