//! Reports the instructions that a warp executes to an observer.

use std::ops::Range;

use crate::error::Awaited;
use crate::lanes::Reg;
use crate::observe::Inside;
use crate::{Flight, InFlight, Moment, Phases};

use super::context::Context;
use super::groups::Wait;
use super::warp::Warp;

/// The state of an observed warp.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The instruction that is being executed, until its end has been reported.
    now: Option<Now>,
    /// Lanes that wait at an instruction whose begin has been reported.
    waiting: u32,
    /// The events that lanes wait for, as far as they are known.
    awaited: Vec<(u32, Awaited)>,
    /// The offset of an mbarrier, and the phase that the instruction has found complete.
    pub(super) passed: Option<(usize, u64)>,
}

/// An instruction that is being executed.
#[derive(Clone, Copy, Debug)]
struct Now {
    source: u32,
    /// The lanes that execute it.
    active: u32,
    step: u64,
    awaited: Option<Awaited>,
}

impl Warp {
    /// Begins a block: asks the observer whether to watch the warp.
    pub(super) fn start_watch(&mut self, cx: &Context<'_>) {
        let (block, warp) = (cx.block, self.place);
        let observer = cx.machine.options.observer.as_ref();
        self.watch = observer.filter(|observer| observer.chooses(block, warp)).map(|_| Box::default());
    }

    /// Reports that lanes begin an instruction, unless they retry it after a wait.
    #[cold]
    pub(super) fn look_on(&mut self, cx: &Context<'_>, source: u32, active: u32) {
        self.looked_on(cx, false);
        let Some(watch) = &mut self.watch else { return };
        let again = active != 0 && watch.waiting & active == active;
        watch.waiting &= !active;
        let awaited =
            watch.awaited.iter().find(|(lanes, _)| lanes & active != 0).map(|(_, awaited)| *awaited);
        watch.awaited.retain(|(lanes, _)| lanes & active == 0);
        let now = Now { source, active, step: cx.steps, awaited: awaited.filter(|_| again) };
        (watch.now, watch.passed) = (Some(now), None);
        if let (Some(observer), false) = (&cx.machine.options.observer, again) {
            self.moment(cx, now, false, |moment| observer.before(moment));
        }
    }

    /// Reports that the instruction has been executed, or has `failed`.
    pub(super) fn looked_on(&mut self, cx: &Context<'_>, failed: bool) {
        let failed = cx.noted.take() || failed;
        let Some(now) = self.watch.as_mut().and_then(|watch| watch.now.take()) else { return };
        if let Some(observer) = &cx.machine.options.observer {
            self.moment(cx, now, failed, |moment| observer.after(moment));
        }
    }

    /// Records that these lanes wait, and will retry the same instruction. `wait` is the reason, or `None` if they wait for other lanes.
    #[inline]
    pub(super) fn put_off(&mut self, cx: &Context<'_>, lanes: u32, wait: Option<&Wait>) {
        if self.watch.is_some() {
            self.wait(cx, lanes, wait);
        }
    }

    #[cold]
    fn wait(&mut self, cx: &Context<'_>, lanes: u32, wait: Option<&Wait>) {
        let Some(watch) = &mut self.watch else { return };
        watch.waiting |= lanes;
        watch.now = None;
        if let Some(wait) = wait {
            watch.awaited.push((lanes, cx.awaited(self.place, wait).1));
        }
    }

    fn moment(&self, cx: &Context<'_>, now: Now, failed: bool, tell: impl FnOnce(&Moment<'_>)) {
        let Now { source, active, step, awaited } = now;
        let passed = self.watch.as_ref().and_then(|watch| watch.passed);
        let written = |reg: Reg| self.undefined.as_ref().map(|undefined| !undefined.lanes(reg));
        tell(&Moment {
            kernel: cx.machine.kernel,
            launch: cx.machine.launch,
            block: cx.block,
            warp: self.place,
            code: &cx.machine.kernel.code,
            source,
            active,
            failed,
            step,
            awaited,
            passed: passed.map(|(at, phase)| (cx.shared_address(at), phase)),
            inside: &(self, cx),
            regs: &self.regs,
            written: &written,
            shared: cx.block_shared(),
        });
    }
}

impl Inside for (&Warp, &Context<'_>) {
    fn mbarriers(&self) -> Vec<Phases> {
        self.1.own_mbarriers()
    }

    fn in_flight(&self) -> Vec<InFlight> {
        let (warp, cx) = *self;
        let mut all = warp.copies.in_flight(cx, warp.index);
        all.extend(cx.operations_in_flight());
        let product =
            |source| InFlight { kind: Flight::Product, ..cx.flight(source, warp.index, warp.whole) };
        all.extend(warp.wgmma.in_flight().map(product));
        all
    }
}

impl Context<'_> {
    /// An operation that these lanes of a warp have issued, without its accesses. `warp` is the index of the warp in the cluster.
    pub(super) fn flight(&self, source: u32, warp: u32, lanes: u32) -> InFlight {
        let (warps, code) = (self.machine.warps(), &self.machine.kernel.code.sources[source as usize]);
        InFlight {
            kind: Flight::Bulk,
            line: code.line,
            instruction: code.text.clone(),
            block: self.ctaid_in(self.cluster, warp / warps),
            warp: warp % warps,
            lanes,
            bytes: 0,
            reads: Vec::new(),
            writes: Vec::new(),
            signals: None,
            done: false,
        }
    }

    /// The part of a range of the cluster's shared memory that belongs to the running block, relative to the block's shared memory. It may be empty.
    pub(super) fn within(&self, at: usize, bytes: usize) -> Range<usize> {
        let (_, origin) = self.own_shared();
        let end = (at + bytes).clamp(origin, origin + self.machine.shared);
        at.clamp(origin, end) - origin..end - origin
    }
}
