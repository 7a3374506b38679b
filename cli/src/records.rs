//! Files of measured records.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use girih_device::Device;
use girih_kernels::gemm::Records;

use crate::Error;

/// The records of products in a file, if they are this device's.
pub(crate) fn products(path: &Path, device: &Device) -> Result<Records, Error> {
    read(path, |text| Records::read(text, device.limits()))
}

/// Reads a file of records.
pub(crate) fn read<R, E: Display>(path: &Path, parse: impl FnOnce(&str) -> Result<R, E>) -> Result<R, Error> {
    let text = fs::read_to_string(path).map_err(Error::read(path))?;
    parse(&text).map_err(|error| Error::Records { path: path.into(), message: error.to_string() })
}
