//! Integer leaves: static, dynamic or symbolic.

use core::fmt;

use crate::symbol::{Packed, gcd};
use crate::{Error, Fact, Factor, Symbol};

/// Marks a static integer in the place of the second factor.
const STATIC: u64 = 1 << 62;

/// An integer leaf of a shape or a stride.
///
/// * **static**: known when the program is compiled, printed `_8` in `{:#}`;
/// * a **value**: known when the operation runs;
/// * **symbolic**: `c * ceil(S/d) * ceil(T/e)` with a known `c` and at most two [`Symbol`]s, known when a kernel is launched.
///
/// Two are equal when they are the same number; the static mark and the facts of a symbol don't count. Arithmetic is checked: what cannot
/// be represented is an [`Error`].
///
/// ```
/// use girih_layout::{Int, Symbol};
/// let k = Int::symbol(Symbol::new(2).divisible_by(32));
/// let tiles = k.ceil_div(Int::fixed(32))?;
/// assert_eq!(tiles.to_string(), "ceil(s2/32)");
/// assert_eq!(tiles.mul(Int::fixed(32))?, k); // the fact makes the division exact
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Int {
    coef: i64,
    factors: [Packed; 2],
}

impl Int {
    /// Static 0.
    pub const ZERO: Int = Int::fixed(0);
    /// Static 1.
    pub const ONE: Int = Int::fixed(1);

    /// A static integer.
    pub const fn fixed(value: i64) -> Int {
        Int { coef: value, factors: [Packed::NONE, Packed(STATIC)] }
    }

    /// A value known at run time only.
    pub const fn value(value: i64) -> Int {
        Int { coef: value, factors: [Packed::NONE, Packed::NONE] }
    }

    /// A symbol.
    pub const fn symbol(symbol: Symbol) -> Int {
        match Packed::new(Factor { symbol, den: 1 }) {
            Ok(packed) => Int { coef: 1, factors: [packed, Packed::NONE] },
            Err(_) => Int::ZERO, // a denominator of 1 always fits
        }
    }

    /// The number, if it is known.
    pub const fn get(self) -> Option<i64> {
        if self.is_symbolic() { None } else { Some(self.coef) }
    }

    /// Whether it is static.
    pub const fn is_static(self) -> bool {
        self.factors[1].0 == STATIC
    }

    /// Whether it has a symbol in it.
    pub const fn is_symbolic(self) -> bool {
        self.factors[0].get().is_some()
    }

    /// The known coefficient: the number itself where there is no symbol.
    pub const fn coefficient(self) -> i64 {
        self.coef
    }

    /// The symbolic factors, in the order of their symbols' ids. The integer is the coefficient times their product.
    pub const fn factors(self) -> [Option<Factor>; 2] {
        [self.factors[0].get(), self.factors[1].get()]
    }

    /// Whether both are the same number; `const` form of `==`.
    pub const fn same(self, other: Int) -> bool {
        self.coef == other.coef
            && self.factors[0].key() == other.factors[0].key()
            && self.factors[1].key() == other.factors[1].key()
    }

    /// Whether it is known to be `n`.
    pub const fn is(self, n: i64) -> bool {
        self.coef == n && !self.is_symbolic()
    }

    /// The least value, if there is a known one.
    pub const fn lower(self) -> Option<i64> {
        if self.coef < 0 { self.extreme(true) } else { self.extreme(false) }
    }

    /// The greatest value, if there is a known one.
    pub const fn upper(self) -> Option<i64> {
        if self.coef < 0 { self.extreme(false) } else { self.extreme(true) }
    }

    const fn extreme(self, of_upper: bool) -> Option<i64> {
        let mut product = self.coef;
        let mut i = 0;
        while i < 2 {
            if let Some(f) = self.factors[i].get() {
                let bound = if of_upper { f.symbol.upper() } else { Some(f.symbol.lower()) };
                product = match bound {
                    None => return None,
                    Some(b) => match product.checked_mul(b / f.den + (b % f.den != 0) as i64) {
                        None => return None,
                        Some(p) => p,
                    },
                };
            }
            i += 1;
        }
        Some(product)
    }

    /// Whether `n` divides it: `None` where the facts don't tell.
    pub const fn is_divisible_by(self, n: i64) -> Option<bool> {
        if n == 0 {
            return Some(self.is(0));
        }
        if !self.is_symbolic() {
            return Some(self.coef.unsigned_abs().is_multiple_of(n.unsigned_abs()));
        }
        let mut rest = n.unsigned_abs() as i64;
        rest /= gcd(rest, self.coef);
        let mut i = 0;
        while i < 2 {
            if let Some(f) = self.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                rest /= gcd(rest, f.symbol.divisor() / f.den);
            }
            i += 1;
        }
        if rest == 1 { Some(true) } else { None }
    }

    /// The product.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 64 bits, [`Error::Unsupported`] for a product of more than two symbols.
    pub const fn mul(self, other: Int) -> Result<Int, Error> {
        let Some(coef) = self.coef.checked_mul(other.coef) else {
            return Err(Error::Overflow { op: "a product" });
        };
        if coef == 0 || !(self.is_symbolic() || other.is_symbolic()) {
            let fixed =
                self.is_static() && other.is_static() || self.is_fixed_zero() || other.is_fixed_zero();
            return Ok(if fixed { Int::fixed(coef) } else { Int::value(coef) });
        }
        let all = [self.factors[0], self.factors[1], other.factors[0], other.factors[1]];
        let mut kept = [Packed::NONE; 2];
        let (mut i, mut n) = (0, 0);
        while i < 4 {
            if all[i].get().is_some() {
                if n == 2 {
                    return Err(Error::Unsupported {
                        op: "a product",
                        what: "more than two symbolic factors",
                    });
                }
                kept[n] = all[i];
                n += 1;
            }
            i += 1;
        }
        Int::normal(coef, kept)
    }

    const fn is_fixed_zero(self) -> bool {
        self.is_static() && self.coef == 0
    }

    /// Lowest terms where the division is exact, factors in order.
    const fn normal(mut coef: i64, mut factors: [Packed; 2]) -> Result<Int, Error> {
        let mut i = 0;
        while i < 2 {
            if let Some(f) = factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(coef, f.den);
                coef /= g;
                factors[i] = tri!(Packed::new(Factor { symbol: f.symbol, den: f.den / g }));
            }
            i += 1;
        }
        if factors[1].get().is_some() && factors[1].key() < factors[0].key() {
            factors = [factors[1], factors[0]];
        }
        Ok(Int { coef, factors })
    }

    /// The sum: of known integers, of zero and anything, and of multiples of the same symbols.
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a sum that is not a single product.
    pub const fn add(self, other: Int) -> Result<Int, Error> {
        if self.is(0) {
            return Ok(other);
        }
        if other.is(0) {
            return Ok(self);
        }
        if self.factors[0].key() != other.factors[0].key() || self.factors[1].key() != other.factors[1].key()
        {
            return Err(Error::Unsupported { op: "a sum", what: "different symbols" });
        }
        let Some(coef) = self.coef.checked_add(other.coef) else {
            return Err(Error::Overflow { op: "a sum" });
        };
        if self.is_symbolic() && coef != 0 {
            return Int::normal(coef, self.factors);
        }
        Ok(if self.is_static() && other.is_static() { Int::fixed(coef) } else { Int::value(coef) })
    }

    /// The negation.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub const fn neg(self) -> Result<Int, Error> {
        self.mul(Int::fixed(-1))
    }

    /// `ceil(self / n)` for a positive `n`.
    ///
    /// # Errors
    /// [`Error::NeedsFact`] where the quotient is representable only for a divisible symbol, [`Error::Unsupported`] for a divisor that is
    /// not positive or a symbolic divisor that does not cancel.
    pub const fn ceil_div(self, n: Int) -> Result<Int, Error> {
        if let Some(q) = self.div_exact(n) {
            return Ok(q);
        }
        let Some(c) = n.get() else {
            return Err(Error::NotKnown { op: "ceil_div", value: n });
        };
        if c < 1 {
            return Err(Error::Unsupported { op: "ceil_div", what: "a divisor below 1" });
        }
        if let Some(a) = self.get() {
            let q = a.div_euclid(c) + (a.rem_euclid(c) != 0) as i64;
            return Ok(if self.is_static() && n.is_static() { Int::fixed(q) } else { Int::value(q) });
        }
        let (part, rest) = tri!(self.absorb(c));
        match (part.factors[0].get(), part.factors[1].get()) {
            (Some(f), None) if part.coef == 1 => {
                let Some(den) = f.den.checked_mul(rest) else {
                    return Err(Error::Overflow { op: "ceil_div of a symbol" });
                };
                let packed = tri!(Packed::new(Factor { symbol: f.symbol, den }));
                Ok(Int { coef: 1, factors: [packed, Packed::NONE] })
            }
            (Some(f), _) => Err(Error::NeedsFact {
                op: "ceil_div",
                symbol: f.symbol,
                fact: Fact::DivisibleBy(f.den.saturating_mul(rest)),
            }),
            (None, _) => Err(Error::NotKnown { op: "ceil_div", value: self }),
        }
    }

    /// `self / n` where it is known to leave no remainder.
    pub const fn div_exact(self, n: Int) -> Option<Int> {
        if n.is(0) {
            return None;
        }
        let mut part = self;
        let mut i = 0;
        while i < 2 {
            if n.factors[i].get().is_some() {
                if n.factors[i].key() == part.factors[0].key() {
                    part.factors = [part.factors[1], Packed::NONE];
                } else if n.factors[i].key() == part.factors[1].key() {
                    part.factors[1] = Packed::NONE;
                } else {
                    return if self.is(0) { Some(self) } else { None };
                }
            }
            i += 1;
        }
        if !part.is_symbolic() {
            let fixed = self.is_static() && n.is_static() || self.is_symbolic() || self.is_fixed_zero();
            return match (part.coef.checked_rem(n.coef), part.coef.checked_div(n.coef)) {
                (Some(0), Some(q)) => Some(if fixed { Int::fixed(q) } else { Int::value(q) }),
                _ => None,
            };
        }
        match part.absorb(n.coef) {
            Ok((q, 1)) => Some(q),
            _ => None,
        }
    }

    /// Divides by as much of `c` as is exact: the quotient and what is left of `c`.
    const fn absorb(self, c: i64) -> Result<(Int, i64), Error> {
        if c == i64::MIN {
            return Err(Error::Overflow { op: "a quotient" });
        }
        let mut rest = c.abs();
        let g = gcd(self.coef, rest);
        let Some(coef) = (self.coef / g).checked_mul(c.signum()) else {
            return Err(Error::Overflow { op: "a quotient" });
        };
        rest /= g;
        let mut factors = self.factors;
        let mut i = 0;
        while i < 2 {
            if let Some(f) = factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(rest, f.symbol.divisor() / f.den);
                rest /= g;
                factors[i] = tri!(Packed::new(Factor { symbol: f.symbol, den: f.den * g }));
            }
            i += 1;
        }
        Ok((tri!(Int::normal(coef, factors)), rest))
    }

    /// The integer at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// const M: Symbol = Symbol::new(0);
    /// let tiles = Int::symbol(M).ceil_div(Int::fixed(128))?;
    /// assert_eq!(tiles.bind(M, 1000)?.get(), Some(8));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] for a value that breaks a fact of the symbol or is negative, [`Error::Overflow`].
    pub const fn bind(self, symbol: Symbol, value: i64) -> Result<Int, Error> {
        let mut out = if self.is_symbolic() { Int::value(self.coef) } else { self };
        let mut i = 0;
        while i < 2 {
            if let Some(f) = self.factors[i].get() {
                if f.symbol.id() != symbol.id() {
                    out = tri!(out.mul(Int { coef: 1, factors: [self.factors[i], Packed::NONE] }));
                } else if f.symbol.admits(value) {
                    let quotient = value / f.den + (value % f.den != 0) as i64;
                    out = tri!(out.mul(Int::value(quotient)));
                } else {
                    return Err(Error::CoordOutOfRange { coord: value, extent: Int::symbol(f.symbol) });
                }
            }
            i += 1;
        }
        Ok(out)
    }

    /// Whether `self < other`: `None` where the facts don't tell.
    pub const fn less(self, other: Int) -> Option<bool> {
        if let (Some(a), Some(b)) = (self.upper(), other.lower())
            && a < b
        {
            return Some(true);
        }
        if let (Some(a), Some(b)) = (self.lower(), other.upper())
            && a >= b
        {
            return Some(false);
        }
        None
    }

    /// The first symbol in it.
    pub(crate) const fn first_symbol(self) -> Option<Symbol> {
        match self.factors[0].get() {
            Some(f) => Some(f.symbol),
            None => None,
        }
    }
}

impl PartialEq for Int {
    fn eq(&self, other: &Int) -> bool {
        self.same(*other)
    }
}

impl Eq for Int {}

impl Default for Int {
    fn default() -> Int {
        Int::ONE
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Int {
        Int::value(value)
    }
}

impl From<Symbol> for Int {
    fn from(symbol: Symbol) -> Int {
        Int::symbol(symbol)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.factors();
        let Some(first) = first else {
            let mark = if f.alternate() && self.is_static() { "_" } else { "" };
            return write!(f, "{mark}{}", self.coef);
        };
        if self.coef != 1 {
            write!(f, "{}*", self.coef)?;
        }
        write!(f, "{first}")?;
        second.map_or(Ok(()), |second| write!(f, "*{second}"))
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
