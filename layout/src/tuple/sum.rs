//! Sums: a constant and a few products of symbols, such as the offset `3*s0 + 2` of a slice.

use core::fmt;

use crate::leaf::symbol::write_with_facts;
use crate::tuple::store::{FULL, Leaves, MAX_SYMBOLS, Small, Symbols};
use crate::{Error, Int, MAX_LEAVES, Symbol};

const OP: &str = "a sum";

/// A constant and products of symbols, each an [`Int`]. Such a sum says where a slice of a matrix with a run-time pitch
/// begins, and how far such a matrix reaches. It has at most [`MAX_LEAVES`] products with at most 12 different factors.
///
/// Sums are exact and in normal form: products of the same symbols are one product, in the order of their symbols' ids, and the constant
/// comes last. Two sums are equal when they are the same polynomial, a division that is known to be exact being a part of the number in
/// front; as for [`Int`], the static mark and the facts of a symbol don't count.
///
/// ```
/// use girih_layout::{Coord, Sum, Symbol, lay};
/// let offset = lay!("(128,64):(s0,1)").index(&Coord::parse("(3,2)")?)?;
/// assert_eq!(offset.to_string(), "3*s0 + 2");
/// assert_eq!(offset, Sum::parse("2 + s0 + 2*s0")?);
/// assert_eq!(offset.bind(Symbol::new(0), 64)?.get(), Some(194));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Sum {
    constant: i64,
    /// Whether every integer that was added is static.
    fixed: bool,
    len: u8,
    terms: Leaves,
    symbols: Symbols<MAX_SYMBOLS>,
}

impl Sum {
    /// Static 0.
    pub const ZERO: Sum =
        Sum { constant: 0, fixed: true, len: 0, terms: Leaves::ZEROS, symbols: Symbols::EMPTY };

    /// A single product.
    ///
    /// ```
    /// use girih_layout::{Int, Sum};
    /// assert_eq!(Sum::of(Int::parse("2*s0")?).to_string(), "2*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn of(int: Int) -> Sum {
        let mut out = Sum::ZERO;
        let _fits = out.push(int); // the first one
        out
    }

    /// The number, if the sum has no symbol.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!((Sum::parse("3 + 4")?.get(), Sum::parse("s0 + 4")?.get()), (Some(7), None));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn get(&self) -> Option<i64> {
        if self.len == 0 { Some(self.constant) } else { None }
    }

    /// The sum as an [`Int`], if it is a number or a single product.
    ///
    /// ```
    /// use girih_layout::{Int, Sum};
    /// assert_eq!(Sum::parse("s0 + s0")?.int(), Some(Int::parse("2*s0")?));
    /// assert_eq!(Sum::parse("s0 + 1")?.int(), None);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn int(&self) -> Option<Int> {
        match self.len {
            0 => Some(Int::number(self.constant, self.fixed)),
            1 if self.constant == 0 => Some(self.term(0)),
            _ => None,
        }
    }

    /// The number; an error for the operation `op` if the sum has a symbol.
    pub(crate) const fn require_known(&self, op: &'static str) -> Result<i64, Error> {
        match self.get() {
            Some(number) => Ok(number),
            None => Err(Error::NotKnown { op, value: self.term(0).quoted() }),
        }
    }

    /// The sum as an [`Int`]; an error for the operation `op` if the sum has several terms.
    pub(crate) const fn require_int(&self, op: &'static str) -> Result<Int, Error> {
        match self.int() {
            Some(int) => Ok(int),
            None => Err(Error::Unsupported { op, what: "a sum of different symbols" }),
        }
    }

    /// The constant term.
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
    /// let sum = Sum::parse("3*ceil(s1/8) + 4 + s0")?;
    /// assert!(sum.terms().map(|term| term.to_string()).eq(["s0", "3*ceil(s1/8)"]));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn terms(&self) -> impl ExactSizeIterator<Item = Int> + Clone + '_ {
        (0..self.len as usize).map(|i| self.term(i))
    }

    const fn term(&self, i: usize) -> Int {
        self.terms.int(i, &self.symbols)
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
    /// [`Error::Overflow`], [`Error::Capacity`] for more products or symbols than fit.
    pub const fn add(&self, other: &Sum) -> Result<Sum, Error> {
        let mut out = *self;
        tri!(out.push(Int::number(other.constant, other.fixed)));
        let mut i = 0;
        while i < other.len as usize {
            tri!(out.push(other.term(i)));
            i += 1;
        }
        out.settled()
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
    /// [`Error::Overflow`], [`Error::Capacity`], [`Error::Unsupported`] for a product of more than three factors of symbols.
    pub const fn mul(&self, by: Int) -> Result<Sum, Error> {
        let mut out = Sum::of(tri!(Int::number(self.constant, self.fixed).mul(by)));
        let mut i = 0;
        while i < self.len as usize {
            tri!(out.push(tri!(self.term(i).mul(by))));
            i += 1;
        }
        out.settled()
    }

    /// The least value, if the facts bound each product from below.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!((Sum::parse("3*s0 + 1")?.lower(), Sum::parse("1 - s0")?.lower()), (Some(1), None));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn lower(&self) -> Option<i64> {
        self.bound(false)
    }

    /// The greatest value, if the facts bound each product from above.
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
            let Some(end) = (if upper { self.term(i).upper() } else { self.term(i).lower() }) else {
                return None;
            };
            let Some(next) = sum.checked_add(end) else { return None };
            sum = next;
            i += 1;
        }
        Some(sum)
    }

    /// Whether `n` divides the sum: `None` where the facts don't tell.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// let sum = Sum::parse("8*s0 + 4")?;
    /// assert_eq!([4, 8, 16].map(|n| sum.is_divisible_by(n)), [Some(true), Some(false), None]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn is_divisible_by(&self, n: i64) -> Option<bool> {
        let mut i = 0;
        while i < self.len as usize {
            if !matches!(self.term(i).is_divisible_by(n), Some(true)) {
                return None;
            }
            i += 1;
        }
        Int::value(self.constant).is_divisible_by(n)
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
        let (mut out, mut i) = (self.without_terms(), 0);
        while i < self.len as usize {
            tri!(out.push(tri!(self.term(i).bind(symbol, value))));
            i += 1;
        }
        Ok(out)
    }

    /// The same sum with more facts about a symbol, in addition to the known ones.
    ///
    /// ```
    /// use girih_layout::{Sum, Symbol};
    /// let sum = Sum::parse("8*ceil(s0/8) - s0")?;
    /// assert_eq!(sum.assume(Symbol::new(0).divisible_by(8))?.get(), Some(0));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::assume`].
    pub const fn assume(&self, symbol: Symbol) -> Result<Sum, Error> {
        let (mut out, mut i) = (self.without_terms(), 0);
        while i < self.len as usize {
            tri!(out.push(tri!(self.term(i).assume(symbol))));
            i += 1;
        }
        Ok(out)
    }

    /// Adds what is known of a symbol. Returns whether the sum has the symbol.
    pub(crate) const fn learn(&mut self, symbol: Symbol) -> bool {
        self.symbols.learn(symbol)
    }

    const fn without_terms(&self) -> Sum {
        Sum { constant: self.constant, fixed: self.fixed, ..Sum::ZERO }
    }

    /// The sum in normal form again, now that each symbol has the facts of all products.
    pub(crate) const fn settled(self) -> Result<Sum, Error> {
        let (mut out, mut i) = (self.without_terms(), 0);
        while i < self.len as usize {
            tri!(out.push(self.term(i)));
            i += 1;
        }
        Ok(out)
    }

    /// Adds a product, and merges it with a product of the same symbols if there is one.
    pub(crate) const fn push(&mut self, mut term: Int) -> Result<(), Error> {
        self.fixed = self.fixed && term.is_static();
        let mut i = 0;
        term = tri!(term.normal());
        while i < self.len as usize && term.is_symbolic() {
            if let Some(both) = self.term(i).plus(term) {
                term = tri!(both);
                self.remove(i);
            } else {
                i += 1;
            }
        }
        if let Some(number) = term.get() {
            let Some(constant) = self.constant.checked_add(number) else {
                return Err(Error::Overflow { op: OP });
            };
            self.constant = constant;
            return Ok(());
        }
        self.insert(&term)
    }

    const fn insert(&mut self, term: &Int) -> Result<(), Error> {
        let mut at = self.len as usize;
        if at == MAX_LEAVES {
            return Err(Error::Capacity { op: OP });
        }
        let Some(kept) = self.symbols.write(term, self.terms.used(at)) else { return Err(FULL) };
        while at > 0 && term.comes_before(&self.term(at - 1)) {
            self.terms.set(at, self.terms.get(at - 1));
            at -= 1;
        }
        self.terms.set(at, kept);
        self.len += 1;
        Ok(())
    }

    const fn remove(&mut self, at: usize) {
        let mut i = at + 1;
        while i < self.len as usize {
            self.terms.set(i - 1, self.terms.get(i));
            i += 1;
        }
        self.len -= 1;
        self.terms.set(self.len as usize, Small::ZERO);
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

impl TryFrom<Sum> for Int {
    type Error = Error;

    fn try_from(sum: Sum) -> Result<Int, Error> {
        sum.require_int("an integer")
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        let has = |term: Int| {
            let negative = term.neg().ok()?;
            Some(other.terms().any(|held| matches!(held.plus(negative), Some(Ok(rest)) if rest.is(0))))
        };
        self.constant == other.constant
            && self.len == other.len
            && (self.terms().eq(other.terms()) || self.terms().all(|term| has(term) == Some(true)))
    }
}

impl Eq for Sum {}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            return write_with_facts(f, self, self.terms.factors(self.len.into(), &self.symbols));
        }
        if let Some(int) = self.int() {
            return int.fmt(f);
        }
        let constant = (self.constant != 0).then_some(Int::value(self.constant));
        for (i, mut term) in self.terms().chain(constant).enumerate() {
            if i > 0 {
                // The least 64-bit number has no negation and keeps its sign.
                let opposite = if term.coefficient() < 0 { term.neg().ok() } else { None };
                f.write_str(if opposite.is_some() { " - " } else { " + " })?;
                term = opposite.unwrap_or(term);
            }
            write!(f, "{term}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
