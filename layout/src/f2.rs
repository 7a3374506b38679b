//! Linear maps of index bits as matrices over F2: swizzles, layouts of powers of two, and their compositions.

use core::fmt;

use crate::{Composed, Error, Int, Lay, Shape, Stride, Swizzle};

const OP: &str = "an F2 matrix";

/// The most bits of an index that a matrix maps.
pub(crate) const BITS: usize = 63;

/// A map from coordinate bits to index bits that respects exclusive or: bit `i` of the coordinate toggles the index bits of column `i`.
///
/// Every [`Swizzle`] is such a map, and so is every layout whose extents are powers of two and whose strides don't
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
    const EMPTY: F2Matrix = F2Matrix { inputs: 0, columns: [0; BITS] };

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
            out.columns[i] = swizzle.apply(1 << i) as u64;
            i += 1;
        }
        Ok(out)
    }

    /// The map of a layout whose extents are powers of two. Columns of F2 strides may have bits in common; integer
    /// strides may not.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, lay};
    /// assert_eq!(F2Matrix::of_layout(&lay!("(2,4):(4,1)"))?.columns(), [4, 1, 2]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an extent that is no power of two, for integer strides that carry into one another
    /// and for basis strides; [`Error::NonPositiveStride`] for a negative stride, [`Error::NotKnown`] for symbols,
    /// [`Error::Capacity`].
    pub const fn of_layout(layout: &Lay) -> Result<F2Matrix, Error> {
        let mut out = F2Matrix::EMPTY;
        let (mut taken, mut i) = (0, 0);
        while i < layout.leaf_count() {
            let Some(extent) = layout.extent(i).get() else {
                return Err(Error::NotKnown { op: OP, value: layout.extent(i).quoted() });
            };
            if extent < 1 || extent & (extent - 1) != 0 {
                return Err(Error::Unsupported { op: OP, what: "an extent that is no power of two" });
            }
            let (column, integer) = match layout.step(i) {
                Stride::F2(column) => (column, false),
                stride => (tri!(stride.require_known(OP)) as u64, true),
            };
            if integer && (column as i64) < 0 {
                return Err(Error::NonPositiveStride { op: OP, stride: Int::value(column as i64).quoted() });
            }
            let mut bit = 0;
            while bit < extent.trailing_zeros() {
                let shifted = column << bit;
                if shifted >> bit != column || shifted >> BITS != 0 {
                    return Err(Error::Overflow { op: OP });
                }
                if integer && taken & shifted != 0 {
                    return Err(Error::Unsupported { op: OP, what: "strides that carry into one another" });
                }
                taken |= if integer { shifted } else { 0 };
                tri!(out.push(shifted));
                bit += 1;
            }
            i += 1;
        }
        Ok(out)
    }

    /// The map of a swizzled layout, whose offset must be 0 (with another offset the map is affine, see
    /// [`Composed::decay`]).
    ///
    /// ```
    /// use girih_layout::{Composed, F2Matrix};
    /// let composed = Composed::parse("Sw<1,0,1> o 0 o (2,2):(2,1)")?;
    /// assert_eq!(F2Matrix::of_composed(&composed)?.columns(), [3, 1]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`F2Matrix::of_layout`]; [`Error::Unsupported`] for an offset.
    pub const fn of_composed(composed: &Composed) -> Result<F2Matrix, Error> {
        if composed.offset() != 0 {
            return Err(Error::Unsupported { op: OP, what: "an offset" });
        }
        let mut out = tri!(F2Matrix::of_layout(composed.layout()));
        let mut i = 0;
        while i < out.inputs as usize {
            out.columns[i] = composed.swizzle().apply(out.columns[i] as i64) as u64;
            i += 1;
        }
        Ok(out)
    }

    const fn push(&mut self, column: u64) -> Result<(), Error> {
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

    /// The map as a layout over a shape or a refinement of it: with integer strides if no two columns have a bit in
    /// common, otherwise with F2 columns.
    ///
    /// ```
    /// use girih_layout::{F2Matrix, Shape, lay};
    /// assert_eq!(F2Matrix::identity(3)?.layout(&Shape::parse("(2,4)")?)?, lay!("(2,4):(1,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] unless the shape has `2^inputs` coordinates and its extents are powers of two, [`Error::Capacity`].
    pub const fn layout(&self, shape: &Shape) -> Result<Lay, Error> {
        self.layout_of(shape, self.columns_apart())
    }

    /// [`F2Matrix::layout`] with integer strides or with F2 columns.
    pub(crate) const fn layout_of(&self, shape: &Shape, integers: bool) -> Result<Lay, Error> {
        if self.inputs > 62 || !tri!(shape.size()).is(1 << self.inputs) {
            return Err(Error::Unsupported { op: OP, what: "a shape of another size" });
        }
        let root = shape.profile.root();
        let (mut out, mut input, mut i) = (Lay::EMPTY, 0, root.begin);
        while i < root.end {
            let (opens, closes) = shape.profile.parens(root, i);
            tri!(out.shape.profile.open_many(opens));
            let Some(extent) = shape.at_leaf(i).get() else {
                return Err(Error::NotKnown { op: OP, value: shape.at_leaf(i).quoted() });
            };
            let (begin, end) = (out.leaf_count(), input + extent.trailing_zeros() as usize);
            tri!(self.runs_into(input, end, integers, &mut out));
            tri!(out.wrap_from(begin));
            out.shape.profile.close_many(closes);
            (input, i) = (end, i + 1);
        }
        Ok(out)
    }

    /// Appends the modes of all inputs, side by side.
    pub(crate) const fn modes_into(&self, out: &mut Lay) -> Result<(), Error> {
        self.runs_into(0, self.inputs as usize, self.columns_apart(), out)
    }

    /// Appends a mode for every run of columns, each of which is the column before shifted up by one bit.
    const fn runs_into(&self, begin: usize, end: usize, integers: bool, out: &mut Lay) -> Result<(), Error> {
        let mut input = begin;
        while input < end {
            let column = self.columns[input];
            let mut run = 1;
            while input + run < end && self.columns[input + run] == column << run {
                run += 1;
            }
            let stride = if integers { Stride::Int(Int::value(column as i64)) } else { Stride::F2(column) };
            tri!(out.push(Int::value(1 << run), stride));
            input += run;
        }
        Ok(())
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
            let added = self.columns[i as usize] ^ 1 << i;
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

impl fmt::Debug for F2Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.columns()).finish()
    }
}
