//! Shapes: sizes, divisions and the relations between them (CuTe's `int_tuple.hpp`).

use crate::profile::Node;
use crate::{Error, Fact, Int, IntTuple, Shape, Tuple};

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
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a product of more than two symbols.
    pub const fn size(&self) -> Result<Int, Error> {
        self.size_of(self.profile.root())
    }

    pub(crate) const fn size_of(&self, node: Node) -> Result<Int, Error> {
        let (mut product, mut i) = (Int::ONE, node.begin);
        while i < node.end {
            product = tri!(product.mul(self.leaves[i]));
            i += 1;
        }
        Ok(product)
    }

    /// The same integers with what else is known of a symbol, see [`Int::assume`].
    ///
    /// ```
    /// use girih_layout::{Int, Shape, Symbol};
    /// let shape = Shape::parse("(s0,8)")?.assume(Symbol::new(0).divisible_by(4))?;
    /// assert_eq!(shape.shape_div(Int::fixed(4))?.to_string(), "(ceil(s0/4),8)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::assume`].
    pub const fn assume(&self, symbol: crate::Symbol) -> Result<IntTuple, Error> {
        let (mut out, mut i) = (*self, 0);
        while i < self.leaf_count() {
            out.leaves[i] = tri!(self.leaves[i].assume(symbol));
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
        let (mut out, mut i) = (*self, 0);
        while i < self.leaf_count() {
            out.leaves[i] = tri!(self.leaves[i].bind(symbol, value));
            i += 1;
        }
        Ok(out)
    }

    /// The tree, if every known leaf is at least 1.
    pub(crate) const fn checked(&self) -> Result<IntTuple, Error> {
        let mut i = 0;
        while i < self.leaf_count() {
            if let Some(extent) = self.leaves[i].get()
                && extent < 1
            {
                return Err(Error::NonPositiveShape { leaf: i, extent });
            }
            i += 1;
        }
        Ok(*self)
    }

    /// Whether the trees agree (CuTe's `congruent`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(4,(2,3))")?.congruent(&Shape::parse("(1,(6,7))")?));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn congruent(&self, other: &IntTuple) -> bool {
        self.profile.congruent(&other.profile)
    }

    /// Whether the other tree refines this one: where this one has a leaf, the other may have anything (CuTe's `weakly_congruent`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(4,6)")?.weakly_congruent(&Shape::parse("(4,(2,3))")?));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn weakly_congruent(&self, other: &IntTuple) -> bool {
        refines(self, self.profile.root(), other, other.profile.root(), Leaf::Any)
    }

    /// Whether every coordinate of this shape is a coordinate of the other one: the other tree refines this one, and each leaf here has the
    /// size of the subtree there (CuTe's `compatible`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let (a, b) = (Shape::parse("(4,6)")?, Shape::parse("((2,2),6)")?);
    /// assert!(a.compatible(&b) && !b.compatible(&a));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn compatible(&self, other: &IntTuple) -> bool {
        refines(self, self.profile.root(), other, other.profile.root(), Leaf::Size)
    }

    /// Whether each leaf of the tile divides the size of what it meets here: the tile fills this shape without a rest (CuTe's
    /// `evenly_divides`). The tile may have fewer modes.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("(8,(2,6))")?.evenly_divides(&Shape::parse("(4,3)")?));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn evenly_divides(&self, tile: &IntTuple) -> bool {
        divides(self, self.profile.root(), tile, tile.profile.root())
    }

    /// Divides leaf by leaf, from the left, until the divisor is used up (CuTe's `shape_div` of a tuple by an integer).
    ///
    /// ```
    /// use girih_layout::{Int, Shape};
    /// assert_eq!(Shape::parse("(6,4)")?.shape_div(Int::fixed(12))?, Shape::parse("(1,2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] where neither divides the other; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides.
    pub const fn shape_div(&self, divisor: Int) -> Result<IntTuple, Error> {
        let mut out = *self;
        let (mut rest, mut i) = (divisor, 0);
        while i < self.leaf_count() {
            let leaf = self.leaves[i];
            if let Some(quotient) = leaf.div_exact(rest) {
                out.leaves[i] = quotient;
                rest = Int::ONE;
            } else if let Some(left) = rest.div_exact(leaf) {
                out.leaves[i] = Int::ONE;
                rest = left;
            } else if let (Some(symbol), Some(n)) = (leaf.first_symbol(), rest.get()) {
                return Err(Error::NeedsFact { op: "shape_div", symbol, fact: Fact::DivisibleBy(n) });
            } else if leaf.is_symbolic() || rest.is_symbolic() {
                return Err(Error::NotKnown { op: "shape_div", value: rest });
            } else {
                return Err(Error::ShapeDivisibility { op: "shape_div", divisor: rest, shape: leaf });
            }
            i += 1;
        }
        Ok(out)
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
        let mut out = Tuple::filled(Int::ONE);
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

/// What a leaf asks of the subtree that it meets.
#[derive(Clone, Copy)]
enum Leaf {
    Any,
    Size,
}

const fn refines(a: &Shape, na: Node, b: &Shape, nb: Node, leaf: Leaf) -> bool {
    if na.is_leaf() {
        return match leaf {
            Leaf::Any => true,
            Leaf::Size => match b.size_of(nb) {
                Ok(size) => size.same(a.leaves[na.begin]),
                Err(_) => false,
            },
        };
    }
    if nb.is_leaf() || a.profile.rank_of(na) != b.profile.rank_of(nb) {
        return false;
    }
    let (mut i, mut j) = (na.begin, nb.begin);
    while i < na.end {
        let (ca, cb) = (a.profile.child(na, i), b.profile.child(nb, j));
        if !refines(a, ca, b, cb, leaf) {
            return false;
        }
        (i, j) = (ca.end, cb.end);
    }
    true
}

const fn divides(a: &Shape, na: Node, tile: &Shape, nt: Node) -> bool {
    if nt.is_leaf() {
        return match a.size_of(na) {
            Ok(size) => size.div_exact(tile.leaves[nt.begin]).is_some(),
            Err(_) => false,
        };
    }
    // A leaf is its own mode 0.
    if a.profile.rank_of(na) < tile.profile.rank_of(nt) {
        return false;
    }
    let (mut i, mut j) = (na.begin, nt.begin);
    while j < nt.end {
        let (ca, ct) = (a.profile.child(na, i), tile.profile.child(nt, j));
        if !divides(a, ca, tile, ct) {
            return false;
        }
        (i, j) = (ca.end, ct.end);
    }
    true
}
