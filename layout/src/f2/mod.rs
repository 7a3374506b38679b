//! Indices as vectors of bits: swizzles, matrices over F2, and layouts with F2 columns taken apart.

pub(crate) mod columns;
mod elimination;
pub(crate) mod matrix;
mod of_layout;
mod of_swizzle;
pub(crate) mod swizzle;
