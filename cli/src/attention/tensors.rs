//! The tensors on a device.

use girih_device::sizes::size;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::{Problem, Tensor4};
use girih_kernels::gemm::Given;
use girih_tensor::{DType, Element};

use super::data::Inputs;

/// The byte that results are filled with before a run, so that they are NaN.
const POISON: u8 = 0xff;

/// Fills results with NaN.
pub(super) fn poison<T: Pod>(o: &Buffer<T>, lse: &Buffer<f32>) -> Result<(), girih_device::Error> {
    o.fill_bytes(POISON)?;
    lse.fill_bytes(POISON)
}

/// What attention reads and writes on a device.
pub(crate) struct OnDevice<T: Pod> {
    qkv: [Buffer<T>; 3],
    o: Buffer<T>,
    lse: Buffer<f32>,
    /// The bias in f32, and in the dtype of the tensors.
    wide: Buffer<f32>,
    narrow: Buffer<T>,
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
            lse: device.alloc::<f32>(size(problem.lse_len()))?,
            wide: device.upload(&inputs.bias)?,
            narrow: device.upload(&inputs.narrow_bias())?,
        };
        on.poison()?;
        Ok(on)
    }

    /// Fills the results with NaN.
    pub(crate) fn poison(&self) -> Result<(), girih_device::Error> {
        poison(&self.o, &self.lse)
    }

    /// Q, K, V and O.
    pub(crate) fn tensors(&self) -> [&Buffer<T>; 4] {
        let [q, k, v] = &self.qkv;
        [q, k, v, &self.o]
    }

    /// What the problem has besides.
    pub(crate) fn given(&self, problem: &Problem) -> Vec<(&'static str, Given<'_>)> {
        let bias = problem.bias().map(|bias| {
            (
                "bias",
                if bias.dtype() == DType::F32 { Given::from(&self.wide) } else { Given::from(&self.narrow) },
            )
        });
        let lse = problem.lse().then(|| ("lse", Given::from(&self.lse)));
        bias.into_iter().chain(lse).collect()
    }

    /// O, and the logsumexps.
    pub(crate) fn results(&self) -> Result<(Vec<T>, Vec<f32>), girih_device::Error> {
        Ok((self.o.download()?, self.lse.download()?))
    }
}
