//! The one error of the crate.

use crate::{Fact, ModePath, Quote, Symbol};

/// Why an operation has no exact answer. The variants carry the operands; the message says what would be accepted.
///
/// ```
/// use girih_layout::{Int, lay};
/// let error = lay!("(2,2):(1,3)").complement(Int::fixed(12)).unwrap_err();
/// assert_eq!(error.to_string(), "complement needs strides that build on one another: 3 is no multiple of 2");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text stops making sense at a byte.
    Parse {
        /// The byte, counted from 0.
        at: usize,
        /// The text that is accepted there.
        expected: &'static str,
    },
    /// A number does not fit in 64 bits (or a symbol's denominator in 20).
    Overflow {
        /// The operation.
        op: &'static str,
    },
    /// More leaves than [`MAX_LEAVES`](crate::MAX_LEAVES) or deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    Capacity {
        /// The operation.
        op: &'static str,
    },
    /// Two trees differ where they must agree.
    NotCongruent {
        /// The operation.
        op: &'static str,
        /// The first leaf, counted from 0, at which they differ.
        leaf: usize,
    },
    /// The number of modes is wrong.
    RankMismatch {
        /// The operation.
        op: &'static str,
        /// The rank of the layout.
        rank: usize,
        /// The rank of the other operand.
        other: usize,
    },
    /// There is no such mode.
    ModeOutOfRange {
        /// The mode asked for.
        mode: usize,
        /// The rank.
        rank: usize,
    },
    /// A path of modes that can't be kept.
    ModePath {
        /// How many modes the path has.
        depth: usize,
        /// The last mode of the path.
        mode: usize,
    },
    /// Strides along a mode of the coordinates, and strides along modes of that mode.
    MixedModes {
        /// The operation.
        op: &'static str,
        /// The mode that is a number and a tuple.
        mode: ModePath,
    },
    /// There are no such modes.
    ModeRange {
        /// The first mode asked for.
        begin: usize,
        /// The mode after the last.
        end: usize,
        /// The rank: `begin <= end <= rank` is accepted.
        rank: usize,
    },
    /// A coordinate outside its extent.
    CoordOutOfRange {
        /// The coordinate.
        coord: i64,
        /// The extent: `0 <= coord < extent` is accepted.
        extent: Quote,
    },
    /// An index that a layout does not have.
    NoCoordinate {
        /// The operation.
        op: &'static str,
        /// The index.
        index: i64,
    },
    /// An extent below 1.
    NonPositiveShape {
        /// The leaf, counted from 0.
        leaf: usize,
        /// The leaf's extent.
        extent: i64,
    },
    /// A stride that neither divides nor is divided by the extent that it is matched with.
    StrideDivisibility {
        /// The operation.
        op: &'static str,
        /// In a composition, the extent of the left-hand mode; in an upcast, the elements of a unit.
        extent: i64,
        /// The extent of the leaf as far as it is still to be mapped.
        shape: Quote,
        /// The leaf's stride, in units of the left-hand mode.
        stride: i64,
    },
    /// An extent that is not a multiple of a required divisor.
    ShapeDivisibility {
        /// The operation.
        op: &'static str,
        /// The required divisor of the extent.
        divisor: Quote,
        /// The extent.
        shape: Quote,
    },
    /// The right-hand modes carry into one another, so that composing them one by one is wrong.
    Carry {
        /// The operation.
        op: &'static str,
        /// A coordinate at which the carry shows, unless the domain is too large to search.
        witness: Option<Witness>,
    },
    /// No layout has the values of the function, whatever its strides.
    NoLayout {
        /// The operation.
        op: &'static str,
        /// A coordinate at which this shows, if indices are numbers: [`Witness::obtained`] is the only index that the
        /// values before allow.
        witness: Option<Witness>,
    },
    /// With the modes sorted by stride, a stride does not build on the modes before. In a complement it must be a
    /// multiple of the end of the modes below (extent times stride), in a left inverse a multiple of the stride before.
    NotTractable {
        /// The operation.
        op: &'static str,
        /// The required divisor of the stride.
        step: Quote,
        /// The stride.
        stride: Quote,
    },
    /// Two coordinates share an index where the operation needs an injective layout.
    Overlap {
        /// The extent of the mode that overlaps another one (or itself).
        extent: Quote,
        /// The mode's stride.
        stride: Quote,
    },
    /// A negative stride where the operation needs strides of at least 0.
    NonPositiveStride {
        /// The operation.
        op: &'static str,
        /// The stride.
        stride: Quote,
    },
    /// A symbol's facts don't decide the question; the named fact would.
    NeedsFact {
        /// The operation.
        op: &'static str,
        /// The symbol.
        symbol: Symbol,
        /// The fact that would settle the question.
        fact: Fact,
    },
    /// A symbolic integer where a known number is needed.
    NotKnown {
        /// The operation.
        op: &'static str,
        /// The integer.
        value: Quote,
    },
    /// Numbers that are no swizzle.
    Swizzle {
        /// The number of bits.
        bits: u32,
        /// The number of low bits that stay.
        base: u32,
        /// The distance.
        shift: i32,
    },
    /// A search that ended before it had an answer: many modes have strides that don't build on one another.
    Undecided {
        /// The operation.
        op: &'static str,
        /// The steps after which the search ends.
        steps: u32,
    },
    /// A meaningful request that this operation does not do.
    Unsupported {
        /// The operation.
        op: &'static str,
        /// The unsupported case.
        what: &'static str,
    },
}

/// Where two functions differ: a 1-D coordinate (of the right-hand layout in a composition), the index that the definition gives and the
/// index that a layout would have given.
///
/// ```
/// use girih_layout::{Error, lay};
/// let Err(Error::Carry { witness: Some(w), .. }) = lay!("(4,2):(1,10)").composition(&lay!("(2,2):(2,3)")) else { panic!() };
/// assert_eq!((w.coord, w.expected, w.obtained), (3, 11, 5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The 1-D coordinate.
    pub coord: i64,
    /// The index by definition.
    pub expected: i64,
    /// The index of a layout that agrees with the values before.
    pub obtained: i64,
}

impl Error {
    /// A stable name of the variant for machines: `"parse"`, `"carry"` ...
    ///
    /// ```
    /// use girih_layout::{Int, lay};
    /// assert_eq!(lay!("4:-1").complement(Int::fixed(8)).unwrap_err().kind(), "non_positive_stride");
    /// ```
    pub const fn kind(&self) -> &'static str {
        match self {
            Error::Parse { .. } => "parse",
            Error::Overflow { .. } => "overflow",
            Error::Capacity { .. } => "capacity",
            Error::NotCongruent { .. } => "not_congruent",
            Error::RankMismatch { .. } => "rank_mismatch",
            Error::ModeOutOfRange { .. } => "mode_out_of_range",
            Error::ModePath { .. } => "mode_path",
            Error::MixedModes { .. } => "mixed_modes",
            Error::ModeRange { .. } => "mode_range",
            Error::CoordOutOfRange { .. } => "coord_out_of_range",
            Error::NoCoordinate { .. } => "no_coordinate",
            Error::NonPositiveShape { .. } => "non_positive_shape",
            Error::StrideDivisibility { .. } => "stride_divisibility",
            Error::ShapeDivisibility { .. } => "shape_divisibility",
            Error::Carry { .. } => "carry",
            Error::NoLayout { .. } => "no_layout",
            Error::NotTractable { .. } => "not_tractable",
            Error::Overlap { .. } => "overlap",
            Error::NonPositiveStride { .. } => "non_positive_stride",
            Error::NeedsFact { .. } => "needs_fact",
            Error::NotKnown { .. } => "not_known",
            Error::Swizzle { .. } => "swizzle",
            Error::Undecided { .. } => "undecided",
            Error::Unsupported { .. } => "unsupported",
        }
    }
}

impl Error {
    /// The operation that refuses, where the error names one.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let error = lay!("(4,6):(1,8)").zipped_divide(&tiler!("<(2,3):(1,3)>")).unwrap_err();
    /// assert_eq!(error.op(), Some("zipped_divide"));
    /// ```
    pub const fn op(mut self) -> Option<&'static str> {
        match self.op_mut() {
            Some(op) => Some(*op),
            None => None,
        }
    }

    /// The same error with the name of the operation that was called, in the place of the part of it that failed.
    pub(crate) const fn of(mut self, called: &'static str) -> Error {
        if let Some(op) = self.op_mut() {
            *op = called;
        }
        self
    }

    const fn op_mut(&mut self) -> Option<&mut &'static str> {
        match self {
            Error::Overflow { op }
            | Error::Capacity { op }
            | Error::NotCongruent { op, .. }
            | Error::RankMismatch { op, .. }
            | Error::StrideDivisibility { op, .. }
            | Error::ShapeDivisibility { op, .. }
            | Error::Carry { op, .. }
            | Error::MixedModes { op, .. }
            | Error::NoCoordinate { op, .. }
            | Error::NoLayout { op, .. }
            | Error::NotTractable { op, .. }
            | Error::NonPositiveStride { op, .. }
            | Error::NeedsFact { op, .. }
            | Error::NotKnown { op, .. }
            | Error::Undecided { op, .. }
            | Error::Unsupported { op, .. } => Some(op),
            _ => None,
        }
    }
}
