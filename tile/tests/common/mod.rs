//! What tests share.

pub(crate) mod assembler;
pub(crate) mod differ;
pub(crate) mod dists;
