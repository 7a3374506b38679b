//! The common parts of commands that run kernels: the device, the measurement of time, and parts of reports.

mod report;

use girih_device::{Device, Kind, Select, ShortMemory, SimOptions, host_fits};
use girih_tensor::DType;
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::{Error, progress};
pub(crate) use report::{DeviceReport, KernelReport, Rate, Report, Timing, line, paths, print};

/// The arguments that choose a device and say how the device runs.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// `cuda`, `cuda:1`, `sim`, or `auto`, which is the device that GIRIH_DEVICE names, else the first GPU, else the simulator
    #[arg(long, default_value = "auto")]
    device: Select,
    /// Simulate without the checks for data races and reads of uninitialised memory (bounds are always checked)
    #[arg(long)]
    no_check: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// The bytes that a command holds at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    /// In the device's memory: inputs, results, and the other memory of kernels.
    pub(crate) device: u64,
    /// In the host's memory: inputs, results, what these are compared with, and copies on the way.
    pub(crate) host: u64,
    /// In the host's memory too, if a simulator checks the run: its shadow of accesses ([`checks`]).
    pub(crate) checks: u64,
}

/// The most memory that a simulator's checks use for an array of this many bytes, of which a kernel accesses this many elements.
pub(crate) fn checks(array: u64, elements: u64, dtype: DType) -> u64 {
    /// Bytes that are remembered together.
    const PAGE: u64 = 4096;
    /// Of each element of a page, as measured: its last accesses.
    const CELL: u64 = 12;
    let width = u64::from(dtype.bits().div_ceil(8).max(1));
    let pages = array.min(elements.saturating_mul(PAGE));
    // And the instructions and clocks of a page's accesses, with what is written: a quarter more than the page.
    (pages / width).saturating_mul(CELL).saturating_add(pages).saturating_add(pages / 4)
}

/// The bytes of this many elements, or all that 64 bits count.
pub(crate) fn bytes(elements: i64, dtype: DType) -> u64 {
    let bits = u64::try_from(elements).unwrap_or(0).saturating_mul(dtype.bits().into());
    bits.div_ceil(8)
}

/// An open device, and a progress bar for work of more than a second on the simulator.
pub(crate) struct Session {
    pub(crate) device: Device,
    /// Why the device is not a GPU.
    fallback: Option<String>,
    bar: ProgressBar,
    /// Whether a simulator checks what it runs.
    checks: bool,
}

impl Session {
    pub(crate) fn open(args: &RunArgs) -> Result<Session, girih_device::Error> {
        let opened = Device::open(args.device)?;
        let fallback = opened.fallback().map(ToString::to_string);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let device = match opened.kind() {
            Kind::Cuda => opened,
            Kind::Sim => {
                let options = if args.no_check { SimOptions::fast() } else { SimOptions::checked() };
                let progress = Some(progress::of_blocks(bar.clone()));
                Device::open_sim(SimOptions { progress, ..options })?
            }
        };
        Ok(Session { device, fallback, bar, checks: !args.no_check })
    }

    /// Refuses what the memory of the device or of the host cannot hold, before anything is allocated. The simulator's memory is the host's.
    pub(crate) fn fits(&self, peak: Peak) -> Result<(), Error> {
        let available = self.device.limits().memory_bytes;
        if peak.device > available {
            let memory = self.device.name().into();
            return Err(ShortMemory { needed: peak.device, memory, available }.into());
        }
        match self.device.kind() {
            Kind::Cuda => Ok(host_fits(peak.host)?),
            Kind::Sim => {
                let checks = if self.checks { peak.checks } else { 0 };
                Ok(host_fits(peak.host.saturating_add(peak.device).saturating_add(checks))?)
            }
        }
    }

    /// Measures a kernel, and takes the progress bar away.
    pub(crate) fn time(
        &self,
        work: &mut dyn FnMut() -> Result<(), girih_kernels::Error>,
    ) -> Result<Timing, girih_kernels::Error> {
        let samples = self.device.measure(work);
        self.bar.finish_and_clear();
        Ok(Timing(samples?))
    }

    pub(crate) fn report(&self) -> DeviceReport {
        DeviceReport {
            kind: self.device.kind().to_string(),
            name: self.device.name().into(),
            sm: self.device.limits().sm,
            fallback: self.fallback.clone(),
        }
    }
}
