//! Tensor maps that a kernel writes itself: `tensormap`, `fence.proxy.tensormap` (PTX ISA, "tensormap.replace",
//! "tensormap.cp_fenceproxy").

use girih_ptx::{Operand, TensorField, Type, Word};

use super::Decoder;
use super::memory::SHARED_OR_GLOBAL;
use super::words::Words;
use crate::op::{MapCopy, MapReplace, Op};
use crate::{Error, Space};

/// Fields that a map has once.
const FIELDS: &[(Word, TensorField)] = &[
    (Word::GlobalAddress, TensorField::Address),
    (Word::Rank, TensorField::Rank),
    (Word::Elemtype, TensorField::Element),
    (Word::InterleaveLayout, TensorField::Interleave),
    (Word::SwizzleMode, TensorField::Swizzle),
    (Word::FillMode, TensorField::Fill),
];

/// A field, as a function of the dimension.
type Field = fn(usize) -> TensorField;

/// Fields that a map has for each dimension.
const EACH: &[(Word, Field)] = &[
    (Word::BoxDim, TensorField::Extent),
    (Word::GlobalDim, TensorField::Dim),
    (Word::GlobalStride, TensorField::Stride),
    (Word::ElementStride, TensorField::ElementStride),
];

impl Decoder<'_> {
    pub(super) fn tensormap(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::CpFenceproxy) {
            return self.map_copy(words, ops);
        }
        if !(words.take(Word::Replace) && words.take(Word::Tile)) {
            return Err(self.unsupported("a tensormap that is not .replace.tile or .cp_fenceproxy"));
        }
        if words.has(Word::SwizzleAtomicity) {
            return Err(self.unsupported("the atomicity of a swizzle, which needs sm_100a"));
        }
        let (field, value) = match (words.pick(FIELDS), words.pick(EACH)) {
            (Some(field), _) => (field, 1),
            (None, Some(field)) => {
                self.arity(ops, 3..=3)?;
                let most = if field(0) == TensorField::Stride(0) { 3 } else { 4 };
                let ordinal = if let Operand::Int(n) = ops[1] { usize::try_from(n).ok() } else { None };
                let ordinal = ordinal.filter(|&n| n <= most);
                let ordinal =
                    ordinal.ok_or_else(|| self.operand(ops, 1, &format!("an ordinal, 0 to {most}")))?;
                (field(ordinal), 2)
            }
            _ => return Err(self.unsupported("this field of a tensor map")),
        };
        self.arity(ops, value + 1..=value + 1)?;
        let space = words.pick(SHARED_OR_GLOBAL).unwrap_or(Space::Generic);
        let wide = matches!(field, TensorField::Address | TensorField::Stride(_));
        let ty = if wide { Type::B64 } else { Type::B32 };
        if !(words.take(Word::B1024) && words.ty() == Some(ty)) {
            return Err(self.unsupported(&format!("this field with another type than .b1024.{ty}")));
        }
        let value = self.source(ops, value, ty)?;
        let address = self.address(ops, 0)?;
        self.touches(space, 16);
        self.emit(Op::MapReplace(Box::new(MapReplace { space, address, field, value })));
        Ok(())
    }

    /// Decodes the modifiers that follow `tensormap.cp_fenceproxy`, and the operands.
    fn map_copy(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let form = [Word::Global, Word::SharedCta, Word::TensormapGeneric, Word::Release];
        if !form.into_iter().all(|word| words.take(word)) {
            let what = "a tensormap.cp_fenceproxy that is not .global.shared::cta.tensormap::generic.release";
            return Err(self.unsupported(what));
        }
        let scope = self.scope(words);
        if !(words.take(Word::Sync) && words.take(Word::Aligned)) {
            return Err(self.unsupported("a tensormap.cp_fenceproxy that is not .sync.aligned"));
        }
        self.arity(ops, 3..=3)?;
        if ops[2] != Operand::Int(128) {
            return Err(self.operand(ops, 2, "128"));
        }
        let (to, from) = (self.address(ops, 0)?, self.address(ops, 1)?);
        self.touches(Space::Shared, 16);
        self.emit(Op::MapCopy(Box::new(MapCopy { to, from, scope })));
        Ok(())
    }

    /// `fence.proxy.tensormap::generic`.
    pub(super) fn fence_tensormap(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let acquire = words.pick(&[(Word::Release, false), (Word::Acquire, true)]);
        let acquire = acquire.ok_or_else(|| self.unsupported("a fence that is not .acquire or .release"))?;
        let scope = self.scope(words);
        self.arity(ops, if acquire { 2..=2 } else { 0..=0 })?;
        self.emit(Op::Fence { scope, sequential: false });
        if !acquire {
            self.emit(Op::MapRelease(scope));
            return Ok(());
        }
        if ops[1] != Operand::Int(128) {
            return Err(self.operand(ops, 1, "128"));
        }
        let address = self.address(ops, 0)?;
        self.emit(Op::MapAcquire(address, scope));
        Ok(())
    }
}
