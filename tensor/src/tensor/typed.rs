//! Tensors under typed layouts: the operations of run-time tensors, with static results.
//!
//! A tile must divide the tensor, and positions are checked, so that no result reaches further than the tensor. For
//! ragged tiles, [erase](Tensor::erase) the tensor's type first.

mod partition;

use girih_layout::typed::{
    Coalesced, Composition, Filter, FilterZeros, FlatDivide, Flatten, Group, Layout, LogicalDivide, ModeAt,
    Modes, Nat, Picks, Select, Slice, Take, TiledDivide, Tiler, ZippedDivide,
};
use girih_layout::{Int, Lay, Stride};

use super::{Arrangement, Engine, Tensor};
use crate::Error;

pub use partition::{InnerPartition, LocalPartition, LocalTile, OuterPartition, TvPartition};

impl<E: Clone, L: Arrangement> Tensor<E, L> {
    /// The same tensor under a run-time layout: for ragged tiles, algorithms, and whatever is decided when the program runs.
    ///
    /// # Errors
    /// Those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_layout::{lay, layout};
    /// use girih_tensor::Tensor;
    /// let t = Tensor::host(&[1, 2, 3, 4], layout!((2, 2) : (2, 1)))?.erase()?;
    /// assert_eq!((*t.layout(), t.to_vec()?), (lay!("(2,2):(2,1)"), vec![1, 3, 2, 4]));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn erase(&self) -> Result<Tensor<E, Lay>, Error> {
        Ok(Tensor::new(self.engine.clone(), self.layout.erase()?))
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
    /// use girih_layout::layout;
    /// use girih_layout::typed::__;
    /// use girih_tensor::Tensor;
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
