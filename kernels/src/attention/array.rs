//! The strides of Q, K, V and O of a problem.

use girih_layout::Lay;

use crate::Error;
use girih_device::sizes::wide;

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

    /// The elements from the first one to the last one, both included; the largest number where 64 bits do not hold them.
    pub fn span(&self) -> i64 {
        let [rows, columns, heads, batches] = self.extents;
        if self.extents.contains(&0) { 0 } else { span(columns, self.strides, [rows, heads, batches]) }
    }

    /// Whether no two coordinates have one element.
    pub(super) fn is_apart(&self) -> Result<bool, Error> {
        let [rows, columns, heads, batches] = self.extents;
        Ok(self.extents.contains(&0) || are_apart(columns, self.strides, [rows, heads, batches])?)
    }

    /// Checks that a buffer of `len` elements holds the tensor.
    pub(super) fn fits(&self, name: &'static str, len: usize) -> Result<(), Error> {
        let needed = self.span();
        if wide(needed) > len as u64 {
            Err(Error::BufferTooSmall { matrix: name, needed, len })
        } else {
            Ok(())
        }
    }
}

/// How far `reached` elements reach that are at this many places this many elements apart; the largest number where 64 bits do not hold that.
pub(super) fn span<const N: usize>(reached: i64, strides: [i64; N], extents: [i64; N]) -> i64 {
    let steps = strides.into_iter().zip(extents).map(|(stride, extent)| stride.saturating_mul(extent - 1));
    steps.fold(reached, i64::saturating_add)
}

/// Whether rows of this many columns with these strides and extents have no element in common. Where a search for one would be too long, they may have.
pub(super) fn are_apart(columns: i64, strides: [i64; 3], extents: [i64; 3]) -> Result<bool, Error> {
    // As most lie: each stride steps over all that smaller ones reach.
    let mut modes: Vec<_> = strides.into_iter().zip(extents).filter(|mode| mode.1 > 1).collect();
    modes.sort_unstable();
    let mut reached = columns;
    let steps_over = |(stride, extent): (i64, i64)| {
        let apart = stride >= reached;
        reached = span(reached, [stride], [extent]);
        apart
    };
    if modes.into_iter().all(steps_over) {
        return Ok(true);
    }
    let ([a, b, c], [da, db, dc]) = (extents, strides);
    match Lay::strided([columns, a, b, c], [1, da, db, dc])?.self_overlap() {
        Ok(twice) => Ok(twice.is_none()),
        Err(_) => Ok(false),
    }
}

/// As CuTe writes a layout, (Row,HeadDim,Head,Batch).
impl std::fmt::Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([rows, columns, heads, batches], [row, head, batch]) = (self.extents, self.strides);
        write!(f, "({rows},{columns},{heads},{batches}):({row},1,{head},{batch})")
    }
}
