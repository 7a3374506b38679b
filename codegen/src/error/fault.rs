//! Why a partition is not what it should be.

use std::fmt;

use girih_layout::Coord;

/// A coordinate of a layout: for a partition `(thread, value)`, else what counts its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the coordinate in mode 0: the thread.
    pub thread: i64,
    /// The number of the coordinate in the other modes: the value.
    pub value: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} value {}", self.thread, self.value)
    }
}

/// Why a partition is not what it should be: the counter-example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Two places hold one element.
    Twice {
        /// The one.
        first: Place,
        /// The other.
        second: Place,
        /// The element: the coordinate in the tile, or the index where there is no tile.
        element: Coord,
    },
    /// Nobody holds an element.
    Never {
        /// The coordinate in the tile.
        element: Coord,
    },
    /// A place holds what is outside of the tile.
    Outside {
        /// The place.
        place: Place,
        /// The index there.
        index: i128,
        /// Indices from 0 to below this are inside.
        size: i64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Twice { first, second, element } => {
                write!(f, "{first} and {second} both hold element {element}")
            }
            Fault::Never { element } => write!(f, "nobody holds element {element}"),
            Fault::Outside { place, index, size } => {
                write!(f, "{place} holds index {index}, 0 to {} are inside", size - 1)
            }
        }
    }
}
