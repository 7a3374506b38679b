//! Coordinates, and the order in which a shape counts them.

use crate::tuple::profile::Node;
use crate::{Coord, Crd, Error, Int, Shape};

impl Coord {
    /// A 1-D coordinate.
    ///
    /// ```
    /// use girih_layout::Coord;
    /// assert_eq!(Coord::at(5), Coord::parse("5")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn at(position: i64) -> Coord {
        Coord::leaf(Crd::At(position))
    }

    /// A coordinate with one position for each mode.
    ///
    /// ```
    /// use girih_layout::Coord;
    /// assert_eq!(Coord::of(&[1, 2])?, Coord::parse("(1,2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`], or [`Error::Unsupported`] for no positions.
    pub const fn of(positions: &[i64]) -> Result<Coord, Error> {
        let mut out = Coord::EMPTY;
        if positions.is_empty() {
            return Err(Error::Unsupported { op: "a coordinate", what: "no positions" });
        }
        tri!(out.profile.open());
        let mut i = 0;
        while i < positions.len() {
            tri!(out.push(Crd::At(positions[i])));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }
}

/// The coordinate of `shape`, congruent to it, at the 1-D coordinate `index` (CuTe guide, 01 Layout).
///
/// ```
/// use girih_layout::{Shape, idx2crd};
/// assert_eq!(idx2crd(&Shape::parse("(3,(2,3))")?, 7)?.to_string(), "(1,(0,1))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// # Errors
/// [`Error::CoordOutOfRange`] unless `0 <= index < size(shape)`, [`Error::NotKnown`] where a symbolic extent would decide.
pub const fn idx2crd(shape: &Shape, index: i64) -> Result<Coord, Error> {
    idx2crd_impl(shape, index, false)
}

/// [`idx2crd`] without an upper bound: the last leaf takes the rest, as in CuTe.
///
/// ```
/// use girih_layout::{Shape, idx2crd_extended};
/// assert_eq!(idx2crd_extended(&Shape::parse("(3,2)")?, 10)?.to_string(), "(1,3)");
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// # Errors
/// [`Error::CoordOutOfRange`] for a negative index, [`Error::NotKnown`] where a symbolic extent would decide.
pub const fn idx2crd_extended(shape: &Shape, index: i64) -> Result<Coord, Error> {
    idx2crd_impl(shape, index, true)
}

const fn idx2crd_impl(shape: &Shape, index: i64, extended: bool) -> Result<Coord, Error> {
    let mut out = Coord::zeros(shape.profile);
    let mut digits = tri!(Digits::new(shape, shape.profile.root(), index, extended));
    let mut i = 0;
    while i < shape.leaf_count() {
        tri!(out.set(i, Crd::At(tri!(digits.next(shape)))));
        i += 1;
    }
    Ok(out)
}

/// The coordinate congruent to `shape` of the same element: every position that stands for a subtree becomes positions
/// in the subtree's leaves (CuTe's `idx2crd` of a coordinate). Positions past an end go to the last leaf, as in
/// [`idx2crd_extended`].
///
/// ```
/// use girih_layout::{Coord, Shape, natural_coord};
/// let shape = Shape::parse("(3,(2,3))")?;
/// assert_eq!(natural_coord(&shape, &Coord::parse("(1,5)")?)?.to_string(), "(1,(1,2))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// # Errors
/// [`Error::RankMismatch`] where the coordinate is deeper than the shape or of another rank, [`Error::Unsupported`] for `_`, and those of
/// [`idx2crd_extended`].
pub const fn natural_coord(shape: &Shape, coord: &Coord) -> Result<Coord, Error> {
    let mut out = Coord::zeros(shape.profile);
    tri!(natural_into(shape, shape.profile.root(), coord, coord.profile.root(), &mut out));
    Ok(out)
}

const fn natural_into(shape: &Shape, n: Node, coord: &Coord, c: Node, out: &mut Coord) -> Result<(), Error> {
    if c.is_leaf() {
        let Crd::At(position) = coord.at_leaf(c.begin) else {
            return Err(Error::Unsupported { op: "a natural coordinate", what: "'_'" });
        };
        let mut digits = tri!(Digits::new(shape, n, position, true));
        let mut i = n.begin;
        while i < n.end {
            tri!(out.set(i, Crd::At(tri!(digits.next(shape)))));
            i += 1;
        }
        return Ok(());
    }
    let (rank, other) = (shape.profile.rank_of(n), coord.profile.rank_of(c));
    if n.is_leaf() || rank != other {
        return Err(Error::RankMismatch { op: "a coordinate", rank, other });
    }
    let (mut i, mut j) = (n.begin, c.begin);
    while i < n.end {
        let (cn, cc) = (shape.profile.child(n, i), coord.profile.child(c, j));
        tri!(natural_into(shape, cn, coord, cc, out));
        (i, j) = (cn.end, cc.end);
    }
    Ok(())
}

/// The 1-D coordinate of a coordinate of `shape`, leftmost leaf fastest (CuTe's `crd2idx` of a coordinate and a shape). [`idx2crd`] is the inverse.
///
/// ```
/// use girih_layout::{Coord, Shape, crd2idx};
/// assert_eq!(crd2idx(&Shape::parse("(3,(2,3))")?, &Coord::parse("(1,(0,1))")?)?, 7);
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// # Errors
/// [`Error::CoordOutOfRange`] outside the shape, and those of [`natural_coord`]; [`Error::NotKnown`] for symbols before the last leaf,
/// [`Error::Overflow`].
pub const fn crd2idx(shape: &Shape, coord: &Coord) -> Result<i64, Error> {
    const OP: &str = "crd2idx";
    let natural = tri!(natural_coord(shape, coord));
    let (mut index, mut i) = (0i64, shape.leaf_count());
    while i > 0 {
        i -= 1;
        let (Crd::At(digit), extent) = (natural.at_leaf(i), shape.at_leaf(i)) else { continue };
        if index == 0 && digit == 0 {
            continue;
        }
        if matches!(Int::value(digit).less(extent), Some(false)) {
            return Err(Error::CoordOutOfRange { coord: digit, extent: extent.quoted() });
        }
        let scaled = match extent.get() {
            _ if index == 0 => Some(0),
            Some(extent) => index.checked_mul(extent),
            None => return Err(Error::NotKnown { op: OP, value: extent.quoted() }),
        };
        index = match scaled {
            Some(scaled) => match scaled.checked_add(digit) {
                Some(index) => index,
                None => return Err(Error::Overflow { op: OP }),
            },
            None => return Err(Error::Overflow { op: OP }),
        };
    }
    Ok(index)
}

/// The coordinate in another shape with the same 1-D coordinate (CuTe's `crd2crd`).
///
/// ```
/// use girih_layout::{Coord, Shape, crd2crd};
/// let (from, to) = (Shape::parse("(4,6)")?, Shape::parse("(8,3)")?);
/// assert_eq!(crd2crd(&from, &to, &Coord::parse("(1,3)")?)?.to_string(), "(5,1)");
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// # Errors
/// Those of [`crd2idx()`] and [`idx2crd`].
pub const fn crd2crd(from: &Shape, to: &Shape, coord: &Coord) -> Result<Coord, Error> {
    called!("crd2crd", idx2crd(to, tri!(called!("crd2crd", crd2idx(from, coord)))))
}

/// Takes the digits for the leaves of a subtree from a 1-D coordinate, leftmost first.
pub(crate) struct Digits {
    node: Node,
    at: usize,
    whole: i64,
    rest: i64,
    extended: bool,
}

impl Digits {
    pub(crate) const fn new(shape: &Shape, node: Node, index: i64, extended: bool) -> Result<Digits, Error> {
        if index < 0 {
            let extent = match shape.size_of(node) {
                Ok(size) => size,
                Err(_) => Int::ZERO,
            };
            return Err(Error::CoordOutOfRange { coord: index, extent: extent.quoted() });
        }
        Ok(Digits { node, at: node.begin, whole: index, rest: index, extended })
    }

    pub(crate) const fn next(&mut self, shape: &Shape) -> Result<i64, Error> {
        let extent = shape.at_leaf(self.at);
        let last = self.at + 1 == self.node.end;
        self.at += 1;
        if let (true, Some(s)) = (!last, extent.get()) {
            if s < 1 {
                return Err(Error::NonPositiveShape { leaf: self.at - 1, extent: s });
            }
            let digit = self.rest % s;
            self.rest /= s;
            return Ok(digit);
        }
        let inside = match extent.lower() {
            Some(lower) => self.rest < lower,
            None => false,
        };
        let digit = self.rest;
        if last {
            if !inside && !self.extended && extent.get().is_some() {
                let size = match shape.size_of(self.node) {
                    Ok(size) => size,
                    Err(_) => extent,
                };
                return Err(Error::CoordOutOfRange { coord: self.whole, extent: size.quoted() });
            }
            return Ok(digit);
        }
        self.rest = 0;
        if inside || digit == 0 {
            Ok(digit)
        } else {
            Err(Error::NotKnown { op: "counting out a position", value: extent.quoted() })
        }
    }
}
