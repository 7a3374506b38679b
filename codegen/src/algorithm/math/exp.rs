//! Exponentials and functions that are computed from them.

use super::emit::{Emit, X};
use crate::algorithm::element::{Each, Rounding};

/// ln 2 as a number of few bits, whose products with exponents are exact, and the rest.
pub(super) const LN2: ([f64; 2], [f64; 2]) =
    ([0.69317626953125, -2.9088971305687e-05], [0.6931471805601177, -1.7239444525614835e-13]);

/// `(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`.
const EXP32: &[f64] =
    &[0.5, 0.16666576666119928, 0.04166655421298415, 0.008363232883682618, 0.0013926250831497611];
const EXP64: &[f64] = &[
    0.5000000000000001,
    0.16666666666666669,
    0.041666666666623824,
    0.008333333333330039,
    0.0013888888917367081,
    0.00019841269863171557,
    2.4801521057868204e-05,
    2.7557268276905696e-06,
    2.7620201591031547e-07,
    2.5100472505694996e-08,
];

/// `(sinh(x) - x) / x^3` in `x^2`, for `|x| < 1`.
const SINH32: &[f64] =
    &[0.16666666646842135, 0.00833333967591706, 0.00019838101968683888, 2.8062802582276946e-06];
const SINH64: &[f64] = &[
    0.16666666666666666,
    0.008333333333333299,
    0.00019841269841324198,
    2.7557319191381816e-06,
    2.5052117695907823e-08,
    1.6057679623801638e-10,
    7.746178593018827e-13,
];

/// `(tanh(x) - x) / x^3` in `x^2`, for `|x| < 0.5625`.
const TANH32: &[f64] = &[
    -0.3333333169526055,
    0.1333307381350117,
    -0.053901753164581234,
    0.021263353447151623,
    -0.006525572168998148,
];
const TANH64: &[f64] = &[
    -0.3333333333333333,
    0.133333333333333,
    -0.05396825396820291,
    0.02186948853313033,
    -0.008863235437120377,
    0.003592126352822234,
    -0.0014558149436249654,
    0.0005898788187502341,
    -0.00023836459039376214,
    9.427778828319503e-05,
    -3.333062013997152e-05,
    7.634414185118713e-06,
];

impl<E: Emit> X<'_, E> {
    /// `exp(r) * 2^(k + shift)` for `|r| <= ln(2) / 2` and an integral float `k` of at most twice the exponents' range. The power of two
    /// is multiplied in two halves, so that what underflows is rounded once.
    fn exp_tail(self, k: Self, shift: i128) -> Self {
        let p = self.poly(self.by(EXP32, EXP64));
        let y = (self * self).fma(p, self) + 1.0;
        let k = k.cast(self.int());
        let k = if shift == 0 { k } else { k + shift };
        let half = k >> 1;
        let rest = k - half;
        let power = |k: Self| ((k + self.by(127_i128, 1023)) << self.point()).float();
        let (half, rest) = (power(half), power(rest));
        y * half * rest
    }

    /// `x` within the range in which exponentials are numbers; beyond, they are 0 or infinite all the same.
    fn exp_clamp(self, low: f64, high: f64) -> Self {
        let (low, high) = (self.c(low), self.c(high));
        let x = high.less(self).select(high, self);
        x.less(low).select(low, x)
    }

    /// `exp(x + low) * 2^shift`, to about a unit of the last place.
    pub(super) fn exp_scaled(self, low: Option<Self>, shift: i128) -> Self {
        let x = self.exp_clamp(self.by(-110.0, -760.0), self.by(95.0, 720.0));
        let k = (x * std::f64::consts::LOG2_E).map(Each::Round);
        let [high, rest] = self.by(LN2.0, LN2.1);
        let r = k.fma(-rest, k.fma(-high, x));
        low.map_or(r, |low| r + low).exp_tail(k, shift)
    }

    /// `2^(x log2(e))` by the instruction; the product has two terms, so that what is lost is what the instruction does not take.
    pub(super) fn exp_fast(self, rounding: Rounding) -> Self {
        const HIGH: f64 = 1.4426950216293335;
        let t = match rounding {
            Rounding::Nearest => self.fma(HIGH, self * (std::f64::consts::LOG2_E - HIGH)),
            _ => self * HIGH,
        };
        t.apply(Each::Exp2, Rounding::Approx, &[])
    }

    pub(super) fn exp(self, rounding: Rounding) -> Self {
        if self.wide() { self.exp_scaled(None, 0) } else { self.exp_fast(rounding) }
    }

    /// f64 alone: f32 has an instruction.
    pub(super) fn exp2(self) -> Self {
        let x = self.exp_clamp(-1100.0, 1040.0);
        let k = x.map(Each::Round);
        let f = x - k;
        f.fma(std::f64::consts::LN_2, f * 2.3190468138462996e-17).exp_tail(k, 0)
    }

    /// A function by an odd polynomial `x + x^3 p(x^2)` below a magnitude, and by `far` of the magnitude above; it is odd.
    fn odd(self, until: f64, p: &[f64], far: impl FnOnce(Self) -> Self) -> Self {
        let size = self.abs();
        let z = size * size;
        let p = z.poly(p);
        let near = (size * z).fma(p, size);
        let far = far(size);
        size.less(until).select(near, far).with_sign(self)
    }

    pub(super) fn sinh(self) -> Self {
        self.odd(1.0, self.by(SINH32, SINH64), |size| {
            let half = size.exp_scaled(None, -1);
            half - size.c(0.25) / half
        })
    }

    pub(super) fn cosh(self) -> Self {
        let half = self.abs().exp_scaled(None, -1);
        half + self.c(0.25) / half
    }

    pub(super) fn tanh(self) -> Self {
        self.odd(0.5625, self.by(TANH32, TANH64), |size| {
            let e = (size + size).exp(Rounding::Nearest) + 1.0;
            size.c(-2.0) / e + 1.0
        })
    }

    pub(super) fn sigmoid(self) -> Self {
        let e = (-self.abs()).exp(Rounding::Nearest);
        let one = self.c(1.0);
        let numerator = self.less(0.0).select(e, one);
        let rounding = self.by(Rounding::Full, Rounding::Nearest);
        numerator.apply(Each::TrueDiv, rounding, &[e + one])
    }
}
