//! Reductions, scans, order and places of elements: lowered programs against the reference evaluator, over random distributions.

#![expect(clippy::unwrap_used, reason = "tests")]

mod along;
mod data;
mod orders;
mod pins;
mod programs;
mod run;
mod shuffles;
