//! The common parts of all families of kernels: values that are made once for each key, kernels that are loaded, and the launches of a call.

mod cache;
mod launches;
mod memory;
mod need;

pub(crate) use cache::Cache;
pub use launches::Prepared;
pub(crate) use launches::{Launches, Step, named};
pub use memory::Untyped;
pub(crate) use memory::{Given, Memory, check};
pub(crate) use need::Need;

use std::sync::Arc;

use girih_device::{Buffer, Device, Kernel};

use crate::Error;

/// A generated kernel that is loaded on a device.
#[derive(Debug)]
pub(crate) struct Loaded<G> {
    pub(crate) kernel: Kernel,
    pub(crate) generated: G,
}

impl<G: AsRef<girih_codegen::Kernel>> Loaded<G> {
    pub(crate) fn new(device: &Device, generated: G) -> Result<Loaded<G>, Error> {
        let kernel = device.load(generated.as_ref())?.kernel(generated.as_ref().name())?;
        Ok(Loaded { kernel, generated })
    }
}

/// Words in the memory of a device.
pub(crate) fn words(device: &Device, words: &[u32]) -> Result<Arc<Buffer<u8>>, Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(Arc::new(device.upload(&bytes)?))
}
