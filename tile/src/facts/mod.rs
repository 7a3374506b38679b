//! What is known of a kernel's arguments, and what follows from it for stores and bounds.

mod known;

pub use known::{ArrayFacts, Facts};
