//! What of the benches runs without a GPU.
#![allow(missing_docs, reason = "tests")]

mod rows;
mod run;
mod table;
mod tuned;
