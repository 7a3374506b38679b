//! The GEMM configuration of a recognised program: from its tiles and hints, or one that is given.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use girih_codegen::gemm::GemmConfig;
use girih_kernels::gemm::choose::Hardware;
use girih_kernels::gemm::{Asked, Problem, accepts, tiled};

use super::loops::Sketch;
use crate::error::Refusal;
use crate::fit;
use crate::ir::Func;

/// The name of a kernel, as long as the program runs. A process has few kernels.
pub(super) fn name(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_string().into_boxed_str());
    names.insert(kept);
    kept
}

/// What the program asks of the configuration.
pub(super) fn asked(func: &Func, sketch: &Sketch<'_>, sm: u32) -> Asked {
    let hints = func.hints.resolve(sm);
    let latency = sketch.operands.iter().filter_map(|operand| operand.latency).max();
    Asked {
        tile: sketch.tile,
        multicast: hints.num_ctas.map(i64::from),
        warps: hints.num_worker_warps.map(i64::from),
        stages: hints.num_stages.map(i64::from).or(latency.map(i64::from)),
        tma: sketch.operands.iter().all(|operand| operand.tma),
    }
}

/// The configuration for a problem.
pub(super) fn configuration(
    problem: &Problem,
    sm: u32,
    asked: &Asked,
    given: Option<GemmConfig>,
) -> Result<GemmConfig, Refusal> {
    let config = match given {
        Some(config) => {
            accepts(problem, &config, asked.tile)?;
            config
        }
        None => tiled(
            problem,
            sm,
            Hardware { multiprocessors: 132, shared: fit::word(crate::place::ahead::shared(sm)) },
            asked,
        )?,
    };
    let least = if config.c_type.is_narrow_float() { 89.max(config.atom().sm) } else { config.atom().sm };
    // What sm_90 has for warpgroups, no later architecture has.
    let fits = if config.loads_by_maps() { sm == 90 } else { sm >= least };
    if fits {
        return Ok(config);
    }
    let kernel = config.name;
    Err(Refusal::new(format!("{kernel} on sm_{sm}: sm_{least} is accepted")))
}
