//! Shapes: sizes, divisions and the relations between them (CuTe's `int_tuple.hpp`).

use crate::arith::ask;
use crate::tuple::profile::Node;
use crate::{Error, Int, IntTuple, Shape};

impl IntTuple {
    /// The product of the leaves: of a shape, its size.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(s0,(2,3))")?.size()?.to_string(), "6*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a product of more than three symbolic factors.
    pub const fn size(&self) -> Result<Int, Error> {
        self.size_of(self.profile.root())
    }

    pub(crate) const fn size_of(&self, node: Node) -> Result<Int, Error> {
        self.product_of(node)
    }

    /// [`IntTuple::size`] of a subtree. With `F = 0` the tree must have no symbols.
    pub(crate) const fn product_of<const F: usize>(&self, node: Node) -> Result<Int<F>, Error> {
        let (mut product, mut i) = (Int::number(1, true), node.begin);
        while i < node.end {
            product = tri!(product.mul(self.leaves.int(i, &self.symbols)));
            i += 1;
        }
        Ok(product)
    }

    /// The same integers with more facts about a symbol, see [`Int::assume`].
    ///
    /// ```
    /// use girih_layout::{Shape, Symbol};
    /// let shape = Shape::parse("(s0,8)")?.assume(Symbol::new(0).divisible_by(4))?;
    /// assert_eq!(shape.shape_div(&Shape::parse("4")?)?.to_string(), "(ceil(s0/4),8)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::assume`].
    pub const fn assume(&self, symbol: crate::Symbol) -> Result<IntTuple, Error> {
        let (mut out, mut i) = (*self, 0);
        while i < self.leaf_count() {
            tri!(out.set(i, tri!(self.at_leaf(i).assume(symbol))));
            i += 1;
        }
        Ok(out)
    }

    /// The integers at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Shape, Symbol};
    /// assert_eq!(Shape::parse("(s0,8)")?.bind(Symbol::new(0), 5)?, Shape::parse("(5,8)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::bind`].
    pub const fn bind(&self, symbol: crate::Symbol, value: i64) -> Result<IntTuple, Error> {
        let (mut out, mut i) = (IntTuple::zeros(self.profile), 0);
        while i < self.leaf_count() {
            tri!(out.set(i, tri!(self.at_leaf(i).bind(symbol, value))));
            i += 1;
        }
        Ok(out)
    }

    /// The tree, if every known leaf is at least 1.
    pub(crate) const fn checked(&self) -> Result<IntTuple, Error> {
        let mut i = 0;
        while i < self.leaf_count() {
            if let Some(extent) = self.at_leaf(i).get()
                && extent < 1
            {
                return Err(Error::NonPositiveShape { leaf: i, extent });
            }
            i += 1;
        }
        Ok(*self)
    }

    /// Whether both have the same tree (CuTe's `congruent`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(4,(2,3))")?.congruent(&Shape::parse("(1,(6,7))")?));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn congruent(&self, other: &IntTuple) -> bool {
        self.profile.congruent(&other.profile)
    }

    /// Whether the other tree refines this one: where this tree has a leaf, the other may have any subtree (CuTe's
    /// `weakly_congruent`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(4,6)")?.weakly_congruent(&Shape::parse("(4,(2,3))")?));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn weakly_congruent(&self, other: &IntTuple) -> bool {
        matches!(refines(self, self.profile.root(), other, other.profile.root(), Leaf::Any), Ok(true))
    }

    /// A tree like `finer`, each leaf of which is the leaf of this tree that is in the place of its subtree.
    pub(crate) const fn spread_over(&self, finer: &IntTuple) -> IntTuple {
        let mut out = *finer;
        spread(self, self.profile.root(), &mut out, finer.profile.root());
        out
    }

    /// Whether every coordinate of this shape is a coordinate of the other one: the other tree refines this one, and
    /// each leaf of this tree has the size of the subtree in its place (CuTe's `compatible`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let (a, b) = (Shape::parse("(4,6)")?, Shape::parse("((2,2),6)")?);
    /// assert!(a.compatible(&b)? && !b.compatible(&a)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] where a symbol decides, and those of [`IntTuple::size`].
    pub const fn compatible(&self, other: &IntTuple) -> Result<bool, Error> {
        refines(self, self.profile.root(), other, other.profile.root(), Leaf::Size)
    }

    /// Whether each leaf of the tile divides the size of the subtree in its place in this shape: then tiles fill this
    /// shape without a rest (CuTe's `evenly_divides`). The tile may have fewer modes.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(8,(2,6))")?.evenly_divides(&Shape::parse("(4,3)")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides, and those of [`IntTuple::size`].
    pub const fn evenly_divides(&self, tile: &IntTuple) -> Result<bool, Error> {
        divides(self, self.profile.root(), tile, tile.profile.root())
    }

    /// The size of each mode, as a flat tuple; a leaf stays a leaf (CuTe's `product_each`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.product_each()?, Shape::parse("(4,6)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::size`].
    pub const fn product_each(&self) -> Result<IntTuple, Error> {
        if self.is_leaf() {
            return Ok(*self);
        }
        let root = self.profile.root();
        let mut out = IntTuple::EMPTY;
        tri!(out.profile.open());
        let mut at = 0;
        while at < root.end {
            let child = self.profile.child(root, at);
            tri!(out.push(tri!(self.size_of(child))));
            at = child.end;
        }
        out.profile.close();
        Ok(out)
    }
}

/// The requirement of a leaf on the subtree in its place.
#[derive(Clone, Copy)]
enum Leaf {
    Any,
    Size,
}

const fn spread(a: &IntTuple, na: Node, out: &mut IntTuple, n: Node) {
    let (mut i, mut j) = (na.begin, n.begin);
    if na.is_leaf() {
        while j < n.end {
            let _fits = out.set(j, a.at_leaf(na.begin)); // the symbols of `a`
            j += 1;
        }
        return;
    }
    while i < na.end && j < n.end {
        let (ca, cb) = (a.profile.child(na, i), out.profile.child(n, j));
        spread(a, ca, out, cb);
        (i, j) = (ca.end, cb.end);
    }
}

const fn refines(a: &Shape, na: Node, b: &Shape, nb: Node, leaf: Leaf) -> Result<bool, Error> {
    if na.is_leaf() {
        let extent = a.at_leaf(na.begin);
        return match leaf {
            Leaf::Any => Ok(true),
            Leaf::Size => match ask::equal(extent, tri!(b.size_of(nb))) {
                Some(same) => Ok(same),
                None if extent.is_symbolic() => {
                    Err(Error::NotKnown { op: "compatible", value: extent.quoted() })
                }
                None => Err(Error::NotKnown { op: "compatible", value: tri!(b.size_of(nb)).quoted() }),
            },
        };
    }
    if nb.is_leaf() || a.profile.rank_of(na) != b.profile.rank_of(nb) {
        return Ok(false);
    }
    let (mut open, mut i, mut j) = (Ok(true), na.begin, nb.begin);
    while i < na.end {
        let (ca, cb) = (a.profile.child(na, i), b.profile.child(nb, j));
        match refines(a, ca, b, cb, leaf) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // A later mode may still settle the question.
            Err(error) => open = Err(error),
        }
        (i, j) = (ca.end, cb.end);
    }
    open
}

const fn divides(a: &Shape, na: Node, tile: &Shape, nt: Node) -> Result<bool, Error> {
    const OP: &str = "evenly_divides";
    if nt.is_leaf() {
        let (size, by) = (tri!(a.size_of(na)), tile.at_leaf(nt.begin));
        return match (size.get(), by.get()) {
            (_, Some(..1)) => Ok(false),
            (Some(size), Some(by)) => Ok(size % by == 0),
            _ if !matches!(by.lower(), Some(1..)) => Err(ask::at_least(OP, by, 1)),
            _ if size.div_exact(by).is_some() => Ok(true),
            // A tile that is larger than the size in its place does not divide that size.
            _ if matches!(size.less(by), Some(true)) && matches!(size.lower(), Some(1..)) => Ok(false),
            (None, Some(by)) => Err(ask::divisible(OP, size, by)),
            (_, None) => Err(Error::NotKnown { op: OP, value: by.quoted() }),
        };
    }
    // A leaf is its own mode 0.
    if a.profile.rank_of(na) < tile.profile.rank_of(nt) {
        return Ok(false);
    }
    let (mut open, mut i, mut j) = (Ok(true), na.begin, nt.begin);
    while j < nt.end {
        let (ca, ct) = (a.profile.child(na, i), tile.profile.child(nt, j));
        match divides(a, ca, tile, ct) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            // A later mode may still settle the question.
            Err(error) => open = Err(error),
        }
        (i, j) = (ca.end, ct.end);
    }
    open
}
