//! The GPU backend, the only part of this crate that names `cudarc`.
//!
//! `cudarc` loads the driver's library at run time, and panics if the library is missing or lacks a function. So [`Gpu::open`]
//! checks first that there is a library and then that the driver is new enough, and this module calls no function that is
//! newer than [`OLDEST_DRIVER`].
#![allow(unsafe_code, reason = "the driver's interface is C; each block says why it is sound")]

mod borrow;
mod context;
mod event;
mod gpu;
mod graph;
#[cfg(feature = "cudarc")]
mod interop;
mod log;
mod memory;
mod module;
mod pinned;
mod tensor;

pub(crate) use gpu::Gpu;
#[cfg(feature = "cudarc")]
pub use interop::Borrowed;

use cudarc::driver::{DriverError, sys::CUresult};

use crate::{DriverVersion, Error};

/// The oldest driver that is accepted. CUDA 12.0 is the first version that compiles PTX 8.0, which has the instructions of sm_90.
const OLDEST_DRIVER: DriverVersion = DriverVersion { major: 12, minor: 0 };

/// The name of an error code, and the driver's description of it.
fn describe(error: DriverError) -> (String, String) {
    let text = |c: Result<&std::ffi::CStr, DriverError>| c.ok().map(|c| c.to_string_lossy().into_owned());
    let code = text(error.error_name()).unwrap_or_else(|| format!("{:?}", error.0));
    (code, text(error.error_string()).unwrap_or_else(|| "no description".into()))
}

/// Makes the error of a call of the driver that failed.
fn failed(call: &'static str) -> impl FnOnce(DriverError) -> Error {
    move |error| {
        let (code, text) = describe(error);
        match error.0 {
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT => Error::KernelFailed { code, text, call },
            _ => Error::Driver { call, code, text },
        }
    }
}
