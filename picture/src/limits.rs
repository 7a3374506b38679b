//! The limits of a picture.

use girih_layout::Lay;

use crate::Error;

/// The most cells of a grid.
pub const CELLS: i64 = 1 << 16;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// The size of a layout without symbols.
pub(crate) fn size(layout: &Lay) -> Result<i64> {
    layout.size()?.get().ok_or_else(|| Error::Unknown { layout: layout.to_string() })
}

/// Refuses a grid that has too many cells.
pub(crate) fn fits(rows: i64, columns: i64) -> Result<()> {
    match rows.checked_mul(columns) {
        Some(cells) if cells <= CELLS => Ok(()),
        _ => Err(Error::TooLarge { rows, columns, most: CELLS }),
    }
}

/// The bank of shared memory in which an element of this many bits is, by the number of the element.
pub(crate) fn bank(element: i64, bits: u32) -> i64 {
    // In 128 bits, which hold the place of every bit.
    let bit = i128::from(element) * i128::from(bits);
    i64::try_from(bit.div_euclid(32).rem_euclid(32)).unwrap_or(0)
}

/// A number of cells, which is not negative.
pub(crate) fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
