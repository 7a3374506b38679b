//! Sums, products and comparisons of integer leaves: checked, and exact on symbols.

use crate::leaf::symbol::{Packed, gcd};
use crate::{Error, Factor, Int};

impl<const F: usize> Int<F> {
    /// The product.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::parse("s0")?.mul(Int::fixed(6))?.to_string(), "6*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`] past 64 bits, [`Error::Unsupported`] for a product of more than three factors of symbols.
    #[inline]
    pub const fn mul(self, other: Int<F>) -> Result<Int<F>, Error> {
        let Some(coef) = self.coef.checked_mul(other.coef) else {
            return Err(Error::Overflow { op: "a product" });
        };
        if coef == 0 || !(self.is_symbolic() || other.is_symbolic()) {
            let fixed =
                self.is_static() && other.is_static() || self.is_fixed_zero() || other.is_fixed_zero();
            return Ok(Int::number(coef, fixed));
        }
        self.symbolic_mul(other, coef)
    }

    const fn symbolic_mul(self, other: Int<F>, coef: i64) -> Result<Int<F>, Error> {
        let mut out = Int { coef, fixed: false, factors: self.factors };
        let mut i = 0;
        while i < F && other.factors[i].is_some() {
            let mut free = 0;
            while free < F && out.factors[free].is_some() {
                free += 1;
            }
            if free == F {
                return Err(Error::Unsupported { op: "a product", what: "more than three symbolic factors" });
            }
            out.factors[free] = other.factors[i];
            let mut k = 0;
            while k < free {
                // Both factors of a symbol have all that is known of the symbol.
                if out.factors[k].id() == out.factors[free].id() {
                    let facts = out.factors[k].facts.and(out.factors[free].facts);
                    (out.factors[k].facts, out.factors[free].facts) = (facts, facts);
                }
                k += 1;
            }
            i += 1;
        }
        out.normal()
    }

    pub(crate) const fn is_fixed_zero(self) -> bool {
        self.is_static() && self.coef == 0
    }

    /// The integer in lowest terms where its divisions are exact, with the factors in order.
    pub(crate) const fn normal(mut self) -> Result<Int<F>, Error> {
        let mut i = 0;
        while i < F {
            if let Some(f) = self.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(self.coef, f.den);
                self.coef /= g;
                self.factors[i] = tri!(packed(Factor { symbol: f.symbol, den: f.den / g }));
            }
            let mut to = i;
            while to > 0 && self.factors[to].is_some() && self.factors[to].key < self.factors[to - 1].key {
                (self.factors[to - 1], self.factors[to]) = (self.factors[to], self.factors[to - 1]);
                to -= 1;
            }
            i += 1;
        }
        Ok(self)
    }

    /// The sum: of known integers, of zero and anything, and of multiples of the same symbols.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::parse("2*s0")?.add(Int::parse("s0")?)?.to_string(), "3*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a sum that is not a single product: a [`Sum`](crate::Sum) holds it.
    pub const fn add(self, other: Int<F>) -> Result<Int<F>, Error> {
        if self.is(0) {
            return Ok(other);
        }
        if other.is(0) {
            return Ok(self);
        }
        match self.plus(other) {
            Some(sum) => sum,
            None => Err(Error::Unsupported { op: "a sum", what: "different symbols" }),
        }
    }

    /// The sum of two multiples of the same symbols; `None` if the operands are not such multiples.
    pub(crate) const fn plus(mut self, mut other: Int<F>) -> Option<Result<Int<F>, Error>> {
        if !self.same_factors(&other) {
            match self.align(&mut other) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        let Some(coef) = self.coef.checked_add(other.coef) else {
            return Some(Err(Error::Overflow { op: "a sum" }));
        };
        if self.is_symbolic() && coef != 0 {
            return Some(Int { coef, ..self }.normal());
        }
        Some(Ok(Int::number(coef, self.is_static() && other.is_static())))
    }

    /// Gives both integers the same factors, if the factors differ only in exact divisions, which can move into the
    /// coefficients. Returns whether the factors are the same now.
    const fn align(&mut self, other: &mut Int<F>) -> Result<bool, Error> {
        let (mut taken, mut i) = ([false; F], 0);
        while i < F {
            let Some(a) = self.factors[i].get() else { return Ok(!other.factors[i].is_some()) };
            let mut k = 0;
            let (b, symbol) = loop {
                if k == F {
                    return Ok(false);
                }
                if let (false, Some(b)) = (taken[k], other.factors[k].get())
                    && b.symbol.id() == a.symbol.id()
                {
                    let symbol = a.symbol.and(b.symbol);
                    let exact = symbol.divisor() % a.den == 0 && symbol.divisor() % b.den == 0;
                    if exact || a.den == b.den {
                        break (b, symbol);
                    }
                }
                k += 1;
            };
            taken[k] = true;
            // Where the denominators differ, both divide the symbol, and so does their least common multiple.
            let den = a.den / gcd(a.den, b.den) * b.den;
            let scaled = (self.coef.checked_mul(den / a.den), other.coef.checked_mul(den / b.den));
            let (Some(own), Some(others)) = scaled else { return Err(Error::Overflow { op: "a sum" }) };
            (self.coef, other.coef) = (own, others);
            self.factors[i] = tri!(packed(Factor { symbol, den }));
            i += 1;
        }
        Ok(true)
    }

    /// The order of products in a sum: by their symbols' ids.
    pub(crate) const fn comes_before(&self, other: &Int<F>) -> bool {
        let mut i = 0;
        while i < F && self.factors[i].key == other.factors[i].key {
            i += 1;
        }
        // An absent factor has the key 0, so it comes before any other.
        i < F && self.factors[i].key < other.factors[i].key
    }

    /// The negation.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::fixed(3).neg()?, Int::fixed(-3));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub const fn neg(self) -> Result<Int<F>, Error> {
        self.mul(Int::number(-1, true))
    }

    /// Whether `self < other`: `None` where the facts don't tell.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// let m = Symbol::new(0).at_least(64);
    /// assert_eq!(Int::fixed(10).less(Int::symbol(m)), Some(true));
    /// assert_eq!(Int::fixed(100).less(Int::symbol(m)), None);
    /// ```
    #[inline]
    pub const fn less(self, other: Int<F>) -> Option<bool> {
        if !self.is_symbolic() && !other.is_symbolic() {
            return Some(self.coef < other.coef);
        }
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
}

/// The factor as an integer stores it.
pub(crate) const fn packed(factor: Factor) -> Result<Packed, Error> {
    match Packed::new(factor) {
        Some(packed) => Ok(packed),
        None => Err(Error::Overflow { op: "ceil_div of a symbol" }),
    }
}
