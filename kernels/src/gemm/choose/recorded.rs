//! Configurations from records, which take precedence over the rules.

use girih_codegen::gemm::{GemmConfig, Major};

use super::configs::tensor;
use super::plan::{Plan, takes_epilogues, takes_outputs};
use super::{KernelKind, fits, with};
use crate::Error;
use crate::gemm::records::{Kind, Records};
use crate::gemm::{Problem, described};
use girih_device::Record;

/// The configuration that records name for a problem, with the record, if it leaves registers for what is computed of the accumulators. Problems whose
/// rows are the same wherever they are have no records.
///
/// # Errors
/// [`Error::Record`] for a record that is stale.
pub(in crate::gemm) fn recorded<'a>(
    problem: &Problem,
    kind: KernelKind,
    records: &'a Records,
) -> Result<Option<(GemmConfig, &'a Record)>, Error> {
    if kind != KernelKind::Sm90 || problem.is_invariant() {
        return Ok(None);
    }
    Ok(records.find(problem)?.filter(|(config, _)| leaves_room(problem, config)))
}

fn leaves_room(problem: &Problem, config: &GemmConfig) -> bool {
    (!problem.is_fused() || takes_epilogues(config))
        && (!(problem.reduces() || problem.is_gated()) || takes_outputs(config))
        // Both columns of a pair lie in a thread, both rows do not.
        && !(problem.is_gated() && config.c_major == Major::Mn)
}

/// The records that girih comes with, if they were measured on as many SMs.
pub(super) fn shipped(multiprocessors: u32) -> Result<Option<&'static Records>, &'static Error> {
    let records = Records::shipped()?;
    Ok((records.multiprocessors() == multiprocessors).then_some(records))
}

/// The plans that shipped records name for products of a kind.
pub(super) fn plans(kind: Kind) -> impl Iterator<Item = Plan> {
    let records = Records::shipped().ok();
    records
        .into_iter()
        .flat_map(move |records| records.of_kind(kind))
        .filter_map(move |line| plan(line, kind.bits[0]))
}

/// The configuration for a problem by the plan that a line names, if it fits, and TMA copies store C.
pub(in crate::gemm) fn followed(problem: &Problem, line: &str) -> Option<GemmConfig> {
    let (input, plan) = (tensor(problem)?, plan(line, problem.dtype().bits())?);
    let facts = with(problem, plan);
    let counts = facts.store.is_none() && fits(facts, problem, input);
    counts.then(|| facts.config(input).ok()).flatten()
}

/// The configuration for a problem of which [`described`] says this line, if it is one of a plan, as those of the
/// records that girih comes with must be ([`Records::shipped`]).
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose, described};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [512, 256, 640], Layout::Tn)?;
/// let config = choose(&problem, KernelKind::Sm90, 132)?;
/// assert_eq!(choose::planned(&problem, &described(&config)), Some(config));
/// // A plan has other stages, and no blocks that each have one tile.
/// for (from, to) in [(" stages", "0 stages"), ("Persistent { alternate: true }", "Raster { group: 8 }")] {
///     assert_eq!(choose::planned(&problem, &described(&config).replace(from, to)), None);
/// }
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn planned(problem: &Problem, line: &str) -> Option<GemmConfig> {
    let plan = plan(line, problem.dtype().bits())?;
    let config = with(problem, plan).config(tensor(problem)?).ok()?;
    (config.check().is_ok() && described(&config) == line).then_some(config)
}

/// The plan of a configuration of which [`described`] says this line, for elements of this many bits. Stages and how C is
/// stored follow from a plan and a problem.
fn plan(line: &str, bits: u32) -> Option<Plan> {
    if line.contains("Raster") {
        return None;
    }
    let (first, rest) = line.split_once(", ")?;
    let extents = first.split(' ').nth(1)?.split('x').map(str::parse).collect::<Result<Vec<i64>, _>>();
    let [rows @ (64 | 128 | 192 | 256), columns @ 8..=256, depth] = extents.ok()?[..] else { return None };
    let all: usize = rest.split_once(" consumers")?.0.parse().ok().filter(|count| (1..=3).contains(count))?;
    let number = |before: &str| {
        let after = rest.split_once(before)?.1;
        after.split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
    };
    let teams = number(" consumers in ").unwrap_or(1);
    let warpgroups = all.checked_div(usize::try_from(teams).ok()?).filter(|count| *count > 0)?;
    let mut plan = Plan::new([rows, columns], warpgroups).teams(teams).multicast(number("multicast ")?);
    if let Some(parts) = number("SplitK { parts: ") {
        plan = plan.clusters(parts, number(", cluster: ")?);
    }
    let turned = |is_so: bool, other: fn(Plan) -> Plan, plan| if is_so { other(plan) } else { plan };
    plan = turned(rest.contains("StreamK"), Plan::stream, plan);
    plan = turned(rest.contains(", columns of C"), Plan::of_columns, plan);
    plan = turned(rest.contains(", programmatic"), Plan::early, plan);
    plan = turned(depth.checked_mul(bits.into())? == 2048, Plan::deep, plan);
    Some(plan)
}
