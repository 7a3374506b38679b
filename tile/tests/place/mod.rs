//! Placement: the rules hold, and what comes out.

mod exchange;
mod naive;
pub(crate) mod programs;
mod search;
