//! What was measured for problems on a machine, and what it is worth on this one.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use girih_device::Limits;
use girih_tensor::DType;

use super::{GemmConfig, KernelKind, Problem, candidates, choose, described};
use crate::Error;

/// The first line of records: the version of the format, and that of girih, since others list other configurations.
const HEAD: &str = concat!("girih gemm records, version 1, girih ", env!("CARGO_PKG_VERSION"));

/// The fastest configuration that was measured for a problem, as a line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The GPU, its architecture and its multiprocessors.
    pub machine: String,
    /// The driver's CUDA version.
    pub driver: String,
    /// The day, `2026-11-23` for instance.
    pub date: String,
    /// All that is known of the problem: dtypes, layouts and alignments.
    pub problem: String,
    /// The fastest configuration, as [`described`] says it.
    pub config: String,
    /// The microseconds of a run.
    pub micros: f64,
    /// Those of the configuration that [`choose()`] chooses.
    pub chosen_micros: f64,
}

impl Record {
    /// What was measured on a device of these limits at that day.
    pub fn new(
        problem: &Problem,
        config: &GemmConfig,
        limits: &Limits,
        date: &str,
        micros: [f64; 2],
    ) -> Record {
        Record {
            machine: machine(limits),
            driver: limits.driver_version.map_or(String::from("none"), |driver| driver.to_string()),
            date: date.into(),
            problem: key(problem),
            config: described(config),
            micros: micros[0],
            chosen_micros: micros[1],
        }
    }
}

fn machine(limits: &Limits) -> String {
    format!("{}, sm_{}, {} multiprocessors", limits.name, limits.sm, limits.multiprocessors)
}

/// What the fastest configuration for a problem depends on.
fn key(problem: &Problem) -> String {
    let [a, b, c] = [("A", problem.a()), ("B", problem.b()), ("C", problem.c())]
        .map(|(name, matrix)| format!("{name} {matrix} at multiples of {} bytes", matrix.alignment()));
    let sums = match problem.sums() {
        DType::F16 => ", sums of f16",
        _ if problem.promotes() => ", promoted sums",
        _ => "",
    };
    let scales = match problem.mixed_input() {
        Some(mixed) => format!(", B of {} with scales of {}", mixed.dtype, mixed.scale),
        None => String::from(if problem.block_scales().is_some() { ", blocks with scales" } else { "" }),
    };
    format!("{} to {}{sums}{scales}, {a}, {b}, {c}", problem.dtype(), problem.output())
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { machine, driver, date, problem, config, micros, chosen_micros } = self;
        write!(f, "{machine}\t{driver}\t{date}\t{problem}\t{config}\t{micros:.3}\t{chosen_micros:.3}")
    }
}

impl FromStr for Record {
    type Err = Error;
    fn from_str(line: &str) -> Result<Record, Error> {
        let fields: Vec<&str> = line.split('\t').collect();
        let micros =
            |text: &str| text.parse::<f64>().ok().filter(|micros| micros.is_finite() && *micros > 0.0);
        match *fields {
            [machine, driver, date, problem, config, micros_text, chosen]
                if let (Some(micros), Some(chosen_micros)) = (micros(micros_text), micros(chosen)) =>
            {
                let [machine, driver, date, problem, config] =
                    [machine, driver, date, problem, config].map(String::from);
                Ok(Record { machine, driver, date, problem, config, micros, chosen_micros })
            }
            _ => refuse(
                format!("`{line}`"),
                "seven fields with tabs between them: machine, driver, day, problem, configuration, and microseconds of it and of the chosen one",
            ),
        }
    }
}

fn refuse<T>(found: String, accepted: impl Into<String>) -> Result<T, Error> {
    Err(Error::Record { found, accepted: accepted.into() })
}

/// Records of one machine, which say the configurations of their problems ([`Gemms::with_records`](super::Gemms::with_records)).
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, Record, Records, candidates};
/// use girih_tensor::DType;
///
/// let device = Device::open(Select::Sim)?;
/// let problem = Problem::new(DType::Bf16, [64, 64, 256], Layout::Tn)?;
/// // As a tuner finds it.
/// let fastest = candidates(&problem, device.limits().multiprocessors, 24)[3];
/// let mut records = Records::new(device.limits());
/// records.insert(Record::new(&problem, &fastest, device.limits(), "2026-11-23", [2.5, 2.9]));
/// // As text in a file, and back.
/// let records = Records::read(&records.to_string(), device.limits())?;
/// let gemm = Gemms::new(&device).with_records(records).get(&problem, KernelKind::Sm90)?;
/// assert_eq!(gemm.config(), &fastest);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Records {
    machine: String,
    multiprocessors: u32,
    of: HashMap<String, Known>,
}

/// A record, and its configuration once it was asked for; none if there is no such configuration.
#[derive(Debug)]
struct Known {
    record: Record,
    config: OnceLock<Option<GemmConfig>>,
}

impl Records {
    /// No records of a device with these limits.
    pub fn new(limits: &Limits) -> Records {
        Records { machine: machine(limits), multiprocessors: limits.multiprocessors, of: HashMap::new() }
    }

    /// The records of a text, for a device with these limits.
    ///
    /// # Errors
    /// [`Error::Record`] for a text of another version, a line that is no record, and a record of another machine.
    pub fn read(text: &str, limits: &Limits) -> Result<Records, Error> {
        let mut records = Records::new(limits);
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            let found = format!("records that begin with `{}`", text.lines().next().unwrap_or_default());
            return refuse(
                found,
                format!("`{HEAD}`: measure again, since other versions have other configurations"),
            );
        }
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let record: Record = line.parse()?;
            if record.machine != records.machine {
                return refuse(
                    format!("a record of {}", record.machine),
                    format!("those of {}", records.machine),
                );
            }
            records.insert(record);
        }
        Ok(records)
    }

    /// Adds a record in the place of one of the same problem.
    pub fn insert(&mut self, record: Record) {
        self.of.insert(record.problem.clone(), Known { record, config: OnceLock::new() });
    }

    /// The configuration of a problem, if there is a record of it.
    ///
    /// # Errors
    /// [`Error::Record`] for a configuration that [`candidates`] does not list.
    pub fn config(&self, problem: &Problem) -> Result<Option<GemmConfig>, Error> {
        if self.of.is_empty() {
            return Ok(None);
        }
        let Some(Known { record, config }) = self.of.get(&key(problem)) else { return Ok(None) };
        let found = config.get_or_init(|| {
            let chosen = choose(problem, KernelKind::Sm90, self.multiprocessors).ok();
            let all = chosen.into_iter().chain(candidates(problem, self.multiprocessors, usize::MAX));
            all.into_iter().find(|config| described(config) == record.config)
        });
        match found {
            Some(config) => Ok(Some(*config)),
            None => refuse(
                format!("a record of {} with the configuration `{}`", record.date, record.config),
                "one of the configurations that are listed for the problem: measure again",
            ),
        }
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.of.values().map(|known| known.record.to_string()).collect();
        lines.sort_unstable();
        writeln!(f, "{HEAD}")?;
        lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
