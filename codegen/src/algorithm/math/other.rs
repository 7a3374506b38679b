//! Error function, reciprocal square root, quotients and remainders of floats.

use super::emit::{Emit, X};
use crate::algorithm::element::{Each, Rounding};

/// `erf(x) / x` in `x^2`, for `|x| < 1`.
const NEAR32: &[f64] = &[
    1.1283791658483509,
    -0.37612626666720334,
    0.11283594715160218,
    -0.026854212010626412,
    0.005189087423433974,
    -0.000801686428716587,
    7.875875062685488e-05,
];
const NEAR64: &[f64] = &[
    std::f64::consts::FRAC_2_SQRT_PI,
    -0.37612638903183754,
    0.1128379167095512,
    -0.02686617064512984,
    0.0052239776254232985,
    -0.000854832702193483,
    0.00012055332902888736,
    -1.4925647567519332e-05,
    1.6462045441468418e-06,
    -1.6364642158167616e-07,
    1.4792401209404813e-08,
    -1.216456005728345e-09,
    8.709045129053106e-11,
    -4.230945824295338e-12,
];

/// `exp(x^2) (1 - erf(x))` in `(x - 2) / (x + 2)`, for x from 1 to 4 and from 1 to 6.
const FAR32: &[f64] = &[
    0.25539567631050575,
    -0.4271859897684867,
    0.2416582015255602,
    -0.07896830612793473,
    0.0037323717589395444,
    0.006811140131085635,
    -0.0008379754387023134,
];
const FAR64: &[f64] = &[
    0.25539567631050575,
    -0.4271858474139579,
    0.24165819424246987,
    -0.07897858101585253,
    0.00373289240349224,
    0.006997461747753573,
    -0.0008471431980760424,
    -0.0009819773208131022,
    4.3554202452705896e-05,
    0.00017436697232946864,
    2.754312818566672e-05,
    -2.7647305443610053e-05,
    -1.4067532694582058e-05,
    1.820143195975009e-06,
    3.917059299925389e-06,
];

impl<E: Emit> X<'_, E> {
    pub(super) fn erf(self) -> Self {
        let size = self.abs();
        let near = size * (size * size).poly(self.by(NEAR32, NEAR64));
        // From 4 or 6 on the function is 1; a NaN stays.
        let end = self.c(self.by(4.0, 6.0));
        let limited = end.less(size).select(end, size);
        let (above, below) = (limited + 2.0, limited + -2.0);
        let p = (below / above).poly(self.by(FAR32, FAR64));
        let left = (-limited * limited).exp(Rounding::Nearest) * p;
        let far = self.c(1.0) - left;
        size.less(1.0).select(near, far).with_sign(self)
    }

    /// f64 alone: f32 has an instruction.
    pub(super) fn rsqrt(self) -> Self {
        let root = self.map(Each::Sqrt);
        self.c(1.0) / root
    }

    /// The rounded quotient, rounded down.
    pub(super) fn floor_div(self, b: Self) -> Self {
        (self / b).map(Each::Floor)
    }

    /// The exact remainder with the sign of the divisor.
    pub(super) fn modulo(self, b: Self) -> Self {
        let (rest, divisor) = (self.abs(), b.abs());
        let is_less = rest.less(divisor);
        let (q, r) = rest.remainder(divisor);
        let r = q.less(self.by(f32::MAX.into(), f64::MAX)).select(r, rest);
        // An infinite divisor leaves what is divided.
        let r = is_less.select(rest, r).remainders(divisor);
        let zero = self.c(0.0);
        let none = zero.with_sign(b);
        let is_zero = r.equal(zero);
        let signed = r.with_sign(self);
        let differs = self.is_negative() ^ b.is_negative();
        let y = differs.select(signed + b, signed);
        let y = is_zero.select(none, y);
        b.is_nan().select(b, y)
    }

    /// A quotient, rounded toward zero to a whole number, and what it leaves, which is a number: a multiple of the last place of the
    /// quotient times that of the divisor, and less than the divisor times the former.
    fn remainder(self, divisor: Self) -> (Self, Self) {
        let q = self.apply(Each::TrueDiv, Rounding::Zero, &[divisor]).map(Each::Floor);
        (q, (-q).fma(divisor, self))
    }

    /// Takes remainders until all are less than their divisors, which most are from the beginning. A quotient that is no number is
    /// taken by a multiple of the divisor first.
    fn remainders(self, divisor: Self) -> Self {
        self.while_any(
            |r| r.op(Each::GreaterEqual, divisor),
            |r, is_over| {
                let step = self.by(100.0f64, 700.0).exp2();
                let (mut by, mut scaled) = (divisor, r);
                for _ in 0..2 {
                    scaled = scaled * (1.0 / step);
                    by = divisor.less(scaled).select(by * step, by);
                }
                let (_, next) = r.remainder(by);
                is_over.select(next, r)
            },
        )
    }
}
