//! Int tuples as numbers: sums, products, divisions leaf by leaf and mode by mode (CuTe's `int_tuple.hpp`).

use crate::leaf::symbol::gcd;
use crate::tuple::profile::Node;
use crate::{Error, Int, IntTuple, Profile, Strides, Sum};

impl IntTuple {
    /// The sum of the leaves.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert_eq!(IntTuple::parse("(2,(s0,4))")?.sum()?.to_string(), "s0 + 6");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sum::add`].
    pub const fn sum(&self) -> Result<Sum, Error> {
        let (mut sum, mut i) = (Sum::ZERO, 0);
        while i < self.leaf_count() {
            tri!(sum.push(self.at_leaf(i)));
            i += 1;
        }
        Ok(sum)
    }

    /// The sum of the products of the leaves that are in the same places: an index from a coordinate and strides.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// let (coord, stride) = (IntTuple::parse("(1,(2,3))")?, IntTuple::parse("(s0,(1,100))")?);
    /// assert_eq!(coord.inner_product(&stride)?.to_string(), "s0 + 302");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`], and those of [`Sum::add`] and [`Int::mul`].
    pub const fn inner_product(&self, other: &IntTuple) -> Result<Sum, Error> {
        if let Some(leaf) = self.profile.differs_at(&other.profile) {
            return Err(Error::NotCongruent { op: "inner_product", leaf });
        }
        let (mut sum, mut i) = (Sum::ZERO, 0);
        while i < self.leaf_count() {
            tri!(sum.push(tri!(self.at_leaf(i).mul(other.at_leaf(i)))));
            i += 1;
        }
        // The two operands may have different facts about a symbol.
        sum.settled()
    }

    /// Each leaf times the product of the leaves that are in its place in the other tree (CuTe's `elem_scale`).
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// let scaled = IntTuple::parse("(2,3)")?.elem_scale(&IntTuple::parse("(5,(2,4))")?)?;
    /// assert_eq!(scaled, IntTuple::parse("(10,24)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless the other tree refines this one, and those of [`Int::mul`].
    pub const fn elem_scale(&self, by: &IntTuple) -> Result<IntTuple, Error> {
        let mut out = tri!(by.product_like(&self.profile));
        let mut i = 0;
        while i < out.leaf_count() {
            tri!(out.set(i, tri!(out.at_leaf(i).mul(self.at_leaf(i)))));
            i += 1;
        }
        Ok(out)
    }

    /// A tree like `profile`, whose leaves are the products of the leaves that are in their places in this tree
    /// (CuTe's `product_like`).
    ///
    /// ```
    /// use girih_layout::{IntTuple, Shape};
    /// let shape = Shape::parse("((2,3),(4,(5,6)))")?;
    /// assert_eq!(shape.product_like(Shape::parse("(1,(1,1))")?.profile())?, IntTuple::parse("(6,(4,30))")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless this tree refines the profile, and those of [`Int::mul`].
    pub const fn product_like(&self, profile: &Profile) -> Result<IntTuple, Error> {
        let mut out = IntTuple::repeat(Int::ONE, profile);
        tri!(self.product_into(self.profile.root(), profile.root(), &mut out));
        Ok(out)
    }

    const fn product_into(&self, n: Node, p: Node, out: &mut IntTuple) -> Result<(), Error> {
        if p.is_leaf() {
            tri!(out.set(p.begin, tri!(self.size_of(n))));
            return Ok(());
        }
        if n.is_leaf() || self.profile.rank_of(n) != out.profile.rank_of(p) {
            return Err(Error::NotCongruent { op: "product_like", leaf: n.begin });
        }
        let (mut i, mut j) = (n.begin, p.begin);
        while i < n.end {
            let (cn, cp) = (self.profile.child(n, i), out.profile.child(p, j));
            tri!(self.product_into(cn, cp, out));
            (i, j) = (cn.end, cp.end);
        }
        Ok(())
    }

    /// The greatest leaf.
    ///
    /// ```
    /// use girih_layout::{Int, IntTuple};
    /// assert_eq!(IntTuple::parse("(2,(7,4))")?.max()?, Int::fixed(7));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] where a symbol decides.
    pub const fn max(&self) -> Result<Int, Error> {
        self.extreme(true)
    }

    /// The least leaf.
    ///
    /// ```
    /// use girih_layout::{Int, IntTuple};
    /// assert_eq!(IntTuple::parse("(2,(7,4))")?.min()?, Int::fixed(2));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] where a symbol decides.
    pub const fn min(&self) -> Result<Int, Error> {
        self.extreme(false)
    }

    const fn extreme(&self, greatest: bool) -> Result<Int, Error> {
        let (mut out, mut i) = (self.at_leaf(0), 1);
        while i < self.leaf_count() {
            let leaf = self.at_leaf(i);
            let better = match if greatest { out.less(leaf) } else { leaf.less(out) } {
                Some(better) => better,
                None if out.same(leaf) => false,
                None => {
                    let value = if out.is_symbolic() { out } else { leaf };
                    return Err(Error::NotKnown { op: "an extreme leaf", value: value.quoted() });
                }
            };
            if better {
                out = leaf;
            }
            i += 1;
        }
        Ok(out)
    }

    /// The greatest common divisor of the leaves.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert_eq!(IntTuple::parse("(12,(18,30))")?.gcd()?, 6);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols.
    pub const fn gcd(&self) -> Result<i64, Error> {
        let (mut out, mut i) = (0, 0);
        while i < self.leaf_count() {
            let Some(leaf) = self.at_leaf(i).get() else {
                return Err(Error::NotKnown { op: "gcd", value: self.at_leaf(i).quoted() });
            };
            out = gcd(out, leaf);
            i += 1;
        }
        Ok(out)
    }

    /// The shape with extent 1 wherever the stride is 0 (CuTe's `filter_zeros` of strides and shape).
    ///
    /// ```
    /// use girih_layout::{Shape, Strides};
    /// let shape = Shape::parse("(4,(2,3))")?.filter_zeros(&Strides::parse("(1,(0,4))")?)?;
    /// assert_eq!(shape, Shape::parse("(4,(1,3))")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`].
    pub const fn filter_zeros(&self, stride: &Strides) -> Result<IntTuple, Error> {
        if let Some(leaf) = self.profile.differs_at(&stride.profile) {
            return Err(Error::NotCongruent { op: "filter_zeros", leaf });
        }
        let (mut out, mut i) = (*self, 0);
        while i < out.leaf_count() {
            if stride.at_leaf(i).is_zero() {
                tri!(out.set(i, Int::ONE));
            }
            i += 1;
        }
        Ok(out)
    }
}
