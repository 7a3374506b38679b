//! Facts about a kernel's arguments, and proofs about its stores and bounds.
//!
//! ```text
//! Func --Index: values as polynomials--> accesses --disjoint: a proof--> Report { verdicts, conditions of the launch, bounds }
//!                                                 \-- or a witness: two blocks with a conflict
//! ```

mod access;
mod agree;
mod bounds;
mod check;
mod common;
mod cover;
mod disjoint;
mod grid;
mod index;
mod interval;
mod known;
mod poly;
mod report;
mod uses;
mod witness;

pub(crate) use crate::dtype::integer;
pub use bounds::{AxisBounds, Bound, Bounds, GridCheck};
pub use check::check;
pub(crate) use check::{axes_used, is_positive, ordered};
#[cfg(feature = "launch")]
pub(crate) use cover::{Short, short};
pub use grid::{GridAxis, infer};
pub(crate) use index::{Index, arithmetic};
pub use interval::Concrete;
#[cfg(feature = "launch")]
pub(crate) use interval::Intervals;
pub use known::{ArrayFacts, Facts};
pub use poly::{Atom, Poly};
pub use report::{Condition, Report, Verdict};
#[cfg(feature = "launch")]
pub(crate) use uses::stride;
pub use uses::{Found, Uses};
