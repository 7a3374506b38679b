//! `girih explain attention`: the reasons for the choice of a kernel.

use std::fmt;

use girih_kernels::attention::choose::{blocks, described, reasons};
use girih_kernels::attention::{Hardware, Table, choose};
use serde::Serialize;

use super::{Reason, SM};
use crate::attention;
use crate::run::line;

/// The chosen configuration, the reasons, and the hardware's limits.
#[derive(Serialize)]
pub(super) struct Report {
    problem: String,
    multiprocessors: u32,
    config: String,
    reasons: Vec<Reason>,
    tiles: i64,
    blocks: u32,
    /// The share of the SMs that is busy, if each has one block at a time and a tile takes as long as it has keys.
    busy: f64,
    flops: f64,
    /// Microseconds, at the rate that the vendor states.
    products_us: f64,
    expected_us: f64,
}

/// Products of floats of 16 bits per second on an H200, as the vendor states it, and multiply-adds of f32.
const TENSOR: f64 = 989e12;
const SIMT: f64 = 67e12;

impl Report {
    pub(super) fn new(
        chosen: &attention::Chosen,
        multiprocessors: u32,
    ) -> Result<Report, girih_kernels::Error> {
        let (problem, kind) = (&chosen.problem, chosen.kind);
        let hardware = Hardware { sm: SM, multiprocessors };
        let config = choose(problem, kind, hardware)?;
        let reasons = reasons(problem, kind, hardware)?;
        let table = Table::new(problem, config.tile, hardware.multiprocessors)?;
        let ([all, most], tiles) = (table.loads(), Table::count(problem, config.tile[0]));
        let busy =
            if most > 0 { all as f64 / (most as f64 * f64::from(hardware.multiprocessors)) } else { 0.0 };
        let flops = problem.flops();
        let rate = if problem.dtype() == girih_tensor::DType::F32 { SIMT } else { TENSOR };
        let products = flops / rate * 1e6;
        Ok(Report {
            problem: attention::described(problem),
            multiprocessors: hardware.multiprocessors,
            config: described(&config),
            reasons: reasons.into_iter().map(|(what, why)| Reason { what, why }).collect(),
            tiles,
            blocks: blocks(&config, tiles, hardware.multiprocessors),
            busy,
            flops,
            products_us: products,
            expected_us: if busy > 0.0 { products / busy } else { 0.0 },
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "problem", format_args!("O = softmax(Q K^T) V, {}", self.problem))?;
        line(f, "for", format_args!("an H200 with {} SMs", self.multiprocessors))?;
        for Reason { what, why } in &self.reasons {
            line(f, what, why)?;
        }
        line(f, "configuration", &self.config)?;
        let busy = 100.0 * self.busy;
        line(f, "tiles", format_args!("{}, shared out so that {busy:.0} % of the SMs are busy", self.tiles))?;
        line(f, "roofline", format_args!("{:.2} us for the products", self.products_us))?;
        line(
            f,
            "expected limit",
            format_args!("{:.2} us: the products, on the SMs that have a tile", self.expected_us),
        )
    }
}
