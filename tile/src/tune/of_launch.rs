//! The tuner of one launch's hints.

use super::contest::{Budget, Tuned, tune};
use super::records::{Records, launch};
use super::space::Space;
use crate::error::Result;
use crate::launch::Launch;

impl<'a> Launch<'a> {
    /// Measures which hints are fastest for this launch: [`tune`] for a space of hints. Constants of a kernel's type make other functions, so
    /// that [`tune`] asks for the launch of each.
    ///
    /// # Errors
    /// [`LaunchError::Record`](crate::launch::LaunchError::Record) for a space with a constant; those of [`tune`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tile::hints::Hint;
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    /// use girih_tile::tune::{Budget, Records, Space};
    ///
    /// #[kernel]
    /// fn twice(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    ///     y.tiles_mut([512]).store((bid(0),), x.tiles([512]).load((bid(0),)) * 2.0);
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let x = DeviceArray::upload(&device, &[1.0f32; 2048], [2048])?;
    /// let mut y = DeviceArray::zeros(&device, [2048])?;
    /// // As placement has it, then with 4 and with 16 warps.
    /// let space = Space::new().optional_hint(Hint::NumWorkerWarps, [4, 16])?;
    /// let tuned = twice(&x, &mut y).tune(&space, &Budget::default())?;
    /// assert_eq!(tuned.measured.len(), 3);
    /// let mut records = Records::new(device.limits());
    /// records.insert(tuned.record("2026-11-26"));
    /// twice(&x, &mut y).recorded(&space, &records)?.run()?;
    /// assert_eq!(y.download()?, [2.0; 2048]);
    /// # Ok::<(), girih_tile::error::Error>(())
    /// ```
    pub fn tune(&self, space: &Space, budget: &Budget) -> Result<Tuned> {
        space.has_hints_alone()?;
        tune(&mut &*self, space, budget, |launch, _| launch.again())
    }

    /// The launch with the hints that are recorded for it, or with the usual ones where nothing is recorded.
    ///
    /// # Errors
    /// [`LaunchError::Record`](crate::launch::LaunchError::Record) for a space with a constant; those of [`launch`].
    pub fn recorded(self, space: &Space, records: &Records) -> Result<Launch<'a>> {
        space.has_hints_alone()?;
        let hints = launch(&mut &self, space, records, |launch, _| launch.again())?.hints().clone();
        Ok(self.replace_hints(&hints))
    }
}
