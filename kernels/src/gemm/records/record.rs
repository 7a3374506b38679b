//! What a record of a GEMM says of its problem and its configuration.

use girih_codegen::gemm::{Batch, Major};
use girih_device::{Limits, Record};
use girih_tensor::DType;

use super::Fields;
use crate::Error;
use crate::gemm::choose::Plan;
use crate::gemm::{GemmConfig, Problem};

/// The record of a configuration of warpgroups that was measured on a device of these limits at that day: its microseconds, and those of the configuration that
/// [`choose`](crate::gemm::choose()) named then.
///
/// # Errors
/// [`Error::Kernel`] for a configuration that is not one of warpgroups.
pub fn record(
    problem: &Problem,
    config: &GemmConfig,
    limits: &Limits,
    date: &str,
    [micros, chosen_micros]: [f64; 2],
) -> Result<Record, Error> {
    let Some(plan) = Plan::of(config) else {
        let accepted = "configurations of warpgroups are accepted";
        return Err(Error::Kernel { kernel: "a record", dtype: problem.dtype().name(), accepted });
    };
    Ok(Record {
        machine: Record::machine(limits),
        driver: Record::driver(limits),
        date: date.into(),
        problem: record_key(problem),
        config: plan.to_string(),
        micros,
        chosen_micros,
    })
}

/// What the fastest configuration for a problem depends on, as fields: extents with C's rows contiguous, dtypes, layouts, and the bytes of which
/// addresses are multiples.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem, record_key};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [16, 64, 256], Layout::Tn)?;
/// assert!(record_key(&problem).starts_with("mnk=16x64x256 input=bf16 output=bf16 sums=f32 a=(16,256):(256,1) a_align=16 b="));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn record_key(problem: &Problem) -> String {
    let [a, b, c] = [("a", problem.a()), ("b", problem.b()), ("c", problem.c())].map(|(name, matrix)| {
        let layout = matrix.to_string().replace(' ', "-");
        format!(" {name}={layout} {name}_align={}", matrix.alignment())
    });
    let sums = if problem.promotes() { PROMOTED } else { problem.sums().name() };
    let scales = match problem.mixed_input() {
        Some(mixed) => format!(" scales={}/{}", mixed.dtype, mixed.scale),
        None => String::from(if problem.block_scales().is_some() { " scales=blocks" } else { "" }),
    };
    let products = if problem.batch() == Batch::Single { "" } else { " products=several" };
    let [m, n, k] = problem.oriented(Major::K).0.mnk();
    let [input, output] = [problem.dtype(), problem.output()];
    format!("mnk={m}x{n}x{k} input={input} output={output} sums={sums}{a}{b}{c}{scales}{products}")
}

/// How a record says that accumulators are promoted.
const PROMOTED: &str = "promoted";

/// M, N, K with C's rows contiguous, if a record is one of a single product of plain elements.
pub fn record_mnk(record: &Record) -> Option<[i64; 3]> {
    Product::read(record).ok().flatten().map(|product| product.mnk)
}

/// How wide elements and accumulators are: products that differ in nothing else take the same time by the same plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gemm) struct Kind {
    /// The bits of A's and B's elements, and of C's.
    pub(in crate::gemm) bits: [u32; 2],
    /// Whether accumulators are promoted ([`Problem::promotes`]).
    pub(in crate::gemm) promotes: bool,
}

/// A product, whatever its layouts and pitches are: one of plain elements, without scales.
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

    /// That of a record, if it is one of a single product without scales whose accumulators are the usual ones.
    ///
    /// # Errors
    /// [`Error::Field`].
    pub(super) fn read(record: &Record) -> Result<Option<Product>, Error> {
        let mut fields = Fields::read(&record.problem)?;
        let mnk = fields.take("mnk", "M x N x K", |text| {
            let extents: Option<Vec<i64>> = text.split('x').map(|extent| extent.parse().ok()).collect();
            extents?.try_into().ok()
        })?;
        let dtype = |text: &str| text.parse::<DType>().ok();
        let input = fields.take("input", "the dtype of A and B", dtype)?;
        let output = fields.take("output", "the dtype of C", dtype)?;
        let sums = fields.take("sums", "a dtype, or `promoted`", |text| match text {
            PROMOTED => Some(None),
            other => dtype(other).map(Some),
        })?;
        let any = |text: &str| (!text.is_empty()).then_some(());
        for name in ["a", "a_align", "b", "b_align", "c", "c_align"] {
            fields.take(name, "a matrix, and the bytes of which its address is a multiple", any)?;
        }
        let others =
            [fields.find("scales", "what has scales", any)?, fields.find("products", "several", any)?];
        fields.end("mnk, input, output, sums, the matrices a, b and c, scales and products")?;
        let kind = Kind { bits: [input, output].map(DType::bits), promotes: sums.is_none() };
        let is_plain = others == [None; 2] && sums != Some(DType::F16);
        Ok(is_plain.then_some(Product { mnk, kind }))
    }
}

/// The product of a record for a person: `512x512x512 bf16 to bf16` for instance.
pub(in crate::gemm) fn product_of(record: &Record) -> Result<String, Error> {
    let mut fields = Fields::read(&record.problem)?;
    let mut word = |name| fields.take(name, "a word", |text| Some(String::from(text)));
    Ok(format!("{} {} to {}", word("mnk")?, word("input")?, word("output")?))
}
