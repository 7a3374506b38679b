//! What an element of C is to be in f64, and how far it may be from it.

use girih_device::sizes::{rounded, size};
use girih_tensor::{DType, Element, Tf32};

use crate::gemm::{Activation, Problem};

/// The steepest that an activation is, and how far it may be from the function that it approximates.
const STEEPEST: f64 = 1.13;
const APPROXIMATED: f64 = 1e-6;

/// An activation in f64.
fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => {
            let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            x / 2.0 * (1.0 + u.tanh())
        }
        Activation::GeluErf => x * normal(x),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// The integral of the density of the normal distribution up to `x`, by Simpson's rule.
fn normal(x: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (from, steps) = (-12.0f64, 2000);
    let width = (x.clamp(from, 12.0) - from) / f64::from(steps);
    let term = |i: i32| {
        let at = from + f64::from(i) * width;
        (density(at) + 4.0 * density(at + width / 2.0) + density(at + width)) * width / 6.0
    };
    (0..steps).map(term).sum()
}

/// The dtype of C, and the greatest number to which C is rounded.
#[derive(Clone, Copy)]
pub(super) struct Rounding {
    pub(super) dtype: DType,
    greatest: f64,
}

impl Rounding {
    pub(super) fn of<C: Element>() -> Rounding {
        Rounding { dtype: C::DTYPE, greatest: C::from_f64(f64::INFINITY).to_f64() }
    }
}

/// The least number that rounds to infinity: half a step beyond the greatest one. 8-bit floats saturate, and integers of 32 bits hold all
/// sums of a problem. Of f64 the reference itself becomes infinite.
fn overflows(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65520.0,
        DType::Bf16 => 2f64.powi(128) - 2f64.powi(119),
        DType::F32 => 2f64.powi(128) - 2f64.powi(103),
        DType::F64 => f64::MAX,
        _ => f64::INFINITY,
    }
}

/// What an element of C is compared with.
#[derive(Clone, Copy, Default)]
pub(super) struct Expected {
    pub(super) value: f64,
    /// How far a finite element may be from it.
    bound: f64,
    /// Whether the element may be infinite, below and above 0, where the value is finite.
    infinite: [bool; 2],
    /// Whether it may be NaN there.
    nan: bool,
}

impl Expected {
    /// The difference of an element to its value, which is 0 of one that may be infinite or NaN and is, and the same in units of the bound.
    pub(super) fn difference(&self, found: f64) -> [f64; 2] {
        let [below, above] = self.infinite;
        let right = match found {
            _ if found.is_nan() => self.nan,
            f64::INFINITY => self.value == found || above,
            f64::NEG_INFINITY => self.value == found || below,
            // A finite element where NaN or infinity is right is as wrong as can be.
            _ if !self.value.is_finite() => return [f64::INFINITY; 2],
            _ => false,
        };
        let error = if right { 0.0 } else { (found - self.value).abs() };
        [error, if error == 0.0 { 0.0 } else { error / self.bound }]
    }
}

/// The number that C is to hold for a sum, before it is rounded.
fn wanted(Rounding { dtype, greatest }: Rounding, sum: f64) -> f64 {
    if dtype.is_narrow_float() { sum.clamp(-greatest, greatest) } else { sum }
}

/// Half the distance from 0 to the next number of a narrow float.
pub(crate) fn half_of_least(dtype: DType) -> f64 {
    dtype.float().filter(|float| float.exponent < 8).map_or(0.0, |float| float.least() / 2.0)
}

/// What sums may lose.
pub(super) struct Losses {
    /// In units of the sum.
    of_sum: f64,
    /// In units of the sum of the sizes of the products.
    of_products: f64,
    /// In units of the largest sum on the way.
    of_sums: f64,
    /// The products after which such a sum begins anew.
    anew: usize,
    /// Whether an element may be halfway between two numbers that are multiplied.
    halfway: bool,
    /// The least number that the accumulators round to infinity.
    overflows: f64,
}

impl Losses {
    pub(super) fn of(problem: &Problem) -> Losses {
        let (k, dtype) = (problem.mnk()[2] as f64, problem.dtype());
        let (steps, roundings) = (k * f64::from(dtype.bits()) / 256.0, 4.0 * (k + 1.0).sqrt());
        let rounded = roundings * problem.sums().epsilon();
        let anew = if problem.promotes() { 128 } else { size(problem.mnk()[2].max(1)) };
        let [of_sum, of_products, of_sums] = match dtype {
            DType::F32 => [0.0, rounded, 0.0],
            // The reference rounds as well.
            DType::F64 => [0.0, 2.0 * rounded, 0.0],
            _ if dtype.is_narrow_float() => [0.0, rounded, (anew as f64 / 32.0).ceil() * 2f64.powi(-10)],
            // Sums are exact, and become f32 before they become another float.
            DType::S8 if problem.output() == DType::S32 => [0.0; 3],
            DType::S8 => [DType::F32.epsilon(), 0.0, 0.0],
            _ => [0.0, rounded + steps * 2.0 * problem.sums().epsilon(), 0.0],
        };
        let overflows = overflows(problem.sums());
        Losses { of_sum, of_products, of_sums, anew, halfway: dtype == DType::Tf32, overflows }
    }

    /// What an activation makes of a row and two columns, and how far an element of C may be from it.
    pub(super) fn gated(
        &self,
        rounding: Rounding,
        activation: Activation,
        row: &[[f64; 2]],
        [gate, up]: [&Vec<[f64; 2]>; 2],
    ) -> Expected {
        let factors = [gate, up].map(|column| self.sum(Rounding::of::<f32>(), row, column));
        let [(gate, of_gate), (up, of_up)] = factors.map(|factor| (factor.value, factor.bound));
        let gate = activated(activation, gate);
        let of_gate = STEEPEST * of_gate + APPROXIMATED * (1.0 + gate.abs());
        let wanted = wanted(rounding, gate * up);
        let bound = rounding.dtype.epsilon() * wanted.abs() + half_of_least(rounding.dtype);
        let computed = of_gate * (up.abs() + of_up) + of_up * gate.abs();
        let most = wanted.abs() + computed;
        let lost = factors.iter().any(|factor| factor.nan || factor.infinite != [false; 2]);
        let infinite = lost || most >= overflows(rounding.dtype);
        let nan = lost || wanted.is_nan();
        Expected { value: wanted, bound: 2.0 * bound + computed, infinite: [infinite; 2], nan }
    }

    /// The sum of the products of a row and a column, and how far an element of C may be from it.
    pub(super) fn sum(&self, rounding: Rounding, row: &[[f64; 2]], column: &[[f64; 2]]) -> Expected {
        let (mut sum, mut scale, mut either) = (0.0, 0.0, 0.0);
        // Of sums that begin anew, the largest ones on the way, added up.
        let mut on_the_way = 0.0;
        for (row, column) in row.chunks(self.anew).zip(column.chunks(self.anew)) {
            // Whichever way a kernel goes through K, no sum on the way is larger than from the least of these to the greatest.
            let (mut own, mut least, mut greatest) = (0.0f64, 0.0f64, 0.0f64);
            for ([p, other_p], [q, other_q]) in row.iter().zip(column) {
                own += p * q;
                scale += (p * q).abs();
                if self.halfway {
                    either += (p * q - other_p * other_q).abs();
                }
                if self.of_sums > 0.0 {
                    // As `min` and `max` do, in an instruction each.
                    least = if own < least { own } else { least };
                    greatest = if own > greatest { own } else { greatest };
                }
            }
            sum += own;
            on_the_way += greatest - least;
        }
        // The sizes of products may add up to more than f64 holds where the sum does not.
        scale = scale.min(f64::MAX);
        let computed = self.of_products * scale + self.of_sums * on_the_way + either;
        // Of the products that are above 0 alone, and of those below, no order of them makes a larger sum.
        let [above, below] = [scale / 2.0 + sum / 2.0, scale / 2.0 - sum / 2.0].map(|part| part + computed);
        let on_the_way = [below, above].map(|part| part >= self.overflows);
        let limit = overflows(rounding.dtype);
        let lost = computed + self.of_sum * sum.abs();
        let infinite = [lost - sum >= limit || on_the_way[0], lost + sum >= limit || on_the_way[1]];
        if !sum.is_finite() && row.iter().chain(column).flatten().all(|x| x.is_finite()) {
            // The sum is beyond f64, the dtype of this reference, and by which way depends on the order of the products.
            let any = |sign: f64| row.iter().zip(column).any(|([p, _], [q, _])| p * q * sign > 0.0);
            let infinite = [any(-1.0), any(1.0)];
            return Expected { value: f64::NAN, bound: 0.0, infinite, nan: infinite == [true; 2] };
        }
        let value = wanted(rounding, sum);
        let bound = (rounding.dtype.epsilon() + self.of_sum) * value.abs() + half_of_least(rounding.dtype);
        let nan = value.is_nan() || on_the_way == [true; 2];
        Expected { value, bound: bound + computed, infinite, nan }
    }
}

/// The number as which an element of A or B is multiplied, and the other number that is as near, if there are two of them.
pub(super) fn multiplied(dtype: DType, element: f64) -> [f64; 2] {
    if dtype != DType::Tf32 || !element.is_finite() {
        return [element; 2];
    }
    let (even, bits) = (Tf32::from_f64(element).to_f64(), rounded(element).to_bits());
    // The 13 lowest bits of an f32 are not those of a tf32.
    let away = f32::from_bits(bits.wrapping_add(1 << 12) & !0x1fff);
    [even, away.into()]
}
