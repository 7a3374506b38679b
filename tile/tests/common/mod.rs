//! What tests share.

pub(crate) mod differ;
pub(crate) mod dists;
