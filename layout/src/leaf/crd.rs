//! Leaves of coordinates.

use core::fmt;

/// A leaf of a coordinate.
///
/// ```
/// use girih_layout::{Coord, Crd};
/// assert!(Coord::parse("(3,_)")?.leaves().eq([Crd::At(3), Crd::All]));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Crd {
    /// A position.
    At(i64),
    /// `_`: all positions; slicing keeps the mode.
    All,
}

impl fmt::Display for Crd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Crd::At(position) => write!(f, "{position}"),
            Crd::All => f.write_str("_"),
        }
    }
}
