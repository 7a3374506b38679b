//! The errors of tensors.

/// An error of `girih-tensor`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the layout algebra failed.
    #[error("{0}")]
    Layout(#[from] girih_layout::Error),
    /// A slice has another rank than the layout that is sliced.
    #[error(
        "slice {slice} has rank {found}, the layout {layout} has rank {rank}: give one entry for each mode"
    )]
    SliceRank {
        /// The slice.
        slice: String,
        /// The slice's rank.
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
        /// The number of elements in the data.
        len: usize,
    },
    /// A place at which an engine has no value, as in a ragged tile.
    #[error("there is no value at place {index}: 0 <= place < {len} is accepted")]
    Beyond {
        /// The place, in elements from the first.
        index: i64,
        /// How many values the engine has.
        len: usize,
    },
    /// A coordinate that names no single value.
    #[error("{coord} keeps modes whole: a value has a position in every mode; `slice` takes `_`")]
    NoCoordinate {
        /// The coordinate.
        coord: String,
    },
    /// A layout whose size must be known.
    #[error("{what}: the size of {layout} is not known: bind its symbols")]
    NotStatic {
        /// The operation.
        what: &'static str,
        /// The layout.
        layout: String,
    },
    /// Memory that can't be seen as elements of another size.
    #[error(
        "recast from {from} to {to} bytes: {why}: a tensor that begins at a whole element of either is accepted"
    )]
    Recast {
        /// Bytes of an old element.
        from: usize,
        /// Bytes of a new element.
        to: usize,
        /// The reason.
        why: String,
    },
    /// A value that a dtype does not have.
    #[error("{value} is no {dtype}: {accepted} are accepted")]
    OutOfType {
        /// The value.
        value: String,
        /// The dtype.
        dtype: crate::DType,
        /// The values that the dtype has.
        accepted: &'static str,
    },
    /// Parts of a tensor that cannot have an owner each, since they overlap or reach outside of the tensor.
    #[error(
        "part {part}, {layout}, has value {value} at place {index}, which {}: disjoint parts inside the tensor are accepted",
        .other.map_or_else(|| String::from("is not the tensor's"), |other| format!("part {other} has too"))
    )]
    Overlap {
        /// The part's index.
        part: usize,
        /// The value's 1-D coordinate in the part.
        value: usize,
        /// The part's layout.
        layout: String,
        /// The value's place, in elements from the first.
        index: i64,
        /// The other part that has the value; `None` if the value is outside of the tensor.
        other: Option<usize>,
    },
    /// A projection that fits neither tiler nor coordinate.
    #[error("a projection of {modes} modes for {tiler} at {coord}: give one entry for each mode of both")]
    Projection {
        /// The number of modes of the projection.
        modes: usize,
        /// The tiler.
        tiler: String,
        /// The coordinate.
        coord: String,
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
