//! Tests of the tile language.
mod same;
