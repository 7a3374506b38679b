//! Layouts made of shapes, in the order of another layout, over another shape.

use girih_layout::Error;

use super::check::{Check, check, check_structure, run};
use super::int::Int;
use super::int_tuple::IntTuple;
use super::layout::Layout;
use super::modes::Modes;
use super::op::Op;
use super::operand::Operand;
use super::tree::Tree;
use super::{
    CoalesceBy, CompactLike, Composition, DomainDistribute, Filter, FilterZeros, FragmentLike, Identity,
    Left, Ordered, Right, TileToShape, TileToShapeBy,
};

constructions! {
    /// The compact layout of a shape, leftmost mode fastest, see [`Lay::left`](girih_layout::Lay::left): CuTe's `LayoutLeft`.
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple, layout};
    /// assert_eq!(Layout::left(int_tuple!((4, (2, 3)))), layout!((4, (2, 3)) : (1, (4, 8))));
    /// let n: usize = 5;
    /// assert_eq!(format!("{:#}", Layout::try_left(int_tuple!((4, n, 8)))?), "(_4,5,_8):(_1,_4,20)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// Here the message is `left((4,0)): leaf 1 of a shape is 0, which is below 1`:
    /// ```compile_fail
    /// # use girih_typed::{Layout, int_tuple};
    /// Layout::left(int_tuple!((4, 0)));
    /// ```
    left try_left Left -> Left<Sh>;

    /// The compact layout of a shape, rightmost mode fastest, see [`Lay::right`](girih_layout::Lay::right): CuTe's
    /// `LayoutRight`.
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple, layout};
    /// assert_eq!(Layout::right(int_tuple!((4, (2, 3)))), layout!((4, (2, 3)) : (6, (3, 1))));
    /// ```
    right try_right Right -> Right<Sh>;

    /// The layout that sends each coordinate to itself, see [`Lay::identity`](girih_layout::Lay::identity): CuTe's
    /// `make_identity_layout`. Divided, composed and sliced like the data, the identity layout says where each element
    /// comes from.
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple, layout};
    /// let id = Layout::identity(int_tuple!((4, (2, 3))));
    /// assert_eq!(id, layout!((4, (2, 3)) : (1@0, (1@0@1, 1@1@1))));
    /// let part = Layout::identity(int_tuple!((4, 6))).composition(layout!((4, 2) : (1, 8))); // columns 0 and 2
    /// let [i, j] = part.coord_at((3, 1));
    /// assert_eq!((i, j), (3, 2));
    /// ```
    identity try_identity Identity -> Identity<Sh>;

    /// The compact layout of a shape, the leaf with the smallest key fastest, see
    /// [`Lay::ordered`](girih_layout::Lay::ordered): CuTe's `make_ordered_layout`.
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple, layout};
    /// assert_eq!(Layout::ordered(int_tuple!((4, (2, 3))), int_tuple!((1, (2, 0)))), layout!((4, (2, 3)) : (3, (12, 1))));
    /// // A key of a whole mode.
    /// assert_eq!(Layout::ordered(int_tuple!((4, (2, 3))), int_tuple!((1, 0))), layout!((4, (2, 3)) : (6, (1, 2))));
    /// ```
    ///
    /// Here the message is `ordered((4,2), (0,1,2)): the two tuples are not nested alike, from leaf 1`:
    /// ```compile_fail
    /// # use girih_typed::{Layout, int_tuple};
    /// Layout::ordered(int_tuple!((4, 2)), int_tuple!((0, 1, 2)));
    /// ```
    ordered try_ordered Ordered <O: IntTuple> (order: O) [<O::Zeros as Modes>::STATIC, Operand::One(<O::Zeros as Modes>::SKELETON),
        Operand::One(order.zeros().tree()?)] -> Ordered<Sh, O>;

    /// A layout of as many of `n` workers as divide the extents, from the left, see
    /// [`Lay::domain_distribute`](girih_layout::Lay::domain_distribute).
    ///
    /// ```
    /// use girih_typed::{Layout, int, int_tuple, layout};
    /// assert_eq!(Layout::domain_distribute(int_tuple!((4, 6)), int!(32)), layout!((4, 2) : (1, 4)).coalesce());
    /// assert_eq!(Layout::domain_distribute(int_tuple!((15, 14)), int!(6)), layout!((3, 2) : (1, 15)));
    /// ```
    domain_distribute try_domain_distribute DomainDistribute <N: Int> (n: N) [N::KNOWN.is_some(), Operand::One(super::modes::Mode::<N, super::S<0>>::SKELETON),
        Operand::One(Tree::number(n.erase()))] -> DomainDistribute<Sh, N>;
}

operations! {
    /// A compact layout in the order of this layout's strides; modes of stride 0 keep stride 0, see
    /// [`Lay::compact_like`](girih_layout::Lay::compact_like): CuTe's `make_layout_like`.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8, 2) : (100, 1, 0)).compact_like(), layout!((4, 8, 2) : (8, 1, 0)));
    /// ```
    ///
    /// Here the message is `compact_like((4,8):(-8,1)): stride -8 is below 0`:
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// layout!((4, 8) : (-8, 1)).compact_like();
    /// ```
    compact_like try_compact_like CompactLike -> CompactLike<M>;

    /// The layout of registers for a partition of this layout: mode 0 compact and first, then the others in the order of their strides, see
    /// [`Lay::fragment_like`](girih_layout::Lay::fragment_like): CuTe's `make_fragment_like`.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let partition = layout!(((2, 2), 4, 2) : ((1, 512), 8, 4096));
    /// assert_eq!(partition.fragment_like(), layout!(((2, 2), 4, 2) : ((1, 2), 4, 16)));
    /// ```
    fragment_like try_fragment_like FragmentLike -> FragmentLike<M>;

    /// The same function over another shape of the same size, see [`Lay::with_shape`](girih_layout::Lay::with_shape).
    ///
    /// ```
    /// use girih_typed::{int_tuple, layout};
    /// assert_eq!(layout!((4, 6) : (1, 8)).with_shape(int_tuple!((2, 2, 6))), layout!((2, 2, 6) : (1, 2, 8)));
    /// ```
    ///
    /// Here the message is `with_shape((4,6):(1,8), (4,3)): not supported: a shape of another size`:
    /// ```compile_fail
    /// # use girih_typed::{int_tuple, layout};
    /// layout!((4, 6) : (1, 8)).with_shape(int_tuple!((4, 3)));
    /// ```
    with_shape try_with_shape WithShape <Sh: IntTuple> (shape: Sh) [<Sh::Zeros as Modes>::STATIC,
        Operand::One(<Sh::Zeros as Modes>::SKELETON), Operand::One(shape.zeros().tree()?)] -> Composition<M, Layout<Left<Sh>>>;

    /// The layout without modes of extent 1 or stride 0, coalesced, see [`Lay::filter`](girih_layout::Lay::filter). Modes of a
    /// dynamic stride that is 0 stay.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 2, 3) : (1, 0, 4)).filter(), layout!(12 : 1));
    /// ```
    filter try_filter Filter -> Filter<M>;

    /// The layout with extent 1 wherever the stride is 0, see [`Lay::filter_zeros`](girih_layout::Lay::filter_zeros). Modes of
    /// a dynamic stride that is 0 keep their extent.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 2, 3) : (1, 0, 4)).filter_zeros(), layout!((4, 1, 3) : (1, 0, 4)));
    /// ```
    filter_zeros try_filter_zeros FilterZeros -> FilterZeros<M>;

    /// The layout with each subtree coalesced by itself that is where `profile` has a leaf, see
    /// [`Lay::coalesce_by`](girih_layout::Lay::coalesce_by).
    ///
    /// ```
    /// use girih_typed::{int_tuple, layout};
    /// assert_eq!(layout!((2, (1, 6)) : (1, (6, 2))).coalesce_by(int_tuple!((1, 1))), layout!((2, 6) : (1, 2)));
    /// ```
    ///
    /// Here the message is `coalesce_by((2,6):(1,2), (1,1,1)): rank mismatch: the layout has rank 2, the other operand rank 3`:
    /// ```compile_fail
    /// # use girih_typed::{int_tuple, layout};
    /// layout!((2, 6) : (1, 2)).coalesce_by(int_tuple!((1, 1, 1)));
    /// ```
    coalesce_by try_coalesce_by CoalesceBy <P: IntTuple> (profile: P) [true, Operand::One(<P::Zeros as Modes>::SKELETON),
        Operand::One(profile.zeros().tree()?)] -> CoalesceBy<M, P>;

    /// This block repeated to fill a shape, with the copies in the order of the modes, leftmost first, see
    /// [`Lay::tile_to_shape`](girih_layout::Lay::tile_to_shape).
    ///
    /// ```
    /// use girih_typed::{int_tuple, layout};
    /// let tile = layout!((2, 2) : (1, 2)).tile_to_shape(int_tuple!((8, 8)));
    /// assert_eq!(tile, layout!(((2, 4), (2, 4)) : ((1, 4), (2, 16))));
    /// ```
    ///
    /// Here the message is `tile_to_shape((2,2):(1,2), <(8,7)>): 2 does not divide extent 7`:
    /// ```compile_fail
    /// # use girih_typed::{int_tuple, layout};
    /// layout!((2, 2) : (1, 2)).tile_to_shape(int_tuple!((8, 7)));
    /// ```
    tile_to_shape try_tile_to_shape TileToShape <Sh: IntTuple> (target: Sh) [<Sh::Zeros as Modes>::STATIC,
        Operand::skeleton(&[Some(<Sh::Zeros as Modes>::SKELETON)]), Operand::tiles(&[Some(target.zeros().tree()?)])?] -> TileToShape<M, Sh>;

    /// [`Layout::tile_to_shape`] with the copies in the order of the keys, one key for each mode of the target.
    ///
    /// ```
    /// use girih_typed::{int_tuple, layout};
    /// let tile = layout!((2, 2) : (1, 2)).tile_to_shape_by(int_tuple!((8, 8)), int_tuple!((1, 0)));
    /// assert_eq!(tile, layout!(((2, 4), (2, 4)) : ((1, 16), (2, 4))));
    /// ```
    tile_to_shape_by try_tile_to_shape_by TileToShapeBy <Sh: IntTuple, O: IntTuple> (target: Sh, order: O) [
        <Sh::Zeros as Modes>::STATIC && <O::Zeros as Modes>::STATIC,
        Operand::skeleton(&[Some(<Sh::Zeros as Modes>::SKELETON), Some(<O::Zeros as Modes>::SKELETON)]),
        Operand::tiles(&[Some(target.zeros().tree()?), Some(order.zeros().tree()?)])?] -> TileToShapeBy<M, Sh, O>;
}
