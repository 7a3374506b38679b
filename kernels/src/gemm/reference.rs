//! The reference check: each element of C is compared with a GEMM in f64.

use std::ops::Range;

use girih_codegen::Operand;
use girih_tensor::{DType, Element, Tf32};

use super::{Activation, Matrix, Problem};
use crate::Error;
use girih_device::sizes::{rounded, size, wide};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// How many elements were compared.
    pub compared: usize,
    /// How many elements C has, those of all products of a batch together.
    pub elements: usize,
    /// `||C - ref|| / ||ref||` over the compared elements (Frobenius norms), without those that are rightly infinite or NaN; NaN if C holds a NaN
    /// that is not right.
    pub relative_error: f64,
    /// The largest `|C - ref|` in units of the element's own bound.
    pub worst: f64,
    /// The row and the column of the element that `worst` is of, in the product of a batch that has it.
    pub worst_at: [i64; 2],
    /// How many elements of C's buffer were changed that are not elements of C: they are between C's rows and behind them.
    pub padding_written: usize,
}

impl Check {
    /// Whether every compared element is within its bound and nothing outside C was written.
    pub fn passed(&self) -> bool {
        // Comparisons with NaN are false.
        self.worst <= 1.0 && self.relative_error.is_finite() && self.padding_written == 0
    }
}

/// Above this many multiplications and additions, only sampled elements are compared.
const FULL: f64 = 1e9;
/// How many rows and how many columns are sampled in large problems: the first one, the last one, and some between them. The elements
/// where they cross are compared.
const SAMPLED: i64 = 96;
/// The same of the products of a batch.
const BATCHES: i64 = 5;

/// The bytes that [`check`] takes at once besides the matrices: the rows of A and the columns of B of a product that are compared in f64, and a mark
/// for each element of C's buffer.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem, reference_bytes};
/// use girih_tensor::DType;
///
/// // A mark for each element of C, and 96 sampled rows and columns at the most.
/// let bytes = reference_bytes(&Problem::new(DType::F32, [1 << 16, 1 << 16, 64], Layout::Tn)?);
/// assert!((1 << 32..(1 << 32) + (1 << 20)).contains(&bytes));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn reference_bytes(problem: &Problem) -> u64 {
    let sampled = problem.flops() > FULL;
    let [m, n, k] = problem.mnk();
    let lines = [m, n].map(|lines| if sampled { lines.min(SAMPLED) } else { lines });
    // Two numbers for each element; for each line a vector, what the allocator adds, and the number of the line.
    let line = k.saturating_mul(16).saturating_add(64);
    let lines = lines.into_iter().fold(0i64, |all, lines| all.saturating_add(lines.saturating_mul(line)));
    u64::try_from(lines.saturating_add(problem.c().span())).unwrap_or(0)
}

/// Compares `c` with `a * b` in f64, of a batch for each product.
///
/// An element's bound is `|C - ref| <= eps_out * |ref| + least_out + (4 * sqrt(K + 1) * 2^-24 + cut) * sum |a * b|`: one rounding to the
/// output type, in which `least_out` is half of the least number, and K roundings of f32 sums that go either way. (The worst case, K times one rounding, would hide a missing
/// product.) Tensor cores do not round their sums but cut them off, always the same way. Of floats of 16 bits and of tf32 they cut off up
/// to a unit of the last place at every 32 bytes of products, for which `cut` is `K / 16 * 2^-23` or `K / 8 * 2^-23`; else it is 0. Sums of
/// 8-bit floats keep fewer bits by `wgmma`, which cuts off every product by the size of the sum: the bound allows for `2^-10` of the
/// largest sum on the way at every 32 products; where sums are promoted ([`Problem::promotes`]), of the sums of 128 products. This is measured in `tests/gpu_sums.rs`, of 8-bit floats for K up to 4096.
///
/// Where a number of A or B is NaN or infinite and the sum therefore is, C must be so too. A C of f16, bf16, f32 or f64 is infinite where the sum
/// rounds to infinity, and may be where a number within the bound of the roundings of an accumulator does (8-bit floats saturate). An accumulator
/// that some order of the products takes beyond its own greatest number may have become infinite on the way, and NaN where that can happen
/// in both directions.
///
/// Sums of integers are exact: an s32 that is wrong by 1 is wrong. Another C is rounded to f32 and then to its own type. For f64, the bound
/// has `8 * sqrt(K + 1) * 2^-53`, since the reference rounds as the kernel does.
///
/// Products of tf32 are those of the nearest tf32 numbers. Where an element is halfway between two of them, either may be taken.
///
/// `poison` is what C's buffer held before the run. The elements of the buffer that are not elements of C must still hold it.
///
/// # Errors
/// [`Error::BufferTooSmall`] if a slice does not hold its matrix; [`Error::Gated`] and [`Error::Input`] for problems that other checks are for,
/// and for matrices at addresses of their own, each of which is that of a problem of one product.
pub fn check<T: Element, C: Element>(
    problem: &Problem,
    a: &[T],
    b: &[T],
    c: &[C],
    poison: Option<C>,
) -> Result<Check, Error> {
    compare([a, b], c, poison, &|found| check_values(problem, found))
}

fn check_values(problem: &Problem, found: Found<'_>) -> Result<Check, Error> {
    if problem.is_gated() {
        let found = String::from("a check of the product alone");
        return Err(Error::Gated { found, accepted: "`check_gated`, which is told the activation" });
    }
    if let Some(groups) = problem.groups() {
        let (found, accepted) = ("nothing".into(), format!("{} offsets, by `check_groups`", groups + 1));
        return Err(Error::Input { name: "offsets".into(), found, accepted });
    }
    let [m, _, _] = problem.mnk();
    let product = |l| Product { of: [l; 3], rows: 0..m };
    compare_values(problem, None, &(0..problem.batches()).map(product).collect::<Vec<_>>(), found)
}

/// The same for groups, which begin at `offsets`. Rows of C that no group has must still hold `poison`.
///
/// # Errors
/// As [`check`]; [`Error::Input`] for another number of offsets than one more than groups, and for a problem without groups.
pub fn check_groups<T: Element, C: Element>(
    problem: &Problem,
    offsets: &[u32],
    [a, b]: [&[T]; 2],
    c: &[C],
    poison: Option<C>,
) -> Result<Check, Error> {
    compare([a, b], c, poison, &|found| check_values_of_groups(problem, offsets, found))
}

fn check_values_of_groups(problem: &Problem, offsets: &[u32], found: Found<'_>) -> Result<Check, Error> {
    let wanted = problem.groups().map_or(0, |groups| size(groups) + 1);
    if offsets.len() != wanted {
        let (found, accepted) = (format!("{} offsets", offsets.len()), wanted.to_string());
        return Err(Error::Input { name: "offsets".into(), found, accepted });
    }
    let within = |offset: u32| i64::from(offset).min(problem.mnk()[0]);
    let pairs = offsets.windows(2).zip(0..);
    let group = |(pair, l): (&[u32], i64)| Product { of: [0, l, 0], rows: within(pair[0])..within(pair[1]) };
    compare_values(problem, None, &pairs.map(group).collect::<Vec<_>>(), found)
}

/// Compares a C of gated pairs, `C[m,j] = activation(P[m,2j]) * P[m,2j+1]`, with what f64 makes of the product P ([`Problem::gated`]).
///
/// An element's bound is one rounding to the output type, and for each of the two sums its bound of [`check`] times the other factor: no
/// activation is steeper than 1.13.
///
/// # Errors
/// As [`check`]; [`Error::Gated`] for a problem without gated pairs.
pub fn check_gated<T: Element, C: Element>(
    problem: &Problem,
    activation: Activation,
    a: &[T],
    b: &[T],
    c: &[C],
    poison: Option<C>,
) -> Result<Check, Error> {
    if !problem.is_gated() {
        return Err(Error::Gated { found: String::from("a C of N columns"), accepted: "`Problem::gated`" });
    }
    let product = |l| Product { of: [l; 3], rows: 0..problem.mnk()[0] };
    let products: Vec<Product> = (0..problem.batches()).map(product).collect();
    compare([a, b], c, poison, &|found| compare_values(problem, Some(activation), &products, found))
}

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

/// One product: which matrix it has of those of A, B and C, and the rows of A and C.
struct Product {
    of: [i64; 3],
    rows: Range<i64>,
}

/// Elements on the host, of a dtype that is known at run time, so that what compares them is compiled once.
#[derive(Clone, Copy)]
struct Values<'a> {
    len: usize,
    at: &'a dyn Fn(usize) -> f64,
}

fn reader<T: Element>(data: &[T]) -> impl Fn(usize) -> f64 {
    |i| data[i].to_f64()
}

/// The dtype of C, and the greatest number to which C is rounded.
#[derive(Clone, Copy)]
struct Rounding {
    dtype: DType,
    greatest: f64,
}

impl Rounding {
    fn of<C: Element>() -> Rounding {
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
struct Expected {
    value: f64,
    /// How far a finite element may be from it.
    bound: f64,
    /// Whether the element may be infinite, below and above 0, where the value is finite.
    infinite: [bool; 2],
    /// Whether it may be NaN there.
    nan: bool,
}

impl Expected {
    /// The difference of an element to its value, which is 0 of one that may be infinite or NaN and is, and the same in units of the bound.
    fn difference(&self, found: f64) -> [f64; 2] {
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

/// The root of a sum of squares. Squares of f64 may be beyond f64.
struct Norm {
    wide: bool,
    /// The sum of squares, or its root if `wide`.
    sum: f64,
}

impl Norm {
    fn of(rounding: Rounding) -> Norm {
        Norm { wide: rounding.dtype == DType::F64, sum: 0.0 }
    }

    fn add(&mut self, x: f64) {
        self.sum = if self.wide { self.sum.hypot(x) } else { self.sum + x * x };
    }

    fn root(&self) -> f64 {
        if self.wide { self.sum } else { self.sum.sqrt() }
    }
}

/// What is compared with the reference.
struct Found<'a> {
    a: Values<'a>,
    b: Values<'a>,
    c: Values<'a>,
    rounding: Rounding,
    /// Which elements of C's buffer no longer hold what they held before.
    written: Option<&'a dyn Fn(usize) -> bool>,
}

/// Calls a comparison that knows no types. This is compiled for each pair of dtypes of A and C.
fn compare<T: Element, C: Element>(
    [a, b]: [&[T]; 2],
    c: &[C],
    poison: Option<C>,
    compare: &dyn Fn(Found<'_>) -> Result<Check, Error>,
) -> Result<Check, Error> {
    let (of_a, of_b, of_c) = (reader(a), reader(b), reader(c));
    let written = poison.map(|poison| {
        move |i: usize| c[i] != poison && !(c[i].to_f64().is_nan() && poison.to_f64().is_nan())
    });
    compare(Found {
        a: Values { len: a.len(), at: &of_a },
        b: Values { len: b.len(), at: &of_b },
        c: Values { len: c.len(), at: &of_c },
        rounding: Rounding::of::<C>(),
        written: written.as_ref().map(|written| written as &dyn Fn(usize) -> bool),
    })
}

/// Compares C with the products, or with what `activation` makes of pairs of their columns.
fn compare_values(
    problem: &Problem,
    activation: Option<Activation>,
    products: &[Product],
    Found { a, b, c, rounding, written }: Found<'_>,
) -> Result<Check, Error> {
    if let Some(count) = problem.pointers() {
        let accepted = "`check` of each product for `Problem::batched(1, [None; 3])`";
        return Err(Error::Input {
            name: "C".into(),
            found: format!("one of {count}"),
            accepted: accepted.into(),
        });
    }
    problem.a().fits("A", a.len)?;
    problem.b().fits("B", b.len)?;
    problem.c().fits("C", c.len)?;
    let [_, _, k] = problem.mnk();
    // Columns of C, and how many of the product each is made of.
    let [_, n] = problem.c().extents();
    let width = if activation.is_some() { 2 } else { 1 };
    let sampled = problem.flops() > FULL;
    let columns = chosen(n, sampled, SAMPLED);
    let height = |product: &Product| (product.rows.end - product.rows.start).max(0);
    let mut out = Check {
        compared: 0,
        elements: products.iter().map(|product| size(height(product) * n)).sum(),
        relative_error: 0.0,
        worst: 0.0,
        worst_at: [0, 0],
        padding_written: written.map_or(0, |written| padding_written(problem, products, c.len, written)),
    };
    let (mut difference, mut norm) = (Norm::of(rounding), Norm::of(rounding));
    let losses = Losses::of(problem);
    for l in chosen(products.len() as i64, sampled, BATCHES) {
        let product = &products[size(l)];
        let rows = chosen(height(product), sampled, SAMPLED);
        let rows: Vec<i64> = rows.into_iter().map(|row| product.rows.start + row).collect();
        out.compared += rows.len() * columns.len();
        let [of_a, of_b, of_c] = product.of;
        let lines = |matrix: &Matrix, data: Values<'_>, l: i64, chosen: &[i64]| -> Vec<Vec<[f64; 2]>> {
            let element = |x, i| multiplied(problem.dtype(), (data.at)(size(matrix.offset_in(x, i, l))));
            chosen.iter().map(|&x| (0..k).map(|i| element(x, i)).collect()).collect()
        };
        let own: Vec<i64> = columns.iter().flat_map(|y| (0..width).map(move |i| y * width + i)).collect();
        let (left, right) = (lines(&problem.a(), a, of_a, &rows), lines(&problem.b(), b, of_b, &own));
        for (&x, row) in rows.iter().zip(&left) {
            for (&y, own) in columns.iter().zip(right.chunks(size(width))) {
                let expected = match (activation, own) {
                    (Some(activation), [gate, up]) => losses.gated(rounding, activation, row, [gate, up]),
                    _ => own.first().map_or(Expected::default(), |column| losses.sum(rounding, row, column)),
                };
                let found = (c.at)(size(problem.c().offset_in(x, y, of_c)));
                let [error, excess] = expected.difference(found);
                if excess > out.worst || excess.is_nan() {
                    (out.worst, out.worst_at) = (excess, [x, y]);
                }
                if out.worst.is_nan() {
                    out.relative_error = f64::NAN;
                    return Ok(out);
                }
                difference.add(error);
                if expected.value.is_finite() {
                    norm.add(expected.value);
                }
            }
        }
    }
    out.relative_error = if difference.sum == 0.0 { 0.0 } else { difference.root() / norm.root() };
    Ok(out)
}

/// An operand with scales as [`check`] takes it: each number times its scale, where the operand's own elements are. An operand without scales
/// goes there as f32 too. Products of these in f64 are what C's elements are compared with, and the bounds are those of the problem's dtype.
///
/// # Errors
/// [`Error::BufferTooSmall`] if a slice does not hold its matrix.
pub fn dequantized<W: Element, S: Element>(
    problem: &Problem,
    operand: Operand,
    numbers: &[W],
    scales: &[S],
) -> Result<Vec<f32>, Error> {
    let (matrix, name) = if operand == Operand::B { (problem.b(), "B") } else { (problem.a(), "A") };
    matrix.fits(name, numbers.len())?;
    let [extent, k] = matrix.extents();
    let (needed, pitch) = (problem.scales(operand), problem.pitch_of_scales(operand));
    if wide(needed) > scales.len() as u64 {
        return Err(Error::BufferTooSmall { matrix: "scales", needed, len: scales.len() });
    }
    let mut out: Vec<f32> = numbers.iter().map(|x| rounded(x.to_f64())).collect();
    let Some((_, [rows, group])) = problem.scaling(operand).filter(|_| needed > 0) else { return Ok(out) };
    for (x, i) in (0..extent).flat_map(|x| (0..k).map(move |i| (x, i))) {
        let scale = scales[size(i / group * pitch + x / rows)].to_f64();
        let at = size(matrix.offset(x, i));
        out[at] = rounded(numbers[at].to_f64() * scale);
    }
    Ok(out)
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
struct Losses {
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
    fn of(problem: &Problem) -> Losses {
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
    fn gated(
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
    fn sum(&self, rounding: Rounding, row: &[[f64; 2]], column: &[[f64; 2]]) -> Expected {
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
fn multiplied(dtype: DType, element: f64) -> [f64; 2] {
    if dtype != DType::Tf32 || !element.is_finite() {
        return [element; 2];
    }
    let (even, bits) = (Tf32::from_f64(element).to_f64(), rounded(element).to_bits());
    // The 13 lowest bits of an f32 are not those of a tf32.
    let away = f32::from_bits(bits.wrapping_add(1 << 12) & !0x1fff);
    [even, away.into()]
}

/// The numbers of the rows or columns that are compared: all of `0..extent`, or a sample that has both ends and is spread by steps that
/// are no multiple of a tile.
fn chosen(extent: i64, sampled: bool, most: i64) -> Vec<i64> {
    if !sampled || extent <= most {
        return (0..extent).collect();
    }
    let mut out: Vec<i64> = (0..most).map(|i| i * (extent - 1) / (most - 1)).collect();
    out.dedup();
    out
}

/// How many elements of C's buffer, which has `len`, are not elements of C and were written.
fn padding_written(
    problem: &Problem,
    products: &[Product],
    len: usize,
    written: &dyn Fn(usize) -> bool,
) -> usize {
    let (layout, extents) = (problem.c(), problem.c().extents());
    if layout.batches() > 1 || problem.groups().is_some() {
        let mut own = vec![false; len];
        for (l, x) in products.iter().flat_map(|product| product.rows.clone().map(|x| (product.of[2], x))) {
            (0..extents[1]).for_each(|y| own[size(layout.offset_in(x, y, l))] = true);
        }
        return own.iter().enumerate().filter(|(i, own)| !**own && written(*i)).count();
    }
    let [lines, row] = [1 - layout.contiguous(), layout.contiguous()].map(|mode| size(extents[mode]));
    let pitch = size(layout.ld().max(1));
    let behind = |line: usize| {
        let begin = line * pitch + if line < lines { row } else { 0 };
        begin..((line + 1) * pitch).min(len)
    };
    (0..len.div_ceil(pitch)).flat_map(behind).filter(|&i| written(i)).count()
}
