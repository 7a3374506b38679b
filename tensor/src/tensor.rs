//! The tensor: an engine and a layout.

mod modes;
mod partition;

use girih_layout::{Lay, Stride, lay};

use crate::slice::Sliced;
use crate::{Error, Index, Part, Slice};

/// Where a tensor's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Gmem,
    /// Shared memory of a block.
    Smem,
    /// Distributed shared memory: that of any block of the cluster.
    Dsmem,
    /// Registers of a thread.
    Rmem,
    /// The host's memory.
    Host,
    /// Nowhere: the tensor's values are its own coordinates.
    Counting,
}

/// The memory that a layout's indices select values from: an array, registers, or the coordinates themselves.
pub trait Engine: Clone {
    /// The integers that coordinates are made of.
    type Index: Index;

    /// The memory in which the values are.
    fn space(&self) -> Space;

    /// The engine moved by `sum(digit * stride)` elements.
    ///
    /// # Errors
    /// If the strides are of a kind that the engine cannot follow.
    fn advance(&self, steps: &[(Self::Index, Stride)]) -> Result<Self, Error>;

    /// The engine of a partition, told whose the values are, where that is known. An engine that has no use for it need not ask.
    #[must_use]
    fn with_part(self, part: impl FnOnce() -> Option<Part<Self::Index>>) -> Self {
        let _ = part;
        self
    }

    /// The argument of [`Engine::with_part`], if the engine keeps it. It is valid for a tensor with the layout named there.
    fn part(&self) -> Option<&Part<Self::Index>> {
        None
    }
}

/// A view of an engine's values through a layout (CuTe guide, "Tensors").
///
/// ```
/// use girih_layout::{lay, tiler};
/// use girih_tensor::Tensor;
///
/// let data: Vec<i32> = (0..8 * 24).collect();
/// let a = Tensor::host(&data, lay!("(8,24):(1,8)"))?;
/// // Tiles of 4 x 8; the one at (1,2).
/// let tile = a.local_tile(&tiler!("<4,8>"), (1, 2))?;
/// assert_eq!((*tile.layout(), tile.get((3, 0))?), (lay!("(4,8):(1,8)"), 7 + 8 * 16));
/// # Ok::<(), girih_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor<E> {
    engine: E,
    layout: Lay,
}

impl<E> Tensor<E> {
    /// The values of `engine` as `layout` arranges them.
    pub fn new(engine: E, layout: Lay) -> Tensor<E> {
        Tensor { engine, layout }
    }

    /// The engine, which has the values.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The layout of the values.
    pub fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The engine, by value.
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
    pub fn slice(&self, slice: impl Into<Slice<E::Index>>) -> Result<Tensor<E>, Error> {
        let slice = slice.into();
        let sliced = Sliced::of(&self.layout, &slice)?;
        let layout = match slice {
            Slice::All => self.layout,
            _ if sliced.kept.is_empty() => lay!("1:0"),
            _ => Lay::concat(&sliced.kept)?,
        };
        let engine = self.engine.advance(&sliced.steps)?;
        let part = if slice.keeps_modes() { self.part() } else { None };
        Ok(match part {
            Some(part) => Tensor { engine: engine.with_part(|| part.slice(&slice, layout).ok()), layout },
            None => Tensor { engine, layout },
        })
    }

    /// Whose the values are, of a partition or a subtensor of one, if the engine keeps it.
    pub fn part(&self) -> Option<&Part<E::Index>> {
        self.engine.part().filter(|part| part.offsets == self.layout)
    }
}
