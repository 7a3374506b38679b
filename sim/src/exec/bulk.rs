//! Bulk copies and reductions, `st.async` and `red.async`: the checks at their issue, and the operations that are
//! queued (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy").

use crate::lanes::lanes_of;
use crate::op::{Address, Bulk, BulkKind, StoreAsync};
use crate::shadow::{Kind, Late, Manner, Order, Scope, Stamp, Touch, Who};
use crate::space::{RANK_SHIFT, resolve};
use crate::tensor::Run;
use crate::{Access, Error, Space};

use super::agents::{Completion, Effect, Operation, Piece, Place, Progress};
use super::bounds::{global_at, misaligned};
use super::context::Context;
use super::tensor::plain;
use super::warp::Warp;

/// The sizes and addresses of bulk copies are multiples of this many bytes.
const LINE: u64 = 16;

/// The signal of a copy into shared memory: the shared address of an mbarrier, and with multicast the mask of the blocks whose mbarriers at this
/// address are signalled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub(super) mbarrier: u64,
    pub(super) multicast: Option<u64>,
}

/// The manner of an asynchronous reduction with elements of this many bytes: `cp.reduce.async.bulk` with `bulk`, and
/// `red.async` otherwise.
fn reduces(bulk: bool, bytes: u32) -> Manner {
    let scope = if bulk { Scope::Gpu } else { Scope::Cluster };
    Manner { scope, bytes: bytes as u8, bulk, volatile: false }
}

/// The shared address of the same place in another block.
fn in_block(address: u64, rank: u64) -> u64 {
    address & ((1 << RANK_SHIFT) - 1) | rank << RANK_SHIFT
}

impl Context<'_> {
    /// Queues copies of runs into the shared memory of one block or several. `data` has the bytes for runs that are not
    /// read from global memory.
    pub(super) fn bulk_load(
        &mut self,
        who: Who,
        runs: &[Run],
        data: &[u8],
        signal: Signal,
        effect: Effect,
    ) -> Result<(), Error> {
        let sources = self.global_pieces(who, runs, Access::Read)?;
        let home = runs.first().map_or(signal.mbarrier, |run| run.shared) >> RANK_SHIFT;
        let ranks = u64::from(self.machine.ranks());
        let mask = signal.multicast.unwrap_or(1 << home.min(63));
        if signal.multicast.is_some() && (mask == 0 || mask >> ranks != 0) {
            let accepted = format!("a bit for one or more of the cluster's {ranks} blocks");
            return Err(Error::BadValue { at: self.at(who), what: "block mask", value: mask, accepted });
        }
        if signal.multicast.is_none() && signal.mbarrier >> RANK_SHIFT != home {
            let accepted = format!("that of the destination, {home}");
            let value = signal.mbarrier >> RANK_SHIFT;
            return Err(Error::BadValue { at: self.at(who), what: "the mbarrier's block", value, accepted });
        }
        for rank in (0..64).filter(|rank| mask >> rank & 1 == 1) {
            let mut targets = Vec::with_capacity(runs.len());
            let mut at = 0;
            for run in runs {
                let place = self.cluster_at(who, Access::Write, in_block(run.shared, rank), run.bytes)?;
                append(&mut targets, Piece { place: Place::Shared(place), at, bytes: run.bytes as usize });
                at += run.bytes as usize;
            }
            let mbarrier = self.signalled(who, Space::Cluster, in_block(signal.mbarrier, rank))?;
            let next = self.mbarriers.next_phase(mbarrier);
            let end = self.shadow.as_ref().zip(next).map(|(shadow, next)| shadow.at_phase(who, next));
            self.touch_late(who, &sources, Touch::Read, end)?;
            let operation = self.begin(who, &[], &targets, effect)?;
            let completion = Completion::Transactions { mbarrier, bytes: at as u32, operation };
            let (data, sources) = (data.to_vec(), sources.clone());
            let progress = Progress::Issued;
            self.agents.issue(Operation { who, data, sources, targets, effect, completion, progress });
        }
        Ok(())
    }

    /// Queues a copy or a reduction of runs from the block's shared memory to global memory.
    pub(super) fn bulk_store(&mut self, who: Who, runs: &[Run], effect: Effect) -> Result<(), Error> {
        let runs: Vec<Run> = runs.iter().copied().filter(|run| run.global.is_some()).collect();
        let targets = self.global_pieces(who, &runs, Access::Write)?;
        let group = self.agents.group(who);
        let mut sources = Vec::with_capacity(runs.len());
        let mut at = 0;
        for run in &runs {
            let place = self.shared_at(who, Access::Read, run.shared, run.bytes)?;
            append(&mut sources, Piece { place: Place::Shared(place), at, bytes: run.bytes as usize });
            at += run.bytes as usize;
        }
        let touch = match effect {
            Effect::Reduce(bytes, _) => {
                let manner = reduces(true, bytes);
                Touch::Strong(Kind::Update, Order { manner, ..Order::default() })
            }
            _ => Touch::Write { same: self.machine.global.is_some() && self.is_there(&sources, &targets) },
        };
        let end = self.shadow.as_mut().map(|shadow| shadow.upto(who, true, group as u32 + 1));
        self.touch_late(who, &targets, touch, end)?;
        self.begin(who, &sources, &[], effect)?;
        let completion = Completion::Group(group);
        let (data, progress) = (vec![0; at], Progress::Issued);
        self.agents.issue(Operation { who, data, sources, targets, effect, completion, progress });
        Ok(())
    }

    /// Whether the targets in global memory already have what is in the sources in shared memory, or get it from the
    /// cluster's stores that are on their way.
    fn is_there(&self, sources: &[Piece], targets: &[Piece]) -> bool {
        let data = self.gathered(sources);
        targets.iter().all(|target| {
            let Place::Global(first) = target.place else { return false };
            let Some((index, offset)) = self.machine.view.find(first, target.bytes as u64) else {
                return false;
            };
            let mut there = vec![0; target.bytes];
            self.machine.view.allocations[index].read(offset, &mut there);
            for (place, bytes) in self.on_their_way(first, target.bytes) {
                there[place..place + bytes.len()].copy_from_slice(&bytes);
            }
            there == data[target.at..target.at + target.bytes]
        })
    }

    /// The bytes of pieces in shared memory.
    pub(super) fn gathered(&self, sources: &[Piece]) -> Vec<u8> {
        let mut data = vec![0; sources.iter().map(|piece| piece.at + piece.bytes).max().unwrap_or_default()];
        for piece in sources {
            if let Place::Shared(from) = piece.place {
                data[piece.at..piece.at + piece.bytes]
                    .copy_from_slice(&self.shared[from..from + piece.bytes]);
            }
        }
        data
    }

    /// The places of runs in global memory, in the order of their data.
    fn global_pieces(&mut self, who: Who, runs: &[Run], access: Access) -> Result<Vec<Piece>, Error> {
        let mut pieces = Vec::with_capacity(runs.len());
        let mut at = 0;
        for run in runs {
            if let Some(address) = run.global {
                global_at(self, who, access, address, run.bytes.into())?;
                append(&mut pieces, Piece { place: Place::Global(address), at, bytes: run.bytes as usize });
            }
            at += run.bytes as usize;
        }
        for piece in &pieces {
            let Place::Global(first) = piece.place else { continue };
            if self.machine.options.counts {
                self.report.global_bytes += piece.bytes as u64;
                self.report.sectors += (first + piece.bytes as u64).div_ceil(32) - first / 32;
                self.report.least_sectors += (piece.bytes as u64).div_ceil(32);
            }
        }
        Ok(pieces)
    }

    /// Checks the accesses to the pieces in global memory. They take place at any time between now and `end`.
    fn touch_late(
        &mut self,
        who: Who,
        pieces: &[Piece],
        touch: Touch,
        end: Option<Stamp>,
    ) -> Result<(), Error> {
        let Some(end) = end else { return Ok(()) };
        let late = Some(Late { end, bulk: true });
        pieces.iter().try_for_each(|piece| match piece.place {
            Place::Global(first) => self.check_global(who, (first, piece.bytes as u64), touch, late),
            Place::Shared(_) => Ok(()),
        })
    }

    /// Tells the shadow which bytes of shared memory are in flight from now on; returns the shadow's index of the
    /// operation.
    fn begin(
        &mut self,
        who: Who,
        sources: &[Piece],
        targets: &[Piece],
        effect: Effect,
    ) -> Result<u32, Error> {
        self.report.global += 1;
        self.report.shared += 1;
        self.changes += 1;
        let operation = self.shadow.as_mut().map_or(0, |shadow| shadow.operation(who, false));
        for (access, piece) in (sources.iter().map(|piece| (Access::Read, piece)))
            .chain(targets.iter().map(|piece| (Access::Write, piece)))
        {
            let (Place::Shared(at), Some(shadow)) = (piece.place, &mut self.shadow) else { continue };
            let found = match access {
                Access::Read => shadow.begin_async_read((who, 1 << who.lane), at, piece.bytes, true),
                Access::Write => match effect {
                    Effect::Reduce(bytes, _) => {
                        shadow.begin_async_reduction(who, operation, reduces(true, bytes), at, piece.bytes)
                    }
                    Effect::Write | Effect::Convert(_) => shadow.begin_async_write(who, at, piece.bytes),
                },
            };
            self.checked(who, access, at, piece.bytes, found)?;
        }
        Ok(operation)
    }
}

/// Adds a piece, by making the last piece longer where the new one continues it both in the data and in memory.
fn append(pieces: &mut Vec<Piece>, piece: Piece) {
    if let Some(last) = pieces.last_mut()
        && last.at + last.bytes == piece.at
    {
        let follows = match (last.place, piece.place) {
            (Place::Global(a), Place::Global(b)) => a + last.bytes as u64 == b,
            (Place::Shared(a), Place::Shared(b)) => a + last.bytes == b,
            _ => false,
        };
        if follows {
            last.bytes += piece.bytes;
            return;
        }
    }
    pieces.push(piece);
}

impl Warp {
    /// A bulk copy or reduction, by each of the lanes.
    pub(super) fn bulk(
        &mut self,
        cx: &mut Context<'_>,
        bulk: &Bulk,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let [to, from] = [&bulk.to, &bulk.from].map(|address| self.address(address, lane));
            let bytes = self.regs.get(bulk.bytes, lane);
            if !bytes.is_multiple_of(LINE) {
                let (at, accepted) = (cx.at(who), format!("a multiple of {LINE} bytes"));
                return Err(Error::BadValue { at, what: "size of the copy", value: bytes, accepted });
            }
            let (to_space, from_space) = bulk.kind.spaces();
            let (to_space, to) = resolve(to_space, to);
            let (from_space, from) = resolve(from_space, from);
            for (access, space, address) in [(Access::Write, to_space, to), (Access::Read, from_space, from)]
            {
                if !address.is_multiple_of(LINE) {
                    return Err(misaligned(cx, who, access, space, address, LINE as u32));
                }
            }
            let bytes = bytes as u32;
            self.check_within(cx, &bulk.to, (who, Access::Write, to_space, to), bytes)?;
            self.check_within(cx, &bulk.from, (who, Access::Read, from_space, from), bytes)?;
            self.check_mbarrier(cx, &bulk.mbarrier, who)?;
            let effect = bulk.reduce.map_or(Effect::Write, |(bytes, update)| Effect::Reduce(bytes, update));
            match bulk.kind {
                BulkKind::Load { multicast, .. } => {
                    let signal = self.signal(&bulk.mbarrier, multicast, lane);
                    cx.cluster_at(who, Access::Write, to, bytes)?;
                    cx.bulk_load(who, &plain(from, to, bytes), &vec![0; bytes as usize], signal, effect)?;
                }
                BulkKind::Store => {
                    cx.bulk_store(who, &plain(to, from, bytes), effect)?;
                }
                BulkKind::Move => {
                    let signal = self.signal(&bulk.mbarrier, None, lane);
                    cx.bulk_move(who, (from, to, bytes), signal.mbarrier, effect)?;
                }
            }
        }
        Ok(())
    }

    /// The mbarrier and the blocks that a lane's copy signals.
    pub(super) fn signal(
        &self,
        mbarrier: &Address,
        multicast: Option<crate::lanes::Reg>,
        lane: usize,
    ) -> Signal {
        let (_, mbarrier) = resolve(Space::Generic, self.address(mbarrier, lane));
        let multicast = multicast.map(|reg| self.regs.get(reg, lane) & 0xffff);
        Signal { mbarrier, multicast }
    }

    /// `cp.async.bulk.commit_group`.
    pub(super) fn bulk_commit(&self, cx: &mut Context<'_>, active: u32, source: u32) {
        lanes_of(active).for_each(|lane| cx.agents.commit(self.who(1 << lane, source)));
    }

    /// `cp.async.bulk.wait_group`.
    pub(super) fn bulk_wait(
        &self,
        cx: &mut Context<'_>,
        (keep, read): (u32, bool),
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        lanes_of(active).try_for_each(|lane| cx.bulk_wait(self.who(1 << lane, source), keep.into(), read))
    }

    /// `st.async`, `red.async`.
    pub(super) fn store_async(
        &mut self,
        cx: &mut Context<'_>,
        store: &StoreAsync,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        let total = store.bytes * store.values.len() as u32;
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (_, to) = resolve(Space::Generic, self.address(&store.to, lane));
            if !to.is_multiple_of(total.into()) {
                return Err(misaligned(cx, who, Access::Write, Space::Cluster, to, total));
            }
            self.check_within(cx, &store.to, (who, Access::Write, Space::Cluster, to), total)?;
            self.check_mbarrier(cx, &store.mbarrier, who)?;
            let signal = self.signal(&store.mbarrier, None, lane);
            let mut data = Vec::with_capacity(total as usize);
            for &value in &store.values {
                data.extend_from_slice(&self.regs.get(value, lane).to_le_bytes()[..store.bytes as usize]);
            }
            let effect = store.reduce.map_or(Effect::Write, |update| Effect::Reduce(store.bytes, update));
            cx.send(who, to, data, signal.mbarrier, effect)?;
        }
        Ok(())
    }
}

impl Context<'_> {
    /// Queues a copy or a reduction from the block's shared memory to the shared memory of a block of the cluster.
    fn bulk_move(
        &mut self,
        who: Who,
        (from, to, bytes): (u64, u64, u32),
        mbarrier: u64,
        effect: Effect,
    ) -> Result<(), Error> {
        let from = self.shared_at(who, Access::Read, from, bytes)?;
        let to = self.cluster_at(who, Access::Write, to, bytes)?;
        let mbarrier = self.signalled(who, Space::Cluster, mbarrier)?;
        let sources = vec![Piece { place: Place::Shared(from), at: 0, bytes: bytes as usize }];
        let targets = vec![Piece { place: Place::Shared(to), at: 0, bytes: bytes as usize }];
        let operation = self.begin(who, &sources, &targets, effect)?;
        let completion = Completion::Transactions { mbarrier, bytes, operation };
        let (data, progress) = (vec![0; bytes as usize], Progress::Issued);
        self.agents.issue(Operation { who, data, sources, targets, effect, completion, progress });
        Ok(())
    }

    /// Queues data that an instruction has taken from registers, on the way to the shared memory of a block of the
    /// cluster.
    fn send(&mut self, who: Who, to: u64, data: Vec<u8>, mbarrier: u64, effect: Effect) -> Result<(), Error> {
        let bytes = data.len();
        let to = self.cluster_at(who, Access::Write, to, bytes as u32)?;
        let mbarrier = self.signalled(who, Space::Cluster, mbarrier)?;
        let targets = vec![Piece { place: Place::Shared(to), at: 0, bytes }];
        self.report.shared += 1;
        self.changes += 1;
        let (operation, found) = self.shadow.as_mut().map_or((0, Ok(())), |shadow| {
            let operation = shadow.operation(who, true);
            let found = match effect {
                Effect::Write | Effect::Convert(_) => shadow.begin_copy(who, to, bytes),
                Effect::Reduce(element, _) => {
                    shadow.begin_async_reduction(who, operation, reduces(false, element), to, bytes)
                }
            };
            (operation, found)
        });
        self.checked(who, Access::Write, to, bytes, found)?;
        let completion = Completion::Transactions { mbarrier, bytes: bytes as u32, operation };
        let (sources, progress) = (Vec::new(), Progress::Read);
        self.agents.issue(Operation { who, data, sources, targets, effect, completion, progress });
        Ok(())
    }
}
