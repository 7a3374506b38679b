//! Placement: the rules hold, and what comes out.

mod exchange;
mod explain;
mod naive;
mod orders;
pub(crate) mod programs;
mod search;
