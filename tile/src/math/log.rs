//! Logarithms and powers.

use super::emit::Emit;
use super::exp::LN2;
use crate::ir::table::Each;
use crate::ir::{Rounding, Value};

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

impl Emit<'_> {
    /// A positive number as `m 2^e` with `m` from the root of 1/2 to that of 2: `m`, and `e` as a float.
    fn split(&mut self, x: Value) -> (Value, Value) {
        let point = self.point();
        let is_small = self.lessc(x, self.by(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
        // By a power of 2 beyond the digits.
        let lift = self.by(24, 53);
        let lifted = self.mulc(x, 2f64.powi(lift));
        let x = self.select(is_small, lifted, x);
        let bits = self.bits(x);
        let root = self.by(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd_i128);
        let above = self.intc(Each::Sub, bits, root);
        let e = self.intc(Each::Shr, above, i128::from(point));
        let power = self.intc(Each::Shl, e, i128::from(point));
        let m = self.op(Each::Sub, &[bits, power]);
        let m = self.float(m);
        let e = self.cast(e, self.dtype);
        let lowered = self.addc(e, -f64::from(lift));
        let e = self.select(is_small, lowered, e);
        (m, e)
    }

    /// `log(1 + f)` of what [`Emit::split`] gives: the logarithm is the sum of `f` and the second value.
    fn log_rest(&mut self, f: Value) -> Value {
        let square = self.mul(f, f);
        if !self.wide() {
            let p = self.poly(f, LOG32);
            let minus_half = self.c(-0.5);
            let t = self.fma(f, p, minus_half);
            return self.mul(square, t);
        }
        let half = self.mulc(square, 0.5);
        let denominator = self.addc(f, 2.0);
        let s = self.div(f, denominator);
        let z = self.mul(s, s);
        let q = self.poly(z, LOG64);
        let t = self.fma(z, q, half);
        let t = self.mul(s, t);
        self.sub(t, half)
    }

    /// Puts the values of logarithms at 0, below, at infinity and at NaN.
    fn log_ends(&mut self, x: Value, y: Value) -> Value {
        let infinity = self.c(f64::INFINITY);
        let is_infinite = self.equal(x, infinity);
        let y = self.select(is_infinite, infinity, y);
        let (lowest, nan) = (self.c(f64::NEG_INFINITY), self.c(f64::NAN));
        let zero = self.c(0.0);
        let is_zero = self.equal(x, zero);
        let other = self.select(is_zero, lowest, nan);
        let is_positive = self.less(zero, x);
        self.select(is_positive, y, other)
    }

    pub(super) fn log(&mut self, x: Value, rounding: Rounding) -> Value {
        if rounding != Rounding::Nearest {
            let y = self.round_by(Each::Log2, rounding, &[x]);
            return self.mulc(y, std::f64::consts::LN_2);
        }
        let (m, e) = self.split(x);
        let f = self.addc(m, -1.0);
        let rest = self.log_rest(f);
        let [high, low] = self.by(LN2.0, LN2.1);
        let rest = self.fmac(e, low, rest);
        let y = self.add(f, rest);
        let y = self.fmac(e, high, y);
        self.log_ends(x, y)
    }

    pub(super) fn log2(&mut self, x: Value) -> Value {
        let (m, e) = self.split(x);
        let f = self.addc(m, -1.0);
        let rest = self.log_rest(f);
        // f is exact: its product is kept to more than a number.
        let high = self.by(f64::from(std::f32::consts::LOG2_E), std::f64::consts::LOG2_E);
        let low = self.by(std::f64::consts::LOG2_E - high, 2.0355273740931033e-17);
        let rest = self.mulc(rest, high);
        let rest = self.fmac(f, low, rest);
        let y = self.fmac(f, high, rest);
        let y = self.add(e, y);
        self.log_ends(x, y)
    }

    /// The logarithm of a positive number as a sum of two, to a relative error of 2^-32 or 2^-64.
    fn log_pair(&mut self, x: Value) -> (Value, Value) {
        let (m, e) = self.split(x);
        let f = self.addc(m, -1.0);
        // s + s_low = f / (m + 1)
        let d = self.addc(m, 1.0);
        let back = self.addc(d, -1.0);
        let d_low = self.sub(m, back);
        let s = self.div(f, d);
        let minus = self.neg(s);
        let left = self.fma(minus, d, f);
        let left = self.fma(minus, d_low, left);
        let s_low = self.div(left, d);
        // s^2 and s^3 as sums of two
        let (square, error) = self.product(s, s);
        let twice = self.add(s, s);
        let square_low = self.fma(twice, s_low, error);
        let (cube, error) = self.product(square, s);
        let low = self.fma(square, s_low, error);
        let cube_low = self.fma(square_low, s, low);
        // 2/3 s^3, and what follows
        let third = self.by(f64::from(2.0f32 / 3.0), 2.0 / 3.0);
        let third_low = self.by(-1.9868215517249155e-08, 3.700743415417188e-17);
        let factor = self.c(third);
        let (term, error) = self.product(cube, factor);
        let low = self.fmac(cube, third_low, error);
        let low = self.fmac(cube_low, third, low);
        let p = self.poly(square, self.by(POW32, POW64));
        let p = self.mul(square, p);
        let low = self.fma(cube, p, low);
        let (high, error) = self.sum(twice, term);
        let low = self.add(low, error);
        let low = self.fmac(s_low, 2.0, low);
        let [ln2, ln2_low] = self.by(LN2.0, LN2.1);
        let whole = self.mulc(e, ln2);
        let (high, error) = self.sum(whole, high);
        let low = self.add(low, error);
        let low = self.fmac(e, ln2_low, low);
        self.sum(high, low)
    }

    /// A product as a sum of two.
    fn product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let high = self.mul(a, b);
        let minus = self.neg(high);
        (high, self.fma(a, b, minus))
    }

    /// A sum of two, the first of which is 0 or the greater, as a rounded sum and what it misses.
    fn sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let high = self.add(a, b);
        let part = self.sub(high, a);
        (high, self.sub(b, part))
    }

    /// C99's power (annex F.10.4.4).
    pub(super) fn pow(&mut self, x: Value, y: Value) -> Value {
        let size = self.abs(x);
        let (log, log_low) = self.log_pair(size);
        let (power, error) = self.product(y, log);
        let low = self.fma(y, log_low, error);
        // Beyond the range of exponents the product may be infinite, and what it misses not a number.
        let reach = self.abs(power);
        let in_range = self.lessc(reach, self.by(110.0, 760.0));
        let zero = self.c(0.0);
        let low = self.select(in_range, low, zero);
        let r = self.exp_scaled(power, Some(low), 0);
        let (one, infinity, nan) = (self.c(1.0), self.c(f64::INFINITY), self.c(f64::NAN));
        let is_one = self.equal(size, one);
        let r = self.select(is_one, one, r);
        // 0 and infinity
        let is_zero = self.equal(size, zero);
        let is_infinite = self.equal(size, infinity);
        let is_end = self.op(Each::Or, &[is_zero, is_infinite]);
        let negative_power = self.less(y, zero);
        let gives_infinity = self.op(Each::Equal, &[is_zero, negative_power]);
        let end = self.select(gives_infinity, infinity, zero);
        let r = self.select(is_end, end, r);
        // Negative bases
        let whole = self.op(Each::Trunc, &[y]);
        let is_whole = self.equal(whole, y);
        let half = self.mulc(y, 0.5);
        let half_whole = self.op(Each::Trunc, &[half]);
        let is_half = self.op(Each::NotEqual, &[half_whole, half]);
        let is_odd = self.op(Each::And, &[is_whole, is_half]);
        let is_negative = self.is_negative(x);
        let flips = self.op(Each::And, &[is_negative, is_odd]);
        let minus = self.neg(r);
        let r = self.select(flips, minus, r);
        let is_below = self.less(x, zero);
        let not_whole = self.op(Each::Not, &[is_whole]);
        let finite = self.less(size, infinity);
        let undefined = self.op(Each::And, &[is_below, not_whole]);
        let undefined = self.op(Each::And, &[undefined, finite]);
        let r = self.select(undefined, nan, r);
        // NaN, unless the answer does not depend on it
        let x_nan = self.op(Each::IsNan, &[x]);
        let y_nan = self.op(Each::IsNan, &[y]);
        let is_nan = self.op(Each::Or, &[x_nan, y_nan]);
        let r = self.select(is_nan, nan, r);
        let no_power = self.equal(y, zero);
        let base_one = self.equal(x, one);
        let always = self.op(Each::Or, &[no_power, base_one]);
        self.select(always, one, r)
    }
}
