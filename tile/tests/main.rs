//! Tests of the tile language.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod errors;
mod facts;
mod lang;
mod launch;
mod lower;
mod math;
mod memory;
mod pass;
mod place;
mod product;
mod random;
mod reference;
mod same;
mod shape;
mod text;
mod tune;
mod verify;
mod wgmma;
