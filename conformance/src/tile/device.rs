//! Programs that are evaluated, or compiled and run on a device.

use girih_device::{Device, Kind, Select, SimOptions};
use girih_tile::compile;
use girih_tile::ir::Func;
use girih_tile::launch::run::{Given, run};
use girih_tile_reference::{self as reference, ArrayData};

/// What runs programs.
#[derive(Debug)]
pub enum Runner {
    /// The reference evaluator.
    Reference,
    /// The simulator with all its checks, for an architecture such as 90, for which programs are compiled. Each gets a simulator of its own.
    Sim(u32),
    /// A GPU, for which programs are compiled.
    Gpu(Device),
}

impl Runner {
    /// The first GPU.
    ///
    /// # Errors
    /// The device's, where there is none.
    pub fn gpu() -> Result<Runner, girih_device::Error> {
        Ok(Runner::Gpu(Device::open(Select::Cuda(0))?))
    }

    /// Runs a program as [`reference::run`] does. The error says why it did not run, or was wrong.
    ///
    /// # Errors
    /// A message.
    pub fn run(
        &self,
        func: &Func,
        grid: [u32; 3],
        arrays: &mut [ArrayData],
        scalars: &[u64],
    ) -> Result<(), String> {
        let simulator;
        let (device, sm) = match self {
            Runner::Reference => {
                let ran = reference::run(func, grid, arrays, scalars);
                return ran.map(|_| ()).map_err(|error| error.to_string());
            }
            Runner::Sim(sm) => {
                simulator = Device::open_sim(SimOptions::checked()).map_err(|error| error.to_string())?;
                (&simulator, *sm)
            }
            Runner::Gpu(device) => (device, device.limits().sm),
        };
        let compiled = compile(func, sm).map_err(|error| error.to_string())?;
        on(device, &compiled, grid, arrays, scalars).map_err(|error| error.to_string())?;
        match device.kind() {
            Kind::Sim => device.sim_findings().first().map_or(Ok(()), |finding| Err(finding.to_string())),
            Kind::Cuda => Ok(()),
        }
    }
}

/// Runs a kernel on copies of arrays, which are read back.
#[allow(unsafe_code, reason = "a launch is unsafe")]
fn on(
    device: &Device,
    compiled: &girih_tile::Compiled,
    grid: [u32; 3],
    arrays: &mut [ArrayData],
    scalars: &[u64],
) -> Result<(), girih_tile::error::Error> {
    let buffers = arrays.iter().map(|array| device.upload(&array.bytes)).collect::<Result<Vec<_>, _>>()?;
    let given = arrays.iter().zip(&buffers).map(|(array, buffer)| Given {
        buffer: buffer.into(),
        extents: array.extents.clone(),
        strides: array.strides.clone(),
    });
    let given: Vec<Given<'_>> = given.collect();
    // SAFETY: each array is in memory of its own, which holds all its elements; records do not store one element from two blocks.
    unsafe { run(device, compiled, grid, &given, scalars)? };
    for (array, buffer) in arrays.iter_mut().zip(&buffers) {
        array.bytes = buffer.download()?;
    }
    Ok(())
}
