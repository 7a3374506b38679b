//! The errors of this crate.

use crate::{Inst, Span};

/// An error in a piece of PTX, with its place and the accepted text.
///
/// Every message about a module starts with the place: `line 3, column 7` of the text parsed, or `the module` for a tree
/// that was built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Modules that cannot be linked to one.
    #[error("linking {what}: accepted are {accepted}")]
    Link {
        /// The parts that do not go together.
        what: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// The text does not match the grammar.
    #[error("{at}: expected {expected}, found {found}")]
    Syntax {
        /// Where.
        at: Span,
        /// What would be accepted here.
        expected: String,
        /// What is here.
        found: String,
    },
    /// An instruction starts with a word that isn't an opcode known here.
    #[error("{at}: unknown opcode `{word}`")]
    UnknownOpcode {
        /// Where.
        at: Span,
        /// The word.
        word: String,
    },
    /// A modifier is not a word of PTX known here.
    #[error("{at}: unknown modifier `.{word}` of `{opcode}`")]
    UnknownModifier {
        /// Where.
        at: Span,
        /// The word, without its dot.
        word: String,
        /// The opcode that the modifier follows.
        opcode: String,
    },
    /// A literal's value does not fit.
    #[error("{at}: `{literal}` is not {expected}")]
    Literal {
        /// Where.
        at: Span,
        /// The literal as written.
        literal: String,
        /// What would be accepted here.
        expected: String,
    },
    /// PTX, but outside of the part that this crate reads.
    #[error("{at}: {what} not supported; {instead}")]
    Unsupported {
        /// Where.
        at: Span,
        /// The construct, with its verb: "device functions are".
        what: &'static str,
        /// The replacement.
        instead: &'static str,
    },
    /// No form of the opcode has these modifiers.
    #[error("{at}: `{inst}`: expected {expected}, found {found}")]
    Modifier {
        /// Where.
        at: Span,
        /// The instruction.
        inst: String,
        /// The modifiers that would be accepted in the place of the first wrong one.
        expected: String,
        /// The modifier that is there.
        found: String,
    },
    /// No form with these modifiers has this many operands.
    #[error("{at}: `{inst}`: {found} operands don't fit the form `{form}`")]
    OperandCount {
        /// Where.
        at: Span,
        /// The instruction.
        inst: String,
        /// The form's syntax.
        form: String,
        /// How many operands the instruction has.
        found: usize,
    },
    /// An operand is not what the form has in its place.
    #[error("{at}: `{inst}`: operand {number} must be {expected}, found {found}")]
    Operand {
        /// Where.
        at: Span,
        /// The instruction.
        inst: String,
        /// The operand's place, from 1.
        number: usize,
        /// What would be accepted.
        expected: String,
        /// The operand, and what is known of its name.
        found: String,
    },
    /// No declaration in scope has this name.
    #[error("{at}: `{inst}`: `{name}` is not declared; declare it before, in this block or one around it")]
    Undeclared {
        /// Where.
        at: Span,
        /// The instruction.
        inst: String,
        /// The name.
        name: String,
    },
    /// A name is declared twice in a block.
    #[error("{at}: `{name}` is declared already in this block; use another name")]
    Redeclared {
        /// Where.
        at: Span,
        /// The name.
        name: String,
    },
    /// A name is not an identifier of PTX.
    #[error(
        "{at}: `{name}` is not an identifier: a letter, or one of `_$%` and more, of letters, digits, `_` and `$`"
    )]
    Name {
        /// Where.
        at: Span,
        /// The name.
        name: String,
    },
    /// A guard is not a predicate register.
    #[error("{at}: `{inst}`: the guard `{name}` must be a register of type .pred")]
    Guard {
        /// Where.
        at: Span,
        /// The instruction.
        inst: String,
        /// The name.
        name: String,
    },
    /// A register or a variable can't be declared so.
    #[error("{at}: `{text}`: expected {expected}")]
    Declaration {
        /// Where.
        at: Span,
        /// The declaration.
        text: String,
        /// What would be accepted.
        expected: String,
    },
    /// The module's `.version` is too low.
    #[error("{at}: `{what}` needs `.version {needs}`, the module has {found}")]
    Version {
        /// Where.
        at: Span,
        /// The construct that needs a higher version.
        what: String,
        /// The lowest `.version` that has the construct.
        needs: String,
        /// The module's `.version`.
        found: String,
    },
    /// The module's `.target` does not have a construct.
    #[error("{at}: `{what}` needs `.target {needs}`, the module has {found}")]
    Target {
        /// Where.
        at: Span,
        /// The construct that needs another target.
        what: String,
        /// The lowest `.target` that has the construct.
        needs: String,
        /// The module's `.target`.
        found: String,
    },
    /// A field of a tensor map that the hardware does not take.
    #[error("tensor map: {field} is {value}, must be {accepted}")]
    TensorMap {
        /// The field.
        field: String,
        /// The field's value.
        value: u64,
        /// What would be accepted.
        accepted: String,
    },
    /// Bytes that are no encoded tensor map.
    #[error("these bytes are no tensor map: {why}; `TensorMap::to_bytes` makes one")]
    NotATensorMap {
        /// The error in the bytes.
        why: &'static str,
    },
}

impl Error {
    /// The error's place in the text; line 0 if the error has no place.
    pub fn span(&self) -> Span {
        match self {
            Error::Syntax { at, .. }
            | Error::UnknownOpcode { at, .. }
            | Error::UnknownModifier { at, .. }
            | Error::Literal { at, .. }
            | Error::Unsupported { at, .. }
            | Error::Modifier { at, .. }
            | Error::OperandCount { at, .. }
            | Error::Operand { at, .. }
            | Error::Undeclared { at, .. }
            | Error::Redeclared { at, .. }
            | Error::Name { at, .. }
            | Error::Guard { at, .. }
            | Error::Declaration { at, .. }
            | Error::Version { at, .. }
            | Error::Target { at, .. } => *at,
            Error::TensorMap { .. } | Error::NotATensorMap { .. } | Error::Link { .. } => Span::default(),
        }
    }

    /// The message, then the line of `text` that the message is about, with a caret under the place.
    ///
    /// ```
    /// # use girih_ptx::Module;
    /// let text = ".version 8.0\n.target sm_8O\n";
    /// let error = Module::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.quoting(text),
    ///     "line 2, column 9: expected a target such as `sm_80` or `sm_90a`, found `sm_8O`\n  \
    ///        | .target sm_8O\n  \
    ///        |         ^"
    /// );
    /// ```
    pub fn quoting(&self, text: &str) -> String {
        /// Characters before and after the place that are shown.
        const BEFORE: usize = 60;
        const AFTER: usize = 60;
        let Span { line, column } = self.span();
        let quoted = (line as usize).checked_sub(1).and_then(|index| text.lines().nth(index));
        let (Some(quoted), Some(place)) = (quoted, (column as usize).checked_sub(1)) else {
            return self.to_string();
        };
        let from = place.saturating_sub(BEFORE);
        // Tabs stay, so that the caret is under its character.
        let shown: String = quoted.chars().skip(from).take(BEFORE + AFTER).collect();
        let blank: String = (quoted.chars().skip(from).take(place - from))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("{self}\n  | {}\n  | {blank}^", shown.trim_end())
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.column) {
            (0, _) => f.write_str("the module"),
            (line, column) => write!(f, "line {line}, column {column}"),
        }
    }
}

impl Inst {
    /// The instruction's text for a message: a long text is cut.
    pub(crate) fn brief(&self) -> String {
        const LONGEST: usize = 100;
        let text = self.to_string();
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }
}
