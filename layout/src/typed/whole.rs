//! Divides into whole tiles and compositions that stay inside the layout: each of their coordinates is a coordinate of
//! the layout that they cut.

use super::check::{Check, check_static};
use super::edit::Joined;
use super::layout::Layout;
use super::modes::Modes;
use super::op::Op;
use super::say::call_as;
use super::tiler::{ModeList, Tiler as Tiles};
use super::{Composition, ZippedDivide};
use crate::text::explain::{explain, layout};
use crate::text::message::Message;
use crate::{Error, Int, Lay, Tile, Tiler};

/// The type of [`Layout::splice`].
///
/// ```
/// use girih_layout::typed::{Layout, Mode, S, Splice};
/// use girih_layout::layout;
/// type Tiled = ((Mode<S<4>, S<1>>, Mode<S<2>, S<8>>), Mode<S<2>, S<4>>);
/// let made: Layout<Splice<Tiled>> = layout!(((4, 2), 2) : ((1, 8), 4)).splice();
/// ```
pub type Splice<M> = <Joined<Inner<M>, Outer<M>> as ModeList>::AsTuple;

type Inner<M> = <<<M as Modes>::Each as ModeList>::Head as Modes>::Each;
type Outer<M> = <<M as Modes>::Each as ModeList>::Tail;

/// Refuses tiles of a divide that are not whole: a tile larger than its mode, or a tile whose size does not divide the
/// mode's.
const fn whole(a: &Lay, t: &Tiler) -> Result<(), Error> {
    const OP: &str = "whole_divide";
    if let Tiler::Modes(tiles) = t {
        tri!(a.require_tiles(OP, a.root(), tiles, tiles.root()));
        let mut mode = 0;
        while mode < tiles.len() {
            if let Tile::Lay(tile) = tri!(tiles.tile(mode)) {
                tri!(divides(OP, tri!(tile.size()), tri!(a.shape.size_of(tri!(a.node(mode))))));
            }
            mode += 1;
        }
    } else if let Tiler::Lay(tile) = t {
        tri!(divides(OP, tri!(tile.size()), tri!(a.size())));
    }
    // A tile with holes may reach past its mode even though its size divides the mode's.
    let (tiled, all) = (tri!(tri!(a.zipped_divide(t)).size()), tri!(a.size()));
    if tiled.same(all) {
        Ok(())
    } else {
        Err(Error::ShapeDivisibility { op: OP, divisor: tiled.quoted(), shape: all.quoted() })
    }
}

const fn divides(op: &'static str, divisor: Int, shape: Int) -> Result<(), Error> {
    match divisor.get() {
        Some(n) if matches!(shape.is_divisible_by(n), Some(true)) => Ok(()),
        _ => Err(Error::ShapeDivisibility { op, divisor: divisor.quoted(), shape: shape.quoted() }),
    }
}

/// Refuses a right-hand side `b` of a composition that reaches past the left-hand side `a`.
const fn inside(a: &Lay, b: &Lay) -> Result<(), Error> {
    match a.compose_in_bounds(b) {
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses to compile `name(a, t)` unless the operands are static and the verdict is good.
const fn judge(name: &str, op: Op, fixed: bool, a: &Lay, t: &Tiler, verdict: Result<(), Error>) {
    let mut line = call_as(name, op, a, t);
    line.text(": ");
    if !fixed {
        line.text("an operand is dynamic, which is judged when the program runs: call try_");
        line.text(name);
        line.stop();
    }
    let Err(error) = verdict else { return };
    match error {
        Error::ShapeDivisibility { divisor, shape, .. } if divisor.scale().coef > shape.scale().coef => {
            line.text("the tile of ");
            line.number(divisor.scale().coef as usize);
            line.text(" is larger than the extent ");
            line.number(shape.scale().coef as usize);
        }
        _ => explain(&mut line, &error),
    }
    line.stop()
}

impl<M: Modes> Check<Layout<M>> {
    /// Does not compile where [`Layout::whole_divide`] does not.
    ///
    /// ```
    /// use girih_layout::typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<8>, S<24>), (S<1>, S<8>)>>::whole_divide::<(S<4>, S<8>)>();
    /// ```
    pub const fn whole_divide<X: Tiles>() {
        let fixed = M::STATIC && X::STATIC;
        judge(
            "whole_divide",
            Op::ZippedDivide,
            fixed,
            &M::SKELETON,
            &X::SKELETON,
            whole(&M::SKELETON, &X::SKELETON),
        );
        Check::<Layout<M>>::zipped_divide::<X>();
    }

    /// Does not compile where [`Layout::compose_in_bounds`] does not.
    ///
    /// ```
    /// use girih_layout::typed::{Check, Lt, Mode, S};
    /// const _: () = Check::<Lt<(S<4>, S<8>), (S<1>, S<4>)>>::compose_in_bounds::<(Mode<S<8>, S<4>>, Mode<S<4>, S<1>>)>();
    /// ```
    pub const fn compose_in_bounds<B: Modes>() {
        let (fixed, verdict) = (M::STATIC && B::STATIC, inside(&M::SKELETON, &B::SKELETON));
        judge("compose_in_bounds", Op::Composition, fixed, &M::SKELETON, &Tiler::Lay(B::SKELETON), verdict);
        Check::<Layout<M>>::composition::<Layout<B>>();
    }

    /// Does not compile unless the indices are the numbers from 0 to below the size, each once, as those of threads are.
    ///
    /// ```
    /// use girih_layout::typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<8>, S<4>), (S<4>, S<1>)>>::bijective();
    /// ```
    ///
    /// Here the message is `(2,2):(1,1) is no bijection onto the numbers below its size`:
    /// ```compile_fail
    /// # use girih_layout::typed::{Check, Lt, S};
    /// const _: () = Check::<Lt<(S<2>, S<2>), (S<1>, S<1>)>>::bijective();
    /// ```
    pub const fn bijective() {
        check_static("a bijection", M::STATIC, &M::SKELETON);
        let (Ok(inverse), Ok(all)) = (M::SKELETON.right_inverse(), M::SKELETON.size()) else {
            return no_bijection(&M::SKELETON);
        };
        match inverse.size() {
            Ok(apart) if apart.same(all) => {}
            _ => no_bijection(&M::SKELETON),
        }
    }
}

const fn no_bijection(a: &Lay) {
    let mut line = Message::EMPTY;
    layout(&mut line, a);
    line.text(" is no bijection onto the numbers below its size");
    line.stop()
}

impl<M: Modes> Layout<M> {
    /// [`Layout::zipped_divide`] into whole tiles, `((TileM,TileN),(RestM,RestN))`: no tile reaches past the layout.
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// let tiles = layout!((256, 64) : (64, 1)).whole_divide((int!(128), int!(32)));
    /// assert_eq!(tiles, layout!(((128, 32), (2, 2)) : ((64, 1), (8192, 32))));
    /// ```
    ///
    /// Operands that are not static, or that leave a rest, do not compile; here the message is
    /// `whole_divide((8,24):(1,8), <16:1,8:1>): the tile of 16 is larger than the extent 8`:
    /// ```compile_fail
    /// # use girih_layout::{int, layout};
    /// layout!((8, 24) : (1, 8)).whole_divide((int!(16), int!(8)));
    /// ```
    pub fn whole_divide<X: Tiles>(self, tiler: X) -> Layout<ZippedDivide<M, X>> {
        const { Check::<Layout<M>>::whole_divide::<X>() };
        self.zipped_divide(tiler)
    }

    /// [`Layout::whole_divide`], judged when the program runs: for operands with something dynamic.
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] for a tile that does not divide its mode; those of [`Layout::try_zipped_divide`].
    ///
    /// ```
    /// use girih_layout::{Error, int, layout};
    /// let (m, ld): (usize, usize) = (24, 100);
    /// let matrix = layout!((m, 64) : (ld, 1));
    /// assert_eq!(matrix.try_whole_divide((int!(8), int!(32)))?.to_string(), "((8,32),(3,2)):((100,1),(800,32))");
    /// assert!(matches!(matrix.try_whole_divide((int!(16), int!(32))), Err(Error::ShapeDivisibility { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_whole_divide<X: Tiles>(self, tiler: X) -> Result<Layout<ZippedDivide<M, X>>, Error> {
        whole(&self.erase()?, &tiler.erase()?)?;
        self.try_zipped_divide(tiler)
    }

    /// [`Layout::composition`] with indices that are coordinates of this layout, see [`Lay::compose_in_bounds`].
    ///
    /// ```
    /// use girih_layout::layout;
    /// let tv = layout!((4, 8) : (1, 4)).compose_in_bounds(layout!((8, 4) : (4, 1)));
    /// assert_eq!(tv, layout!((8, 4) : (4, 1)));
    /// ```
    ///
    /// Here the message is `compose_in_bounds((4,8):(1,4), (8,8):(8,1)): coordinate 63 is outside the extent 32`:
    /// ```compile_fail
    /// # use girih_layout::layout;
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
    /// use girih_layout::{Error, layout};
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
        inside(&self.erase()?, &right.erase()?)?;
        self.try_composition(right)
    }

    /// The layout with the modes of mode 0 in the place of mode 0: `((TileM,TileN),RestM,RestN)` becomes
    /// `(TileM,TileN,RestM,RestN)`. Integers move and are not computed.
    ///
    /// ```
    /// use girih_layout::layout;
    /// let n: usize = 6;
    /// assert_eq!(layout!(((4, 2), n) : ((1, 8), 4)).splice(), layout!((4, 2, n) : (1, 8, 4)));
    /// ```
    pub fn splice(self) -> Layout<Splice<M>> {
        let (first, rest) = self.0.each().split();
        Layout(first.each().join(rest).tuple())
    }
}
