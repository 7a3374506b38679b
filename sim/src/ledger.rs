//! The findings of one execution.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::{Error, Options, Origin, Severity, Site};

/// A finding of an execution. Each kind and pair of source lines is reported once; of PTX without source lines, each kind
/// and pair of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The finding and its place.
    pub error: Error,
    /// The severity of the finding, after [`Options::deny`].
    pub severity: Severity,
    /// The [`Options::seed`] of the execution.
    pub seed: u64,
    /// The address of the finding as the program would name it: `tile[3]`, `argument 0 (x) + 12`.
    pub name: Option<String>,
    /// For how many pairs of PTX instructions the finding is told, all of the same source lines.
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        if let (Some(address), Some(name)) = (self.error.address(), &self.name) {
            write!(f, "; {address:#x} is {name}")?;
        }
        match self.count {
            0 | 1 => Ok(()),
            count => write!(f, "; and {} more like it, of other PTX instructions of these lines", count - 1),
        }
    }
}

/// The behaviour of an execution after a finding that need not end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It ends, even if the finding is a warning.
    Probe,
    /// It ends if the finding is an error.
    First,
    /// It goes on.
    All,
}

/// Findings with the same key count as one: the kind, and the user's innermost source line of each instruction, in any
/// order; for an instruction without a source line, its line and text in the PTX.
pub(crate) type Key = (&'static str, Vec<(u32, Arc<str>)>);

pub(crate) fn key(error: &Error) -> Key {
    let told = |site: &Site| match site.place.origin.as_deref().map(Origin::innermost) {
        Some(origin) => (origin.line, origin.file.clone()),
        None => (site.place.line, site.place.instruction.clone()),
    };
    sorted(error, told)
}

/// The kind, and the line and the text of each instruction.
fn instructions(error: &Error) -> Key {
    sorted(error, |site| (site.place.line, site.place.instruction.clone()))
}

fn sorted(error: &Error, told: impl Fn(&Site) -> (u32, Arc<str>)) -> Key {
    let mut places: Vec<_> = error.sites().map(told).collect();
    places.sort_unstable();
    (error.kind(), places)
}

/// The findings of an execution so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    mode: Mode,
    /// The pairs of instructions that have been told.
    known: HashSet<Key>,
    /// Where the finding of each key is in the list, or beyond its end if it is not told.
    places: HashMap<Key, usize>,
    findings: Vec<Finding>,
    errors: usize,
    untold: u64,
}

impl Ledger {
    pub(crate) fn new(mode: Mode) -> Ledger {
        Ledger {
            mode,
            known: HashSet::new(),
            places: HashMap::new(),
            findings: Vec::new(),
            errors: 0,
            untold: 0,
        }
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
        if !self.known.insert(instructions(&error)) {
            return;
        }
        let key = key(&error);
        if let Some(&at) = self.places.get(&key) {
            if let Some(finding) = self.findings.get_mut(at) {
                finding.count += 1;
            }
            return;
        }
        let like = self.findings.iter().filter(|finding| finding.severity == severity).count();
        if like >= options.most_findings() {
            self.untold += 1;
            self.places.insert(key, usize::MAX);
            return;
        }
        self.places.insert(key, self.findings.len());
        self.errors += usize::from(severity == Severity::Error);
        self.findings.push(Finding { error, severity, seed: options.seed, name: None, count: 1 });
    }

    /// All findings, with the error that ended the execution.
    pub(crate) fn close(mut self, ended: Option<Error>, options: &Options) -> (Vec<Finding>, u64) {
        if let Some(error) = ended {
            self.add(error, Severity::Error, options);
        }
        (self.findings, self.untold)
    }
}
