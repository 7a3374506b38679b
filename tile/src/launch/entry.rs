//! A checked launch: a prepared launch of the device, without addresses and scalars.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use girih_device::{Arg, BufferArg, Device, Kernel, LaunchConfig, Template};
use girih_tensor::DType;

use super::Launch;
use super::cache::Ready;
use super::few::Few;
use super::run::{Values, argument, is_empty, with_arguments};
use super::told::told;
use crate::compile::Compiled;
use crate::error::{Error, Result, Warning, Warnings};
use crate::facts::stride;
use crate::lower::{Param, Source};
use crate::pass::per_byte;

/// Launches after which a program is compared seldom.
const FEW: u64 = 16;
/// The most blocks of a cluster that every device with clusters has room for.
const CLUSTER: u32 = 8;

/// A checked launch of arrays of certain extents, strides and alignment into a certain stream.
pub(super) struct Entry {
    pub(super) ready: Arc<Ready>,
    pub(super) work: Work,
    /// `None` if there are no blocks.
    pub(super) grid: Option<[u32; 3]>,
    /// Whether proofs hold whatever the scalars are.
    sure: bool,
    pub(super) warnings: Warnings,
    /// How often it has been launched.
    launches: AtomicU64,
}

/// How the parameters of a kernel are bound to the arguments of a launch.
pub(super) enum Work {
    /// There are no blocks.
    Nothing,
    /// One by one, by what each of them stands for.
    Params(Box<ByParams>),
}

pub(super) struct ByParams {
    pub(super) grid: [u32; 3],
    pub(super) kernel: Kernel,
    pub(super) config: LaunchConfig,
    template: Mutex<Template>,
    /// The parameters whose arguments each run gives.
    open: Box<[Param]>,
}

/// Whether a parameter's argument can be another one while extents, strides and alignment stay.
fn is_open(param: &Param) -> bool {
    match param.source {
        Source::Pointer(_) | Source::Scalar(_) | Source::Map(_) => true,
        Source::Extent(..) | Source::Stride(..) | Source::Grid(_) => false,
    }
}

impl Entry {
    /// Checks a launch on a device, and prepares it.
    pub(super) fn new(launch: &Launch<'_>, device: &Device) -> Result<Entry> {
        let ready = launch.ready(device.limits().sm)?;
        launch.check_places(&ready.func, device)?;
        launch.check_strides(&ready.func)?;
        let Some(grid) = launch.blocks(&ready, device)? else {
            return Ok(Entry::of(ready, Work::Nothing, None, true, Warnings::default()));
        };
        launch.check_grid(&ready, grid)?;
        let sure = launch.is_sure(&ready, grid);
        if !sure {
            launch.check_conditions(&ready, grid)?;
        }
        let warnings = launch.check_meaning(&ready, grid)?;
        let (kernel, compiled) = (ready.kernel(device)?, &ready.compiled);
        let spill = compiled.spill().map(|spill| Warning::Spill { kernel: launch.name.into(), spill });
        let warnings = if spill.is_some() { warnings.with(spill) } else { warnings };
        let config = config(&ready, compiled, device, compiled.blocks(grid, device)?);
        let config = if compiled.target.programmatic { config.programmatic() } else { config };
        let (params, values) = (&compiled.params, launch.values(&ready, grid));
        let is_open = |param: &&Param| is_open(param) && !is_empty(param, &values);
        let open: Box<[Param]> = params.iter().filter(is_open).cloned().collect();
        let names: Vec<&str> = open.iter().map(|param| param.name.as_str()).collect();
        let prepare = |args: &[Arg<'_>]| kernel.prepare(&config, args)?.open(&names);
        let template = Mutex::new(with_arguments(device, params, &values, prepare)?);
        let work = Work::Params(Box::new(ByParams { grid, kernel, config, template, open }));
        Ok(Entry::of(ready, work, Some(grid), sure, warnings))
    }

    fn of(ready: Arc<Ready>, work: Work, grid: Option<[u32; 3]>, sure: bool, warnings: Warnings) -> Entry {
        Entry { ready, work, grid, sure, warnings, launches: AtomicU64::new(0) }
    }

    /// Whether the program is to be written again now, to see that it is still the same: at the first launches, and then seldom, since a
    /// launch costs less.
    pub(super) fn is_to_be_compared(&self) -> bool {
        let count = self.launches.fetch_add(1, Ordering::Relaxed);
        count < FEW || count.is_power_of_two()
    }

    /// Checks what calls that are equal by the words of their calls may still differ in: addresses, and scalars that proofs rest on.
    pub(super) fn check(&self, launch: &Launch<'_>, device: &Device) -> Result {
        launch.check_places(&self.ready.func, device)?;
        match self.grid {
            Some(grid) if !self.sure => Ok(launch.check_conditions(&self.ready, grid)?),
            _ => Ok(()),
        }
    }

    /// Launches a call that has been checked.
    #[allow(unsafe_code, reason = "what a launch must promise has been checked")]
    pub(super) fn run(&self, launch: &Launch<'_>) -> Result {
        let by = match &self.work {
            Work::Nothing => return Ok(()),
            Work::Params(by) => by,
        };
        let values = launch.values(&self.ready, by.grid);
        let args: Few<Arg<'_>, 16> = by.open.iter().filter_map(|param| argument(param, &values)).collect();
        let mut template = by.template.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: every access is in bounds, proved, compared with the grid, or compared in the kernel; arrays that are written
        // overlap neither themselves nor others, and blocks keep to elements of their own, proved on conditions that were found to hold, or
        // promised by a waiver that is unsafe to give. The arguments are those of the signature that the kernel was built for. What was
        // compared when the entry was made holds of every equal call, and the rest has been compared for this one. A programmatic kernel
        // waits before all that it does.
        let ran = unsafe { template.run(&args) };
        ran.map_err(|error| self.told(error.into()))
    }

    /// An error of a run, in the words of the user's program if the simulator found it in the kernel.
    pub(super) fn told(&self, error: Error) -> Error {
        match error {
            Error::Device(error) => told(error, &self.ready.func),
            other => other,
        }
    }
}

/// The configuration of a launch. Blocks are in clusters as large as the hint and the grid allow.
fn config(ready: &Ready, compiled: &Compiled, device: &Device, grid: [u32; 3]) -> LaunchConfig {
    let config = LaunchConfig::new(grid, [compiled.kernel.threads(), 1, 1])
        .with_dynamic_shared(compiled.kernel.shared_bytes());
    let asked = ready.hints.num_ctas.filter(|_| device.limits().sm >= 90).unwrap_or(1).min(CLUSTER);
    match 1 << grid[0].trailing_zeros().min(asked.ilog2()) {
        1 => config,
        blocks => config.with_cluster([blocks, 1, 1]),
    }
}

/// The arguments of a launch from which those of the kernel's parameters are made.
pub(super) struct Given<'a> {
    launch: &'a Launch<'a>,
    ready: &'a Ready,
    grid: [u32; 3],
}

impl<'a> Launch<'a> {
    pub(super) fn values<'s>(&'s self, ready: &'s Ready, grid: [u32; 3]) -> Given<'s> {
        Given { launch: self, ready, grid }
    }
}

impl<'a> Values<'a> for Given<'a> {
    fn buffer(&self, array: usize) -> Option<BufferArg<'a>> {
        self.launch.arrays.get(array).map(|of| of.array.memory())
    }

    fn extent(&self, array: usize, axis: usize) -> Option<u64> {
        let array = self.launch.arrays.get(array)?.array;
        let per = if axis + 1 == array.extents().len() { per_byte(array.dtype()) } else { 1 };
        array.extents().get(axis).map(|&n| n as u64 / per.unsigned_abs())
    }

    fn stride(&self, array: usize, axis: usize) -> Option<u64> {
        let array = self.launch.arrays.get(array)?.array;
        let per = if axis + 1 == array.extents().len() { 1 } else { per_byte(array.dtype()) };
        let elements = || stride(array.extents(), array.strides(), axis) as u64;
        (axis < array.strides().len()).then(|| elements() / per.unsigned_abs())
    }

    fn scalar(&self, at: usize) -> Option<(DType, u64)> {
        let dtype = self.ready.func.scalars().get(at)?.dtype;
        self.launch.scalars.get(at).map(|&(_, bits)| (dtype, bits))
    }

    fn grid(&self, axis: usize) -> Option<u64> {
        self.grid.get(axis).map(|&n| n.into())
    }
}
