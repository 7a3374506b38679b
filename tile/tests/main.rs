//! Tests of the tile language.

mod common;
mod lower;
mod place;
mod same;
mod shape;
mod text;
mod verify;
