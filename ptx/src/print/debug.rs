//! `.loc`, and the names of inlined functions, which `.loc` states by labels in the section `.debug_str`.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result};

use crate::ast::*;

impl Display for Loc {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".loc {}", self.at)?;
        let Some(Inlined { function, at }) = &self.inlined else { return Ok(()) };
        write!(f, ", function_name {}, inlined_at {at}", label(function))
    }
}

/// The numbers as in `.loc`: `1 42 5`.
impl Display for SourcePlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {}", self.file, self.line, self.column)
    }
}

/// The label of a function's name: letters and digits of the name as they are, other bytes in hexadecimal after a `$`.
fn label(function: &str) -> String {
    let mut label = String::from("$name_");
    for byte in function.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => label.push(byte.into()),
            _ => label += &format!("${byte:02x}"),
        }
    }
    label
}

/// The section with the names of the inlined functions in the items' statements.
pub(super) fn strings(f: &mut Formatter<'_>, items: &[Item]) -> Result {
    let mut names = BTreeSet::new();
    for item in items {
        match item {
            Item::Kernel(kernel) => collect(&kernel.body, &mut names),
            Item::Function(function) => collect(function.body.as_deref().unwrap_or_default(), &mut names),
            Item::Variable(_) | Item::File(_) => {}
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n.section .debug_str\n{{")?;
    for name in names {
        write!(f, "{}:\n  .b8 ", label(name))?;
        name.bytes().try_for_each(|byte| write!(f, "{byte}, "))?;
        writeln!(f, "0")?;
    }
    writeln!(f, "}}")
}

fn collect<'s>(body: &'s [Statement], names: &mut BTreeSet<&'s Name>) {
    for statement in body {
        match statement {
            Statement::Loc(Loc { inlined: Some(inlined), .. }) => {
                names.insert(&inlined.function);
            }
            Statement::Block(body) => collect(body, names),
            _ => {}
        }
    }
}
