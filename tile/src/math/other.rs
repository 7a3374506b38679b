//! Error function, reciprocal square root, quotients and remainders of floats.

use std::sync::Arc;

use girih_tensor::DType;

use super::emit::Emit;
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Combine, End, Kind, Rounding, Type, Value};

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

impl Emit<'_> {
    pub(super) fn erf(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let z = self.mul(size, size);
        let p = self.poly(z, self.by(NEAR32, NEAR64));
        let near = self.mul(size, p);
        // From 4 or 6 on the function is 1; a NaN stays.
        let end = self.c(self.by(4.0, 6.0));
        let is_over = self.less(end, size);
        let limited = self.select(is_over, end, size);
        let above = self.addc(limited, 2.0);
        let below = self.addc(limited, -2.0);
        let t = self.div(below, above);
        let p = self.poly(t, self.by(FAR32, FAR64));
        let minus = self.neg(limited);
        let minus = self.mul(minus, limited);
        let e = self.exp(minus, Rounding::Nearest);
        let left = self.mul(e, p);
        let one = self.c(1.0);
        let far = self.sub(one, left);
        let is_near = self.lessc(size, 1.0);
        let y = self.select(is_near, near, far);
        self.with_sign(y, x)
    }

    /// f64 alone: f32 has an instruction.
    pub(super) fn rsqrt(&mut self, x: Value) -> Value {
        let root = self.op(Each::Sqrt, &[x]);
        let one = self.c(1.0);
        self.div(one, root)
    }

    /// The rounded quotient, rounded down.
    pub(super) fn floor_div(&mut self, a: Value, b: Value) -> Value {
        let q = self.div(a, b);
        self.op(Each::Floor, &[q])
    }

    /// The exact remainder with the sign of the divisor.
    pub(super) fn modulo(&mut self, a: Value, b: Value) -> Value {
        let (rest, divisor) = (self.abs(a), self.abs(b));
        let is_less = self.less(rest, divisor);
        let (q, r) = self.remainder(rest, divisor);
        let fits = self.lessc(q, self.by(f32::MAX.into(), f64::MAX));
        let r = self.select(fits, r, rest);
        // An infinite divisor leaves what is divided.
        let r = self.select(is_less, rest, r);
        let r = self.remainders(r, divisor);
        let zero = self.c(0.0);
        let none = self.with_sign(zero, b);
        let is_zero = self.equal(r, zero);
        let signed = self.with_sign(r, a);
        let (a_negative, b_negative) = (self.is_negative(a), self.is_negative(b));
        let differs = self.op(Each::Xor, &[a_negative, b_negative]);
        let other = self.add(signed, b);
        let y = self.select(differs, other, signed);
        let y = self.select(is_zero, none, y);
        let no_divisor = self.op(Each::IsNan, &[b]);
        self.select(no_divisor, b, y)
    }

    /// A quotient, rounded toward zero to a whole number, and what it leaves, which is a number: a multiple of the last place of the
    /// quotient times that of the divisor, and less than the divisor times the former.
    fn remainder(&mut self, r: Value, divisor: Value) -> (Value, Value) {
        let q = self.round_by(Each::TrueDiv, Rounding::Zero, &[r, divisor]);
        let q = self.op(Each::Floor, &[q]);
        let minus = self.neg(q);
        (q, self.fma(minus, divisor, r))
    }

    /// Takes remainders until all are less than their divisors, which most are from the beginning. A quotient that is no number is
    /// taken by a multiple of the divisor first.
    fn remainders(&mut self, first: Value, divisor: Value) -> Value {
        let ty = Type { dtype: self.dtype, dims: self.dims };
        let (region, args) = self.b.open(&[ty]);
        let r = args[0];
        let is_over = self.op(Each::GreaterEqual, &[r, divisor]);
        let any = self.any(is_over);
        self.b.open(&[]);
        let more = self.b.close(End::Yield(Vec::new()));
        self.b.open(&[]);
        let done = self.b.close(End::Break(0, vec![r]));
        self.b.push_regions(Kind::If, &[any], &[], vec![more, done]);
        let step = self.by(100.0f64, 700.0).exp2();
        let mut by = divisor;
        let mut scaled = r;
        for _ in 0..2 {
            scaled = self.mulc(scaled, 1.0 / step);
            let is_far = self.less(divisor, scaled);
            let multiple = self.mulc(by, step);
            by = self.select(is_far, multiple, by);
        }
        let (_, next) = self.remainder(r, by);
        let next = self.select(is_over, next, r);
        let closed = self.b.close(End::Continue(0, vec![next]));
        debug_assert_eq!(closed, region);
        self.b.push_regions(Kind::Loop, &[first], &[ty], vec![closed])[0]
    }

    /// Whether any element is true, as a scalar.
    fn any(&mut self, mut tile: Value) -> Value {
        let scalar = Type::scalar(DType::Bool);
        for axis in 0..self.dims.rank() {
            let dims = self.b.ty(tile).dims.with(axis, 1);
            let kind = Kind::Reduce { axis: fit::axis(axis), combine: Combine::Or, identity: Arc::new([]) };
            tile = self.b.push1(kind, &[tile], Type { dims, ..scalar });
        }
        if self.dims.rank() == 0 { tile } else { self.b.push1(Kind::Reshape, &[tile], scalar) }
    }
}
