//! Divides into whole tiles and compositions that stay inside the layout: each of their coordinates is a coordinate of
//! the layout that they cut.

use girih_layout::{Error, Int, Message};

use super::check::{Check, check_static};
use super::edit::Joined;
use super::layout::Layout;
use super::modes::Modes;
use super::op::Op;
use super::operand::Operand;
use super::say::{call_as, layout};
use super::tiler::{ModeList, Tiler};
use super::tree::Tree;
use super::{Composition, ZippedDivide};

/// The type of [`Layout::splice`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Splice, layout};
/// type Tiled = ((Mode<S<4>, S<1>>, Mode<S<2>, S<8>>), Mode<S<2>, S<4>>);
/// let made: Layout<Splice<Tiled>> = layout!(((4, 2), 2) : ((1, 8), 4)).splice();
/// ```
pub type Splice<M> = <Joined<Inner<M>, Outer<M>> as ModeList>::AsTuple;

type Inner<M> = <<<M as Modes>::Each as ModeList>::Head as Modes>::Each;
type Outer<M> = <<M as Modes>::Each as ModeList>::Tail;

const WHOLE: &str = "whole_divide";

/// A tile size that does not divide what it should: the size, and the extent.
type Ragged = (Int, Int);

/// Looks for a tile of a divide that is not whole: a tile larger than its mode, or a tile whose size does not divide the
/// mode's.
const fn ragged(a: &Tree, t: &Operand) -> Result<Option<Ragged>, Error> {
    let all = tri!(a.shape.size());
    if let Operand::Tiles(tiles) = t {
        let (rank, other) = (a.rank(), tiles.len());
        if other > rank {
            return Err(Error::RankMismatch { op: WHOLE, rank, other });
        }
        let mut k = 0;
        while k < tiles.len() {
            if let Some(tile) = tri!(tiles.tile(k)) {
                let (tile, mode) = (tri!(tile.shape.size()), tri!(tri!(a.mode(k)).shape.size()));
                if !divides(tile, mode) {
                    return Ok(Some((tile, mode)));
                }
            }
            k += 1;
        }
    } else if let Operand::One(tile) = t {
        let tile = tri!(tile.shape.size());
        if !divides(tile, all) {
            return Ok(Some((tile, all)));
        }
    }
    // A tile with holes may reach past its mode even though its size divides the mode's.
    let tiled = tri!(tri!(tri!(a.lay()).zipped_divide(&tri!(t.tiler()))).size());
    Ok(if tiled.same(all) { None } else { Some((tiled, all)) })
}

const fn divides(divisor: Int, extent: Int) -> bool {
    matches!(divisor.get(), Some(n) if matches!(extent.is_divisible_by(n), Some(true)))
}

/// Refuses a right-hand side `b` of a composition that reaches past the left-hand side `a`.
const fn inside(a: &Tree, b: &Tree) -> Result<(), Error> {
    tri!(tri!(a.lay()).compose_in_bounds(&tri!(b.lay())));
    Ok(())
}

/// The message of `name(a, t)`; refuses to compile it unless the operands are static.
const fn judged(name: &str, op: Op, fixed: bool, a: &Tree, t: &Operand) -> Message {
    let mut line = call_as(name, op, a, t);
    line.text(": ");
    if !fixed {
        line.text("an operand is dynamic, which is judged when the program runs: call try_");
        line.text(name);
        line.stop();
    }
    line
}

const fn check_whole(fixed: bool, a: &Tree, t: &Operand) {
    let mut line = judged(WHOLE, Op::ZippedDivide, fixed, a, t);
    match ragged(a, t) {
        Ok(None) => return,
        Ok(Some((tile, extent))) if tile.coefficient() > extent.coefficient() => {
            line.text("the tile of ");
            line.number(tile.coefficient() as usize);
            line.text(" is larger than the extent ");
            line.number(extent.coefficient() as usize);
        }
        Ok(Some((tile, extent))) => {
            line.number(tile.coefficient() as usize);
            line.text(" does not divide extent ");
            line.number(extent.coefficient() as usize);
        }
        Err(error) => error.explain(&mut line),
    }
    line.stop()
}

const fn check_inside(fixed: bool, a: &Tree, b: &Tree) {
    let mut line = judged("compose_in_bounds", Op::Composition, fixed, a, &Operand::One(*b));
    if let Err(error) = inside(a, b) {
        error.explain(&mut line);
        line.stop()
    }
}

impl<M: Modes> Check<Layout<M>> {
    /// Does not compile where [`Layout::whole_divide`] does not.
    ///
    /// ```
    /// use girih_typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<8>, S<24>), (S<1>, S<8>)>>::whole_divide::<(S<4>, S<8>)>();
    /// ```
    pub const fn whole_divide<X: Tiler>() {
        check_whole(M::STATIC && X::STATIC, &M::SKELETON, &X::SKELETON);
        Check::<Layout<M>>::zipped_divide::<X>();
    }

    /// Does not compile where [`Layout::compose_in_bounds`] does not.
    ///
    /// ```
    /// use girih_typed::{Check, Lt, Mode, S};
    /// const _: () = Check::<Lt<(S<4>, S<8>), (S<1>, S<4>)>>::compose_in_bounds::<(Mode<S<8>, S<4>>, Mode<S<4>, S<1>>)>();
    /// ```
    pub const fn compose_in_bounds<B: Modes>() {
        check_inside(M::STATIC && B::STATIC, &M::SKELETON, &B::SKELETON);
        Check::<Layout<M>>::composition::<Layout<B>>();
    }

    /// Does not compile unless the indices are the numbers from 0 to below the size, each once, as those of threads are.
    ///
    /// ```
    /// use girih_typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<8>, S<4>), (S<4>, S<1>)>>::bijective();
    /// ```
    ///
    /// Here the message is `(2,2):(1,1) is no bijection onto the numbers below its size`:
    /// ```compile_fail
    /// # use girih_typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<2>, S<2>), (S<1>, S<1>)>>::bijective();
    /// ```
    pub const fn bijective() {
        check_static("a bijection", M::STATIC, &M::SKELETON);
        if !bijective(&M::SKELETON) {
            let mut line = Message::EMPTY;
            layout(&mut line, &M::SKELETON);
            line.text(" is no bijection onto the numbers below its size");
            line.stop()
        }
    }
}

const fn bijective(a: &Tree) -> bool {
    let Ok(lay) = a.lay() else { return false };
    let (Ok(inverse), Ok(all)) = (lay.right_inverse(), lay.size()) else { return false };
    matches!(inverse.size(), Ok(apart) if apart.same(all))
}

impl<M: Modes> Layout<M> {
    /// [`Layout::zipped_divide`] into whole tiles, `((TileM,TileN),(RestM,RestN))`: no tile reaches past the layout.
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let tiles = layout!((256, 64) : (64, 1)).whole_divide((int!(128), int!(32)));
    /// assert_eq!(tiles, layout!(((128, 32), (2, 2)) : ((64, 1), (8192, 32))));
    /// ```
    ///
    /// Operands that are not static, or that leave a rest, do not compile; here the message is
    /// `whole_divide((8,24):(1,8), <16:1,8:1>): the tile of 16 is larger than the extent 8`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((8, 24) : (1, 8)).whole_divide((int!(16), int!(8)));
    /// ```
    pub fn whole_divide<X: Tiler>(self, tiler: X) -> Layout<ZippedDivide<M, X>> {
        const { Check::<Layout<M>>::whole_divide::<X>() };
        self.zipped_divide(tiler)
    }

    /// [`Layout::whole_divide`], judged when the program runs: for operands with something dynamic.
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] for a tile that does not divide its mode; those of [`Layout::try_zipped_divide`].
    ///
    /// ```
    /// use girih_layout::Error;
    /// use girih_typed::{int, layout};
    /// let (m, ld): (usize, usize) = (24, 100);
    /// let matrix = layout!((m, 64) : (ld, 1));
    /// assert_eq!(matrix.try_whole_divide((int!(8), int!(32)))?.to_string(), "((8,32),(3,2)):((100,1),(800,32))");
    /// assert!(matches!(matrix.try_whole_divide((int!(16), int!(32))), Err(Error::ShapeDivisibility { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_whole_divide<X: Tiler>(self, tiler: X) -> Result<Layout<ZippedDivide<M, X>>, Error> {
        match ragged(&self.0.tree()?, &tiler.operand()?)? {
            None => self.try_zipped_divide(tiler),
            Some((tile, extent)) => {
                let (divisor, shape) = (tile.into(), extent.into());
                Err(Error::ShapeDivisibility { op: WHOLE, divisor, shape })
            }
        }
    }

    /// [`Layout::composition`] with indices that are coordinates of this layout, see [`Lay::compose_in_bounds`](girih_layout::Lay::compose_in_bounds).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let tv = layout!((4, 8) : (1, 4)).compose_in_bounds(layout!((8, 4) : (4, 1)));
    /// assert_eq!(tv, layout!((8, 4) : (4, 1)));
    /// ```
    ///
    /// Here the message is `compose_in_bounds((4,8):(1,4), (8,8):(8,1)): coordinate 63 is outside the extent 32`:
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// layout!((4, 8) : (1, 4)).compose_in_bounds(layout!((8, 8) : (8, 1)));
    /// ```
    pub fn compose_in_bounds<B: Modes>(self, right: Layout<B>) -> Layout<Composition<M, Layout<B>>> {
        const { Check::<Layout<M>>::compose_in_bounds::<B>() };
        self.composition(right)
    }

    /// [`Layout::compose_in_bounds`], judged when the program runs: for operands with something dynamic.
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] for an index that is no coordinate; those of [`Layout::try_composition`].
    ///
    /// ```
    /// use girih_layout::Error;
    /// use girih_typed::layout;
    /// let ld: usize = 100;
    /// let matrix = layout!((4, 8) : (ld, 1));
    /// assert_eq!(matrix.try_compose_in_bounds(layout!((8, 4) : (4, 1)))?.to_string(), "(8,4):(1,100)");
    /// assert!(matches!(matrix.try_compose_in_bounds(layout!((8, 8) : (8, 1))), Err(Error::CoordOutOfRange { coord: 63, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_compose_in_bounds<B: Modes>(
        self,
        right: Layout<B>,
    ) -> Result<Layout<Composition<M, Layout<B>>>, Error> {
        inside(&self.0.tree()?, &right.0.tree()?)?;
        self.try_composition(right)
    }

    /// The layout with the modes of mode 0 in the place of mode 0: `((TileM,TileN),RestM,RestN)` becomes
    /// `(TileM,TileN,RestM,RestN)`. Integers move and are not computed.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n: usize = 6;
    /// assert_eq!(layout!(((4, 2), n) : ((1, 8), 4)).splice(), layout!((4, 2, n) : (1, 8, 4)));
    /// ```
    pub fn splice(self) -> Layout<Splice<M>> {
        let (first, rest) = self.0.each().split();
        Layout(first.each().join(rest).tuple())
    }
}
