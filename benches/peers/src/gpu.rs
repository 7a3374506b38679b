//! The GPU that is measured.

use girih_device::{Device, Select};

/// GPU 0, or nothing after one line that says why.
pub fn gpu() -> Option<Device> {
    Device::open(Select::Cuda(0)).inspect_err(|error| println!("skipped: no CUDA device: {error}")).ok()
}
