//! Whose fault an error is.

use crate::Error;

/// The party that must act after an [`Error`] ([`Error::fault`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller: the message says what would be accepted.
    Caller,
    /// The owner of the machine: it has no driver, no GPU, too old a driver or GPU, or too little memory.
    Target,
    /// The author of the PTX program that was loaded or launched.
    Program,
    /// The driver, which refused a call that girih believes to be correct, or failed in the call.
    Driver,
}

impl Error {
    /// The party whose fault the error is.
    ///
    /// ```
    /// use girih_device::{Fault, Select};
    /// let error = "tpu".parse::<Select>().unwrap_err();
    /// assert_eq!(error.fault(), Fault::Caller);
    /// ```
    pub fn fault(&self) -> Fault {
        use Error::*;
        match self {
            NoDriver | NoGpu { .. } | GpuTooOld { .. } | DriverTooOld { .. } | NoTensorMaps { .. } => {
                Fault::Target
            }
            NoAssembler { .. } | UntrustedCache { .. } | WrongTarget { .. } | OutOfMemory { .. } => {
                Fault::Target
            }
            Ptx(_) | Jit { .. } | KernelFailed { .. } => Fault::Program,
            #[cfg(feature = "sim")]
            Sim(_) => Fault::Program,
            Driver { .. } => Fault::Driver,
            _ => Fault::Caller,
        }
    }
}
