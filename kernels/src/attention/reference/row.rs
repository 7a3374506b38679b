//! One row of O in f64.

use girih_codegen::attention::Tensor4;
use girih_tensor::{DType, Element};

use super::{Host, cut};
use crate::Error;
use crate::attention::{Array, Problem, Sequence};
use crate::gemm::half_of_least;
use girih_device::sizes::{rounded, size};

/// A row of O and its logsumexp, each with how far a kernel may be from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The row.
    pub output: Vec<f64>,
    /// The bound of each element.
    pub bounds: Vec<f64>,
    /// The logsumexp of the row to the base e; negative infinity if the query sees no key.
    pub lse: f64,
    /// The bound of the logarithm.
    pub lse_bound: f64,
}

impl Row {
    /// The row with a sink, whose logit joins the sum of exponentials. Kernels scale the quotients by the keys' share of the sum, which they compute from
    /// their logsumexp.
    fn joined(mut self, sink: f64) -> Row {
        if self.lse == f64::NEG_INFINITY {
            let lse_bound = if sink == self.lse { 0.0 } else { ROUNDED * (1.0 + sink.abs()) };
            return Row { lse: sink, lse_bound, ..self };
        }
        let (above, off) = (sink - self.lse, self.lse_bound + ROUNDED);
        let share = (1.0 + above.exp()).recip();
        // A difference is rounded relative to itself. A sink that has no share is exact.
        let error = if share == 1.0 { 0.0 } else { off + ROUNDED * above.abs() };
        let wrong = (share * (1.0 - share) * error.exp_m1()).min(1.0) + ROUNDED * (1.0 - share);
        for (output, bound) in self.output.iter_mut().zip(&mut self.bounds) {
            *bound = *bound * (share + wrong) + output.abs() * wrong;
            *output *= share;
        }
        let greatest = sink.max(self.lse);
        let joined = greatest + (-above.abs()).exp().ln_1p();
        Row { lse: joined, lse_bound: self.lse_bound + ROUNDED * (1.0 + joined.abs()), ..self }
    }
}

/// The row `row` of a sequence, in a head of queries, with the bounds that [`check`](super::check) describes.
///
/// # Errors
/// [`Error::BufferTooSmall`] if a slice does not hold its tensor; [`Error::Extent`] for a head or a row that there is not.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Diagonal, Host, Mask, Order, Problem, row};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 2, 2, 1])?.with_mask(Mask::causal(Diagonal::TopLeft))?;
/// let host = Host { q: &[0.0f32, 0.0], k: &[1.0, 1.0], v: &[2.0, f32::NAN], bias: &[], sinks: &[] };
/// let sequence = problem.sequences().next().ok_or("a batch")?;
/// let first = row(&problem, &host, &sequence, 0, 0)?;
/// assert_eq!((first.output, first.lse), (vec![2.0], 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn row<T: Element>(
    problem: &Problem,
    host: &Host<'_, T>,
    sequence: &Sequence,
    head: i64,
    row: i64,
) -> Result<Row, Error> {
    host.fits(problem)?;
    for (what, value, count) in [("head", head, problem.heads()), ("row", row, sequence.queries)] {
        if !(0..count).contains(&value) {
            return Err(Error::Extent { what, value, least: 0, most: count - 1 });
        }
    }
    Ok(Operands::default().row(problem, host, sequence, head, row))
}

/// The keys and values of a head of a sequence in f64, since many rows want the same.
#[derive(Debug, Default)]
pub(super) struct Operands {
    of: Option<(Sequence, i64)>,
    keys: Vec<f64>,
    values: Vec<f64>,
}

impl Operands {
    /// Finds the keys and values of a head, which stay what they are as long as the same head is asked for.
    fn find<T: Element>(&mut self, problem: &Problem, host: &Host<'_, T>, sequence: &Sequence, group: i64) {
        if self.of == Some((*sequence, group)) {
            return;
        }
        let rows = |array: Array, data: &[T]| -> Vec<f64> {
            let place =
                |row, column| size(array.offset(sequence.first_key + row, column, group, sequence.batch));
            let [_, columns, ..] = array.extents();
            let row = |row| (0..columns).map(move |column| data[place(row, column)].to_f64());
            (0..sequence.keys).flat_map(row).collect()
        };
        self.keys = rows(problem.array(Tensor4::K), host.k);
        self.values = rows(problem.array(Tensor4::V), host.v);
        self.of = Some((*sequence, group));
    }

    /// A row of O.
    pub(super) fn row<T: Element>(
        &mut self,
        problem: &Problem,
        host: &Host<'_, T>,
        sequence: &Sequence,
        head: i64,
        row: i64,
    ) -> Row {
        self.find(problem, host, sequence, head / (problem.heads() / problem.kv_heads()));
        let [dim, of_values] = [Tensor4::K, Tensor4::V].map(|tensor| size(problem.columns(tensor)));
        let array = problem.array(Tensor4::Q);
        let query: Vec<f64> = (0..problem.head_dim())
            .map(|column| {
                host.q[size(array.offset(sequence.first_query + row, column, head, sequence.batch))].to_f64()
            })
            .collect();
        let seen = problem.mask().keys(row, sequence.queries, sequence.keys);
        let scores: Vec<Score> = seen
            .clone()
            .map(|key| {
                let bias =
                    problem.bias().map(|bias| host.bias[size(bias.offset(row, key, head, sequence.batch))]);
                Score::new(problem, &query, &self.keys[size(key) * dim..][..dim], bias)
            })
            .collect();
        let values = self.values.chunks(of_values).skip(size(seen.start));
        let row = weighted(problem.dtype(), &scores, values, of_values);
        if problem.sinks() { row.joined(host.sinks[size(head)].into()) } else { row }
    }
}

/// A score, and what a kernel's may be wrong by.
struct Score {
    value: f64,
    wrong: f64,
}

impl Score {
    fn new(problem: &Problem, query: &[f64], key: &[f64], bias: Option<f32>) -> Score {
        let (mut value, mut size, mut quantum) = (0.0, 0.0f64, f64::INFINITY);
        for (q, k) in query.iter().zip(key) {
            let product = q * k;
            value += product;
            size += product.abs();
            quantum = quantum.min(lowest_bit(product));
        }
        let scale = f64::from(problem.scale());
        // Products that are multiples of one number are added up exactly while their sums have few bits, in whatever order.
        let mut wrong = match size {
            _ if size > f64::from(f32::MAX) => f64::INFINITY,
            _ if size <= quantum * EXACT => 0.0,
            _ => size * scale * cut(problem.dtype(), query.len() as f64),
        };
        value *= scale;
        if let Some(cap) = problem.softcap().map(f64::from) {
            // Of scores far beyond the cap an error is lost in it.
            wrong += ROUNDED * value.abs();
            wrong = cap * (((value + wrong) / cap).tanh() - ((value - wrong) / cap).tanh());
            value = cap * (value / cap).tanh();
            let tanh = if problem.dtype() == DType::F32 { ROUNDED } else { TANH };
            wrong += CAPPED * cap + tanh * value.abs();
        }
        if let Some(bias) = bias.map(f64::from) {
            value += bias;
            if value.is_finite() {
                // The sum is rounded to f32 towards zero, and so is at most its largest number.
                let most = f64::from(f32::MAX);
                value = value.clamp(-most, most);
                if f64::from(rounded(value)) != value {
                    wrong += 2.0 * DType::F32.epsilon() * value.abs();
                }
            }
        }
        Score { value, wrong }
    }
}

/// Sums of this many times what all of their terms are multiples of are exact in f32, on tensor cores too.
const EXACT: f64 = (1 << 22) as f64;

/// The largest power of two of which a number is a multiple: infinity for 0, and for what is no finite number.
fn lowest_bit(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return f64::INFINITY;
    }
    let bits = x.to_bits();
    // Products of floats of up to 32 bits are no subnormal numbers of f64.
    let zeros = (bits & ((1 << 52) - 1) | 1 << 52).trailing_zeros();
    f64::from_bits(((bits >> 52 & 0x7ff) - 52 + u64::from(zeros)) << 52)
}

/// A few roundings of f32, and the error of the hardware's powers of two.
const ROUNDED: f64 = 4.0 / (1 << 23) as f64;
/// The error of a cap's tanh, of which a power, a sum, a reciprocal and a difference each lose some units of the last place of 1.
const CAPPED: f64 = 1.0 / (1 << 21) as f64;
/// The relative error of the hardware's tanh, a little above 2^-10.987, by which 16-bit scores are capped on Hopper.
const TANH: f64 = 0.000_525;

/// The sum of a column of the values over the keys, for exponentials p, and its error bound.
#[derive(Clone, Copy, Default)]
struct Column {
    /// The sum of p v, and the largest size that it has on the way.
    sum: f64,
    most: f64,
    /// The sum of |v| times the errors of p.
    wrong: f64,
    /// The sums of (p v)^2 and of v^2.
    squares: f64,
    of_values: f64,
}

/// The values weighted by the exponentials of the scores.
fn weighted<'a>(dtype: DType, scores: &[Score], values: impl Iterator<Item = &'a [f64]>, dim: usize) -> Row {
    let largest = scores.iter().map(|score| score.value).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY && scores.iter().all(|score| !score.value.is_nan()) {
        return Row {
            output: vec![0.0; dim],
            bounds: vec![0.0; dim],
            lse: f64::NEG_INFINITY,
            lse_bound: 0.0,
        };
    }
    let (mut sum, mut wrong) = (0.0, 0.0);
    let mut columns = vec![Column::default(); dim];
    for (score, value) in scores.iter().zip(values) {
        let below = score.value - largest;
        let power = below.exp();
        // A difference of scores is rounded relative to itself. What is hidden has no error.
        let error = if score.value == f64::NEG_INFINITY { 0.0 } else { score.wrong + ROUNDED * below.abs() };
        let off = if error == 0.0 { 0.0 } else { (below + error).exp() - power };
        sum += power;
        wrong += off;
        for (column, v) in columns.iter_mut().zip(value) {
            // 0 times a value that is not finite is NaN.
            if power == 0.0 && off == 0.0 && v.is_finite() {
                continue;
            }
            let weighted = power * v;
            column.sum += weighted;
            column.most = column.most.max(column.sum.abs());
            column.wrong += if *v == 0.0 { 0.0 } else { v.abs() * off };
            column.squares += weighted * weighted;
            column.of_values += v * v;
        }
    }
    let (epsilon, least) = (dtype.epsilon(), half_of_least(dtype));
    let lost = cut(dtype, scores.len() as f64) + ROUNDED;
    let finish = |column: &Column| {
        let output = column.sum / sum;
        let powers = 4.0 * (epsilon * column.squares.sqrt() + least * column.of_values.sqrt()) / sum;
        // Kernels add up the keys from either end, or some of them first.
        let on_the_way = (column.most + column.sum.abs() + 4.0 * column.squares.sqrt()) / sum;
        let common = if output == 0.0 { 0.0 } else { output.abs() * wrong };
        let of_scores = (column.wrong + common) / sum;
        let bound =
            2.0 * epsilon * output.abs() + least + powers + lost * (on_the_way + output.abs()) + of_scores;
        (output, bound)
    };
    let (output, bounds) = columns.iter().map(finish).unzip();
    let lse = largest + sum.ln();
    let lse_bound = wrong / sum + lost + ROUNDED * (1.0 + lse.abs() + largest.abs());
    Row { output, bounds, lse, lse_bound }
}
