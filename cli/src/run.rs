//! What the commands that run kernels share: the device, the measurement of time, and parts of reports.

mod report;

use girih_device::{Device, Kind, Select, SimOptions};
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

/// An open device, and a progress bar for work of more than a second on the simulator.
pub(crate) struct Session {
    pub(crate) device: Device,
    /// Why the device is not a GPU.
    fallback: Option<String>,
    bar: ProgressBar,
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
        Ok(Session { device, fallback, bar })
    }

    /// Refuses matrices that the device's memory cannot hold, before anything is allocated.
    pub(crate) fn fits(&self, needed: u64) -> Result<(), Error> {
        let available = self.device.limits().memory_bytes;
        if needed <= available {
            return Ok(());
        }
        Err(Error::Memory { needed, device: self.device.name().into(), available })
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
