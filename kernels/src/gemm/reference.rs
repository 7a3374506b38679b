//! The judge: C against f64 sums, element by element.

use girih_tensor::{DType, Element};

use super::{Matrix, Problem};

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// Elements compared.
    pub compared: usize,
    /// Elements of C in all.
    pub elements: usize,
    /// `||C - ref|| / ||ref||` over the compared elements (Frobenius norms); NaN if C holds one.
    pub relative_error: f64,
    /// The largest `|C - ref|` in units of the element's own bound.
    pub worst: f64,
    /// Where the worst element is.
    pub worst_at: [i64; 2],
    /// Elements of the padding between rows of C that were changed.
    pub padding_written: usize,
}

impl Check {
    /// Whether every compared element is within its bound and nothing outside C was written.
    pub fn passed(&self) -> bool {
        // A NaN passes no comparison.
        self.worst <= 1.0 && self.relative_error.is_finite() && self.padding_written == 0
    }
}

/// Above this many multiplications, only sampled elements are compared.
const FULL: f64 = 1e9;
/// Rows and columns whose crossings are compared in large problems: the first, the last, and some between.
const SAMPLED: i64 = 96;

/// Compares `c` with `a * b` in f64.
///
/// An element's bound is `|C - ref| <= eps_out * |ref| + 4 * sqrt(K + 1) * 2^-24 * sum |a * b|`: one rounding to the
/// output type, and K roundings of f32 sums that go either way (the worst case, K times as much as one, would hide a
/// missing product). `poison` is what C's buffer held before the run:
/// the padding between rows must still hold it.
pub fn check<T: Element>(problem: &Problem, a: &[T], b: &[T], c: &[T], poison: Option<T>) -> Check {
    let [m, n, k] = problem.mnk();
    let sampled = 2.0 * m as f64 * n as f64 * k as f64 > FULL;
    let rows = chosen(m, sampled);
    let columns = chosen(n, sampled);
    let lines = |matrix: &Matrix, data: &[T], chosen: &[i64]| -> Vec<Vec<f64>> {
        let line = |&x: &i64| (0..k).map(|i| data[matrix.offset(x, i) as usize].to_f64()).collect();
        chosen.iter().map(line).collect()
    };
    let (left, right) = (lines(&problem.a, a, &rows), lines(&problem.b, b, &columns));
    let mut out = Check {
        compared: rows.len() * columns.len(),
        elements: (m * n) as usize,
        relative_error: 0.0,
        worst: 0.0,
        worst_at: [0, 0],
        padding_written: padding_written(problem, c, poison),
    };
    let (mut difference, mut norm) = (0.0, 0.0);
    let accumulate = 4.0 * (k as f64 + 1.0).sqrt() * DType::F32.epsilon();
    for (&x, row) in rows.iter().zip(&left) {
        for (&y, column) in columns.iter().zip(&right) {
            let (mut sum, mut scale) = (0.0, 0.0);
            for (p, q) in row.iter().zip(column) {
                sum += p * q;
                scale += (p * q).abs();
            }
            let error = (c[problem.c.offset(x, y) as usize].to_f64() - sum).abs();
            let bound = problem.dtype.epsilon() * sum.abs() + accumulate * scale;
            let excess = if error == 0.0 { 0.0 } else { error / bound };
            if excess > out.worst || excess.is_nan() {
                (out.worst, out.worst_at) = (excess, [x, y]);
            }
            if out.worst.is_nan() {
                out.relative_error = f64::NAN;
                return out;
            }
            difference += error * error;
            norm += sum * sum;
        }
    }
    out.relative_error = if difference == 0.0 { 0.0 } else { (difference / norm).sqrt() };
    out
}

/// All of `0..extent`, or some of it: the ends, and a spread that no tile size divides.
fn chosen(extent: i64, sampled: bool) -> Vec<i64> {
    if !sampled || extent <= SAMPLED {
        return (0..extent).collect();
    }
    let mut out: Vec<i64> = (0..SAMPLED).map(|i| i * (extent - 1) / (SAMPLED - 1)).collect();
    out.dedup();
    out
}

/// Elements between C's rows that no longer hold `poison`.
fn padding_written<T: Element>(problem: &Problem, c: &[T], poison: Option<T>) -> usize {
    let Some(poison) = poison else { return 0 };
    let c_matrix = &problem.c;
    let row = c_matrix.extents[c_matrix.contiguous] as usize;
    let same = |x: &T| *x == poison || (x.to_f64().is_nan() && poison.to_f64().is_nan());
    if row == 0 || c_matrix.extents[1 - c_matrix.contiguous] == 0 {
        return c.iter().filter(|x| !same(x)).count();
    }
    c.chunks(c_matrix.ld as usize).flat_map(|line| line.iter().skip(row)).filter(|x| !same(x)).count()
}
