//! Sums: a constant and a few products of symbols, such as the offset `3*s0 + 2` of a slice.

use core::fmt;

use crate::int::FACTORS;
use crate::store::Symbols;
use crate::symbol::{Packed, gcd};
use crate::{Error, Factor, Int, Symbol};

const OP: &str = "a sum";
/// The most terms beside the constant, factors of one term, and different factors.
const TERMS: usize = 16;
const LENGTH: usize = 8;
const PLACES: usize = 15;

/// An exact sum of products: where a slice begins, how far a layout of a run-time pitch reaches.
///
/// `c + k * ceil(S/d) * ... + ...`: known when a kernel is launched, with as many as 16 terms beside the constant, 8 factors in one of them and
/// 15 different ones in all. Terms stand in the order of their symbols, the constant last, and equal terms are one: two sums are equal
/// when they are the same polynomial.
///
/// ```
/// use girih_layout::{Coord, Sum, Symbol, lay};
/// let offset = lay!("(128,64):(s0,1)").domain_offset(&Coord::parse("(3,2)")?)?;
/// assert_eq!(offset.to_string(), "3*s0 + 2");
/// assert_eq!(offset, Sum::parse("2 + s0 + 2*s0")?);
/// assert_eq!(offset.bind(Symbol::new(0), 64)?.get(), Some(194));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Sum {
    constant: i64,
    /// Whether the constant is static, where it is all.
    fixed: bool,
    len: u8,
    coefs: [i64; TERMS],
    /// Places of factors in `symbols`, 4 bits each.
    places: [u32; TERMS],
    symbols: Symbols<PLACES>,
}

/// One product of a [`Sum`].
///
/// ```
/// use girih_layout::Sum;
/// let sum = Sum::parse("6*s0*s1 + 4")?;
/// let term = sum.terms().next().ok_or(girih_layout::Error::Overflow { op: "no term" })?;
/// assert_eq!((term.coefficient(), term.factors().count()), (6, 2));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Term {
    coef: i64,
    /// In the order of their keys, those that are none last.
    factors: [Packed; LENGTH],
}

impl Term {
    /// The known number in front.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert!(Sum::parse("6*s0 + 4")?.terms().all(|term| term.coefficient() == 6));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn coefficient(&self) -> i64 {
        self.coef
    }

    /// The factors, in the order of their symbols' ids.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert!(Sum::parse("6*ceil(s0/8)")?.terms().flat_map(|t| t.factors().collect::<Vec<_>>()).all(|f| f.den == 8));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn factors(&self) -> impl Iterator<Item = Factor> + '_ {
        self.factors.iter().filter_map(|factor| factor.get())
    }

    const fn of(int: &Int) -> Term {
        let mut out = Term { coef: int.coef, factors: [Packed::NONE; LENGTH] };
        let mut i = 0;
        while i < FACTORS {
            out.factors[i] = int.factors[i];
            i += 1;
        }
        out
    }

    const fn count(&self) -> usize {
        let mut n = 0;
        while n < LENGTH && self.factors[n].is_some() {
            n += 1;
        }
        n
    }

    const fn mul(mut self, other: &Term) -> Result<Term, Error> {
        let Some(coef) = self.coef.checked_mul(other.coef) else { return Err(Error::Overflow { op: OP }) };
        self.coef = coef;
        let (mut n, mut i) = (self.count(), 0);
        while i < other.count() {
            if n == LENGTH {
                return Err(Error::Unsupported { op: OP, what: "a product of more than eight symbols" });
            }
            self.factors[n] = other.factors[i];
            (n, i) = (n + 1, i + 1);
        }
        self.normal()
    }

    /// Lowest terms where a division is exact, factors in order.
    const fn normal(mut self) -> Result<Term, Error> {
        let mut i = 0;
        while i < self.count() {
            if let Some(f) = self.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(self.coef, f.den);
                self.coef /= g;
                self.factors[i] = tri!(Packed::new(Factor { symbol: f.symbol, den: f.den / g }));
            }
            let mut to = i;
            while to > 0 && self.factors[to].key < self.factors[to - 1].key {
                (self.factors[to - 1], self.factors[to]) = (self.factors[to], self.factors[to - 1]);
                to -= 1;
            }
            i += 1;
        }
        Ok(self)
    }

    /// Whether its factors come before the other's, or are the same.
    const fn order(&self, other: &Term) -> core::cmp::Ordering {
        let mut i = 0;
        while i < LENGTH {
            let (a, b) = (self.factors[i].key, other.factors[i].key);
            if a != b {
                // Fewer factors first.
                let first = a == 0 || b != 0 && a < b;
                return if first { core::cmp::Ordering::Less } else { core::cmp::Ordering::Greater };
            }
            i += 1;
        }
        core::cmp::Ordering::Equal
    }

    /// The product of the factors' least or greatest values, times the coefficient.
    const fn bound(&self, upper: bool) -> Option<i64> {
        let (mut product, mut i) = (self.coef, 0);
        let greatest = upper == (self.coef > 0);
        while i < self.count() {
            if let Some(f) = self.factors[i].get() {
                let end = if greatest { f.symbol.upper() } else { Some(f.symbol.lower()) };
                product = match end {
                    None => return None,
                    Some(end) => match product.checked_mul(end / f.den + (end % f.den > 0) as i64) {
                        None => return None,
                        Some(product) => product,
                    },
                };
            }
            i += 1;
        }
        Some(product)
    }
}

impl Sum {
    /// Static 0.
    pub const ZERO: Sum = Sum {
        constant: 0,
        fixed: true,
        len: 0,
        coefs: [0; TERMS],
        places: [0; TERMS],
        symbols: Symbols::EMPTY,
    };

    /// A single product.
    ///
    /// ```
    /// use girih_layout::{Int, Sum};
    /// assert_eq!(Sum::of(Int::parse("2*s0")?).to_string(), "2*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn of(int: Int) -> Sum {
        let mut out = Sum { fixed: int.is_static(), ..Sum::ZERO };
        let _fits = out.accumulate(Term::of(&int)); // the first term
        out
    }

    /// The number, if no symbol is in it.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!((Sum::parse("3 + 4")?.get(), Sum::parse("s0 + 4")?.get()), (Some(7), None));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn get(&self) -> Option<i64> {
        if self.len == 0 { Some(self.constant) } else { None }
    }

    /// The sum as one product, if it is one.
    ///
    /// ```
    /// use girih_layout::{Int, Sum};
    /// assert_eq!(Sum::parse("s0 + s0")?.int(), Some(Int::parse("2*s0")?));
    /// assert_eq!(Sum::parse("s0 + 1")?.int(), None);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn int(&self) -> Option<Int> {
        if self.len == 0 {
            return Some(Int::number(self.constant, self.fixed));
        }
        let term = self.term(0);
        if self.len > 1 || self.constant != 0 || term.count() > FACTORS {
            return None;
        }
        let mut out = Int::value(term.coef);
        let mut i = 0;
        while i < FACTORS {
            out.factors[i] = term.factors[i];
            i += 1;
        }
        Some(out)
    }

    /// [`Sum::int`], or why there is none.
    pub(crate) const fn require_int(&self, op: &'static str) -> Result<Int, Error> {
        match self.int() {
            Some(int) => Ok(int),
            None => Err(Error::Unsupported { op, what: "a sum of different symbols" }),
        }
    }

    /// The known number at the end.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!(Sum::parse("s0 + 4")?.constant(), 4);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn constant(&self) -> i64 {
        self.constant
    }

    /// The products, in the order of their symbols' ids.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!(Sum::parse("s0 + 3*s1 + 4")?.terms().count(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Term> + '_ {
        (0..self.len as usize).map(|i| self.term(i))
    }

    /// The sum.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// let (a, b) = (Sum::parse("3*s0 + 1")?, Sum::parse("s1 - 3*s0")?);
    /// assert_eq!(a.add(&b)?.to_string(), "s1 + 1");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], [`Error::Capacity`] for more terms or symbols than fit.
    pub const fn add(&self, other: &Sum) -> Result<Sum, Error> {
        let mut out = *self;
        out.fixed = self.fixed && other.fixed;
        tri!(out.accumulate(other.constant_term()));
        let mut i = 0;
        while i < other.len as usize {
            tri!(out.accumulate(other.term(i)));
            i += 1;
        }
        Ok(out)
    }

    /// Adds a product of two integers.
    pub(crate) const fn add_product(&self, a: Int, b: Int) -> Result<Sum, Error> {
        let mut out = *self;
        out.fixed = self.fixed && a.is_static() && b.is_static();
        tri!(out.accumulate(tri!(Term::of(&a).mul(&Term::of(&b)))));
        Ok(out)
    }

    /// The product with an integer.
    ///
    /// ```
    /// use girih_layout::{Int, Sum};
    /// assert_eq!(Sum::parse("3*s0 + 1")?.mul(Int::parse("2*s1")?)?.to_string(), "6*s0*s1 + 2*s1");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], [`Error::Capacity`], [`Error::Unsupported`] for a product of more than eight symbols.
    pub const fn mul(&self, by: Int) -> Result<Sum, Error> {
        let mut out = Sum { fixed: self.fixed && by.is_static(), ..Sum::ZERO };
        tri!(out.accumulate(tri!(self.constant_term().mul(&Term::of(&by)))));
        let mut i = 0;
        while i < self.len as usize {
            tri!(out.accumulate(tri!(self.term(i).mul(&Term::of(&by)))));
            i += 1;
        }
        Ok(out)
    }

    /// The least value, if the facts bound each term from below.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!((Sum::parse("3*s0 + 1")?.lower(), Sum::parse("1 - s0")?.lower()), (Some(1), None));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn lower(&self) -> Option<i64> {
        self.bound(false)
    }

    /// The greatest value, if the facts bound each term from above.
    ///
    /// ```
    /// use girih_layout::{Int, Sum, Symbol};
    /// let columns = Sum::of(Int::symbol(Symbol::new(0).at_most(100)));
    /// assert_eq!(columns.mul(Int::fixed(3))?.upper(), Some(300));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn upper(&self) -> Option<i64> {
        self.bound(true)
    }

    const fn bound(&self, upper: bool) -> Option<i64> {
        let (mut sum, mut i) = (self.constant, 0);
        while i < self.len as usize {
            sum = match self.term(i).bound(upper) {
                None => return None,
                Some(end) => match sum.checked_add(end) {
                    None => return None,
                    Some(sum) => sum,
                },
            };
            i += 1;
        }
        Some(sum)
    }

    /// The sum at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Sum, Symbol};
    /// assert_eq!(Sum::parse("3*s0*s1 + s1 + 2")?.bind(Symbol::new(0), 5)?.to_string(), "16*s1 + 2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::bind`].
    pub const fn bind(&self, symbol: Symbol, value: i64) -> Result<Sum, Error> {
        let mut out = Sum { constant: self.constant, fixed: self.fixed && self.len == 0, ..Sum::ZERO };
        let mut i = 0;
        while i < self.len as usize {
            let (old, mut k) = (self.term(i), 0);
            let mut new = Term { coef: old.coef, factors: [Packed::NONE; LENGTH] };
            while k < old.count() {
                let factor = tri!(Int::of_factor(old.factors[k]).bind(symbol, value));
                new = tri!(new.mul(&Term::of(&factor)));
                k += 1;
            }
            tri!(out.accumulate(new));
            i += 1;
        }
        Ok(out)
    }

    const fn constant_term(&self) -> Term {
        Term { coef: self.constant, factors: [Packed::NONE; LENGTH] }
    }

    const fn term(&self, i: usize) -> Term {
        let mut out = Term { coef: self.coefs[i], factors: [Packed::NONE; LENGTH] };
        let mut k = 0;
        while k < LENGTH && self.places[i] >> (4 * k) & 15 != 0 {
            out.factors[k] = self.symbols.factor((self.places[i] >> (4 * k) & 15) as usize);
            k += 1;
        }
        out
    }

    /// Adds a term where it belongs.
    const fn accumulate(&mut self, mut term: Term) -> Result<(), Error> {
        loop {
            if term.coef == 0 {
                return Ok(());
            }
            if term.count() == 0 {
                let Some(sum) = self.constant.checked_add(term.coef) else {
                    return Err(Error::Overflow { op: OP });
                };
                self.constant = sum;
                return Ok(());
            }
            let mut at = 0;
            while at < self.len as usize && self.term(at).order(&term).is_lt() {
                at += 1;
            }
            if at == self.len as usize || self.term(at).order(&term).is_gt() {
                return self.insert(at, &term);
            }
            // Together they may be a multiple of a divided symbol, and equal to another term then.
            let Some(coef) = self.coefs[at].checked_add(term.coef) else {
                return Err(Error::Overflow { op: OP });
            };
            self.remove(at);
            term.coef = coef;
            if coef != 0 {
                term = tri!(term.normal());
            }
        }
    }

    const fn insert(&mut self, at: usize, term: &Term) -> Result<(), Error> {
        const FULL: Error = Error::Capacity { op: "the terms of a sum" };
        if self.len as usize == TERMS {
            return Err(FULL);
        }
        let (mut used, mut i) = (0u16, 0);
        while i < self.len as usize {
            let mut k = 0;
            while k < LENGTH {
                used |= 1 << (self.places[i] >> (4 * k) & 15);
                k += 1;
            }
            i += 1;
        }
        let (mut places, mut k) = (0, 0);
        while k < term.count() {
            let Some(place) = self.symbols.place(&term.factors[k], used) else { return Err(FULL) };
            used |= 1 << place;
            places |= (place as u32) << (4 * k);
            k += 1;
        }
        let mut i = self.len as usize;
        while i > at {
            (self.coefs[i], self.places[i]) = (self.coefs[i - 1], self.places[i - 1]);
            i -= 1;
        }
        (self.coefs[at], self.places[at]) = (term.coef, places);
        self.len += 1;
        Ok(())
    }

    const fn remove(&mut self, at: usize) {
        let mut i = at;
        while i + 1 < self.len as usize {
            (self.coefs[i], self.places[i]) = (self.coefs[i + 1], self.places[i + 1]);
            i += 1;
        }
        self.len -= 1;
    }
}

impl From<Int> for Sum {
    fn from(int: Int) -> Sum {
        Sum::of(int)
    }
}

impl From<i64> for Sum {
    fn from(value: i64) -> Sum {
        Sum::of(Int::value(value))
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        self.constant == other.constant
            && self.len == other.len
            && self.terms().zip(other.terms()).all(|(a, b)| a.coef == b.coef && a.order(&b).is_eq())
    }
}

impl Eq for Sum {}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.coef != 1 || self.count() == 0 {
            write!(f, "{}{}", self.coef, if self.count() == 0 { "" } else { "*" })?;
        }
        for (i, factor) in self.factors().enumerate() {
            write!(f, "{}{factor}", if i == 0 { "" } else { "*" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(int) = self.int() {
            return int.fmt(f);
        }
        let constant = (self.constant != 0).then(|| self.constant_term());
        for (i, mut term) in self.terms().chain(constant).enumerate() {
            // The least number has no opposite and is written as it is.
            if i > 0 && term.coef < 0 && term.coef != i64::MIN {
                term.coef = -term.coef;
                f.write_str(" - ")?;
            } else if i > 0 {
                f.write_str(" + ")?;
            }
            term.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
