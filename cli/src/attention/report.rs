//! The report of `girih attention`.

use std::fmt;

use girih_kernels::attention::{Check, KernelKind, Problem, Tensor4, Verdict};
use serde::Serialize;

use super::options::OptionReport;
use crate::run::{self, KernelReport, line};

/// The report of one attention.
pub(crate) type Report = run::Report<ProblemReport, KernelReport, CheckReport>;

/// The problem, with extents and strides in elements.
#[derive(Serialize)]
pub(crate) struct ProblemReport {
    batch: i64,
    heads: i64,
    kv_heads: i64,
    queries: i64,
    keys: i64,
    head_dim: i64,
    sequences: Option<usize>,
    dtype: &'static str,
    order: String,
    mask: String,
    #[serde(flatten)]
    options: OptionReport,
    kernel: &'static str,
    origin: String,
    /// As CuTe writes layouts, (Row,HeadDim,Head,Batch).
    layouts: [(&'static str, String); 4],
}

impl ProblemReport {
    pub(crate) fn new(problem: &Problem, kind: KernelKind, origin: String) -> ProblemReport {
        ProblemReport {
            batch: problem.batches(),
            heads: problem.heads(),
            kv_heads: problem.kv_heads(),
            queries: problem.queries(),
            keys: problem.keys(),
            head_dim: problem.head_dim(),
            sequences: problem.is_packed().then(|| problem.sequences().len()),
            dtype: problem.dtype().name(),
            order: problem.order().to_string(),
            mask: problem.mask().to_string(),
            options: OptionReport::new(problem),
            kernel: kind.name(),
            origin,
            layouts: Tensor4::ALL.map(|tensor| (tensor.name(), problem.array(tensor).to_string())),
        }
    }
}

/// The problem in a line.
pub(crate) fn described(problem: &Problem) -> String {
    let (batch, heads, kv_heads) = (problem.batches(), problem.heads(), problem.kv_heads());
    let (queries, keys, dim) = (problem.queries(), problem.keys(), problem.head_dim());
    let shared = if heads == kv_heads { String::new() } else { format!(" on {kv_heads} of keys") };
    let packed = if problem.is_packed() {
        format!(" in {} sequences", problem.sequences().len())
    } else {
        String::new()
    };
    let mask = if problem.mask().is_none() { String::new() } else { format!(", {}", problem.mask()) };
    let modifiers = OptionReport::new(problem).modifiers();
    format!(
        "{batch} batches, {heads} heads{shared}, {queries} queries, {keys} keys{packed}, head dim {dim}, {}{mask}{modifiers}",
        problem.dtype()
    )
}

impl fmt::Display for ProblemReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProblemReport {
            batch, heads, kv_heads, queries, keys, head_dim, dtype, order, mask, kernel, ..
        } = self;
        let sequences = self.sequences.map_or(String::new(), |count| format!(" in {count} sequences"));
        let extents = format_args!(
            "batch={batch} heads={heads}:{kv_heads} queries={queries} keys={keys}{sequences} head dim={head_dim}"
        );
        line(f, "problem", format_args!("O = softmax(Q K^T) V, {extents}, {dtype}, {order}, by {kernel}"))?;
        line(f, "mask", mask)?;
        let OptionReport { scale, .. } = self.options;
        line(f, "scores", format_args!("scale {scale}{}", self.options.modifiers()))?;
        line(f, "layouts", "(Row,HeadDim,Head,Batch)")?;
        for (name, layout) in &self.layouts {
            let origin = if *name == "o" { String::new() } else { format!("   {}", self.origin) };
            let name = name.to_uppercase();
            writeln!(f, "  {name:<24}{layout}{origin}")?;
        }
        Ok(())
    }
}

/// The result of the check. NaN is null in JSON.
#[derive(Serialize)]
pub(crate) struct CheckReport {
    relative_error: f64,
    largest: f64,
    worst_of_bound: f64,
    worst_at: [i64; 4],
    worst_lse_of_bound: f64,
    rows_compared: usize,
    rows: usize,
    padding_written: usize,
    /// Why the check says nothing, if it does not.
    cannot_judge: Option<String>,
}

impl From<Check> for CheckReport {
    fn from(check: Check) -> CheckReport {
        let cannot_judge = match check.verdict() {
            verdict @ Verdict::CannotJudge { .. } => Some(verdict.to_string()),
            Verdict::Passed | Verdict::Failed => None,
        };
        CheckReport {
            cannot_judge,
            relative_error: check.relative_error,
            largest: check.largest,
            worst_of_bound: check.worst,
            worst_at: check.worst_at,
            worst_lse_of_bound: check.worst_lse,
            rows_compared: check.compared,
            rows: check.rows,
            padding_written: check.padding_written,
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CheckReport {
            relative_error,
            largest,
            worst_of_bound,
            worst_lse_of_bound,
            rows_compared,
            rows,
            ..
        } = self;
        let [sequence, head, row, column] = self.worst_at;
        let text = format_args!(
            "{relative_error:.2e} relative to the f64 reference, at most {largest:.2e}; worst element (sequence {sequence}, head {head}, row {row}, \
             column {column}) at {worst_of_bound:.2} of its bound; {rows_compared} of {rows} rows compared"
        );
        line(f, "error", text)?;
        if *worst_lse_of_bound != 0.0 {
            line(f, "", format_args!("worst logarithm of a sum at {worst_lse_of_bound:.2} of its bound"))?;
        }
        if let Some(why) = &self.cannot_judge {
            line(f, "", why)?;
        }
        if self.padding_written > 0 {
            line(f, "", format_args!("{} elements that are no row's were written", self.padding_written))?;
        }
        Ok(())
    }
}
