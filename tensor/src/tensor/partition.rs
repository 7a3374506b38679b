//! Divides and partitions of a tensor.

use girih_layout::{Lay, Stride, Tile, Tiler, Tiles};

use super::{Engine, Tensor};
use crate::{Error, Index, Part, Slice};

impl<E: Engine> Tensor<E> {
    /// `layout ∘ tile`: the tensor read through another layout.
    ///
    /// # Errors
    /// Those of [`Lay::composition`].
    pub fn composition(&self, with: &Lay) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.composition(with)?))
    }

    /// Composition by mode: `(A0 ∘ T0, A1 ∘ T1, ...)`.
    ///
    /// # Errors
    /// Those of [`Lay::composition_by`].
    pub fn composition_by(&self, tiles: &[Tile]) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.composition_by(tiles)?))
    }

    /// Each mode divided into its tile and the rest: `((TileM,RestM),(TileN,RestN),L)`.
    ///
    /// # Errors
    /// Those of [`Lay::logical_divide`].
    pub fn logical_divide(&self, tiler: &Tiler) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.logical_divide(tiler)?))
    }

    /// `((TileM,TileN,...),(RestM,RestN,...))`
    ///
    /// # Errors
    /// Those of [`Lay::zipped_divide`].
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.zipped_divide(tiler)?))
    }

    /// `((TileM,TileN,...),RestM,RestN,...)`
    ///
    /// # Errors
    /// Those of [`Lay::tiled_divide`].
    pub fn tiled_divide(&self, tiler: &Tiler) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.tiled_divide(tiler)?))
    }

    /// `(TileM,TileN,...,RestM,RestN,...)`
    ///
    /// # Errors
    /// Those of [`Lay::flat_divide`].
    pub fn flat_divide(&self, tiler: &Tiler) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.flat_divide(tiler)?))
    }

    /// The tile at `coord` among the tiles (CuTe's `inner_partition`; CuTe guide, "Partitioning a Tensor"): the tile's modes, then the
    /// modes that `coord` keeps. [`Tensor::local_tile`] is another name of it.
    ///
    /// # Errors
    /// Those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn inner_partition(
        &self,
        tiler: &Tiler,
        coord: impl Into<Slice<E::Index>>,
    ) -> Result<Tensor<E>, Error> {
        let tiled = self.zipped_divide(tiler)?; // ((TileM,TileN),(RestM,RestN,L))
        let coord = padded(coord.into(), &tiled.layout.mode(1)?);
        let tile = tiled.slice((Slice::All, coord))?; // ((TileM,TileN)[,Rest..])
        let layout = spread(&tile.layout, 0)?;
        Ok(tile.with_layout(layout)) // (TileM,TileN[,Rest..])
    }

    /// The element at `coord` of each tile (CuTe's `outer_partition`): the modes of a tile that `coord` keeps, then the rest modes,
    /// which arrange the tiles. A tuple `coord` may be shorter than the tiler, and then keeps the other modes of a tile.
    /// [`Tensor::local_partition`] is the same with a thread's coordinate for `coord`.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// use girih_tensor::Tensor;
    ///
    /// let data: Vec<i32> = (0..8 * 24).collect();
    /// let a = Tensor::host(&data, lay!("(8,24):(1,8)"))?;
    /// assert_eq!(a.outer_partition(&tiler!("<4,8>"), (3, 0))?.layout().to_string(), "(2,3):(4,64)");
    /// assert_eq!(a.outer_partition(&tiler!("<4,8>"), (3,))?.layout().to_string(), "(8,2,3):(8,4,64)");
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn outer_partition(
        &self,
        tiler: &Tiler,
        coord: impl Into<Slice<E::Index>>,
    ) -> Result<Tensor<E>, Error> {
        let tiled = self.zipped_divide(tiler)?; // ((TileM,TileN),(RestM,RestN,L))
        let coord = padded(coord.into(), &tiled.layout.mode(0)?);
        let rest = tiled.slice((coord, Slice::All))?; // ([Tile..,](RestM,RestN,L))
        let layout = spread(&rest.layout, rest.layout.rank() - 1)?;
        Ok(rest.with_layout(layout)) // ([Tile..,]RestM,RestN,L)
    }

    /// The tile at `coord` (CuTe's `local_tile`): the tiler's modes, then the rest modes that `coord` keeps. A tuple `coord` may be
    /// shorter than the tensor's rank: modes that it and the tiler lack, such as a batch, are kept.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let data: Vec<i32> = (0..8 * 24).collect();
    /// let a = Tensor::host(&data, lay!("(8,24):(1,8)"))?;
    /// // Tiles of 4 x 8; the one at (1,2).
    /// let tile = a.local_tile(&tiler!("<4,8>"), (1, 2))?;
    /// assert_eq!((tile.layout().to_string().as_str(), tile.at(0)?), ("(4,8):(1,8)", 4 + 8 * 16));
    /// let batch = Tensor::host(&data, lay!("(8,8,3):(1,8,64)"))?; // (M,N,L)
    /// assert_eq!(batch.local_tile(&tiler!("<4,8>"), (1, 0))?.layout().to_string(), "(4,8,3):(1,8,64)");
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn local_tile(&self, tiler: &Tiler, coord: impl Into<Slice<E::Index>>) -> Result<Tensor<E>, Error> {
        self.inner_partition(tiler, coord)
    }

    /// [`Tensor::local_tile`] with only those modes of `tiler` and `coord` that `projection` keeps (CuTe's
    /// `Step<_1,X,_1>`): of the tile `(BLK_M,BLK_N,BLK_K)` at `(m,n,_)`, `[true, false, true]` takes `(BLK_M,BLK_K)` at
    /// `(m,_)`, which is the tile of A.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let data: Vec<i32> = (0..256 * 64).collect();
    /// let a = Tensor::host(&data, lay!("(256,64):(1,256)"))?; // (M,K)
    /// let (blocks, at) = (tiler!("<128,96,16>"), [Slice::at(1), Slice::at(5), Slice::All]);
    /// let mine = a.local_tile_projected(&blocks, &at, &[true, false, true])?; // (BLK_M,BLK_K,k)
    /// assert_eq!((mine.layout().to_string().as_str(), mine.at(0)?), ("(128,16,4):(1,256,4096)", 128));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Projection`] if tiler, coordinate and projection are of different lengths; those of
    /// [`Tensor::local_tile`].
    pub fn local_tile_projected(
        &self,
        tiler: &Tiler,
        coord: &[Slice<E::Index>],
        projection: &[bool],
    ) -> Result<Tensor<E>, Error> {
        let tiles = match tiler {
            Tiler::Lay(lay) => (0..lay.rank()).map(|i| Ok(Tile::Lay(lay.mode(i)?))).collect(),
            Tiler::Modes(tiles) => {
                (0..tiles.len()).map(|i| Ok(tiles.tile(i)?)).collect::<Result<Vec<_>, Error>>()
            }
        }?;
        if tiles.len() != projection.len() || coord.len() != projection.len() {
            return Err(Error::Projection {
                modes: projection.len(),
                tiler: tiler.to_string(),
                coord: Slice::Tuple(coord.to_vec()).to_string(),
            });
        }
        let kept = |i: &usize| projection[*i];
        let tiles: Vec<Tile> = (0..tiles.len()).filter(kept).map(|i| tiles[i]).collect();
        let coord: Vec<_> = (0..coord.len()).filter(kept).map(|i| coord[i].clone()).collect();
        self.local_tile(&Tiler::modes(&tiles)?, &coord)
    }

    /// The part of the thread of number `index` under `threads` (CuTe's `local_partition`, "outer partition"): one
    /// value of each tile of the shape of `threads`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if no thread has this number, [`Error::Shape`] if `threads` is no bijection onto the
    /// threads' numbers; those of [`Tensor::zipped_divide`] and [`Tensor::slice`].
    pub fn local_partition(&self, threads: &Lay, index: &E::Index) -> Result<Tensor<E>, Error> {
        self.partition_among(threads, index, None)
    }

    fn partition_among(
        &self,
        threads: &Lay,
        index: &E::Index,
        projection: Option<&[bool]>,
    ) -> Result<Tensor<E>, Error> {
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
        for i in (0..threads.rank()).filter(|&i| projection.is_none_or(|kept| kept[i])) {
            let mode = threads.mode(i)?;
            tiles.push(Tile::Lay(Lay::left(mode.shape())?));
            coord.push(coordinate_in(&mode, index)?);
        }
        let tiled = self.zipped_divide(&Tiler::Modes(Tiles::new(&tiles)?))?; // ((ThrM,ThrN),(RestM,RestN))
        let rest = tiled.slice((Slice::Tuple(coord), Slice::All))?; // ((RestM,RestN))
        let layout = rest.layout.mode(0)?;
        let part = || {
            // Of threads that share a part there is no number for each coordinate.
            let whole = projection.is_none().then(|| Part::<E::Index>::coordinates(&self.layout).ok())??;
            let tiled = whole.zipped_divide(&Tiler::Modes(Tiles::new(&tiles).ok()?)).ok()?;
            let threads = tiled.mode(0).ok()?.composition(&threads.right_inverse().ok()?).ok()?;
            Some(Part { thread: index.clone(), threads, values: tiled.mode(1).ok()?, offsets: layout })
        };
        let engine = rest.into_engine().with_part(part);
        Ok(Tensor { engine, layout }) // (RestM,RestN)
    }

    /// [`Tensor::local_partition`] by only those modes of `threads` that `projection` keeps (CuTe's `Step<_1,X>`):
    /// threads that differ only in the other modes have the same part.
    ///
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let data: Vec<i32> = (0..8 * 4).collect();
    /// let a = Tensor::host(&data, lay!("(8,4):(1,8)"))?; // (M,K)
    /// let threads = lay!("(2,3):(1,2)"); // (ThrM,ThrN)
    /// // Threads 1, 3 and 5 are at m = 1.
    /// for thread in [1, 3, 5] {
    ///     let mine = a.slice(&Slice::tuple([Slice::All, Slice::at(0)]))?.local_partition_projected(&threads, &thread, &[true, false])?;
    ///     assert_eq!((mine.layout().to_string().as_str(), mine.at(0)?), ("(4):(2)", 1));
    /// }
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Projection`] if `projection` and `threads` differ in rank; those of [`Tensor::local_partition`].
    pub fn local_partition_projected(
        &self,
        threads: &Lay,
        index: &E::Index,
        projection: &[bool],
    ) -> Result<Tensor<E>, Error> {
        if threads.rank() != projection.len() {
            return Err(Error::Projection {
                modes: projection.len(),
                tiler: threads.to_string(),
                coord: index.to_string(),
            });
        }
        self.partition_among(threads, index, Some(projection))
    }

    /// The values of `thread` under a thread-value layout (CuTe guide, "Thread-Value partitioning"): `tv` maps
    /// (thread, value) to the colexicographic index in this tensor.
    ///
    /// # Errors
    /// [`Error::Shape`] for a thread-value layout that does not have two modes, or one with indices that this tensor
    /// does not have, as far as the sizes are known; those of [`Tensor::composition`] and [`Tensor::slice`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::Tensor;
    ///
    /// let data: Vec<i32> = (0..32).collect();
    /// let a = Tensor::host(&data, lay!("(4,8):(8,1)"))?;
    /// // Eight threads, four along the columns, each with 2 x 2 values.
    /// let tv = lay!("((2,4),(2,2)):((8,1),(4,16))");
    /// assert_eq!(a.tv_partition(&tv, &3)?.to_vec()?, [10, 11, 14, 15]);
    /// assert!(a.tv_partition(&lay!("(8,8):(1,8)"), &3).is_err());
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn tv_partition(&self, tv: &Lay, thread: &E::Index) -> Result<Tensor<E>, Error> {
        let refused = |accepted| Error::Shape {
            what: "tv_partition",
            a: self.layout.to_string(),
            b: tv.to_string(),
            accepted,
        };
        if tv.is_leaf() || tv.rank() != 2 {
            return Err(refused("threads and values as the two modes of a layout"));
        }
        let known = (self.layout.size()?.get(), tv.cosize().ok().and_then(|cosize| cosize.get()));
        if let (Some(size), Some(cosize)) = known
            && cosize > size
        {
            return Err(refused("indices below the tensor's size"));
        }
        let partitioned = self.composition(tv)?; // (Thr,Val)
        let values = partitioned.slice((thread, Slice::All))?; // (Val)
        let layout = values.layout.mode(0)?;
        let part = || {
            let tv = Part::<E::Index>::coordinates(&self.layout).ok()?.composition(tv).ok()?; // (Thr,Val)
            let (threads, values) = (tv.mode(0).ok()?, tv.mode(1).ok()?);
            Some(Part { thread: thread.clone(), threads, values, offsets: layout })
        };
        Ok(Tensor { engine: values.into_engine().with_part(part), layout })
    }
}

/// The coordinate with as many entries as `mode` has modes: modes without an entry are kept.
fn padded<I: Index>(coord: Slice<I>, mode: &Lay) -> Slice<I> {
    match coord {
        Slice::Tuple(mut entries) if entries.len() < mode.rank() => {
            entries.resize(mode.rank(), Slice::All);
            Slice::Tuple(entries)
        }
        coord => coord,
    }
}

/// The layout with the modes of mode `mode` in its place.
fn spread(layout: &Lay, mode: usize) -> Result<Lay, Error> {
    let mut modes = Vec::new();
    for i in 0..layout.rank() {
        let whole = layout.mode(i)?;
        if i == mode {
            for k in 0..whole.rank() {
                modes.push(whole.mode(k)?);
            }
        } else {
            modes.push(whole);
        }
    }
    Ok(Lay::concat(&modes)?)
}

/// The coordinate in `mode`, a mode of a bijective layout, of the layout's coordinate with index `index`.
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
