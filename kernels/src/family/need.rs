//! Requirements of a buffer: its alignment and its number of elements.

use girih_device::BufferArg;
use girih_device::sizes::wide;
use girih_tensor::DType;

use crate::Error;

/// The requirements of a buffer that replaces another one in a prepared launch.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// As the caller names it.
    pub(crate) name: String,
    /// How messages name a matrix of a GEMM.
    pub(crate) matrix: Option<&'static str>,
    pub(crate) dtype: DType,
    pub(crate) elements: i64,
    /// Bytes that divide the address.
    pub(crate) aligned: i64,
    /// Whether a problem can be told of any address.
    pub(crate) anywhere: bool,
}

impl Need {
    /// Checks a buffer, whose elements are taken to be of the right dtype.
    pub(crate) fn check(&self, buffer: &BufferArg<'_>) -> Result<(), Error> {
        let len = buffer.bytes() / (self.dtype.bits() as usize / 8).max(1);
        match self.matrix {
            Some(matrix) if (len as i64) < self.elements => {
                Err(Error::BufferTooSmall { matrix, needed: self.elements, len })
            }
            None if (len as i64) < self.elements => Err(Error::few(&self.name, len, self.elements)),
            _ => self.begins(buffer.address()),
        }
    }

    /// Checks where a buffer begins.
    pub(crate) fn begins(&self, address: u64) -> Result<(), Error> {
        let needed = self.aligned.max(1);
        if address.is_multiple_of(wide(needed)) {
            return Ok(());
        }
        if let Some(matrix) = self.matrix {
            return Err(Error::Address { matrix, address, needed });
        }
        let anywhere = if self.anywhere { ", and any address by `Input::unaligned`" } else { "" };
        Err(Error::Input {
            name: self.name.clone(),
            found: format!("memory that begins at {address:#x}"),
            accepted: format!("multiples of {needed} bytes{anywhere}"),
        })
    }
}

impl Error {
    /// That a buffer has fewer elements than an input or output that it is given for.
    pub(crate) fn few(name: &str, len: usize, needed: i64) -> Error {
        let (found, accepted) = (format!("{len} elements"), format!("{needed} elements or more"));
        Error::Input { name: name.into(), found, accepted }
    }
}
