//! Reductions, scans, order and places of elements: lowered programs against the reference evaluator, over random distributions.

mod along;
mod data;
mod pins;
mod programs;
mod run;
