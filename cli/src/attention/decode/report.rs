//! The report of `girih attention decode`.

use std::fmt;

use girih_kernels::attention::decode::{DecodePlan, DecodeProblem};
use serde::Serialize;

use crate::attention::options::OptionReport;
use crate::attention::report::CheckReport;
use crate::run::{self, line};

/// The report of one decoding.
pub(super) type Report = run::Report<ProblemReport, PlanReport, CheckReport>;

/// The problem.
#[derive(Serialize)]
pub(super) struct ProblemReport {
    batch: i64,
    queries: i64,
    heads: i64,
    kv_heads: i64,
    head_dim: i64,
    /// The least and the most keys of a sequence.
    keys: [u32; 2],
    capacity: i64,
    page: Option<i64>,
    dtype: &'static str,
    cache: &'static str,
    scales: i64,
    window: Option<i64>,
    #[serde(flatten)]
    options: OptionReport,
    origin: String,
}

impl ProblemReport {
    pub(super) fn new(
        p: &DecodeProblem,
        lengths: &[u32],
        args: &super::Args,
        origin: String,
    ) -> ProblemReport {
        let ([batch, queries], [heads, kv_heads]) = (p.sequences(), p.heads());
        let [least, most] =
            [lengths.iter().min(), lengths.iter().max()].map(|keys| keys.copied().unwrap_or(0));
        ProblemReport {
            batch,
            queries,
            heads,
            kv_heads,
            head_dim: p.head_dim(),
            keys: [least, most],
            capacity: p.capacity(),
            page: p.pages().map(|pages| pages.size),
            dtype: p.dtype().name(),
            cache: p.cache().name(),
            scales: p.scales_len(),
            window: args.problem.window,
            options: OptionReport::new(p.attention()),
            origin,
        }
    }
}

/// How the rows and the keys are shared out.
#[derive(Serialize)]
pub(crate) struct PlanReport {
    /// The query heads and the queries of a tile of rows.
    rows: [i64; 2],
    /// The most splits of the keys of a sequence.
    parts: i64,
    /// The least tiles of 64 keys of a split.
    least_tiles: i64,
    /// The tiles of K and V in shared memory.
    stages: i64,
    /// (split, head of K and V, tile of rows).
    grid: [u32; 3],
    blocks: u64,
    blocks_per_multiprocessor: u32,
}

impl From<&DecodePlan> for PlanReport {
    fn from(plan: &DecodePlan) -> PlanReport {
        PlanReport {
            rows: plan.config.rows,
            parts: plan.parts,
            least_tiles: plan.least_tiles,
            stages: plan.config.stages,
            grid: plan.grid,
            blocks: plan.grid.into_iter().map(u64::from).product(),
            blocks_per_multiprocessor: plan.config.min_blocks,
        }
    }
}

impl fmt::Display for ProblemReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProblemReport { batch, queries, heads, kv_heads, head_dim, capacity, dtype, cache, .. } = self;
        let [least, most] = self.keys;
        let keys = if least == most { most.to_string() } else { format!("{least}..={most}") };
        let page = self.page.map_or(String::new(), |keys| format!(", in pages of {keys}"));
        let window = self.window.map_or(String::new(), |left| format!(", window {left}"));
        let modifiers = self.options.modifiers();
        let text = format_args!(
            "O = softmax(scale Q K^T) V, batch={batch} queries={queries} heads={heads} on {kv_heads} of keys, head dim={head_dim}, {dtype}{window}{modifiers}"
        );
        line(f, "problem", text)?;
        line(f, "cache", format_args!("{keys} of {capacity} keys, {cache}{page}, {}", self.origin))
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlanReport { rows: [heads, queries], parts, least_tiles, stages, grid, blocks, .. } = self;
        line(f, "tile of rows", format_args!("{heads} heads x {queries} queries"))?;
        line(
            f,
            "parts",
            format_args!("up to {parts} of a sequence, of {least_tiles} or more tiles of 64 keys"),
        )?;
        line(f, "stages", format_args!("{stages} tiles of K and V in shared memory"))?;
        let each = self.blocks_per_multiprocessor;
        line(f, "blocks", format_args!("{blocks}, a grid of {grid:?}, {each} on an SM"))
    }
}
