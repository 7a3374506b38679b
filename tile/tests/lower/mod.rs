//! Lowering, against the reference evaluator.

mod control;
mod each;
mod indexed;
mod memory;
mod programs;
mod regions;
