//! Layouts made from shapes, and from layouts side by side.

use crate::tuple::profile::Node;
use crate::{Error, Int, IntTuple, Lay, MAX_LEAVES, ModePath, Shape, Stride};

impl Lay {
    /// The compact layout of a shape, leftmost mode fastest (column-major): CuTe's `LayoutLeft`. A leaf of extent 1 has
    /// stride 0.
    ///
    /// ```
    /// use girih_layout::{Lay, Shape};
    /// assert_eq!(Lay::left(&Shape::parse("(4,(2,3))")?)?.to_string(), "(4,(2,3)):(1,(4,8))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`], [`Error::Overflow`], or [`Error::Unsupported`] for strides of more than three
    /// symbolic factors.
    pub const fn left(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut i) = (Int::ONE, 0);
        while i < shape.leaf_count() {
            tri!(out.set_step(i, compact(shape.at_leaf(i), step)));
            i += 1;
            if i < shape.leaf_count() {
                step = tri!(step.mul(shape.at_leaf(i - 1)));
            }
        }
        Ok(out)
    }

    /// The compact layout of a shape, rightmost mode fastest (row-major): CuTe's `LayoutRight`.
    ///
    /// ```
    /// use girih_layout::{Lay, Shape, lay};
    /// assert_eq!(Lay::right(&Shape::parse("(4,(2,3))")?)?, lay!("(4,(2,3)):(6,(3,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::left`].
    pub const fn right(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut i) = (Int::ONE, shape.leaf_count());
        while i > 0 {
            i -= 1;
            tri!(out.set_step(i, compact(shape.at_leaf(i), step)));
            if i > 0 {
                step = tri!(step.mul(shape.at_leaf(i)));
            }
        }
        Ok(out)
    }

    /// The layout that sends each coordinate to itself: each leaf steps along the basis vector of its place (CuTe's
    /// `make_identity_layout`). If the shape is a leaf, the coordinates have one mode.
    ///
    /// ```
    /// use girih_layout::{Lay, Shape, lay};
    /// let identity = Lay::identity(&Shape::parse("(4,(2,3))")?)?;
    /// assert_eq!(identity, lay!("(4,(2,3)):(E<0>,(E<1,0>,E<1,1>))"));
    /// assert_eq!(identity.to_string(), "(4,(2,3)):(1@0,(1@0@1,1@1@1))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`], and [`Error::ModePath`] for leaves deeper than [`ModePath::MAX_DEPTH`].
    pub const fn identity(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        tri!(out.step_to_itself(out.root(), ModePath::ROOT));
        Ok(out)
    }

    /// Gives the leaves of `node`, a tuple that is at `path`, the basis vectors of their places.
    const fn step_to_itself(&mut self, node: Node, path: ModePath) -> Result<(), Error> {
        let (mut at, mut mode) = (node.begin, 0);
        while at < node.end {
            let (child, path) = (self.shape.profile.child(node, at), tri!(path.then(mode)));
            if child.is_leaf() {
                tri!(self.set_step(at, Stride::Basis { scale: Int::ONE, mode: path }));
            } else {
                tri!(self.step_to_itself(child, path));
            }
            at = child.end;
            mode += 1;
        }
        Ok(())
    }

    /// The compact layout of a shape in the order of the keys: the mode with the smallest key is fastest (CuTe's
    /// `make_ordered_layout`). Equal keys keep their order from left to right; a key stands for a leaf or for a whole
    /// mode, whose leaves then follow one another from the left.
    ///
    /// ```
    /// use girih_layout::{IntTuple, Lay, Shape, lay};
    /// let (shape, order) = (Shape::parse("(4,2,3)")?, IntTuple::parse("(1,0,2)")?);
    /// assert_eq!(Lay::ordered(&shape, &order)?, lay!("(4,2,3):(2,1,8)"));
    /// let (shape, order) = (Shape::parse("((2,4),3)")?, IntTuple::parse("(1,0)")?);
    /// assert_eq!(Lay::ordered(&shape, &order)?, lay!("((2,4),3):((3,6),1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless the shape refines the order, [`Error::NotKnown`] for a symbolic key, and those of [`Lay::left`].
    pub const fn ordered(shape: &Shape, order: &IntTuple) -> Result<Lay, Error> {
        if !order.weakly_congruent(shape) {
            let leaf = match shape.profile.differs_at(&order.profile) {
                Some(leaf) => leaf,
                None => 0,
            };
            return Err(Error::NotCongruent { op: "an ordered layout", leaf });
        }
        let order = &order.spread_over(shape);
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut done, mut placed) = (Int::ONE, [false; MAX_LEAVES], 0);
        while placed < shape.leaf_count() {
            let (mut best, mut best_key, mut i) = (MAX_LEAVES, 0, 0);
            while i < shape.leaf_count() {
                let Some(key) = order.at_leaf(i).get() else {
                    return Err(Error::NotKnown {
                        op: "an ordered layout",
                        value: order.at_leaf(i).quoted(),
                    });
                };
                if !done[i] && (best == MAX_LEAVES || key < best_key) {
                    (best, best_key) = (i, key);
                }
                i += 1;
            }
            done[best] = true;
            tri!(out.set_step(best, compact(shape.at_leaf(best), step)));
            placed += 1;
            if placed < shape.leaf_count() {
                step = tri!(step.mul(shape.at_leaf(best)));
            }
        }
        Ok(out)
    }

    /// Layouts side by side, each a mode: CuTe's `make_layout(a, b, ...)`.
    ///
    /// ```
    /// use girih_layout::{Lay, lay};
    /// assert_eq!(Lay::concat(&[lay!("4:1"), lay!("(2,3):(4,8)")])?, lay!("(4,(2,3)):(1,(4,8))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`], or [`Error::Unsupported`] for no layouts.
    pub const fn concat(layouts: &[Lay]) -> Result<Lay, Error> {
        if layouts.is_empty() {
            return Err(Error::Unsupported { op: "a layout of layouts", what: "no modes" });
        }
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = 0;
        while i < layouts.len() {
            tri!(out.copy(&layouts[i], layouts[i].root()));
            i += 1;
        }
        out.close();
        Ok(out)
    }
}

/// The stride of a leaf in a compact layout: 0 for an extent of 1.
pub(crate) const fn compact(extent: Int, step: Int) -> Stride {
    if extent.is(1) { Stride::ZERO } else { Stride::Int(step) }
}
