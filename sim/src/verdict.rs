//! The verdict on a launch: the findings of all its executions, and which of them count as errors.

use std::collections::HashMap;

use crate::execute::{Outcome, execute};
use crate::ledger::{Key, Mode, key};
use crate::snapshot::Snapshot;
use crate::{Error, Finding, Kernel, Launch, Memory, Options, Report, Severity};

/// The results of all executions of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The counts of the first execution, up to its end or to the finding that ended it.
    pub report: Report,
    /// The findings of all executions in the order in which they were made; each kind and pair of source lines once.
    pub findings: Vec<Finding>,
    /// The number of findings that are left out because there are more than [`Options::limit`].
    pub untold: u64,
    /// The seeds of the executions: those that were asked for, up to the first with an error.
    pub seeds: Vec<u64>,
}

impl Verdict {
    /// Whether there is no error among the findings.
    pub fn passed(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// The findings that are warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Warning)
    }
}

/// Executes a launch with [`Options::seeds`] seeds from [`Options::seed`] on, and reports all findings, up to
/// [`Options::limit`]. An execution goes on after a finding that leaves the memory as it should be, such as a race or a
/// use of an undefined value, and ends at the first other one: an access out of bounds, a deadlock, a `trap`. After an
/// execution with an error there is no further one.
///
/// Each execution begins with the present contents of the memory and of the module's variables. Afterwards these are as
/// the first execution has left them. [`Options::print`], [`Options::profile`] and [`Options::observer`] are told of
/// the first execution only.
///
/// ```
/// use girih_sim::{Launch, Memory, Options, Program, judge};
///
/// // A thread writes, its neighbour reads.
/// let module = girih_ptx::Module::parse(
///     ".version 8.0 .target sm_80 .address_size 64
///      .visible .entry shift(.param .u64 io) {
///        .reg .b32 %i, %x; .reg .b64 %p, %at;
///        ld.param.u64 %p, [io]; mov.u32 %i, %tid.x;
///        mad.wide.u32 %at, %i, 4, %p;
///        ld.global.u32 %x, [%at+4]; st.global.u32 [%at], %x; ret;
///      }",
/// )?;
/// let program = Program::load(&module)?;
/// let memory = Memory::new();
/// let args = vec![memory.alloc(65 * 4)?.to_le_bytes().into()];
/// let launch = Launch { grid: [1; 3], block: [64, 1, 1], args, ..Launch::default() };
/// let options = Options { seeds: 4, ..Options::checked() };
/// let verdict = judge(program.kernel("shift")?, &memory, &launch, &options)?;
/// assert!(!verdict.passed());
/// assert_eq!(verdict.findings[0].error.kind(), "race");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A launch that does not fit the kernel, as for [`run`](crate::run); then nothing has been executed.
pub fn judge(kernel: &Kernel, memory: &Memory, launch: &Launch, options: &Options) -> Result<Verdict, Error> {
    let before = (options.seeds > 1).then(|| Snapshot::new(kernel, memory));
    let mut verdict = Verdict::default();
    verdict.take(execute(kernel, memory, launch, options, Mode::All)?, options.seed);
    let Some(before) = before.filter(|_| verdict.passed()) else { return Ok(verdict) };
    let after = before.changed();
    for nth in 1..options.seeds {
        before.restore();
        let seed = options.seed.wrapping_add(nth.into());
        let quiet = Options { seed, print: None, profile: None, observer: None, ..options.clone() };
        verdict.take(execute(kernel, memory, launch, &quiet, Mode::All)?, seed);
        if !verdict.passed() {
            break;
        }
    }
    after.restore();
    Ok(verdict)
}

impl Verdict {
    /// Adds the findings of another execution.
    fn take(&mut self, outcome: Outcome, seed: u64) {
        if self.seeds.is_empty() {
            let warnings = outcome.findings.iter().filter(|found| found.severity == Severity::Warning);
            self.report = Report { warnings: warnings.count() as u64, ..outcome.report };
        }
        let known: HashMap<Key, usize> =
            self.findings.iter().enumerate().map(|(at, finding)| (key(&finding.error), at)).collect();
        for found in outcome.findings {
            match known.get(&key(&found.error)) {
                Some(&at) => self.findings[at].count = self.findings[at].count.max(found.count),
                None => self.findings.push(found),
            }
        }
        self.untold = self.untold.max(outcome.untold);
        self.seeds.push(seed);
    }
}
