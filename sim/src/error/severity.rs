//! Which findings make a launch fail.

use std::fmt;

use super::Error;

/// Whether a finding makes a launch fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program relies on something that the ISA does not promise but every GPU does (the finding is
    /// [formal](Error::is_formal)), or its result is the same in any case.
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

/// Why a data race does no harm on any GPU. By the ISA it is a race all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formal {
    /// Both accesses write, and write the same bytes.
    SameValue,
    /// One access is an atomic. The other reads the same bytes, and the value that it reads decides nothing but what is
    /// done next, such as whether the thread does an atomic there too, or is what a compare-and-swap compares with.
    Guard,
    /// The read value goes nowhere but to stores, and the thread has executed none of them: another thread has updated
    /// the bytes in place for all.
    Discarded,
    /// The earlier access is of a thread that had exited when a barrier let the later thread go, as barriers wait only for
    /// threads that have not exited.
    Exited,
}

/// The text after the words "data race" in a message.
impl fmt::Display for Formal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Formal::SameValue => "of equal values",
            Formal::Guard => "of an atomic and a read that only guards one",
            Formal::Discarded => "of an update in place and a read whose value is discarded",
            Formal::Exited => "with a thread that had exited before the barrier",
        })
    }
}

/// The warnings that count as errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Deny {
    /// No warning.
    #[default]
    Nothing,
    /// The warnings that are [formal](Error::is_formal).
    Formal,
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
            Deny::Formal if finding.is_formal() => Severity::Error,
            Deny::Kinds(kinds) if kinds.iter().any(|kind| kind == finding.kind()) => Severity::Error,
            Deny::Nothing | Deny::Formal | Deny::Kinds(_) => finding.severity(),
        }
    }
}
