//! Single instructions on registers, by the dtype that they compute in.

use girih_codegen::algorithm::element;
pub(crate) use girih_codegen::algorithm::element::{integer, moved, of};
pub(crate) use girih_codegen::scalar::immediate;
use girih_codegen::{Cond, Reg};
use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Lowering;
use crate::error::Result;

/// Modifiers of an instruction: words and types.
macro_rules! m {
    ($($modifier:expr),* $(,)?) => { &[$(girih_ptx::Modifier::from($modifier)),*] };
}
pub(crate) use m;

/// What [`element`] writes, by methods.
impl Lowering<'_> {
    /// An instruction with one result of a type.
    pub(crate) fn make(&mut self, ty: Type, opcode: Opcode, words: &[Modifier], inputs: Vec<Operand>) -> Reg {
        self.b.inst_to(ty, opcode, words, inputs)
    }

    pub(crate) fn bits(&mut self, dtype: DType, bits: u64) -> Result<Reg> {
        Ok(element::constant(&mut self.b, dtype, bits)?)
    }

    pub(crate) fn copy(&mut self, dtype: DType, from: &Reg) -> Reg {
        element::copy(&mut self.b, dtype, from)
    }

    pub(crate) fn select(&mut self, dtype: DType, cond: &Cond, a: &Reg, b: &Reg) -> Result<Reg> {
        Ok(element::select(&mut self.b, dtype, cond, a, b)?)
    }

    pub(crate) fn setp(&mut self, word: Word, ty: Type, a: &Reg, b: impl Into<Operand>) -> Reg {
        element::setp(&mut self.b, word, ty, a, b)
    }
}
