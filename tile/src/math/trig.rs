//! Sine, cosine and tangent of any argument, and the angle of a point.

use girih_tensor::DType;

use super::emit::Emit;
use crate::ir::Value;
use crate::ir::table::Each;

/// Half of pi as sums of numbers.
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

impl Emit<'_> {
    /// The remainder of a magnitude by half of pi, from -pi/4 to pi/4, and the quotient's lowest bits as an s32.
    fn reduce(&mut self, size: Value) -> (Value, Value) {
        let k = self.mulc(size, std::f64::consts::FRAC_2_PI);
        let k = self.op(Each::Round, &[k]);
        // The first difference is exact as long as k has few bits: all of its terms are multiples of the unit of pi / 2.
        let mut near = size;
        for part in self.by(HALF_PI.0, HALF_PI.1) {
            near = self.fmac(k, -part, near);
        }
        let near_quotient = self.cast(k, DType::S32);
        let (far, far_quotient) = if self.wide() { self.reduce_far64(size) } else { self.reduce_far32(size) };
        let is_near = self.lessc(size, self.by(65536.0, 1073741824.0));
        (self.select(is_near, near, far), self.select(is_near, near_quotient, far_quotient))
    }

    /// Payne and Hanek's reduction: the argument is `m 2^e`, and of 2 / pi only the digits count whose products with `m` are below 4.
    fn reduce_far32(&mut self, size: Value) -> (Value, Value) {
        let bits = self.bits_as(size, DType::U32);
        let field = self.intc(Each::Shr, bits, 23);
        let m = self.intc(Each::And, bits, 0x7f_ffff);
        let m = self.intc(Each::Or, m, 0x80_0000);
        // Digits from the weight 2^1 on: e - 2 of them are left out, of a word of zeros and 2 / pi. e = field - 150.
        let offset = self.intc(Each::Sub, field, 152 - 32);
        let mut words = vec![self.n(DType::U32, 0)];
        for word in &TWO_BY_PI[..4] {
            words.push(self.n(DType::U32, i128::from(word >> 32)));
            words.push(self.n(DType::U32, i128::from(word & 0xffff_ffff)));
        }
        let index = self.intc(Each::Shr, offset, 5);
        let words = self.window(words, index, &[4, 2, 1], 4);
        let shift = self.intc(Each::And, offset, 31);
        let words = self.shifted(&words, shift, 32);
        let wide: Vec<Value> = words.iter().map(|&word| self.cast(word, DType::U64)).collect();
        let m = self.cast(m, DType::U64);
        let high = self.mul(m, wide[0]);
        let high = self.intc(Each::Shl, high, 32);
        let middle = self.mul(m, wide[1]);
        let low = self.mul(m, wide[2]);
        let low = self.intc(Each::Shr, low, 32);
        let sum = self.add(high, middle);
        let sum = self.add(sum, low);
        let (fraction, quotient) = self.quarter(sum);
        let fraction = self.cast(fraction, DType::F32);
        (self.mulc(fraction, std::f64::consts::FRAC_PI_2 * 2f64.powi(-62)), quotient)
    }

    fn reduce_far64(&mut self, size: Value) -> (Value, Value) {
        let bits = self.bits_as(size, DType::U64);
        let field = self.intc(Each::Shr, bits, 52);
        let m = self.intc(Each::And, bits, (1 << 52) - 1);
        let m = self.intc(Each::Or, m, 1 << 52);
        // As for f32; e = field - 1075.
        let offset = self.intc(Each::Sub, field, 1077 - 64);
        let offset = self.cast(offset, DType::U32);
        let mut words = vec![self.n(DType::U64, 0)];
        for &word in &TWO_BY_PI {
            words.push(self.n(DType::U64, i128::from(word)));
        }
        let index = self.intc(Each::Shr, offset, 6);
        let words = self.window(words, index, &[16, 8, 4, 2, 1], 4);
        let shift = self.intc(Each::And, offset, 63);
        let shift = self.cast(shift, DType::U64);
        let words = self.shifted(&words, shift, 64);
        let middle = self.mul(m, words[1]);
        let carried = self.op(Each::MulHi, &[m, words[2]]);
        let low = self.add(middle, carried);
        let overflow = self.less(low, middle);
        let overflow = self.cast(overflow, DType::U64);
        let high = self.mul(m, words[0]);
        let upper = self.op(Each::MulHi, &[m, words[1]]);
        let high = self.add(high, upper);
        let high = self.add(high, overflow);
        let (fraction, quotient) = self.quarter(high);
        let fraction = self.cast(fraction, DType::F64);
        let low = self.cast(low, DType::F64);
        let fraction = self.fmac(low, 2f64.powi(-64), fraction);
        (self.mulc(fraction, std::f64::consts::FRAC_PI_2 * 2f64.powi(-62)), quotient)
    }

    /// A u64 of which the upper two bits count quarters of a turn: the rest from -1/2 to 1/2, in units of 2^-62, and the nearest quarter.
    fn quarter(&mut self, turns: Value) -> (Value, Value) {
        let rounded = self.intc(Each::Add, turns, 1 << 61);
        let quotient = self.intc(Each::Shr, rounded, 62);
        let whole = self.intc(Each::Shl, quotient, 62);
        let fraction = self.sub(turns, whole);
        (self.bits_as(fraction, DType::S64), self.cast(quotient, DType::S32))
    }

    /// The `count` words from an index on, by the index's bits from the highest.
    fn window(&mut self, mut words: Vec<Value>, index: Value, bits: &[usize], count: usize) -> Vec<Value> {
        for &bit in bits {
            let masked = self.intc(Each::And, index, bit as i128);
            let is_set = self.intc(Each::NotEqual, masked, 0);
            let needed = count + bit - 1;
            words = (0..needed.min(words.len()))
                .map(|i| match words.get(i + bit) {
                    Some(&other) => self.select(is_set, other, words[i]),
                    None => words[i],
                })
                .collect();
        }
        words
    }

    /// Words shifted up by less than a word.
    fn shifted(&mut self, words: &[Value], shift: Value, width: i128) -> Vec<Value> {
        let dtype = self.b.ty(shift).dtype;
        let width = self.n(dtype, width);
        let down = self.sub(width, shift);
        let pairs = words.windows(2);
        pairs
            .map(|pair| {
                let upper = self.op(Each::Shl, &[pair[0], shift]);
                let lower = self.op(Each::Shr, &[pair[1], down]);
                self.op(Each::Or, &[upper, lower])
            })
            .collect()
    }

    /// Sine and cosine of a remainder.
    fn circle(&mut self, r: Value) -> (Value, Value) {
        let z = self.mul(r, r);
        let p = self.poly(z, self.by(SIN32, SIN64));
        let cube = self.mul(r, z);
        let sin = self.fma(cube, p, r);
        let p = self.poly(z, self.by(COS32, COS64));
        let one = self.c(1.0);
        let square = self.mul(z, z);
        let c = self.fmac(z, -0.5, one);
        let lost = self.sub(one, c);
        let lost = self.fmac(z, -0.5, lost);
        let rest = self.fma(square, p, lost);
        (sin, self.add(c, rest))
    }

    /// A value where the argument is finite, else NaN.
    fn where_finite(&mut self, size: Value, y: Value) -> Value {
        let (infinity, nan) = (self.c(f64::INFINITY), self.c(f64::NAN));
        let is_finite = self.less(size, infinity);
        self.select(is_finite, y, nan)
    }

    /// The cosine of a turn's part, of which a u32 counts 2^-32.
    pub(super) fn cosine_of_turn(&mut self, part: Value) -> Value {
        let rounded = self.intc(Each::Add, part, 1 << 29);
        let quotient = self.intc(Each::Shr, rounded, 30);
        let whole = self.intc(Each::Shl, quotient, 30);
        let rest = self.sub(part, whole);
        let rest = self.bits_as(rest, DType::S32);
        let rest = self.cast(rest, DType::F32);
        let r = self.mulc(rest, std::f64::consts::TAU * 2f64.powi(-32));
        let ahead = self.intc(Each::Add, quotient, 1);
        self.quarters(r, ahead)
    }

    /// The sine of a number of quarters of a turn, which an integer counts, and a remainder.
    fn quarters(&mut self, r: Value, quotient: Value) -> Value {
        let (sin, cos) = self.circle(r);
        let odd = self.intc(Each::And, quotient, 1);
        let odd = self.intc(Each::NotEqual, odd, 0);
        let y = self.select(odd, cos, sin);
        let down = self.intc(Each::And, quotient, 2);
        let down = self.intc(Each::NotEqual, down, 0);
        let minus = self.neg(y);
        self.select(down, minus, y)
    }

    /// Sine, or cosine as the sine a quarter of a turn ahead, of a magnitude.
    fn wave(&mut self, size: Value, ahead: i128) -> Value {
        let (r, quotient) = self.reduce(size);
        let quotient = if ahead == 0 { quotient } else { self.intc(Each::Add, quotient, ahead) };
        let y = self.quarters(r, quotient);
        self.where_finite(size, y)
    }

    pub(super) fn sin(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let y = self.wave(size, 0);
        self.with_sign(y, x)
    }

    pub(super) fn cos(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        self.wave(size, 1)
    }

    pub(super) fn tan(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let (r, quotient) = self.reduce(size);
        let (sin, cos) = self.circle(r);
        let odd = self.intc(Each::And, quotient, 1);
        let odd = self.intc(Each::NotEqual, odd, 0);
        let minus = self.neg(cos);
        let numerator = self.select(odd, minus, sin);
        let denominator = self.select(odd, sin, cos);
        let y = self.div(numerator, denominator);
        let y = self.where_finite(size, y);
        self.with_sign(y, x)
    }

    /// The angle of the point (x, y).
    pub(super) fn atan2(&mut self, y: Value, x: Value) -> Value {
        use std::f64::consts::FRAC_PI_4;
        let (width, height) = (self.abs(x), self.abs(y));
        let steep = self.less(width, height);
        let long = self.select(steep, height, width);
        let short = self.select(steep, width, height);
        let (zero, one, infinity) = (self.c(0.0), self.c(1.0), self.c(f64::INFINITY));
        // Both infinite is an eighth of a turn; the origin is none.
        let both = self.equal(short, infinity);
        let long = self.select(both, one, long);
        let short = self.select(both, one, short);
        let origin = self.equal(long, zero);
        let long = self.select(origin, one, long);
        // Sums must not overflow.
        let huge = self.c(self.by(2f64.powi(126), 2f64.powi(1022)));
        let is_huge = self.less(huge, long);
        let quarter = self.c(0.25);
        let scale = self.select(is_huge, quarter, one);
        let (long, short) = (self.mul(long, scale), self.mul(short, scale));
        // atan(q) = pi/4 + atan((q - 1) / (q + 1))
        let edge = self.mulc(long, 0.41421356237309503);
        let over = self.less(edge, short);
        let difference = self.sub(short, long);
        let sum = self.add(short, long);
        let numerator = self.select(over, difference, short);
        let denominator = self.select(over, sum, long);
        let t = self.div(numerator, denominator);
        let z = self.mul(t, t);
        let p = self.poly(z, self.by(ATAN32, ATAN64));
        let cube = self.mul(t, z);
        let rest = self.mul(cube, p);
        // The angle is a multiple of pi/4, as a sum of two, plus or minus t and the rest.
        let flip = self.is_negative(x);
        let eighth = self.select(over, one, zero);
        let two = self.c(2.0);
        let turned = self.sub(two, eighth);
        let eighths = self.select(steep, turned, eighth);
        let four = self.c(4.0);
        let opposite = self.sub(four, eighths);
        let eighths = self.select(flip, opposite, eighths);
        let downward = self.op(Each::NotEqual, &[steep, flip]);
        let (minus_t, minus_rest) = (self.neg(t), self.neg(rest));
        let t = self.select(downward, minus_t, t);
        let rest = self.select(downward, minus_rest, rest);
        let (high, low) = self.by(
            (f64::from(std::f32::consts::FRAC_PI_4), FRAC_PI_4 - f64::from(std::f32::consts::FRAC_PI_4)),
            (FRAC_PI_4, 6.123233995736766e-17 / 2.0),
        );
        let low = self.fmac(eighths, low, rest);
        let small = self.add(t, low);
        let angle = self.fmac(eighths, high, small);
        // -0 is what is left of 0 pi/4 - 0.
        let angle = self.abs(angle);
        let angle = self.with_sign(angle, y);
        let x_nan = self.op(Each::IsNan, &[x]);
        let y_nan = self.op(Each::IsNan, &[y]);
        let is_nan = self.op(Each::Or, &[x_nan, y_nan]);
        let nan = self.c(f64::NAN);
        self.select(is_nan, nan, angle)
    }
}
