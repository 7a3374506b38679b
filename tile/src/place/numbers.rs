//! The operations that compute the indices of tiles.

use crate::ir::{Func, Kind};

/// Whether operations of this kind compute elements from elements alone, each thread its own. Reshapes may need other distributions.
pub(super) fn of_elements(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Full(_)
            | Kind::Dense(_)
            | Kind::Iota
            | Kind::Bid(_)
            | Kind::NumBlocks(_)
            | Kind::Worker
            | Kind::Workers
            | Kind::Dim(..)
            | Kind::Param(_)
            | Kind::Each { .. }
            | Kind::Cast(_)
            | Kind::Bitcast
            | Kind::Broadcast
            | Kind::Permute(_)
    )
}

/// Whether operations of this kind compute numbers from numbers alone, or read memory that the program does not write, so that a
/// warpgroup that only loads, or another iteration of a loop, may compute them again.
pub(super) fn computes(func: &Func, kind: &Kind) -> bool {
    match kind {
        Kind::Reshape => true,
        Kind::Load(_) | Kind::Gather(_) => func.is_pure(kind),
        kind => of_elements(kind),
    }
}
