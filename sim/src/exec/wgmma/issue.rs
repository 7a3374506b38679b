//! The checks when a warp issues a `wgmma`, and the operation's entry in the warpgroup.

use std::ops::Range;
use std::sync::Arc;

use crate::lanes::{File, Reg, WARP};
use crate::op::Wgmma;
use crate::shadow::Who;
use crate::space::RANK_SHIFT;
use crate::{Access, Error};

use super::super::context::Context;
use super::super::warp::Warp;
use super::descriptor::Descriptor;
use super::group::{Operands, Operation, WARPS};
use super::matrices::{chunks, merged};
use super::product::ROWS;
use super::registers::Role;

impl Warp {
    /// Checks that all lanes of the warp are active and that the warp's warpgroup has four whole warps.
    pub(super) fn check_warpgroup(&self, cx: &Context<'_>, active: u32, who: Who) -> Result<(), Error> {
        if active != u32::MAX {
            return Err(Error::Divergent { at: cx.at(who), active, expected: u32::MAX });
        }
        let threads = u64::from(cx.machine.threads);
        let needed = (u64::from(self.place) / WARPS as u64 + 1) * (WARPS * WARP) as u64;
        if threads < needed {
            let accepted = format!("at least {needed}: four whole warps execute a wgmma");
            let what = "the number of threads of the block";
            return Err(Error::BadValue { at: cx.at(who), what, value: threads, accepted });
        }
        Ok(())
    }

    /// The value of an operand that must be the same in all lanes.
    pub(super) fn uniform(
        &self,
        cx: &Context<'_>,
        what: &'static str,
        reg: Reg,
        who: Who,
    ) -> Result<u64, Error> {
        let first = self.regs.get(reg, 0);
        match (1..WARP).find(|&lane| self.regs.get(reg, lane) != first) {
            None => Ok(first),
            Some(lane) => {
                let (at, value) = (cx.at(Who { lane: lane as u32, ..who }), self.regs.get(reg, lane));
                Err(Error::BadValue { at, what, value, accepted: format!("{first}, as in lane 0") })
            }
        }
    }

    /// Checks that the registers that the operation reads are defined, if that is checked, and makes those of D
    /// defined.
    pub(super) fn check_initialised(
        &mut self,
        cx: &Context<'_>,
        op: &Wgmma,
        accumulate: bool,
        who: Who,
    ) -> Result<(), Error> {
        let (a, _) = op.registers();
        let read = a.iter().chain(op.d.iter().filter(|_| accumulate));
        for reg in read.map(|&slot| Reg { file: File::W32, slot }) {
            let missing = self.undefined_lanes(reg);
            if missing != 0 {
                cx.note(self.undefined_register(cx, reg, missing, who.source))?;
                self.define_all(reg);
            }
        }
        op.d.iter().for_each(|&slot| self.define_all(Reg { file: File::W32, slot }));
        Ok(())
    }

    /// Marks the registers of the operation as its own from now on.
    pub(super) fn take_registers(&mut self, cx: &Context<'_>, op: &Wgmma, who: Who) -> Result<(), Error> {
        let number = self.wgmma.issued + 1;
        let unfenced = |register| Error::WgmmaUnfenced { at: cx.at(who), register };
        if self.wgmma.strict && !self.wgmma.registers.fenced() {
            cx.note(unfenced("its registers".into()))?;
        }
        let (a, d) = op.registers();
        let metadata: Vec<u32> = op.sparse.iter().map(|sparse| sparse.metadata).collect();
        for (slots, role) in [(a, Role::A), (&metadata, Role::A), (d, Role::D(op.n))] {
            for &slot in slots {
                let fenced = self.wgmma.registers.take(slot, role, number);
                if self.wgmma.strict && !fenced {
                    cx.note(unfenced(cx.machine.kernel.code.name(Reg { file: File::W32, slot })))?;
                }
            }
        }
        Ok(())
    }

    /// Enters the operation in the warpgroup if this warp is the first to issue it, and compares the operands
    /// otherwise. Returns the ranges of shared memory that it reads.
    pub(super) fn join(
        &self,
        cx: &mut Context<'_>,
        op: &Wgmma,
        operands: Operands,
        who: Who,
    ) -> Result<Arc<Vec<Range<usize>>>, Error> {
        let ((group, _), number) = (self.warpgroup(cx), self.wgmma.issued);
        if let Some(operation) = cx.warpgroups[group].operation(number) {
            let (other, warp) = (operation.operands, operation.warp);
            if other == operands {
                return Ok(operation.ranges.clone());
            }
            let pairs = [
                ("the instruction", operands.source.into(), other.source.into()),
                ("the descriptor of A", operands.a.unwrap_or(0), other.a.unwrap_or(0)),
                ("the descriptor of B", operands.b, other.b),
                ("scale-d", operands.accumulate.into(), other.accumulate.into()),
            ];
            let differs = pairs.into_iter().find(|(_, here, there)| here != there);
            let (what, value, expected) = differs.unwrap_or(("the instruction", 0, 0));
            let at = cx.at(who);
            let other = cx.at(Who { warp, lane: 0, source: other.source });
            return Err(Error::Warpgroup { at, what, value, expected, other });
        }
        let chunks = Arc::new(self.places(cx, op, operands, who)?);
        let shadow = cx.shadow.as_mut().map_or(0, |shadow| shadow.operation(who, false));
        let ranges = Arc::new(if cx.shadow.is_some() { merged(&chunks) } else { Vec::new() });
        let (warp, matrices, taken) = (self.index, None, 0);
        let operation = Operation { warp, operands, chunks, ranges: ranges.clone(), matrices, taken, shadow };
        cx.warpgroups[group].operations.push_back(operation);
        Ok(ranges)
    }

    /// Where the 16-byte chunks of A and B are in shared memory.
    pub(super) fn places(
        &self,
        cx: &Context<'_>,
        op: &Wgmma,
        operands: Operands,
        who: Who,
    ) -> Result<Vec<usize>, Error> {
        let a = operands.a.map(|bits| (bits, op.a_major, WARPS * ROWS, false));
        let b = (operands.b, op.b_major, op.n, op.sparse.is_some());
        let mut places = Vec::with_capacity(2 * (WARPS * ROWS + op.n));
        for (bits, major, rows, wide) in a.into_iter().chain([b]) {
            let descriptor = Descriptor::decode(bits);
            if wide && !descriptor.holds_wide(major) {
                let (at, what) = (cx.at(who), "the swizzle of B's descriptor");
                let accepted =
                    "0 (none), 1 (128 bytes) or 2 (64 bytes): a row of a sparse product's B has 64 bytes"
                        .into();
                return Err(Error::BadValue { at, what, value: bits >> 62, accepted });
            }
            for (i, j) in chunks(major, rows, wide) {
                let address = descriptor.chunk(major, i as u64, j as u64) | (cx.rank as u64) << RANK_SHIFT;
                places.push(cx.shared_at(who, Access::Read, address, 16)?);
            }
        }
        Ok(places)
    }
}
