//! Placement: the rules hold, and what comes out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod exchange;
mod explain;
mod naive;
mod orders;
pub(crate) mod programs;
mod registers;
mod search;
mod warps;
