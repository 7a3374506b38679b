//! A function after an offset after a layout: swizzled layouts, and any other function in the place of the swizzle.

pub(crate) mod composed;
pub(crate) mod function;
mod inside;
mod unswizzle;
