//! Bulk copies, their reductions and groups, `st.async` and `red.async` (PTX ISA, "Data Movement and Conversion
//! Instructions: Asynchronous copy").

use girih_ptx::{Operand, Type, Word};

use super::Decoder;
use super::atomic::{ACTIONS, update};
use super::words::Words;
use crate::op::{Address, Bulk, BulkKind, Op, StoreAsync, Update};
use crate::{Error, Space};

impl Decoder<'_> {
    /// Decodes what follows `cp.async.bulk` or, with `reduce`, `cp.reduce.async.bulk`.
    pub(super) fn bulk(&mut self, reduce: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::CommitGroup) {
            self.arity(ops, 0..=0)?;
            self.emit(Op::BulkCommit);
            return Ok(());
        }
        if words.take(Word::WaitGroup) {
            let read = words.take(Word::Read);
            self.arity(ops, 1..=1)?;
            let keep = if let Operand::Int(n) = ops[0] { u32::try_from(n).ok() } else { None };
            let keep = keep.ok_or_else(|| self.operand(ops, 0, "a number of groups"))?;
            self.emit(Op::BulkWait { keep, read });
            return Ok(());
        }
        if words.take(Word::Prefetch) {
            return match words.take(Word::Tensor) {
                true => self.tensor_prefetch(words, ops),
                false => self.bulk_prefetch(words, ops),
            };
        }
        if words.take(Word::Tensor) {
            return self.tensor(reduce, words, ops);
        }
        let cta = [(Word::SharedCta, ()), (Word::Shared, ())];
        let to_shared = words.take(Word::SharedCluster) || words.pick(&cta).is_some();
        let to_global = !to_shared && words.take(Word::Global);
        let from_global = to_shared && words.take(Word::Global);
        let from_shared = !from_global && words.pick(&cta).is_some();
        match (to_shared, to_global, from_global, from_shared) {
            (true, _, true, _) if !reduce => self.bulk_load(words, ops),
            (true, _, _, true) => self.bulk_move(reduce, words, ops),
            (_, true, _, true) => self.bulk_store(reduce, words, ops),
            _ => Err(self.unsupported("a bulk copy between these state spaces")),
        }
    }

    fn bulk_prefetch(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        words.skip(&[Word::L2, Word::Global]);
        let hint = words.take(Word::L2CacheHint);
        self.arity(ops, 2 + usize::from(hint)..=2 + usize::from(hint))?;
        self.address(ops, 0)?;
        self.source(ops, 1, Type::U32)?;
        self.emit(Op::Nothing);
        Ok(())
    }

    fn bulk_load(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        self.completes_transactions(words)?;
        let multicast = words.take(Word::MulticastCluster);
        let hint = words.take(Word::L2CacheHint);
        let all = 4 + usize::from(multicast) + usize::from(hint);
        self.arity(ops, all..=all)?;
        let multicast = if multicast { Some(self.source(ops, 4, Type::U16)?) } else { None };
        self.bulk_op(BulkKind::Load { multicast }, ops, Some(3), None)
    }

    fn bulk_move(&mut self, reduce: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        self.completes_transactions(words)?;
        let reduce = if reduce { Some(self.reduction(words, false)?) } else { None };
        self.arity(ops, 4..=4)?;
        self.bulk_op(BulkKind::Move, ops, Some(3), reduce)
    }

    fn bulk_store(&mut self, reduce: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if !words.take(Word::BulkGroup) {
            return Err(self.unsupported("a bulk copy to global memory that is not .bulk_group"));
        }
        let hint = words.take(Word::L2CacheHint);
        let reduce = if reduce { Some(self.reduction(words, true)?) } else { None };
        self.arity(ops, 3 + usize::from(hint)..=3 + usize::from(hint))?;
        self.bulk_op(BulkKind::Store, ops, None, reduce)
    }

    fn bulk_op(
        &mut self,
        kind: BulkKind,
        ops: &[Operand],
        mbarrier: Option<usize>,
        reduce: Option<(u32, Update)>,
    ) -> Result<(), Error> {
        let (to, from) = (self.address(ops, 0)?, self.address(ops, 1)?);
        let bytes = self.source(ops, 2, Type::U32)?;
        let nowhere = Address { base: None, offset: 0, within: 0 };
        let mbarrier = mbarrier.map_or(Ok(nowhere), |index| self.address(ops, index))?;
        self.touches(Space::Shared, 16);
        self.emit(Op::Bulk(Box::new(Bulk { kind, to, from, bytes, mbarrier, reduce })));
        Ok(())
    }

    pub(super) fn completes_transactions(&self, words: &mut Words<'_>) -> Result<(), Error> {
        if words.take(Word::MbarrierCompleteTxBytes) {
            return Ok(());
        }
        Err(self.unsupported("a copy into shared memory that is not .mbarrier::complete_tx::bytes"))
    }

    /// The bytes of an element and the function of a reduction.
    fn reduction(&mut self, words: &mut Words<'_>, global: bool) -> Result<(u32, Update), Error> {
        let action = words.pick(ACTIONS).ok_or_else(|| self.unsupported("a reduction of this operation"))?;
        words.take(Word::Noftz);
        let ty = self.last(words)?;
        let found = update(action, ty, global);
        let found = found.ok_or_else(|| self.unsupported(&format!("this reduction of type `.{ty}`")))?;
        self.code.communicates |= global && !action.commutes(ty);
        Ok((ty.bytes().unwrap_or(1), found))
    }

    /// Decodes what follows `st.async` or, with `reduce`, `red.async`.
    pub(super) fn store_async(
        &mut self,
        reduce: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        words.skip(&[Word::Weak, Word::Relaxed, Word::Cluster]);
        words.take(Word::SharedCluster);
        self.completes_transactions(words)?;
        let mut reduction = None;
        if reduce {
            reduction =
                Some(words.pick(ACTIONS).ok_or_else(|| self.unsupported("a red.async of this operation"))?);
        }
        let count = words.pick(&[(Word::V2, 2), (Word::V4, 4)]);
        let ty = self.last(words)?;
        self.arity(ops, 3..=3)?;
        let bytes = ty.bytes().filter(|&bytes| bytes >= 4 && bytes * count.unwrap_or(1) <= 16);
        let bytes =
            bytes.ok_or_else(|| self.unsupported(&format!("an asynchronous store of type `.{ty}`")))?;
        let reduction = match reduction.map(|action| update(action, ty, false)) {
            Some(None) => return Err(self.unsupported(&format!("this reduction of type `.{ty}`"))),
            reduction => reduction.flatten(),
        };
        let values = match (&ops[1], count) {
            (Operand::Vector(parts), Some(count)) if parts.len() == count as usize => {
                (0..parts.len()).map(|i| self.source(parts, i, ty)).collect::<Result<_, _>>()?
            }
            (_, None) => vec![self.source(ops, 1, ty)?],
            (_, Some(count)) => return Err(self.operand(ops, 1, &format!("a vector of {count}"))),
        };
        let (to, mbarrier) = (self.address(ops, 0)?, self.address(ops, 2)?);
        self.touches(Space::Shared, bytes);
        self.emit(Op::StoreAsync(Box::new(StoreAsync { to, mbarrier, bytes, values, reduce: reduction })));
        Ok(())
    }
}
