//! Layouts as text: the grammar, pictures and tables, and the messages of compile errors.

pub(crate) mod explain;
mod facts;
mod form;
pub(crate) mod message;
pub(crate) mod palette;
mod parse;
pub(crate) mod picture;
#[cfg(feature = "serde")]
mod serde;
pub(crate) mod table;
