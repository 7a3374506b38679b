//! Quotients and remainders by constants.

use super::{Atom, Expr, Term};
use crate::Error;

impl Expr {
    /// Splits the expression into a part whose coefficients `c` divides and a remainder; `None` unless the remainder is known to
    /// be in `0..c`.
    fn split(&self, c: i64) -> Option<(Expr, Expr)> {
        let (divisible, rest): (Vec<&Term>, Vec<&Term>) =
            self.0.terms.iter().partition(|t| t.coefficient % c == 0);
        let low = self.0.constant.rem_euclid(c);
        let quotient = Expr::from_terms(&divisible, self.0.constant.checked_sub(low)?).quotient(c);
        let remainder = Expr::from_terms(&rest, low);
        let (lower, upper) = remainder.range();
        (lower >= 0 && upper < c).then_some((quotient, remainder))
    }

    /// `floor(self / c)`.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if `c <= 0` or the expression can be negative, [`Error::Large`] for too many operations inside one another.
    pub fn div(&self, c: i64) -> Result<Expr, Error> {
        self.check_division("division", c)?;
        let (mut dividend, mut c) = (self, c);
        while c != 1 {
            if let Some((quotient, _)) = dividend.split(c) {
                return Ok(quotient);
            }
            let Some(Atom::Div(x, inner)) = dividend.single_atom() else { return dividend.divided(c) };
            // A divisor beyond 64 bits is greater than any value, so that the quotient is 0.
            let Some(by) = inner.checked_mul(c) else { return Ok(Expr::from(0)) };
            (dividend, c) = (x, by);
        }
        Ok(dividend.clone())
    }

    /// `floor(self / c)` by an instruction.
    fn divided(&self, c: i64) -> Result<Expr, Error> {
        // floor((c*q + r) / c) = q + floor(r / c), where r stays non-negative.
        let (divisible, rest): (Vec<&Term>, Vec<&Term>) =
            self.0.terms.iter().partition(|t| t.coefficient % c == 0);
        let low = self.0.constant.rem_euclid(c);
        let remainder = Expr::from_terms(&rest, low);
        let whole = self.0.constant.checked_sub(low).filter(|_| !divisible.is_empty());
        if let Some(whole) = whole.filter(|_| remainder.range().0 >= 0) {
            let quotient = Expr::from_terms(&divisible, whole).quotient(c);
            return (&quotient + &Expr::atom(Atom::Div(remainder, c))).accepted();
        }
        Expr::atom(Atom::Div(self.clone(), c)).accepted()
    }

    /// `self mod c`, in `0..c`.
    ///
    /// # Errors
    /// As [`Expr::div`].
    pub fn rem(&self, c: i64) -> Result<Expr, Error> {
        self.check_division("remainder", c)?;
        if let Some((_, remainder)) = self.split(c) {
            return Ok(remainder);
        }
        let rest: Vec<&Term> = self.0.terms.iter().filter(|t| t.coefficient % c != 0).collect();
        let remainder = Expr::from_terms(&rest, self.0.constant.rem_euclid(c));
        let base = if remainder.range().0 >= 0 { remainder } else { self.clone() };
        Expr::atom(Atom::Rem(base, c)).accepted()
    }

    fn check_division(&self, operation: &'static str, c: i64) -> Result<(), Error> {
        self.check_fits(operation)?;
        if c <= 0 || self.range().0 < 0 {
            return Err(Error::Arithmetic {
                operation,
                operand: self.to_string(),
                by: Some(c),
                accepted: "a non-negative expression and a positive constant",
            });
        }
        Ok(())
    }
}
