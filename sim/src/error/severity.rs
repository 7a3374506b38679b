//! Which findings make a launch fail.

use std::fmt;

use super::Error;

/// Whether a finding makes a launch fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program relies on something that the ISA does not promise but every GPU does, or its result is the same in
    /// any case.
    Warning,
    /// The program is wrong: on some GPU, at some time, it does something other than it should.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// The warnings that count as errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Deny {
    /// No warning.
    #[default]
    Nothing,
    /// All warnings.
    Warnings,
    /// The warnings of these kinds ([`Error::kind`]).
    Kinds(Vec<String>),
}

impl Deny {
    /// The severity of a finding.
    pub fn severity(&self, finding: &Error) -> Severity {
        match self {
            Deny::Warnings => Severity::Error,
            Deny::Kinds(kinds) if kinds.iter().any(|kind| kind == finding.kind()) => Severity::Error,
            Deny::Nothing | Deny::Kinds(_) => finding.severity(),
        }
    }
}
