//! A warp: 32 lanes that execute together as long as they agree on the next instruction.
//!
//! Lanes are in groups of one program counter each. The group with the smallest counter runs; when it reaches the
//! next group's counter the two become one. Every lane executes its own program whatever the control flow, and
//! structured code laid out in order reconverges where its paths meet. An instruction that needs lanes of other
//! groups parks its group until they come.

use crate::Error;
use crate::lanes::{File, Reg, Regs, WARP};
use crate::op::{Guard, Inst, Op};
use crate::shadow::Who;

use super::block::{Context, Machine};
use super::copy::Copies;

/// Instructions that a warp, or a group of its lanes, executes before others get their turn.
const SHARE: u64 = 1 << 14;

/// Lanes that stand at the same instruction.
#[derive(Clone, Copy, Debug)]
struct Group {
    pc: u32,
    mask: u32,
    /// Waits for lanes of other groups.
    parked: bool,
}

/// Whether a warp can run.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Ready,
    Waiting { barrier: u32, source: u32 },
    Done,
}

/// Which lanes of each register have been written.
#[derive(Debug)]
struct Written {
    pred: Vec<u32>,
    w32: Vec<u32>,
    w64: Vec<u32>,
}

impl Written {
    fn file(&mut self, file: File) -> &mut Vec<u32> {
        match file {
            File::Pred => &mut self.pred,
            File::W32 => &mut self.w32,
            File::W64 => &mut self.w64,
        }
    }
}

/// A warp of a block.
#[derive(Debug)]
pub(super) struct Warp {
    pub(super) index: u32,
    pub(super) state: State,
    pub(super) regs: Regs,
    written: Option<Written>,
    pub(super) live: u32,
    groups: Vec<Group>,
    /// Which group runs, counted from the smallest counter: not always the first, so that none starves.
    turn: usize,
    shares: usize,
    /// Local memory of the lanes, one after another.
    pub(super) local: Vec<u8>,
    /// Which bytes of it have been written, if asked for.
    pub(super) local_written: Vec<bool>,
    pub(super) copies: Copies,
}

/// How a group of lanes stopped.
enum Stop {
    /// The groups changed: choose again.
    Regroup,
    /// Its warp can't go on now.
    Pause,
}

impl Warp {
    pub(super) fn new(machine: &Machine<'_>, index: u32) -> Self {
        let code = &machine.kernel.code;
        let (pred, w32, w64) = (code.pred as usize, code.w32 as usize, code.w64 as usize);
        let regs = Regs { pred: vec![0; pred], w32: vec![[0; WARP]; w32], w64: vec![[0; WARP]; w64] };
        let check = machine.options.uninitialised;
        let local = machine.kernel.local as usize * WARP;
        Warp {
            index,
            state: State::Ready,
            regs,
            written: check.then(|| Written { pred: vec![0; pred], w32: vec![0; w32], w64: vec![0; w64] }),
            live: 0,
            groups: Vec::with_capacity(WARP),
            turn: 0,
            shares: 0,
            local: vec![0; local],
            local_written: vec![false; if check { local } else { 0 }],
            copies: Copies::default(),
        }
    }

    /// Begins a block: registers zero, constants and special registers set, all lanes at the start.
    pub(super) fn start(&mut self, cx: &Context<'_>) {
        let code = &cx.machine.kernel.code;
        self.regs.pred.fill(0);
        self.regs.w32.fill([0; WARP]);
        self.regs.w64.fill([0; WARP]);
        for file in [File::Pred, File::W32, File::W64] {
            if let Some(written) = &mut self.written {
                written.file(file).fill(0);
            }
        }
        for &(reg, value) in &code.constants {
            (0..WARP).for_each(|lane| self.regs.set(reg, lane, value));
        }
        for &(reg, special) in &code.specials {
            (0..WARP).for_each(|lane| {
                self.regs.set(reg, lane, super::special::value(cx, special, self.index, lane as u32))
            });
        }
        let first = self.index * WARP as u32;
        let threads = (cx.machine.threads - first).min(WARP as u32);
        self.live = u32::MAX >> (WARP as u32 - threads);
        self.groups.clear();
        self.groups.push(Group { pc: 0, mask: self.live, parked: false });
        self.turn = 0;
        self.shares = 0;
        self.state = State::Ready;
        self.local.fill(0);
        self.local_written.fill(false);
        self.copies.clear();
    }

    /// Runs until the warp waits, exits or has had its share.
    pub(super) fn run(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let left = cx.machine.options.steps.map_or(u64::MAX, |limit| limit.saturating_sub(cx.steps));
        let mut budget = SHARE.min(left);
        loop {
            let ready = self.groups.iter().filter(|g| !g.parked).count();
            if ready == 0 {
                return Err(self.stuck(cx));
            }
            let nth = self.turn % ready;
            let at = self.groups.iter().enumerate().filter(|(_, g)| !g.parked).nth(nth).map_or(0, |(i, _)| i);
            match self.run_group(cx, at, &mut budget)? {
                Stop::Regroup => {}
                Stop::Pause => return Ok(()),
            }
        }
    }

    fn run_group(&mut self, cx: &mut Context<'_>, at: usize, budget: &mut u64) -> Result<Stop, Error> {
        let insts: &[Inst] = &cx.machine.kernel.code.insts;
        let Group { mut pc, mut mask, .. } = self.groups[at];
        // Where another group may be met.
        let meet = self.groups.get(at + 1).map_or(u32::MAX, |g| g.pc);
        let mut active = mask;
        let mut start = pc;
        loop {
            let inst = &insts[pc as usize];
            if inst.guard != Guard::Same {
                if pc >= meet || *budget == 0 {
                    return self.leave(cx, at, pc, *budget == 0, inst.source);
                }
                start = pc;
                *budget -= 1;
                active = self.begin(cx, inst, mask)?;
            }
            if active == 0 {
                pc += 1;
                continue;
            }
            match &inst.op {
                Op::Lanes(run, args) => run(&mut self.regs, args, active),
                Op::Load(transfer) => self.load(cx, transfer, active, inst.source)?,
                Op::Store(transfer) => self.store(cx, transfer, active, inst.source)?,
                Op::Atomic(atomic) => self.atomic(cx, atomic, active, inst.source)?,
                Op::Copy(copy) => self.copy(cx, copy, active, inst.source)?,
                Op::CopyCommit => self.copies.commit(active),
                Op::CopyWait(keep) => self.copy_wait(cx, *keep, active),
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
                Op::Exit => {
                    mask &= !active;
                    self.exit(at, active);
                    if mask == 0 {
                        return Ok(if self.live == 0 { Stop::Pause } else { Stop::Regroup });
                    }
                }
                Op::Clock(reg) => super::lanes(active).for_each(|lane| self.regs.set(*reg, lane, cx.steps)),
                Op::Activemask(reg) => {
                    super::lanes(active).for_each(|lane| self.regs.set(*reg, lane, active.into()))
                }
                Op::Fence => self.fence(cx, active),
                Op::Nothing => {}
                Op::Trap => return Err(Error::Trap { at: cx.at(self.who(active, inst.source)) }),
                Op::Ldmatrix(_)
                | Op::Stmatrix(_)
                | Op::Movmatrix(..)
                | Op::Mma(_)
                | Op::Redux { .. }
                | Op::Match { .. }
                | Op::Elect { .. }
                | Op::Barrier { .. }
                | Op::WarpSync(_)
                | Op::Shuffle(_)
                | Op::Vote { .. } => {
                    if !self.together(cx, inst, active, mask)? {
                        self.groups[at] = Group { pc: start, mask, parked: true };
                        return Ok(Stop::Regroup);
                    }
                    if self.collective(cx, inst, active)? {
                        self.groups[at].pc = pc + 1;
                        return Ok(Stop::Pause);
                    }
                }
            }
            pc += 1;
        }
    }

    /// Some lanes of a group branch; the rest goes on at `next`.
    fn branch(&mut self, at: usize, target: u32, next: u32, active: u32) {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group { pc: target, mask: active, parked: false };
        if rest != 0 {
            self.groups.push(Group { pc: next, mask: rest, parked: false });
        }
        self.regroup();
    }

    /// Some lanes of a group go where a table says; the rest goes on at `next`.
    fn branch_table(
        &mut self,
        cx: &Context<'_>,
        (at, next): (usize, u32),
        index: Reg,
        targets: &[u32],
        (active, source): (u32, u32),
    ) -> Result<(), Error> {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group { pc: next, mask: rest, parked: false };
        for lane in super::lanes(active) {
            let value = self.regs.get(index, lane);
            let Some(&pc) = usize::try_from(value).ok().and_then(|i| targets.get(i)) else {
                let (at, accepted) = (cx.at(self.who(1 << lane, source)), format!("below {}", targets.len()));
                return Err(Error::BadValue { at, what: "index of the branch table", value, accepted });
            };
            self.groups.push(Group { pc, mask: 1 << lane, parked: false });
        }
        if rest == 0 {
            self.groups.remove(at);
        }
        self.regroup();
        Ok(())
    }

    /// Some lanes of a group exit. What waited for them need not any more.
    fn exit(&mut self, at: usize, active: u32) {
        self.live &= !active;
        self.groups[at].mask &= !active;
        self.groups.iter_mut().for_each(|g| g.parked = false);
        if self.groups[at].mask == 0 {
            self.groups.remove(at);
        }
        if self.groups.is_empty() {
            self.state = State::Done;
        }
    }

    /// Begins a PTX instruction: the lanes that execute it, counts and checks.
    #[inline]
    fn begin(&mut self, cx: &mut Context<'_>, inst: &Inst, mask: u32) -> Result<u32, Error> {
        let active = match inst.guard {
            Guard::If(p) => mask & self.regs.pred[p as usize],
            Guard::Unless(p) => mask & !self.regs.pred[p as usize],
            Guard::Always | Guard::Same => mask,
        };
        cx.steps += 1;
        cx.report.instructions += u64::from(active != 0);
        if self.written.is_some() {
            self.check_registers(cx, inst, mask, active)?;
        }
        Ok(active)
    }

    /// Stops a group between two instructions.
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
        if let Some(limit) = cx.machine.options.steps
            && cx.steps >= limit
        {
            return Err(Error::StepLimit { at: cx.at(self.who(mask, source)), limit });
        }
        // Every other share goes to another group than the first.
        self.shares += 1;
        self.turn = if self.shares % 2 == 1 { self.shares / 2 + 1 } else { 0 };
        Ok(Stop::Pause)
    }

    /// Puts the groups in order and makes those that have met one.
    fn regroup(&mut self) {
        self.groups.sort_unstable_by_key(|g| g.pc);
        self.groups.dedup_by(|next, kept| {
            let met = next.pc == kept.pc;
            if met {
                kept.mask |= next.mask;
                kept.parked = false;
            }
            met
        });
    }

    pub(super) fn who(&self, mask: u32, source: u32) -> Who {
        Who { warp: self.index, lane: mask.trailing_zeros().min(31), source }
    }

    /// Checks that what an instruction reads has been written, and notes what it writes.
    fn check_registers(
        &mut self,
        cx: &Context<'_>,
        inst: &Inst,
        mask: u32,
        active: u32,
    ) -> Result<(), Error> {
        let Some(written) = &mut self.written else { return Ok(()) };
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            Guard::Always | Guard::Same => None,
        };
        let needs = guard.iter().map(|&reg| (reg, mask)).chain(source.reads.iter().map(|&reg| (reg, active)));
        let missing = needs.map(|(reg, lanes)| (reg, lanes & !written.file(reg.file)[reg.slot as usize]));
        if let Some((reg, lanes)) = missing.into_iter().find(|(_, lanes)| *lanes != 0) {
            let at = cx.at(self.who(lanes, inst.source));
            return Err(Error::UninitialisedRegister { at, register: cx.machine.kernel.code.name(reg) });
        }
        for reg in &source.writes {
            written.file(reg.file)[reg.slot as usize] |= active;
        }
        Ok(())
    }

    /// Every group waits for lanes that will not come.
    fn stuck(&self, cx: &Context<'_>) -> Error {
        let (pc, mask) = self.groups.first().map_or((0, self.live), |g| (g.pc, g.mask));
        let source = cx.machine.kernel.code.insts[pc as usize].source;
        Error::Divergent { at: cx.at(self.who(mask, source)), active: mask, expected: self.live }
    }
}
