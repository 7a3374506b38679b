//! The tensors of `girih attention decode` on a device.

use girih_device::sizes::size;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::decode::{DecodeArgs, DecodePlan, DecodeProblem};
use girih_kernels::gemm::Given;
use girih_tensor::{DType, Element};

use super::super::tensors::poison;
use super::data::Inputs;
use crate::attention::options::{Extras, ExtrasOnDevice};
use crate::run::{Peak, bytes, checks};

/// Calls a function with the types of Q and of the cache.
macro_rules! of_types {
    ($problem:expr, $function:ident) => {{
        use float8::{F8E4M3, F8E5M2};
        use girih_tensor::DType;
        use half::{bf16, f16};

        match ($problem.dtype(), $problem.cache()) {
            (DType::F16, DType::E4m3) => $function::<f16, F8E4M3>,
            (DType::F16, DType::E5m2) => $function::<f16, F8E5M2>,
            (DType::F16, _) => $function::<f16, f16>,
            (_, DType::E4m3) => $function::<bf16, F8E4M3>,
            (_, DType::E5m2) => $function::<bf16, F8E5M2>,
            _ => $function::<bf16, bf16>,
        }
    }};
}
pub(crate) use of_types;

/// The peak memory of a command for sequences of these lengths: the tensors and the plan's memory; on the host also Q and O, the keys and values of
/// all sequences, in f32 for the reference, and the reference's state for the keys of a head.
pub(crate) fn peak(problem: &DecodeProblem, plan: &DecodePlan, lengths: &[u32]) -> Peak {
    let all = |parts: &[u64]| parts.iter().copied().fold(0, u64::saturating_add);
    let rows = problem.row_spans().map(|len| bytes(len, problem.dtype()));
    let keys = problem.key_spans().map(|len| bytes(len, problem.cache()));
    let parts = plan.workspace(problem).map(|len| bytes(len, DType::F32));
    let table = bytes(problem.table_entries(), DType::U32);
    let of_lse = bytes(problem.attention().lse_len(), DType::F32);
    let tensors = all(&[all(&rows), all(&keys), table, of_lse, all(&Extras::bytes(problem.attention()))]);
    let floats = problem.row_spans().map(|len| bytes(len, DType::F32));
    let seen = lengths.iter().fold(0i64, |seen, &length| seen.saturating_add(length.into()));
    let packed = bytes(seen.saturating_mul(2 * problem.heads()[1] * problem.head_dim()), DType::F32);
    let head = bytes(seen.saturating_mul(2 * problem.head_dim() + 8), DType::F64);
    let host = all(&[tensors, all(&floats), packed, head]);
    let narrow = |arrays: [u64; 2], dtype| arrays.map(|array| checks(array, u64::MAX, dtype));
    let remembered =
        [narrow(rows, problem.dtype()), narrow(keys, problem.cache()), narrow(parts, DType::F32)];
    let checks = all(&remembered.concat());
    Peak { device: tensors.saturating_add(all(&parts)), host, checks }
}

/// The inputs and outputs of decoding on a device.
pub(crate) struct OnDevice<T: Pod, C: Pod> {
    q: Buffer<T>,
    kv: [Buffer<C>; 2],
    lengths: Buffer<u32>,
    table: Buffer<u32>,
    scales: [Buffer<f32>; 2],
    o: Buffer<T>,
    extras: ExtrasOnDevice<T>,
}

impl<T: Element + Pod, C: Element + Pod> OnDevice<T, C> {
    /// The inputs, and results that are NaN.
    pub(crate) fn new(
        device: &Device,
        problem: &DecodeProblem,
        lengths: &[u32],
        inputs: &Inputs<T, C>,
    ) -> Result<OnDevice<T, C>, girih_device::Error> {
        let on = OnDevice {
            q: device.upload(&inputs.q)?,
            kv: [device.upload(&inputs.kv[0])?, device.upload(&inputs.kv[1])?],
            lengths: device.upload(lengths)?,
            table: device.upload(&inputs.table)?,
            scales: [device.upload(&inputs.scales[0])?, device.upload(&inputs.scales[1])?],
            o: device.alloc::<T>(size(problem.row_spans()[1]))?,
            extras: ExtrasOnDevice::new(device, problem.attention(), &inputs.extras)?,
        };
        on.poison()?;
        Ok(on)
    }

    /// Fills the results with NaN.
    pub(crate) fn poison(&self) -> Result<(), girih_device::Error> {
        poison(&self.o, &self.extras.lse)
    }

    /// The problem's other arguments.
    pub(crate) fn given(&self, problem: &DecodeProblem) -> Vec<(&'static str, Given<'_>)> {
        self.extras.given(problem.attention())
    }

    /// The arguments of the kernels of this problem.
    pub(crate) fn args<'a>(
        &'a self,
        problem: &DecodeProblem,
        given: &'a [(&str, Given<'a>)],
    ) -> DecodeArgs<'a, T, C> {
        let ([k, v], [of_k, of_v]) = (&self.kv, &self.scales);
        DecodeArgs {
            q: &self.q,
            kv: [k, v],
            lengths: &self.lengths,
            table: problem.pages().is_some().then_some(&self.table),
            scales: (problem.scales_len() > 0).then_some([of_k, of_v]),
            o: &self.o,
            given,
        }
    }

    /// O, and the logsumexps.
    pub(crate) fn results(&self) -> Result<(Vec<T>, Vec<f32>), girih_device::Error> {
        Ok((self.o.download()?, self.extras.lse.download()?))
    }
}
