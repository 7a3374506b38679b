//! Tiles and partitions of typed tensors.

use girih_tensor::{Engine, Error};

use super::Tensor;
use crate::{__, All, Check, Composition, Layout, ModeAt, Modes, S, Slice, Splice, Tiler, ZippedDivide, int};

/// A tile's modes, then the rest modes that the coordinate keeps: the layout of [`Tensor::inner_partition`] of a typed
/// tensor.
pub type InnerPartition<M, X, C> = LocalTile<M, X, C>;
/// The modes of the tile that the coordinate keeps, then the rest as one mode: the layout of
/// [`Tensor::outer_partition`] of a typed tensor.
pub type OuterPartition<M, X, C> = Layout<<(C, All) as Slice<ZippedDivide<M, X>>>::Kept>;
/// A tile's modes, then the rest modes that the coordinate keeps: the layout of [`Tensor::local_tile`] of a typed
/// tensor.
///
/// ```
/// use girih_typed::{Lt, Mode, S, int, layout, tensor::{LocalTile, Tensor}};
/// type Matrix = (Mode<S<8>, S<1>>, Mode<S<24>, S<8>>);
/// let data = [0; 8 * 24];
/// let a = Tensor::host(&data, layout!((8, 24) : (1, 8)))?;
/// let tile: LocalTile<Matrix, (S<4>, S<8>), (usize, usize)> = *a.local_tile((int!(4), int!(8)), (1, 2))?.layout();
/// let same: Lt<(S<4>, S<8>), (S<1>, S<8>)> = tile;
/// # Ok::<(), girih_tensor::Error>(())
/// ```
pub type LocalTile<M, X, C> = Layout<Splice<<(All, C) as Slice<ZippedDivide<M, X>>>::Kept>>;
/// A thread's part: the layout of [`Tensor::local_partition`] of a typed tensor, `T` being the threads' modes.
pub type LocalPartition<M, T> = Layout<ModeAt<ZippedDivide<M, <T as Modes>::Shape>, S<1>>>;
/// A thread's values: the layout of [`Tensor::tv_partition`] of a typed tensor, `Tv` being the modes of the `(Thr,Val)` layout.
pub type TvPartition<M, Tv> = Layout<ModeAt<Composition<M, Layout<Tv>>, S<1>>>;

impl<E: Engine<Index: From<i64>>, M: Modes> Tensor<E, Layout<M>> {
    /// The tile at `coord` among the tiles: its modes, then the modes that `coord` keeps (CuTe's `inner_partition`). A tile that
    /// does not divide the tensor, or is larger, does not compile, nor does a coordinate of another rank.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`]: a position outside.
    ///
    /// ```
    /// use girih_typed::{int, layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..8 * 24).collect();
    /// let a = Tensor::host(&data, layout!((8, 24) : (1, 8)))?;
    /// let tile = a.inner_partition((int!(4), int!(8)), (1, 2))?;
    /// assert_eq!((tile.layout().to_string().as_str(), tile.get((0, 0))?), ("(4,8):(1,8)", 4 + 8 * 16));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn inner_partition<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, InnerPartition<M, X, C>>, Error>
    where
        (All, C): Slice<ZippedDivide<M, X>>,
    {
        let tile = self.whole_divide(tiler).slice((__, coord))?; // ((TileM,TileN)[,Rest..])
        Ok(tile.under(tile.layout.splice())) // (TileM,TileN[,Rest..])
    }

    /// [`Tensor::inner_partition`] for operands with something dynamic.
    ///
    /// # Errors
    /// Those of [`Layout::try_whole_divide`] and of [`Tensor::slice`].
    pub fn try_inner_partition<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, InnerPartition<M, X, C>>, Error>
    where
        (All, C): Slice<ZippedDivide<M, X>>,
    {
        let tile = self.try_whole_divide(tiler)?.slice((__, coord))?; // ((TileM,TileN)[,Rest..])
        Ok(tile.under(tile.layout.splice())) // (TileM,TileN[,Rest..])
    }

    /// The element at `coord` of each tile, after the modes that `coord` keeps (CuTe's `outer_partition`). The rest modes
    /// are one mode, where CuTe and run-time tensors have them side by side.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`]: a position outside.
    ///
    /// ```
    /// use girih_typed::{int, layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..8 * 24).collect();
    /// let a = Tensor::host(&data, layout!((8, 24) : (1, 8)))?;
    /// let mine = a.outer_partition((int!(4), int!(8)), (3, 0))?;
    /// assert_eq!((mine.layout().to_string().as_str(), mine.get(((1, 2),))?), ("((2,3)):((4,64))", 7 + 8 * 16));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn outer_partition<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, OuterPartition<M, X, C>>, Error>
    where
        (C, All): Slice<ZippedDivide<M, X>>,
    {
        self.whole_divide(tiler).slice((coord, __)) // ([Tile..,]Rest)
    }

    /// [`Tensor::outer_partition`] for operands with something dynamic.
    ///
    /// # Errors
    /// Those of [`Layout::try_whole_divide`] and of [`Tensor::slice`].
    pub fn try_outer_partition<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, OuterPartition<M, X, C>>, Error>
    where
        (C, All): Slice<ZippedDivide<M, X>>,
    {
        self.try_whole_divide(tiler)?.slice((coord, __)) // ([Tile..,]Rest)
    }

    /// The tile at `coord` (CuTe's `local_tile`): the tiler's modes, then the rest modes that `coord` keeps. A tile that does not
    /// divide the tensor, or is larger, does not compile, nor does a coordinate of another rank.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`]: a position outside.
    ///
    /// ```
    /// use girih_typed::{__, int, layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..256 * 64).collect();
    /// let a = Tensor::host(&data, layout!((256, 64) : (1, 256)))?; // (M,K)
    /// let mine = a.local_tile((int!(128), int!(16)), (1, __))?; // (BLK_M,BLK_K,k)
    /// assert_eq!((*mine.layout(), mine.get((0, 1, 2))?), (layout!((128, 16, 4) : (1, 256, 4096)), 128 + 256 * 33));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn local_tile<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, LocalTile<M, X, C>>, Error>
    where
        (All, C): Slice<ZippedDivide<M, X>>,
    {
        self.inner_partition(tiler, coord)
    }

    /// [`Tensor::local_tile`] for operands with something dynamic.
    ///
    /// # Errors
    /// Those of [`Layout::try_whole_divide`] and of [`Tensor::slice`].
    ///
    /// ```
    /// use girih_typed::{int, layout, tensor::Tensor};
    /// let (data, ld) = (vec![0; 4096], 64usize);
    /// let a = Tensor::host(&data, layout!((64, 64) : (ld, 1)))?;
    /// let tile = a.try_local_tile((int!(16), int!(32)), (3, 1))?;
    /// assert_eq!(format!("{:#}", tile.layout()), "(_16,_32):(64,_1)");
    /// let error = a.try_local_tile((int!(16), int!(48)), (3, 1)).map(drop).map_err(|e| e.to_string());
    /// assert_eq!(error, Err(String::from("whole_divide: extent 64 must be a multiple of 48")));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn try_local_tile<X: Tiler, C: Copy>(
        &self,
        tiler: X,
        coord: C,
    ) -> Result<Tensor<E, LocalTile<M, X, C>>, Error>
    where
        (All, C): Slice<ZippedDivide<M, X>>,
    {
        self.try_inner_partition(tiler, coord)
    }

    /// The part of the thread of number `index` under the static layout `threads`, whose shape is flat (CuTe's
    /// `local_partition`): one value of each tile of that shape. A shape that does not divide the tensor does not
    /// compile, nor do two threads of one number.
    ///
    /// # Errors
    /// [`Error::Layout`] for a number that no thread has.
    ///
    /// ```
    /// use girih_typed::{layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..32).collect();
    /// let a = Tensor::host(&data, layout!((8, 4) : (1, 8)))?;
    /// let mine = a.local_partition(layout!((2, 4) : (4, 1)), 5)?; // at (1,1)
    /// assert_eq!((mine.layout().to_string().as_str(), mine.get((2, 0))?), ("(4,1):(2,0)", 13));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn local_partition<T: Modes<Shape: Tiler>>(
        &self,
        threads: Layout<T>,
        index: usize,
    ) -> Result<Tensor<E, LocalPartition<M, T>>, Error> {
        self.place_in_tiles(self.whole_divide(threads.shape()), threads, index)
    }

    /// [`Tensor::local_partition`] of a tensor with something dynamic.
    ///
    /// # Errors
    /// As [`Tensor::local_partition`], and those of [`Layout::try_whole_divide`].
    pub fn try_local_partition<T: Modes<Shape: Tiler>>(
        &self,
        threads: Layout<T>,
        index: usize,
    ) -> Result<Tensor<E, LocalPartition<M, T>>, Error> {
        self.place_in_tiles(self.try_whole_divide(threads.shape())?, threads, index)
    }

    fn place_in_tiles<T: Modes<Shape: Tiler>>(
        &self,
        tiled: Tensor<E, Layout<ZippedDivide<M, T::Shape>>>, // ((ThrM,ThrN),(RestM,RestN))
        threads: Layout<T>,
        index: usize,
    ) -> Result<Tensor<E, LocalPartition<M, T>>, Error> {
        const { Check::<Layout<T>>::bijective() };
        let place = threads.right_inverse().try_at(index)? as usize;
        let (_, offset) = tiled.layout.mode(int!(0)).try_slice(place)?;
        self.moved(tiled.layout.mode(int!(1)), offset) // (RestM,RestN)
    }

    /// The values of `thread` under a thread-value layout, which maps `(Thr,Val)` to the colexicographic index in this
    /// tensor (CuTe guide, "Thread-Value partitioning"). A layout that reaches past the tensor does not compile.
    ///
    /// # Errors
    /// [`Error::Layout`] for a thread that the layout does not have.
    ///
    /// ```
    /// use girih_typed::{layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..32).collect();
    /// let a = Tensor::host(&data, layout!((4, 8) : (8, 1)))?;
    /// let mine = a.tv_partition(layout!((8, 4) : (4, 1)), 2)?; // column 2
    /// assert_eq!((*mine.layout(), mine.get(3)?), (layout!(4 : 8), 26));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn tv_partition<Tv: Modes>(
        &self,
        tv: Layout<Tv>,
        thread: usize,
    ) -> Result<Tensor<E, TvPartition<M, Tv>>, Error> {
        self.values_of(self.layout.compose_in_bounds(tv), thread)
    }

    /// [`Tensor::tv_partition`] for operands with something dynamic.
    ///
    /// # Errors
    /// As [`Tensor::tv_partition`], and those of [`Layout::try_compose_in_bounds`].
    pub fn try_tv_partition<Tv: Modes>(
        &self,
        tv: Layout<Tv>,
        thread: usize,
    ) -> Result<Tensor<E, TvPartition<M, Tv>>, Error> {
        self.values_of(self.layout.try_compose_in_bounds(tv)?, thread)
    }

    fn values_of<N: Modes>(
        &self,
        tv: Layout<N>, // (Thr,Val)
        thread: usize,
    ) -> Result<Tensor<E, Layout<ModeAt<N, S<1>>>>, Error> {
        let (_, offset) = tv.mode(int!(0)).try_slice(thread)?;
        self.moved(tv.mode(int!(1)), offset) // Val
    }
}
