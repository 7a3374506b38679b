//! `wgmma`: products of matrices in shared memory, which the four warps of a warpgroup issue together and wait for (PTX
//! ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
//!
//! An operation is queued when a warp issues it, and takes place once all four warps have issued it. Shared memory is
//! read when the first of the warps waits for the operation's group, and each warp's registers are written when that
//! warp waits: the latest moments that the ISA allows. With a seed some operations read shared memory as soon as they
//! may.
//!
//! `wgmma.mma_async.sp` has half of A's elements, as `mma.sp` does, and the metadata is in registers of each warp, for
//! its 16 rows (PTX ISA, the sections on "wgmma.mma_async.sp"). A row of B along K then has 64 bytes.

mod descriptor;
mod group;
mod issue;
mod matrices;
mod product;
mod registers;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::lanes::File;
use crate::op::{Inst, Left, Wgmma};
use crate::shadow::Who;
use crate::{Access, Error};

use super::context::Context;
use super::groups::Wait;
use super::machine::Machine;
use super::mma::Places;
use super::warp::Warp;
pub(crate) use group::Warpgroup;
use group::{Operands, WARPS};
use matrices::{begin_reads, complete, read};
use product::{Elements, ROWS};
use registers::Registers;

/// The part that a warp has in the operations of its warpgroup.
#[derive(Debug, Default)]
pub(super) struct Operations {
    /// The operations that the warp has issued and not waited for, oldest first.
    pending: VecDeque<Pending>,
    /// For each commit that has not been waited for: how many operations the warp had issued before it.
    groups: VecDeque<u64>,
    issued: u64,
    completed: u64,
    registers: Registers,
    /// Whether accesses to registers are watched even if no operation is in flight.
    strict: bool,
}

#[derive(Debug)]
struct Pending {
    op: Arc<Wgmma>,
    operands: Operands,
    /// Of a sparse operation, where the elements of A belong in their rows.
    places: Option<Places>,
}

impl Operations {
    /// Forgets everything, as a new block begins.
    pub(super) fn start(&mut self, machine: &Machine<'_>) {
        self.pending.clear();
        self.groups.clear();
        (self.issued, self.completed) = (0, 0);
        let code = &machine.kernel.code;
        self.registers.start(if code.wgmma { code.w32 as usize } else { 0 });
        self.strict = code.wgmma && (machine.options.races || machine.options.uninitialised);
    }

    /// Whether the register accesses of other instructions have to be watched.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.strict || !self.pending.is_empty()
    }

    /// The instructions of the operations that the warp has issued and not waited for, oldest first.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().map(|pending| pending.operands.source)
    }

    pub(super) fn fence(&mut self) {
        self.registers.fence();
    }

    pub(super) fn commit(&mut self) {
        self.groups.push_back(self.issued);
    }

    /// The number of operations that are complete when all but the latest `keep` groups are.
    fn waited(&self, keep: u32) -> u64 {
        let last = self.groups.len().checked_sub(keep as usize + 1);
        last.map_or(self.completed, |last| self.groups[last])
    }
}

impl Warp {
    /// Checks that an instruction, which is about to be executed, does not access registers of an operation in flight.
    pub(super) fn watch(&mut self, cx: &Context<'_>, inst: &Inst, active: u32) -> Result<(), Error> {
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let accesses = (source.reads.iter().map(|reg| (Access::Read, reg)))
            .chain(source.writes.iter().map(|reg| (Access::Write, reg)));
        for (access, reg) in accesses.filter(|(_, reg)| reg.file == File::W32) {
            let Some(number) = self.wgmma.registers.touch(reg.slot, self.wgmma.completed) else { continue };
            let pending = self.wgmma.pending.get((number - self.wgmma.completed - 1) as usize);
            let issued = pending.map_or(inst.source, |pending| pending.operands.source);
            let who = self.who(active, inst.source);
            cx.note(Error::WgmmaInFlight {
                at: cx.at(who),
                access,
                register: cx.machine.kernel.code.name(*reg),
                wgmma: cx.at(Who { source: issued, ..who }),
            })?;
        }
        Ok(())
    }

    /// `wgmma.mma_async`.
    pub(super) fn wgmma(
        &mut self,
        cx: &mut Context<'_>,
        op: &Arc<Wgmma>,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        let who = self.who(active, source);
        self.check_warpgroup(cx, active, who)?;
        let a = match op.a {
            Left::Descriptor(reg) => Some(self.uniform(cx, "the descriptor of A", reg, who)?),
            Left::Registers(_) => None,
        };
        let b = self.uniform(cx, "the descriptor of B", op.b, who)?;
        let accumulate = self.uniform(cx, "scale-d", op.accumulate, who)? != 0;
        let operands = Operands { source, a, b, accumulate };
        let places = match &op.sparse {
            Some(sparse) => {
                Some(self.sparse_places(cx, (op.a_ty, 2 * product::elements(op.a_ty)), sparse, source)?)
            }
            None => None,
        };
        self.take_registers(cx, op, who)?;
        let (chunks, ranges) = self.join(cx, op, operands, who)?;
        begin_reads(cx, &ranges, who)?;
        self.spread_product(cx, op, accumulate, (&chunks, &ranges), who);
        (cx.report.wgmma, cx.changes) = (cx.report.wgmma + 1, cx.changes + 1);
        let (group, warp) = self.warpgroup(cx);
        cx.warpgroups[group].issued[warp] += 1;
        self.wgmma.issued += 1;
        self.wgmma.pending.push_back(Pending { op: op.clone(), operands, places });
        if cx.warpgroups[group].missing(self.wgmma.issued).next().is_none() && cx.below(2) == 1 {
            read(cx, group, op, self.wgmma.issued - 1);
        }
        Ok(())
    }

    /// The index of the warp's warpgroup in the cluster, and the warp's place in its warpgroup.
    fn warpgroup(&self, cx: &Context<'_>) -> (usize, usize) {
        let place = self.place as usize;
        (cx.rank * cx.machine.warpgroups() + place / WARPS, place % WARPS)
    }

    /// `wgmma.wait_group keep`: completes all operations but those of the latest `keep` groups, once all four warps
    /// have issued them.
    pub(super) fn wgmma_wait(
        &mut self,
        cx: &mut Context<'_>,
        keep: u32,
        active: u32,
        source: u32,
    ) -> Result<Option<Wait>, Error> {
        let ((group, _), operations) = (self.warpgroup(cx), self.wgmma.waited(keep));
        if operations > self.wgmma.completed && cx.warpgroups[group].missing(operations).next().is_some() {
            if let Some(warp) = cx.exited(group, operations) {
                let issued = self.wgmma.pending.back().map_or(source, |pending| pending.operands.source);
                return Err(Error::WarpgroupIncomplete { at: cx.at(self.who(active, issued)), warp });
            }
            return Ok(Some(Wait::Warpgroup { group, operations, source }));
        }
        while self.wgmma.completed < operations
            && let Some(Pending { op, operands, places }) = self.wgmma.pending.pop_front()
        {
            let number = self.wgmma.completed;
            read(cx, group, &op, number);
            complete(cx, group, number);
            let matrices = cx.warpgroups[group].operation(number).and_then(|o| o.matrices.clone());
            if let Some(matrices) = matrices {
                self.multiply(&op, &matrices, places.as_ref(), operands.accumulate);
            }
            cx.warpgroups[group].take(number);
            self.wgmma.completed += 1;
        }
        while self.wgmma.groups.pop_front_if(|group| *group <= operations).is_some() {}
        if let (Some(shadow), Some(counter)) = (&mut cx.shadow, cx.warpgroups[group].counter) {
            shadow.know_phase(self.index as usize, active, counter, self.wgmma.completed as u32);
        }
        Ok(None)
    }

    fn multiply(
        &mut self,
        op: &Wgmma,
        matrices: &(Option<Elements>, Elements),
        places: Option<&Places>,
        accumulate: bool,
    ) {
        // The number of elements in a row of A; of a sparse operation, half of those in a column of B.
        let k = product::elements(op.a_ty);
        let own;
        let (a, first) = match (&matrices.0, &op.a) {
            (Some(a), _) => (a, ROWS * (self.place as usize % WARPS)),
            (None, Left::Registers(slots)) => {
                own = product::fragment(op.a_ty, &self.regs, slots, op.negate_a);
                (&own, 0)
            }
            (None, Left::Descriptor(_)) => return,
        };
        match (a, &matrices.1) {
            (Elements::Floats(a), Elements::Floats(b)) => {
                product::multiply(&mut self.regs, op, (rows(a, k, first), b), places, accumulate);
            }
            (Elements::Integers(a), Elements::Integers(b)) => {
                product::multiply_integers(&mut self.regs, op, (rows(a, k, first), b), places, accumulate);
            }
            _ => {}
        }
    }
}

impl Context<'_> {
    /// Whether all warps of a warpgroup have issued this many operations, or one has exited and never will.
    pub(super) fn warpgroup_has(&self, group: usize, operations: u64) -> bool {
        self.warpgroups[group].missing(operations).next().is_none()
            || self.exited(group, operations).is_some()
    }

    /// The warps of a warpgroup that have not issued this many operations, by number in their block.
    pub(super) fn missing(&self, group: usize, operations: u64) -> Vec<u32> {
        let first = group % self.machine.warpgroups() * WARPS;
        self.warpgroups[group].missing(operations).map(|warp| (first + warp) as u32).collect()
    }

    /// A warp of a warpgroup that has exited without having issued this many operations, if there is one.
    fn exited(&self, group: usize, operations: u64) -> Option<u32> {
        let live = self.blocks[group / self.machine.warpgroups()].live;
        self.missing(group, operations).into_iter().find(|warp| live >> warp & 1 == 0)
    }
}

/// The rows of A that belong to a warp.
fn rows<T>(a: &[T], k: usize, first: usize) -> &[T] {
    &a[first * k..(first + ROWS) * k]
}
