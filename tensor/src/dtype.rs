//! Element types.

use half::{bf16, f16};

use crate::Error;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    Bf16,
}

impl DType {
    /// Every dtype.
    pub const ALL: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

    /// Size of an element in bits.
    pub const fn bits(self) -> u32 {
        match self {
            DType::F32 => 32,
            DType::F16 | DType::Bf16 => 16,
        }
    }

    /// Size of an element in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The name, as in `--dtype bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
        }
    }

    /// Unit roundoff: half the distance from 1 to the next number.
    pub const fn epsilon(self) -> f64 {
        match self {
            DType::F32 => 1.0 / (1u64 << 24) as f64,
            DType::F16 => 1.0 / (1u64 << 11) as f64,
            DType::Bf16 => 1.0 / (1u64 << 8) as f64,
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for DType {
    type Err = Error;

    /// Parses a dtype's name.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// assert_eq!("bf16".parse(), Ok(DType::Bf16));
    /// assert!("fp4".parse::<DType>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<DType, Error> {
        DType::ALL.into_iter().find(|d| d.name() == text).ok_or_else(|| Error::UnknownDType(text.to_string()))
    }
}

/// A Rust type that is a [`DType`]'s element on the host.
pub trait Element: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Which dtype.
    const DTYPE: DType;
    /// The value, exactly.
    fn to_f64(self) -> f64;
    /// The nearest element, ties to even.
    fn from_f64(value: f64) -> Self;
}

/// `value` cut to an f32 whose last bit is set if anything was cut off: what is rounded from there to fewer bits is as
/// if rounded once. (`half` looks at the upper 32 bits of an f64 alone, and takes values next to a tie for the tie.)
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;
    fn to_f64(self) -> f64 {
        f16::to_f64(self)
    }
    fn from_f64(value: f64) -> f16 {
        f16::from_f32(rounded_to_odd(value))
    }
}

impl Element for bf16 {
    const DTYPE: DType = DType::Bf16;
    fn to_f64(self) -> f64 {
        bf16::to_f64(self)
    }
    fn from_f64(value: f64) -> bf16 {
        bf16::from_f32(rounded_to_odd(value))
    }
}
