//! Tests of the tile language.

mod common;
mod facts;
mod lang;
mod launch;
mod lower;
mod math;
mod memory;
mod pass;
mod place;
mod random;
mod reference;
mod same;
mod shape;
mod text;
mod verify;
