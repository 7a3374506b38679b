//! Counter-examples to properties of partitions.

use std::fmt;

use girih_layout::Coord;

/// A coordinate of a layout, which is a partition `(thread, value)` or any other layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the coordinate in mode 0; for a partition, the thread.
    pub thread: i64,
    /// The number of the coordinate in the other modes; for a partition, the value.
    pub value: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} value {}", self.thread, self.value)
    }
}

/// A counter-example to a property that a partition was to have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Two places hold the same element.
    Twice {
        /// The first place.
        first: Place,
        /// The second place.
        second: Place,
        /// The element: the coordinate in the tile, or the index where there is no tile.
        element: Coord,
    },
    /// No place holds an element.
    Never {
        /// The coordinate in the tile.
        element: Coord,
    },
    /// A place holds an index outside of the tile.
    Outside {
        /// The place.
        place: Place,
        /// The index there.
        index: i128,
        /// The number of indices inside of the tile, from 0 on.
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
