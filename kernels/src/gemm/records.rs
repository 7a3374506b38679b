//! Records: the fastest measured configurations of problems, and whether they apply to this machine.

mod record;

use std::fmt;
use std::sync::OnceLock;

use girih_device::{Limits, Record};

use super::choose::{by_rules, followed, planned};
use super::{GemmConfig, KernelKind, Problem, candidates, described};
use crate::Error;
use record::Product;

pub(super) use record::Kind;
pub(super) use record::product_of;
pub use record::{record, record_key, record_mnk};

/// The first line of records: the version of the format, and that of girih, since others list other configurations.
const HEAD: &str = concat!("girih gemm records, version 2, girih ", env!("CARGO_PKG_VERSION"));

/// The measurements on an H200, as `girih tune gemm --output` and `gpu_rows --tuned` write them. A line may be changed by hand.
const SHIPPED: &str = include_str!("../../records/h200.txt");

fn refuse<T>(found: String, accepted: impl Into<String>) -> Result<T, Error> {
    Err(Error::Record { found, accepted: accepted.into() })
}

/// Records of one machine, which say the configurations of their problems ([`Gemms::with_records`](super::Gemms::with_records)).
///
/// A record counts for its problem as it is. For the same GEMM of elements of the same widths, but of other layouts or pitches, what
/// counts is its plan: tile, warpgroups, schedule and multicast.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, Records, candidates, record};
/// use girih_tensor::DType;
///
/// let device = Device::open(Select::Sim)?;
/// let problem = Problem::new(DType::Bf16, [64, 64, 256], Layout::Tn)?;
/// // As a tuner finds it.
/// let fastest = candidates(&problem, device.limits().multiprocessors, 24)[3];
/// let mut records = Records::new(device.limits());
/// records.insert(record(&problem, &fastest, device.limits(), "2026-11-23", [2.5, 2.9]));
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
    /// In the order of their lines.
    all: Vec<Known>,
}

/// A record, its GEMM, and its configuration once it was asked for; none if there is no such configuration.
#[derive(Debug)]
struct Known {
    record: Record,
    product: Option<Product>,
    config: OnceLock<Option<GemmConfig>>,
}

impl Records {
    /// No records of a device with these limits.
    pub fn new(limits: &Limits) -> Records {
        Records { machine: Record::machine(limits), multiprocessors: limits.multiprocessors, all: Vec::new() }
    }

    /// The records of a text, for a device with these limits.
    ///
    /// # Errors
    /// [`Error::Record`] for a text of another version, a line that is no record, and a record of another machine.
    pub fn read(text: &str, limits: &Limits) -> Result<Records, Error> {
        Records::new(limits).with(text)
    }

    /// The records that girih comes with, which [`choose`](super::choose()) follows on devices of as many SMs: those of an H200.
    ///
    /// # Errors
    /// [`Error::Record`] as [`Records::read`], which no release of girih returns: its tests read them.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::gemm::{KernelKind, Layout, Problem, Records, choose, described, record_mnk};
    /// use girih_tensor::DType;
    ///
    /// let problem = Problem::new(DType::Bf16, [512; 3], Layout::Tn)?;
    /// let record = Records::shipped()?.iter().find(|record| record_mnk(record) == Some([512; 3])).expect("one of 512^3");
    /// assert_eq!(record.machine, "NVIDIA H200, sm_90, 132 multiprocessors");
    /// assert_eq!(record.config, described(&choose(&problem, KernelKind::Sm90, 132)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shipped() -> Result<&'static Records, &'static Error> {
        static RECORDS: OnceLock<Result<Records, Error>> = OnceLock::new();
        RECORDS.get_or_init(|| Records::of_one_machine(SHIPPED)).as_ref()
    }

    /// The records of a text, all of which are of the first one's machine.
    fn of_one_machine(text: &str) -> Result<Records, Error> {
        let first = text.lines().nth(1).unwrap_or_default();
        let machine = first.split('\t').next().unwrap_or_default();
        let count = machine.rsplit(", ").next().and_then(|last| last.strip_suffix(" multiprocessors"));
        let Some(multiprocessors) = count.and_then(|count| count.parse().ok()) else {
            return refuse(format!("`{first}`"), "a record of a machine of so many multiprocessors");
        };
        Records { machine: machine.into(), multiprocessors, all: Vec::new() }.with(text)
    }

    /// These records and those of a text.
    fn with(mut self, text: &str) -> Result<Records, Error> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            let found = format!("records that begin with `{}`", text.lines().next().unwrap_or_default());
            return refuse(
                found,
                format!("`{HEAD}`: measure again, since other versions have other configurations"),
            );
        }
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let Ok(record) = line.parse::<Record>() else {
                let accepted = "seven fields with tabs between them: machine, driver, day, problem, configuration, and microseconds of it and of the chosen one";
                return refuse(format!("`{line}`"), accepted);
            };
            if record.machine != self.machine {
                return refuse(
                    format!("a record of {}", record.machine),
                    format!("those of {}", self.machine),
                );
            }
            self.insert(record);
        }
        Ok(self)
    }

    /// Adds a record in the place of one of the same problem.
    pub fn insert(&mut self, record: Record) {
        let product = Product::read(product_of(&record));
        let known = Known { record, product, config: OnceLock::new() };
        match self.all.iter_mut().find(|other| other.record.problem == known.record.problem) {
            Some(other) => *other = known,
            None => self.all.push(known),
        }
    }

    /// The records.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.all.iter().map(|known| &known.record)
    }

    /// The SMs of the machine.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The configurations of GEMMs of a kind.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let of_kind = move |known: &&Known| known.product.is_some_and(|product| product.kind == kind);
        self.all.iter().filter(of_kind).map(|known| &*known.record.config)
    }

    /// The configuration for a problem, if there is a record that counts for it.
    ///
    /// # Errors
    /// [`Error::Record`] for a record of this problem whose configuration [`candidates()`] does not list.
    pub fn config(&self, problem: &Problem) -> Result<Option<GemmConfig>, Error> {
        Ok(self.find(problem)?.map(|(config, _)| config))
    }

    /// The configuration for a problem, with the record that counts for it.
    ///
    /// # Errors
    /// As [`Records::config`].
    pub(super) fn find(&self, problem: &Problem) -> Result<Option<(GemmConfig, &Record)>, Error> {
        let product = Product::of(problem);
        let of_product = |known: &&Known| known.product.is_none() || known.product == product;
        let mut all = self.all.iter().filter(of_product).peekable();
        // Most problems have no record, and their text need not be made.
        if all.peek().is_none() {
            return Ok(None);
        }
        let key = record_key(problem);
        if let Some(Known { record, config, .. }) = all.clone().find(|known| known.record.problem == key) {
            let config = config.get_or_init(|| self.listed(problem, &record.config));
            return match config {
                Some(config) => Ok(Some((*config, record))),
                None => refuse(
                    format!("a record of {} with the configuration `{}`", record.date, record.config),
                    "one of the configurations that are listed for the problem: measure again",
                ),
            };
        }
        let mut alike = all.filter(|known| known.product.is_some()).map(|known| &known.record);
        Ok(alike.find_map(|record| Some((followed(problem, &record.config)?, record))))
    }

    /// The configuration for a problem that a line says, if it is listed.
    fn listed(&self, problem: &Problem, line: &str) -> Option<GemmConfig> {
        planned(problem, line).or_else(|| {
            let usual = by_rules(problem, KernelKind::Sm90, self.multiprocessors.into());
            let mut all = usual.into_iter().chain(candidates(problem, self.multiprocessors, usize::MAX));
            all.find(|config| described(config) == line)
        })
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}
