//! The parser: recursive descent over the tokens of [`lex`](crate::lex), one function a construct of the grammar.

mod cursor;
mod declaration;
mod expression;
mod operand;
mod statement;

use cursor::Parser;

use crate::{Error, Module, Statement};

impl Module {
    /// Parses PTX text. Comments, `.file`, `.loc`, `.section` and the `.pragma`s outside of bodies are dropped.
    ///
    /// # Errors
    /// The first thing in the text that isn't PTX, or isn't supported, with its line and column.
    ///
    /// ```
    /// # use girih_ptx::Module;
    /// let module = Module::parse(".version 8.0 .target sm_80 .address_size 64 .visible .entry empty() { ret; }")?;
    /// assert_eq!(module.target.sm, 80);
    /// assert_eq!(Module::parse(&module.to_string())?, module);
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Module, Error> {
        Parser::new(text)?.module()
    }
}

impl Statement {
    /// Parses the statements of a kernel's body, without its braces.
    ///
    /// # Errors
    /// As [`Module::parse`].
    ///
    /// ```
    /// # use girih_ptx::Statement;
    /// let two = Statement::parse_all("add.f32 %f0, %f1, %f2; ret;")?;
    /// assert_eq!(two.len(), 2);
    /// assert!(Statement::parse_all("ad.f32 %f0, %f1, %f2;").is_err());
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn parse_all(text: &str) -> Result<Vec<Statement>, Error> {
        Parser::new(text)?.body()
    }
}

impl std::str::FromStr for Module {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Module::parse(text)
    }
}
