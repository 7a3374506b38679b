//! PTX as a typed syntax tree.
//!
//! ```text
//! text --parse--> Module --print--> text        parse(print(m)) == m
//! ```
//!
//! PTX text exists only in the printer; everything that generates PTX builds a [`Module`], everything that reads
//! PTX gets one from [`Module::parse`].

pub mod ast;
pub mod words;

pub use ast::*;
pub use words::{Modifier, Opcode, Special, Type, Word};
