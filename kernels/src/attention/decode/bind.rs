//! The arguments of the split kernel and of the combine kernel.

use std::f64::consts::LOG2_E;

use girih_codegen::attention::decode::{DecodeKernel, DecodeParam as P};
use girih_device::{Arg, Buffer};

use super::plan::DecodePlan;
use super::problem::{DecodeProblem, ScalesOf};
use girih_device::sizes::{rounded, wide, word};

/// The addresses of a call.
pub(in crate::attention) struct Addresses<'a> {
    pub q: Arg<'a>,
    pub o: Arg<'a>,
    pub k: Arg<'a>,
    pub v: Arg<'a>,
    pub lengths: Arg<'a>,
    pub table: Option<Arg<'a>>,
    pub lse: Option<Arg<'a>>,
    pub scales: Option<[Arg<'a>; 2]>,
    /// The rows that parts leave, and their maxima and sums of exponentials.
    pub workspace: Option<&'a [Buffer<f32>; 2]>,
}

/// The arguments of a launch by name.
pub(super) fn args<'a>(
    problem: &DecodeProblem,
    plan: &DecodePlan,
    kernel: &'a DecodeKernel,
    at: &Addresses<'a>,
) -> Vec<(&'a str, Arg<'a>)> {
    let names = kernel.kernel.params().iter().map(|param| &*param.name);
    names.zip(kernel.params.iter().map(|param| value(problem, plan, at, *param))).collect()
}

/// The names of the parameters that each call is given.
pub(super) fn given_names(kernel: &DecodeKernel) -> Vec<&str> {
    let names = kernel.kernel.params().iter().zip(&kernel.params);
    names.filter(|(_, param)| is_given(param)).map(|(named, _)| &*named.name).collect()
}

/// The arguments of these parameters, in their order.
pub(super) fn given<'a>(
    problem: &DecodeProblem,
    plan: &DecodePlan,
    kernel: &DecodeKernel,
    at: &Addresses<'a>,
) -> Vec<Arg<'a>> {
    kernel
        .params
        .iter()
        .filter(|param| is_given(param))
        .map(|param| value(problem, plan, at, *param))
        .collect()
}

/// Whether a parameter is a tensor of the caller's.
fn is_given(param: &P) -> bool {
    matches!(param, P::Q | P::O | P::K | P::V | P::Lengths | P::Table | P::Lse | P::KScale | P::VScale)
}

fn value<'a>(problem: &DecodeProblem, plan: &DecodePlan, at: &Addresses<'a>, param: P) -> Arg<'a> {
    let step = |strides: [i64; 3], mode: usize, narrow: usize| {
        let stride = strides[mode];
        if mode < narrow { Arg::U32(word(stride)) } else { Arg::U64(wide(stride)) }
    };
    let number = |value: i64| Arg::U32(word(value));
    let none = Arg::U64(0);
    // With a cap, the cap's tanh is scaled, and the score is scaled in its power.
    let (outer, inner) = match problem.softcap {
        Some(cap) => (cap, 2.0 * (problem.scale / cap)),
        None => (problem.scale, 0.0),
    };
    let workspace = |i: usize| at.workspace.map_or(none, |buffers| Arg::from(&buffers[i]));
    match param {
        P::Q => at.q,
        P::O => at.o,
        P::K => at.k,
        P::V => at.v,
        P::QStride(mode) => step(problem.rows[0], mode, 2),
        P::OStride(mode) => step(problem.rows[1], mode, 2),
        P::KStride(mode) => step(problem.keys[0], mode, 1),
        P::VStride(mode) => step(problem.keys[1], mode, 1),
        P::HeadDim => number(problem.head_dim),
        P::Queries => number(problem.queries),
        P::Group => number(problem.heads / problem.groups),
        P::HeadTiles => number(plan.tiles[0]),
        P::RowTiles => number(plan.tiles[0] * plan.tiles[1]),
        P::Lengths => at.lengths,
        P::Capacity => number(problem.capacity),
        P::Table => at.table.unwrap_or(none),
        P::TableStride => number(problem.table_stride()),
        P::LastPage => number(problem.pages.map_or(0, |pages| pages.count - 1)),
        P::Scale => Arg::F32(rounded(f64::from(outer) * LOG2_E)),
        P::InnerScale => Arg::F32(rounded(f64::from(inner) * LOG2_E)),
        P::Left => number(problem.left.unwrap_or(0)),
        P::KScale => at.scales.map_or(none, |scales| scales[0]),
        P::VScale => at.scales.map_or(none, |scales| scales[1]),
        P::ScaleStride => number(i64::from(problem.scales == Some(ScalesOf::Head))),
        P::Lse => at.lse.unwrap_or(none),
        P::LseStride(0) => number(problem.queries),
        P::LseStride(_) => Arg::U64(wide(problem.heads * problem.queries)),
        P::Parts => number(plan.parts),
        P::LeastTiles => number(plan.least_tiles),
        P::PartRows => number(problem.lse_len()),
        P::Partials => workspace(0),
        P::PartialTotals => workspace(1),
    }
}
