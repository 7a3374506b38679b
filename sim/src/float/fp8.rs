//! The 8-bit formats (PTX ISA, "Alternate Floating-Point Data Formats"). e4m3 has no infinities and one NaN; e5m2 is
//! the upper half of an f16. Conversions to both round to nearest, and numbers that are too large become the largest
//! number.

use super::{Format, Half, Narrow, Pair, Round, power, round};

/// e4m3 with an unlimited range of large numbers, as its largest number, 448, is not the last number of its exponent.
/// `encode` clamps.
const E4M3: Format = Format { mantissa: 3, min: -6, max: 127 };
const E5M2: Format = Format { mantissa: 2, min: -14, max: 127 };
const NAN: u8 = 0x7f;

/// An 8-bit value.
pub(crate) trait Byte: Copy {
    fn of(bits: u8) -> Self;
    fn bits(self) -> u8;
    fn value(self) -> f32;
    /// Rounds to nearest even, and saturates.
    fn rounded(x: f32) -> Self;
}

/// An e4m3 value by its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct E4m3(pub(crate) u8);

/// An e5m2 value by its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct E5m2(pub(crate) u8);

/// The bits of `x` rounded to a format with this exponent bias, whose largest number is `largest`.
fn encode(x: f32, format: Format, bias: u32, largest: f64) -> u8 {
    if x.is_nan() {
        return NAN;
    }
    let magnitude = round(f64::from(x).abs(), format, Round::Nearest).min(largest);
    let bits = if magnitude < power(format.min) {
        (magnitude * power(format.mantissa - format.min)) as u8
    } else {
        // Subtracts the difference of the exponents' biases in the encoding of f32, which holds the value exactly.
        (((magnitude as f32).to_bits() - ((127 - bias) << 23)) >> (23 - format.mantissa)) as u8
    };
    bits | u8::from(x.is_sign_negative()) << 7
}

impl Byte for E4m3 {
    fn of(bits: u8) -> Self {
        E4m3(bits)
    }
    fn bits(self) -> u8 {
        self.0
    }
    fn value(self) -> f32 {
        if self.0 & 0x7f == NAN {
            return f32::NAN;
        }
        // In f32's place the exponent is 120 too small. The multiplication that corrects this is exact, for subnormal
        // numbers too.
        let magnitude = f32::from_bits(u32::from(self.0 & 0x7f) << 20) * f32::from_bits((120 + 127) << 23);
        if self.0 & 0x80 == 0 { magnitude } else { -magnitude }
    }
    fn rounded(x: f32) -> Self {
        E4m3(encode(x, E4M3, 7, 448.0))
    }
}

impl Byte for E5m2 {
    fn of(bits: u8) -> Self {
        E5m2(bits)
    }
    fn bits(self) -> u8 {
        self.0
    }
    fn value(self) -> f32 {
        Half(u16::from(self.0) << 8).value()
    }
    fn rounded(x: f32) -> Self {
        E5m2(encode(x, E5M2, 15, 57344.0))
    }
}

/// Two values rounded to 8 bits each, with `high` in the upper half.
pub(crate) fn pack<T: Byte>(high: f32, low: f32) -> u16 {
    u16::from_le_bytes([T::rounded(low).bits(), T::rounded(high).bits()])
}

/// Two values as f16, which represents all of them exactly.
pub(crate) fn unpack<T: Byte>(word: u16) -> Pair<Half> {
    let [low, high] = word.to_le_bytes().map(|x| Half::rounded(T::of(x).value().into(), Round::Nearest));
    Pair(low, high)
}
