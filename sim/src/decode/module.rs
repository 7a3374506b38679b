//! Decodes a module to a program.

use std::sync::Arc;

use girih_ptx::{self as ptx, Item};

use super::Decoder;
use super::origin::Files;
use super::variable::Globals;
use crate::Error;
use crate::program::{Kernel, Program};

impl Program {
    /// Decodes every kernel of a module, with the functions that it calls and with the claims about registers in the
    /// module's notes, which are checked when the kernel runs ([`Error::FalseClaim`]). A kernel that can't be executed
    /// does not affect the others; [`Program::kernel`] returns the reason.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Undeclared`] or [`Error::Operand`], with line and text of the first statement
    /// that can't be executed, if no kernel of the module can be, or if the statement is a variable of the module.
    pub fn load(module: &girih_ptx::Module) -> Result<Program, Error> {
        let (mut kernels, mut refused) = (Vec::new(), Vec::new());
        let parsed = with_lines(module);
        for (name, kernel) in decode(parsed.as_ref().unwrap_or(module))? {
            match kernel {
                Ok(kernel) => kernels.push(kernel),
                Err(error) => refused.push((name, error)),
            }
        }
        match refused.first() {
            Some((_, error)) if kernels.is_empty() => Err(error.clone()),
            _ => Ok(Program { kernels, refused }),
        }
    }
}

/// The module as parsed from its own text, if it has notes, since the notes refer to lines of the text. Notes that are
/// about another text are dropped.
fn with_lines(module: &girih_ptx::Module) -> Option<girih_ptx::Module> {
    if module.notes.is_empty() {
        return None;
    }
    let text = module.to_string();
    let mut parsed = girih_ptx::Module::parse(&text).ok()?;
    if module.notes.are_of(&text) {
        parsed.notes = module.notes.clone();
    }
    Some(parsed)
}

/// A kernel's name, and the kernel or the reason why it can't be executed.
type Decoded = (Arc<str>, Result<Kernel, Error>);

/// The parts of a module that its kernels refer to.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) variables: &'a [&'a ptx::Variable],
    pub(super) functions: &'a [&'a ptx::Function],
    pub(super) code_names: &'a [&'a ptx::Name],
    pub(super) globals: &'a Globals,
    pub(super) files: &'a Files,
    pub(super) notes: &'a ptx::Notes,
}

/// Decodes every kernel of a module.
fn decode(module: &ptx::Module) -> Result<Vec<Decoded>, Error> {
    let variables: Vec<&ptx::Variable> = (module.items.iter())
        .filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            Item::Kernel(_) | Item::Function(_) | Item::File(_) => None,
        })
        .collect();
    let functions: Vec<&ptx::Function> = (module.items.iter())
        .filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None })
        .collect();
    let mut code_names: Vec<&ptx::Name> = Vec::new();
    for item in &module.items {
        match item {
            Item::Kernel(ptx::Kernel { name, .. }) | Item::Function(ptx::Function { name, .. })
                if !code_names.contains(&name) =>
            {
                code_names.push(name);
            }
            _ => {}
        }
    }
    let (globals, files) = (Globals::place(&variables, &code_names)?, Files::of(module));
    let context = Surroundings {
        variables: &variables,
        functions: &functions,
        code_names: &code_names,
        globals: &globals,
        files: &files,
        notes: &module.notes,
    };
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some((kernel.name.clone(), Decoder::kernel(kernel, context))),
        Item::Variable(_) | Item::Function(_) | Item::File(_) => None,
    });
    Ok(kernels.collect())
}
