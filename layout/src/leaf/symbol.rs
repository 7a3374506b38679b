//! Symbols: integers that are known only when a kernel is launched, with the facts that are known before.

use core::fmt;

/// The bit of a factor's key from which on it has the symbol's id; the number that the symbol is divided by is below.
const ID: u32 = 56;
/// The greatest number by which a symbol is divided, rounding up.
const MAX_DEN: i64 = (1 << 55) - 1;

/// A non-negative integer that a kernel learns at launch (`M`, a pitch), printed `s0`, `s1` ..., with facts that every operation may use.
///
/// The facts are promises of the caller; the code that launches the kernel checks them. The facts are kept without loss, and
/// travel with every integer and layout that has the symbol in it. Two symbols are equal when their ids are.
///
/// Text has the name of a symbol alone; `{:+}` of an integer, a sum, a shape, a layout or a tiler adds the facts, and
/// `parse` reads them, as serde does:
///
/// ```
/// use girih_layout::{Int, Lay};
/// let a = Lay::parse("(s0,8):(1,s0) where s0=divisible_by(8),at_most(1024)")?;
/// assert_eq!(a.to_string(), "(s0,8):(1,s0)");
/// assert_eq!(format!("{a:+}"), "(s0,8):(1,s0) where s0=divisible_by(8),at_most(1024)");
/// assert_eq!(a.size()?.is_divisible_by(64), Some(true));
/// # Ok::<(), girih_layout::Error>(())
/// ```
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
pub struct Symbol {
    id: u8,
    facts: Facts,
}

/// The facts of a symbol, with the bounds moved inwards to multiples of the divisor.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    divisor: i64,
    /// The least value: a multiple of the divisor, unless no multiple of 64 bits is as great as the stated bound.
    lower: i64,
    /// The greatest value: a multiple of the divisor, `i64::MAX` if there is no bound, -1 if no value agrees with the
    /// facts.
    upper: i64,
}

impl Facts {
    pub(crate) const NONE: Facts = Facts { divisor: 1, lower: 0, upper: i64::MAX };
    /// The facts of an absent factor: all zeros, since memory is filled with zeros fastest.
    const UNSET: Facts = Facts { divisor: 0, lower: 0, upper: 0 };

    /// The facts of both together.
    pub(crate) const fn and(self, other: Facts) -> Facts {
        let lower = if self.lower > other.lower { self.lower } else { other.lower };
        let upper = if self.upper < other.upper { self.upper } else { other.upper };
        let step = other.divisor / gcd(self.divisor, other.divisor);
        match self.divisor.checked_mul(step) {
            Some(divisor) => Facts { divisor, lower, upper }.on_multiples(),
            // The only common multiple that fits in 64 bits is 0.
            None if upper < 0 => Facts { divisor: self.divisor, lower, upper },
            None => Facts { divisor: self.divisor, lower, upper: 0 },
        }
    }

    /// The bounds moved inwards to multiples of the divisor.
    const fn on_multiples(self) -> Facts {
        let above = self.lower % self.divisor;
        let lower = if above == 0 { self.lower } else { self.lower.saturating_add(self.divisor - above) };
        let upper = match self.upper {
            i64::MAX => i64::MAX,
            ..0 => -1,
            upper => upper - upper % self.divisor,
        };
        Facts { divisor: self.divisor, lower, upper }
    }

    pub(crate) const fn same(&self, other: &Facts) -> bool {
        self.divisor == other.divisor && self.lower == other.lower && self.upper == other.upper
    }

    const fn upper(self) -> Option<i64> {
        if self.upper == i64::MAX { None } else { Some(self.upper) }
    }
}

impl Symbol {
    /// A symbol about which nothing is known but that it is at least 0.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(3).to_string(), "s3");
    /// ```
    pub const fn new(id: u8) -> Symbol {
        Symbol { id, facts: Facts::NONE }
    }

    /// Adds the fact that `n` divides the symbol. Facts add up: divisible by 4 and by 6 is divisible by 12, and at least 97 and divisible by
    /// 8 is at least 104. `n < 2` says nothing. Where no positive number of 64 bits has all the divisors, the symbol is at most 0.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).divisible_by(4).divisible_by(6).divisor(), 12);
    /// assert_eq!(Symbol::new(0).at_least(97).divisible_by(8).lower(), 104);
    /// ```
    pub const fn divisible_by(self, n: i64) -> Symbol {
        self.with(Facts { divisor: if n < 2 { 1 } else { n }, ..Facts::NONE })
    }

    /// Adds the fact that the symbol is at least `n`.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).at_least(97).lower(), 97);
    /// ```
    pub const fn at_least(self, n: i64) -> Symbol {
        self.with(Facts { lower: if n < 0 { 0 } else { n }, ..Facts::NONE })
    }

    /// Adds the fact that the symbol is at most `n`. A symbol is never negative: with `n` below 0, no value agrees with
    /// the facts.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).at_most(1_000_003).upper(), Some(1_000_003));
    /// ```
    pub const fn at_most(self, n: i64) -> Symbol {
        self.with(Facts { upper: n, ..Facts::NONE })
    }

    /// Whether a number of 64 bits agrees with the facts.
    pub(crate) const fn is_possible(self) -> bool {
        self.facts.lower <= self.facts.upper && self.facts.lower % self.facts.divisor == 0
    }

    const fn with(self, facts: Facts) -> Symbol {
        Symbol { id: self.id, facts: self.facts.and(facts) }
    }

    /// The facts of both, about this symbol.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// let both = Symbol::new(0).divisible_by(8).and(Symbol::new(0).at_least(16));
    /// assert_eq!((both.divisor(), both.lower()), (8, 16));
    /// ```
    pub const fn and(self, other: Symbol) -> Symbol {
        self.with(other.facts)
    }

    /// The number that the caller chose.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(3).id(), 3);
    /// ```
    pub const fn id(self) -> u8 {
        self.id
    }

    /// The largest number known to divide the symbol, at least 1.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!((Symbol::new(0).divisor(), Symbol::new(0).divisible_by(8).divisor()), (1, 8));
    /// ```
    pub const fn divisor(self) -> i64 {
        self.facts.divisor
    }

    /// Whether a value agrees with the facts.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// let pitch = Symbol::new(0).divisible_by(8);
    /// assert!(pitch.admits(64) && !pitch.admits(60));
    /// ```
    pub const fn admits(self, value: i64) -> bool {
        value >= self.facts.lower && value <= self.facts.upper && value % self.facts.divisor == 0
    }

    /// The least value that the symbol can take.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).lower(), 0);
    /// ```
    pub const fn lower(self) -> i64 {
        self.facts.lower
    }

    /// The greatest value that the symbol can take, if there is a known one.
    ///
    /// ```
    /// use girih_layout::Symbol;
    /// assert_eq!(Symbol::new(0).upper(), None);
    /// ```
    pub const fn upper(self) -> Option<i64> {
        self.facts.upper()
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
    /// The number that the symbol is divided by, rounding up; at least 1.
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

/// Writes the text of a value, then what is known of its symbols: `{:+}`. A symbol of which nothing is known is left out.
pub(crate) fn write_with_facts(
    f: &mut fmt::Formatter<'_>,
    value: &impl fmt::Display,
    factors: impl Iterator<Item = Factor> + Clone,
) -> fmt::Result {
    if f.alternate() { write!(f, "{value:#}") } else { write!(f, "{value}") }?;
    let (mut before, mut after) = (" where", None);
    loop {
        let rest = factors.clone().map(|factor| factor.symbol).filter(|symbol| Some(symbol.id) > after);
        let Some(first) = rest.clone().min_by_key(|symbol| symbol.id) else { return Ok(()) };
        let symbol = rest.filter(|symbol| symbol.id == first.id).fold(first, Symbol::and);
        after = Some(first.id);
        if symbol.facts.same(&Facts::NONE) {
            continue;
        }
        write!(f, "{before} {symbol}")?;
        before = ",";
        let divisor = (symbol.divisor() > 1).then_some(Fact::DivisibleBy(symbol.divisor()));
        let lower = (symbol.lower() > 0).then_some(Fact::AtLeast(symbol.lower()));
        let facts = [divisor, lower, symbol.upper().map(Fact::AtMost)];
        for (i, fact) in facts.into_iter().flatten().enumerate() {
            write!(f, "{}{fact}", if i == 0 { "=" } else { "," })?;
        }
    }
}

/// Adds what is known of a symbol to its factors. Returns whether there are any.
pub(crate) const fn learn(factors: &mut [Packed], symbol: Symbol) -> bool {
    let (mut found, mut i) = (false, 0);
    while i < factors.len() {
        if factors[i].is_some() && factors[i].id() == symbol.id {
            factors[i].facts = factors[i].facts.and(symbol.facts);
            found = true;
        }
        i += 1;
    }
    found
}

/// A [`Factor`] as an integer stores it, or no factor.
#[derive(Clone, Copy)]
pub(crate) struct Packed {
    /// The symbol's id and the denominator as one number, by which factors are compared and put in order; 0 for no
    /// factor.
    pub(crate) key: u64,
    pub(crate) facts: Facts,
}

impl Packed {
    pub(crate) const NONE: Packed = Packed { key: 0, facts: Facts::UNSET };

    /// `None` for a denominator that does not fit.
    pub(crate) const fn new(factor: Factor) -> Option<Packed> {
        if factor.den < 1 || factor.den > MAX_DEN {
            return None;
        }
        let key = (factor.symbol.id as u64) << ID | factor.den as u64;
        Some(Packed { key, facts: factor.symbol.facts })
    }

    #[inline]
    pub(crate) const fn is_some(self) -> bool {
        self.key != 0
    }

    pub(crate) const fn id(self) -> u8 {
        (self.key >> ID) as u8
    }

    pub(crate) const fn get(self) -> Option<Factor> {
        if self.key == 0 {
            return None;
        }
        let symbol = Symbol { id: self.id(), facts: self.facts };
        Some(Factor { symbol, den: (self.key & MAX_DEN as u64) as i64 })
    }
}

pub(crate) const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}
