//! The report of `girih gemm`.

use std::fmt;

use girih_kernels::gemm::{Check, Gemm, KernelKind, Matrix};
use girih_tensor::DType;
use serde::Serialize;

use super::Chosen;
use crate::run::{self, KernelReport, line};

/// The report of one product.
pub(crate) type Report = run::Report<ProblemReport, KernelReport, CheckReport>;

/// The product, with extents and strides in elements.
#[derive(Serialize)]
pub(crate) struct ProblemReport {
    m: i64,
    n: i64,
    k: i64,
    batch: i64,
    groups: Option<i64>,
    dtype: &'static str,
    output: &'static str,
    sums: &'static str,
    layout: &'static str,
    order: &'static str,
    kernel: &'static str,
    a: MatrixReport,
    b: MatrixReport,
    c: MatrixReport,
}

/// A matrix as CuTe has it: A is (M,K), B is (N,K), C is (M,N). Its layout has the mode L of a batch too.
#[derive(Serialize)]
struct MatrixReport {
    layout: String,
    shape: [i64; 2],
    stride: [i64; 2],
    batch_stride: i64,
    origin: Option<String>,
    /// The layout of the copy that is multiplied in its place.
    copied: Option<String>,
}

impl MatrixReport {
    fn new(matrix: &Matrix) -> MatrixReport {
        let layout = matrix.to_string();
        MatrixReport {
            layout,
            shape: matrix.extents(),
            stride: matrix.strides(),
            batch_stride: matrix.batch_stride(),
            origin: None,
            copied: None,
        }
    }

    fn operand(matrix: &Matrix, origin: String, copied: Option<Matrix>) -> MatrixReport {
        let copied = copied.map(|copy| copy.to_string());
        MatrixReport { origin: Some(origin), copied, ..MatrixReport::new(matrix) }
    }
}

impl ProblemReport {
    pub(crate) fn new(chosen: &Chosen, kind: KernelKind, gemm: &Gemm, origin: [String; 2]) -> ProblemReport {
        let problem = &chosen.problem;
        let ([m, n, k], [a, b], [copy_a, copy_b]) = (problem.mnk(), origin, gemm.copied());
        ProblemReport {
            m,
            n,
            k,
            batch: problem.batches(),
            groups: problem.groups(),
            dtype: problem.dtype().name(),
            output: problem.output().name(),
            sums: problem.sums().name(),
            layout: chosen.layout.name(),
            order: if problem.c().contiguous() == 1 { "row" } else { "column" },
            kernel: kind.name(),
            a: MatrixReport::operand(&problem.a(), a, copy_a),
            b: MatrixReport::operand(&problem.b(), b, copy_b),
            c: MatrixReport::new(&problem.c()),
        }
    }
}

impl fmt::Display for ProblemReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProblemReport { m, n, k, batch, groups, dtype, output, sums, layout, kernel, .. } = self;
        let products = match groups {
            Some(groups) => format!(" in {groups} groups of rows"),
            None if *batch == 1 => String::new(),
            None => format!(" L={batch}"),
        };
        let types = if dtype == output { String::from(*dtype) } else { format!("{dtype} to {output}") };
        let types = types + if *sums == DType::F16.name() { " with sums of f16" } else { "" };
        let extents = format_args!("M={m} N={n} K={k}{products}");
        line(f, "problem", format_args!("C = A * B, {extents}, {types}, {layout}, by {kernel}"))?;
        for (name, matrix) in [("A (M,K)", &self.a), ("B (N,K)", &self.b), ("C (M,N)", &self.c)] {
            let origin = matrix.origin.as_ref().map_or(String::new(), |origin| format!("   {origin}"));
            let copied = matrix.copied.as_ref().map_or(String::new(), |copy| format!("   copied to {copy}"));
            writeln!(f, "  {name:<24}{}{origin}{copied}", matrix.layout)?;
        }
        if self.order == "column" {
            line(f, "", "computed as C^T = B^T * A^T: the kernel below has B as its A and N as its M")?;
        }
        Ok(())
    }
}

/// The result of the check. NaN is null in JSON.
#[derive(Serialize)]
pub(crate) struct CheckReport {
    relative_error: f64,
    worst_of_bound: f64,
    worst_at: [i64; 2],
    compared: usize,
    elements: usize,
    padding_written: usize,
}

impl From<Check> for CheckReport {
    fn from(check: Check) -> CheckReport {
        CheckReport {
            relative_error: check.relative_error,
            worst_of_bound: check.worst,
            worst_at: check.worst_at,
            compared: check.compared,
            elements: check.elements,
            padding_written: check.padding_written,
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CheckReport { relative_error, worst_of_bound, worst_at: [m, n], compared, elements, .. } = self;
        let text = format_args!(
            "{relative_error:.2e} relative to the f64 reference; worst element ({m},{n}) at {worst_of_bound:.2} of \
             its bound; {compared} of {elements} compared"
        );
        line(f, "error", text)?;
        if self.padding_written > 0 {
            line(
                f,
                "",
                format_args!("{} elements between the rows of C were written", self.padding_written),
            )?;
        }
        Ok(())
    }
}
