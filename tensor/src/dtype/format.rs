//! The formats of dtypes: their properties, and the bits of their numbers.

/// The facts of a dtype. Code that handles elements reads them, rather than naming dtypes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// The name, as in `--dtype bf16`.
    pub name: &'static str,
    /// Size of an element in bits.
    pub bits: u32,
    /// The numbers that elements are.
    pub numbers: Numbers,
    /// The type in CuTe's names of atoms.
    pub cute: &'static str,
    /// The type in PTX, as operands of `mma` name it.
    pub ptx: &'static str,
    /// numpy's type, as in the header of an `.npy` file; that of the bits if numpy has no such numbers.
    pub npy: &'static str,
}

/// The numbers that elements of a dtype are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Truth values.
    Truth,
    /// Integers from 0.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// Floating-point numbers.
    Float(Float),
}

/// A rounding direction (PTX ISA, "Floating Point Instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even: `.rn`.
    Nearest,
    /// Toward zero: `.rz`.
    Zero,
    /// Toward minus infinity: `.rm`.
    Down,
    /// Toward plus infinity: `.rp`.
    Up,
}

/// A binary floating-point format: from the highest bit a sign, a biased exponent, and the significand after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand after the point. A format without them has neither subnormal numbers nor zero.
    pub significand: u32,
    /// Whether there is a sign.
    pub signed: bool,
    /// Whether the greatest exponent is that of infinity and NaN, as in IEEE 754.
    pub inf: bool,
    /// Whether there is a NaN. Without infinity it has all bits of exponent and significand.
    pub nan: bool,
    /// Whether numbers beyond the greatest one, infinity included, become the greatest one.
    pub saturates: bool,
    /// Bits below the significand, which are zero.
    pub low: u32,
}

impl Float {
    /// A format of IEEE 754's kind.
    pub(super) const fn ieee(exponent: u32, significand: u32) -> Float {
        Float { exponent, significand, signed: true, inf: true, nan: true, saturates: false, low: 0 }
    }

    /// A saturating format without infinity, with a NaN or without.
    pub(super) const fn finite(exponent: u32, significand: u32, nan: bool) -> Float {
        Float { inf: false, nan, saturates: true, ..Float::ieee(exponent, significand) }
    }

    /// The exponent's bias: the difference between its field and its value.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// All bits but the sign, moved down by [`Float::low`].
    const fn ones(self) -> u64 {
        (1 << (self.exponent + self.significand)) - 1
    }

    const fn infinity(self) -> u64 {
        self.ones() >> self.significand << self.significand
    }

    const fn most(self) -> u64 {
        if self.inf { self.infinity() - 1 } else { self.ones() - self.nan as u64 }
    }

    /// The greatest number.
    ///
    /// ```
    /// use girih_tensor::DType;
    /// let greatest = |dtype: DType| dtype.float().map(|float| float.greatest());
    /// assert_eq!((greatest(DType::E4m3), greatest(DType::F16)), (Some(448.0), Some(65504.0)));
    /// ```
    pub fn greatest(self) -> f64 {
        self.decode(self.most() << self.low)
    }

    /// The least positive number that is not subnormal.
    pub fn least_normal(self) -> f64 {
        power(i32::from(self.significand > 0) - self.bias())
    }

    /// The least positive number.
    pub fn least(self) -> f64 {
        self.decode(u64::from(self.significand > 0) << self.low)
    }

    /// The bits of NaN; of a format without it, those of the greatest number.
    pub const fn nan_bits(self) -> u64 {
        let quiet = if self.inf { self.infinity() | 1 << (self.significand - 1) } else { self.ones() };
        quiet << self.low
    }

    /// The number that bits are.
    pub fn decode(self, bits: u64) -> f64 {
        match (self.exponent, self.significand + self.low) {
            (11, 52) => return f64::from_bits(bits),
            (8, 23) => return f64::from(f32::from_bits(bits as u32)),
            _ => {}
        }
        let bits = bits >> self.low;
        let magnitude = bits & self.ones();
        let (field, fraction) = (magnitude >> self.significand, magnitude & ((1 << self.significand) - 1));
        let unit = |field: u64| power(field as i32 - self.bias() - self.significand as i32);
        let number = if self.inf && magnitude >= self.infinity() {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else if self.nan && magnitude == self.ones() {
            f64::NAN
        } else if field == 0 && self.significand > 0 {
            fraction as f64 * unit(1)
        } else {
            ((1 << self.significand) + fraction) as f64 * unit(field)
        };
        if self.signed && bits > self.ones() { -number } else { number }
    }

    /// The bits of a number, rounded once. Beyond the greatest number it saturates, or becomes infinite or stays finite
    /// as the direction says. A format without sign has its least number for 0 and below.
    pub fn encode(self, x: f64, round: Round) -> u64 {
        if x.is_nan() {
            return self.nan_bits();
        }
        let negative = x.is_sign_negative();
        let sign = if negative { self.ones() + 1 } else { 0 };
        if x == 0.0 || negative && !self.signed {
            return if self.signed { sign << self.low } else { 0 };
        }
        let over = if self.saturates { self.most() } else { self.infinity() };
        if x.is_infinite() {
            return (sign | over) << self.low;
        }
        if (self.exponent, self.significand) == (11, 52) {
            return x.to_bits();
        }
        let raw = x.to_bits() & !(1 << 63);
        let (m, e) = match (raw >> 52) as i32 {
            0 => (raw, -1074),
            field => ((raw & ((1 << 52) - 1)) | 1 << 52, field - 1075),
        };
        let significand = self.significand as i32;
        let top = e + 63 - m.leading_zeros() as i32;
        let quantum = top.max(i32::from(significand > 0) - self.bias()) - significand;
        let (kept, rest, half) = match (quantum - e).unsigned_abs() {
            0 => (m, 0, 1),
            cut @ 1..=63 => (m >> cut, m & ((1 << cut) - 1), 1u64 << (cut - 1)),
            // Less than a quarter of the least number.
            _ => (0, 1, 2),
        };
        // A format without zero has no number below its least one.
        let below = (((quantum + significand + self.bias()) as i64 - 1) << significand) + kept as i64;
        let up = match round {
            Round::Zero => false,
            Round::Down => negative && rest != 0,
            Round::Up => !negative && rest != 0,
            Round::Nearest => rest > half || rest == half && below & 1 == 1,
        };
        let magnitude = (below + i64::from(up)).max(0) as u64;
        if magnitude <= self.most() {
            return (sign | magnitude) << self.low;
        }
        let stays = match round {
            Round::Zero => true,
            Round::Down => !negative,
            Round::Up => negative,
            Round::Nearest => false,
        };
        (sign | if stays { self.most() } else { over }) << self.low
    }
}

/// 2 to the power of an exponent that normal f64 have.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
