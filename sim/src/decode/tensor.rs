//! TMA copies, reductions and prefetches: `cp.async.bulk.tensor` and its kin (PTX ISA, "Data Movement and Conversion Instructions").

use girih_ptx::{self as ptx, Operand, TensorElement, Type, Word};

use super::Decoder;
use super::atomic::{ACTIONS, Action, update};
use super::words::Words;
use crate::lanes::Reg;
use crate::op::{Address, Op, Tensor, TensorKind, Update};
use crate::{Error, Space};

/// The number of dimensions of a tensor.
const DIMENSIONS: &[(Word, usize)] =
    &[(Word::Dim1, 1), (Word::Dim2, 2), (Word::Dim3, 3), (Word::Dim4, 4), (Word::Dim5, 5)];

const NOWHERE: Address = Address { base: None, offset: 0, within: 0 };

impl Decoder<'_> {
    /// Decodes what follows `cp.async.bulk.tensor` or, with `reduce`, `cp.reduce.async.bulk.tensor`.
    pub(super) fn tensor(
        &mut self,
        reduce: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let rank = self.rank(words)?;
        let cta = [(Word::SharedCta, ()), (Word::Shared, ())];
        if !words.take(Word::Global) {
            if reduce
                || !words.take(Word::SharedCluster) && words.pick(&cta).is_none()
                || !words.take(Word::Global)
            {
                return Err(self.unsupported("a tensor copy between these state spaces"));
            }
            return self.tensor_load(rank, words, ops);
        }
        if words.pick(&cta).is_none() {
            return Err(self.unsupported("a tensor copy between these state spaces"));
        }
        let reductions = if reduce { Some(self.reductions(words)?) } else { None };
        let columns = words.take(Word::Im2colNoOffs);
        if !columns {
            words.take(Word::Tile);
        }
        if !words.take(Word::BulkGroup) {
            let what =
                "a tensor copy to global memory that is not .tile.bulk_group or .im2col_no_offs.bulk_group";
            return Err(self.unsupported(what));
        }
        let offsets = if columns { Some(self.offsets(ops, None, rank)?) } else { None };
        let hint = words.take(Word::L2CacheHint);
        self.arity(ops, 2 + usize::from(hint)..=2 + usize::from(hint))?;
        let (map, coordinates) = self.tensor_operand(ops, 0, rank)?;
        let shared = self.address(ops, 1)?;
        let kind = TensorKind::Store;
        self.tensor_op(Tensor { kind, map, coordinates, offsets, shared, mbarrier: NOWHERE, reductions })
    }

    fn tensor_load(&mut self, rank: usize, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let columns = self.mode(words);
        self.completes_transactions(words)?;
        let multicast = words.take(Word::MulticastCluster);
        let hint = words.take(Word::L2CacheHint);
        let all = 3 + usize::from(columns) + usize::from(multicast) + usize::from(hint);
        self.arity(ops, all..=all)?;
        let shared = self.address(ops, 0)?;
        let (map, coordinates) = self.tensor_operand(ops, 1, rank)?;
        let mbarrier = self.address(ops, 2)?;
        let offsets = if columns { Some(self.offsets(ops, Some(3), rank)?) } else { None };
        let mask = 3 + usize::from(columns);
        let multicast = if multicast { Some(self.source(ops, mask, Type::U16)?) } else { None };
        let kind = TensorKind::Load { multicast };
        self.tensor_op(Tensor { kind, map, coordinates, offsets, shared, mbarrier, reductions: None })
    }

    /// Decodes what follows `cp.async.bulk.prefetch.tensor`.
    pub(super) fn tensor_prefetch(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let rank = self.rank(words)?;
        words.skip(&[Word::L2, Word::Global]);
        let columns = self.mode(words);
        let hint = words.take(Word::L2CacheHint);
        let all = 1 + usize::from(columns) + usize::from(hint);
        self.arity(ops, all..=all)?;
        let (map, coordinates) = self.tensor_operand(ops, 0, rank)?;
        let offsets = if columns { Some(self.offsets(ops, Some(1), rank)?) } else { None };
        let kind = TensorKind::Prefetch;
        let (shared, mbarrier, reductions) = (NOWHERE, NOWHERE, None);
        let tensor = Tensor { kind, map, coordinates, offsets, shared, mbarrier, reductions };
        self.emit(Op::Tensor(Box::new(tensor)));
        Ok(())
    }

    fn tensor_op(&mut self, tensor: Tensor) -> Result<(), Error> {
        self.touches(Space::Shared, 16);
        self.emit(Op::Tensor(Box::new(tensor)));
        Ok(())
    }

    /// Whether a copy is `.im2col`. The other mode is `.tile`, which may be left out.
    fn mode(&self, words: &mut Words<'_>) -> bool {
        let columns = words.take(Word::Im2col);
        if !columns {
            words.take(Word::Tile);
        }
        columns
    }

    /// The offsets of an im2col copy, one for each dimension of pixels; a store has none.
    fn offsets(&mut self, ops: &[Operand], at: Option<usize>, rank: usize) -> Result<Vec<Reg>, Error> {
        let Some(pixels) = rank.checked_sub(2).filter(|&pixels| pixels > 0) else {
            return Err(self.unsupported("an im2col copy of fewer than three dimensions"));
        };
        let Some(at) = at else { return Ok(Vec::new()) };
        match &ops[at] {
            Operand::Vector(parts) if parts.len() == pixels => {
                (0..pixels).map(|i| self.source(parts, i, Type::U16)).collect()
            }
            _ => Err(self.operand(ops, at, &format!("{pixels} offsets of pixels in braces"))),
        }
    }

    fn rank(&self, words: &mut Words<'_>) -> Result<usize, Error> {
        if words.has(Word::Im2colW) || words.has(Word::Im2colW128) {
            return Err(self.unsupported("an im2col copy along one dimension, which needs sm_100"));
        }
        words
            .pick(DIMENSIONS)
            .ok_or_else(|| self.unsupported("a tensor copy without its dimensions, .1d to .5d"))
    }

    /// `[map, {coordinates}]`.
    fn tensor_operand(
        &mut self,
        ops: &[Operand],
        index: usize,
        rank: usize,
    ) -> Result<(Address, Vec<Reg>), Error> {
        let Operand::Address(ptx::Address { base, offset, coordinates }) = &ops[index] else {
            return Err(self.operand(ops, index, "a tensor `[map, {coordinates}]`"));
        };
        if coordinates.len() != rank {
            return Err(self.operand(ops, index, &format!("a tensor with {rank} coordinates")));
        }
        let plain = ptx::Address { base: base.clone(), offset: *offset, coordinates: Vec::new() };
        let map = self.address(&[Operand::Address(plain)], 0)?;
        let coordinates =
            (0..rank).map(|i| self.source(coordinates, i, Type::S32)).collect::<Result<_, _>>()?;
        Ok((map, coordinates))
    }

    /// The functions of a reduction, by the type of the elements.
    fn reductions(&mut self, words: &mut Words<'_>) -> Result<Vec<(TensorElement, Update)>, Error> {
        let action = words.pick(ACTIONS).ok_or_else(|| self.unsupported("a reduction of this operation"))?;
        // Whether the elements are floats is known only at the launch, from the tensor map.
        self.code.communicates |= !action.commutes(Type::F32);
        let bits = matches!(action, Action::And | Action::Or | Action::Xor);
        let all = TensorElement::ALL.iter().filter_map(|&element| {
            let ty = match element {
                TensorElement::U32 | TensorElement::S32 if bits => Type::B32,
                TensorElement::U64 | TensorElement::S64 if bits => Type::B64,
                TensorElement::U32 => Type::U32,
                TensorElement::S32 => Type::S32,
                TensorElement::U64 => Type::U64,
                TensorElement::S64 => Type::S64,
                TensorElement::F16 => Type::F16,
                TensorElement::Bf16 => Type::Bf16,
                TensorElement::F32 | TensorElement::F32Ftz => Type::F32,
                TensorElement::F64 => Type::F64,
                _ => return None,
            };
            // Sums of s64 wrap as those of u64 do.
            let ty = if (action, ty) == (Action::Add, Type::S64) { Type::U64 } else { ty };
            update(action, ty, element == TensorElement::F32Ftz).map(|update| (element, update))
        });
        Ok(all.collect())
    }
}
