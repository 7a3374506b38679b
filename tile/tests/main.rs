//! Tests of the tile language.

mod common;
mod lower;
mod math;
mod place;
mod same;
mod shape;
mod text;
mod verify;
