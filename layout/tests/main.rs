//! One binary for all of them, since linking one for each file takes longer than running it.

mod constant;
mod examples;
mod numbers;
#[cfg(feature = "serde")]
mod serde;
mod sizes;
mod typed;
mod typed_compile;
