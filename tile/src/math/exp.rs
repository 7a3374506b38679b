//! Exponentials and what is made of them.

use girih_tensor::DType;

use super::emit::Emit;
use crate::ir::table::Each;
use crate::ir::{Rounding, Value};

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

impl Emit<'_> {
    /// `exp(r) * 2^(k + shift)` for `|r| <= ln(2) / 2` and an integral float `k` of at most twice the exponents' range. The power of two
    /// is multiplied in two halves, so that what underflows is rounded once.
    fn exp_tail(&mut self, r: Value, k: Value, shift: i64) -> Value {
        let p = self.poly(r, self.by(EXP32, EXP64));
        let square = self.mul(r, r);
        let y = self.fma(square, p, r);
        let y = self.addc(y, 1.0);
        let k = self.cast(k, self.int());
        let k = if shift == 0 { k } else { self.intc(Each::Add, k, i128::from(shift)) };
        let half = self.intc(Each::Shr, k, 1);
        let rest = self.op(Each::Sub, &[k, half]);
        let mut power = |k: Value| {
            let biased = self.intc(Each::Add, k, i128::from(self.bias()));
            let bits = self.intc(Each::Shl, biased, i128::from(self.point()));
            self.float(bits)
        };
        let (half, rest) = (power(half), power(rest));
        let y = self.mul(y, half);
        self.mul(y, rest)
    }

    /// `x` within the range in which exponentials are numbers; beyond, they are 0 or infinite all the same.
    fn exp_clamp(&mut self, x: Value, low: f64, high: f64) -> Value {
        let (low, high) = (self.c(low), self.c(high));
        let above = self.less(high, x);
        let x = self.select(above, high, x);
        let below = self.less(x, low);
        self.select(below, low, x)
    }

    /// `exp(x + low) * 2^shift`, to about a unit of the last place.
    pub(super) fn exp_scaled(&mut self, x: Value, low: Option<Value>, shift: i64) -> Value {
        let x = self.exp_clamp(x, self.by(-110.0, -760.0), self.by(95.0, 720.0));
        let k = self.mulc(x, std::f64::consts::LOG2_E);
        let k = self.op(Each::Round, &[k]);
        let [high, rest] = self.by(LN2.0, LN2.1);
        let r = self.fmac(k, -high, x);
        let mut r = self.fmac(k, -rest, r);
        if let Some(low) = low {
            r = self.add(r, low);
        }
        self.exp_tail(r, k, shift)
    }

    /// `2^(x log2(e))` by the instruction; the product has two terms, so that what is lost is what the instruction does not take.
    pub(super) fn exp_fast(&mut self, x: Value, rounding: Rounding) -> Value {
        const HIGH: f64 = 1.4426950216293335;
        let t = if rounding == Rounding::Nearest {
            let low = self.mulc(x, std::f64::consts::LOG2_E - HIGH);
            self.fmac(x, HIGH, low)
        } else {
            self.mulc(x, HIGH)
        };
        self.round_by(Each::Exp2, Rounding::Approx, &[t])
    }

    pub(super) fn exp(&mut self, x: Value, rounding: Rounding) -> Value {
        if self.wide() { self.exp_scaled(x, None, 0) } else { self.exp_fast(x, rounding) }
    }

    /// f64 alone: f32 has an instruction.
    pub(super) fn exp2(&mut self, x: Value) -> Value {
        let x = self.exp_clamp(x, -1100.0, 1040.0);
        let k = self.op(Each::Round, &[x]);
        let f = self.sub(x, k);
        let low = self.mulc(f, 2.3190468138462996e-17);
        let r = self.fmac(f, std::f64::consts::LN_2, low);
        self.exp_tail(r, k, 0)
    }

    /// A function by an odd polynomial `x + x^3 p(x^2)` below a magnitude, and by `far` of the magnitude above; it is odd.
    fn odd(&mut self, x: Value, until: f64, p: &[f64], far: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let size = self.abs(x);
        let z = self.mul(size, size);
        let p = self.poly(z, p);
        let cube = self.mul(size, z);
        let near = self.fma(cube, p, size);
        let far = far(self, size);
        let is_near = self.lessc(size, until);
        let y = self.select(is_near, near, far);
        self.with_sign(y, x)
    }

    pub(super) fn sinh(&mut self, x: Value) -> Value {
        self.odd(x, 1.0, self.by(SINH32, SINH64), |m, size| {
            let half = m.exp_scaled(size, None, -1);
            let quarter = m.c(0.25);
            let other = m.div(quarter, half);
            m.sub(half, other)
        })
    }

    pub(super) fn cosh(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let half = self.exp_scaled(size, None, -1);
        let quarter = self.c(0.25);
        let other = self.div(quarter, half);
        self.add(half, other)
    }

    pub(super) fn tanh(&mut self, x: Value) -> Value {
        self.odd(x, 0.5625, self.by(TANH32, TANH64), |m, size| {
            let twice = m.add(size, size);
            let e = m.exp(twice, Rounding::Nearest);
            let e = m.addc(e, 1.0);
            let minus_two = m.c(-2.0);
            let rest = m.div(minus_two, e);
            m.addc(rest, 1.0)
        })
    }

    pub(super) fn sigmoid(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let negative = self.neg(size);
        let e = self.exp(negative, Rounding::Nearest);
        let one = self.c(1.0);
        let is_negative = self.lessc(x, 0.0);
        let numerator = self.select(is_negative, e, one);
        let denominator = self.add(e, one);
        let rounding = if self.dtype == DType::F32 { Rounding::Full } else { Rounding::Nearest };
        self.round_by(Each::TrueDiv, rounding, &[numerator, denominator])
    }
}
