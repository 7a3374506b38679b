//! Measuring on a GPU.

use std::{fmt::Display, time::Duration};

use criterion::{Bencher, measurement::WallTime};
use girih_device::{Device, Error, Select};

/// GPU 0, or nothing after one line that says why.
pub fn gpu() -> Option<Device> {
    Device::open(Select::Cuda(0)).inspect_err(|error| println!("skipped: no CUDA device: {error}")).ok()
}

/// Times `work` on the device: each sample is the time between two events around all its iterations, so that the
/// launches overlap as they do in use and the host's cost shows only where it is the bottleneck.
///
/// An error ends the sample, is printed once, and shows as a time of zero.
pub fn measure<E: From<Error> + Display>(
    bencher: &mut Bencher<'_, WallTime>,
    device: &Device,
    mut work: impl FnMut() -> Result<(), E>,
) {
    let mut failed = false;
    bencher.iter_custom(|iterations| {
        let sample = device.time(|| (0..iterations).try_for_each(|_| work()));
        sample.unwrap_or_else(|error| {
            if !failed {
                println!("error: {error}");
            }
            failed = true;
            Duration::ZERO
        })
    });
}
