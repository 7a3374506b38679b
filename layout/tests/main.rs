//! One binary for all of them, since linking one for each file takes longer than running it.

mod constant;
mod examples;
mod numbers;
#[cfg(feature = "serde")]
mod serde;
mod sizes;

/// Where every public item has an example.
const SOURCES: &str = "src";
