//! Sine, cosine and tangent of any argument, and `atan2`.

use girih_tensor::DType;

use super::emit::{Emit, X};
use crate::algorithm::element::Each;

/// Half of pi as unevaluated sums of three numbers, of f32 and of f64.
const HALF_PI: ([f64; 3], [f64; 3]) = (
    [1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15],
    [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33],
);

/// 2 / pi in binary, after the point.
const TWO_BY_PI: [u64; 21] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
    0xa9e391615ee61b08,
];

/// `(sin(r) - r) / r^3` and `(cos(r) - 1 + r^2 / 2) / r^4` in `r^2`, for `|r| <= pi / 4`.
const SIN32: &[f64] =
    &[-0.16666666663832763, 0.008333331865959415, -0.00019840082012765537, 2.7249314054698804e-06];
const SIN64: &[f64] = &[
    -0.16666666666666666,
    0.008333333333330925,
    -0.00019841269836722418,
    2.755731608381636e-06,
    -2.5051127944014188e-08,
    1.5917848524808262e-10,
];
const COS32: &[f64] = &[0.04166666464745738, -0.00138883006969039, 2.45474372101932e-05];
const COS64: &[f64] = &[
    0.041666666666666664,
    -0.0013888888888887382,
    2.480158729874307e-05,
    -2.7557317260008837e-07,
    2.0876143827993133e-09,
    -1.1382456778061306e-11,
];

/// `(atan(t) - t) / t^3` in `t^2`, for `|t|` up to the tangent of pi / 8.
const ATAN32: &[f64] = &[
    -0.33333331760940405,
    0.19999540431217983,
    -0.1426395378142543,
    0.10743711856765362,
    -0.06451863136604535,
];
const ATAN64: &[f64] = &[
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659812,
    0.11111111105153937,
    -0.09090908753425743,
    0.07692296372859808,
    -0.06666424846721739,
    0.05878928549229719,
    -0.052304509666811966,
    0.045515781496647055,
    -0.034570174391823104,
    0.01628532732275549,
];

impl<E: Emit> X<'_, E> {
    /// The remainder of a magnitude by half of pi, from -pi/4 to pi/4, and the quotient's lowest bits as an s32.
    fn reduce(self) -> (Self, Self) {
        let k = (self * std::f64::consts::FRAC_2_PI).map(Each::Round);
        // The first difference is exact as long as k has few bits: all of its terms are multiples of the unit of pi / 2.
        let parts = self.by(HALF_PI.0, HALF_PI.1);
        let near = parts.into_iter().fold(self, |near, part| k.fma(-part, near));
        let near_quotient = k.cast(DType::S32);
        let (far, far_quotient) = if self.wide() { self.reduce_far64() } else { self.reduce_far32() };
        let is_near = self.less(self.by(65536.0, 1073741824.0));
        (is_near.select(near, far), is_near.select(near_quotient, far_quotient))
    }

    /// Payne and Hanek's reduction: the argument is `m 2^e`, and of 2 / pi only the digits count whose products with `m` are below 4.
    fn reduce_far32(self) -> (Self, Self) {
        let bits = self.bits_as(DType::U32);
        let field = bits >> 23;
        let m = (bits & 0x7f_ffff) | 0x80_0000;
        // Digits from the weight 2^1 on: e - 2 of them are left out, of a word of zeros and 2 / pi. e = field - 150.
        let offset = field - (152 - 32);
        let digits = TWO_BY_PI[..4].iter().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
        let words = [0].into_iter().chain(digits).map(|word| self.n(DType::U32, word)).collect();
        let words = Self::window(words, offset >> 5, &[4, 2, 1], 4);
        let words = Self::shifted(&words, offset & 31, 32);
        let wide: Vec<Self> = words.iter().map(|word| word.cast(DType::U64)).collect();
        let m = m.cast(DType::U64);
        let high = (m * wide[0]) << 32;
        let middle = m * wide[1];
        let low = (m * wide[2]) >> 32;
        let (fraction, quotient) = (high + middle + low).quarter();
        (fraction.cast(DType::F32) * (std::f64::consts::FRAC_PI_2 * 2f64.powi(-62)), quotient)
    }

    fn reduce_far64(self) -> (Self, Self) {
        let bits = self.bits_as(DType::U64);
        let field = bits >> 52;
        let m = (bits & ((1 << 52) - 1)) | (1 << 52);
        // As for f32; e = field - 1075.
        let offset = (field - (1077 - 64)).cast(DType::U32);
        let words = [0].into_iter().chain(TWO_BY_PI).map(|word| self.n(DType::U64, word)).collect();
        let words = Self::window(words, offset >> 6, &[16, 8, 4, 2, 1], 4);
        let words = Self::shifted(&words, (offset & 63).cast(DType::U64), 64);
        let middle = m * words[1];
        let low = middle + m.op(Each::MulHi, words[2]);
        let overflow = low.less(middle).cast(DType::U64);
        let high = m * words[0];
        let upper = m.op(Each::MulHi, words[1]);
        let (fraction, quotient) = (high + upper + overflow).quarter();
        let fraction = fraction.cast(DType::F64);
        let fraction = low.cast(DType::F64).fma(2f64.powi(-64), fraction);
        (fraction * (std::f64::consts::FRAC_PI_2 * 2f64.powi(-62)), quotient)
    }

    /// A u64 of which the upper two bits count quarters of a turn: the rest from -1/2 to 1/2, in units of 2^-62, and the nearest quarter.
    fn quarter(self) -> (Self, Self) {
        let quotient = (self + (1 << 61)) >> 62;
        let fraction = self - (quotient << 62);
        (fraction.bits_as(DType::S64), quotient.cast(DType::S32))
    }

    /// The `count` words from an index on, by the index's bits from the highest.
    fn window(mut words: Vec<Self>, index: Self, bits: &[usize], count: usize) -> Vec<Self> {
        for &bit in bits {
            let is_set = index.has(bit as i128);
            let needed = (count + bit - 1).min(words.len());
            let word =
                |i: usize| words.get(i + bit).map_or(words[i], |&other| is_set.select(other, words[i]));
            words = (0..needed).map(word).collect();
        }
        words
    }

    /// Words shifted up by less than a word.
    fn shifted(words: &[Self], shift: Self, width: i128) -> Vec<Self> {
        let down = shift.n(shift.dtype(), width) - shift;
        words.windows(2).map(|pair| (pair[0] << shift) | (pair[1] >> down)).collect()
    }

    /// Sine and cosine of a remainder.
    fn circle(self) -> (Self, Self) {
        let z = self * self;
        let p = z.poly(self.by(SIN32, SIN64));
        let sin = (self * z).fma(p, self);
        let p = z.poly(self.by(COS32, COS64));
        let one = self.c(1.0);
        let square = z * z;
        let c = z.fma(-0.5, one);
        let lost = z.fma(-0.5, one - c);
        (sin, c + square.fma(p, lost))
    }

    /// A value where the magnitude is finite, else NaN.
    fn where_finite(self, y: Self) -> Self {
        let (infinity, nan) = (self.c(f64::INFINITY), self.c(f64::NAN));
        self.less(infinity).select(y, nan)
    }

    /// The cosine of a turn's part, of which a u32 counts 2^-32.
    pub(super) fn cosine_of_turn(self) -> Self {
        let quotient = (self + (1 << 29)) >> 30;
        let rest = (self - (quotient << 30)).bits_as(DType::S32).cast(DType::F32);
        let r = rest * (std::f64::consts::TAU * 2f64.powi(-32));
        r.quarters(quotient + 1)
    }

    /// The sine of a number of quarters of a turn, which an integer counts, and a remainder.
    fn quarters(self, quotient: Self) -> Self {
        let (sin, cos) = self.circle();
        let y = quotient.has(1).select(cos, sin);
        quotient.has(2).select(-y, y)
    }

    /// Sine, or cosine as the sine shifted by a quarter of a period, of a magnitude.
    fn wave(self, ahead: i128) -> Self {
        let (r, quotient) = self.reduce();
        let quotient = if ahead == 0 { quotient } else { quotient + ahead };
        self.where_finite(r.quarters(quotient))
    }

    pub(super) fn sin(self) -> Self {
        self.abs().wave(0).with_sign(self)
    }

    pub(super) fn cos(self) -> Self {
        self.abs().wave(1)
    }

    pub(super) fn tan(self) -> Self {
        let size = self.abs();
        let (r, quotient) = size.reduce();
        let (sin, cos) = r.circle();
        let odd = quotient.has(1);
        let numerator = odd.select(-cos, sin);
        let denominator = odd.select(sin, cos);
        size.where_finite(numerator / denominator).with_sign(self)
    }

    /// The angle of the point (x, y).
    pub(super) fn atan2(self, x: Self) -> Self {
        use std::f64::consts::FRAC_PI_4;
        let (width, height) = (x.abs(), self.abs());
        let steep = width.less(height);
        let long = steep.select(height, width);
        let short = steep.select(width, height);
        let (zero, one, infinity) = (self.c(0.0), self.c(1.0), self.c(f64::INFINITY));
        // Both infinite is an eighth of a turn; the origin is none.
        let both = short.equal(infinity);
        let (long, short) = (both.select(one, long), both.select(one, short));
        let long = long.equal(zero).select(one, long);
        // Sums must not overflow.
        let huge = self.c(self.by(2f64.powi(126), 2f64.powi(1022)));
        let scale = huge.less(long).select(self.c(0.25), one);
        let (long, short) = (long * scale, short * scale);
        // atan(q) = pi/4 + atan((q - 1) / (q + 1))
        let over = (long * 0.41421356237309503).less(short);
        let (difference, sum) = (short - long, short + long);
        let numerator = over.select(difference, short);
        let denominator = over.select(sum, long);
        let t = numerator / denominator;
        let z = t * t;
        let p = z.poly(self.by(ATAN32, ATAN64));
        let rest = t * z * p;
        // The angle is a multiple of pi/4, as a sum of two, plus or minus t and the rest.
        let flip = x.is_negative();
        let eighth = over.select(one, zero);
        let turned = self.c(2.0) - eighth;
        let eighths = steep.select(turned, eighth);
        let opposite = self.c(4.0) - eighths;
        let eighths = flip.select(opposite, eighths);
        let downward = steep.op(Each::NotEqual, flip);
        let (minus_t, minus_rest) = (-t, -rest);
        let (t, rest) = (downward.select(minus_t, t), downward.select(minus_rest, rest));
        let (high, low) = self.by(
            (f64::from(std::f32::consts::FRAC_PI_4), FRAC_PI_4 - f64::from(std::f32::consts::FRAC_PI_4)),
            (FRAC_PI_4, 6.123233995736766e-17 / 2.0),
        );
        let small = t + eighths.fma(low, rest);
        // -0 is what is left of 0 pi/4 - 0.
        let angle = eighths.fma(high, small).abs().with_sign(self);
        let is_nan = x.is_nan() | self.is_nan();
        is_nan.select(self.c(f64::NAN), angle)
    }
}
