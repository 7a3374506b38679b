//! A block: its warps run in turn, each until it waits, exits, or has had its share.

use crate::error::{Other, Waiting};
use crate::lanes::WARP;
use crate::memory::{Nearest, View};
use crate::shadow::{BARRIERS, Finding, Shadow, Stamp, Who};
use crate::{Access, Error, Kernel, Launch, Options, Report, Site, Space};

use super::SHARED_BASE;
use super::warp::{State, Warp};

/// What all blocks of a launch share.
pub(crate) struct Machine<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) view: View,
    /// Parameter space.
    pub(crate) params: Vec<u8>,
    pub(crate) launch: &'a Launch,
    pub(crate) options: &'a Options,
    /// Bytes of shared memory a block.
    pub(crate) shared: usize,
    /// Threads a block.
    pub(crate) threads: u32,
}

/// One of a block's sixteen barriers, while warps have arrived that it has not let go.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Warps that wait.
    waiting: u32,
    /// Warps that have arrived, waiting or not.
    arrived: u32,
    /// Arrivals, as threads: 32 a warp.
    threads: u32,
    /// Threads it waits for; 0 for all that have not exited.
    expected: u32,
}

/// A block's state apart from its warps.
pub(crate) struct Context<'a> {
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) block: [u32; 3],
    pub(crate) shared: Vec<u8>,
    pub(crate) shadow: Option<Shadow>,
    /// The allocation that was hit last.
    pub(crate) last: usize,
    pub(crate) report: Report,
    /// Warp instructions executed by the block, guarded-off ones included.
    pub(crate) steps: u64,
    barriers: [Barrier; BARRIERS],
    /// Warps that have not exited.
    live: u32,
    /// Warps that a barrier has let go.
    released: u32,
}

/// Runs blocks, one after another in the same storage.
pub(crate) struct Block<'a> {
    cx: Context<'a>,
    warps: Vec<Warp>,
}

impl<'a> Block<'a> {
    pub(crate) fn new(machine: &'a Machine<'a>) -> Self {
        let count = machine.threads.div_ceil(WARP as u32);
        let Options { races, uninitialised, .. } = *machine.options;
        let granule = machine.kernel.code.granule;
        let shadow = (races || uninitialised)
            .then(|| Shadow::new(races, uninitialised, machine.shared, granule, count as usize));
        let cx = Context {
            machine,
            block: [0; 3],
            shared: vec![0; machine.shared],
            shadow,
            last: 0,
            report: Report::default(),
            steps: 0,
            barriers: [Barrier::default(); BARRIERS],
            live: 0,
            released: 0,
        };
        Block { cx, warps: (0..count).map(|i| Warp::new(machine, i)).collect() }
    }

    /// Runs the block of this number.
    pub(crate) fn run(&mut self, number: u64) -> Result<Report, Error> {
        self.start(number);
        let mut random = self.cx.machine.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 1;
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        while self.cx.live != 0 {
            if self.cx.machine.options.seed != 0 {
                shuffle(&mut order, &mut random);
            }
            let mut progress = false;
            for &i in &order {
                if matches!(self.warps[i].state, State::Ready) {
                    self.warps[i].run(&mut self.cx)?;
                    self.settle(i);
                    progress = true;
                }
            }
            if !progress {
                return Err(self.deadlock());
            }
        }
        self.cx.report.blocks = 1;
        Ok(self.cx.report)
    }

    fn start(&mut self, number: u64) {
        let [gx, gy, _] = self.cx.machine.launch.grid.map(u64::from);
        self.cx.block = [(number % gx) as u32, (number / gx % gy) as u32, (number / gx / gy) as u32];
        self.cx.shared.fill(0);
        if let Some(shadow) = &mut self.cx.shadow {
            shadow.reset();
        }
        self.cx.report = Report::default();
        self.cx.steps = 0;
        self.cx.barriers = [Barrier::default(); BARRIERS];
        self.cx.live = u32::MAX >> (32 - self.warps.len() as u32).min(31);
        self.cx.released = 0;
        for warp in &mut self.warps {
            warp.start(&self.cx);
        }
    }

    /// After a warp has run: what its exit or arrival lets go.
    fn settle(&mut self, warp: usize) {
        if matches!(self.warps[warp].state, State::Done) {
            self.cx.live &= !(1 << warp);
            for id in 0..BARRIERS {
                self.cx.try_complete(id);
            }
        }
        for i in super::lanes(std::mem::take(&mut self.cx.released)) {
            self.warps[i].state = State::Ready;
        }
    }

    fn deadlock(&self) -> Error {
        let waiting = self.warps.iter().filter_map(|warp| {
            let State::Waiting { barrier, source } = warp.state else { return None };
            let Barrier { threads, expected, .. } = self.cx.barriers[barrier as usize];
            let expected = if expected == 0 { self.cx.live.count_ones() * WARP as u32 } else { expected };
            let line = self.cx.machine.kernel.place(source).line;
            Some(Waiting { warp: warp.index, line, barrier, arrived: threads, expected })
        });
        Error::Deadlock {
            kernel: self.cx.machine.kernel.name.clone(),
            block: self.cx.block,
            waiting: waiting.collect(),
        }
    }
}

/// A random order, from a xorshift state.
fn shuffle(order: &mut [usize], state: &mut u64) {
    for i in (1..order.len()).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state = (*state).max(1);
        order.swap(i, (*state % (i as u64 + 1)) as usize);
    }
}

impl Context<'_> {
    /// A warp arrives at a barrier for `expected` threads (0: all that have not exited). Tells what it should have
    /// been if the warps before it expected another number, or if there are too many.
    pub(crate) fn arrive(&mut self, warp: u32, id: usize, expected: u32, sync: bool) -> Result<(), u32> {
        let barrier = &mut self.barriers[id];
        if barrier.threads > 0 && barrier.expected != expected {
            return Err(barrier.expected);
        }
        barrier.expected = expected;
        barrier.threads += WARP as u32;
        barrier.arrived |= 1 << warp;
        if sync {
            barrier.waiting |= 1 << warp;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.arrive(warp as usize, id, sync);
        }
        self.try_complete(id);
        Ok(())
    }

    fn try_complete(&mut self, id: usize) {
        let Barrier { waiting, arrived, threads, expected } = self.barriers[id];
        let complete = if expected == 0 { self.live & !arrived == 0 } else { threads >= expected };
        if threads == 0 || !complete {
            return;
        }
        self.barriers[id] = Barrier::default();
        self.released |= waiting;
        if let Some(shadow) = &mut self.shadow {
            shadow.complete(id, waiting);
        }
    }

    /// An instruction and a thread of this block, for a message.
    pub(crate) fn site(&self, source: u32, thread: u32) -> Box<Site> {
        let [x, y, _] = self.machine.launch.block;
        let thread = [thread % x, thread / x % y, thread / x / y];
        Box::new(Site { place: self.machine.kernel.place(source), block: self.block, thread })
    }

    pub(crate) fn at(&self, who: Who) -> Box<Site> {
        self.site(who.source, who.warp * WARP as u32 + who.lane)
    }

    /// The offset of a shared access in the block's memory.
    #[inline]
    pub(crate) fn shared_at(
        &self,
        who: Who,
        access: Access,
        address: u64,
        bytes: u32,
    ) -> Result<usize, Error> {
        let offset = address.wrapping_sub(SHARED_BASE);
        let len = self.shared.len() as u64;
        if offset <= len && u64::from(bytes) <= len - offset {
            return Ok(offset as usize);
        }
        Err(self.shared_out_of_bounds(who, access, address, bytes))
    }

    #[cold]
    fn shared_out_of_bounds(&self, who: Who, access: Access, address: u64, bytes: u32) -> Error {
        let len = self.shared.len() as u64;
        let nearest =
            if len == 0 { Nearest::None } else { Nearest::region(SHARED_BASE, len, address, bytes.into()) };
        Error::OutOfBounds { at: self.at(who), access, space: Space::Shared, address, bytes, nearest }
    }

    /// Turns a finding into an error of this place.
    #[cold]
    pub(crate) fn found(
        &self,
        who: Who,
        access: Access,
        offset: usize,
        bytes: u32,
        finding: Finding,
    ) -> Error {
        let at = self.at(who);
        let address = SHARED_BASE + offset as u64;
        let other = |access: Access, stamp: Stamp| {
            Box::new(Other { access, at: *self.site(stamp.source, stamp.thread) })
        };
        match finding {
            Finding::Unwritten => Error::UninitialisedMemory { at, space: Space::Shared, address, bytes },
            Finding::InFlight(stamp) => {
                Error::InFlight { at, access, address, copy: other(Access::Write, stamp) }
            }
            Finding::Race { offset, access: earlier, other: stamp } => {
                let address = address.max(SHARED_BASE + offset as u64);
                Error::Race { at, access, address, other: other(earlier, stamp) }
            }
        }
    }
}
