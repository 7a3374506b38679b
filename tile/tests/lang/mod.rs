//! The language: what functions under `#[kernel]` become.

mod programs;
mod refusals;
mod rules;
mod run;
mod surface;
mod waiting;
