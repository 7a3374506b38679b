//! Layouts whose codomain is coordinates: the entries of these coordinates, and the coordinates that a layout along
//! basis vectors has.

use crate::layout::eval::step;
use crate::tuple::coord::Digits;
use crate::{Coord, Crd, Error, Int, Lay, MAX_LEAVES, ModePath, Shape, Stride, Strides, Sum};

impl Lay {
    /// The basis vectors of the coordinates that the layout maps to, in a tree congruent to these coordinates (CuTe's
    /// `make_basis_like`): `rank` modes, and where strides go along modes of a mode, that mode has as many modes as the
    /// last of these strides needs.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let columns = lay!("(4,(2,3)):(1@1,(1@0@0,1@1@0))");
    /// assert_eq!(columns.coordinate_basis(2)?.to_string(), "((1@0@0,1@1@0),1@1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`] for a basis vector past `rank`, [`Error::MixedModes`] where a mode is both a number and a tuple,
    /// [`Error::Capacity`], and [`Error::Unsupported`] for integer strides other than 0 and for F2 columns.
    pub const fn coordinate_basis(&self, rank: usize) -> Result<Strides, Error> {
        self.basis_of("the basis of a layout", rank)
    }

    const fn basis_of(&self, op: &'static str, rank: usize) -> Result<Strides, Error> {
        if rank > MAX_LEAVES {
            return Err(Error::Capacity { op });
        }
        let mut i = 0;
        while i < self.leaf_count() {
            let dead = self.is_narrow(i) || self.step(i).is_zero();
            match self.step(i) {
                Stride::Basis { mode, .. } if mode.first() >= rank && !dead => {
                    return Err(Error::ModeOutOfRange { mode: mode.first(), rank });
                }
                Stride::Basis { .. } => {}
                _ if dead => {}
                _ => return Err(Error::Unsupported { op, what: "strides that are no basis vectors" }),
            }
            i += 1;
        }
        let mut out = Strides::EMPTY;
        tri!(self.basis_into(op, ModePath::ROOT, rank, &mut out));
        Ok(out)
    }

    /// Appends the tuple of `rank` modes that is at `path`.
    const fn basis_into(
        &self,
        op: &'static str,
        path: ModePath,
        rank: usize,
        out: &mut Strides,
    ) -> Result<(), Error> {
        tri!(out.profile.open());
        let mut mode = 0;
        while mode < rank {
            let inner = tri!(path.then(mode));
            let (mut number, mut modes, mut i) = (false, 0, 0);
            while i < self.leaf_count() {
                if let Stride::Basis { mode, .. } = self.step(i) {
                    number |= mode.same(inner);
                    if let Some(next) = mode.after(inner)
                        && next >= modes
                    {
                        modes = next + 1;
                    }
                }
                i += 1;
            }
            match modes {
                0 => tri!(out.push(Stride::Basis { scale: Int::ONE, mode: inner })),
                _ if number => return Err(Error::MixedModes { op, mode: inner }),
                _ => tri!(self.basis_into(op, inner, modes, out)),
            }
            mode += 1;
        }
        out.profile.close();
        Ok(())
    }

    /// The coordinate to which an identity layout, or anything computed from one, sends a 1-D coordinate: the sum along
    /// each basis vector of [`Lay::coordinate_basis`].
    ///
    /// ```
    /// use girih_layout::lay;
    /// let tile = lay!("(4,2):(2@1,1@0)");
    /// assert_eq!(tile.coord_at(5, 2)?.to_string(), "(1,2)");
    /// let nested = lay!("(4,(2,3)):(1@0,(1@0@1,1@1@1))");
    /// assert_eq!(nested.coord_at(22, 2)?.to_string(), "(2,(1,2))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::coordinate_basis`] and of [`Lay::crd2idx`].
    pub const fn coord_at(&self, position: i64, rank: usize) -> Result<Coord, Error> {
        let basis = tri!(self.basis_of("a coordinate of a layout", rank));
        let mut out = Coord::zeros(basis.profile);
        let mut digits = tri!(Digits::new(&self.shape, self.root(), position, false));
        let mut i = 0;
        while i < self.leaf_count() {
            let digit = tri!(digits.next(&self.shape));
            if let Stride::Basis { scale, mode } = self.step(i)
                && let Some(entry) = entry_of(&basis, mode)
                && let Crd::At(sum) = out.at_leaf(entry)
            {
                tri!(out.set(entry, Crd::At(tri!(step(sum, digit, scale)))));
            }
            i += 1;
        }
        Ok(out)
    }

    /// The least shape that holds all coordinates of an identity layout or anything computed from one: one more than
    /// the greatest position along each basis vector of [`Lay::coordinate_basis`] (CuTe's `coshape`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("((4,2),3):((1@0,8@0),2@1)").coshape(2)?.to_string(), "(12,5)");
    /// assert_eq!(lay!("(4,(2,3)):(1@0,(1@0@1,1@1@1))").coshape(2)?.to_string(), "(4,(2,3))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::coordinate_basis`] and of [`Lay::coextent`]; [`Error::Unsupported`] for an extent that is a sum of different
    /// symbols, which [`Lay::coextent`] returns.
    pub const fn coshape(&self, rank: usize) -> Result<Shape, Error> {
        const OP: &str = "coshape";
        let basis = tri!(self.basis_of(OP, rank));
        let (mut out, mut i) = (Shape::zeros(basis.profile), 0);
        while i < out.leaf_count() {
            if let Some(Stride::Basis { mode, .. }) = basis.get(i) {
                tri!(out.set(i, tri!(tri!(called!("coshape", self.coextent(mode))).require_int(OP))));
            }
            i += 1;
        }
        Ok(out)
    }

    /// An entry of [`Lay::coshape`], which for a symbolic layout may be a sum: one more than the greatest position
    /// along the basis vector of `mode`, if all extents are at least 1.
    ///
    /// ```
    /// use girih_layout::{ModePath, lay};
    /// let (rows, pairs) = (ModePath::new(&[0])?, ModePath::new(&[1, 0])?);
    /// assert_eq!(lay!("((4,s0),3):((1@0,8@0),2@1)").coextent(rows)?.to_string(), "8*s0 - 4");
    /// assert_eq!(lay!("(4,(2,3)):(1@0,(1@0@1,1@1@1))").coextent(pairs)?.to_string(), "2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for strides that are no basis vectors, [`Error::NonPositiveStride`], and those of [`Sum::add`].
    pub const fn coextent(&self, mode: ModePath) -> Result<Sum, Error> {
        const OP: &str = "coextent";
        let (mut sum, mut i) = (Sum::of(Int::ONE), 0);
        while i < self.leaf_count() {
            let extent = self.extent(i);
            match self.step(i) {
                Stride::Basis { scale, mode: along } if along.same(mode) => {
                    tri!(sum.push_reach(OP, extent, scale, false));
                }
                Stride::Basis { .. } => {}
                stride if extent.is(1) || stride.is_zero() => {}
                _ => return Err(Error::Unsupported { op: OP, what: "strides that are no basis vectors" }),
            }
            i += 1;
        }
        Ok(sum)
    }
}

/// The leaf of a basis that goes along `mode`.
const fn entry_of(basis: &Strides, mode: ModePath) -> Option<usize> {
    let mut i = 0;
    while i < basis.leaf_count() {
        if let Some(Stride::Basis { mode: along, .. }) = basis.get(i)
            && along.same(mode)
        {
            return Some(i);
        }
        i += 1;
    }
    None
}
