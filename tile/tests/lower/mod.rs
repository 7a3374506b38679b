//! Lowering, against the reference evaluator.

mod control;
mod each;
mod memory;
mod programs;
