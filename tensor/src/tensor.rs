//! The tensor: slicing, tiling, partitioning.

use girih_layout::{Lay, Stride, Tile, Tiler, Tiles, lay};

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

    /// `layout ∘ tile`: the tensor read through another layout.
    ///
    /// # Errors
    /// Those of [`Lay::composition`].
    pub fn composition(&self, with: &Lay) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.composition(with)?))
    }

    /// By mode: `(A0 ∘ T0, A1 ∘ T1, ...)`.
    ///
    /// # Errors
    /// Those of [`Lay::composition_by`].
    pub fn composition_by(&self, tiles: &[Tile]) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.composition_by(tiles)?))
    }

    /// `((TileM,TileN,...),(RestM,RestN,...))`
    ///
    /// # Errors
    /// Those of [`Lay::zipped_divide`].
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.zipped_divide(tiler)?))
    }

    /// The tile at `coord` (CuTe's `local_tile`, "inner partition"): the tiler's modes, then the rest modes that
    /// `coord` keeps.
    ///
    /// # Errors
    /// Those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn local_tile(&self, tiler: &Tiler, coord: &[Slice<E::Index>]) -> Result<Tensor<E>, Error> {
        let tiled = self.zipped_divide(tiler)?; // ((TileM,TileN),(RestM,RestN))
        let rest = Slice::tuple(coord.iter().cloned());
        let tile = tiled.slice(&Slice::tuple([Slice::All, rest]))?; // ((TileM,TileN)[,Rest..])
        let inner = tile.layout.mode(0)?;
        let mut modes: Vec<Lay> = (0..inner.rank()).map(|i| inner.mode(i)).collect::<Result<_, _>>()?;
        for i in 1..tile.layout.rank() {
            modes.push(tile.layout.mode(i)?);
        }
        Ok(tile.with_layout(Lay::concat(&modes)?)) // (TileM,TileN[,Rest..])
    }

    /// What the thread of number `index` under `threads` owns (CuTe's `local_partition`, "outer partition"): one value
    /// of each tile of the shape of `threads`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `threads` has no such number, [`Error::Shape`] if two have the same; those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn local_partition(&self, threads: &Lay, index: &E::Index) -> Result<Tensor<E>, Error> {
        if !threads.right_inverse()?.size()?.same(threads.size()?) {
            return Err(Error::Shape {
                what: "local_partition",
                a: self.layout.to_string(),
                b: threads.to_string(),
                accepted: "threads whose layout is a bijection onto their numbers",
            });
        }
        index.check(threads)?;
        let mut tiles = Vec::new();
        let mut coord = Vec::new();
        for i in 0..threads.rank() {
            let mode = threads.mode(i)?;
            tiles.push(Tile::Lay(Lay::left(mode.shape())?));
            coord.push(coordinate_in(&mode, index)?);
        }
        let tiled = self.zipped_divide(&Tiler::Modes(Tiles::new(&tiles)?))?; // ((ThrM,ThrN),(RestM,RestN))
        let rest = tiled.slice(&Slice::tuple([Slice::Tuple(coord), Slice::All]))?; // ((RestM,RestN))
        let layout = rest.layout.mode(0)?;
        Ok(rest.with_layout(layout)) // (RestM,RestN)
    }

    /// The values of `thread` under a thread-value layout (CuTe guide, "Thread-Value partitioning"): `tv` maps
    /// (thread, value) to the colexicographic index in this tensor.
    ///
    /// # Errors
    /// Those of [`Tensor::composition`] and [`Tensor::slice`].
    pub fn tv_partition(&self, tv: &Lay, thread: &E::Index) -> Result<Tensor<E>, Error> {
        let partitioned = self.composition(tv)?; // (Thr,Val)
        let values = partitioned.slice(&Slice::tuple([Slice::At(thread.clone()), Slice::All]))?; // (Val)
        let layout = values.layout.mode(0)?;
        Ok(values.with_layout(layout))
    }
}

/// The coordinate at which `mode`, a mode of a bijective layout, contributes to `index`.
fn coordinate_in<I: Index>(mode: &Lay, index: &I) -> Result<Slice<I>, Error> {
    if !mode.is_leaf() {
        let inner = (0..mode.rank()).map(|i| coordinate_in(&mode.mode(i)?, index));
        return Ok(Slice::Tuple(inner.collect::<Result<_, _>>()?));
    }
    let (shape, stride) = mode.flat_leaf(0);
    let Stride::Int(stride) = stride else {
        return Err(Error::Stride { stride: stride.to_string(), layout: mode.to_string() });
    };
    // A single position is position 0, whatever its stride.
    let quotient = if shape.is(1) { index.clone() } else { index.div_rem(&stride)?.0 };
    Ok(Slice::At(quotient.div_rem(&shape)?.1))
}
