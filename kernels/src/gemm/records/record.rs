//! One record: what was measured, where and when, as a line of text.

use std::fmt;
use std::str::FromStr;

use girih_codegen::gemm::{Batch, Major};
use girih_device::Limits;
use girih_tensor::DType;

use super::refuse;
use crate::Error;
use crate::gemm::{GemmConfig, Problem, described};

/// The fastest configuration that was measured for a problem, as a line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The GPU, its architecture and its SMs.
    pub machine: String,
    /// The driver's version, or that of CUDA which the driver supports.
    pub driver: String,
    /// The day, `2026-11-23` for instance.
    pub date: String,
    /// All that is known of the problem: [`Record::key`].
    pub problem: String,
    /// The fastest configuration, as [`described`] says it.
    pub config: String,
    /// The microseconds of a run.
    pub micros: f64,
    /// Those of the configuration that [`choose`](crate::gemm::choose()) named then.
    pub chosen_micros: f64,
}

/// How a record says that accumulators are promoted.
const PROMOTED: &str = ", promoted sums";

impl Record {
    /// What was measured on a device of these limits at that day.
    pub fn new(
        problem: &Problem,
        config: &GemmConfig,
        limits: &Limits,
        date: &str,
        micros: [f64; 2],
    ) -> Record {
        Record {
            machine: Record::machine(limits),
            driver: limits.driver_version.map_or(String::from("none"), |driver| driver.to_string()),
            date: date.into(),
            problem: Record::key(problem),
            config: described(config),
            micros: micros[0],
            chosen_micros: micros[1],
        }
    }

    /// What the fastest configuration for a problem depends on: extents with C's rows contiguous, dtypes, layouts and alignments.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::gemm::{Layout, Problem, Record};
    /// use girih_tensor::DType;
    ///
    /// let problem = Problem::new(DType::Bf16, [16, 64, 256], Layout::Tn)?;
    /// assert!(Record::key(&problem).starts_with("16x64x256 bf16 to bf16, A (16,256):(256,1) at multiples of 16 bytes, B "));
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn key(problem: &Problem) -> String {
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

    /// What a record calls a device with these limits: its name, its architecture and its SMs.
    pub fn machine(limits: &Limits) -> String {
        format!("{}, sm_{}, {} multiprocessors", limits.name, limits.sm, limits.multiprocessors)
    }

    /// The part of the problem that is no matrix: `512x512x512 bf16 to bf16` for instance.
    pub fn product(&self) -> &str {
        self.problem.split(", A ").next().unwrap_or_default()
    }

    /// M, N, K with C's rows contiguous, if the record is one of a single product of plain elements.
    pub fn mnk(&self) -> Option<[i64; 3]> {
        Product::read(self.product()).map(|product| product.mnk)
    }
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

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { machine, driver, date, problem, config, micros, chosen_micros } = self;
        write!(f, "{machine}\t{driver}\t{date}\t{problem}\t{config}\t{micros:.3}\t{chosen_micros:.3}")
    }
}

impl FromStr for Record {
    type Err = Error;
    fn from_str(line: &str) -> Result<Record, Error> {
        let fields: Vec<&str> = line.split('\t').collect();
        let micros =
            |text: &str| text.parse::<f64>().ok().filter(|micros| micros.is_finite() && *micros > 0.0);
        match *fields {
            [machine, driver, date, problem, config, micros_text, chosen]
                if let (Some(micros), Some(chosen_micros)) = (micros(micros_text), micros(chosen)) =>
            {
                let [machine, driver, date, problem, config] =
                    [machine, driver, date, problem, config].map(String::from);
                Ok(Record { machine, driver, date, problem, config, micros, chosen_micros })
            }
            _ => refuse(
                format!("`{line}`"),
                "seven fields with tabs between them: machine, driver, day, problem, configuration, and microseconds of it and of the chosen one",
            ),
        }
    }
}
