//! The tensors of `girih attention` on a device.

use girih_device::sizes::size;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::{Problem, Tensor4};
use girih_kernels::gemm::Given;
use girih_tensor::Element;

use super::data::Inputs;
use super::options::{ExtrasOnDevice, POISON};

/// Fills results with NaN.
pub(super) fn poison<T: Pod>(o: &Buffer<T>, lse: &Buffer<f32>) -> Result<(), girih_device::Error> {
    o.fill_bytes(POISON)?;
    lse.fill_bytes(POISON)
}

/// The inputs and outputs of attention on a device.
pub(crate) struct OnDevice<T: Pod> {
    qkv: [Buffer<T>; 3],
    o: Buffer<T>,
    extras: ExtrasOnDevice<T>,
}

impl<T: Element + Pod> OnDevice<T> {
    /// The inputs, and results that are NaN.
    pub(crate) fn new(
        device: &Device,
        problem: &Problem,
        inputs: &Inputs<T>,
    ) -> Result<OnDevice<T>, girih_device::Error> {
        let on = OnDevice {
            qkv: [device.upload(&inputs.q)?, device.upload(&inputs.k)?, device.upload(&inputs.v)?],
            o: device.alloc::<T>(size(problem.array(Tensor4::O).span()))?,
            extras: ExtrasOnDevice::new(device, problem, &inputs.extras)?,
        };
        on.poison()?;
        Ok(on)
    }

    /// Fills the results with NaN.
    pub(crate) fn poison(&self) -> Result<(), girih_device::Error> {
        poison(&self.o, &self.extras.lse)
    }

    /// Q, K, V and O.
    pub(crate) fn tensors(&self) -> [&Buffer<T>; 4] {
        let [q, k, v] = &self.qkv;
        [q, k, v, &self.o]
    }

    /// The problem's other arguments.
    pub(crate) fn given(&self, problem: &Problem) -> Vec<(&'static str, Given<'_>)> {
        self.extras.given(problem)
    }

    /// O, and the logsumexps.
    pub(crate) fn results(&self) -> Result<(Vec<T>, Vec<f32>), girih_device::Error> {
        Ok((self.o.download()?, self.extras.lse.download()?))
    }
}
