//! Layouts as text: the grammar, tables, and the messages of compile errors.

pub(crate) mod explain;
mod facts;
mod form;
pub(crate) mod message;
mod parse;
#[cfg(feature = "serde")]
mod serde;
pub(crate) mod table;
