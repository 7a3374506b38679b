//! Records what the warps of a block do while the simulator runs them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use girih_sim::{Flight, InFlight, Memory, Moment, Observer, Phases};

use super::access::{self, Access};
use super::class::{Class, opcode};
use super::clock::Clock;
use super::image::Image;
use super::record::{Record, Source, Step, Value, is_own};

/// The most instructions that are recorded of a block.
pub(super) const MOST_STEPS: usize = 200_000;
/// The most bytes that a record takes.
const MOST_BYTES: usize = 128 << 20;
/// The first address of shared memory in the simulator.
const SHARED: u64 = 1024;

/// An observer of all warps of a block.
pub(super) struct Recorder {
    block: [u32; 3],
    /// Global memory, if its arrays are recorded too.
    memory: Option<Arc<Memory>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    clock: Clock,
    /// The numbers of instructions, by the address of their text, which is the simulator's.
    sources: HashMap<usize, u32>,
    /// The numbers of registers, by the address of their name.
    names: HashMap<usize, u32>,
    /// What each warp has begun.
    begun: Vec<Option<Begun>>,
    /// The accumulators of products are written when a warp waits for them: what registers held before.
    known: Vec<HashMap<u32, Value>>,
    last: Option<u32>,
}

/// An instruction that a warp has begun.
struct Begun {
    source: u32,
    active: u32,
    /// The simulator's count.
    order: u64,
    accesses: Vec<Access>,
}

impl Recorder {
    /// A recorder of this block of the first kernel that runs.
    pub(super) fn new(block: [u32; 3], memory: Option<Arc<Memory>>) -> Recorder {
        Recorder { block, memory, state: Mutex::default() }
    }

    /// The record. A warp that was executing an instruction when the launch ended has it as its last step.
    pub(super) fn take(&self) -> Record {
        let mut state = std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        let begun = std::mem::take(&mut state.begun);
        for (warp, begun) in begun.into_iter().enumerate() {
            if let Some(Begun { source, active, order, .. }) = begun {
                let times = state.clock.tick(warp, None);
                let [end, accesses] =
                    [state.record.writes.len(), state.record.accesses.len()].map(|n| n as u32);
                let step = Step {
                    warp: warp as u32,
                    source,
                    active,
                    failed: false,
                    done: false,
                    order: [order, order + 1],
                    times,
                    awaited: None,
                    writes: end..end,
                    accesses: accesses..accesses,
                };
                state.push(step);
            }
        }
        state.record
    }

    /// Calls a function with the state, if the moment is of the kernel that is recorded and there is room.
    fn with(&self, moment: &Moment<'_>, tell: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.record.registers.is_empty() && state.record.kernel.is_empty() {
            state.start(moment);
            if let Some(memory) = &self.memory {
                state.record.arrays(moment, memory);
            }
        }
        if state.record.cut || state.record.kernel != moment.kernel().name() {
            return;
        }
        if state.record.steps.len() >= MOST_STEPS || state.record.bytes() > MOST_BYTES {
            state.record.cut = true;
            state.begun.clear();
            return;
        }
        tell(&mut state);
    }
}

impl Observer for Recorder {
    fn chooses(&self, block: [u32; 3], _: u32) -> bool {
        block == self.block
    }

    fn before(&self, moment: &Moment<'_>) {
        self.with(moment, |state| {
            let (warp, source) = (moment.warp() as usize, state.source(moment));
            state.reach(warp);
            if state.last != Some(moment.warp()) {
                // Between turns of warps, asynchronous operations go on.
                let before = state.record.steps.len().saturating_sub(1) as u32;
                state.look(moment, before, None);
            }
            state.last = Some(moment.warp());
            let accesses = match state.record.sources[source as usize].class {
                Class::Memory | Class::Copy => access::of(moment),
                _ => Vec::new(),
            };
            let (active, order) = (moment.active(), moment.step());
            state.begun[warp] = Some(Begun { source, active, order, accesses });
        });
    }

    fn after(&self, moment: &Moment<'_>) {
        self.with(moment, |state| {
            state.reach(moment.warp() as usize);
            state.executed(moment, self.memory.as_deref());
        });
    }
}

impl State {
    fn start(&mut self, moment: &Moment<'_>) {
        self.record.kernel = moment.kernel().name().into();
        self.record.block = moment.block();
        (self.record.grid, self.record.threads) = (moment.launch().grid, moment.launch().block);
        let begin = vec![0; moment.shared().len()];
        self.record.memory = vec![Image::new("shared memory".into(), SHARED, begin)];
        for register in moment.registers() {
            self.names.insert(register.name.as_ptr().addr(), self.record.registers.len() as u32);
            self.record.registers.push((Arc::from(register.name), register.ty));
        }
    }

    fn reach(&mut self, warp: usize) {
        let warps = self.begun.len().max(warp + 1);
        self.begun.resize_with(warps, || None);
        self.known.resize_with(warps, HashMap::new);
        self.record.warps.resize_with(warps, Vec::new);
        self.record.own.resize_with(warps, Default::default);
        self.record.written.resize_with(warps, HashMap::new);
    }

    /// The number of a moment's instruction.
    fn source(&mut self, moment: &Moment<'_>) -> u32 {
        let sources = &mut self.record.sources;
        let text = moment.instruction();
        *self.sources.entry(text.as_ptr().addr()).or_insert_with(|| {
            let origin = moment.origin().map(|origin| origin.to_string().into());
            sources.push(Source {
                line: moment.line(),
                text: Arc::from(text),
                class: Class::of(text),
                origin,
            });
            sources.len() as u32 - 1
        })
    }

    fn push(&mut self, step: Step) {
        let number = self.record.steps.len() as u32;
        self.record.warps[step.warp as usize].push(number);
        self.record.steps.push(step);
    }

    fn executed(&mut self, moment: &Moment<'_>, memory: Option<&Memory>) {
        let (warp, number) = (moment.warp(), self.record.steps.len() as u32);
        let source = self.source(moment);
        let Source { class, ref text, .. } = self.record.sources[source as usize];
        let words: Box<str> = opcode(text).into();
        let begun = self.begun[warp as usize].take();
        let order = begun.as_ref().map_or(moment.step(), |begun| begun.order);
        let accesses = begun.map(|begun| begun.accesses).unwrap_or_default();
        let before = self.record.mbarriers.last().cloned().unwrap_or_default();
        if moment.passed().is_some() {
            // The phase that the warp has waited for was completed by others.
            self.arrive(moment, &before, None);
        }
        let times = self.clock.tick(warp as usize, moment.passed());
        let first = self.record.writes.len() as u32;
        self.write(moment, &words);
        if class != Class::Other {
            // What a barrier or a wait changes in shared memory was in flight before.
            let by = (class != Class::Barrier).then_some(warp);
            self.meet(moment, &words);
            self.signal(moment, class);
            if moment.passed().is_none() {
                self.arrive(moment, &before, (moment.active() != 0).then_some(warp));
            }
            self.look(moment, number, by);
        }
        self.record.typed(&words, &accesses);
        if let Some(memory) = memory {
            self.record.global((moment, memory), &words, number, &accesses);
        }
        let begin = self.record.accesses.len() as u32;
        self.record.held += accesses.iter().map(|of| size_of_val(&*of.lanes)).sum::<usize>();
        self.record.accesses.extend(accesses);
        self.push(Step {
            warp,
            source,
            active: moment.active(),
            failed: moment.failed(),
            done: true,
            order: [order, moment.step()],
            times,
            awaited: moment.awaited(),
            writes: first..self.record.writes.len() as u32,
            accesses: begin..self.record.accesses.len() as u32,
        });
    }

    /// Notes the registers that a step has written.
    fn write(&mut self, moment: &Moment<'_>, words: &str) {
        let known = &mut self.known[moment.warp() as usize];
        let waited = words.starts_with("wgmma.wait");
        if moment.active() == 0 {
            return;
        }
        if waited {
            for register in moment.registers() {
                let Some(&number) = self.names.get(&register.name.as_ptr().addr()) else { continue };
                let value = Value { lanes: register.lanes, written: register.written };
                let same = known.get(&number).map_or(register.written == 0, |known| {
                    known.lanes == value.lanes && known.written == value.written
                });
                if !same {
                    self.record.write(moment.warp(), number, &value);
                    known.insert(number, value);
                }
            }
            return;
        }
        for register in moment.writes() {
            let Some(&number) = self.names.get(&register.name.as_ptr().addr()) else { continue };
            let value = Value { lanes: register.lanes, written: register.written };
            self.record.write(moment.warp(), number, &value);
            known.insert(number, value);
        }
    }

    /// Tells the clock of barriers of the block.
    fn meet(&mut self, moment: &Moment<'_>, words: &str) {
        let barrier = words.starts_with("bar.") || words.starts_with("barrier.");
        if !barrier || words.contains("cluster") || words.contains("warp") || moment.active() == 0 {
            return;
        }
        let operands = moment.instruction().split_once(words).map_or("", |(_, rest)| rest);
        let name = match words.contains(".red") {
            true => operands.split(',').nth(1),
            false => operands.split(',').next(),
        };
        let name = name.unwrap_or_default().trim().trim_end_matches(';');
        self.clock.meet(moment.warp() as usize, name, !words.contains(".arrive"));
    }

    /// Tells the clock of operations that will signal an mbarrier.
    fn signal(&mut self, moment: &Moment<'_>, class: Class) {
        if class != Class::Copy {
            return;
        }
        let own = |flight: &&InFlight| {
            flight.kind == Flight::Bulk
                && flight.warp == moment.warp()
                && flight.block == moment.block()
                && flight.line == moment.line()
        };
        for mbarrier in moment.in_flight().iter().filter(own).filter_map(|flight| flight.signals) {
            self.clock.arrive(moment.warp() as usize, mbarrier);
        }
    }

    /// Tells the clock what has become of mbarriers since they were as in `before`, by this warp or by nobody.
    fn arrive(&mut self, moment: &Moment<'_>, before: &[Phases], by: Option<u32>) {
        for mbarrier in moment.mbarriers() {
            let old = before.iter().find(|old| old.address == mbarrier.address);
            if old == Some(&mbarrier) {
                continue;
            }
            if let Some(warp) = by {
                self.clock.arrive(warp as usize, mbarrier.address);
            }
            let completed = old.map_or(0, |old| old.completed)..mbarrier.completed;
            if !completed.is_empty() {
                self.clock.complete(mbarrier.address, completed);
            }
        }
    }

    /// Notes the block's shared memory, mbarriers and operations in flight from a step on.
    fn look(&mut self, moment: &Moment<'_>, step: u32, by: Option<u32>) {
        if let Some(shared) = self.record.memory.first_mut() {
            shared.put(step, by, 0, moment.shared());
        }
        let before = self.record.mbarriers.last().cloned().unwrap_or_default();
        let now = moment.mbarriers();
        if now != before {
            if step as usize != self.record.steps.len() {
                self.arrive(moment, &before, None);
            }
            self.record.held += now.len() * size_of::<Phases>();
            self.record.mbarriers.put(step, now);
        }
        let (own, bulk): (Vec<InFlight>, Vec<InFlight>) = moment.in_flight().into_iter().partition(is_own);
        for (changes, now) in
            [(&mut self.record.own[moment.warp() as usize], own), (&mut self.record.bulk, bulk)]
        {
            let ranges =
                |of: &InFlight| (of.reads.len() + of.writes.len()) * size_of::<std::ops::Range<usize>>();
            let bytes: usize = now.iter().map(|of| size_of::<InFlight>() + ranges(of)).sum();
            if changes.put(step, now) {
                self.record.held += bytes;
            }
        }
    }
}
