//! Records of the tuner, as lines of text.

use std::fmt;

use girih_device::{Limits, Record};

use super::refused;
use super::space::{Point, Space};
use crate::error::Result;
use crate::launch::{Launch, stable_hash};

/// The first line of records: the version of the format, and that of girih, since others make other kernels of a program.
const HEAD: &str = concat!("girih tile records, version 1, girih ", env!("CARGO_PKG_VERSION"));

/// The problem of a record: a kernel with arguments of certain types, extents and strides, and the key of its kernels.
pub(super) struct Problem {
    machine: String,
    driver: String,
    text: String,
    /// Of the usual point's program, and of what is asked of the arguments.
    program: u64,
    facts: u64,
}

impl Problem {
    /// The text of a point and of the programs.
    pub(super) fn config(&self, point: &Point, program: u64) -> String {
        let Problem { program: usual, facts, .. } = self;
        format!("{point}; programs {usual:016x} {program:016x}; facts {facts:016x}")
    }

    pub(super) fn record(self, config: String, costs: [f64; 2]) -> Record {
        Record {
            machine: self.machine,
            driver: self.driver,
            date: String::new(),
            problem: self.text,
            config,
            micros: costs[0],
            chosen_micros: costs[1],
        }
    }
}

impl Launch<'_> {
    /// The problem of this launch's records.
    pub(super) fn problem(&self) -> Result<Problem> {
        let limits = self.limits()?;
        Ok(Problem {
            machine: Record::machine(limits),
            driver: Record::driver(limits),
            text: self.described(),
            program: self.program_hash()?,
            facts: stable_hash(&self.facts_text(limits.sm)?),
        })
    }
}

/// Records of one machine.
#[derive(Clone, Debug, Default)]
pub struct Records {
    machine: String,
    all: Vec<Record>,
}

impl Records {
    /// No records of a device with these limits.
    pub fn new(limits: &Limits) -> Records {
        Records { machine: Record::machine(limits), all: Vec::new() }
    }

    /// The records of a text, for a device with these limits.
    ///
    /// # Errors
    /// [`LaunchError::Record`](crate::launch::LaunchError::Record) for a text of another version of girih, a line that is no record, and a record of another machine.
    pub fn read(text: &str, limits: &Limits) -> Result<Records> {
        let mut records = Records::new(limits);
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        if head != HEAD {
            return Err(refused(
                format!("records that begin with `{head}` (measure again)"),
                format!("`{HEAD}`"),
            ));
        }
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let record: Record = line.parse().map_err(|_| {
                refused(format!("`{line}`"), "the seven fields of a record, with tabs between them")
            })?;
            if record.machine != records.machine {
                return Err(refused(
                    format!("a record of {}", record.machine),
                    format!("those of {}", records.machine),
                ));
            }
            records.insert(record);
        }
        Ok(records)
    }

    /// Adds a record in the place of one of the same kernel and arguments.
    pub fn insert(&mut self, record: Record) {
        match self.all.iter_mut().find(|other| other.problem == record.problem) {
            Some(other) => *other = record,
            None => self.all.push(record),
        }
    }

    /// The records.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.all.iter()
    }

    /// The point that is recorded for a launch of the usual point, and the program that it is of; `None` if nothing is recorded.
    fn find(&self, usual: &Launch<'_>) -> Result<Option<(Point, String)>> {
        let problem = usual.problem()?;
        if self.machine != problem.machine {
            return Err(refused(
                format!("records of {}", self.machine),
                format!("those of {}", problem.machine),
            ));
        }
        let Some(record) = self.all.iter().find(|record| record.problem == problem.text) else {
            return Ok(None);
        };
        let point: Point = record.config.split("; ").next().unwrap_or_default().parse()?;
        Ok(Some((point, record.config.clone())))
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.all.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}

/// The launch at the point that is recorded for these arguments, or at the usual one where nothing is recorded; `make` makes the launch of a
/// point, as for [`tune`](super::tune).
///
/// # Errors
/// [`LaunchError::Record`](crate::launch::LaunchError::Record) for records of another machine, and for a record of another space, or of a program or of facts of its arguments
/// that have changed since. Those of writing the programs.
pub fn launch<'a, A: ?Sized>(
    args: &'a mut A,
    space: &Space,
    records: &Records,
    mut make: impl for<'b> FnMut(&'b mut A, &Point) -> Launch<'b>,
) -> Result<Launch<'a>> {
    let usual =
        space.points(1).next().ok_or_else(|| refused("a space without points", "one that has some"))?;
    let found = {
        let launch = make(args, &usual).replace_hints(&usual.hints());
        match records.find(&launch)? {
            None => None,
            Some((point, config)) => Some((point, config, launch.problem()?)),
        }
    };
    let Some((point, config, problem)) = found else {
        return Ok(make(args, &usual).replace_hints(&usual.hints()));
    };
    if !space.has(&point) {
        return Err(refused(format!("a record of `{point}`"), "one of a point of the space"));
    }
    let launch = make(args, &point).replace_hints(&point.hints());
    let now = problem.config(&point, launch.program_hash()?);
    if now != config {
        return Err(refused(format!("a record of `{config}` (measure again)"), format!("one of `{now}`")));
    }
    Ok(launch)
}
