//! Arrays of addresses, for kernels that take an array of pointers.

use std::{fmt, marker::PhantomData};

use crate::{Arg, Buffer, BufferArg, Device, Error, Pod};

/// The addresses of several buffers, one after another in device memory, as kernels take an array of pointers (`T *const *`).
///
/// An array borrows its buffers and does not change, so that it is made once for many launches. As an argument it is the address of the
/// array, and all of its buffers are memory that the launch names: the launch is ordered with their streams and keeps their memory as
/// it does with the buffer of any other argument.
///
/// ```
/// use girih_device::{Device, LaunchConfig, Select, args};
/// # let text = ".version 7.0 .target sm_80 .address_size 64
/// #     .visible .entry first(.param .u64 arrays, .param .u64 out) {
/// #       .reg .b32 %r<4>; .reg .b64 %rd<8>;
/// #       ld.param.u64 %rd0, [arrays]; ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x;
/// #       mul.wide.u32 %rd2, %r0, 8; add.u64 %rd2, %rd0, %rd2; ld.global.u64 %rd3, [%rd2]; ld.global.u32 %r1, [%rd3];
/// #       mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r1; ret;
/// #     }";
/// let device = Device::open(Select::Sim)?;
/// let kernel = device.load(&girih_ptx::Module::parse(text)?)?.kernel("first")?; // out[tid] = arrays[tid][0]
/// let buffers = [device.upload(&[7u32, 8])?, device.upload(&[9u32])?];
/// let (arrays, out) = (device.pointers(&buffers)?, device.zeros::<u32>(2)?);
/// let args = kernel.arguments(&args![arrays, out])?;
/// // SAFETY: the kernel reads the first elements of the buffers, and writes out[tid], and tid < 2.
/// unsafe { kernel.launch(&LaunchConfig::linear(2, 2), &args)? };
/// assert_eq!(out.download()?, [7, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pointers<'a, T: Pod> {
    array: Buffer<u64>,
    buffers: Box<[BufferArg<'a>]>,
    /// In ascending order.
    addresses: Box<[u64]>,
    shortest: usize,
    element: PhantomData<T>,
}

impl Device {
    /// An array of the addresses of these buffers, which the host waits for.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] for a buffer of another device; as [`Device::upload`].
    pub fn pointers<'a, T: Pod>(
        &self,
        buffers: impl IntoIterator<Item = &'a Buffer<T>>,
    ) -> Result<Pointers<'a, T>, Error> {
        let buffers: Vec<&Buffer<T>> = buffers.into_iter().collect();
        if let Some(i) = buffers.iter().position(|buffer| !buffer.device().is_same(self)) {
            return Err(Error::ForeignBuffer { what: format!("Device::pointers: buffer {i}") });
        }
        let mut addresses: Vec<u64> = buffers.iter().map(|buffer| buffer.address()).collect();
        let array = self.upload(&addresses)?;
        addresses.sort_unstable();
        Ok(Pointers {
            array,
            shortest: buffers.iter().map(|buffer| buffer.len()).min().unwrap_or(0),
            buffers: buffers.into_iter().map(BufferArg::from).collect(),
            addresses: addresses.into(),
            element: PhantomData,
        })
    }
}

impl<T: Pod> Pointers<'_, T> {
    /// The number of buffers.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there are no buffers.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// The elements of the buffer that has the fewest; 0 if there are no buffers.
    pub fn shortest(&self) -> usize {
        self.shortest
    }

    /// The addresses of the buffers, in ascending order and not in that of the buffers; 0 for an empty buffer.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// The device that the array was made by.
    pub fn device(&self) -> &Device {
        self.array.device()
    }

    /// The address of the array; 0 if there are no buffers.
    pub fn address(&self) -> u64 {
        self.array.address()
    }
}

impl<T: Pod> fmt::Debug for Pointers<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pointers<{}>[{}] at {:#x}", T::PTX, self.len(), self.address())
    }
}

impl<'a, T: Pod> From<&'a Pointers<'_, T>> for BufferArg<'a> {
    fn from(pointers: &'a Pointers<'_, T>) -> Self {
        BufferArg { named: &pointers.buffers, ..BufferArg::from(&pointers.array) }
    }
}

impl<'a, T: Pod> From<&'a Pointers<'_, T>> for Arg<'a> {
    fn from(pointers: &'a Pointers<'_, T>) -> Self {
        Arg::Buffer(pointers.into())
    }
}

#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod tests;
