//! Symbols: integers that are known only when a kernel is launched, with the facts that are known before.

use core::fmt;

use crate::Error;

const FIELD: u64 = (1 << 20) - 1;
const DEN: u32 = 8;
const DIV: u32 = 28;
const LOWER: u32 = 48;
const UPPER: u32 = 54;
const UPPER_EVEN: u64 = 1 << 60;
const PRESENT: u64 = 1 << 61;

/// A non-negative integer that a kernel learns at launch (`M`, a pitch), printed `s0`, `s1` ..., with facts that every operation may use.
///
/// The facts are promises of the caller; whoever launches the kernel checks them. They travel inside each leaf, so nothing has to be
/// looked up. Two symbols are equal when their ids are.
///
/// ```
/// use girih_layout::{Int, Symbol};
/// const M: Symbol = Symbol::new(0).divisible_by(8).at_most(1 << 20);
/// let tiles = Int::symbol(M).ceil_div(Int::fixed(128))?;
/// assert_eq!(tiles.to_string(), "ceil(s0/128)");
/// assert_eq!(Int::symbol(M).is_divisible_by(4), Some(true));
/// assert_eq!(Int::symbol(M).is_divisible_by(16), None);
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Symbol(u64);

impl Symbol {
    /// A symbol about which nothing is known but that it is at least 0.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(3).to_string(), "s3");
    /// ```
    pub const fn new(id: u8) -> Symbol {
        Symbol(PRESENT | id as u64 | 1 << DEN | 1 << DIV)
    }

    /// Adds the fact that `n` divides the symbol. Facts add up: divisible by 4 and by 6 is divisible by 12. `n < 2` says nothing.
    /// A divisor above 2^20 is kept as far as its powers of two go.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).divisible_by(4).divisible_by(6).divisor(), 12);
    /// ```
    pub const fn divisible_by(self, n: i64) -> Symbol {
        if n < 2 {
            return self;
        }
        let old = self.divisor();
        let mut lcm = match n.checked_mul(old / gcd(old, n)) {
            Some(lcm) => lcm,
            None => n,
        };
        if lcm > FIELD as i64 {
            let low = lcm & lcm.wrapping_neg();
            lcm = if low > old { low } else { old };
            if lcm > FIELD as i64 {
                lcm = 1 << 19;
            }
        }
        Symbol(self.0 & !(FIELD << DIV) | (lcm as u64) << DIV)
    }

    /// Adds the fact that the symbol is at least `n`, kept as the power of two at or below `n`.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).at_least(100).lower(), 64);
    /// ```
    pub const fn at_least(self, n: i64) -> Symbol {
        if n <= self.lower() {
            return self;
        }
        Symbol(self.0 & !(63 << LOWER) | ((n.ilog2() + 1) as u64) << LOWER)
    }

    /// Adds the fact that the symbol is at most `n`, kept as `2^k` where `n` is a power of two and as the next `2^k - 1` at or above `n`
    /// where it is not.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert!(Symbol::new(0).at_most(1000).upper() >= Some(1000));
    /// ```
    pub const fn at_most(self, n: i64) -> Symbol {
        let n = if n < 1 { 1 } else { n };
        if let Some(old) = self.upper()
            && old <= n
        {
            return self;
        }
        let cleared = self.0 & !(63 << UPPER) & !UPPER_EVEN;
        if n > 1 && n & (n - 1) == 0 {
            return Symbol(cleared | UPPER_EVEN | (n.trailing_zeros() as u64) << UPPER);
        }
        Symbol(cleared | ((n.ilog2() + 1) as u64) << UPPER)
    }

    /// The facts of both, about this symbol.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// let both = Symbol::new(0).divisible_by(8).and(Symbol::new(0).at_least(16));
    /// assert_eq!((both.divisor(), both.lower()), (8, 16));
    /// ```
    pub const fn and(self, other: Symbol) -> Symbol {
        let out = self.divisible_by(other.divisor()).at_least(other.lower());
        match other.upper() {
            Some(upper) => out.at_most(upper),
            None => out,
        }
    }

    /// The number that the caller chose.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(3).id(), 3);
    /// ```
    pub const fn id(self) -> u8 {
        self.0 as u8
    }

    /// The largest number known to divide the symbol, at least 1.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!((Symbol::new(0).divisor(), Symbol::new(0).divisible_by(8).divisor()), (1, 8));
    /// ```
    pub const fn divisor(self) -> i64 {
        (self.0 >> DIV & FIELD) as i64
    }

    /// Whether a value agrees with the facts.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// let pitch = Symbol::new(0).divisible_by(8);
    /// assert!(pitch.admits(64) && !pitch.admits(60));
    /// ```
    pub const fn admits(self, value: i64) -> bool {
        let below = match self.upper() {
            Some(upper) => value <= upper,
            None => true,
        };
        below && value >= self.lower() && value % self.divisor() == 0
    }

    /// The least value that the symbol can take.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).lower(), 0);
    /// ```
    pub const fn lower(self) -> i64 {
        let k = self.0 >> LOWER & 63;
        if k == 0 { 0 } else { 1 << (k - 1) }
    }

    /// The greatest value that the symbol can take, if there is a known one.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).upper(), None);
    /// ```
    pub const fn upper(self) -> Option<i64> {
        let k = self.0 >> UPPER & 63;
        if k == 0 {
            None
        } else if self.0 & UPPER_EVEN != 0 {
            Some(1 << k)
        } else {
            Some(((1u64 << k) - 1) as i64)
        }
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Symbol {}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.id())
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}[{}|, {}.., ..={:?}]", self.id(), self.divisor(), self.lower(), self.upper())
    }
}

/// One factor of a symbolic integer: `ceil(symbol / den)`.
///
/// ```
/// use girih_layout::Int;
/// let tiles = Int::parse("ceil(s0/128)")?;
/// assert_eq!(tiles.factors()[0].map(|factor| factor.den), Some(128));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// The symbol.
    pub symbol: Symbol,
    /// What it is divided by, rounding up; at least 1.
    pub den: i64,
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { self.symbol.fmt(f) } else { write!(f, "ceil({}/{})", self.symbol, self.den) }
    }
}

/// A fact that an operation would need about a symbol.
///
/// ```
/// use girih_layout::{Error, Fact, Shape};
/// let Err(Error::NeedsFact { fact, .. }) = Shape::parse("(s0,8)")?.shape_div(&Shape::parse("4")?) else { panic!() };
/// assert_eq!(fact, Fact::DivisibleBy(4));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The symbol is a multiple of this.
    DivisibleBy(i64),
    /// The symbol is at least this.
    AtLeast(i64),
    /// The symbol is at most this.
    AtMost(i64),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::DivisibleBy(n) => write!(f, "divisible_by({n})"),
            Fact::AtLeast(n) => write!(f, "at_least({n})"),
            Fact::AtMost(n) => write!(f, "at_most({n})"),
        }
    }
}

/// A [`Factor`] in one word; 0 is none.
#[derive(Clone, Copy)]
pub(crate) struct Packed(pub(crate) u64);

impl Packed {
    pub(crate) const NONE: Packed = Packed(0);

    pub(crate) const fn new(factor: Factor) -> Result<Packed, Error> {
        if factor.den < 1 || factor.den > FIELD as i64 {
            return Err(Error::Overflow { op: "ceil_div of a symbol" });
        }
        Ok(Packed(factor.symbol.0 & !(FIELD << DEN) | (factor.den as u64) << DEN))
    }

    #[inline]
    pub(crate) const fn is_some(self) -> bool {
        self.0 & PRESENT != 0
    }

    pub(crate) const fn get(self) -> Option<Factor> {
        if self.0 & PRESENT == 0 {
            return None;
        }
        let den = (self.0 >> DEN & FIELD) as i64;
        Some(Factor { symbol: Symbol(self.0 & !(FIELD << DEN) | 1 << DEN), den })
    }

    /// Symbol and denominator, without the facts: what equality and order look at.
    #[inline]
    pub(crate) const fn key(self) -> u64 {
        self.0 & (PRESENT | FIELD << DEN | 0xff)
    }
}

pub(crate) const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}
