//! The reasons for the choice of a decode plan, as text.

use girih_codegen::attention::decode::KEYS;
use girih_device::Limits;

use super::{DecodeProblem, choose};
use crate::Error;

/// The reasons for what [`choose`] chooses, in the order in which it is decided: what is decided, and why it is so.
///
/// # Errors
/// As [`choose`].
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_kernels::attention::decode::{DecodeProblem, reasons};
/// use girih_tensor::DType;
///
/// let problem = DecodeProblem::new(DType::Bf16, [1, 1], [64, 8], 128, 8192)?;
/// let reasons = reasons(&problem, Device::open(Select::Sim)?.limits(), None)?;
/// assert!(reasons.iter().any(|(what, why)| *what == "parts" && why.contains("132 multiprocessors")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reasons(
    problem: &DecodeProblem,
    limits: &Limits,
    parts: Option<i64>,
) -> Result<Vec<(&'static str, String)>, Error> {
    let plan = choose(problem, limits, parts)?;
    let [heads, queries] = plan.config.rows;
    let rows = match heads * queries {
        16 => "which all warps have: each goes through keys of its own, and in the end they add up",
        _ => "16 for each warp, since there are more than 16 rows for a head of keys",
    };
    let (multiprocessors, blocks) =
        (limits.multiprocessors, i64::from(plan.grid[1]) * i64::from(plan.grid[2]));
    let tiles = problem.capacity().div_euclid(KEYS) + i64::from(problem.capacity() % KEYS > 0);
    let of_parts = match (parts, plan.parts) {
        (Some(_), asked) => format!("up to {asked}, as asked for"),
        (None, 1) => {
            format!("one: {blocks} blocks of whole sequences take least time on {multiprocessors} SMs")
        }
        (None, several) => format!(
            "up to {several} for {tiles} tiles of {KEYS} keys, {} tiles or more in each: {blocks} blocks for each part take least time on \
             {multiprocessors} multiprocessors, with what a block and the second kernel cost",
            plan.least_tiles
        ),
    };
    let stage = 2 * KEYS * plan.config.head_dim * i64::from(plan.config.cache.bits()) / 8;
    let stages = format!(
        "{} tiles of keys and values of {} KB in shared memory, {} blocks on an SM, so that much is in flight",
        plan.config.stages,
        stage >> 10,
        plan.config.min_blocks
    );
    let mut out = vec![
        (
            "kernel",
            String::from(
                "decoding: keys and values are read once for all rows that share them, by the warps of every GPU from sm_80 on",
            ),
        ),
        ("rows", format!("{heads} heads and {queries} queries, {rows}")),
        ("parts", of_parts),
        ("stages", stages),
    ];
    if plan.config.head_dim != problem.head_dim() {
        let why =
            format!("zeros fill the {} columns of heads up to {}", problem.head_dim(), plan.config.head_dim);
        out.push(("head dim", why));
    }
    Ok(out)
}
