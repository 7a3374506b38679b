//! Tests of the tile language.

mod place;
mod same;
mod text;
mod verify;
