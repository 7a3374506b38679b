//! Divisions of shapes: CuTe's `shape_div`, `ceil_div` and `round_up` of `int_tuple.hpp`.
//!
//! A tuple by a tuple goes mode by mode; an integer by a tuple is the integer by the tuple's size; a tuple by an integer goes from the left,
//! each extent taking its part of the divisor.

use crate::arith::ask;
use crate::tuple::profile::Node;
use crate::{Error, Int, IntTuple};

/// The kind of quotient.
#[derive(Clone, Copy)]
enum Division {
    /// Exact, one way or the other: 1 where the extent divides the divisor.
    Exact,
    /// Rounded up.
    Ceil,
    /// Rounded up, and multiplied by the divisor again.
    Up,
}

impl Division {
    const fn name(self) -> &'static str {
        match self {
            Division::Exact => "shape_div",
            Division::Ceil => "ceil_div",
            Division::Up => "round_up",
        }
    }

    const fn of(self, a: Int, b: Int) -> Result<Int, Error> {
        match self {
            Division::Exact => exact(a, b),
            Division::Ceil => a.ceil_div(b),
            Division::Up => a.round_up(b),
        }
    }
}

impl IntTuple {
    /// Divides where one of two extents divides the other (CuTe's `shape_div`): a tuple by a tuple mode by mode, an integer by a tuple's
    /// size, a tuple by an integer from the left until the divisor is used up.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let by = |a: &str, b: &str| Shape::parse(a)?.shape_div(&Shape::parse(b)?);
    /// assert_eq!(by("(6,4)", "12")?, Shape::parse("(1,2)")?);
    /// assert_eq!(by("(6,4)", "(3,8)")?, Shape::parse("(2,1)")?);
    /// assert_eq!(by("24", "(3,4)")?, Shape::parse("2")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] where neither divides the other, [`Error::RankMismatch`] for tuples of different ranks,
    /// [`Error::NonPositiveShape`] for a leaf below 1; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides.
    pub const fn shape_div(&self, by: &IntTuple) -> Result<IntTuple, Error> {
        called!("shape_div", self.divided(by, Division::Exact))
    }

    /// How many tiles it takes to cover this shape (CuTe's `ceil_div`): a tuple by a tuple mode by mode, modes without a tile whole; an
    /// integer by a tuple's size, a tuple by an integer from the left until the divisor is used up.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let grid = Shape::parse("(1000,s0,3)")?.ceil_div(&Shape::parse("(128,64)")?)?;
    /// assert_eq!(grid.to_string(), "(8,ceil(s0/64),3)");
    /// assert_eq!(Shape::parse("(4,6)")?.ceil_div(&Shape::parse("8")?)?.to_string(), "(1,3)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] for more tiles than modes, [`Error::NonPositiveShape`] for a leaf below 1, and those of [`Int::ceil_div`].
    pub const fn ceil_div(&self, tile: &IntTuple) -> Result<IntTuple, Error> {
        called!("ceil_div", self.divided(tile, Division::Ceil))
    }

    /// Mode by mode, the extent rounded up to whole tiles (CuTe's `round_up`); modes without a tile stay.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let padded = Shape::parse("(1000,60,3)")?.round_up(&Shape::parse("(128,64)")?)?;
    /// assert_eq!(padded, Shape::parse("(1024,64,3)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IntTuple::ceil_div`]; [`Error::RankMismatch`] where a tuple meets an integer, too.
    pub const fn round_up(&self, tile: &IntTuple) -> Result<IntTuple, Error> {
        called!("round_up", self.divided(tile, Division::Up))
    }

    const fn divided(&self, by: &IntTuple, how: Division) -> Result<IntTuple, Error> {
        tri!(self.checked());
        tri!(by.checked());
        let mut i = 0;
        while i < by.leaf_count() {
            let leaf = by.at_leaf(i);
            if !matches!(leaf.lower(), Some(1..)) {
                return Err(ask::at_least(how.name(), leaf, 1));
            }
            i += 1;
        }
        let mut out = IntTuple::EMPTY;
        tri!(self.divide_into(self.profile.root(), by, by.profile.root(), how, &mut out));
        Ok(out)
    }

    const fn divide_into(
        &self,
        n: Node,
        by: &IntTuple,
        b: Node,
        how: Division,
        out: &mut IntTuple,
    ) -> Result<(), Error> {
        if n.is_leaf() {
            let size = match how {
                Division::Up if !b.is_leaf() => return Err(self.other_ranks(n, by, b, how)),
                _ => tri!(by.size_of(b)),
            };
            return out.push(tri!(how.of(self.at_leaf(n.begin), size)));
        }
        if b.is_leaf() {
            return match how {
                Division::Up => Err(self.other_ranks(n, by, b, how)),
                _ => self.divide_leaves_into(n, by.at_leaf(b.begin), how, out),
            };
        }
        let (rank, other) = (self.profile.rank_of(n), by.profile.rank_of(b));
        if other > rank || matches!(how, Division::Exact) && other < rank {
            return Err(self.other_ranks(n, by, b, how));
        }
        tri!(out.profile.open());
        let (mut i, mut j) = (n.begin, b.begin);
        while i < n.end {
            let child = self.profile.child(n, i);
            if j < b.end {
                let tile = by.profile.child(b, j);
                tri!(self.divide_into(child, by, tile, how, out));
                j = tile.end;
            } else {
                tri!(out.copy(self, child));
            }
            i = child.end;
        }
        out.profile.close();
        Ok(())
    }

    const fn other_ranks(&self, n: Node, by: &IntTuple, b: Node, how: Division) -> Error {
        Error::RankMismatch { op: how.name(), rank: self.profile.rank_of(n), other: by.profile.rank_of(b) }
    }

    /// From the left, each leaf takes its part of the divisor.
    const fn divide_leaves_into(
        &self,
        n: Node,
        by: Int,
        how: Division,
        out: &mut IntTuple,
    ) -> Result<(), Error> {
        let (mut rest, mut i) = (by, n.begin);
        while i < n.end {
            let (opens, closes) = self.profile.parens(n, i);
            let leaf = self.at_leaf(i);
            tri!(out.profile.open_many(opens));
            tri!(out.push(tri!(how.of(leaf, rest))));
            out.profile.close_many(closes);
            i += 1;
            if i < n.end && !rest.is(1) {
                rest = tri!(how.of(rest, leaf));
            }
        }
        Ok(())
    }
}

/// `a / b` if that is exact, 1 if `b / a` is exact.
const fn exact(a: Int, b: Int) -> Result<Int, Error> {
    const OP: &str = "shape_div";
    if let Some(quotient) = a.div_exact(b) {
        return Ok(quotient);
    }
    if b.div_exact(a).is_some() {
        return Ok(Int::ONE);
    }
    Err(match (a.get(), b.get()) {
        (Some(_), Some(_)) => Error::ShapeDivisibility { op: OP, divisor: b.quoted(), shape: a.quoted() },
        (None, Some(n)) => ask::divisible(OP, a, n),
        (_, None) => Error::NotKnown { op: OP, value: b.quoted() },
    })
}
