//! How the tensors of a problem lie.

use crate::Error;

/// The bytes of which addresses are multiples unless a problem says otherwise: those of the widest load.
pub(super) const ALIGNMENT: i64 = 16;

/// One of the four tensors of a problem, (Row,HeadDim,Head,Batch): rows are queries in Q and O, keys in K and V. The elements of a row
/// follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    pub(super) extents: [i64; 4],
    /// Those of rows, heads and batches.
    pub(super) strides: [i64; 3],
    pub(super) alignment: i64,
}

impl Array {
    /// Rows, elements of a row, heads and batches.
    pub fn extents(&self) -> [i64; 4] {
        self.extents
    }

    /// The elements from one row, head and batch to the next.
    pub fn strides(&self) -> [i64; 3] {
        self.strides
    }

    /// The bytes of which the address of the first element is a multiple: a power of two, at most 16.
    pub fn alignment(&self) -> i64 {
        self.alignment
    }

    /// The place of an element, counted from the first one.
    pub fn offset(&self, row: i64, column: i64, head: i64, batch: i64) -> i64 {
        let [rows, heads, batches] = self.strides;
        row * rows + column + head * heads + batch * batches
    }

    /// The elements from the first one to the last one, both included.
    pub fn span(&self) -> i64 {
        let [rows, columns, heads, batches] = self.extents;
        if self.extents.contains(&0) {
            0
        } else {
            self.offset(rows - 1, columns - 1, heads - 1, batches - 1) + 1
        }
    }

    /// Whether each stride steps over all that smaller strides reach, so that no two coordinates have one element.
    pub(super) fn is_apart(&self) -> bool {
        let [rows, columns, heads, batches] = self.extents;
        if self.extents.contains(&0) {
            return true;
        }
        let mut modes: Vec<(i64, i64)> =
            self.strides.into_iter().zip([rows, heads, batches]).filter(|mode| mode.1 > 1).collect();
        modes.sort_unstable();
        let mut reached = columns;
        modes.into_iter().all(|(stride, extent)| {
            let apart = stride >= reached;
            reached += stride * (extent - 1);
            apart
        })
    }

    /// Checks that a buffer of `len` elements holds the tensor.
    pub(super) fn fits(&self, name: &'static str, len: usize) -> Result<(), Error> {
        let needed = self.span();
        if needed as u64 > len as u64 {
            Err(Error::BufferTooSmall { matrix: name, needed, len })
        } else {
            Ok(())
        }
    }
}

/// As CuTe writes a layout, (Row,HeadDim,Head,Batch).
impl std::fmt::Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([rows, columns, heads, batches], [row, head, batch]) = (self.extents, self.strides);
        write!(f, "({rows},{columns},{heads},{batches}):({row},1,{head},{batch})")
    }
}
