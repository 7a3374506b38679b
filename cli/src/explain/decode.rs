//! `girih explain` of decoding: the reasons for the choice of a plan.

use std::fmt;

use girih_device::Limits;
use girih_kernels::attention::decode::{choose, reasons};
use serde::Serialize;

use super::Reason;
use crate::attention::decode::{PlanReport, ProblemArgs};
use crate::run::line;

/// The chosen configuration, the reasons, and the hardware's limits.
#[derive(Serialize)]
pub(super) struct Report {
    problem: String,
    multiprocessors: u32,
    reasons: Vec<Reason>,
    plan: PlanReport,
    /// Bytes of the keys and values that are read.
    bytes: i64,
    /// Microseconds, at the rate that the vendor states.
    memory_us: f64,
}

/// Bytes per second of an H200, as the vendor states it.
const MEMORY: f64 = 4.8e12;

impl Report {
    pub(super) fn new(args: &ProblemArgs, limits: &Limits) -> Result<Report, Box<dyn std::error::Error>> {
        let (problem, lengths) = args.without_files()?;
        let ([batch, queries], [heads, groups]) = (problem.sequences(), problem.heads());
        let plan = choose(&problem, limits, args.parts)?;
        let most = args.window.map_or(i64::MAX, |left| left + queries);
        let seen: i64 = lengths.iter().map(|&keys| i64::from(keys).min(most)).sum();
        let bytes = 2 * seen * groups * problem.head_dim() * i64::from(problem.cache().bits()) / 8;
        Ok(Report {
            problem: format!(
                "{batch} sequences of up to {} keys, {queries} queries, {heads} heads on {groups} of keys, head dim {}, {}, cache of {}",
                problem.capacity(),
                problem.head_dim(),
                problem.dtype(),
                problem.cache()
            ),
            multiprocessors: limits.multiprocessors,
            reasons: reasons(&problem, limits, args.parts)?
                .into_iter()
                .map(|(what, why)| Reason { what, why })
                .collect(),
            plan: PlanReport::from(&plan),
            bytes,
            memory_us: bytes as f64 / MEMORY * 1e6,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "problem", format_args!("O = softmax(scale Q K^T) V, {}", self.problem))?;
        line(f, "for", format_args!("an H200 with {} SMs", self.multiprocessors))?;
        for Reason { what, why } in &self.reasons {
            line(f, what, why)?;
        }
        write!(f, "{}", self.plan)?;
        let bytes = self.bytes as f64 / 1e6;
        line(f, "roofline", format_args!("{:.2} us for {bytes:.3} MB of keys and values", self.memory_us))
    }
}
