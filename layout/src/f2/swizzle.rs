//! Swizzles: exclusive-or of address bits with higher address bits.

use core::fmt;

use crate::Error;

/// `Swizzle<B,M,S>`: exclusive-ors the `bits` bits at `base + shift` into the `bits` bits at `base` (for a negative `shift`, the other way
/// round), so that neighbouring rows of a tile land in different banks.
///
/// A swizzle is its own inverse, is linear over F2, keeps the low `base` bits, and has the period `2^(bits + base +
/// |shift|)`. Indices are in whatever units the owner of the layout counts (CuTe guide, `swizzle.hpp`).
///
/// ```
/// use girih_layout::Swizzle;
/// const SW128: Swizzle = match Swizzle::new(3, 4, 3) { Ok(s) => s, Err(_) => panic!() };
/// assert_eq!(SW128.apply(128), 144);
/// assert_eq!(SW128.to_string(), "Sw<3,4,3>");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle {
    bits: u8,
    base: u8,
    shift: i8,
}

impl Swizzle {
    /// No swizzle: `Sw<0,4,3>`.
    pub const NONE: Swizzle = Swizzle { bits: 0, base: 4, shift: 3 };

    /// `Sw<bits,base,shift>`.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.to_string(), "Sw<3,4,3>");
    /// assert!(Swizzle::new(3, 4, 2).is_err()); // the source would overlap what it changes
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Swizzle`] unless `|shift| >= bits` and the highest bit is below 62.
    pub const fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle, Error> {
        let distance = shift.unsigned_abs();
        let fits = bits <= 62 && base <= 62 && distance <= 62 && bits + base + distance <= 62;
        if !fits || distance < bits {
            return Err(Error::Swizzle { bits, base, shift });
        }
        Ok(Swizzle { bits: bits as u8, base: base as u8, shift: shift as i8 })
    }

    /// The number of bits that change.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.bits(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// The number of low bits that stay.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.base(), 4);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn base(self) -> u32 {
        self.base as u32
    }

    /// How far above the changed bits the source bits are; a negative number if they are below.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.shift(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn shift(self) -> i32 {
        self.shift as i32
    }

    /// The swizzled index. The indices below `period()` are permuted among themselves, and so is each further period.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(1, 0, 1)?.apply(2), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn apply(self, index: i64) -> i64 {
        let mask = (1i64 << self.bits) - 1;
        if self.shift >= 0 {
            let source = index & mask << (self.base as i32 + self.shift as i32);
            index ^ source >> self.shift
        } else {
            let source = index & mask << self.base;
            index ^ source << -self.shift
        }
    }

    /// `2^(bits + base + |shift|)`: the number of indices after which the pattern repeats.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.period(), 1024);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn period(self) -> i64 {
        1 << (self.bits as u32 + self.base as u32 + self.shift.unsigned_abs() as u32)
    }

    /// The same swizzle counted in units of `2^n` old units: `Sw<B,M-n,S>`. For `n <= M` the new units stay whole.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 4, 3)?.upcast(1)?, Swizzle::new(3, 3, 3)?); // bytes to halves
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for `n` above the base: the swizzle would move parts of a unit.
    pub const fn upcast(self, n: u32) -> Result<Swizzle, Error> {
        if n > self.base as u32 {
            return Err(Error::Unsupported {
                op: "upcast of a swizzle",
                what: "units above the bits that it keeps",
            });
        }
        Ok(Swizzle { base: self.base - n as u8, ..self })
    }

    /// The same swizzle counted in `2^n`-ths of the old units: `Sw<B,M+n,S>`.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::new(3, 3, 3)?.downcast(1)?, Swizzle::new(3, 4, 3)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Swizzle`] past 62 bits.
    pub const fn downcast(self, n: u32) -> Result<Swizzle, Error> {
        Swizzle::new(self.bits as u32, (self.base as u32).saturating_add(n), self.shift as i32)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}
