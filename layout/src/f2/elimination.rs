//! Gaussian elimination over F2, which gives the rank, the inverses and the complement of a matrix.

use crate::f2::matrix::BITS;
use crate::{Error, F2Matrix};

/// A matrix in reduced form: independent columns, each of which alone has its leading bit.
pub(crate) struct Reduced {
    /// The leading bits.
    pub(crate) leading: u64,
    /// The column of each leading bit.
    columns: [u64; BITS],
    /// For each leading bit, the inputs whose columns add up to the reduced column.
    inputs: [u64; BITS],
    /// The inputs whose columns are sums of columns before.
    pub(crate) dependent: u64,
    /// Inputs whose columns add up to 0; 0 where there are none.
    pub(crate) vanishing: u64,
}

impl Reduced {
    /// The greatest index of the image: every leading bit set.
    pub(crate) const fn greatest(&self) -> u64 {
        let (mut out, mut rows) = (0, self.leading);
        while rows != 0 {
            out ^= self.columns[rows.trailing_zeros() as usize];
            rows &= rows - 1;
        }
        out
    }

    /// A map from indices of `bits` bits back to inputs: it takes an index of the image to inputs with that index, and
    /// a bit that is no column's leading bit to 0.
    pub(crate) const fn back(&self, bits: u32) -> Result<F2Matrix, Error> {
        let (mut out, mut bit) = (tri!(F2Matrix::identity(bits)), 0);
        while bit < bits as usize {
            out.set(bit, self.inputs[bit]);
            bit += 1;
        }
        Ok(out)
    }
}

impl F2Matrix {
    pub(crate) const fn reduced(&self) -> Reduced {
        let mut out =
            Reduced { leading: 0, columns: [0; BITS], inputs: [0; BITS], dependent: 0, vanishing: 0 };
        let mut i = 0;
        while i < self.inputs() as usize {
            let (mut column, mut inputs) = (self.columns()[i], 1u64 << i);
            let mut rows = column & out.leading;
            while rows != 0 {
                let row = rows.trailing_zeros() as usize;
                (column, inputs) = (column ^ out.columns[row], inputs ^ out.inputs[row]);
                rows &= rows - 1;
            }
            if column == 0 {
                out.dependent |= 1 << i;
                out.vanishing = inputs;
            } else {
                let lead = column.ilog2() as usize;
                let mut rows = out.leading;
                while rows != 0 {
                    let row = rows.trailing_zeros() as usize;
                    if out.columns[row] >> lead & 1 == 1 {
                        out.columns[row] ^= column;
                        out.inputs[row] ^= inputs;
                    }
                    rows &= rows - 1;
                }
                (out.columns[lead], out.inputs[lead]) = (column, inputs);
                out.leading |= 1 << lead;
            }
            i += 1;
        }
        out
    }

    /// How many bits of the index can vary independently: the image has `2^rank` indices.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, lay};
    /// assert_eq!(F2Matrix::of_layout(&lay!("(4,2):(^1,^3)"))?.rank(), 2); // the last column is the sum of the others
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn rank(&self) -> u32 {
        self.reduced().leading.count_ones()
    }

    /// The inverse of a map of `n` bits onto the indices below `2^n`.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, Swizzle};
    /// let swizzle = F2Matrix::of_swizzle(Swizzle::new(2, 0, 2)?, 4)?;
    /// assert_eq!(swizzle.inverse()?, swizzle);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for any other map.
    pub const fn inverse(&self) -> Result<F2Matrix, Error> {
        let reduced = self.reduced();
        if reduced.leading != (1 << self.inputs()) - 1 {
            return Err(Error::Unsupported {
                op: "the inverse of an F2 matrix",
                what: "a map that is not onto the indices below 2^inputs",
            });
        }
        reduced.back(self.inputs())
    }
}
