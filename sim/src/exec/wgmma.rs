//! `wgmma`: products of matrices in shared memory that a warpgroup issues and waits for (PTX ISA, "Asynchronous
//! Warpgroup Level Matrix Multiply-Accumulate Instructions").
//!
//! An operation is queued when a warp issues it and takes place once all four warps of its warpgroup have: shared memory
//! is read and registers are written when the first warp, or each, waits for its group, the latest moment that the ISA
//! allows; with a seed some of the reads happen as soon as they may.

mod descriptor;
mod group;
mod product;
mod registers;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::lanes::{File, Reg, WARP};
use crate::op::{Inst, Left, MmaType, Wgmma};
use crate::shadow::{By, Who};
use crate::{Access, Error};

use super::RANK_SHIFT;
use super::context::{Context, Machine};
use super::groups::Wait;
use super::warp::Warp;
use descriptor::Descriptor;
pub(crate) use descriptor::Major;
pub(crate) use group::Warpgroup;
use group::{Operands, Operation, WARPS};
use product::{Chunk, Elements, ROWS, Shape};
use registers::{Registers, Role};

/// A warp's part in its warpgroup's operations.
#[derive(Debug, Default)]
pub(super) struct Operations {
    /// Issued and not waited for, oldest first.
    pending: VecDeque<Pending>,
    /// Operations issued before each commit that has not been waited for.
    groups: VecDeque<u64>,
    issued: u64,
    completed: u64,
    registers: Registers,
    /// Whether accesses of registers are watched when nothing is in flight, too.
    strict: bool,
}

#[derive(Debug)]
struct Pending {
    op: Arc<Wgmma>,
    operands: Operands,
}

impl Operations {
    /// A new block.
    pub(super) fn start(&mut self, machine: &Machine<'_>) {
        self.pending.clear();
        self.groups.clear();
        (self.issued, self.completed) = (0, 0);
        let code = &machine.kernel.code;
        self.registers.start(if code.wgmma { code.w32 as usize } else { 0 });
        self.strict = code.wgmma && (machine.options.races || machine.options.uninitialised);
    }

    /// Whether other instructions have to be watched.
    #[inline]
    pub(super) fn watches(&self) -> bool {
        self.strict || !self.pending.is_empty()
    }

    pub(super) fn fence(&mut self) {
        self.registers.fence();
    }

    pub(super) fn commit(&mut self) {
        self.groups.push_back(self.issued);
    }

    /// Operations that are complete when all but the latest `keep` groups are.
    fn waited(&self, keep: u32) -> u64 {
        let last = self.groups.len().checked_sub(keep as usize + 1);
        last.map_or(self.completed, |last| self.groups[last])
    }
}

impl Warp {
    /// An instruction is about to access its registers.
    #[cold]
    pub(super) fn watch(&mut self, cx: &Context<'_>, inst: &Inst, active: u32) -> Result<(), Error> {
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let accesses = (source.reads.iter().map(|reg| (Access::Read, reg)))
            .chain(source.writes.iter().map(|reg| (Access::Write, reg)));
        for (access, reg) in accesses.filter(|(_, reg)| reg.file == File::W32) {
            let Some(number) = self.wgmma.registers.touch(reg.slot, self.wgmma.completed) else { continue };
            let pending = self.wgmma.pending.get((number - self.wgmma.completed - 1) as usize);
            let issued = pending.map_or(inst.source, |pending| pending.operands.source);
            let who = self.who(active, inst.source);
            return Err(Error::WgmmaInFlight {
                at: cx.at(who),
                access,
                register: cx.machine.kernel.code.name(*reg),
                wgmma: cx.at(Who { source: issued, ..who }),
            });
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
        self.check_initialised(cx, op, accumulate, who)?;
        self.take_registers(cx, op, who)?;
        let chunks = self.join(cx, op, operands, who)?;
        begin_reads(cx, &chunks, who)?;
        (cx.report.wgmma, cx.changes) = (cx.report.wgmma + 1, cx.changes + 1);
        let (group, warp) = self.warpgroup(cx);
        cx.warpgroups[group].issued[warp] += 1;
        self.wgmma.issued += 1;
        self.wgmma.pending.push_back(Pending { op: op.clone(), operands });
        if cx.warpgroups[group].missing(self.wgmma.issued).next().is_none() && cx.below(2) == 1 {
            read(cx, group, op, self.wgmma.issued - 1);
        }
        Ok(())
    }

    /// Its warpgroup's number in the cluster, and its place there.
    fn warpgroup(&self, cx: &Context<'_>) -> (usize, usize) {
        let place = self.place as usize;
        (cx.rank * cx.machine.warpgroups() + place / WARPS, place % WARPS)
    }

    /// All lanes of a warp that belongs to a whole warpgroup.
    fn check_warpgroup(&self, cx: &Context<'_>, active: u32, who: Who) -> Result<(), Error> {
        if active != u32::MAX {
            return Err(Error::Divergent { at: cx.at(who), active, expected: u32::MAX });
        }
        let threads = u64::from(cx.machine.threads);
        let needed = (u64::from(self.place) / WARPS as u64 + 1) * (WARPS * WARP) as u64;
        if threads < needed {
            let accepted = format!("at least {needed}: a wgmma is one of four whole warps");
            let what = "the number of threads of the block";
            return Err(Error::BadValue { at: cx.at(who), what, value: threads, accepted });
        }
        Ok(())
    }

    /// An operand that must be the same in all lanes.
    fn uniform(&self, cx: &Context<'_>, what: &'static str, reg: Reg, who: Who) -> Result<u64, Error> {
        let first = self.regs.get(reg, 0);
        match (1..WARP).find(|&lane| self.regs.get(reg, lane) != first) {
            None => Ok(first),
            Some(lane) => {
                let (at, value) = (cx.at(Who { lane: lane as u32, ..who }), self.regs.get(reg, lane));
                Err(Error::BadValue { at, what, value, accepted: format!("{first}, as in lane 0") })
            }
        }
    }

    /// Registers that the operation reads have been written, if that is checked; it writes those of D.
    fn check_initialised(
        &mut self,
        cx: &Context<'_>,
        op: &Wgmma,
        accumulate: bool,
        who: Who,
    ) -> Result<(), Error> {
        let (a, _) = op.registers();
        let read = a.iter().chain(op.d.iter().filter(|_| accumulate));
        for reg in read.map(|&slot| Reg { file: File::W32, slot }) {
            let missing = self.unwritten(reg);
            if missing != 0 {
                return Err(self.unwritten_register(cx, reg, missing, who.source));
            }
        }
        op.d.iter().for_each(|&slot| self.mark_written(Reg { file: File::W32, slot }));
        Ok(())
    }

    /// The operation has its registers from now on.
    fn take_registers(&mut self, cx: &Context<'_>, op: &Wgmma, who: Who) -> Result<(), Error> {
        let number = self.wgmma.issued + 1;
        let unfenced = |register| Error::WgmmaUnfenced { at: cx.at(who), register };
        if self.wgmma.strict && !self.wgmma.registers.fenced() {
            return Err(unfenced("its registers".into()));
        }
        let (a, d) = op.registers();
        for (slots, role) in [(a, Role::A), (d, Role::D(op.n))] {
            for &slot in slots {
                let fenced = self.wgmma.registers.take(slot, role, number);
                if self.wgmma.strict && !fenced {
                    return Err(unfenced(cx.machine.kernel.code.name(Reg { file: File::W32, slot })));
                }
            }
        }
        Ok(())
    }

    /// Enters the operation among those of the warpgroup, or finds it there; where its chunks are.
    fn join(
        &self,
        cx: &mut Context<'_>,
        op: &Wgmma,
        operands: Operands,
        who: Who,
    ) -> Result<Arc<Vec<usize>>, Error> {
        let ((group, _), number) = (self.warpgroup(cx), self.wgmma.issued);
        if let Some(operation) = cx.warpgroups[group].operation(number) {
            let (other, warp, chunks) = (operation.operands, operation.warp, operation.chunks.clone());
            if other == operands {
                return Ok(chunks);
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
        let (warp, matrices) = (self.index, None);
        let operation = Operation { warp, operands, chunks: chunks.clone(), matrices, taken: 0, shadow };
        cx.warpgroups[group].operations.push_back(operation);
        Ok(chunks)
    }

    /// Where the chunks of A and B are in shared memory.
    fn places(
        &self,
        cx: &Context<'_>,
        op: &Wgmma,
        operands: Operands,
        who: Who,
    ) -> Result<Vec<usize>, Error> {
        let a = operands.a.map(|bits| (bits, op.a_major, WARPS * ROWS));
        let mut places = Vec::with_capacity(2 * (WARPS * ROWS + op.n));
        for (bits, major, rows) in a.into_iter().chain([(operands.b, op.b_major, op.n)]) {
            let descriptor = Descriptor::decode(bits);
            for (i, j) in chunks(major, rows) {
                let address = descriptor.chunk(major, i as u64, j as u64) | (cx.rank as u64) << RANK_SHIFT;
                places.push(cx.shared_at(who, Access::Read, address, 16)?);
            }
        }
        Ok(places)
    }

    /// `wgmma.wait_group keep`: all operations but those of the latest `keep` groups take place, once all four warps have
    /// issued them.
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
            && let Some(Pending { op, operands }) = self.wgmma.pending.pop_front()
        {
            let number = self.wgmma.completed;
            read(cx, group, &op, number);
            complete(cx, group, number);
            let matrices = cx.warpgroups[group].operation(number).and_then(|o| o.matrices.clone());
            if let Some(matrices) = matrices {
                self.multiply(&op, &matrices, operands.accumulate);
            }
            cx.warpgroups[group].take(number);
            self.wgmma.completed += 1;
        }
        while self.wgmma.groups.pop_front_if(|group| *group <= operations).is_some() {}
        if let (Some(shadow), Some(counter)) = (&mut cx.shadow, cx.warpgroups[group].counter) {
            shadow.know_phase(self.index as usize, counter, self.wgmma.completed as u32);
        }
        Ok(None)
    }

    fn multiply(&mut self, op: &Wgmma, matrices: &(Option<Elements>, Elements), accumulate: bool) {
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
                let rows = rows(a, b.len() / op.n, first);
                product::multiply(&mut self.regs, op, rows, b, accumulate);
            }
            (Elements::Integers(a), Elements::Integers(b)) => {
                let rows = rows(a, b.len() / op.n, first);
                product::multiply_integers(&mut self.regs, op, rows, b, accumulate);
            }
            _ => {}
        }
    }
}

impl Context<'_> {
    /// Whether all warps of a warpgroup have issued so many operations, or one never will.
    pub(super) fn warpgroup_has(&self, group: usize, operations: u64) -> bool {
        self.warpgroups[group].missing(operations).next().is_none()
            || self.exited(group, operations).is_some()
    }

    /// The warps of a warpgroup, by number in their block, that have not issued so many operations.
    pub(super) fn missing(&self, group: usize, operations: u64) -> Vec<u32> {
        let first = group % self.machine.warpgroups() * WARPS;
        self.warpgroups[group].missing(operations).map(|warp| (first + warp) as u32).collect()
    }

    /// One of them that has exited.
    fn exited(&self, group: usize, operations: u64) -> Option<u32> {
        let live = self.blocks[group / self.machine.warpgroups()].live;
        self.missing(group, operations).into_iter().find(|warp| live >> warp & 1 == 0)
    }
}

/// The shadow learns what an operation will read for a warp.
fn begin_reads(cx: &mut Context<'_>, chunks: &[usize], who: Who) -> Result<(), Error> {
    let Some(shadow) = &mut cx.shadow else { return Ok(()) };
    for range in merged(chunks) {
        if let Err(finding) = shadow.begin_async_read(who, range.start, range.len()) {
            return Err(cx.found(who, Access::Read, range.start, range.len() as u32, finding));
        }
    }
    Ok(())
}

/// A warp has waited for an operation: what it read for all four is read.
fn complete(cx: &mut Context<'_>, group: usize, number: u64) {
    let Warpgroup { completed, .. } = cx.warpgroups[group];
    if completed > number {
        return;
    }
    cx.warpgroups[group].completed = number + 1;
    let Some(shadow) = &mut cx.shadow else { return };
    let counter = *cx.warpgroups[group].counter.get_or_insert_with(|| shadow.counter());
    let Some(operation) = cx.warpgroups[group].operation(number) else { return };
    let by = By::Phase { mbarrier: counter, phase: number as u32 + 1, operation: operation.shadow };
    for range in merged(&operation.chunks) {
        (0..WARPS).for_each(|_| shadow.end_async_read(by, range.start, range.len()));
    }
}

/// A warp's rows of A.
fn rows<T>(a: &[T], k: usize, first: usize) -> &[T] {
    &a[first * k..(first + ROWS) * k]
}

/// The chunks of a matrix with so many rows, or columns.
fn chunks(major: Major, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    // MN-major elements have 16 bits: 16 of them along K.
    let (outer, inner) = if major == Major::K { (rows, 2) } else { (rows / 8, 16) };
    (0..outer).flat_map(move |i| (0..inner).map(move |j| (i, j)))
}

/// Bytes of chunks, in as few ranges as they make.
fn merged(chunks: &[usize]) -> Vec<Range<usize>> {
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in sorted {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end = at + 16,
            _ => ranges.push(at..at + 16),
        }
    }
    ranges
}

/// Reads the matrices of an operation, if that has not happened.
fn read(cx: &mut Context<'_>, group: usize, op: &Wgmma, number: u64) {
    let Some(operation) = cx.warpgroups[group].operation(number) else { return };
    if operation.matrices.is_some() {
        return;
    }
    let places = operation.chunks.clone();
    let has_a = matches!(op.a, Left::Descriptor(_));
    let (of_a, of_b) = places.split_at(if has_a { 2 * WARPS * ROWS } else { 0 });
    let shared = &cx.shared;
    let gather = |ty: MmaType, major, shape: Shape, places: &[usize]| {
        let bytes = |&at: &usize| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&shared[at..at + 16]);
            bytes
        };
        let chunks: Vec<Chunk> =
            chunks(major, shape.rows).zip(places).map(|((i, j), at)| (i, j, bytes(at))).collect();
        product::gather(ty, major, shape, &chunks)
    };
    let a = Shape { rows: WARPS * ROWS, by_columns: false, negate: op.negate_a };
    let b = Shape { rows: op.n, by_columns: true, negate: op.negate_b };
    let a = has_a.then(|| gather(op.a_ty, op.a_major, a, of_a));
    let matrices = (a, gather(op.b_ty, op.b_major, b, of_b));
    if let Some(operation) = cx.warpgroups[group].operation(number) {
        operation.matrices = Some(Arc::new(matrices));
    }
}
