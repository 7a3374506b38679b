//! Lowering, against the reference evaluator.

pub(crate) mod ahead;
mod control;
mod counting;
mod divide;
mod each;
mod hints;
mod indexed;
mod memory;
mod own;
mod packed;
mod products;
mod programs;
mod regions;
