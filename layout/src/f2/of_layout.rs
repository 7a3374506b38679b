//! Layouts of powers of two as matrices over F2, and matrices as layouts.

use crate::f2::matrix::{BITS, OP};
use crate::{Error, F2Matrix, Int, Lay, Shape, Stride};

impl F2Matrix {
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
        if self.inputs() > 62 || !tri!(shape.size()).is(1 << self.inputs()) {
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
        self.runs_into(0, self.inputs() as usize, self.columns_apart(), out)
    }

    /// Appends a mode for every run of columns, each of which is the column before shifted up by one bit.
    const fn runs_into(&self, begin: usize, end: usize, integers: bool, out: &mut Lay) -> Result<(), Error> {
        let mut input = begin;
        while input < end {
            let column = self.columns()[input];
            let mut run = 1;
            while input + run < end && self.columns()[input + run] == column << run {
                run += 1;
            }
            let stride = if integers { Stride::Int(Int::value(column as i64)) } else { Stride::F2(column) };
            tri!(out.push(Int::value(1 << run), stride));
            input += run;
        }
        Ok(())
    }
}
