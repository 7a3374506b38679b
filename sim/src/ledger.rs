//! The findings of one execution.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::{Error, Options, Severity};

/// A finding of an execution. Each kind and pair of instructions is reported once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was found, and where.
    pub error: Error,
    /// The severity of the finding, after [`Options::deny`].
    pub severity: Severity,
    /// The [`Options::seed`] of the execution.
    pub seed: u64,
    /// The address of the finding as the program would name it: `tile[3]`, `argument 0 (x) + 12`.
    pub name: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        match (self.error.address(), &self.name) {
            (Some(address), Some(name)) => write!(f, "; {address:#x} is {name}"),
            _ => Ok(()),
        }
    }
}

/// What an execution does after a finding that does not have to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It ends, even if the finding is a warning.
    Probe,
    /// It ends if the finding is an error.
    First,
    /// It goes on.
    All,
}

/// Findings with the same key count as one: the kind, and the line and the text of each instruction, in any order.
pub(crate) type Key = (&'static str, Vec<(u32, Arc<str>)>);

pub(crate) fn key(error: &Error) -> Key {
    let mut places: Vec<_> =
        error.sites().map(|site| (site.place.line, site.place.instruction.clone())).collect();
    places.sort_unstable();
    (error.kind(), places)
}

/// The findings of an execution so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    mode: Mode,
    known: HashSet<Key>,
    findings: Vec<Finding>,
    errors: usize,
    untold: u64,
}

impl Ledger {
    pub(crate) fn new(mode: Mode) -> Ledger {
        Ledger { mode, known: HashSet::new(), findings: Vec::new(), errors: 0, untold: 0 }
    }

    /// Records a finding after which the execution could go on. Returns it as an error if the execution is to end.
    pub(crate) fn note(&mut self, error: Error, options: &Options) -> Result<(), Error> {
        let severity = options.deny.severity(&error);
        match self.mode {
            Mode::Probe => return Err(error),
            Mode::First if severity == Severity::Error => return Err(error),
            Mode::First | Mode::All => {}
        }
        self.add(error.clone(), severity, options);
        if self.mode == Mode::All && self.errors >= options.most_findings() { Err(error) } else { Ok(()) }
    }

    fn add(&mut self, error: Error, severity: Severity, options: &Options) {
        if !self.known.insert(key(&error)) {
            return;
        }
        let like = self.findings.iter().filter(|finding| finding.severity == severity).count();
        if like >= options.most_findings() {
            self.untold += 1;
            return;
        }
        self.errors += usize::from(severity == Severity::Error);
        self.findings.push(Finding { error, severity, seed: options.seed, name: None });
    }

    /// All findings, with the error that ended the execution.
    pub(crate) fn close(mut self, ended: Option<Error>, options: &Options) -> (Vec<Finding>, u64) {
        if let Some(error) = ended {
            self.add(error, Severity::Error, options);
        }
        (self.findings, self.untold)
    }
}
