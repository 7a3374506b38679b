//! What can be known of a partition before it runs: proofs that it is right, bank conflicts, sectors.
//!
//! CuTe's users print layouts and stare at them; here each question is a function, and a refusal names the two places
//! that meet or the element that nobody holds.

mod meet;
mod proof;

pub use proof::{Fault, Place, exactly_once, in_bounds, injective, race_free};

#[cfg(test)]
mod tests;
