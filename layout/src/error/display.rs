//! The messages of errors.

use core::fmt;

use crate::{Error, MAX_DEPTH, MAX_LEAVES, ModePath};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parse { at, expected } => write!(f, "at byte {at}: expected {expected}"),
            Error::Overflow { op } => write!(f, "{op} does not fit in 64 bits"),
            Error::Capacity { op } => {
                write!(f, "{op} needs more than {MAX_LEAVES} leaves or {MAX_DEPTH} levels")
            }
            Error::NotCongruent { op, leaf } => {
                write!(
                    f,
                    "{op}: the two tuples are not nested alike, from leaf {leaf} on (counted from 0); for each tuple a tuple of as many modes \
                     is accepted"
                )
            }
            Error::RankMismatch { op, rank, other } => {
                write!(f, "{op}: the layout has rank {rank}, the other operand rank {other}")
            }
            Error::ModeOutOfRange { mode, rank } => write!(f, "there is no mode {mode} in rank {rank}"),
            Error::ModePath { depth, mode } => write!(
                f,
                "no basis vector has a path of {depth} modes with mode {mode} last: 1 to {} modes are accepted, each less than {}",
                ModePath::MAX_DEPTH,
                ModePath::MODES
            ),
            Error::MixedModes { op, mode } => write!(
                f,
                "{op}: mode {mode} of the coordinates would be a number and a tuple; strides along it or along its modes are \
                 accepted, not both"
            ),
            Error::ModeRange { begin, end, rank } => write!(
                f,
                "there are no modes {begin} up to {end} in rank {rank}: a beginning not past the end, and an end of at most {rank} \
                 are accepted"
            ),
            Error::CoordOutOfRange { coord, extent } => {
                write!(f, "coordinate {coord} is outside the extent {extent}")
            }
            Error::NoCoordinate { op, index } => {
                write!(f, "{op}: no coordinate of the layout has the index {index}")
            }
            Error::NonPositiveShape { leaf, extent } => {
                write!(f, "leaf {leaf} of the shape is {extent}; a known extent is at least 1")
            }
            Error::StrideDivisibility { op, extent, shape, stride } => write!(
                f,
                "{op} with {shape}:{stride}: stride {stride} and extent {extent} don't divide one another; a divisor or a multiple of \
                 {extent} is accepted"
            ),
            Error::ShapeDivisibility { op, divisor, shape } => {
                write!(f, "{op}: extent {shape} must be a multiple of {divisor}")
            }
            Error::Carry { op, witness: Some(w) } => write!(
                f,
                "{op}: the right-hand modes carry into one another: at coordinate {} the index is {}, mode by mode it would be {}",
                w.coord, w.expected, w.obtained
            ),
            Error::Carry { op, witness: None } => {
                write!(
                    f,
                    "{op}: the right-hand modes may carry into one another, and the domain is too large to search"
                )
            }
            Error::NoLayout { op, witness: Some(w) } => write!(
                f,
                "{op}: no layout has these values: at coordinate {} the index is {}, a layout that agrees so far has {}",
                w.coord, w.expected, w.obtained
            ),
            Error::NoLayout { op, witness: None } => write!(f, "{op}: no layout has these values"),
            Error::NotTractable { op, step, stride } => {
                write!(f, "{op} needs strides that build on one another: {stride} is no multiple of {step}")
            }
            Error::Overlap { extent, stride } => {
                write!(f, "the layout is not injective: mode {extent}:{stride} meets an index twice")
            }
            Error::NonPositiveStride { op, stride } => {
                write!(f, "{op} needs strides of at least 0, this one is {stride}")
            }
            Error::NeedsFact { op, symbol, fact } => {
                write!(f, "{op} needs a fact about {symbol}: declare it {fact}")
            }
            Error::NotKnown { op, value } => write!(f, "{op} needs a known number, not {value}"),
            Error::Swizzle { bits, base, shift } => write!(
                f,
                "Sw<{bits},{base},{shift}> is no swizzle: |shift| must be at least bits, and bits + base + |shift| at most 62"
            ),
            Error::Undecided { op, steps } => write!(
                f,
                "{op} is not decided within {steps} steps: it wants fewer modes, or strides of which most are multiples of others"
            ),
            Error::Unsupported { op, what } => write!(f, "{op} does not support {what}"),
        }
    }
}

impl core::error::Error for Error {}
