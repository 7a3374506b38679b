//! The one error of the crate, and integers and strides as it quotes them.

pub(crate) mod quote;
pub(crate) mod variants;
