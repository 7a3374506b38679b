//! What tests share.

pub mod differ;
