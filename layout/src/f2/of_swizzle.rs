//! Swizzles as matrices over F2, and matrices that are swizzles.

use crate::{Error, F2Matrix, Lay, Swizzle};

impl F2Matrix {
    /// The map of a swizzle on indices of `bits` bits.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, Swizzle};
    /// assert_eq!(F2Matrix::of_swizzle(Swizzle::new(1, 0, 1)?, 2)?.columns(), [1, 3]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than 63 bits.
    pub const fn of_swizzle(swizzle: Swizzle, bits: u32) -> Result<F2Matrix, Error> {
        let mut out = tri!(F2Matrix::identity(bits));
        let mut i = 0;
        while i < bits as usize {
            out.set(i, swizzle.apply(1 << i) as u64);
            i += 1;
        }
        Ok(out)
    }

    /// The map as a swizzle, if it is one: every bit stays, and one run of bits is joined to another by exclusive or.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, Swizzle};
    /// let swizzle = Swizzle::new(2, 1, 3)?;
    /// assert_eq!(F2Matrix::of_swizzle(swizzle, 8)?.swizzle(), Some(swizzle));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn swizzle(&self) -> Option<Swizzle> {
        let (mut base, mut bits, mut shift, mut i) = (0u32, 0u32, 0i32, 0u32);
        while i < self.inputs() {
            let added = self.columns()[i as usize] ^ 1 << i;
            if added != 0 {
                if added & (added - 1) != 0 {
                    return None;
                }
                let to = added.trailing_zeros();
                let distance = i as i32 - to as i32;
                let low = if distance > 0 { to } else { i };
                if bits == 0 {
                    (base, shift) = (low, distance);
                } else if distance != shift || low != base + bits {
                    return None;
                }
                bits += 1;
            }
            i += 1;
        }
        match Swizzle::new(bits, base, if bits == 0 { 1 } else { shift }) {
            Ok(swizzle) => Some(swizzle),
            Err(_) => None,
        }
    }
}

impl Swizzle {
    /// The swizzle `S` of indices with `S(layout(x)) = layout(self(x))`: a swizzle before a layout becomes a swizzle
    /// after the layout, where there is one.
    ///
    /// ```
    /// use girih_layout::{Swizzle, lay};
    /// let swizzle = Swizzle::new(1, 0, 1)?;
    /// assert_eq!(swizzle.through(&lay!("(2,2,4):(4,8,1)"))?, Swizzle::new(1, 2, 1)?);
    /// assert!(swizzle.through(&lay!("(6,4):(4,1)")).is_err()); // CuTe answers, and is wrong at 6
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the swizzle leaves the layout's domain or the result is no swizzle (compose the
    /// [`F2Matrix`] then), and those of [`F2Matrix::of_layout`].
    pub const fn through(self, layout: &Lay) -> Result<Swizzle, Error> {
        const OP: &str = "a swizzle before a layout";
        let matrix = tri!(F2Matrix::of_layout(layout));
        let before = tri!(F2Matrix::of_swizzle(self, matrix.inputs()));
        let Ok(both) = matrix.after(&before) else {
            return Err(Error::Unsupported { op: OP, what: "a swizzle that leaves the domain" });
        };
        // The map on indices: the index bit that the layout sends a coordinate bit to goes to the swizzled column of
        // that coordinate bit.
        let mut out = tri!(F2Matrix::identity(62));
        let mut i = 0;
        while i < matrix.inputs() as usize {
            let (plain, swizzled) = (matrix.columns()[i], both.columns()[i]);
            if plain != swizzled {
                if plain == 0 || plain & (plain - 1) != 0 || plain.trailing_zeros() > 61 {
                    return Err(Error::Unsupported { op: OP, what: "a stride that is no power of two" });
                }
                out.set(plain.trailing_zeros() as usize, swizzled);
            }
            i += 1;
        }
        match (out.swizzle(), out.after(&matrix)) {
            (Some(swizzle), Ok(check)) if check.same(&both) => Ok(swizzle),
            _ => Err(Error::Unsupported { op: OP, what: "bits that come out as no swizzle" }),
        }
    }
}
