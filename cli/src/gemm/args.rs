//! The arguments of `girih gemm`, which describe a problem, alone or with two files.

use girih_codegen::gemm::{Major, outputs};
use girih_device::Device;
use girih_device::sizes::wide;
use girih_kernels::gemm::{
    INPUTS, KernelKind, Layout, Matrix, Order, Problem, choose, reference_bytes, repitched,
};
use girih_tensor::DType;

use crate::Error;
use crate::npy::Npy;
use crate::run::{Peak, bytes, checks};

/// The default extent, which the simulator computes in a few seconds.
const DEFAULT_EXTENT: i64 = 512;

/// How layouts are named, for the long help.
pub(crate) const LAYOUTS: &str = "\
Layouts are named as in BLAS and CuTe. A is M x K, B is K x N, C is M x N.

  first letter   t: A is K-contiguous, strides (lda,1)    n: A is M-contiguous, strides (1,lda)
  second letter  n: B is K-contiguous                     t: B is N-contiguous
  torch's `a @ b.T` is tn, its `a @ b` is tt (row-major a and b)

Strides are printed as CuTe writes them: those of B belong to (N,K).

With files and no --layout the product is numpy's A @ B: A is (M,K), B is (K,N), and the layout
follows from the order of each file. With --layout the letters say how a C-order file is read:

  A   t: (M,K)   n: (K,M)
  B   n: (N,K)   t: (K,N)     torch keeps weights as (N,K)

A Fortran-order file is read as the C-order file of the reversed shape.";

/// The arguments that describe a product.
#[derive(clap::Args)]
pub(crate) struct ProblemArgs {
    /// Rows of A and C [default: 512]
    #[arg(long)]
    m: Option<i64>,
    /// Columns of B and C [default: 512]
    #[arg(long)]
    n: Option<i64>,
    /// Columns of A, rows of B [default: 512]
    #[arg(long)]
    k: Option<i64>,
    /// What is multiplied: f32, tf32 (A and B are f32), f64, f16, bf16, e4m3 (fp8), e5m2, s8 (int8) [default: bf16, or the type
    /// of the files]
    #[arg(long, value_parser = input)]
    dtype: Option<DType>,
    /// Element type of C: f32, f64 (of f64), f16, bf16, e4m3 (fp8), e5m2, s32 (int32, of s8) [default: that of A and B, bf16 for
    /// 8-bit floats, s32 for s8]
    #[arg(long, value_name = "DTYPE", value_parser = output)]
    out: Option<DType>,
    /// Type of the sums: f16 for those of f16, which keep fewer bits [default: f32, f64 of f64, s32 of s8]
    #[arg(long, value_name = "DTYPE")]
    sums: Option<DType>,
    /// Let sums of 8-bit floats have fewer bits, as the tensor cores of Hopper make them
    #[arg(long)]
    fast_accumulation: bool,
    /// Let a row of C have the same bits whatever M and the other rows are
    #[arg(long)]
    invariant: bool,
    /// Kernel: simt (f32 on the CUDA cores), sm80 or sm90 (the other types on the tensor cores) [default: the fastest that the
    /// device and the problem allow]
    #[arg(long)]
    kernel: Option<KernelKind>,
    /// Contiguous modes of A and B: tn, tt, nn or nt, see below [default: tn, or the layout of the files]
    #[arg(long)]
    layout: Option<Layout>,
    /// Order of C: row or column
    #[arg(long, default_value = "row")]
    order: Order,
    /// Leading stride of A in elements [default: tight]
    #[arg(long)]
    lda: Option<i64>,
    /// Leading stride of B in elements [default: tight]
    #[arg(long)]
    ldb: Option<i64>,
    /// Leading stride of C in elements [default: tight]
    #[arg(long)]
    ldc: Option<i64>,
    /// How many such products: those of a batch, with random matrices
    #[arg(long, value_name = "L", group = "products")]
    batch: Option<i64>,
    /// Store each matrix of the batch in memory of its own: kernels find all of them by arrays of addresses
    #[arg(long, requires = "batch", conflicts_with_all = ["stride_a", "stride_b", "stride_c"])]
    pointers: bool,
    /// How many groups the rows of A and C belong to, of random sizes, each with a random B of its own: the products of a mixture of experts
    #[arg(long, value_name = "G", group = "products")]
    groups: Option<i64>,
    /// Elements from the A of a product of the batch to that of the next, 0 for one A that all have [default: tight]
    #[arg(long, requires = "batch")]
    stride_a: Option<i64>,
    /// The same of B, of products of a batch or of groups
    #[arg(long, requires = "products")]
    stride_b: Option<i64>,
    /// The same of C, whose products may not overlap
    #[arg(long, requires = "batch")]
    stride_c: Option<i64>,
}

/// A product and the family of kernels that computes it.
pub(crate) struct Chosen {
    pub(crate) problem: Problem,
    pub(crate) layout: Layout,
    /// The family of the kernel; `None` for the fastest.
    pub(crate) kind: Option<KernelKind>,
}

impl ProblemArgs {
    /// Whether neither extents nor a type are given.
    pub(crate) fn is_default(&self) -> bool {
        [self.m, self.n, self.k].iter().all(Option::is_none) && self.dtype.is_none()
    }

    /// The product of random matrices.
    pub(crate) fn without_files(&self) -> Result<Chosen, girih_kernels::Error> {
        let mnk = [self.m, self.n, self.k].map(|extent| extent.unwrap_or(DEFAULT_EXTENT));
        self.chosen(self.dtype.unwrap_or(DType::Bf16), mnk, self.layout.unwrap_or(Layout::Tn))
    }

    /// The product of two files, which say what the arguments leave open and must not contradict the arguments.
    pub(crate) fn with_files(&self, a: &Npy, b: &Npy) -> Result<Chosen, Box<dyn std::error::Error>> {
        let dtype = self.dtype_of(a, b)?;
        let layout = self.layout.unwrap_or(match (a.fortran, b.fortran) {
            (false, true) => Layout::Tn,
            (false, false) => Layout::Tt,
            (true, true) => Layout::Nn,
            (true, false) => Layout::Nt,
        });
        let [major_a, major_b] = layout.majors();
        let ([m, k], [n, k_of_b]) = (extents(a, major_a), extents(b, major_b));
        if k != k_of_b {
            let a = (a.path.clone(), if major_a == Major::K { "(M,K)" } else { "(K,M)" }, k);
            let b = (b.path.clone(), if major_b == Major::K { "(N,K)" } else { "(K,N)" }, k_of_b);
            return Err(Error::Inner { a, b }.into());
        }
        for (name, flag, file, found) in [("m", self.m, a, m), ("n", self.n, b, n), ("k", self.k, a, k)] {
            if let Some(flag) = flag
                && flag != found
            {
                let path = file.path.clone();
                return Err(Error::ExtentFlag { name, flag, path, file: found }.into());
            }
        }
        Ok(self.chosen(dtype, [m, n, k], layout)?)
    }

    fn dtype_of(&self, a: &Npy, b: &Npy) -> Result<DType, Error> {
        for file in [a, b] {
            if let Some(flag) = self.dtype
                && !holds(file.dtype, flag)
            {
                let (path, descr) = (file.path.clone(), file.descr.clone());
                return Err(Error::DTypeFlag { flag, path, file: file.dtype, descr });
            }
        }
        if a.dtype != b.dtype {
            let of = |file: &Npy| (file.path.clone(), file.dtype);
            return Err(Error::DTypes { a: of(a), b: of(b) });
        }
        Ok(self.dtype.unwrap_or(a.dtype))
    }

    fn chosen(&self, dtype: DType, mnk: [i64; 3], layout: Layout) -> Result<Chosen, girih_kernels::Error> {
        let problem = Problem::new(dtype, mnk, layout)?.with_fast_accumulation(self.fast_accumulation);
        let problem = problem.with_invariant(self.invariant);
        let problem = self.sums.map_or(Ok(problem), |sums| problem.with_sums(sums))?;
        let problem = self.out.map_or(Ok(problem), |out| problem.with_output(out))?;
        let problem = problem.with_order(self.order).with_pitches(self.lda, self.ldb, self.ldc)?;
        let problem = match (self.batch, self.groups) {
            (Some(count), _) if self.pointers => problem.by_pointers(count)?,
            (Some(count), _) => problem.batched(count, [self.stride_a, self.stride_b, self.stride_c])?,
            (None, Some(groups)) => problem.grouped(groups, self.stride_b)?,
            (None, None) => problem,
        };
        Ok(Chosen { problem, layout, kind: self.kernel })
    }
}

/// The extents of a file's matrix in the order (M,K) or (N,K).
fn extents(file: &Npy, major: Major) -> [i64; 2] {
    let [outer, inner] = file.stored();
    if major == Major::K { [outer, inner] } else { [inner, outer] }
}

/// The peak memory of a command that computes a GEMM by a kernel of this family: the matrices and the copies that kernels multiply instead; on the
/// host also the matrices, C as bytes and as elements, and the rows and columns that the reference reads.
pub(crate) fn peak(
    problem: &Problem,
    kind: KernelKind,
    device: &Device,
) -> Result<Peak, girih_kernels::Error> {
    let config = choose(problem, kind, device.limits().multiprocessors)?;
    let (oriented, _) = problem.oriented(config.c_major);
    let solved = repitched(&oriented, &config)?;
    let of = |matrix: Matrix, dtype| bytes(matrix.span(), dtype);
    let [a, b] = [problem.a(), problem.b()].map(|matrix| of(matrix, problem.input()));
    let c = of(problem.c(), problem.output());
    let copied: Vec<Matrix> = [(oriented.a(), solved.a()), (oriented.b(), solved.b())]
        .into_iter()
        .filter_map(|(from, to)| (from != to).then_some(to))
        .collect();
    let copies = copied.iter().map(|to| of(*to, problem.input())).fold(0, u64::saturating_add);
    let matrices = [a, b, c].into_iter().fold(0, u64::saturating_add);
    // Elements that follow each other become those of rows with gaps, and bytes elements.
    let reading = a.max(b).max(c.saturating_add(reference_bytes(problem)));
    let of = |matrix: Matrix, dtype| {
        let [rows, columns] = matrix.extents();
        let elements = wide(rows.saturating_mul(columns)).saturating_mul(wide(matrix.batches()));
        checks(bytes(matrix.span(), dtype), elements, dtype)
    };
    let inputs =
        [problem.a(), problem.b()].into_iter().chain(copied).map(|matrix| of(matrix, problem.input()));
    let checks = inputs.fold(of(problem.c(), problem.output()), u64::saturating_add);
    Ok(Peak { device: matrices.saturating_add(copies), host: matrices.saturating_add(reading), checks })
}

/// Whether a file of elements of `file` can be multiplied as `flag` says. The bits of 8-bit floats are those of either type.
fn holds(file: DType, flag: DType) -> bool {
    match flag {
        DType::Tf32 => file == DType::F32,
        DType::E5m2 => file.is_narrow_float(),
        _ => file == flag,
    }
}

/// The names of dtypes that others use.
fn named(text: &str) -> Option<DType> {
    match text {
        "fp8" => Some(DType::E4m3),
        "int8" => Some(DType::S8),
        "int32" => Some(DType::S32),
        _ => text.parse().ok(),
    }
}

/// Parses the dtype of what is multiplied.
fn input(text: &str) -> Result<DType, Error> {
    named(text).filter(|dtype| INPUTS.contains(dtype)).ok_or_else(|| Error::InputDType(text.into()))
}

/// Parses the dtype of C.
fn output(text: &str) -> Result<DType, Error> {
    let stored = |dtype: &DType| {
        [DType::F32, DType::S32, DType::F64].iter().any(|&sums| outputs(sums).contains(dtype))
    };
    named(text).filter(stored).ok_or_else(|| Error::OutputDType(text.into()))
}
