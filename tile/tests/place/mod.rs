//! Placement: the rules hold, and what comes out.

mod exchange;
mod explain;
mod naive;
pub(crate) mod programs;
mod search;
