//! The reference check: each element of C is compared with a GEMM in f64.

mod expected;

use std::ops::Range;

use girih_codegen::Operand;
use girih_tensor::{DType, Element};

use super::{Activation, Matrix, Problem};
use crate::Error;
pub(crate) use expected::half_of_least;
use expected::{Expected, Losses, Rounding, multiplied};
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
