//! What a product is expected to take by the choice and by the next ones, in parts.

use std::fmt;

use girih_kernels::gemm::choose::{Cost, ERROR, expected, least};
use girih_kernels::gemm::{GemmConfig, Problem, described};
use serde::Serialize;

use crate::run::line;

/// How many configurations are told beside the choice.
const OTHERS: usize = 3;

/// The choice and the next configurations, with what they are expected to take.
#[derive(Serialize)]
pub(super) struct Model {
    /// The choice first.
    configurations: Vec<Expected>,
    /// Whether another configuration is expected to take the least time, and a record decides.
    measured: bool,
    /// How many times as long the next one is expected to take as the choice.
    next: Option<f64>,
    /// The factor by which the expected times of the fastest configurations are off (root of the mean square of logarithms).
    off_by: f64,
}

/// A configuration and its expected microseconds.
#[derive(Serialize)]
struct Expected {
    config: String,
    start_us: f64,
    products_us: f64,
    stores_us: f64,
    exchange_us: f64,
    memory_us: f64,
    total_us: f64,
}

impl Expected {
    fn new(config: &GemmConfig, cost: &Cost) -> Expected {
        let Cost { start, products, stores, exchange, memory } = *cost;
        Expected {
            config: described(config),
            start_us: start,
            products_us: products,
            stores_us: stores,
            exchange_us: exchange,
            memory_us: memory,
            total_us: cost.total(),
        }
    }
}

impl Model {
    /// That of a problem and its choice, if there are formulas for the configuration.
    pub(super) fn new(problem: &Problem, chosen: &GemmConfig, multiprocessors: u32) -> Option<Model> {
        let cost = expected(problem, chosen, multiprocessors)?;
        let all = least(problem, multiprocessors, 1 + OTHERS);
        let measured = all.first().is_some_and(|(config, _)| config != chosen);
        let others = all.iter().filter(|(config, _)| config != chosen).take(OTHERS);
        let mut configurations = vec![Expected::new(chosen, &cost)];
        configurations.extend(others.map(|(config, cost)| Expected::new(config, cost)));
        let next = configurations.get(1).map(|next| next.total_us / cost.total());
        Some(Model { configurations, measured, next, off_by: ERROR.exp() })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expected { start_us, products_us, stores_us, exchange_us, memory_us, total_us, .. } = self;
        write!(
            f,
            "{total_us:.2} us: start {start_us:.2}, products {products_us:.2}, stores {stores_us:.2}, "
        )?;
        write!(f, "exchange {exchange_us:.2}, beside memory {memory_us:.2}")
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, expected) in self.configurations.iter().enumerate() {
            if i == 0 {
                line(f, "expected", expected)?;
            } else {
                line(f, "next", format_args!("{expected}, by {}", expected.config))?;
            }
        }
        let (Some(next), off_by) = (self.next, self.off_by) else { return Ok(()) };
        let by = if self.measured { "measured; " } else { "" };
        line(
            f,
            "how sure",
            format_args!(
                "{by}the next is expected to take {next:.3} times as long; expected times are off by a factor of {off_by:.2}"
            ),
        )
    }
}
