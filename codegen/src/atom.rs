//! Atoms: one instruction each, with the layouts of its operands.
//!
//! An atom is data: its PTX form, its shape and how threads and values map onto its tile. MMA layouts map
//! (thread, value) to the colexicographic index in the tile in elements, A as M x K, B as N x K, C as M x N; copy
//! layouts map (thread, value) to bits (CuTe guide, "MMA Atom"; PTX ISA, "Matrix Fragments").

mod copy;
mod gmma;
mod mma;

use girih_ptx::{Modifier, Type, Word};

pub use copy::*;
pub(crate) use copy::{tensor_element, tensor_swizzle};
pub use gmma::*;
pub use mma::*;
pub(crate) use mma::{NoAtom, ptx_type};

const fn word(word: Word) -> Modifier {
    Modifier::Word(word)
}

const fn ty(ty: Type) -> Modifier {
    Modifier::Type(ty)
}
