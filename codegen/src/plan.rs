//! Analyses of a partition before its kernel runs: proofs that each element has one owner, bank conflicts, sectors.
//!
//! Each question is a function. An error names the two places that hold the same element, or the element that no thread holds.

mod access;
mod along;
mod convert;
mod copy;
mod deal;
mod dist;
mod emit;
mod exchange;
mod map;
mod meet;
mod proof;
pub mod shuffle;
mod staged;
mod swizzle;
mod traffic;
mod vector;
mod vectors;

pub use crate::error::{Fault, Place};
pub use access::{Conflict, Pieces, WarpAccess, warp_accesses};
pub use along::{Digit, Line};
pub use convert::{Conversion, Means};
pub use copy::coalesced_copy;
pub use dist::{Dist, LANE_BITS, Leaf, primes};
pub use exchange::{Exchange, ROUND_TRIP, Shared, rename};
pub use map::{BestMap, Order, best_map};
pub use proof::{exactly_once, in_bounds, injective, race_free};
pub use staged::{StagedCopy, staged_copy};
pub(crate) use staged::{most_threads, most_threads_staged, vectors_in_order};
pub use swizzle::{Access, best_swizzle};
pub use traffic::{Traffic, traffic};
pub use vector::{Limit, widest_vector};
pub use vectors::{Vectors, WIDEST, fastest, lanes, lines, run, sectors};
