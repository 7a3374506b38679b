//! The one error of the crate, and integers and strides as it quotes them.

mod display;
pub(crate) mod quote;
pub(crate) mod variants;
