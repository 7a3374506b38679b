//! Division of integer leaves: exact, or rounded up by name.

use crate::arith::add_mul::packed;
use crate::arith::ask;
use crate::leaf::symbol::{Packed, gcd};
use crate::{Error, Fact, Factor, Int};

impl<const F: usize> Int<F> {
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
    pub const fn ceil_div(self, n: Int<F>) -> Result<Int<F>, Error> {
        if let Some(..1) = n.get() {
            return Err(Error::Unsupported { op: "ceil_div", what: "a divisor below 1" });
        }
        if let Some(q) = self.div_exact(n) {
            return Ok(q);
        }
        let Some(c) = n.get() else {
            return Err(Error::NotKnown { op: "ceil_div", value: n.quoted() });
        };
        if let Some(a) = self.get() {
            let q = a.div_euclid(c) + (a.rem_euclid(c) != 0) as i64;
            return Ok(Int::number(q, self.is_static() && n.is_static()));
        }
        let (part, rest) = tri!(self.absorb(c));
        match (part.factor(0), part.factor(1)) {
            (Some(f), None) if part.coef == 1 => {
                let Some(den) = f.den.checked_mul(rest) else {
                    return Err(Error::Overflow { op: "ceil_div of a symbol" });
                };
                let packed = tri!(packed(Factor { symbol: f.symbol, den }));
                Ok(Int::of_factor(packed))
            }
            (Some(f), _) => Err(ask::fact(
                "ceil_div",
                f.symbol,
                Fact::DivisibleBy(f.den.saturating_mul(rest)),
                self.wide(),
            )),
            (None, _) => Err(Error::NotKnown { op: "ceil_div", value: self.quoted() }),
        }
    }

    /// The least multiple of `n` that is not below this integer (CuTe's `round_up`).
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
    pub const fn round_up(self, n: Int<F>) -> Result<Int<F>, Error> {
        tri!(self.ceil_div(n)).mul(n)
    }

    /// `self / n`, if the division is known to leave no remainder.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!((Int::fixed(12).div_exact(Int::fixed(4)), Int::fixed(12).div_exact(Int::fixed(5))), (Some(Int::fixed(3)), None));
    /// ```
    #[inline]
    pub const fn div_exact(self, n: Int<F>) -> Option<Int<F>> {
        if self.is_symbolic() || n.is_symbolic() {
            return self.symbolic_div(n);
        }
        // Shapes and strides are mostly positive: a small number by a larger one needs no division, and positive
        // numbers are divided as unsigned ones, which is faster.
        if 0 < self.coef && self.coef < n.coef {
            return None;
        }
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
        Some(Int::number(quotient, fixed))
    }

    const fn symbolic_div(self, n: Int<F>) -> Option<Int<F>> {
        if n.is(0) {
            return None;
        }
        let mut part = self;
        let mut i = 0;
        while i < F && n.factors[i].is_some() {
            let mut at = 0;
            while at < F && part.factors[at].key != n.factors[i].key {
                at += 1;
            }
            if at == F {
                return if self.is(0) { Some(self) } else { None };
            }
            while at < F {
                part.factors[at] = if at + 1 < F { part.factors[at + 1] } else { Packed::NONE };
                at += 1;
            }
            i += 1;
        }
        if !part.is_symbolic() {
            let fixed = self.is_static() && n.is_static() || self.is_symbolic() || self.is_fixed_zero();
            return match (part.coef.checked_rem(n.coef), part.coef.checked_div(n.coef)) {
                (Some(0), Some(q)) => Some(Int::number(q, fixed)),
                _ => None,
            };
        }
        match part.absorb(n.coef) {
            Ok((q, 1)) => Some(q),
            _ => None,
        }
    }

    /// Divides by as large a factor of `c` as is exact. Returns the quotient and the remaining factor of `c`.
    const fn absorb(self, c: i64) -> Result<(Int<F>, i64), Error> {
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
        while i < F {
            if let Some(f) = out.factors[i].get()
                && f.symbol.divisor() % f.den == 0
            {
                let g = gcd(rest, f.symbol.divisor() / f.den);
                rest /= g;
                out.factors[i] = tri!(packed(Factor { symbol: f.symbol, den: f.den * g }));
            }
            i += 1;
        }
        Ok((tri!(out.normal()), rest))
    }
}
