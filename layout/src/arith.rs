//! Arithmetic on integer leaves: checked, and exact on symbols.

use crate::int::FACTORS;
use crate::symbol::{Packed, gcd};
use crate::{Error, Fact, Factor, Int, ask};

impl Int {
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
    pub const fn mul(self, other: Int) -> Result<Int, Error> {
        let Some(coef) = self.coef.checked_mul(other.coef) else {
            return Err(Error::Overflow { op: "a product" });
        };
        if coef == 0 || !(self.is_symbolic() || other.is_symbolic()) {
            let fixed =
                self.is_static() && other.is_static() || self.is_fixed_zero() || other.is_fixed_zero();
            return Ok(if fixed { Int::fixed(coef) } else { Int::value(coef) });
        }
        self.symbolic_mul(other, coef)
    }

    const fn symbolic_mul(self, other: Int, coef: i64) -> Result<Int, Error> {
        let mut out = Int { coef, fixed: false, factors: self.factors };
        let mut i = 0;
        while i < FACTORS && other.factors[i].is_some() {
            let mut free = 0;
            while free < FACTORS && out.factors[free].is_some() {
                free += 1;
            }
            if free == FACTORS {
                return Err(Error::Unsupported { op: "a product", what: "more than three symbolic factors" });
            }
            out.factors[free] = other.factors[i];
            i += 1;
        }
        out.normal()
    }

    const fn is_fixed_zero(self) -> bool {
        self.is_static() && self.coef == 0
    }

    /// Lowest terms where the division is exact, factors in order.
    pub(crate) const fn normal(mut self) -> Result<Int, Error> {
        let mut i = 0;
        while i < FACTORS {
            if let Some(f) = self.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(self.coef, f.den);
                self.coef /= g;
                self.factors[i] = tri!(Packed::new(Factor { symbol: f.symbol, den: f.den / g }));
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
    pub const fn add(self, other: Int) -> Result<Int, Error> {
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

    /// The sum of two multiples of the same symbols, where they are that.
    pub(crate) const fn plus(mut self, mut other: Int) -> Option<Result<Int, Error>> {
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
        Some(Ok(if self.is_static() && other.is_static() { Int::fixed(coef) } else { Int::value(coef) }))
    }

    /// Gives both the same factors, if they differ in exact divisions only: those are part of the coefficient.
    const fn align(&mut self, other: &mut Int) -> Result<bool, Error> {
        let (mut taken, mut i) = ([false; FACTORS], 0);
        while i < FACTORS {
            let Some(a) = self.factors[i].get() else { return Ok(!other.factors[i].is_some()) };
            let mut k = 0;
            let (b, symbol) = loop {
                if k == FACTORS {
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
            // Both divide the symbol where they differ, and their least common multiple does.
            let den = a.den / gcd(a.den, b.den) * b.den;
            let scaled = (self.coef.checked_mul(den / a.den), other.coef.checked_mul(den / b.den));
            let (Some(own), Some(others)) = scaled else { return Err(Error::Overflow { op: "a sum" }) };
            (self.coef, other.coef) = (own, others);
            self.factors[i] = tri!(Packed::new(Factor { symbol, den }));
            i += 1;
        }
        Ok(true)
    }

    /// The order of products in a sum: by their symbols' ids.
    pub(crate) const fn comes_before(&self, other: &Int) -> bool {
        let mut i = 0;
        while i < FACTORS && self.factors[i].key == other.factors[i].key {
            i += 1;
        }
        // No factor has the key 0 and comes before any.
        i < FACTORS && self.factors[i].key < other.factors[i].key
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
    pub const fn neg(self) -> Result<Int, Error> {
        self.mul(Int::fixed(-1))
    }

    /// `ceil(self / n)` for a positive `n`.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::fixed(1000).ceil_div(Int::fixed(128))?, Int::fixed(8));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsFact`] where the quotient is representable only for a divisible symbol, [`Error::Unsupported`] for a divisor that is
    /// not positive or a symbolic divisor that does not cancel.
    #[inline]
    pub const fn ceil_div(self, n: Int) -> Result<Int, Error> {
        if let Some(..1) = n.get() {
            return Err(Error::Unsupported { op: "ceil_div", what: "a divisor below 1" });
        }
        if let Some(q) = self.div_exact(n) {
            return Ok(q);
        }
        let Some(c) = n.get() else {
            return Err(Error::NotKnown { op: "ceil_div", value: n });
        };
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
                Ok(Int::of_factor(packed))
            }
            (Some(f), _) => {
                Err(ask::fact("ceil_div", f.symbol, Fact::DivisibleBy(f.den.saturating_mul(rest)), self))
            }
            (None, _) => Err(Error::NotKnown { op: "ceil_div", value: self }),
        }
    }

    /// The least multiple of `n` that is not below (CuTe's `round_up`).
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::fixed(1000).round_up(Int::fixed(128))?, Int::fixed(1024));
    /// assert_eq!(Int::parse("s0")?.round_up(Int::fixed(128))?.to_string(), "128*ceil(s0/128)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Int::ceil_div`], [`Error::Overflow`].
    pub const fn round_up(self, n: Int) -> Result<Int, Error> {
        tri!(self.ceil_div(n)).mul(n)
    }

    /// `self / n` where it is known to leave no remainder.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!((Int::fixed(12).div_exact(Int::fixed(4)), Int::fixed(12).div_exact(Int::fixed(5))), (Some(Int::fixed(3)), None));
    /// ```
    #[inline]
    pub const fn div_exact(self, n: Int) -> Option<Int> {
        if self.is_symbolic() || n.is_symbolic() {
            return self.symbolic_div(n);
        }
        // Shapes and strides are mostly positive, and their quotients come from unsigned divisions.
        let (quotient, rest) = if self.coef >= 0 && n.coef > 0 {
            let (a, b) = (self.coef as u64, n.coef as u64);
            ((a / b) as i64, (a % b) as i64)
        } else {
            match (self.coef.checked_div(n.coef), self.coef.checked_rem(n.coef)) {
                (Some(quotient), Some(rest)) => (quotient, rest),
                _ => return None,
            }
        };
        if rest != 0 {
            return None;
        }
        let fixed = self.is_static() && n.is_static() || self.is_fixed_zero();
        Some(if fixed { Int::fixed(quotient) } else { Int::value(quotient) })
    }

    const fn symbolic_div(self, n: Int) -> Option<Int> {
        if n.is(0) {
            return None;
        }
        let mut part = self;
        let mut i = 0;
        while i < FACTORS && n.factors[i].is_some() {
            let mut at = 0;
            while at < FACTORS && part.factors[at].key != n.factors[i].key {
                at += 1;
            }
            if at == FACTORS {
                return if self.is(0) { Some(self) } else { None };
            }
            while at < FACTORS {
                part.factors[at] = if at + 1 < FACTORS { part.factors[at + 1] } else { Packed::NONE };
                at += 1;
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
        let mut out = Int { coef, ..self };
        let mut i = 0;
        while i < FACTORS {
            if let Some(f) = out.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(rest, f.symbol.divisor() / f.den);
                rest /= g;
                out.factors[i] = tri!(Packed::new(Factor { symbol: f.symbol, den: f.den * g }));
            }
            i += 1;
        }
        Ok((tri!(out.normal()), rest))
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
    pub const fn less(self, other: Int) -> Option<bool> {
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
