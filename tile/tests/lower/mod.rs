//! Lowering, against the reference evaluator.

mod each;
mod memory;
