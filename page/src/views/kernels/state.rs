//! The state of a block after a step of one of its warps.

use girih_notation::{Tile, value, values};
use girih_sim::{Flight, InFlight, Phases};
use serde::{Deserialize, Serialize};

use super::record::{Record, Step};
use crate::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    run: String,
    warp: usize,
    /// The step among the warp's own, from 0; the last one for more than there are.
    step: usize,
    /// The step of this warp that the caller has shown before, if it wants to know no more than what is different.
    #[serde(default)]
    from: Option<usize>,
    /// The registers whose lanes are shown one by one.
    #[serde(default)]
    open: Vec<String>,
    /// A part of shared memory, as `girih sim --tile` takes it.
    #[serde(default)]
    tile: String,
}

#[derive(Serialize)]
pub(super) struct State {
    warp: usize,
    step: usize,
    /// The step's number among those of all warps, and the neighbours there: warp and step.
    number: u32,
    before: Option<[usize; 2]>,
    after: Option<[usize; 2]>,
    line: u32,
    instruction: String,
    lanes: u32,
    failed: bool,
    done: bool,
    /// What the warp has waited for.
    awaited: Option<String>,
    /// The values of registers by their numbers, empty for those that have none: of all, or of those that may be others than at the step
    /// `from`.
    values: Vec<(usize, String)>,
    /// The registers that the step has written.
    changed: Vec<u32>,
    open: Vec<Lanes>,
    mbarriers: Vec<Mbarrier>,
    in_flight: Vec<Operation>,
    memory: Memory,
    tile: Vec<Vec<String>>,
    /// Where the block's other warps are: line and step.
    others: Vec<Option<[usize; 2]>>,
}

#[derive(Serialize)]
struct Lanes {
    register: usize,
    lanes: Vec<String>,
}

#[derive(Serialize)]
struct Mbarrier {
    offset: usize,
    /// Completed phases; the parity of the current one is that of this number.
    completed: u64,
    pending: u32,
    expected: u32,
    transactions: i64,
    changed: bool,
}

/// An operation in flight, or several of one instruction that differ in nothing that is told but their warps.
#[derive(PartialEq, Serialize)]
struct Operation {
    count: usize,
    warps: Vec<u32>,
    line: u32,
    instruction: String,
    block: [u32; 3],
    lanes: u32,
    bytes: u64,
    reads: Vec<[usize; 2]>,
    writes: Vec<[usize; 2]>,
    signals: Option<u64>,
    done: bool,
}

/// Shared memory in cells of `unit` bytes.
#[derive(Serialize)]
struct Memory {
    unit: usize,
    /// Runs of equal cells: how many, who has changed them last (0 nobody, 1 an asynchronous operation, 2 warp 0, 3 warp 1 and so on), how long
    /// ago (0 in this step, 1 in the last 32 steps of the block, 2 in the last 1024, 3 before), and what is in flight (1 going to be
    /// written, 2 going to be read, 3 both).
    runs: Vec<[u32; 4]>,
}

/// The most cells.
const CELLS: usize = 4096;

pub(super) fn step(request: Request) -> Result<State, Fault> {
    let run = super::known(&request.run)?;
    let record = &run.record;
    let steps = record.warps.get(request.warp).filter(|steps| !steps.is_empty()).ok_or_else(|| {
        let message = format!(
            "no warp {}: the block has warps 0 to {}",
            request.warp,
            record.warps.len().saturating_sub(1)
        );
        Fault::new("no_warp", message).in_field("warp")
    })?;
    let nth = request.step.min(steps.len() - 1);
    let number = steps[nth];
    let step = &record.steps[number as usize];
    let source = &record.sources[step.source as usize];
    let held = |register: usize| record.register_at(request.warp, nth, register);
    let shown =
        |at: usize| held(at).map_or_else(String::new, |value| values(&record.register(at, &value), 0));
    let writes = &record.writes[step.writes.start as usize..step.writes.end as usize];
    let lanes = |name: &String| {
        let register = record.registers.iter().position(|(known, _)| **known == **name)?;
        let (ty, of) = (record.registers[register].1, held(register));
        let shown = |lane: usize| match of {
            Some(of) if of.written >> lane & 1 == 1 => value(ty, of.lanes[lane]),
            _ => "-".into(),
        };
        Some(Lanes { register, lanes: (0..32).map(shown).collect() })
    };
    Ok(State {
        warp: request.warp,
        step: nth,
        number,
        before: number.checked_sub(1).and_then(|number| place(record, number)),
        after: place(record, number + 1),
        line: source.line,
        instruction: source.text.to_string(),
        lanes: step.active,
        failed: step.failed,
        done: step.done,
        awaited: step.awaited.map(|awaited| awaited.to_string()),
        values: told(record, request.warp, [request.from, Some(nth)]).map(|at| (at, shown(at))).collect(),
        changed: writes.iter().map(|write| write.register).collect(),
        open: request.open.iter().filter_map(lanes).collect(),
        mbarriers: mbarriers(record, number),
        in_flight: operations(record, number),
        memory: cells(record, number),
        tile: tile(&request.tile, record, number)?,
        others: others(record, number),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    run: String,
    warp: usize,
    line: u32,
    /// The step of the warp after which the line is looked for; from the first step on if there is none behind it.
    after: usize,
}

/// The warp, and its next step at a line; none if the warp never comes there.
pub(super) fn find(request: Line) -> Result<Option<[usize; 2]>, Fault> {
    let Line { run, warp, line, after } = request;
    let run = super::known(&run)?;
    let record = &run.record;
    let steps = record.warps.get(warp).map_or(&[][..], Vec::as_slice);
    let here = |number: &u32| record.sources[record.steps[*number as usize].source as usize].line == line;
    let all = || steps.iter().enumerate().filter(|(_, number)| here(number)).map(|(nth, _)| nth);
    let next = all().find(|nth| *nth > after).or_else(|| all().next());
    Ok(next.map(|nth| [warp, nth]))
}

/// The warp, and the number among the warp's own, of a step of the block.
fn place(record: &Record, number: u32) -> Option<[usize; 2]> {
    let Step { warp, .. } = record.steps.get(number as usize)?;
    let nth = record.warps[*warp as usize].binary_search(&number).ok()?;
    Some([*warp as usize, nth])
}

/// The line and the step of the last instruction of each warp.
fn others(record: &Record, number: u32) -> Vec<Option<[usize; 2]>> {
    let of = |steps: &Vec<u32>| {
        let nth = steps.partition_point(|&step| step <= number).checked_sub(1)?;
        let step = &record.steps[steps[nth] as usize];
        Some([record.sources[step.source as usize].line as usize, nth])
    };
    record.warps.iter().map(of).collect()
}

fn mbarriers(record: &Record, number: u32) -> Vec<Mbarrier> {
    let before = number.checked_sub(1).and_then(|before| record.mbarriers.at(before));
    let now = record.mbarriers.at(number).into_iter().flatten();
    now.map(|of: &Phases| Mbarrier {
        offset: of.offset,
        completed: of.completed,
        pending: of.pending,
        expected: of.expected,
        transactions: of.transactions,
        changed: !before.is_some_and(|before| before.contains(of)),
    })
    .collect()
}

/// The registers whose values may differ between two steps of a warp, or all of them.
fn told(record: &Record, warp: usize, steps: [Option<usize>; 2]) -> Box<dyn Iterator<Item = usize>> {
    let own = &record.warps[warp];
    let between = match steps {
        [Some(a), Some(b)] => own.get(a.min(b) + 1..a.max(b) + 1),
        _ => None,
    };
    let Some(between) = between.filter(|between| between.len() <= NEAR) else {
        return Box::new(0..record.registers.len());
    };
    let mut all: Vec<usize> = between
        .iter()
        .map(|&number| &record.steps[number as usize].writes)
        .flat_map(|writes| &record.writes[writes.start as usize..writes.end as usize])
        .map(|write| write.register as usize)
        .collect();
    all.sort_unstable();
    all.dedup();
    Box::new(all.into_iter())
}

/// Steps that are so near that all registers written in between are told one by one.
const NEAR: usize = 256;

/// What is in flight after a step; products of one instruction together.
fn operations(record: &Record, number: u32) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    for flight in record.in_flight(number) {
        let of = operation(flight);
        let same = |known: &&mut Operation| {
            flight.kind == Flight::Product && known.line == of.line && known.instruction == of.instruction
        };
        match all.iter_mut().find(same) {
            Some(known) => {
                known.count += 1;
                if !known.warps.contains(&flight.warp) {
                    known.warps.push(flight.warp);
                }
            }
            None => all.push(of),
        }
    }
    all
}

fn operation(of: &InFlight) -> Operation {
    let pairs =
        |ranges: &[std::ops::Range<usize>]| ranges.iter().map(|range| [range.start, range.end]).collect();
    Operation {
        count: 1,
        warps: vec![of.warp],
        line: of.line,
        instruction: of.instruction.to_string(),
        block: of.block,
        lanes: of.lanes,
        bytes: of.bytes,
        reads: pairs(&of.reads),
        writes: pairs(&of.writes),
        signals: of.signals,
        done: of.done,
    }
}

fn cells(record: &Record, number: u32) -> Memory {
    let mut unit = 4;
    while record.shared.size() > unit * CELLS {
        unit *= 2;
    }
    let all = record.shared.cells(number, unit);
    let age = |step: u32| match number.saturating_sub(step) {
        0 => 0,
        1..=32 => 1,
        33..=1024 => 2,
        _ => 3,
    };
    let mut flight = vec![0u32; all.len()];
    for operation in record.in_flight(number).filter(|operation| !operation.done) {
        for (ranges, bit) in [(&operation.writes, 1), (&operation.reads, 2)] {
            for range in ranges.iter().filter(|range| !range.is_empty()) {
                for cell in flight.iter_mut().take((range.end - 1) / unit + 1).skip(range.start / unit) {
                    *cell |= bit;
                }
            }
        }
    }
    let mut runs: Vec<[u32; 4]> = Vec::new();
    for (cell, flight) in all.iter().zip(flight) {
        let told = [cell.by, age(cell.step), flight];
        match runs.last_mut() {
            Some(last) if last[1..] == told => last[0] += 1,
            _ => runs.push([1, told[0], told[1], told[2]]),
        }
    }
    Memory { unit, runs }
}

fn tile(text: &str, record: &Record, number: u32) -> Result<Vec<Vec<String>>, Fault> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let tile: Tile = text.trim().parse().map_err(|error| Fault::from(error).in_field("tile"))?;
    let size = record.shared.size();
    if tile.end() > size as u128 {
        let message =
            format!("the block has {size} bytes of shared memory, and the tile ends at {}", tile.end());
        return Err(Fault::new("tile", message).in_field("tile"));
    }
    Ok(tile.cells(&record.shared.at(number)))
}
