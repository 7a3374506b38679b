//! A warp: 32 lanes that execute together as long as they agree on the next instruction.
//!
//! The lanes form groups, each with one program counter. The group with the smallest counter runs, and when it reaches
//! the counter of the next group the two become one. Every lane executes its own program whatever the control flow, and
//! structured code that is laid out in order reconverges where its paths meet. An instruction that needs lanes of other
//! groups parks its group until these lanes come.

mod instruction;

use std::collections::HashMap;

use crate::Error;
use crate::error::Awaited;
use crate::lanes::{Reg, Regs, WARP};
use crate::op::{Count, Guard, Inst, Op};
use crate::shadow::Who;
use crate::space::{LOCAL_STRIDE, LOCAL_WINDOW, RANK_SHIFT};

use super::calls::Frame;
use super::context::Context;
use super::copy::Copies;
pub(super) use super::groups::Wait;
use super::groups::{Group, Standing};
use super::machine::Machine;
use super::registers::{Origin, Undefined};
use super::watch::Watch;
use super::wgmma::Operations;

/// Instructions that a warp, or a group of its lanes, executes before another gets its turn.
const SHARE: u64 = 1 << 14;

/// A strong load, or another access that looks for a change in vain, counts as this many instructions of the share.
const LOOK: u64 = 64;

/// Whether a warp can run.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Ready,
    /// The warp waits at a barrier of its block.
    Waiting {
        barrier: u32,
        source: u32,
    },
    /// All groups of the warp wait.
    Blocked,
    Done,
}

/// A warp of a block.
#[derive(Debug)]
pub(super) struct Warp {
    /// The warp's number among the warps of the cluster.
    pub(super) index: u32,
    /// The warp's number in its block.
    pub(super) place: u32,
    pub(super) state: State,
    pub(super) regs: Regs,
    /// Which values of the warp's registers are undefined, if that is checked.
    pub(super) undefined: Option<Undefined>,
    /// Lanes that have not exited.
    pub(super) live: u32,
    /// Lanes with which the warp began; the last warp of a block may have fewer than 32.
    pub(super) whole: u32,
    pub(super) groups: Vec<Group>,
    /// For each lane, the calls from which it has not returned.
    pub(super) calls: Vec<Vec<Frame>>,
    /// Which of the groups that can run does, counted from the smallest program counter: not always the first, so that
    /// each group gets its turn.
    turn: usize,
    /// How many shares the warp has used up.
    shares: usize,
    /// The local memory of the lanes, one lane's after another's.
    pub(super) local: Vec<u8>,
    /// Which bytes of `local` have been written; empty if that is not checked.
    pub(super) local_written: Vec<bool>,
    /// For bytes of `local` into which undefined values have been stored: where these come from.
    pub(super) local_origins: HashMap<usize, Origin>,
    pub(super) copies: Copies,
    pub(super) wgmma: Operations,
    /// What each `bar.red` at which the warp waits will write: the kind of result, the register, and the lanes.
    pub(super) votes: Vec<(Count, Reg, u32)>,
    /// The mbarrier and the phase for which a `try_wait` has last given up.
    pub(super) gave_up: Option<(usize, u64)>,
    /// What remains to be told to an observer that watches the warp.
    pub(super) watch: Option<Box<Watch>>,
    /// The last access that looked for a change in vain: after how many steps, and the value or phase that it looked for.
    pub(super) look: Option<(u64, Who, Awaited)>,
}

/// Why a group of lanes has stopped running.
pub(super) enum Stop {
    /// The groups have changed, so the group to run has to be chosen again.
    Regroup,
    /// The warp can't go on now, or its share is used up.
    Pause,
}

impl Warp {
    pub(super) fn new(machine: &Machine<'_>, index: u32, place: u32) -> Self {
        let code = &machine.kernel.code;
        let (pred, w32, w64) = (code.pred as usize, code.w32 as usize, code.w64 as usize);
        let regs = Regs { pred: vec![0; pred], w32: vec![[0; WARP]; w32], w64: vec![[0; WARP]; w64] };
        let check = machine.options.uninitialised;
        let local = machine.kernel.local as usize * WARP;
        Warp {
            index,
            place,
            state: State::Ready,
            regs,
            undefined: check.then(|| Undefined::new(pred, w32, w64)),
            live: 0,
            whole: 0,
            groups: Vec::with_capacity(WARP),
            calls: Vec::new(),
            turn: 0,
            shares: 0,
            local: vec![0; local],
            local_origins: HashMap::new(),
            local_written: vec![false; if check { local } else { 0 }],
            copies: Copies::default(),
            wgmma: Operations::default(),
            votes: Vec::new(),
            gave_up: None,
            watch: None,
            look: None,
        }
    }

    /// Begins a block: all registers are zero but constants and special registers, and all lanes are at the first
    /// operation.
    pub(super) fn start(&mut self, cx: &Context<'_>) {
        let code = &cx.machine.kernel.code;
        self.regs.pred.fill(0);
        self.regs.w32.fill([0; WARP]);
        self.regs.w64.fill([0; WARP]);
        self.start_watch(cx);
        if let Some(undefined) = &mut self.undefined {
            undefined.start(&code.open, self.watch.is_some());
        }
        for &(reg, value) in &code.constants {
            (0..WARP).for_each(|lane| self.regs.set(reg, lane, value));
            self.define_all(reg);
        }
        for &(reg, address) in &code.shared_addresses {
            (0..WARP).for_each(|lane| self.regs.set(reg, lane, address | (cx.rank as u64) << RANK_SHIFT));
            self.define_all(reg);
        }
        if let Some(reg) = code.local_window {
            let first = u64::from(self.place) * WARP as u64 + 1;
            (0..WARP).for_each(|lane| {
                self.regs.set(reg, lane, LOCAL_WINDOW + (first + lane as u64) * LOCAL_STRIDE)
            });
        }
        for &(reg, special) in &code.specials {
            (0..WARP).for_each(|lane| {
                self.regs.set(reg, lane, super::special::value(cx, special, self.place, lane as u32))
            });
        }
        let first = self.place * WARP as u32;
        let threads = (cx.machine.threads - first).min(WARP as u32);
        self.live = u32::MAX >> (WARP as u32 - threads);
        self.whole = self.live;
        self.groups.clear();
        self.groups.push(Group::ready(code.entry, self.live));
        self.calls.clear();
        self.turn = 0;
        self.shares = 0;
        self.state = State::Ready;
        self.local.fill(0);
        self.local_written.fill(false);
        self.copies.clear();
        self.votes.clear();
        self.gave_up = None;
        self.wgmma.start(cx.machine);
        self.look = None;
        self.local_origins.clear();
    }

    /// Runs until the warp waits, exits or has had its share.
    pub(super) fn run(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let result = self.go_on(cx);
        self.looked_on(cx, result.is_err());
        result
    }

    fn go_on(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let left = cx.machine.options.most_steps().saturating_sub(cx.steps);
        // With a seed a warp may be interrupted anywhere.
        let share = if cx.machine.options.seed == 0 { SHARE } else { 1 << cx.below(15) };
        let mut budget = share.min(left);
        loop {
            let ready = self.groups.iter().filter(|g| g.can_run()).count();
            if ready == 0 && self.waits().next().is_some() {
                self.state = State::Blocked;
                return Ok(());
            }
            if ready == 0 {
                return Err(self.stuck(cx));
            }
            let nth = self.turn % ready;
            let at =
                self.groups.iter().enumerate().filter(|(_, g)| g.can_run()).nth(nth).map_or(0, |(i, _)| i);
            match self.run_group(cx, at, &mut budget)? {
                Stop::Regroup => {}
                Stop::Pause => return Ok(()),
            }
        }
    }

    fn run_group(&mut self, cx: &mut Context<'_>, at: usize, budget: &mut u64) -> Result<Stop, Error> {
        let insts: &[Inst] = &cx.machine.kernel.code.insts;
        let Group { mut pc, mut mask, .. } = self.groups[at];
        // The program counter at which the next group may be met.
        let meet = self.groups.get(at + 1).map_or(u32::MAX, |g| g.pc);
        let mut active = mask;
        let mut start = pc;
        loop {
            let inst = &insts[pc as usize];
            if inst.guard != Guard::Same {
                if pc >= meet || *budget == 0 {
                    return self.leave(cx, at, pc, *budget == 0, inst.source);
                }
                let stretch = inst.stretch.min(meet - pc);
                if stretch != 0 && *budget >= u64::from(stretch) && !self.is_watched(cx) {
                    let end = pc + stretch;
                    *budget -= self.compute(cx, &insts[pc as usize..end as usize], mask);
                    pc = end;
                    continue;
                }
                start = pc;
                *budget -= 1;
                active = self.begin(cx, inst, pc, mask)?;
            }
            if active == 0 {
                pc += 1;
                continue;
            }
            match &inst.op {
                Op::Lanes(run, args) => run(&mut self.regs, args, active),
                Op::Load(transfer) => {
                    self.load(cx, transfer, active, inst.source)?;
                    if transfer.strong.is_some() || transfer.waits {
                        // A warp that waits in a loop lets others run soon.
                        *budget = if cx.cuts() { 0 } else { budget.saturating_sub(LOOK) };
                    }
                }
                Op::Store(transfer) => {
                    self.store(cx, transfer, active, inst.source)?;
                    if transfer.strong.is_some() && cx.cuts() {
                        *budget = 0;
                    }
                }
                Op::Branch(target) if active == mask && self.groups.len() == 1 => {
                    pc = *target;
                    continue;
                }
                Op::Branch(target) => {
                    self.branch(at, *target, pc + 1, active);
                    return Ok(Stop::Regroup);
                }
                Op::BranchTable(index, targets) => {
                    self.branch_table(cx, (at, pc + 1), *index, targets, (active, inst.source))?;
                    return Ok(Stop::Regroup);
                }
                Op::Invoke(invoke) => {
                    self.invoke(cx, (at, pc + 1), invoke, (active, inst.source))?;
                    return Ok(Stop::Regroup);
                }
                Op::Return => {
                    self.give_back(cx, at, pc + 1, (active, inst.source))?;
                    return Ok(Stop::Regroup);
                }
                Op::Exit => {
                    mask &= !active;
                    self.exit(cx, at, active);
                    if mask == 0 {
                        return Ok(if self.live == 0 { Stop::Pause } else { Stop::Regroup });
                    }
                }
                op => {
                    if op.is_collective() && !self.together(cx, inst, active, mask)? {
                        if let Some(point) = self.point(op, active) {
                            return self.meet(cx, point, (at, start, pc), (active, mask));
                        }
                        self.put_off(cx, mask, None);
                        self.groups[at] = Group { pc: start, mask, standing: Standing::Parked };
                        return Ok(Stop::Regroup);
                    }
                    let looks = cx.looks;
                    if let Some(stop) = self.other(cx, inst, (at, start, pc), (active, mask))? {
                        return Ok(stop);
                    }
                    if cx.looks != looks {
                        *budget = budget.saturating_sub(LOOK);
                    }
                    if matches!(op, Op::Atomic(_) | Op::AtomicWide(_)) && cx.cuts() {
                        *budget = 0;
                    }
                }
            }
            pc += 1;
        }
    }

    /// Stops a group between two instructions: because it meets another, or because its share is used up.
    fn leave(
        &mut self,
        cx: &Context<'_>,
        at: usize,
        pc: u32,
        spent: bool,
        source: u32,
    ) -> Result<Stop, Error> {
        self.groups[at].pc = pc;
        let mask = self.groups[at].mask;
        self.regroup();
        if !spent {
            return Ok(Stop::Regroup);
        }
        let limit = cx.machine.options.most_steps();
        if cx.steps >= limit {
            return Err(Error::StepLimit { at: cx.at(self.who(mask, source)), limit });
        }
        // Every second share goes to another group than the first.
        self.shares += 1;
        self.turn = if self.shares % 2 == 1 { self.shares / 2 + 1 } else { 0 };
        Ok(Stop::Pause)
    }

    pub(super) fn who(&self, mask: u32, source: u32) -> Who {
        Who { warp: self.index, lane: mask.trailing_zeros().min(31), source }
    }
}
