//! The common parts of the reports of all kernels. A report is text, one fact in a line, or JSON.

use std::fmt;
use std::io::{self, Write};

use girih_device::{Kernel, Samples};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::counts::Counts;
use crate::output::Output;

/// Prints a report on stdout by one write.
pub(crate) fn print<R: Serialize + fmt::Display>(report: &R, json: bool) -> io::Result<()> {
    let text = if json { serde_json::to_string(report)? + "\n" } else { report.to_string() };
    io::stdout().lock().write_all(text.as_bytes())
}

/// Writes one line: the name of a fact, then the fact.
pub(crate) fn line(f: &mut fmt::Formatter<'_>, name: &str, what: impl fmt::Display) -> fmt::Result {
    writeln!(f, "{name:<26}{what}")
}

/// The report of a run whose result was compared with a reference: of the problem `P` by the kernel `K`, with the result `C` of the check.
#[derive(serde::Serialize)]
pub(crate) struct Report<P, K, C> {
    pub(crate) device: DeviceReport,
    pub(crate) problem: P,
    pub(crate) kernel: K,
    pub(crate) time: Timing,
    #[serde(flatten)]
    pub(crate) rate: Rate,
    pub(crate) check: C,
    /// The files that were written.
    pub(crate) written: Vec<String>,
    pub(crate) passed: bool,
}

impl<P: fmt::Display, K: fmt::Display, C: fmt::Display> fmt::Display for Report<P, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.device, self.problem, self.kernel)?;
        line(f, if self.time.is_simulated() { "simulated in" } else { "time" }, &self.time)?;
        write!(f, "{}{}", self.rate, self.check)?;
        self.written.iter().try_for_each(|file| line(f, "written", file))?;
        writeln!(f, "{}", if self.passed { "PASSED" } else { "FAILED" })
    }
}

/// The paths of what was written.
pub(crate) fn paths(outputs: impl IntoIterator<Item = Option<Output>>) -> Vec<String> {
    outputs.into_iter().flatten().map(|output| output.path().display().to_string()).collect()
}

/// The throughput on a GPU; none on the simulator.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Rate {
    /// Of a kernel that multiplies.
    Products { tflops: Option<f64> },
    /// Of a kernel that reads keys and values.
    Keys { gigabytes_per_second: Option<f64> },
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Products { tflops: Some(rate) } => line(f, "rate", format_args!("{rate:.2} TFLOP/s")),
            Rate::Keys { gigabytes_per_second: Some(rate) } => {
                line(f, "rate", format_args!("{rate:.1} GB/s, keys and values read"))
            }
            _ => Ok(()),
        }
    }
}

/// The device that ran the kernel.
#[derive(serde::Serialize)]
pub(crate) struct DeviceReport {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) sm: u32,
    pub(crate) fallback: Option<String>,
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "device", format_args!("{} ({}, sm_{})", self.name, self.kind, self.sm))?;
        self.fallback.as_ref().map_or(Ok(()), |why| line(f, "", format_args!("no GPU: {why}")))
    }
}

/// The partitions that the kernel was derived from, what the kernel takes of the device, and what the simulator has executed.
#[derive(serde::Serialize)]
pub(crate) struct KernelReport {
    name: String,
    partitions: Vec<Partition>,
    threads: u32,
    registers: Option<u32>,
    spill_bytes: Option<u32>,
    local_bytes: Option<u32>,
    static_shared_bytes: u32,
    dynamic_shared_bytes: u32,
    ptx_instructions: usize,
    /// The counts of the simulator.
    executed: Option<Counts>,
}

#[derive(serde::Serialize)]
struct Partition {
    name: &'static str,
    text: String,
}

impl KernelReport {
    /// The report of a kernel that has just run with blocks of `threads`.
    pub(crate) fn new(
        kernel: &Kernel,
        partitions: &[(&'static str, String)],
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> KernelReport {
        let resources = kernel.resources();
        KernelReport {
            name: kernel.name().into(),
            partitions: partitions
                .iter()
                .map(|(name, text)| Partition { name, text: text.clone() })
                .collect(),
            threads,
            registers: resources.registers,
            spill_bytes: resources.spill_bytes,
            local_bytes: resources.local_bytes,
            static_shared_bytes: resources.static_shared,
            dynamic_shared_bytes,
            ptx_instructions: resources.instructions,
            executed: kernel.device().sim_report().map(Counts),
        }
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "kernel", format_args!("{}, blocks of {} threads", self.name, self.threads))?;
        for Partition { name, text } in &self.partitions {
            writeln!(f, "  {name:<24}{text}")?;
        }
        match self.registers {
            None => line(f, "registers", "assigned by the GPU's compiler, not by the simulator")?,
            Some(registers) => {
                // The driver's compiler says how many bytes are spilled when it compiles, but not when it finds the kernel in its cache.
                let spilled = self.spill_bytes.map_or(String::new(), |b| format!(", {b} bytes spilled"));
                let local = self.local_bytes.unwrap_or(0);
                line(
                    f,
                    "registers",
                    format_args!("{registers} a thread{spilled}, {local} bytes of local memory"),
                )?;
            }
        }
        let shared = self.static_shared_bytes + self.dynamic_shared_bytes;
        line(f, "shared memory", format_args!("{shared} bytes a block"))?;
        line(f, "instructions", format_args!("{} in the PTX", self.ptx_instructions))?;
        let Some(Counts(report)) = &self.executed else { return Ok(()) };
        line(f, "executed", report)
    }
}

/// The times of a kernel's runs. JSON has them in seconds.
pub(crate) struct Timing(pub(crate) Samples);

impl Serialize for Timing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Timing(samples) = self;
        let mut object = serializer.serialize_struct("Timing", 4)?;
        object.serialize_field("runs", &samples.runs().len())?;
        object.serialize_field("median_s", &samples.median().as_secs_f64())?;
        object.serialize_field("min_s", &samples.min().as_secs_f64())?;
        object.serialize_field("max_s", &samples.max().as_secs_f64())?;
        object.end()
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose =
            if self.is_simulated() { " by the CPU, which says nothing about a GPU's speed" } else { "" };
        write!(f, "{}{whose}", self.0)
    }
}

impl Timing {
    /// Whether it is the time that the simulator took: only the simulator measures a single run.
    fn is_simulated(&self) -> bool {
        self.0.runs().len() == 1
    }
}
