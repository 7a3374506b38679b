//! Placement: the rules hold, and what comes out.

mod naive;
pub(crate) mod programs;
