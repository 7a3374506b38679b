//! The tuner: measures hints and constants of a launch on its device.
//!
//! ```
//! use girih_device::{Device, Select};
//! use girih_tile::hints::Hint;
//! use girih_tile::launch::DeviceArray;
//! use girih_tile::prelude::*;
//! use girih_tile::tune::{Budget, Records, Space, launch, tune};
//!
//! #[kernel]
//! fn twice<const N: usize>(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     y.tiles_mut([N]).store((bid(0),), x.tiles([N]).load((bid(0),)) * 2.0);
//! }
//!
//! let device = Device::open(Select::Sim)?;
//! let x = DeviceArray::upload(&device, &[1.0f32; 2048], [2048])?;
//! let mut arrays = (x, DeviceArray::zeros(&device, [2048])?);
//! let space = Space::new().constant("N", [128, 512]).hint(Hint::NumWorkerWarps, [4, 8])?;
//! let tuned = tune(&mut arrays, &space, &Budget::default(), |(x, y), at| match at.constant("N") {
//!     Some(512) => twice::<512>(x, y),
//!     _ => twice::<128>(x, y),
//! })?;
//! assert_eq!(tuned.measured.len(), 4);
//! // As text in a file, and back; then a launch by what was found.
//! let mut records = Records::new(device.limits());
//! records.insert(tuned.record("2026-11-26"));
//! let records = Records::read(&records.to_string(), device.limits())?;
//! launch(&mut arrays, &space, &records, |(x, y), at| match at.constant("N") {
//!     Some(512) => twice::<512>(x, y),
//!     _ => twice::<128>(x, y),
//! })?
//! .run()?;
//! assert_eq!(arrays.1.download()?, [2.0; 2048]);
//! # Ok::<(), girih_tile::error::Error>(())
//! ```

mod contest;
mod of_launch;
mod records;
mod space;

pub use contest::{Budget, Measured, Tuned, tune};
pub use records::{Records, launch};
pub use space::{Point, Space};

use crate::error::Error;
use crate::launch::LaunchError;

/// The error for a record, a space or a point that is not of a launch.
fn refused(found: impl Into<String>, accepted: impl Into<String>) -> Error {
    LaunchError::Record { found: found.into(), accepted: accepted.into() }.into()
}
