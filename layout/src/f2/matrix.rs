//! Linear maps of index bits as matrices over F2: swizzles, layouts of powers of two, and their compositions.

use core::fmt;

use crate::{Error, Int};

/// The name of the operation in errors.
pub(crate) const OP: &str = "an F2 matrix";

/// The most bits of an index that a matrix maps.
pub(crate) const BITS: usize = 63;

/// A map from coordinate bits to index bits that respects exclusive or: bit `i` of the coordinate toggles the index bits of column `i`.
///
/// Every [`Swizzle`](crate::Swizzle) is such a map, and so is every layout whose extents are powers of two and whose strides don't
/// carry into one another. Matrices compose without restriction, so that equality, inverses and "is this still a
/// swizzle" are decided here; two swizzled layouts are the same function exactly when their matrices are equal.
///
/// ```
/// use girih_layout::{F2Matrix, Swizzle, lay};
/// let swizzle = Swizzle::new(3, 0, 3)?;
/// let tile = F2Matrix::of_layout(&lay!("(8,8):(1,8)"))?;
/// let swizzled = F2Matrix::of_swizzle(swizzle, 6)?.after(&tile)?;
/// assert_eq!(swizzled.layout(lay!("(8,8)").shape())?, lay!("(8,8):(^1,^9)"));
/// assert_eq!(swizzled.apply(0b001_000)?, 0b001_001);
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct F2Matrix {
    inputs: u8,
    /// Columns past the inputs are 0.
    columns: [u64; BITS],
}

impl F2Matrix {
    /// The map of no bits to no bits.
    pub(crate) const EMPTY: F2Matrix = F2Matrix { inputs: 0, columns: [0; BITS] };

    /// The identity on indices of `bits` bits.
    ///
    /// ```
    /// use girih_layout::F2Matrix;
    /// assert_eq!(F2Matrix::identity(4)?.apply(9)?, 9);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than 63 bits.
    pub const fn identity(bits: u32) -> Result<F2Matrix, Error> {
        let mut out = F2Matrix::EMPTY;
        let mut i = 0;
        while i < bits {
            tri!(out.push(1 << i));
            i += 1;
        }
        Ok(out)
    }

    /// The map with these columns: bit `i` of the coordinate toggles the index bits of `columns[i]`.
    ///
    /// ```
    /// use girih_layout::F2Matrix;
    /// assert_eq!(F2Matrix::of_columns(&[1, 3])?.apply(0b11)?, 0b10);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than 63 columns, [`Error::Overflow`] for a column past bit 62.
    pub const fn of_columns(columns: &[u64]) -> Result<F2Matrix, Error> {
        let (mut out, mut i) = (F2Matrix::EMPTY, 0);
        while i < columns.len() {
            if columns[i] >> BITS != 0 {
                return Err(Error::Overflow { op: OP });
            }
            tri!(out.push(columns[i]));
            i += 1;
        }
        Ok(out)
    }

    pub(crate) const fn push(&mut self, column: u64) -> Result<(), Error> {
        if self.inputs as usize == BITS {
            return Err(Error::Capacity { op: OP });
        }
        self.columns[self.inputs as usize] = column;
        self.inputs += 1;
        Ok(())
    }

    /// How many bits of a coordinate the map takes.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, lay};
    /// assert_eq!(F2Matrix::of_layout(&lay!("(2,4):(4,1)"))?.inputs(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn inputs(&self) -> u32 {
        self.inputs as u32
    }

    /// The index bits that each bit of the coordinate toggles, lowest bit first.
    ///
    /// ```
    /// use girih_layout::F2Matrix;
    /// assert_eq!(F2Matrix::identity(3)?.columns(), [1, 2, 4]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn columns(&self) -> &[u64] {
        let (used, _) = self.columns.split_at(self.inputs as usize);
        used
    }

    /// The index of a 1-D coordinate.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, lay};
    /// assert_eq!(F2Matrix::of_layout(&lay!("(2,4):(4,1)"))?.apply(0b011)?, 0b101);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] for a coordinate with bits past the inputs.
    pub const fn apply(&self, coord: i64) -> Result<i64, Error> {
        if coord < 0 || coord >> self.inputs != 0 {
            return Err(Error::CoordOutOfRange { coord, extent: Int::value(1 << self.inputs).quoted() });
        }
        let (mut out, mut rest) = (0, coord);
        while rest != 0 {
            out ^= self.columns[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        Ok(out as i64)
    }

    /// `self` after `first`: `apply(first.apply(x))`.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, Swizzle, lay};
    /// let (swizzle, tile) = (Swizzle::new(1, 0, 1)?, F2Matrix::of_layout(&lay!("(2,2):(2,1)"))?);
    /// assert_eq!(F2Matrix::of_swizzle(swizzle, 2)?.after(&tile)?.columns(), [3, 1]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] where `first` has indices of more bits than `self` maps.
    pub const fn after(&self, first: &F2Matrix) -> Result<F2Matrix, Error> {
        let mut out = *first;
        let mut i = 0;
        while i < first.inputs as usize {
            out.columns[i] = tri!(self.apply(first.columns[i] as i64)) as u64;
            i += 1;
        }
        Ok(out)
    }

    /// The map of the first `n` inputs.
    pub(crate) const fn first(&self, n: u32) -> F2Matrix {
        let (mut out, mut i) = (F2Matrix { inputs: n as u8, columns: [0; BITS] }, 0);
        while i < n as usize {
            out.columns[i] = self.columns[i];
            i += 1;
        }
        out
    }

    /// `const` form of `==`.
    pub(crate) const fn same(&self, other: &F2Matrix) -> bool {
        let mut i = 0;
        while i < BITS {
            if self.columns[i] != other.columns[i] {
                return false;
            }
            i += 1;
        }
        self.inputs == other.inputs
    }

    /// Replaces a column.
    pub(crate) const fn set(&mut self, input: usize, column: u64) {
        self.columns[input] = column;
    }

    /// Whether no two columns have a bit in common, so that joining them is adding.
    pub(crate) const fn columns_apart(&self) -> bool {
        let (mut taken, mut i) = (0, 0);
        while i < self.inputs as usize {
            if taken & self.columns[i] != 0 {
                return false;
            }
            taken |= self.columns[i];
            i += 1;
        }
        true
    }
}

impl fmt::Debug for F2Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.columns()).finish()
    }
}
