//! Layouts from values, and composition without rules: exact whenever a layout exists, by enumeration.

use crate::algebra::coalesce::coalesce_into;
use crate::algebra::compose_coordinates::{has_coordinates, require_within};
use crate::exact::definition::Function;
use crate::exact::space::Space;
use crate::leaf::int::FACTORS;
use crate::{Error, Int, Lay, Shape};

/// The longest domain that is enumerated when the caller asks for an enumeration.
const GENERAL_LIMIT: i64 = 1 << 24;

impl Lay {
    /// The layout of a list of values, coalesced: `recognise` of the table of a layout is that layout's [`Lay::coalesce`].
    ///
    /// ```
    /// use girih_layout::{Error, Lay, lay};
    /// assert_eq!(Lay::recognise(&[0, 4, 1, 5, 2, 6])?, lay!("(2,3):(4,1)"));
    /// let Err(Error::NoLayout { witness: Some(w), .. }) = Lay::recognise(&[0, 1, 2, 4]) else { panic!() };
    /// assert_eq!((w.coord, w.expected, w.obtained), (3, 4, 3));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoLayout`] with the first value that no layout can have; [`Error::Unsupported`] for no values, [`Error::Capacity`].
    pub const fn recognise(values: &[i64]) -> Result<Lay, Error> {
        let shape = Shape::leaf(Int::value(values.len() as i64));
        Lay::recognise_shaped(values, &shape)
    }

    /// The layout of a list of values, leftmost mode fastest, over a shape or a refinement of it.
    ///
    /// ```
    /// use girih_layout::{Lay, Shape, lay};
    /// let shape = Shape::parse("(4,2)")?;
    /// assert_eq!(Lay::recognise_shaped(&[0, 1, 8, 9, 2, 3, 10, 11], &shape)?, lay!("((2,2),2):((1,8),2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::recognise`]; [`Error::Unsupported`] unless the shape has as many coordinates as there are values.
    pub const fn recognise_shaped(values: &[i64], shape: &Shape) -> Result<Lay, Error> {
        const OP: &str = "recognition";
        if values.is_empty() || !tri!(shape.size()).is(values.len() as i64) {
            return Err(Error::Unsupported {
                op: OP,
                what: "a shape of another size than the list of values",
            });
        }
        if values[0] != 0 {
            let witness = Some(crate::Witness { coord: 0, expected: values[0], obtained: 0 });
            return Err(Error::NoLayout { op: OP, witness });
        }
        let function = Function::Values(values);
        let mut out = Lay::EMPTY;
        match tri!(function.lay_out(&Space::INTEGERS, shape, shape.profile.root(), &mut out)) {
            Ok(()) => Ok(out),
            Err(refusal) => Err(Error::NoLayout { op: OP, witness: refusal.witness }),
        }
    }

    /// [`Lay::composition`] without its limit on enumeration: the layout of `right(c) -> self(right(c))` whenever there is one over a refinement
    /// of the shape of `right`, up to 2^24 coordinates.
    ///
    /// ```
    /// use girih_layout::{Error, lay};
    /// // CuTe answers (2,3):(6,3), whose values are 0 6 3 9 6 12.
    /// let error = lay!("(4,6,8):(2,3,5)").compose_general(&lay!("6:3")).unwrap_err();
    /// let Error::NoLayout { witness: Some(w), .. } = error else { panic!() };
    /// // 0 6 7 8 9 15: after 0 6, a layout must go on in steps of 6 within each pair, and 7 is followed by 8.
    /// assert_eq!((w.coord, w.expected, w.obtained), (3, 8, 13));
    /// ```
    ///
    /// # Errors
    /// [`Error::NoLayout`] where there is none, with the coordinate, the index, and the index that a layout would have
    /// there; [`Error::Carry`] without a witness where the domain is too large to tell; otherwise as
    /// [`Lay::composition`].
    pub const fn compose_general(&self, right: &Lay) -> Result<Lay, Error> {
        called!("compose_general", self.composed_generally(right))
    }

    const fn composed_generally(&self, right: &Lay) -> Result<Lay, Error> {
        let strict = self.composition(right);
        match strict {
            Err(_) if has_coordinates(right, right.root()) => return strict,
            Err(
                Error::StrideDivisibility { .. }
                | Error::ShapeDivisibility { .. }
                | Error::NoLayout { .. }
                | Error::Carry { .. },
            ) => {}
            _ => return strict,
        }
        match tri!(right.size()).get() {
            Some(size) if size <= GENERAL_LIMIT => {}
            Some(_) => return Err(Error::Carry { op: "composition", witness: None }),
            None => return strict,
        }
        let (mut flat, mut out) = (Lay::EMPTY, Lay::EMPTY);
        coalesce_into::<FACTORS>(self, self.root(), true, &mut flat);
        let function = Function::Composition { left: &flat, right, node: right.root() };
        match tri!(function.lay_out(&Space::of(&flat), &right.shape, right.root(), &mut out)) {
            Ok(()) => Ok(out),
            Err(_) if flat.has_columns() => strict,
            Err(refusal) => Err(Error::NoLayout { op: "composition", witness: refusal.witness }),
        }
    }

    /// [`Lay::composition`] that refuses a right-hand side which leaves the domain of `self`: nothing is extended past the end.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let a = lay!("(4,6):(6,1)");
    /// assert_eq!(a.compose_in_bounds(&lay!("6:4"))?, lay!("6:1"));
    /// assert_eq!(a.compose_in_bounds(&lay!("7:4")).unwrap_err().kind(), "coord_out_of_range");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] with the index that is outside; [`Error::NotKnown`] where a symbol decides; those of [`Lay::composition`].
    pub const fn compose_in_bounds(&self, right: &Lay) -> Result<Lay, Error> {
        if has_coordinates(right, right.root()) {
            tri!(called!("compose_in_bounds", require_within(self, right)));
            return called!("compose_in_bounds", self.composition(right));
        }
        let extent = tri!(self.size());
        let known = !right.is_symbolic();
        if known {
            let least = tri!(right.min_index());
            if least < 0 {
                return Err(Error::CoordOutOfRange { coord: least, extent: extent.quoted() });
            }
        }
        let cosize = tri!(called!("compose_in_bounds", right.cosize_int()));
        if cosize.same(extent) || matches!(extent.less(cosize), Some(false)) {
            return called!("compose_in_bounds", self.composition(right));
        }
        match (cosize.get(), extent.get()) {
            (Some(cosize), Some(_)) => {
                Err(Error::CoordOutOfRange { coord: cosize - 1, extent: extent.quoted() })
            }
            (Some(_), None) => Err(Error::NotKnown { op: "compose_in_bounds", value: extent.quoted() }),
            _ => Err(Error::NotKnown { op: "compose_in_bounds", value: cosize.quoted() }),
        }
    }
}
