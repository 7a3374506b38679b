//! The language: what functions under `#[kernel]` become.

mod more;
mod programs;
mod refusals;
mod rules;
mod run;
mod shadowed;
mod surface;
mod waiting;
