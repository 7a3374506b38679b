//! Orders of int tuples (CuTe's `lex_less`, `colex_less`, `elem_less` and their relatives).

use crate::tuple::profile::Node;
use crate::{Coord, Crd, Error, Fact, Int, IntTuple, Shape};

impl IntTuple {
    /// Whether this tuple comes before the other one in lexicographic order: the leftmost leaf that differs decides.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert!(IntTuple::parse("(1,(7,9))")?.lex_less(&IntTuple::parse("(2,(0,0))")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] for different trees; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides.
    pub const fn lex_less(&self, other: &IntTuple) -> Result<bool, Error> {
        tri!(self.require_congruent(other));
        let mut i = 0;
        while i < self.leaf_count() {
            if !self.at_leaf(i).same(other.at_leaf(i)) {
                return less(self.at_leaf(i), other.at_leaf(i));
            }
            i += 1;
        }
        Ok(false)
    }

    /// Whether this tuple comes before the other one in colexicographic order, the order in which layouts count: the
    /// rightmost leaf that differs decides.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert!(IntTuple::parse("(7,(9,1))")?.colex_less(&IntTuple::parse("(0,(0,2))")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::lex_less`].
    pub const fn colex_less(&self, other: &IntTuple) -> Result<bool, Error> {
        tri!(self.require_congruent(other));
        let mut i = self.leaf_count();
        while i > 0 {
            i -= 1;
            if !self.at_leaf(i).same(other.at_leaf(i)) {
                return less(self.at_leaf(i), other.at_leaf(i));
            }
        }
        Ok(false)
    }

    /// Whether every leaf is less than the other tuple's leaf in the same place: a partial order, in which a coordinate
    /// inside a shape is less than the shape.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert!(IntTuple::parse("(3,(1,2))")?.elem_less(&IntTuple::parse("(4,(2,3))")?)?);
    /// assert!(!IntTuple::parse("(3,(2,2))")?.elem_less(&IntTuple::parse("(4,(2,3))")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::lex_less`].
    pub const fn elem_less(&self, other: &IntTuple) -> Result<bool, Error> {
        self.each(other, true)
    }

    /// Whether every leaf is at most the other tuple's leaf in the same place.
    ///
    /// ```
    /// use girih_layout::IntTuple;
    /// assert!(IntTuple::parse("(4,2)")?.elem_leq(&IntTuple::parse("(4,3)")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::lex_less`].
    pub const fn elem_leq(&self, other: &IntTuple) -> Result<bool, Error> {
        self.each(other, false)
    }

    const fn each(&self, other: &IntTuple, strict: bool) -> Result<bool, Error> {
        tri!(self.require_congruent(other));
        let (mut open, mut i) = (Ok(true), 0);
        while i < self.leaf_count() {
            let (a, b) = (self.at_leaf(i), other.at_leaf(i));
            i += 1;
            let below = match (strict, a.same(b)) {
                (_, true) => Ok(!strict),
                (true, false) => less(a, b),
                (false, false) => match less(b, a) {
                    Ok(above) => Ok(!above),
                    Err(error) => Err(error),
                },
            };
            match below {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                // A later leaf may still settle the question.
                Err(error) => open = Err(error),
            }
        }
        open
    }

    const fn require_congruent(&self, other: &IntTuple) -> Result<(), Error> {
        match self.profile.differs_at(&other.profile) {
            Some(leaf) => Err(Error::NotCongruent { op: "an order of tuples", leaf }),
            None => Ok(()),
        }
    }
}

impl Shape {
    /// Whether a coordinate is inside the shape: every position is at least 0 and below the size of the subtree that
    /// it counts through; a `_` is always inside. This is the predicate of a guarded access (CuTe's `elem_less` of
    /// coordinate and shape).
    ///
    /// ```
    /// use girih_layout::{Coord, Shape};
    /// let shape = Shape::parse("(4,(2,3))")?;
    /// assert!(shape.contains(&Coord::parse("(3,5)")?)?);
    /// assert!(!shape.contains(&Coord::parse("(3,6)")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] where the coordinate is deeper than the shape or of another rank, [`Error::NeedsFact`]
    /// and [`Error::NotKnown`] where a symbol decides.
    pub const fn contains(&self, coord: &Coord) -> Result<bool, Error> {
        self.contains_in(self.profile.root(), coord, coord.profile.root())
    }

    const fn contains_in(&self, n: Node, coord: &Coord, c: Node) -> Result<bool, Error> {
        if c.is_leaf() {
            return match coord.at_leaf(c.begin) {
                Crd::All => Ok(true),
                Crd::At(position) if position < 0 => Ok(false),
                Crd::At(position) => less(Int::value(position), tri!(self.size_of(n))),
            };
        }
        let (rank, other) = (self.profile.rank_of(n), coord.profile.rank_of(c));
        if n.is_leaf() || rank != other {
            return Err(Error::RankMismatch {
                op: "a coordinate",
                rank: if n.is_leaf() { 0 } else { rank },
                other,
            });
        }
        let (mut open, mut i, mut j) = (Ok(true), n.begin, c.begin);
        while i < n.end {
            let (cn, cc) = (self.profile.child(n, i), coord.profile.child(c, j));
            match self.contains_in(cn, coord, cc) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => open = Err(error),
            }
            (i, j) = (cn.end, cc.end);
        }
        open
    }
}

/// `a < b`, or the fact that would decide it.
const fn less(a: Int, b: Int) -> Result<bool, Error> {
    const OP: &str = "an order";
    if let Some(less) = a.less(b) {
        return Ok(less);
    }
    match (a.first_symbol(), a.get(), b.first_symbol(), b.get()) {
        (Some(symbol), _, _, Some(n)) if a.same(Int::symbol(symbol)) => {
            Err(Error::NeedsFact { op: OP, symbol, fact: Fact::AtMost(n.saturating_sub(1)) })
        }
        (_, Some(n), Some(symbol), _) if b.same(Int::symbol(symbol)) => {
            Err(Error::NeedsFact { op: OP, symbol, fact: Fact::AtLeast(n.saturating_add(1)) })
        }
        (Some(_), ..) => Err(Error::NotKnown { op: OP, value: a.quoted() }),
        _ => Err(Error::NotKnown { op: OP, value: b.quoted() }),
    }
}
