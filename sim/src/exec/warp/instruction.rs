//! How the lanes of a group execute one instruction.

use super::{State, Stop, Warp};
use crate::Error;
use crate::exec::context::Context;
use crate::exec::groups::{Group, Standing};
use crate::lanes::lanes_of;
use crate::op::{Guard, Inst, Op};

impl Warp {
    /// Whether something has to be done at the begin of each instruction.
    #[inline]
    pub(super) fn is_watched(&self, cx: &Context<'_>) -> bool {
        self.watch.is_some()
            || cx.attribution.is_some()
            || self.undefined.as_ref().is_some_and(|undefined| undefined.spread)
            || self.wgmma.watches()
    }

    /// Executes a stretch of instructions that only compute registers from registers; returns how many there were.
    pub(super) fn compute(&mut self, cx: &mut Context<'_>, insts: &[Inst], mask: u32) -> u64 {
        let (mut active, mut begun, mut executed) = (mask, 0, 0);
        for inst in insts {
            if inst.guard != Guard::Same {
                active = self.guarded(inst.guard, mask);
                begun += 1;
                executed += u64::from(active != 0);
            }
            if let (Op::Lanes(run, args), 1..) = (&inst.op, active) {
                run(&mut self.regs, args, active);
            }
        }
        cx.steps += begun;
        cx.report.instructions += executed;
        begun
    }

    /// The lanes of a group in which a guard is true.
    #[inline]
    fn guarded(&self, guard: Guard, mask: u32) -> u32 {
        match guard {
            Guard::If(p) => mask & self.regs.pred[p as usize],
            Guard::Unless(p) => mask & !self.regs.pred[p as usize],
            Guard::Always | Guard::Same => mask,
        }
    }

    /// Executes an instruction that may make its lanes wait.
    pub(super) fn other(
        &mut self,
        cx: &mut Context<'_>,
        inst: &Inst,
        (at, start, pc): (usize, u32, u32),
        (active, mask): (u32, u32),
    ) -> Result<Option<Stop>, Error> {
        let wait = match &inst.op {
            Op::Gate(gate) => self.gate(cx, gate, active, inst.source)?,
            Op::Mbarrier(mbarrier) => {
                let expired = matches!(self.groups[at].standing, Standing::Expired);
                self.groups[at].standing = Standing::Ready;
                self.mbarrier(cx, mbarrier, active, inst.source, expired)?
            }
            Op::Registers { increase, count } => {
                self.set_registers(cx, (*increase, *count), active, inst.source)?
            }
            Op::WgmmaWait(keep) => self.wgmma_wait(cx, *keep, active, inst.source)?,
            op if op.is_collective() => {
                if !self.collective(cx, inst, active)? {
                    return Ok(None);
                }
                self.groups[at].pc = pc + 1;
                return Ok(Some(Stop::Pause));
            }
            _ => {
                self.single(cx, inst, active)?;
                None
            }
        };
        let Some(wait) = wait else { return Ok(None) };
        // The instruction is executed again when the wait is over. Lanes for which the guard is false go on.
        (cx.steps, cx.report.instructions) = (cx.steps - 1, cx.report.instructions - 1);
        cx.report.waits += 1;
        self.put_off(cx, active, Some(&wait));
        self.groups[at] = Group { pc: start, mask: active, standing: Standing::Waiting(wait) };
        if mask != active {
            self.groups.push(Group::ready(pc + 1, mask & !active));
            self.regroup();
        }
        Ok(Some(Stop::Regroup))
    }

    /// Executes an instruction that each lane executes on its own.
    fn single(&mut self, cx: &mut Context<'_>, inst: &Inst, active: u32) -> Result<(), Error> {
        let source = inst.source;
        match &inst.op {
            Op::Atomic(atomic) => self.atomic(cx, atomic, active, source)?,
            Op::AtomicWide(atomic) => self.atomic_wide(cx, atomic, active, source)?,
            Op::Copy(copy) => self.copy(cx, copy, active, source)?,
            Op::CopyCommit => self.copies.commit(active),
            Op::CopyWait(keep) => self.copy_wait(cx, *keep, active)?,
            Op::CopyArrive { address, counted } => self.copy_arrive(cx, address, *counted, active, source)?,
            Op::Bulk(bulk) => self.bulk(cx, bulk, active, source)?,
            Op::Tensor(tensor) => self.tensor(cx, tensor, active, source)?,
            Op::MapReplace(replace) => self.replace_map(cx, replace, active, source)?,
            Op::MapRelease(scope) => self.release_maps(cx, active, *scope),
            Op::MapAcquire(map, scope) => self.acquire_map(cx, (map, *scope), active, source)?,
            Op::BulkCommit => self.bulk_commit(cx, active, source),
            Op::BulkWait { keep, read } => self.bulk_wait(cx, (*keep, *read), active, source)?,
            Op::StoreAsync(store) => self.store_async(cx, store, active, source)?,
            Op::Clock(reg) => lanes_of(active).for_each(|lane| self.regs.set(*reg, lane, cx.steps)),
            Op::Activemask(reg) => lanes_of(active).for_each(|lane| self.regs.set(*reg, lane, active.into())),
            Op::Print(print) => self.print(cx, print, active, source)?,
            Op::Assert(assert) => return Err(self.assertion(cx, assert, active, source)),
            Op::Alloca(d, bytes, align) => self.alloca(cx, (*d, *bytes, *align), active, source)?,
            Op::Fence { scope, sequential } => self.fence(cx, active, *scope, *sequential),
            Op::FenceProxy(windows) => self.fence_proxy(cx, active, windows),
            Op::FenceMbarriers => self.fence_mbarriers(cx, active),
            Op::Claim(claimed) => self.claimed(cx, claimed, active, source)?,
            Op::Undefined(regs) => self.left_undefined(cx, regs, active),
            Op::Trap => return Err(Error::Trap { at: cx.at(self.who(active, source)) }),
            _ => {}
        }
        Ok(())
    }

    /// Some lanes of a group exit. Groups that waited for these lanes look again whether they still have to wait.
    pub(super) fn exit(&mut self, cx: &mut Context<'_>, at: usize, active: u32) {
        self.live &= !active;
        cx.exit_lanes(self.index, active);
        self.groups[at].mask &= !active;
        for group in &mut self.groups {
            if matches!(group.standing, Standing::Parked | Standing::Meeting(_)) {
                group.standing = Standing::Ready;
            }
        }
        if self.groups[at].mask == 0 {
            self.groups.remove(at);
        }
        if self.groups.is_empty() {
            self.state = State::Done;
        }
    }

    /// Begins a PTX instruction with its counts and checks; returns the lanes that execute it.
    #[inline]
    pub(super) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        inst: &Inst,
        pc: u32,
        mask: u32,
    ) -> Result<u32, Error> {
        let active = self.guarded(inst.guard, mask);
        cx.steps += 1;
        if self.watch.is_some() {
            self.look_on(cx, inst.source, active);
        }
        if let Some(attribution) = &mut cx.attribution {
            attribution.next(&cx.report, inst.source);
        }
        cx.report.instructions += u64::from(active != 0);
        if self.is_careful(inst) {
            self.check_registers(cx, pc, mask, active)?;
        }
        if self.wgmma.watches() && active != 0 {
            self.watch(cx, inst, active)?;
        }
        Ok(active)
    }
}
