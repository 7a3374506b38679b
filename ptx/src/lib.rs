//! PTX as a typed syntax tree.
//!
//! ```text
//! text --parse--> Module --print--> text        parse(print(m)) == m
//! ```
//!
//! PTX text exists only in the printer; everything that generates PTX builds a [`Module`], everything that reads
//! PTX gets one from [`Module::parse`].

pub mod ast;
mod error;
pub mod forms;
pub mod info;
mod lex;
mod literal;
mod parse;
mod print;
mod verify;
pub mod words;

pub use ast::*;
pub use error::Error;
pub use forms::Form;
pub use info::{KernelInfo, ParamInfo};
pub use words::{Modifier, Opcode, Special, Type, Word};
