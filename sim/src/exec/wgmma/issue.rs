//! The checks when a warp issues a `wgmma`, and the operation's entry in the warpgroup.

use std::ops::Range;
use std::sync::Arc;

use crate::lanes::{File, Reg, WARP, lanes_of};
use crate::op::{Left, Major, MmaSum, Wgmma};
use crate::shadow::Who;
use crate::space::RANK_SHIFT;
use crate::{Access, Error};

use super::super::context::Context;
use super::super::registers::Origin;
use super::super::warp::Warp;
use super::descriptor::Descriptor;
use super::group::{Operands, Operation, WARPS};
use super::matrices::{chunks, merged};
use super::product::{ROWS, place};
use super::registers::Role;

/// The chunks and the ranges of shared memory that an operation reads.
type Reads = (Arc<Vec<usize>>, Arc<Vec<Range<usize>>>);

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

    /// Marks the elements of D as undefined that depend on undefined values: of D, if it is added to, in their row of A or
    /// in their column of B. Nothing accesses D before the operation is complete, so that this may be done at the issue.
    pub(super) fn spread_product(
        &mut self,
        cx: &Context<'_>,
        op: &Wgmma,
        accumulate: bool,
        (chunks_of, ranges): (&[usize], &[Range<usize>]),
        who: Who,
    ) {
        let Some(mut undefined) = self.undefined.take() else { return };
        let (a, d) = op.registers();
        let file = File::W32;
        let some = |slots: &[u32]| slots.iter().any(|&slot| undefined.lanes(Reg { file, slot }) != 0);
        let lacks = cx.shadow.as_ref().filter(|shadow| ranges.iter().any(|range| shadow.lacks(range)));
        if !some(a) && lacks.is_none() && !(accumulate && some(d)) {
            d.iter().for_each(|&slot| undefined.define(Reg { file, slot }, u32::MAX));
            self.undefined = Some(undefined);
            return;
        }
        let (mut rows, mut columns) = ([None; ROWS], vec![None; op.n]);
        for (r, &slot) in a.iter().enumerate() {
            let (reg, of) = (Reg { file, slot }, |t: usize| t / 4 + 8 * (r % 2));
            for t in lanes_of(undefined.lanes(reg)) {
                rows[of(t)] = rows[of(t)].or(Some(undefined.origin(reg)));
            }
        }
        if let Some(shadow) = lacks {
            let in_memory = matches!(op.a, Left::Descriptor(_));
            let (of_a, of_b) = chunks_of.split_at(if in_memory { 2 * WARPS * ROWS } else { 0 });
            let mark = |of_chunks: &mut dyn Iterator<Item = ((usize, usize), usize)>,
                        major: Major,
                        first: usize,
                        lines: &mut [Option<Origin>]| {
                // A chunk has a part of one line along K, or eight elements of 16 bits of as many lines.
                for ((i, _), at) in of_chunks {
                    let missing = shadow.missing(at, 16);
                    for byte in (0..16).filter(|byte| missing >> byte & 1 == 1) {
                        let line = if major == Major::K { i } else { 8 * i + byte / 2 };
                        if let Some(line) = line.checked_sub(first).and_then(|line| lines.get_mut(line)) {
                            *line = line.or(Some(cx.origin(who, at, missing)));
                        }
                    }
                }
            };
            let first = ROWS * (self.place as usize % WARPS);
            let mut a = chunks(op.a_major, WARPS * ROWS, false).zip(of_a.iter().copied());
            mark(&mut a, op.a_major, first, &mut rows);
            let mut b = chunks(op.b_major, op.n, op.sparse.is_some()).zip(of_b.iter().copied());
            mark(&mut b, op.b_major, 0, &mut columns);
        }
        let per = if op.sum == MmaSum::F16 { 2 } else { 1 };
        for (r, &slot) in d.iter().enumerate() {
            let reg = Reg { file, slot };
            if !accumulate {
                undefined.define(reg, u32::MAX);
            }
            let (bits, origin) = undefined.added(reg);
            for (t, bits) in bits.into_iter().enumerate() {
                let (row, column) = place(per, r, t);
                undefined.sum((reg, t), (bits, origin), (0..per).map(|h| rows[row].or(columns[column + h])));
            }
        }
        self.undefined = Some(undefined);
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
    /// otherwise. Returns the chunks and the ranges of shared memory that it reads.
    pub(super) fn join(
        &self,
        cx: &mut Context<'_>,
        op: &Wgmma,
        operands: Operands,
        who: Who,
    ) -> Result<Reads, Error> {
        let ((group, _), number) = (self.warpgroup(cx), self.wgmma.issued);
        if let Some(operation) = cx.warpgroups[group].operation(number) {
            let (other, warp) = (operation.operands, operation.warp);
            if other == operands {
                return Ok((operation.chunks.clone(), operation.ranges.clone()));
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
        let places = (chunks.clone(), ranges.clone());
        let operation = Operation { warp, operands, chunks, ranges, matrices, taken, shadow };
        cx.warpgroups[group].operations.push_back(operation);
        Ok(places)
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
