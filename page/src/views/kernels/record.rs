//! What the warps of a block have done, instruction by instruction, from which every state is reconstructed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use girih_ptx::Type;
use girih_sim::{Awaited, Flight, InFlight, Phases, Register};

use super::access::Access;
use super::class::Class;
use super::clock::Times;
use super::image::Image;

/// An instruction that a warp has executed.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) warp: u32,
    /// The instruction, by its number in [`Record::sources`].
    pub(super) source: u32,
    /// The lanes that have executed it.
    pub(super) active: u32,
    /// Whether there was a finding at it.
    pub(super) failed: bool,
    /// Whether it was executed; else the launch ended while the warp waited at it.
    pub(super) done: bool,
    /// The simulator's count of instructions when it was begun and when it was executed.
    pub(super) order: [u64; 2],
    /// The same by the warps' own clocks.
    pub(super) times: Times,
    pub(super) awaited: Option<Awaited>,
    /// What it has written, in [`Record::writes`].
    pub(super) writes: Range<u32>,
    /// What its lanes access, in [`Record::accesses`].
    pub(super) accesses: Range<u32>,
}

/// An instruction of the text.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) line: u32,
    pub(super) text: Arc<str>,
    pub(super) class: Class,
    /// The source line that it was compiled from.
    pub(super) origin: Option<Arc<str>>,
}

/// What a step has written to a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) register: u32,
    /// The lanes in which the register has a value.
    written: u32,
    /// Where the values of the lanes begin in [`Record::values`].
    at: u32,
    /// Whether one value stands for all lanes.
    uniform: bool,
}

/// Values that hold from a step on.
#[derive(Clone, Debug)]
pub(super) struct Changes<T>(Vec<(u32, T)>);

impl<T> Default for Changes<T> {
    fn default() -> Self {
        Changes(Vec::new())
    }
}

impl<T: Default + PartialEq> Changes<T> {
    /// The value after a step.
    pub(super) fn at(&self, step: u32) -> Option<&T> {
        let after = self.0.partition_point(|(from, _)| *from <= step);
        after.checked_sub(1).map(|i| &self.0[i].1)
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.0.last().map(|(_, value)| value)
    }

    /// Notes the value from a step on; returns whether it is another than before.
    pub(super) fn put(&mut self, step: u32, value: T) -> bool {
        match self.0.last_mut() {
            Some((_, last)) if *last == value => return false,
            None if value == T::default() => return false,
            Some((from, last)) if *from == step => *last = value,
            _ => self.0.push((step, value)),
        }
        true
    }
}

/// What a block has done.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) kernel: String,
    pub(super) block: [u32; 3],
    /// Blocks of the launch, and threads of a block.
    pub(super) grid: [u32; 3],
    pub(super) threads: [u32; 3],
    pub(super) registers: Vec<(Arc<str>, Type)>,
    pub(super) sources: Vec<Source>,
    /// The instructions of all warps, in the order of their execution.
    pub(super) steps: Vec<Step>,
    /// The steps of each warp, by their numbers in `steps`.
    pub(super) warps: Vec<Vec<u32>>,
    pub(super) writes: Vec<Write>,
    pub(super) values: Vec<u64>,
    pub(super) accesses: Vec<Access>,
    /// Shared memory, then arrays in global memory.
    pub(super) memory: Vec<Image>,
    /// Arrays that are too large to be recorded.
    pub(super) left_out: Vec<String>,
    pub(super) mbarriers: Changes<Vec<Phases>>,
    /// Bulk operations of the block, then what each warp has in flight by itself.
    pub(super) bulk: Changes<Vec<InFlight>>,
    pub(super) own: Vec<Changes<Vec<InFlight>>>,
    /// Bytes of these, of the mbarriers and of what lanes access, about.
    pub(super) held: usize,
    /// For each warp the writes of each register, by their numbers in `writes`.
    pub(super) written: Vec<HashMap<u32, Vec<u32>>>,
    /// Whether there was more than is recorded.
    pub(super) cut: bool,
}

/// A register of a warp with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) lanes: [u64; 32],
    pub(super) written: u32,
}

impl Record {
    /// Bytes that the record takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.steps.len() * size_of::<Step>()
            + self.writes.len() * size_of::<Write>()
            + self.values.len() * size_of::<u64>()
            + self.writes.len() * size_of::<u32>()
            + self.memory.iter().map(Image::bytes).sum::<usize>()
            + self.held
    }

    /// Notes what the next step of a warp writes to a register.
    pub(super) fn write(&mut self, warp: u32, register: u32, value: &Value) {
        let uniform = value.lanes.iter().all(|lane| *lane == value.lanes[0]);
        let at = self.values.len() as u32;
        self.values.extend_from_slice(if uniform { &value.lanes[..1] } else { &value.lanes });
        if let Some(of) = self.written.get_mut(warp as usize) {
            of.entry(register).or_default().push(self.writes.len() as u32);
        }
        self.writes.push(Write { register, written: value.written, at, uniform });
    }

    /// What a register of a warp has after the step of this number among the warp's own; none if it has no value yet.
    pub(super) fn register_at(&self, warp: usize, step: usize, register: usize) -> Option<Value> {
        let end = self.steps[self.warps[warp][step] as usize].writes.end;
        let all = self.written.get(warp)?.get(&(register as u32))?;
        let last = all.partition_point(|&write| write < end).checked_sub(1)?;
        Some(self.value(&self.writes[all[last] as usize]))
    }

    fn value(&self, write: &Write) -> Value {
        let at = write.at as usize;
        let lanes = match write.uniform {
            true => [self.values[at]; 32],
            false => std::array::from_fn(|lane| self.values[at + lane]),
        };
        Value { lanes, written: write.written }
    }

    /// A register as the reports of the command line take it.
    pub(super) fn register(&self, number: usize, value: &Value) -> Register<'_> {
        let (name, ty) = &self.registers[number];
        Register { name, ty: *ty, lanes: value.lanes, written: value.written }
    }

    /// What is in flight after a step, by its index in the block.
    pub(super) fn in_flight(&self, step: u32) -> impl Iterator<Item = &InFlight> {
        self.bulk.at(step).into_iter().chain(self.own.iter().filter_map(move |own| own.at(step))).flatten()
    }

    /// The step of a warp, by its number among the warp's own, that executes a line: the one with a finding if there is one, else
    /// the last one up to the step `upto` of the block, else the first one.
    pub(super) fn find(&self, warp: usize, line: u32, upto: Option<u32>) -> Option<usize> {
        let steps = self.warps.get(warp)?;
        let here = |number: &&u32| self.sources[self.steps[**number as usize].source as usize].line == line;
        let all = || steps.iter().enumerate().filter(|(_, number)| here(number));
        let chosen = match upto {
            None => all().find(|(_, number)| self.steps[**number as usize].failed),
            Some(upto) => all().take_while(|(_, number)| **number <= upto).last(),
        };
        chosen.or_else(|| all().next()).map(|(nth, _)| nth)
    }
}

/// Whether a warp knows an operation that is in flight by itself, and the other warps do not.
pub(super) fn is_own(flight: &InFlight) -> bool {
    matches!(flight.kind, Flight::Copy | Flight::Product)
}
