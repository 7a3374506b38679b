//! The operations of typed layouts, each in two forms.

use girih_layout::Error;

use super::check::{Check, check, check_structure, run};
use super::int::{Int, S};
use super::layout::Layout;
use super::modes::{Mode, Modes};
use super::op::Op;
use super::operand::Operand;
use super::tiler::Tiler;
use super::tree::Tree;
use super::{
    BlockedProduct, Coalesced, Complement, Composition, FlatDivide, FlatProduct, LeftInverse, LogicalDivide,
    LogicalProduct, RakedProduct, RightInverse, TiledDivide, TiledProduct, ZippedDivide, ZippedProduct,
};

operations! {
    /// The same function with as few modes as possible, see [`Lay::coalesce`](girih_layout::Lay::coalesce). Modes merge where
    /// the merged mode is right for all values of the dynamic integers.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((2, (1, 6)) : (1, (6, 2))).coalesce(), layout!(12 : 1));
    /// ```
    coalesce try_coalesce Coalesce -> Coalesced<M>;

    /// The layout that maps the indices 0, 1, 2 ... back to coordinates, as far as modes provably follow on from one
    /// another, see [`Lay::right_inverse`](girih_layout::Lay::right_inverse).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((2, 4, 6) : (4, 1, 8)).right_inverse(), layout!((4, 2, 6) : (2, 1, 8)));
    /// ```
    right_inverse try_right_inverse RightInverse -> RightInverse<M>;

    /// The layout `L` with `L(self(i)) = i` for every `i` of the domain, see [`Lay::left_inverse`](girih_layout::Lay::left_inverse).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!(4 : 2).left_inverse(), layout!((2, 4) : (0, 1)));
    /// ```
    left_inverse try_left_inverse LeftInverse -> LeftInverse<M>;

    /// `R(c) = self(right(c))`, or mode by mode with a tuple of tiles, see [`Lay::composition`](girih_layout::Lay::composition) and [`Lay::composition_by`](girih_layout::Lay::composition_by).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let r = layout!((10, 2) : (16, 4)).composition(layout!((5, 4) : (1, 5)));
    /// assert_eq!(r, layout!((5, (2, 2)) : (16, (80, 4))));
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// // stride 4 and extent 6 do not divide one another
    /// layout!((6, 2) : (8, 2)).composition(layout!(6 : 4));
    /// ```
    composition try_composition Composition <X: Tiler> (right: X) [X::STATIC, X::SKELETON, right.operand()?] -> Composition<M, X>;

    /// Each mode that has a tile becomes the tile (its mode 0) and the arrangement of the tiles (its mode 1), see
    /// [`Lay::logical_divide`](girih_layout::Lay::logical_divide).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.logical_divide(&girih_layout::tiler!("<4,8>"))?;
    /// assert_eq!(l.logical_divide((int!(4), int!(8))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    logical_divide try_logical_divide LogicalDivide <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> LogicalDivide<M, X>;

    /// `((TileM,TileN),(RestM,RestN))`, see [`Lay::zipped_divide`](girih_layout::Lay::zipped_divide).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let tiles = layout!((256, 64) : (64, 1)).zipped_divide((int!(128), int!(32)));
    /// assert_eq!(tiles, layout!(((128, 32), (2, 2)) : ((64, 1), (8192, 32))));
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// // more tiles than modes
    /// layout!((256, 64) : (64, 1)).zipped_divide((int!(128), int!(32), int!(4)));
    /// ```
    zipped_divide try_zipped_divide ZippedDivide <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> ZippedDivide<M, X>;

    /// `((TileM,TileN),RestM,RestN)`, see [`Lay::tiled_divide`](girih_layout::Lay::tiled_divide).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.tiled_divide(&girih_layout::tiler!("<4,8>"))?;
    /// assert_eq!(l.tiled_divide((int!(4), int!(8))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    tiled_divide try_tiled_divide TiledDivide <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> TiledDivide<M, X>;

    /// `(TileM,TileN,RestM,RestN)`, see [`Lay::flat_divide`](girih_layout::Lay::flat_divide).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.flat_divide(&girih_layout::tiler!("<4,8>"))?;
    /// assert_eq!(l.flat_divide((int!(4), int!(8))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    flat_divide try_flat_divide FlatDivide <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> FlatDivide<M, X>;

    /// Each mode that has a tile becomes the block (its mode 0) and the arrangement of the block's copies (its mode 1),
    /// see [`Lay::logical_product`](girih_layout::Lay::logical_product).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 2) : (4, 1)).logical_product(int!(6)), layout!(((2, 2), (2, 3)) : ((4, 1), (2, 8))));
    /// ```
    logical_product try_logical_product LogicalProduct <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> LogicalProduct<M, X>;

    /// The blocks' modes in mode 0, the tiles' in mode 1, see [`Lay::zipped_product`](girih_layout::Lay::zipped_product).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.zipped_product(&girih_layout::tiler!("<2,2>"))?;
    /// assert_eq!(l.zipped_product((int!(2), int!(2))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    zipped_product try_zipped_product ZippedProduct <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> ZippedProduct<M, X>;

    /// The blocks' modes in mode 0, then the tiles', see [`Lay::tiled_product`](girih_layout::Lay::tiled_product).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.tiled_product(&girih_layout::tiler!("<2,2>"))?;
    /// assert_eq!(l.tiled_product((int!(2), int!(2))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    tiled_product try_tiled_product TiledProduct <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> TiledProduct<M, X>;

    /// All modes side by side, see [`Lay::flat_product`](girih_layout::Lay::flat_product).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!((8, 8) : (1, 8));
    /// let run_time = l.erase()?.flat_product(&girih_layout::tiler!("<2,2>"))?;
    /// assert_eq!(l.flat_product((int!(2), int!(2))).erase()?, run_time);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    flat_product try_flat_product FlatProduct <X: Tiler> (tiler: X) [X::STATIC, X::SKELETON, tiler.operand()?] -> FlatProduct<M, X>;

    /// A layout of the indices in `0..cotarget` that this layout leaves out, see
    /// [`Lay::complement`](girih_layout::Lay::complement).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 2) : (1, 6)).complement(int!(24)), layout!((3, 2) : (2, 12)));
    /// ```
    complement try_complement Complement <C: Int> (cotarget: C) [C::KNOWN.is_some(), Operand::One(Mode::<C, S<1>>::SKELETON),
        Operand::One(Tree::number(cotarget.erase()))] -> Complement<M, C>;

    /// Copies of this block side by side, `((BlockM,TileM),(BlockN,TileN))`, see [`Lay::blocked_product`](girih_layout::Lay::blocked_product).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let r = layout!((2, 5) : (5, 1)).blocked_product(layout!((3, 4) : (1, 3)));
    /// assert_eq!(r, layout!(((2, 3), (5, 4)) : ((5, 10), (1, 30))));
    /// ```
    blocked_product try_blocked_product BlockedProduct <T: Modes> (tile: Layout<T>) [T::STATIC, Operand::One(T::SKELETON),
        Operand::One(tile.0.tree()?)] -> BlockedProduct<M, T>;

    /// Copies of this block interleaved, `((TileM,BlockM),(TileN,BlockN))`, see [`Lay::raked_product`](girih_layout::Lay::raked_product).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let r = layout!((2, 5) : (5, 1)).raked_product(layout!((3, 4) : (1, 3)));
    /// assert_eq!(r, layout!(((3, 2), (4, 5)) : ((10, 5), (30, 1))));
    /// ```
    raked_product try_raked_product RakedProduct <T: Modes> (tile: Layout<T>) [T::STATIC, Operand::One(T::SKELETON),
        Operand::One(tile.0.tree()?)] -> RakedProduct<M, T>;
}
