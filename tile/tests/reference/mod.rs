//! The reference evaluator, against oracles that share nothing with it.

mod control;
mod float;
mod meaning;
mod product;
