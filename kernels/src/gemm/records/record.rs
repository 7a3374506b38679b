//! The texts of a GEMM record: its problem and its configuration.

use girih_codegen::gemm::{Batch, Major};
use girih_device::{Limits, Record};
use girih_tensor::DType;

use crate::gemm::{GemmConfig, Problem, described};

/// How a record says that accumulators are promoted.
const PROMOTED: &str = ", promoted sums";

/// The record of a configuration that was measured on a device of these limits at that day: its microseconds, and those of the configuration that
/// [`choose`](crate::gemm::choose()) named then.
pub fn record(
    problem: &Problem,
    config: &GemmConfig,
    limits: &Limits,
    date: &str,
    [micros, chosen_micros]: [f64; 2],
) -> Record {
    Record {
        machine: Record::machine(limits),
        driver: Record::driver(limits),
        date: date.into(),
        problem: record_key(problem),
        config: described(config),
        micros,
        chosen_micros,
    }
}

/// The key of a problem in records: extents with C's rows contiguous, dtypes, layouts and alignments.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem, record_key};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [16, 64, 256], Layout::Tn)?;
/// assert!(record_key(&problem).starts_with("16x64x256 bf16 to bf16, A (16,256):(256,1) at multiples of 16 bytes, B "));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn record_key(problem: &Problem) -> String {
    let [a, b, c] = [("A", problem.a()), ("B", problem.b()), ("C", problem.c())]
        .map(|(name, matrix)| format!("{name} {matrix} at multiples of {} bytes", matrix.alignment()));
    let sums = match problem.sums() {
        DType::F16 => ", sums of f16",
        _ if problem.promotes() => PROMOTED,
        _ => "",
    };
    let scales = match problem.mixed_input() {
        Some(mixed) => format!(", B of {} with scales of {}", mixed.dtype, mixed.scale),
        None => String::from(if problem.block_scales().is_some() { ", blocks with scales" } else { "" }),
    };
    let several = if problem.batch() == Batch::Single { "" } else { "several of " };
    let [m, n, k] = problem.oriented(Major::K).0.mnk();
    let dtypes = format!("{} to {}", problem.dtype(), problem.output());
    format!("{several}{m}x{n}x{k} {dtypes}{sums}{scales}, {a}, {b}, {c}")
}

/// The part of a record's problem that is no matrix: `512x512x512 bf16 to bf16` for instance.
pub(in crate::gemm) fn product_of(record: &Record) -> &str {
    record.problem.split(", A ").next().unwrap_or_default()
}

/// M, N, K with C's rows contiguous, if a record is one of a single GEMM of plain elements.
pub fn record_mnk(record: &Record) -> Option<[i64; 3]> {
    Product::read(product_of(record)).map(|product| product.mnk)
}

/// How wide elements and accumulators are: GEMMs that differ in nothing else take the same time by the same plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gemm) struct Kind {
    /// The bits of A's and B's elements, and of C's.
    pub(in crate::gemm) bits: [u32; 2],
    /// Whether accumulators are promoted ([`Problem::promotes`]).
    pub(in crate::gemm) promotes: bool,
}

/// A GEMM, whatever its layouts and pitches are: one of plain elements, without scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Product {
    /// M, N, K with C's rows contiguous.
    pub(super) mnk: [i64; 3],
    pub(super) kind: Kind,
}

impl Product {
    /// That of a problem.
    pub(super) fn of(problem: &Problem) -> Option<Product> {
        let is_plain = problem.batch() == Batch::Single
            && problem.mixed_input().is_none()
            && problem.block_scales().is_none();
        let bits = [problem.dtype(), problem.output()].map(DType::bits);
        let kind = Kind { bits, promotes: problem.promotes() };
        is_plain.then(|| Product { mnk: problem.oriented(Major::K).0.mnk(), kind })
    }

    /// That of a record's text.
    pub(super) fn read(text: &str) -> Option<Product> {
        let promoted = text.strip_suffix(PROMOTED);
        let words: Vec<&str> = promoted.unwrap_or(text).split(' ').collect();
        let [extents, from, "to", to] = words[..] else { return None };
        let mnk: Vec<i64> = extents.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
        let bits = |name: &str| name.parse::<DType>().ok().map(DType::bits);
        let kind = Kind { bits: [bits(from)?, bits(to)?], promotes: promoted.is_some() };
        Some(Product { mnk: mnk.try_into().ok()?, kind })
    }
}
