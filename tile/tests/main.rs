//! Tests of the tile language.
