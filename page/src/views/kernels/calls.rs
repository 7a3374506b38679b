//! The calls of the view: a launch is recorded once, and every step is answered from the record.

use std::sync::Arc;

use girih_programs::ENTRIES;
use serde::{Deserialize, Serialize};

use super::state::State;
use super::timeline::{Stretch, timeline};
use super::{Answer, Run, examples, named, recording, run};
use crate::Fault;
use crate::views::{Call, Nothing, calls};

pub(crate) const CALLS: &[Call] = calls! {
    "list" => list, "run" => launched, "step" => step, "find" => find, "timeline" => times, "recording" => recorded,
};

/// What there is to run by name.
#[derive(Serialize)]
struct List {
    kernels: Vec<Choice>,
    /// Programs over tiles, with their small sizes.
    programs: Vec<Choice>,
    examples: &'static [examples::Example],
    /// How launches are written.
    help: [&'static str; 2],
}

#[derive(Serialize)]
struct Choice {
    name: &'static str,
    about: &'static str,
    sizes: Vec<(&'static str, i64)>,
}

fn list(_: Nothing) -> Result<List, Fault> {
    let small = |entry: &girih_programs::Entry| {
        entry.sizes().iter().map(|size| (size.name, size.small as i64)).collect()
    };
    Ok(List {
        kernels: named::KERNELS
            .iter()
            .map(|of| Choice { name: of.name, about: of.about, sizes: of.sizes.to_vec() })
            .collect(),
        programs: ENTRIES.iter().map(|of| Choice { name: of.name, about: "", sizes: small(of) }).collect(),
        examples: examples::EXAMPLES,
        help: [girih_notation::ARGUMENTS, girih_notation::LAUNCHES],
    })
}

fn launched(request: run::Request) -> Result<serde_json::Value, Fault> {
    Ok(serde_json::to_value(Answer::of(&*run::get(&request)?))?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    run: String,
    warp: usize,
    /// The step among the warp's own, from 0; the last one for more than there are.
    step: usize,
    /// The step of this warp that the caller has shown before, if it wants to know no more than what is different.
    #[serde(default)]
    from: Option<usize>,
}

fn step(request: Step) -> Result<State, Fault> {
    let run = known(&request.run)?;
    let warps = &run.record.warps;
    if warps.get(request.warp).is_none_or(Vec::is_empty) {
        let message =
            format!("no warp {}: the block has warps 0 to {}", request.warp, warps.len().saturating_sub(1));
        return Err(Fault::new("no_warp", message).in_field("warp"));
    }
    let last = warps[request.warp].len() - 1;
    Ok(State::of(&run.record, request.warp, request.step.min(last), request.from))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    run: String,
    warp: usize,
    line: u32,
    /// The step of the warp after which the line is looked for; from the first step on if there is none after it.
    after: usize,
}

/// The warp, and its next step at a line; none if the warp never comes there.
fn find(request: Line) -> Result<Option<[usize; 2]>, Fault> {
    let Line { run, warp, line, after } = request;
    let run = known(&run)?;
    let record = &run.record;
    let steps = record.warps.get(warp).map_or(&[][..], Vec::as_slice);
    let here = |number: &u32| record.sources[record.steps[*number as usize].source as usize].line == line;
    let all = || steps.iter().enumerate().filter(|(_, number)| here(number)).map(|(nth, _)| nth);
    let next = all().find(|nth| *nth > after).or_else(|| all().next());
    Ok(next.map(|nth| [warp, nth]))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    run: String,
    /// Whether the warps are shown beside each other, rather than in the simulator's order.
    beside: bool,
}

fn times(request: Times) -> Result<Vec<Vec<Stretch>>, Fault> {
    Ok(timeline(&known(&request.run)?.record, request.beside))
}

/// A run by its name.
fn known(id: &str) -> Result<Arc<Run>, Fault> {
    run::find(id)
        .ok_or_else(|| Fault::new("no_run", format!("the run {id:?} is not kept any more: run it again")))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    run: String,
}

/// The recording of a run, a page of its own.
fn recorded(request: Kept) -> Result<String, Fault> {
    recording::html(&*known(&request.run)?)
}
