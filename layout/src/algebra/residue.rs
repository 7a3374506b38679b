//! The residue of an uneven divide: which coordinates of the result are past the end.

use crate::algebra::coalesce::coalesce_into;
use crate::algebra::composition::compose_into;
use crate::algebra::divide_integers::tile_and_rest;
use crate::layout::tiler::Part;
use crate::leaf::int::FACTORS;
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, ModePath, Shape, Stride, Tiler, Tiles};

/// The predicate of an uneven divide, which tells the elements of the divided layout from the places past its end: a
/// layout from the coordinates of the divide to coordinates of the divided layout, with bounds that the latter must
/// stay below. It comes from [`Lay::divide_with_residue`].
///
/// The layout of the divide and the layout of the predicate have the same 1-D coordinates, leftmost leaf fastest.
///
/// ```
/// use girih_layout::{lay, tiler};
/// let (tiles, residue) = lay!("(9,16):(16,1)").divide_with_residue(&tiler!("<4,_>"))?;
/// let inside = (0..tiles.size()?.get().unwrap_or(0)).filter(|i| residue.is_inside(*i) == Ok(true));
/// assert_eq!(inside.count(), 9 * 16);
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Residue {
    coords: Lay,
    bounds: Shape,
}

impl Residue {
    /// The coordinates along the divided modes as basis strides: component `i` must stay below leaf `i` of [`Residue::bounds`].
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("10:3").divide_with_residue(&tiler!("4:1"))?.1.coords(), &lay!("(4,3):(1@0,4@0)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn coords(&self) -> &Lay {
        &self.coords
    }

    /// The extents of the divided, coalesced modes, flat; `()` if the tiler has only `_`, which divide no mode.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("10:3").divide_with_residue(&tiler!("4:1"))?.1.bounds().to_string(), "(10)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn bounds(&self) -> &Shape {
        &self.bounds
    }

    /// Whether the 1-D coordinate of the divide is an element of the divided layout.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let (_, residue) = lay!("10:3").divide_with_residue(&tiler!("4:1"))?;
    /// assert!(residue.is_inside(9)? && !residue.is_inside(10)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::coord_at`]; [`Error::NotKnown`] where a symbolic bound would decide.
    pub const fn is_inside(&self, position: i64) -> Result<bool, Error> {
        if self.bounds.leaf_count() == 0 {
            // Nothing was divided: all coordinates are elements.
            tri!(crate::idx2crd(&self.coords.shape, position));
            return Ok(true);
        }
        let coord = tri!(self.coords.coord_at(position, self.bounds.leaf_count()));
        let mut i = 0;
        while i < self.bounds.leaf_count() {
            if let crate::Crd::At(at) = coord.at_leaf(i) {
                match Int::value(at).less(self.bounds.at_leaf(i)) {
                    Some(true) => {}
                    Some(false) => return Ok(false),
                    None => {
                        return Err(Error::NotKnown {
                            op: "a predicate",
                            value: self.bounds.at_leaf(i).quoted(),
                        });
                    }
                }
            }
            i += 1;
        }
        Ok(true)
    }
}

impl Lay {
    /// [`Lay::logical_divide`], together with the predicate that guards the places past the end.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let (tiles, residue) = lay!("10:3").divide_with_residue(&tiler!("4:1"))?;
    /// assert_eq!(tiles, lay!("(4,3):(3,12)"));
    /// assert_eq!(residue.coords(), &lay!("(4,3):(1@0,4@0)"));
    /// assert_eq!((residue.is_inside(9)?, residue.is_inside(10)?), (true, false));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn divide_with_residue(&self, tiler: &Tiler) -> Result<(Lay, Residue), Error> {
        called!("divide_with_residue", self.divide_and_guard(tiler))
    }

    const fn divide_and_guard(&self, tiler: &Tiler) -> Result<(Lay, Residue), Error> {
        let divided = tri!(self.logical_divide(tiler));
        let (mut coords, mut bounds) = (Lay::EMPTY, Shape::EMPTY);
        tri!(bounds.profile.open());
        match tiler {
            Tiler::Lay(tile) => {
                tri!(predicate_into(self, self.root(), tile, tile.root(), &mut coords, &mut bounds));
            }
            Tiler::Modes(tiles) => {
                tri!(predicates_into(self, self.root(), tiles, (tiles.root(), 1), &mut coords, &mut bounds));
            }
        }
        bounds.profile.close();
        Ok((divided, Residue { coords, bounds }))
    }
}

/// Appends the predicates of the modes under a bracket of tiles.
const fn predicates_into(
    left: &Lay,
    l: Node,
    tiles: &Tiles,
    (t, depth): (Node, u8),
    out: &mut Lay,
    bounds: &mut Shape,
) -> Result<(), Error> {
    tri!(out.open());
    let mut k = 0;
    while k < left.shape.profile.rank_of(l) {
        let mode = tri!(left.part(l, k));
        match tiles.part(t, k, depth) {
            Part::All => tri!(whole_into(left, mode, out)),
            Part::Lay(tile) => tri!(predicate_into(left, mode, tiles.layouts(), tile, out, bounds)),
            Part::Modes(inner) => {
                tri!(predicates_into(left, mode, tiles, (inner, depth + 1), out, bounds));
            }
        }
        k += 1;
    }
    out.close();
    Ok(())
}

/// Appends a mode that was not divided: nothing to guard.
const fn whole_into(from: &Lay, node: Node, out: &mut Lay) -> Result<(), Error> {
    let begin = out.leaf_count();
    tri!(out.copy(from, node));
    let mut i = begin;
    while i < out.leaf_count() {
        tri!(out.set_step(i, Stride::ZERO));
        i += 1;
    }
    Ok(())
}

/// Divides the coordinates of a mode instead of its indices.
const fn predicate_into(
    left: &Lay,
    l: Node,
    tiles: &Lay,
    t: Node,
    out: &mut Lay,
    bounds: &mut Shape,
) -> Result<(), Error> {
    let (mut right, mut domain) = (Lay::EMPTY, Lay::EMPTY);
    coalesce_into::<FACTORS>(left, l, true, &mut domain);
    let mut i = 0;
    while i < domain.leaf_count() {
        let mode = tri!(ModePath::ROOT.then(bounds.leaf_count()));
        tri!(domain.set_step(i, Stride::Basis { scale: Int::ONE, mode }));
        tri!(bounds.push(domain.extent(i)));
        i += 1;
    }
    tri!(tile_and_rest::<FACTORS>(&mut domain, tiles, t, &mut right));
    compose_into(&domain, domain.root(), &right, right.root(), out)
}
