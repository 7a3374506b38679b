//! What can go wrong with a tensor.

/// An error of `girih-tensor`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the layout algebra failed.
    #[error("{0}")]
    Layout(#[from] girih_layout::Error),
    /// A slice has another rank than the layout it is taken of.
    #[error(
        "slice {slice} has rank {found}, the layout {layout} has rank {rank}: give one entry for each mode"
    )]
    SliceRank {
        /// The slice.
        slice: String,
        /// Its rank.
        found: usize,
        /// The layout.
        layout: String,
        /// The layout's rank.
        rank: usize,
    },
    /// A coordinate outside the mode it names.
    #[error("coordinate {coordinate} is outside the mode {mode}: 0 <= coordinate < size is accepted")]
    OutOfRange {
        /// The coordinate.
        coordinate: i64,
        /// The mode.
        mode: String,
    },
    /// Index arithmetic that the engine cannot express.
    #[error("index arithmetic: {0}")]
    Index(String),
    /// A layout that reaches outside the data it is laid over.
    #[error("the layout {layout} reaches elements {min} to {max}, the data has {len}")]
    OutOfBounds {
        /// The layout.
        layout: String,
        /// Least index.
        min: i64,
        /// Greatest index.
        max: i64,
        /// Elements there are.
        len: usize,
    },
    /// A name that is no dtype.
    #[error("unknown dtype `{0}`: {accepted} are accepted", accepted = dtypes())]
    UnknownDType(String),
    /// A stride that this engine cannot follow.
    #[error("stride {stride} of {layout} is not an integer: this tensor's offsets are integers")]
    Stride {
        /// The stride.
        stride: String,
        /// The layout.
        layout: String,
    },
    /// Two layouts that do not fit each other.
    #[error("{what}: {a} and {b} do not match: {accepted}")]
    Shape {
        /// The operation.
        what: &'static str,
        /// One layout.
        a: String,
        /// The other.
        b: String,
        /// What would be accepted.
        accepted: &'static str,
    },
}

/// The names of all dtypes.
fn dtypes() -> String {
    crate::DType::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}
