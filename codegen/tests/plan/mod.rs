//! Proofs, conversions and accesses against enumeration and the simulator.
#![expect(clippy::unwrap_used, reason = "tests")]

mod convert;
mod dist;
mod memory;
mod proof;
mod shuffle;
mod staged;
