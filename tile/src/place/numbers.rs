//! What computes the numbers that say where tiles begin.

use crate::ir::{Func, Kind};

/// Whether operations of this kind compute elements from elements alone, or read memory that the program does not write, so that a
/// warpgroup that only loads, or another turn of a loop, may compute them again.
pub(super) fn computes(func: &Func, kind: &Kind) -> bool {
    match kind {
        Kind::Full(_)
        | Kind::Dense(_)
        | Kind::Iota
        | Kind::Bid(_)
        | Kind::NumBlocks(_)
        | Kind::Dim(..)
        | Kind::Param(_)
        | Kind::Each { .. }
        | Kind::Cast(_)
        | Kind::Bitcast
        | Kind::Broadcast
        | Kind::Permute(_)
        | Kind::Reshape => true,
        Kind::Load(_) | Kind::Gather(_) => func.is_pure(kind),
        _ => false,
    }
}
