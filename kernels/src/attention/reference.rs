//! The reference check: rows of O are compared with attention in f64.

mod row;

use girih_codegen::attention::Tensor4;
use girih_tensor::{DType, Element};

use super::Problem;
use crate::Error;
use crate::gemm::half_of_least;
use girih_device::sizes::{size, wide};

use row::Operands;
pub use row::{Row, row};

/// The inputs of a problem, on the host.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a, T> {
    /// The buffer of Q.
    pub q: &'a [T],
    /// The buffer of K.
    pub k: &'a [T],
    /// The buffer of V.
    pub v: &'a [T],
    /// The buffer of the bias, each element as f32; not looked at without a bias.
    pub bias: &'a [f32],
    /// The sinks, (Head); not looked at without sinks.
    pub sinks: &'a [f32],
}

impl<T> Host<'_, T> {
    /// Checks that the slices hold what the problem reads.
    fn fits(&self, problem: &Problem) -> Result<(), Error> {
        for (tensor, len) in
            [(Tensor4::Q, self.q.len()), (Tensor4::K, self.k.len()), (Tensor4::V, self.v.len())]
        {
            problem.array(tensor).fits(tensor.name(), len)?;
        }
        for (matrix, needed, len) in
            [("bias", problem.bias_len(), self.bias.len()), ("sinks", problem.sinks_len(), self.sinks.len())]
        {
            if wide(needed) > len as u64 {
                return Err(Error::BufferTooSmall { matrix, needed, len });
            }
        }
        Ok(())
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// How many rows of heads were compared.
    pub compared: usize,
    /// How many rows of heads O has.
    pub rows: usize,
    /// `||O - ref|| / ||ref||` over the compared elements (Frobenius norms) whose reference is a finite number; NaN if O holds one among these.
    pub relative_error: f64,
    /// The Frobenius norm of the reference over these elements.
    pub norm: f64,
    /// The Frobenius norm of their bounds, without the least number of O's type in each.
    pub bound_norm: f64,
    /// The largest `|O - ref|`.
    pub largest: f64,
    /// The largest `|O - ref|` in units of the element's own bound.
    pub worst: f64,
    /// The sequence, head, row in its sequence, and column that `worst` is of.
    pub worst_at: [i64; 4],
    /// The largest difference of a logarithm of a sum in units of its own bound: 0 where they are not written.
    pub worst_lse: f64,
    /// The sequence, head and row that `worst_lse` is of.
    pub worst_lse_at: [i64; 3],
    /// How many elements of the buffers of O and of the logarithms were changed that belong to no row.
    pub padding_written: usize,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Every compared element is within its bound, and nothing else was written.
    Passed,
    /// An element is beyond its bound, is NaN where the reference is a number or the other way round, or something else was written.
    Failed,
    /// The bounds are too wide to tell right from wrong: their norm is more than a tenth of the result's. Kernels add up scores in f32, and scores
    /// far apart that are large round away what decides between them.
    CannotJudge {
        /// The norm of the bounds.
        bound: f64,
        /// The norm of the reference.
        norm: f64,
    },
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Passed => write!(f, "passed"),
            Verdict::Failed => write!(f, "failed"),
            Verdict::CannotJudge { bound, norm } => write!(
                f,
                "this check cannot judge: the bounds have norm {bound:.3e}, more than a tenth of the result's, {norm:.3e}; smaller scores are accepted, or \
                 scores that f32 adds up exactly"
            ),
        }
    }
}

impl Check {
    /// Whether every compared element is within its bound, that bound says something, and nothing else was written.
    pub fn passed(&self) -> bool {
        self.verdict() == Verdict::Passed
    }

    /// The result in a word.
    pub fn verdict(&self) -> Verdict {
        // Comparisons with NaN are false.
        let within = self.worst <= 1.0 && self.worst_lse <= 1.0 && self.relative_error.is_finite();
        let judges = self.bound_norm <= JUDGED * self.norm;
        match (self.padding_written, judges, within) {
            (1.., ..) | (0, true, false) => Verdict::Failed,
            (0, true, true) => Verdict::Passed,
            (0, false, _) => Verdict::CannotJudge { bound: self.bound_norm, norm: self.norm },
        }
    }

    /// Takes up an element of O or a logarithm with its bound.
    fn take(worst: &mut f64, found: f64, wanted: f64, bound: f64) -> bool {
        let error = (found - wanted).abs();
        // Equal infinities have no difference, and what is not a number by its definition is none. Whatever else is not finite has no bound.
        let excess = match found == wanted || found.is_nan() && wanted.is_nan() {
            true => 0.0,
            false if !wanted.is_finite() => f64::INFINITY,
            false => error / bound,
        };
        let larger = excess > *worst || excess.is_nan();
        if larger && !worst.is_nan() {
            *worst = excess;
        }
        larger
    }
}

/// The largest norm of bounds that say something, in units of the result's norm.
const JUDGED: f64 = 0.1;
/// Above this many multiplications and additions, only sampled rows are compared.
const FULL: f64 = 5e8;
/// How many rows are compared in large problems: the first one, the last one, and some between them.
const SAMPLED: usize = 192;

/// Compares `o`, and the logsumexps if the problem has them, with attention in f64.
///
/// An element's bound is `2 eps |O| + least` for the rounding to O's type, `4 (eps |p v|_2 + least |v|_2) / l` for the roundings of the exponentials p, whose sum is
/// l, to the dtype, which go either way, `(4 sqrt(n + 1) 2^-24 + n 2^-27) (A / l + |O|)` for sums of n keys in f32, which tensor cores cut off, where A is the
/// largest sum on the way, and `sum |v| (p' - p) / l + |O| sum (p' - p) / l`, where p' is the power of a score that is larger by d, what it may be wrong by:
/// `(4 sqrt(dim + 1) 2^-24 + dim 2^-27)` of the sum of sizes of its products, 0 where these are multiples of one number and their sizes
/// together are at most 2^22 of it, since f32 adds such products up exactly; 2^-21 of its difference to the row's largest score, since that is rounded before it is
/// scaled; 2^-23 of the sum with a bias, where f32 does not represent it; and with a cap 2^-21 of the cap and, of 16-bit operands, 2^-10.9 of the score, since the
/// hardware's tanh has 11 bits. (Exponentials rounded all one way, the worst case, would hide a missing key.)
///
/// Where the bounds' norm is more than a tenth of the result's the check says nothing, and does not pass ([`Verdict::CannotJudge`]).
///
/// A row is NaN where its definition is: where it sees a key whose score or value is not a number.
///
/// `poison` is what O's buffer held before the run, and NaN what that of the logarithms held: what belongs to no row must still hold it.
///
/// # Errors
/// [`Error::BufferTooSmall`] if a slice does not hold its tensor.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Host, Order, Problem, check};
/// use girih_tensor::DType;
///
/// // One query, which weighs two keys equally.
/// let problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 1, 2, 1])?;
/// let host = Host { q: &[0.0f32], k: &[1.0, 5.0], v: &[2.0, 4.0], bias: &[], sinks: &[] };
/// assert!(check(&problem, &host, &[3.0f32], &[], None)?.passed());
/// assert!(!check(&problem, &host, &[3.001f32], &[], None)?.passed());
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn check<T: Element>(
    problem: &Problem,
    host: &Host<'_, T>,
    o: &[T],
    lse: &[f32],
    poison: Option<T>,
) -> Result<Check, Error> {
    host.fits(problem)?;
    let array = problem.array(Tensor4::O);
    array.fits("o", o.len())?;
    let needed = problem.lse_len();
    if wide(needed) > lse.len() as u64 {
        return Err(Error::BufferTooSmall { matrix: "lse", needed, len: lse.len() });
    }
    let rows = size(problem.sequences().map(|sequence| sequence.queries * problem.heads()).sum::<i64>());
    let mut out = Check {
        compared: 0,
        rows,
        relative_error: 0.0,
        norm: 0.0,
        bound_norm: 0.0,
        largest: 0.0,
        worst: 0.0,
        worst_at: [0; 4],
        worst_lse: 0.0,
        worst_lse_at: [0; 3],
        padding_written: padding_written(problem, o, lse, poison),
    };
    let all = rows <= SAMPLED || problem.flops() <= FULL;
    let mut chosen: Box<dyn Iterator<Item = usize>> =
        if all { Box::new(0..rows) } else { Box::new((0..SAMPLED).map(|i| i * (rows - 1) / (SAMPLED - 1))) };
    let mut next = chosen.next();
    let least = half_of_least(problem.dtype());
    let (mut begin, mut difference, mut norm, mut bounds) = (0, 0.0, 0.0, 0.0);
    let mut operands = Operands::default();
    for (number, sequence) in (0..).zip(problem.sequences()) {
        for head in 0..problem.heads() {
            let end = begin + size(sequence.queries);
            while let Some(at) = next.filter(|&at| at < end) {
                let row = (at - begin) as i64;
                let wanted = operands.row(problem, host, &sequence, head, row);
                let place =
                    |column| size(array.offset(sequence.first_query + row, column, head, sequence.batch));
                for (column, (value, bound)) in (0..).zip(wanted.output.iter().zip(&wanted.bounds)) {
                    let found = o[place(column)].to_f64();
                    if Check::take(&mut out.worst, found, *value, *bound) {
                        out.worst_at = [number, head, row, column];
                    }
                    if !value.is_finite() {
                        continue;
                    }
                    difference += (found - value).powi(2);
                    norm += value * value;
                    bounds += (bound - least).max(0.0).powi(2);
                    out.largest = out.largest.max((found - value).abs());
                }
                if problem.lse() {
                    let found =
                        lse[size(problem.lse_offset(sequence.first_query + row, head, sequence.batch))];
                    if Check::take(&mut out.worst_lse, found.into(), wanted.lse, wanted.lse_bound) {
                        out.worst_lse_at = [number, head, row];
                    }
                }
                out.compared += 1;
                next = chosen.next();
            }
            begin = end;
        }
    }
    out.relative_error = if difference == 0.0 { 0.0 } else { (difference / norm).sqrt() };
    (out.norm, out.bound_norm) = (norm.sqrt(), bounds.sqrt());
    Ok(out)
}

/// How many elements of the buffers that belong to no row no longer hold what they held.
fn padding_written<T: Element>(problem: &Problem, o: &[T], lse: &[f32], poison: Option<T>) -> usize {
    let Some(poison) = poison else { return 0 };
    let written = |x: &T| *x != poison && !(x.to_f64().is_nan() && poison.to_f64().is_nan());
    let (mut own, mut own_lse) = (vec![false; o.len()], vec![false; lse.len()]);
    let array = problem.array(Tensor4::O);
    for sequence in problem.sequences() {
        for (head, row) in
            (0..problem.heads()).flat_map(|head| (0..sequence.queries).map(move |row| (head, row)))
        {
            let at = size(array.offset(sequence.first_query + row, 0, head, sequence.batch));
            own[at..at + size(problem.columns(Tensor4::O))].fill(true);
            if problem.lse() {
                own_lse[size(problem.lse_offset(sequence.first_query + row, head, sequence.batch))] = true;
            }
        }
    }
    let of_o = o.iter().zip(own).filter(|(x, own)| !own && written(x)).count();
    of_o + lse.iter().zip(own_lse).filter(|(x, own)| !own && !x.is_nan()).count()
}

/// The error bound of the dtype's tensor cores: sums of 16-bit floats are truncated every 16 products, those of f32 rounded.
fn cut(dtype: DType, products: f64) -> f64 {
    let rounded = 4.0 * (products + 1.0).sqrt() * DType::F32.epsilon();
    if dtype == DType::F32 { rounded } else { rounded + products / 16.0 * 2.0 * DType::F32.epsilon() }
}
