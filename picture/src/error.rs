//! The errors of pictures.

/// Why something has no picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The layout library refuses its operands.
    #[error(transparent)]
    Layout(Box<girih_layout::Error>),
    /// The generator refuses its operands.
    #[error(transparent)]
    Codegen(Box<girih_codegen::Error>),
    /// The size of a layout that is to be drawn is not known.
    #[error("the size of {layout} is not known: layouts without symbols are drawn")]
    Unknown {
        /// The layout.
        layout: String,
    },
    /// A layout, or the shape of a tile, of a rank that has no picture.
    #[error("{drawn} has rank {rank}: {accepted}")]
    Undrawn {
        /// The layout or the shape.
        drawn: String,
        /// Its rank.
        rank: usize,
        /// The pictures that can be drawn.
        accepted: &'static str,
    },
    /// A picture would have too many cells.
    #[error("{rows} x {columns} cells are too many for a picture: up to {most} are drawn")]
    TooLarge {
        /// Rows.
        rows: i64,
        /// Columns.
        columns: i64,
        /// The most.
        most: i64,
    },
    /// Threads have too many values for a picture.
    #[error(
        "{threads} threads with {values} values each are too many for a picture: up to {most} values are drawn"
    )]
    TooManyOwners {
        /// Threads.
        threads: i64,
        /// Values of each.
        values: i64,
        /// The most values of all threads.
        most: i64,
    },
    /// A value of a thread is not in the tile.
    #[error("value {value} of thread {thread} is element {at}, outside of the tile of {rows} x {columns}")]
    OutsideTile {
        /// The thread.
        thread: i64,
        /// The value.
        value: i64,
        /// The index of the value.
        at: i64,
        /// Rows of the tile.
        rows: i64,
        /// Columns of the tile.
        columns: i64,
    },
    /// A tile has too many modes.
    #[error("a tile of {extents:?} is not a matrix: tiles of one or two modes are drawn")]
    NoMatrix {
        /// The extents of the tile.
        extents: Vec<i64>,
    },
    /// Cells of this many bits do not divide what a thread copies.
    #[error("`{unit}`: expected bits of a cell that divide the {row} of a thread's row")]
    Unit {
        /// The bits of a cell.
        unit: i64,
        /// The bits of a thread's row.
        row: i64,
    },
    /// A permutation of a tiled MMA that is no tiler of M, N and K.
    #[error(
        "`{permutation}`: expected up to three orders, of M, N and K, in angle brackets, such as <32,16,_>"
    )]
    Permutation {
        /// The permutation.
        permutation: String,
    },
}

impl From<girih_layout::Error> for Error {
    fn from(error: girih_layout::Error) -> Error {
        Error::Layout(Box::new(error))
    }
}

impl From<girih_codegen::Error> for Error {
    fn from(error: girih_codegen::Error) -> Error {
        Error::Codegen(Box::new(error))
    }
}
