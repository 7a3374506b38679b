//! Logarithms and powers.

use super::emit::{Emit, X};
use super::exp::LN2;
use crate::algorithm::element::{Each, Rounding};

/// `(log(1 + f) - f + f^2 / 2) / f^3` for `1 + f` from the root of 1/2 to that of 2.
const LOG32: &[f64] = &[
    0.33333331180030046,
    -0.24999996957950882,
    0.200007157488921,
    -0.16667802319501254,
    0.1424905764569748,
    -0.12425687331451106,
    0.1168541992348674,
    -0.11479733846637635,
    0.06971611471451178,
];

/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` in `s^2`, for the same range.
const LOG64: &[f64] = &[
    0.6666666666666666,
    0.40000000000000885,
    0.28571428570799784,
    0.22222222392581045,
    0.18181795547521137,
    0.15386244737621665,
    0.13268638369266825,
    0.13088034850927555,
];

/// `(log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5` in `s^2`, for the same range.
const POW32: &[f64] = &[0.40000015096956515, 0.2856221924167662, 0.230490028044481];
const POW64: &[f64] = &[
    0.4,
    0.2857142857142937,
    0.22222222221652765,
    0.18181818336099848,
    0.1538459488700718,
    0.1333480879881234,
    0.11706126464563398,
    0.11724327060846747,
];

impl<E: Emit> X<'_, E> {
    /// A positive number as `m 2^e` with `m` from the root of 1/2 to that of 2: `m`, and `e` as a float.
    fn split(self) -> (Self, Self) {
        let is_small = self.less(self.by(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
        // By a power of 2 beyond the digits.
        let lift = self.by(24, 53);
        let bits = is_small.select(self * 2f64.powi(lift), self).bits();
        let root = self.by(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd_i128);
        let e = (bits - root) >> self.point();
        let m = (bits - (e << self.point())).float();
        let e = e.cast(self.e.dtype());
        (m, is_small.select(e + -f64::from(lift), e))
    }

    /// `log(1 + f)` of what [`X::split`] gives: the logarithm is the sum of `f` and the second value.
    fn log_rest(self) -> Self {
        let square = self * self;
        if !self.wide() {
            return square * self.fma(self.poly(LOG32), -0.5);
        }
        let half = square * 0.5;
        let s = self / (self + 2.0);
        let z = s * s;
        s * z.fma(z.poly(LOG64), half) - half
    }

    /// Puts the values of logarithms at 0, below, at infinity and at NaN.
    fn log_ends(self, y: Self) -> Self {
        let infinity = self.c(f64::INFINITY);
        let y = self.equal(infinity).select(infinity, y);
        let (lowest, nan) = (self.c(f64::NEG_INFINITY), self.c(f64::NAN));
        let zero = self.c(0.0);
        let other = self.equal(zero).select(lowest, nan);
        zero.less(self).select(y, other)
    }

    pub(super) fn log(self, rounding: Rounding) -> Self {
        if rounding != Rounding::Nearest {
            return self.apply(Each::Log2, rounding, &[]) * std::f64::consts::LN_2;
        }
        let (m, e) = self.split();
        let f = m + -1.0;
        let rest = f.log_rest();
        let [high, low] = self.by(LN2.0, LN2.1);
        self.log_ends(e.fma(high, f + e.fma(low, rest)))
    }

    pub(super) fn log2(self) -> Self {
        let (m, e) = self.split();
        let f = m + -1.0;
        let rest = f.log_rest();
        // f is exact: its product is kept to more than a number.
        let high = self.by(f64::from(std::f32::consts::LOG2_E), std::f64::consts::LOG2_E);
        let low = self.by(std::f64::consts::LOG2_E - high, 2.0355273740931033e-17);
        let rest = f.fma(low, rest * high);
        self.log_ends(e + f.fma(high, rest))
    }

    /// The logarithm of a positive number as a sum of two, to a relative error of 2^-32 or 2^-64.
    fn log_pair(self) -> (Self, Self) {
        let (m, e) = self.split();
        let f = m + -1.0;
        // s + s_low = f / (m + 1)
        let d = m + 1.0;
        let d_low = m - (d + -1.0);
        let s = f / d;
        let minus = -s;
        let s_low = minus.fma(d_low, minus.fma(d, f)) / d;
        // s^2 and s^3 as sums of two
        let (square, error) = s.product(s);
        let twice = s + s;
        let square_low = twice.fma(s_low, error);
        let (cube, error) = square.product(s);
        let cube_low = square_low.fma(s, square.fma(s_low, error));
        // 2/3 s^3, and what follows
        let third = self.by(f64::from(2.0f32 / 3.0), 2.0 / 3.0);
        let third_low = self.by(-1.9868215517249155e-08, 3.700743415417188e-17);
        let (term, error) = cube.product(self.c(third));
        let low = cube_low.fma(third, cube.fma(third_low, error));
        let p = square * square.poly(self.by(POW32, POW64));
        let low = cube.fma(p, low);
        let (high, error) = twice.sum(term);
        let low = s_low.fma(2.0, low + error);
        let [ln2, ln2_low] = self.by(LN2.0, LN2.1);
        let (high, error) = (e * ln2).sum(high);
        high.sum(e.fma(ln2_low, low + error))
    }

    /// A product as a sum of two.
    fn product(self, y: Self) -> (Self, Self) {
        let high = self * y;
        (high, self.fma(y, -high))
    }

    /// A sum of two, the first of which is 0 or the greater, as a rounded sum and what it misses.
    fn sum(self, y: Self) -> (Self, Self) {
        let high = self + y;
        (high, y - (high - self))
    }

    /// C99's power (annex F.10.4.4).
    pub(super) fn pow(self, y: Self) -> Self {
        let size = self.abs();
        let (log, log_low) = size.log_pair();
        let (power, error) = y.product(log);
        let low = y.fma(log_low, error);
        // Beyond the range of exponents the product may be infinite, and what it misses not a number.
        let in_range = power.abs().less(self.by(110.0, 760.0));
        let zero = self.c(0.0);
        let low = in_range.select(low, zero);
        let r = power.exp_scaled(Some(low), 0);
        let (one, infinity, nan) = (self.c(1.0), self.c(f64::INFINITY), self.c(f64::NAN));
        let r = size.equal(one).select(one, r);
        // 0 and infinity
        let is_zero = size.equal(zero);
        let is_end = is_zero | size.equal(infinity);
        let gives_infinity = is_zero.equal(y.less(zero));
        let r = is_end.select(gives_infinity.select(infinity, zero), r);
        // Negative bases
        let is_whole = y.map(Each::Trunc).equal(y);
        let half = y * 0.5;
        let is_odd = is_whole & half.map(Each::Trunc).op(Each::NotEqual, half);
        let r = (self.is_negative() & is_odd).select(-r, r);
        let undefined = self.less(zero) & !is_whole & size.less(infinity);
        let r = undefined.select(nan, r);
        // NaN, unless the answer does not depend on it
        let r = (self.is_nan() | y.is_nan()).select(nan, r);
        (y.equal(zero) | self.equal(one)).select(one, r)
    }
}
