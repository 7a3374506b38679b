//! The parser: recursive descent over the tokens of [`lex`](crate::lex), one function a construct of the grammar.

mod cursor;
mod debug;
mod declaration;
mod expression;
mod operand;
mod statement;
mod variable;

use cursor::Parser;

use crate::{Error, Module, Name, Statement};

impl Module {
    /// Parses PTX text. Comments, the `.pragma`s outside of bodies and the `.section`s are dropped, except for the
    /// strings of `.debug_str` from which `.loc` takes the names of inlined functions.
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
        let mut parser = Parser::new(ended(text))?;
        parser.module(|_, _, error| Err(error))
    }

    /// Parses PTX text and verifies each kernel, function and variable on its own. Items that are not PTX, or not
    /// supported, are left out and returned with their errors, and so are the items that name them; the other items can
    /// be used.
    ///
    /// # Errors
    /// What is wrong with the text as a whole: its tokens, its braces, its `.version` and `.target`.
    ///
    /// ```
    /// # use girih_ptx::Module;
    /// let (module, refused) = Module::parse_each(
    ///     ".version 8.0 .target sm_80 .address_size 64
    ///      .visible .entry good() { ret; }
    ///      .visible .entry bad() { frobnicate; ret; }",
    /// )?;
    /// assert_eq!((module.kernels().len(), refused.len()), (1, 1));
    /// assert_eq!(refused[0].error.to_string(), "line 3, column 30: unknown opcode `frobnicate`");
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn parse_each(text: &str) -> Result<(Module, Vec<Refused>), Error> {
        let mut parser = Parser::new(ended(text))?;
        let mut refused = Vec::new();
        let mut module = parser.module(|parser, start, error| {
            refused.push(parser.pass_over(start, error)?);
            Ok(())
        })?;
        module.retain_verified(&mut refused)?;
        Ok((module, refused))
    }
}

/// A text without the NULs at its end: the size that NVRTC gives includes one.
fn ended(text: &str) -> &str {
    text.trim_end_matches('\0')
}

/// A kernel, a function or a variable that [`Module::parse_each`] has left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The item's name.
    pub name: Name,
    /// Whether the item is a kernel.
    pub kernel: bool,
    /// The error in the item, or in a left-out item that it names.
    pub error: Error,
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
