//! Integers whose symbols get values, or more facts.

use crate::arith::add_mul::packed;
use crate::leaf::int::FACTORS;
use crate::{Error, Factor, Int, Symbol};

impl Int {
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
        while i < FACTORS {
            if let Some(f) = self.factors[i].get() {
                if f.symbol.id() != symbol.id() {
                    out = tri!(out.mul(Int::of_factor(self.factors[i])));
                } else if f.symbol.admits(value) {
                    let quotient = value / f.den + (value % f.den != 0) as i64;
                    out = tri!(out.mul(Int::value(quotient)));
                } else {
                    return Err(Error::CoordOutOfRange {
                        coord: value,
                        extent: Int::symbol(f.symbol).quoted(),
                    });
                }
            }
            i += 1;
        }
        Ok(out)
    }

    /// The same integer with more facts about one of its symbols, in addition to the known ones.
    ///
    /// ```
    /// use girih_layout::{Int, Symbol};
    /// let tiles = Int::parse("ceil(s0/8)")?;
    /// assert_eq!(tiles.mul(Int::fixed(8))?.is_divisible_by(8), Some(true));
    /// assert_eq!(tiles.assume(Symbol::new(0).divisible_by(16))?.is_divisible_by(2), Some(true));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub const fn assume(self, symbol: Symbol) -> Result<Int, Error> {
        if !self.is_symbolic() {
            return Ok(self);
        }
        let (mut out, mut i) = (Int::value(self.coef), 0);
        while i < FACTORS {
            if let Some(f) = self.factors[i].get() {
                let symbol = if f.symbol.id() == symbol.id() { f.symbol.and(symbol) } else { f.symbol };
                let factor = tri!(packed(Factor { symbol, den: f.den }));
                out = tri!(out.mul(Int::of_factor(factor)));
            }
            i += 1;
        }
        Ok(out)
    }
}
