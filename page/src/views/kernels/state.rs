//! The state of a block after a step of one of its warps.

use girih_notation::values;
use girih_sim::{Flight, InFlight, Phases};
use serde::Serialize;

use super::access::Access;
use super::record::{Record, Step};

#[derive(Serialize)]
pub(super) struct State {
    warp: usize,
    step: usize,
    /// The step's index among those of all warps, and the neighbours there: warp and step.
    number: u32,
    before: Option<[usize; 2]>,
    after: Option<[usize; 2]>,
    line: u32,
    /// The source line that the instruction was compiled from.
    source: Option<String>,
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
    accesses: Vec<Lanes>,
    mbarriers: Vec<Mbarrier>,
    in_flight: Vec<Operation>,
    /// Where the block's other warps are: line and step.
    others: Vec<Option<[usize; 2]>>,
}

/// What lanes access by the instruction.
#[derive(Serialize)]
struct Lanes {
    write: bool,
    space: &'static str,
    /// Bytes of each lane.
    bytes: u32,
    lanes: u32,
    /// The first byte of each lane.
    at: Vec<u64>,
}

#[derive(Serialize)]
struct Mbarrier {
    address: u64,
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
    /// The shared addresses of the first byte and of that after the last.
    reads: Vec<[u64; 2]>,
    writes: Vec<[u64; 2]>,
    signals: Option<u64>,
    done: bool,
}

impl State {
    /// The state after a step of a warp that has it. Registers are all of them, or those that may be others than at the warp's step `from`.
    pub(super) fn of(record: &Record, warp: usize, nth: usize, from: Option<usize>) -> State {
        let number = record.warps[warp][nth];
        let step = &record.steps[number as usize];
        let source = &record.sources[step.source as usize];
        let shown = |at: usize| {
            let held = record.register_at(warp, nth, at);
            held.map_or_else(String::new, |value| values(&record.register(at, &value), 0))
        };
        let writes = &record.writes[step.writes.start as usize..step.writes.end as usize];
        let accesses = &record.accesses[step.accesses.start as usize..step.accesses.end as usize];
        State {
            warp,
            step: nth,
            number,
            before: number.checked_sub(1).and_then(|number| place(record, number)),
            after: place(record, number + 1),
            line: source.line,
            source: source.origin.as_ref().map(ToString::to_string),
            instruction: source.text.to_string(),
            lanes: step.active,
            failed: step.failed,
            done: step.done,
            awaited: step.awaited.map(|awaited| awaited.to_string()),
            values: told(record, warp, [from, Some(nth)]).map(|at| (at, shown(at))).collect(),
            changed: writes.iter().map(|write| write.register).collect(),
            accesses: accesses.iter().map(Lanes::of).collect(),
            mbarriers: mbarriers(record, number),
            in_flight: operations(record, number),
            others: others(record, number),
        }
    }
}

impl Lanes {
    fn of(access: &Access) -> Lanes {
        Lanes {
            write: access.write,
            space: access.space,
            bytes: access.bytes,
            lanes: access.lanes.iter().fold(0, |all, (lane, _)| all | 1 << lane),
            at: access.lanes.iter().map(|(_, address)| *address).collect(),
        }
    }
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
        address: of.address,
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
    let base = record.memory.first().map_or(0, |shared| shared.base);
    let mut all: Vec<Operation> = Vec::new();
    for flight in record.in_flight(number) {
        let of = operation(flight, base);
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

fn operation(of: &InFlight, base: u64) -> Operation {
    let pairs = |ranges: &[std::ops::Range<usize>]| {
        ranges.iter().map(|range| [range.start, range.end].map(|at| base + at as u64)).collect()
    };
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
