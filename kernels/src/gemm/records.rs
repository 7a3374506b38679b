//! Records: the fastest measured configurations of problems, and whether they apply to this machine.

mod fields;
mod record;

use std::fmt;
use std::sync::OnceLock;

use girih_codegen::gemm::Major;
use girih_device::{Limits, Record};

use super::choose::{Plan, fitted, takes_epilogues, takes_outputs};
use super::{GemmConfig, KernelKind, Problem};
use crate::Error;
use record::Product;

pub(super) use fields::Fields;
pub(super) use record::{Kind, product_of};
pub use record::{record, record_key, record_mnk};

/// The first line of records: the version of the format, and that of girih, since others list other configurations.
const HEAD: &str = concat!("girih gemm records, version 3, girih ", env!("CARGO_PKG_VERSION"));

/// What was measured on an H200, as `girih tune gemm --output` writes it, and `gpu_rows --tuned` of a sweep. A line may be changed by hand.
const SHIPPED: &str = include_str!("../../records/h200.txt");

fn refuse<T>(found: String, accepted: impl Into<String>) -> Result<T, Error> {
    Err(Error::Record { found, accepted: accepted.into() })
}

/// Records of one machine, which say the configurations of their problems ([`Gemms::with_records`](super::Gemms::with_records)).
///
/// A record is a line of seven fields with tabs between them: machine, driver, day, problem ([`record_key`]), plan ([`Plan`]), and microseconds of it
/// and of the configuration that was chosen. A record counts for its problem, and for the same product of elements of the same widths in other
/// layouts or at other pitches, where its plan fits and TMA copies store C.
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
/// records.insert(record(&problem, &fastest, device.limits(), "2026-11-23", [2.5, 2.9])?)?;
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

/// A record, its product if others may be alike, and its plan.
#[derive(Debug)]
struct Known {
    record: Record,
    product: Option<Product>,
    plan: Plan,
}

impl Records {
    /// No records of a device with these limits.
    pub fn new(limits: &Limits) -> Records {
        Records { machine: Record::machine(limits), multiprocessors: limits.multiprocessors, all: Vec::new() }
    }

    /// The records of a text, for a device with these limits.
    ///
    /// # Errors
    /// [`Error::Record`] for a text of another version, a line that is no record, and a record of another machine; [`Error::Field`] for a field of
    /// its problem or of its plan that is not what it may be.
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
    /// use girih_kernels::gemm::{KernelKind, Layout, Problem, Records, choose, record_mnk};
    /// use girih_tensor::DType;
    ///
    /// let problem = Problem::new(DType::Bf16, [512; 3], Layout::Tn)?;
    /// let record = Records::shipped()?.iter().find(|record| record_mnk(record) == Some([512; 3])).expect("one of 512^3");
    /// assert_eq!(record.machine, "NVIDIA H200, sm_90, 132 multiprocessors");
    /// assert_eq!(record.config.parse::<choose::Plan>()?.config(&problem)?, choose(&problem, KernelKind::Sm90, 132)?);
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
                let accepted = "seven fields with tabs between them: machine, driver, day, problem, plan, and microseconds of it and of the chosen one";
                return refuse(format!("`{line}`"), accepted);
            };
            if record.machine != self.machine {
                return refuse(
                    format!("a record of {}", record.machine),
                    format!("those of {}", self.machine),
                );
            }
            self.insert(record)?;
        }
        Ok(self)
    }

    /// Adds a record in the place of one of the same problem.
    ///
    /// # Errors
    /// [`Error::Field`] for a field of its problem or of its plan that is not what it may be.
    pub fn insert(&mut self, record: Record) -> Result<(), Error> {
        let known = Known { product: Product::read(&record)?, plan: record.config.parse()?, record };
        match self.all.iter_mut().find(|other| other.record.problem == known.record.problem) {
            Some(other) => *other = known,
            None => self.all.push(known),
        }
        Ok(())
    }

    /// The records.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.all.iter().map(|known| &known.record)
    }

    /// The SMs of the machine.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The plans of products of a kind.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = Plan> {
        let of_kind = move |known: &&Known| known.product.is_some_and(|product| product.kind == kind);
        self.all.iter().filter(of_kind).map(|known| known.plan)
    }

    /// The configuration for a problem, if there is a record that counts for it.
    ///
    /// # Errors
    /// [`Error::Record`] for a record of this problem whose plan does not solve it.
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
        if let Some(Known { record, plan, .. }) = all.clone().find(|known| known.record.problem == key) {
            return match plan.config(problem) {
                Ok(config) => Ok(Some((config, record))),
                Err(why) => refuse(
                    format!("a record of {} with the plan `{plan}`: {why}", record.date),
                    "a plan that solves the problem: measure again",
                ),
            };
        }
        let mut alike = all.filter(|known| known.product.is_some());
        Ok(alike.find_map(|known| Some((fitted(problem, &known.plan)?, &known.record))))
    }

    /// The same for a kernel of this kind, if the configuration leaves registers for what is computed of the accumulators. Problems whose rows are the
    /// same wherever they are have no records.
    ///
    /// # Errors
    /// As [`Records::config`].
    pub(super) fn follow(
        &self,
        problem: &Problem,
        kind: KernelKind,
    ) -> Result<Option<(GemmConfig, &Record)>, Error> {
        if kind != KernelKind::Sm90 || problem.is_invariant() {
            return Ok(None);
        }
        let leaves_room = |config: &GemmConfig| {
            (!problem.is_fused() || takes_epilogues(config))
                && (!(problem.reduces() || problem.is_gated()) || takes_outputs(config))
                // Both columns of a pair lie in a thread, both rows do not.
                && !(problem.is_gated() && config.c_major == Major::Mn)
        };
        Ok(self.find(problem)?.filter(|(config, _)| leaves_room(config)))
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}
