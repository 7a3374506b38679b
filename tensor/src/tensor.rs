//! The tensor: an engine and a layout.

mod modes;
mod partition;

use girih_layout::{Lay, Stride, lay};

use crate::slice::Sliced;
use crate::{Error, Index, Slice};

/// Where a tensor's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Gmem,
    /// Shared memory of a block.
    Smem,
    /// Registers of a thread.
    Rmem,
    /// The host's memory.
    Host,
    /// Nowhere: the tensor's values are its own coordinates.
    Counting,
}

/// What a layout's indices select from: an array in some memory, or the coordinates themselves.
pub trait Engine: Clone {
    /// What coordinates are made of.
    type Index: Index;

    /// Which memory.
    fn space(&self) -> Space;

    /// The engine moved by `sum(digit * stride)` elements.
    ///
    /// # Errors
    /// If the strides are of a kind that the engine cannot follow.
    fn advance(&self, steps: &[(Self::Index, Stride)]) -> Result<Self, Error>;
}

/// A view of an engine's values through a layout (CuTe guide, "Tensors").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor<E> {
    engine: E,
    layout: Lay,
}

impl<E> Tensor<E> {
    /// The values of `engine` as `layout` arranges them.
    pub fn new(engine: E, layout: Lay) -> Tensor<E> {
        Tensor { engine, layout }
    }

    /// Where the values are.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// How they are arranged.
    pub fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The engine, given up by the tensor.
    pub fn into_engine(self) -> E {
        self.engine
    }
}

impl<E: Engine> Tensor<E> {
    /// The same values under another layout.
    fn with_layout(&self, layout: Lay) -> Tensor<E> {
        Tensor { engine: self.engine.clone(), layout }
    }

    /// The subtensor at `slice` (CuTe guide, "Slicing a Tensor"): fixed modes go into the offset, `_` modes stay.
    ///
    /// # Errors
    /// [`Error::SliceRank`], [`Error::OutOfRange`].
    pub fn slice(&self, slice: &Slice<E::Index>) -> Result<Tensor<E>, Error> {
        let sliced = Sliced::of(&self.layout, slice)?;
        let layout = match slice {
            Slice::All => self.layout,
            _ if sliced.kept.is_empty() => lay!("1:0"),
            _ => Lay::concat(&sliced.kept)?,
        };
        Ok(Tensor { engine: self.engine.advance(&sliced.steps)?, layout })
    }
}
