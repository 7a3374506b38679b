//! Indices as vectors of bits: swizzles, matrices over F2, and layouts with F2 columns taken apart.

pub(crate) mod columns;
pub(crate) mod elimination;
pub(crate) mod matrix;
pub(crate) mod of_layout;
pub(crate) mod of_swizzle;
pub(crate) mod swizzle;
