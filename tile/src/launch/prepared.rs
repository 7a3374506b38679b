//! Launches that run many times with the same arrays.

use std::fmt;
use std::sync::Arc;

use girih_device::{Arg, Device};

use super::Launch;
use super::entry::{Entry, Work};
use super::run::with_arguments;
use crate::error::{Result, Warnings};

/// A launch that has been built, checked and prepared, to be run as often as wanted: a run costs what a prepared launch of the device costs.
///
/// It keeps the memory of its arrays allocated, unless the memory was borrowed ([`DeviceArray::borrow`](super::DeviceArray::borrow)); the
/// arrays may be dropped, and may be read between runs, since all of this happens in the order of their streams.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_tile::launch::DeviceArray;
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn double(x: &mut Array<f32, 1>) {
///     let i = bid(0);
///     let twice = x.tiles([64]).load((i,)) * 2.0;
///     x.tiles_mut([64]).store((i,), twice);
/// }
///
/// let device = Device::open(Select::Sim)?;
/// let mut x = DeviceArray::upload(&device, &[1.0f32, 2.0], [2])?;
/// let mut y = DeviceArray::upload(&device, &[3.0f32, 4.0], [2])?;
/// let mut twice = double(&mut x).prepare()?;
/// twice.run()?;
/// twice.run()?;
/// twice.bind(double(&mut y))?;
/// twice.run()?;
/// assert_eq!((x.download()?, y.download()?), (vec![4.0, 8.0], vec![6.0, 8.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Prepared {
    entry: Arc<Entry>,
    launch: Arc<Launches>,
    device: Device,
}

/// The launches of a run.
enum Launches {
    /// There are no blocks.
    None,
    One(girih_device::Launch),
}

impl Launch<'_> {
    /// Builds the kernel, checks the launch and prepares it, without running it.
    ///
    /// # Errors
    /// As [`Launch::run`].
    pub fn prepare(self) -> Result<Prepared> {
        let device = self.device()?;
        let entry = self.entry(device)?;
        let launch = match &entry.work {
            Work::Nothing => Launches::None,
            Work::Params(by) => {
                let values = self.values(&entry.ready, by.grid);
                let params = &entry.ready.compiled.params;
                let prepare = |args: &[Arg<'_>]| by.kernel.prepare(&by.config, args);
                Launches::One(with_arguments(device, params, &values, prepare)?)
            }
        };
        let (launch, device) = (Arc::new(launch), device.clone());
        Ok(Prepared { entry, launch, device })
    }
}

impl Prepared {
    /// Puts the launch into its stream, or into the graph that is being captured.
    ///
    /// # Errors
    /// As [`girih_device::Launch::run`].
    #[allow(unsafe_code, reason = "what a launch must promise has been checked")]
    pub fn run(&self) -> Result {
        match &*self.launch {
            Launches::None => {}
            Launches::One(launch) => {
                // SAFETY: as for an entry, with arguments that were checked when they were bound; the launch keeps their memory, or who
                // borrowed it promised that it outlives launches.
                let ran = unsafe { launch.run() };
                ran.map_err(|error| self.entry.told(error.into()))?;
            }
        }
        Ok(())
    }

    /// The warnings of the launch.
    pub fn warnings(&self) -> &Warnings {
        &self.entry.warnings
    }

    /// Takes other arguments, or another grid: those of a launch of this kernel or of another one. When this fails, the launch stays as it
    /// was.
    ///
    /// # Errors
    /// As [`Launch::prepare`].
    pub fn bind(&mut self, launch: Launch<'_>) -> Result {
        *self = launch.prepare()?;
        Ok(())
    }

    /// Blocks along each axis of the grid; `None` if there are none.
    pub fn grid(&self) -> Option<[u32; 3]> {
        self.entry.grid
    }

    /// The prepared launch of the device, for engines that launch themselves; `None` of a grid without blocks.
    pub fn launch(&self) -> Option<&girih_device::Launch> {
        match &*self.launch {
            Launches::None => None,
            Launches::One(launch) => Some(launch),
        }
    }

    /// The device whose stream the launch runs in.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepared({}, grid {:?})", self.entry.ready.func.name, self.grid())
    }
}
