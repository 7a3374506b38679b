//! The consumer warpgroups: scores, softmax, and P V.

use girih_layout::{Lay, lay};
use girih_ptx::{Opcode, Operand as Ptx, Type};
use girih_tensor::{DType, Slice, Tensor};

use super::softmax::EMPTY;
use super::{Parts, ROWS, WARPGROUP};
use crate::algorithm::{MmaWith, clear, gemm, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait};
use crate::attention::interface::Tensor4;
use crate::attention::keys::{self, Blocks, Keys, OfTile};
use crate::attention::tile::{Entry, MAX_LENGTH, for_each_tile};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::sync::PingPong;
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Descriptor, Error, Expr, PipelineState, Rmem, Smem, Stage};

/// A thread of a warpgroup that multiplies.
pub(super) struct Consumer<'a> {
    pub parts: &'a Parts<'a>,
    /// The index of the warpgroup among the consumers, and the thread's index in it.
    pub number: Expr,
    pub thread: Expr,
    pub leader: Cond,
    ping_pong: PingPong,
    /// The barrier of the warpgroup's own threads.
    pub meeting: Expr,
    q: Tensor<Descriptor>, // (1,1,RestK,Buffer)
    k: Tensor<Descriptor>, // (1,1,RestK,Stage)
    v: Tensor<Descriptor>, // (1,1,RestKeys,Stage)
    /// The scores, which become exponentials, and these in the tensors' dtype as the MMAs take them.
    pub scores: Tensor<Rmem>, // (FrgV,1,1)
    pub powers: Tensor<Rmem>, // (FrgV,1,RestKeys)
    /// The accumulators of P V.
    pub sums: Tensor<Rmem>, // (FrgV,1,1)
    /// For each of the thread's two rows the number of the [`Reference`](crate::attention::rows::Reference) to which exponentials relate, and the sum of the thread's
    /// own exponentials.
    pub most: Tensor<Rmem>, // (2)
    pub total: Tensor<Rmem>, // (2)
    /// Where all rows of the warpgroup are near and have a maximum, the exponentials of a tile relate to it before the tile's own maximum is known. Where that is
    /// not so, which of the thread's rows are far, or that nothing was added up yet.
    pub known: Reg,
    /// The buffer of Q; the tiles of K and V to read next, which have the same place among the stages of each.
    of_q: PipelineState,
    of_keys: PipelineState,
    /// 1 where a tile of O is on its way from its buffer of Q, which is not released yet.
    stored: Reg,
}

/// Registers for an operand's part of a tile of two extents.
fn fragment(
    b: &mut Builder,
    thread: &ThrMma<Expr>,
    operand: Operand,
    extents: [i64; 2],
) -> Result<Tensor<Rmem>, Error> {
    // Nothing but the extents of the tile matters.
    let tile = Tensor::new(Smem::new(Expr::from(0), DType::F32, None), Lay::col_major(extents)?);
    thread.partition_fragment(b, operand, &tile)
}

pub(super) fn set(b: &mut Builder, flag: &Reg, value: i64) {
    b.inst(Opcode::Mov, &[Type::B32.into()], vec![Ptx::from(flag), Ptx::Int(value)]);
}

impl Consumer<'_> {
    pub(super) fn run(b: &mut Builder, parts: &Parts<'_>, thread: &Expr, group: &Expr) -> Result<(), Error> {
        b.warpgroup_reg_alloc(parts.ring.registers[1])?;
        let consumer = Consumer::new(b, parts, thread, group)?;
        b.if_(&consumer.ping_pong.opens(), |b| consumer.ping_pong.signal(b))?;
        for_each_tile(b, parts.interface, |b, entry| consumer.tile(b, entry))?;
        b.if_(&consumer.ping_pong.closes(), |b| consumer.ping_pong.wait(b))?;
        consumer.finish(b)
    }

    fn new<'a>(
        b: &mut Builder,
        parts: &'a Parts<'a>,
        thread: &Expr,
        group: &Expr,
    ) -> Result<Consumer<'a>, Error> {
        // The first warpgroup is the producer's.
        let number = b.bounded(&(group - &Expr::from(1)), parts.ring.warpgroups - 1)?;
        let thread = thread.rem(WARPGROUP)?;
        let leader = Cond::less(&thread, &Expr::from(1));
        // Descriptors are the same for all threads of a warpgroup.
        let [qk, pv] = [&parts.qk, &parts.pv].map(|mma| mma.get_slice(&Expr::from(0)));
        let (qk, pv) = (qk?, pv?);
        let q = qk.partition_descriptor(Operand::A, &parts.rows_of(&number)?)?; // (1,1,RestK,Buffer)
        let k = qk.partition_descriptor(Operand::B, &parts.k)?; // (1,1,RestK,Stage)
        let v = pv.partition_descriptor(Operand::B, &parts.transposed_v()?)?; // (1,1,RestKeys,Stage)
        let [_, of_keys] = parts.config().tile;
        let columns = parts.config().columns(Tensor4::O);
        let scores = fragment(b, &parts.qk.get_slice(&thread)?, Operand::C, [ROWS, of_keys])?; // (FrgV,1,1)
        let mine = parts.pv.get_slice(&thread)?;
        let powers = fragment(b, &mine, Operand::A, [ROWS, of_keys])?; // (FrgV,1,RestKeys)
        let sums = fragment(b, &mine, Operand::C, [ROWS, columns])?; // (FrgV,1,1)
        let [most, total] = [(); 2].map(|()| Rmem::tensor(b, DType::F32, lay!("2:1")));
        let states = [parts.ring.buffers, parts.ring.stages];
        let [of_q, of_keys] = states.map(|stages| PipelineState::new(b, stages));
        let [known, stored] = [(); 2].map(|()| b.reg(Type::B32));
        set(b, &stored, 0);
        let warpgroups = parts.ring.warpgroups;
        let ping_pong = PingPong::new(b, &number, warpgroups, 1)?;
        let meeting = &number + (warpgroups + 1);
        let (most, total) = (most?, total?);
        let consumer = Consumer {
            parts,
            number,
            thread,
            leader,
            ping_pong,
            meeting,
            q,
            k,
            v,
            scores,
            powers,
            sums,
            most,
            total,
            known,
            of_q,
            of_keys,
            stored,
        };
        Ok(consumer)
    }

    /// The rows of the warpgroup in a tile, from the first to before the one after the last, and whether it has any.
    fn rows(&self, entry: &Entry) -> (Expr, Expr, Cond) {
        let first = &entry.row + &(&self.number * ROWS);
        let stop = (&first + ROWS).minimum(&entry.queries);
        let any = Cond::less(&first, &entry.queries);
        (first, stop, any)
    }

    /// Computes a tile of O. All warpgroups wait and signal equally often, once more than there are tiles of keys.
    fn tile(&self, b: &mut Builder, entry: &Entry) -> Result<(), Error> {
        let interface = self.parts.interface;
        let [_, of_keys] = interface.config.tile;
        let (first, stop, any) = self.rows(entry);
        let OfTile { base, blocks: all, .. } = keys::of_tile(b, interface, entry)?;
        let seen = Keys::of(b, interface, entry, &first, &stop)?.blocks(b, &base, of_keys)?;
        let own = own(b, &all, &seen, &any)?;
        let buffer = self.of_q.stage(b);
        self.parts.of_q.consumer_wait(b, &buffer)?;
        crate::algorithm::fill(b, &self.most, f64::NEG_INFINITY)?;
        clear(b, &self.total)?;
        clear(b, &self.sums)?;
        set(b, &self.known, EMPTY);
        let complete = Keys::of_all(b, interface, entry, &first, &stop)?;
        // From the last tile of keys to the first, those that the rows of this warpgroup do not see at either end.
        b.for_range(&(&all.stop - &own.stop), |b, _| {
            self.pass_on(b)?;
            self.pass(b)
        })?;
        b.if_else(
            &Cond::less(&own.first, &own.stop),
            |b| self.multiply(b, entry, (&base, &own), &complete, &buffer),
            |b| {
                self.pass_on(b)?;
                self.release_stored(b)
            },
        )?;
        // Other warpgroups wait in the same iteration for the stage of the next tile.
        b.for_range(&(&own.first - &all.first), |b, _| {
            self.pass(b)?;
            self.pass_on(b)
        })?;
        self.store(b, entry, &buffer)?;
        self.of_q.advance(b);
        Ok(())
    }

    /// A barrier of the warpgroup's threads.
    #[track_caller]
    pub(super) fn meet(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_sync(&self.meeting, WARPGROUP as u32)
    }

    /// Waits and signals without MMAs in between.
    fn pass_on(&self, b: &mut Builder) -> Result<(), Error> {
        self.ping_pong.wait(b)?;
        self.ping_pong.signal(b)
    }

    /// Goes past a tile of keys that no row of the warpgroup sees.
    fn pass(&self, b: &mut Builder) -> Result<(), Error> {
        let stage = self.of_keys.stage(b);
        let pipelines = [&self.parts.of_k, &self.parts.of_v];
        pipelines.iter().try_for_each(|pipeline| pipeline.consumer_wait(b, &stage))?;
        // A stage that is released may be filled anew at once: a warp that still waited for this filling would not see it any more.
        self.meet(b)?;
        pipelines.iter().try_for_each(|pipeline| pipeline.consumer_release(b, &stage, &self.leader))?;
        self.of_keys.advance(b);
        Ok(())
    }

    /// Goes through the tiles of keys that rows of the warpgroup see, of which there is at least one.
    fn multiply(
        &self,
        b: &mut Builder,
        entry: &Entry,
        (base, own): (&Expr, &Blocks),
        complete: &Keys,
        buffer: &Stage,
    ) -> Result<(), Error> {
        let Parts { of_k, of_v, interface, .. } = self.parts;
        let [_, of_keys] = interface.config.tile;
        // The first key of the tile, counted from the base.
        let key = b.reg(Type::U32);
        let last = b.operand(&(&(&own.stop + -1) * of_keys), Width::W32)?;
        b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(&key), last]);
        let end = b.hold_index(&(&own.first * of_keys), Width::W32)?;
        let stage = self.of_keys.stage(b);
        of_k.consumer_wait(b, &stage)?;
        self.ping_pong.wait(b)?;
        self.issue_scores(b, buffer, &stage)?;
        self.ping_pong.signal(b)?;
        self.release_stored(b)?;
        let round = b.open_repeat();
        warpgroup_wait(b, 0);
        let at = b.var(&key, 0, MAX_LENGTH, of_keys);
        let stage = self.of_keys.stage(b);
        self.powers_of_scores(b, entry, complete, [base, &at], (buffer, &stage))?;
        of_k.consumer_release(b, &stage, &self.leader)?;
        of_v.consumer_wait(b, &stage)?;
        self.ping_pong.wait(b)?;
        self.issue_sums(b, &stage)?;
        let is_last = Cond::less(&at, &(&end + 1));
        b.leave(&round, &is_last, true)?;
        let values = self.of_keys.pass(b);
        let stage = self.of_keys.stage(b);
        of_k.consumer_wait(b, &stage)?;
        warpgroup_wait(b, 0);
        of_v.consumer_release(b, &values, &self.leader)?;
        self.issue_scores(b, buffer, &stage)?;
        self.ping_pong.signal(b)?;
        let less = vec![Ptx::from(&key), Ptx::from(&key), Ptx::Int(of_keys)];
        b.inst(Opcode::Sub, &[Type::U32.into()], less);
        b.again(&round, &Cond::Always, true)?;
        b.close_block(round)?;
        self.ping_pong.signal(b)?;
        warpgroup_wait(b, 0);
        let stage = self.of_keys.stage(b);
        of_v.consumer_release(b, &stage, &self.leader)?;
        self.of_keys.advance(b);
        Ok(())
    }

    /// Starts `scores = Q K^T` of a buffer of Q and a stage of K.
    pub(super) fn issue_scores(&self, b: &mut Builder, buffer: &Stage, stage: &Stage) -> Result<(), Error> {
        let at = |stage: &Stage| {
            Slice::tuple([Slice::All, Slice::All, Slice::All, Slice::At(stage.index.clone())])
        };
        let (q, k) = (self.q.slice(at(buffer))?, self.k.slice(at(stage))?); // (1,1,RestK)
        warpgroup_arrive(b);
        let with = MmaWith::from(&self.parts.qk).accumulate(Cond::Never);
        gemm(b, with, &q, &k, &self.scores)?;
        warpgroup_commit_batch(b);
        Ok(())
    }

    /// Starts `sums += powers V` of a stage of V.
    fn issue_sums(&self, b: &mut Builder, stage: &Stage) -> Result<(), Error> {
        let at = Slice::tuple([Slice::All, Slice::All, Slice::All, Slice::At(stage.index.clone())]);
        let v = self.v.slice(at)?; // (1,1,RestKeys)
        warpgroup_arrive(b);
        gemm(b, &self.parts.pv, &self.powers, &v, &self.sums)?;
        warpgroup_commit_batch(b);
        Ok(())
    }

    /// Whether a tile of O has to be stored before its buffer of Q can be released, which is when the next tile is in flight.
    pub(super) fn is_stored_late(&self) -> bool {
        self.parts.ring.buffers > 1 && self.parts.copies[3].is_some()
    }

    /// Notes that the buffer of the tile of O that is being stored is to be released.
    pub(super) fn release_later(&self, b: &mut Builder) {
        set(b, &self.stored, 1);
    }

    /// Releases the buffer of Q from which a tile of O was being stored when this tile began.
    fn release_stored(&self, b: &mut Builder) -> Result<(), Error> {
        if !self.is_stored_late() {
            return Ok(());
        }
        let stored = b.var(&self.stored, 0, 1, 1);
        b.if_(&Cond::all([self.leader.clone(), Cond::less(&Expr::from(0), &stored)]), |b| {
            crate::algorithm::tma_store_wait(b, 0);
            // The buffer before that of this tile: there are two.
            let Stage { index, phase } = self.of_q.stage(b);
            let before = Stage { index: &Expr::from(1) - &index, phase };
            self.parts.of_q.consumer_release(b, &before, &Cond::Always)
        })?;
        set(b, &self.stored, 0);
        Ok(())
    }
}

/// The tiles of keys of a warpgroup among those of the block's tile; none at the front if the warpgroup has no rows, or these see no key.
fn own(b: &mut Builder, all: &Blocks, seen: &Blocks, any: &Cond) -> Result<Blocks, Error> {
    let sees = Cond::all([any.clone(), Cond::less(&seen.first, &seen.stop)]);
    let mut among = |end: &Expr| -> Result<Expr, Error> {
        let reg = b.reg(Type::U32);
        let value = b.select_or_zero(&sees, &(end - &all.first))?;
        b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(&reg), value]);
        Ok(&all.first + &b.var(&reg, 0, MAX_LENGTH, 1))
    };
    Ok(Blocks { first: among(&seen.first)?, stop: among(&seen.stop)? })
}
