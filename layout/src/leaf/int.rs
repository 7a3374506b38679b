//! Integer leaves: static, dynamic or symbolic.

use core::fmt;

use crate::leaf::symbol::{Packed, gcd, learn, write_with_facts};
use crate::{Factor, Symbol};

/// The most factors of a symbolic integer.
pub(crate) const FACTORS: usize = 3;

/// An integer leaf of a shape or a stride.
///
/// * **static**: known when the program is compiled, printed `_8` in `{:#}`;
/// * a **value**: known when the operation runs;
/// * **symbolic**: `c * ceil(S/d) * ceil(T/e)` with a known `c` and at most three factors of [`Symbol`]s, known when a kernel is
///   launched.
///
/// Two integers are equal when they are the same number; the static mark and the facts of a symbol don't count.
/// Arithmetic is checked: a result that cannot be represented is an [`Error`](crate::Error). `F` is the number of symbolic factors
/// that there is room for; with `F = 0`, operations on known numbers carry no factors along.
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
pub struct Int<const F: usize = FACTORS> {
    pub(crate) coef: i64,
    pub(crate) fixed: bool,
    /// The factors in the order of their keys; absent factors come last.
    pub(crate) factors: [Packed; F],
}

/// The `F` of integers that are known to have no symbols. Operations compute with such integers if their operands have
/// no symbols.
pub(crate) const KNOWN: usize = 0;

impl Int {
    /// Static 0.
    pub const ZERO: Int = Int::fixed(0);
    /// Static 1.
    pub const ONE: Int = Int::fixed(1);

    /// A static integer.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(format!("{:#}", Int::fixed(8)), "_8");
    /// ```
    #[inline]
    pub const fn fixed(value: i64) -> Int {
        Int::number(value, true)
    }

    /// A value known at run time only.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(format!("{:#}", Int::value(8)), "8");
    /// ```
    #[inline]
    pub const fn value(value: i64) -> Int {
        Int::number(value, false)
    }

    /// A symbol.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert_eq!(Int::symbol(Symbol::new(0)).to_string(), "s0");
    /// ```
    pub const fn symbol(symbol: Symbol) -> Int {
        match Packed::new(Factor { symbol, den: 1 }) {
            Some(packed) => Int::of_factor(packed),
            None => Int::ZERO, // a denominator of 1 always fits
        }
    }
}

impl<const F: usize> Int<F> {
    #[inline]
    pub(crate) const fn number(coef: i64, fixed: bool) -> Int<F> {
        Int { coef, fixed, factors: [Packed::NONE; F] }
    }

    pub(crate) const fn of_factor(factor: Packed) -> Int<F> {
        let mut out = Int::number(1, false);
        if F > 0 {
            out.factors[0] = factor;
        }
        out
    }

    /// Factor `i`, if there is one.
    pub(crate) const fn factor(&self, i: usize) -> Option<Factor> {
        if i < F { self.factors[i].get() } else { None }
    }

    /// The same integer with room for as many factors as there may be.
    #[inline]
    pub(crate) const fn wide(self) -> Int {
        self.with_room()
    }

    /// The same integer with room for `G` factors, which must be enough.
    #[inline]
    pub(crate) const fn with_room<const G: usize>(self) -> Int<G> {
        let (mut out, mut i) = (Int::number(self.coef, self.fixed), 0);
        while i < F && i < G {
            out.factors[i] = self.factors[i];
            i += 1;
        }
        debug_assert!(i == F || !self.factors[i].is_some());
        out
    }

    /// The number, if it is known.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert_eq!((Int::value(8).get(), Int::symbol(Symbol::new(0)).get()), (Some(8), None));
    /// ```
    #[inline]
    pub const fn get(self) -> Option<i64> {
        if self.is_symbolic() { None } else { Some(self.coef) }
    }

    /// Whether the integer is static.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert!(Int::fixed(8).is_static() && !Int::value(8).is_static());
    /// ```
    #[inline]
    pub const fn is_static(self) -> bool {
        self.fixed
    }

    /// Whether the integer has a symbolic factor.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert!(Int::parse("2*s0")?.is_symbolic());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    #[inline]
    pub const fn is_symbolic(self) -> bool {
        F > 0 && self.factors[0].is_some()
    }

    /// The known coefficient: the number itself where there is no symbol.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::parse("6*s0")?.coefficient(), 6);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn coefficient(self) -> i64 {
        self.coef
    }

    /// The symbolic factors, in the order of their symbols' ids. The integer is the coefficient times their product.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert_eq!(Int::parse("6*s0")?.factors()[0].map(|factor| factor.symbol), Some(Symbol::new(0)));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn factors(self) -> [Option<Factor>; F] {
        let (mut out, mut i) = ([None; F], 0);
        while i < F {
            out[i] = self.factor(i);
            i += 1;
        }
        out
    }

    /// Whether both are the same number; `const` form of `==`.
    ///
    /// ```
    /// use girih_layout::Int;
    /// const { assert!(Int::fixed(8).same(Int::value(8))) };
    /// ```
    #[inline]
    pub const fn same(self, other: Int<F>) -> bool {
        self.coef == other.coef && self.same_factors(&other)
    }

    #[inline]
    pub(crate) const fn same_factors(&self, other: &Int<F>) -> bool {
        let mut i = 0;
        while i < F {
            if self.factors[i].key != other.factors[i].key {
                return false;
            }
            if self.factors[i].key == 0 {
                return true;
            }
            i += 1;
        }
        true
    }

    /// Whether the integer is known to be `n`.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert!(Int::value(8).is(8) && !Int::symbol(Symbol::new(0)).is(8));
    /// ```
    #[inline]
    pub const fn is(self, n: i64) -> bool {
        self.coef == n && !self.is_symbolic()
    }

    /// The least value, if there is a known one.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert_eq!(Int::symbol(Symbol::new(0).at_least(4)).mul(Int::fixed(3))?.lower(), Some(12));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    #[inline]
    pub const fn lower(self) -> Option<i64> {
        if !self.is_symbolic() {
            return Some(self.coef);
        }
        if self.coef < 0 { self.extreme(true) } else { self.extreme(false) }
    }

    /// The greatest value, if there is a known one.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// assert_eq!(Int::symbol(Symbol::new(0)).upper(), None);
    /// ```
    #[inline]
    pub const fn upper(self) -> Option<i64> {
        if !self.is_symbolic() {
            return Some(self.coef);
        }
        if self.coef < 0 { self.extreme(false) } else { self.extreme(true) }
    }

    const fn extreme(self, of_upper: bool) -> Option<i64> {
        let mut product = self.coef;
        let mut i = 0;
        while i < F {
            if let Some(f) = self.factors[i].get() {
                let bound = if of_upper { f.symbol.upper() } else { Some(f.symbol.lower()) };
                product = match bound {
                    None => return None,
                    Some(b) => match product.checked_mul(b / f.den + (b % f.den > 0) as i64) {
                        None => return None,
                        Some(p) => p,
                    },
                };
            }
            i += 1;
        }
        Some(product)
    }

    /// Whether `n` divides the integer: `None` where the facts don't tell.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// let m = Int::symbol(Symbol::new(0).divisible_by(8));
    /// assert_eq!((m.is_divisible_by(4), m.is_divisible_by(16)), (Some(true), None));
    /// ```
    pub const fn is_divisible_by(self, n: i64) -> Option<bool> {
        if n == 0 {
            return if self.is_symbolic() { None } else { Some(self.coef == 0) };
        }
        if !self.is_symbolic() {
            return Some(self.coef.unsigned_abs().is_multiple_of(n.unsigned_abs()));
        }
        let mut rest = n.unsigned_abs() as i64;
        rest /= gcd(rest, self.coef);
        let mut i = 0;
        while i < F {
            if let Some(f) = self.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                rest /= gcd(rest, f.symbol.divisor() / f.den);
            }
            i += 1;
        }
        if rest == 1 { Some(true) } else { None }
    }

    /// Adds what is known of a symbol. Returns whether the integer has the symbol.
    pub(crate) const fn learn(&mut self, symbol: Symbol) -> bool {
        learn(&mut self.factors, symbol)
    }

    /// The symbol of the first factor.
    pub(crate) const fn first_symbol(self) -> Option<Symbol> {
        match self.factor(0) {
            Some(f) => Some(f.symbol),
            None => None,
        }
    }
}

impl<const F: usize> PartialEq for Int<F> {
    fn eq(&self, other: &Int<F>) -> bool {
        self.same(*other)
    }
}

impl<const F: usize> Eq for Int<F> {}

impl<const F: usize> core::hash::Hash for Int<F> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        (self.coef, self.factors.map(|factor| factor.key)).hash(state);
    }
}

impl Default for Int {
    fn default() -> Int {
        Int::ONE
    }
}

impl From<Symbol> for Int {
    fn from(symbol: Symbol) -> Int {
        Int::symbol(symbol)
    }
}

impl<const F: usize> fmt::Display for Int<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            return write_with_facts(f, self, self.factors().into_iter().flatten());
        }
        if !self.is_symbolic() {
            let mark = if f.alternate() && self.is_static() { "_" } else { "" };
            return write!(f, "{mark}{}", self.coef);
        }
        if self.coef != 1 {
            write!(f, "{}*", self.coef)?;
        }
        for (i, factor) in self.factors().into_iter().flatten().enumerate() {
            write!(f, "{}{factor}", if i == 0 { "" } else { "*" })?;
        }
        Ok(())
    }
}

impl<const F: usize> fmt::Debug for Int<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
