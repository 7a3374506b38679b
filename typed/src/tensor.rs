//! Tensors under typed layouts: the operations of run-time tensors, with static results.
//!
//! A tile must divide the tensor, and positions are checked, so that no result reaches further than the tensor. For
//! ragged tiles, [erase](Tensor::erase) the tensor's type first.

mod partition;

use girih_layout::{Int, Stride};
use girih_tensor::host::{Values, View};
use girih_tensor::{Engine, Error};

use crate::{
    Coalesced, Composition, Coord, Filter, FilterZeros, FlatDivide, Flatten, Group, Layout, LogicalDivide,
    ModeAt, Modes, Nat, Picks, Select, Slice, Take, TiledDivide, Tiler, ZippedDivide,
};

pub use partition::{InnerPartition, LocalPartition, LocalTile, OuterPartition, TvPartition};

/// A view of an engine's values through a layout that is a type.
///
/// Operations on a tensor with a static layout give tensors with static layouts, and wrong operations do not compile.
///
/// ```
/// use girih_typed::{int, layout, tensor::Tensor};
///
/// let data: Vec<i32> = (0..8 * 24).collect();
/// let a = Tensor::host(&data, layout!((8, 24) : (1, 8)))?;
/// // Tiles of 4 x 8; the one at (1,2).
/// let tile = a.local_tile((int!(4), int!(8)), (1, 2))?;
/// assert_eq!((*tile.layout(), tile.get((3, 0))?), (layout!((4, 8) : (1, 8)), 7 + 8 * 16));
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// Here the message is `whole_divide((8,24):(1,8), <16:1,8:1>): the tile of 16 is larger than the extent 8`:
/// ```compile_fail
/// # use girih_typed::{int, layout, tensor::Tensor};
/// # let data = [0; 8 * 24];
/// # let a = Tensor::host(&data, layout!((8, 24) : (1, 8)))?;
/// a.local_tile((int!(16), int!(8)), (0, 2))?;
/// # Ok::<(), girih_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor<E, L> {
    engine: E,
    layout: L,
}

impl<E, L> Tensor<E, L> {
    /// The values of `engine` as `layout` arranges them.
    pub fn new(engine: E, layout: L) -> Tensor<E, L> {
        Tensor { engine, layout }
    }

    /// The engine, which has the values.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The layout of the values.
    pub fn layout(&self) -> &L {
        &self.layout
    }
}

impl<'a, T: Copy, M: Modes> Tensor<View<'a, T>, Layout<M>> {
    /// `data` as `layout` arranges it.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `data`; those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_typed::{layout, tensor::Tensor};
    /// assert_eq!(Tensor::host(&[1, 2, 3, 4], layout!((2, 2) : (2, 1)))?.get((0, 1))?, 2);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn host(data: &'a [T], layout: Layout<M>) -> Result<Self, Error> {
        let tensor = girih_tensor::Tensor::host(data, layout.erase()?)?;
        Ok(Tensor::new(tensor.into_engine(), layout))
    }
}

impl<E: Clone, M: Modes> Tensor<E, Layout<M>> {
    /// The same tensor under a run-time layout: for ragged tiles, algorithms, and whatever is decided when the program runs.
    ///
    /// # Errors
    /// Those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_layout::lay;
    /// use girih_typed::{layout, tensor::Tensor};
    /// let t = Tensor::host(&[1, 2, 3, 4], layout!((2, 2) : (2, 1)))?.erase()?;
    /// assert_eq!((*t.layout(), t.to_vec()?), (lay!("(2,2):(2,1)"), vec![1, 3, 2, 4]));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn erase(&self) -> Result<girih_tensor::Tensor<E>, Error> {
        Ok(girih_tensor::Tensor::new(self.engine.clone(), self.layout.erase()?))
    }
}

impl<E: Values, M: Modes> Tensor<E, Layout<M>> {
    /// The value at a coordinate, which is 1-D, has one position for each mode, or is as nested as the shape; positions
    /// may be static or dynamic. A static position outside its mode does not compile, nor does a coordinate of another
    /// rank.
    ///
    /// # Errors
    /// Those of [`Layout::try_at`]: a position outside its mode.
    ///
    /// ```
    /// use girih_typed::{int, layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..48).collect();
    /// let t = Tensor::host(&data, layout!((8, (2, 3)) : (6, (1, 2))))?;
    /// assert_eq!((t.get((3, (1, int!(2))))?, t.get(11)?), (23, 19));
    /// assert!(t.get((8, 0)).is_err());
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn get<C: Coord<M>>(&self, coord: C) -> Result<E::Value, Error> {
        let offset = self.layout().try_at(coord)?;
        self.engine().advance(&[(offset, Stride::Int(Int::fixed(1)))])?.value()
    }
}

impl<E: Engine, M: Modes> Tensor<E, Layout<M>> {
    fn under<N: Modes>(&self, layout: Layout<N>) -> Tensor<E, Layout<N>> {
        Tensor::new(self.engine.clone(), layout)
    }
}

impl<E: Engine<Index: From<i64>>, M: Modes> Tensor<E, Layout<M>> {
    /// The tensor of `layout` that starts `offset` elements further on.
    fn moved<N: Modes>(&self, layout: Layout<N>, offset: i64) -> Result<Tensor<E, Layout<N>>, Error> {
        let engine = self.engine.advance(&[(offset.into(), Stride::Int(Int::fixed(1)))])?;
        Ok(Tensor::new(engine, layout))
    }

    /// The subtensor of the modes under `__`, with the other modes fixed at positions (CuTe guide, "Slicing a Tensor").
    /// A static position outside its mode does not compile, nor does a slice of another rank.
    ///
    /// # Errors
    /// Those of [`Layout::try_slice`]: a position outside its mode.
    ///
    /// ```
    /// use girih_typed::{__, layout, tensor::Tensor};
    /// let data: Vec<i32> = (0..48).collect();
    /// let t = Tensor::host(&data, layout!((8, (2, 3)) : (6, (1, 2))))?;
    /// let row = t.slice((5, (__, 1)))?;
    /// assert_eq!((row.layout().to_string().as_str(), row.get((1,))?), ("(2):(1)", 33));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn slice<C: Slice<M>>(&self, coord: C) -> Result<Tensor<E, Layout<C::Kept>>, Error> {
        let (layout, offset) = self.layout.try_slice(coord)?;
        self.moved(layout, offset)
    }
}

/// Operations on the domain: they change the layout only and keep the engine.
macro_rules! on_domain {
    ($($name:ident $try:ident $(<$g:ident: $bound:ident> ($x:ident: $t:ty))? -> $r:ty;)*) => {
        impl<E: Engine, M: Modes> Tensor<E, Layout<M>> {$(
            #[doc = concat!("The values under [`Layout::", stringify!($name), "`].")]
            pub fn $name$(<$g: $bound>)?(&self $(, $x: $t)?) -> Tensor<E, Layout<$r>> {
                self.under(self.layout.$name($($x)?))
            }

            #[doc = concat!("The values under [`Layout::", stringify!($try), "`]: for operands with something dynamic.")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::", stringify!($try), "`].")]
            pub fn $try$(<$g: $bound>)?(&self $(, $x: $t)?) -> Result<Tensor<E, Layout<$r>>, Error> {
                Ok(self.under(self.layout.$try($($x)?)?))
            }
        )*}
    };
    (@edit $($name:ident $(<$($g:ident: $bound:ident),+> ($($x:ident: $t:ty),+))? -> $r:ty;)*) => {
        impl<E: Engine, M: Modes> Tensor<E, Layout<M>> {$(
            #[doc = concat!("The values under [`Layout::", stringify!($name), "`].")]
            pub fn $name$(<$($g: $bound),+>)?(&self $($(, $x: $t)+)?) -> Tensor<E, Layout<$r>> {
                self.under(self.layout.$name($($($x),+)?))
            }
        )*}
    };
}

on_domain! {
    coalesce try_coalesce -> Coalesced<M>;
    filter try_filter -> Filter<M>;
    filter_zeros try_filter_zeros -> FilterZeros<M>;
    composition try_composition <X: Tiler> (with: X) -> Composition<M, X>;
    logical_divide try_logical_divide <X: Tiler> (tiler: X) -> LogicalDivide<M, X>;
    zipped_divide try_zipped_divide <X: Tiler> (tiler: X) -> ZippedDivide<M, X>;
    tiled_divide try_tiled_divide <X: Tiler> (tiler: X) -> TiledDivide<M, X>;
    flat_divide try_flat_divide <X: Tiler> (tiler: X) -> FlatDivide<M, X>;
    whole_divide try_whole_divide <X: Tiler> (tiler: X) -> ZippedDivide<M, X>;
}

on_domain! {
    @edit
    mode <I: Nat> (number: I) -> ModeAt<M, I>;
    select <P: Picks> (numbers: P) -> Select<M, P>;
    take <B: Nat, N: Nat> (begin: B, end: N) -> Take<M, B, N>;
    group <B: Nat, N: Nat> (begin: B, end: N) -> Group<M, B, N>;
    flatten -> Flatten<M>;
}
