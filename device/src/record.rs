//! One record: what was measured, where and when, as a line of text.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Limits};

/// The fastest configuration that was measured for a problem on a device, as a line of text: seven fields with tabs between them.
///
/// # Examples
/// ```
/// use girih_device::{Device, Record, Select};
///
/// let device = Device::open(Select::Sim)?;
/// let record = Record {
///     machine: Record::machine(device.limits()),
///     driver: "none".into(),
///     date: "2026-11-23".into(),
///     problem: "sum of 4096".into(),
///     config: "256 threads".into(),
///     micros: 2.5,
///     chosen_micros: 2.75,
/// };
/// assert_eq!(record.to_string().parse::<Record>()?, record);
/// assert!("2.5".parse::<Record>().is_err());
/// # Ok::<(), girih_device::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The GPU, its architecture and its SMs.
    pub machine: String,
    /// The driver's version, or that of CUDA which the driver supports.
    pub driver: String,
    /// The day, `2026-11-23` for instance.
    pub date: String,
    /// All that is known of the problem.
    pub problem: String,
    /// The fastest configuration.
    pub config: String,
    /// The microseconds of a run.
    pub micros: f64,
    /// Those of the configuration that was chosen without a measurement.
    pub chosen_micros: f64,
}

impl Record {
    /// The name of a device with these limits in records: its name, its architecture and its SMs.
    pub fn machine(limits: &Limits) -> String {
        format!("{}, sm_{}, {} multiprocessors", limits.name, limits.sm, limits.multiprocessors)
    }

    /// The name of the driver of a device with these limits in records.
    pub fn driver(limits: &Limits) -> String {
        limits.driver_version.map_or(String::from("none"), |driver| driver.to_string())
    }
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
            _ => Err(Error::Record { line: line.into() }),
        }
    }
}
