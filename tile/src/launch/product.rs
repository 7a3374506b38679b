//! Launches of products: a problem of the arrays' extents and strides, which kernels::gemm binds.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use girih_device::{Buffer, BufferArg, Device};
use girih_kernels::gemm::{Gemm, Gemms, Given, Prepared, Problem, Untyped};
use girih_tensor::DType;

use super::request::ArrayArgument;
use super::whole::arguments;
use crate::dtype::is_signed;
use crate::dtype::number::encode;
use crate::error::{Error, Refusal};
use crate::product::{Product, Source, passed};

/// The kernels of a product in the streams where it is launched, by the streams' numbers. Launches alone keep them, so that nothing stays of a
/// stream whose launches are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Loaded(Mutex<Vec<(u64, Weak<Gemms>)>>);

impl Loaded {
    /// The kernels in a stream.
    fn gemms(&self, stream: &Device) -> Arc<Gemms> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = stream.sequence_number();
        let known = all.iter().find(|(known, _)| *known == number).and_then(|(_, gemms)| gemms.upgrade());
        if let Some(gemms) = known {
            return gemms;
        }
        all.retain(|(_, gemms)| gemms.strong_count() > 0);
        let gemms = Arc::new(Gemms::new(stream));
        all.push((number, Arc::downgrade(&gemms)));
        gemms
    }
}

/// The arguments of a launch.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 's> {
    pub(crate) arrays: &'s [ArrayArgument<'a>],
    pub(crate) scalars: &'s [(DType, u64)],
}

/// A product whose kernel is bound to sizes.
#[derive(Debug)]
pub(crate) struct Bound {
    gemm: Gemm,
    /// What other launches in the stream share.
    _gemms: Arc<Gemms>,
    /// Where groups begin, and where the last one ends: a zero, and the ends of all. A launch holds them from the copy of the ends on, since
    /// threads may launch side by side.
    offsets: Option<Mutex<Buffer<i32>>>,
}

/// The launches of a product, prepared for its arrays.
pub(crate) struct BoundArrays {
    prepared: Prepared,
    /// The ends of groups as they are given, and behind the zero.
    ends: Option<[Buffer<i32>; 2]>,
}

impl BoundArrays {
    /// Puts the launches into their stream.
    #[allow(unsafe_code, reason = "what a launch must promise has been checked")]
    pub(super) fn run(&self) -> Result<(), Error> {
        if let Some([from, to]) = &self.ends {
            to.copy_from(from)?;
        }
        // SAFETY: the arguments were checked when they were bound; the launch keeps their memory, or who borrowed it promised that it
        // outlives launches.
        Ok(unsafe { self.prepared.run() }?)
    }

    /// The launch of the product, behind those that copy operands.
    pub(super) fn last(&self) -> Option<&girih_device::Launch> {
        self.prepared.launches().last()
    }
}

impl Product {
    /// The product in a stream for a grid and arguments of these sizes. If they are not those of one, or the kernel does not take them, the program
    /// runs as any other.
    pub(crate) fn bind(
        &self,
        loaded: &Loaded,
        stream: &Device,
        grid: [u32; 3],
        call: Call<'_, '_>,
    ) -> Result<Result<Bound, Refusal>, Error> {
        let Some(problem) = self.problem_of(&arguments(grid, call), call.arrays) else {
            return Ok(Err(Refusal::of_launch()));
        };
        match self.bound(loaded, stream, &problem, call) {
            Ok(bound) => Ok(Ok(bound)),
            Err(error) if is_refusal(&error) => Ok(Err(error.into())),
            Err(error) => Err(error.into()),
        }
    }

    fn bound(
        &self,
        loaded: &Loaded,
        stream: &Device,
        problem: &Problem,
        call: Call<'_, '_>,
    ) -> Result<Bound, girih_kernels::Error> {
        let gemms = loaded.gemms(stream);
        let gemm = gemms.generated(problem, self.config, self.epilogue(), &self.kernel)?;
        let offsets = problem.groups().map(|groups| usize::try_from(groups).unwrap_or_default());
        let offsets = offsets.map(|groups| stream.zeros(groups + 1)).transpose()?;
        // What is wrong with arguments of these sizes, a launch finds when it is prepared.
        gemm.prepare_untyped(self.operands(call), &self.all_given(offsets.as_ref(), call))?;
        Ok(Bound { gemm, _gemms: gemms, offsets: offsets.map(Mutex::new) })
    }

    /// The ends of groups as they are given, and where the kernel reads them behind a zero.
    fn ends(
        &self,
        offsets: Option<&Buffer<i32>>,
        call: Call<'_, '_>,
    ) -> Result<Option<[Buffer<i32>; 2]>, Error> {
        let (Some(offsets), Some(ends)) = (offsets, self.tiles.ends()) else { return Ok(None) };
        let given = call.arrays[ends.index()].array.integers();
        given.map(|given| Ok([given, offsets.slice(1..)?])).transpose()
    }

    /// Launches what was bound for arguments of the same sizes.
    pub(crate) fn run(&self, bound: &Bound, call: Call<'_, '_>) -> Result<(), Error> {
        let offsets = bound.offsets.as_ref().map(|of| of.lock().unwrap_or_else(PoisonError::into_inner));
        let offsets = offsets.as_deref();
        if let Some([from, to]) = self.ends(offsets, call)? {
            to.copy_from(&from)?;
        }
        Ok(bound.gemm.run_untyped(self.operands(call), &self.all_given(offsets, call))?)
    }

    /// Prepares what was bound, with offsets of its own.
    pub(crate) fn prepare(&self, bound: &Bound, call: Call<'_, '_>) -> Result<Option<BoundArrays>, Error> {
        let offsets = bound.offsets.as_ref().map(|of| {
            let of = of.lock().unwrap_or_else(PoisonError::into_inner);
            of.device().zeros(of.len())
        });
        let offsets = offsets.transpose()?;
        let all = self.all_given(offsets.as_ref(), call);
        let prepared = bound.gemm.prepare_untyped(self.operands(call), &all)?;
        let ends = self.ends(offsets.as_ref(), call)?;
        Ok(prepared.map(|prepared| BoundArrays { prepared, ends }))
    }

    fn operands<'a>(&self, call: Call<'a, '_>) -> [Untyped<'a>; 3] {
        self.matrices.map(|matrix| untyped(&call.arrays[matrix.array.index()], true))
    }

    fn all_given<'a>(
        &'a self,
        offsets: Option<&'a Buffer<i32>>,
        call: Call<'a, '_>,
    ) -> Vec<(&'a str, Given<'a>)> {
        let offsets = offsets.map(|offsets| {
            let arg = BufferArg::from(offsets);
            let (device, address, len) = (offsets.device(), offsets.address(), offsets.len());
            ("offsets", Given::from(Untyped { arg, device, dtype: DType::U32, address, len }))
        });
        let scales = self
            .scales_of()
            .map(|(name, _, _, scale)| (name, Given::from(untyped(&call.arrays[scale.array.index()], true))));
        let inputs = self.fused.inputs.iter();
        inputs
            .map(|(input, source)| (&*input.name, self.given(source, call)))
            .chain(offsets)
            .chain(scales)
            .collect()
    }

    /// What is given for an input of the epilogue.
    fn given<'a>(&self, source: &Source, call: Call<'a, '_>) -> Given<'a> {
        match source {
            Source::Scalar(at) => {
                let at = usize::from(*at);
                let (dtype, bits) = call.scalars[at];
                Given::bits(passed(dtype), as_passed(dtype, bits))
            }
            Source::Array { array, modes, batch } => {
                let of = &call.arrays[array.index()];
                let stride = |axis: u8| of.array.strides()[usize::from(axis)] as i64;
                let mut given = Given::from(untyped(of, false));
                if let [Some(x), Some(y)] = modes {
                    given = Given::pitched(given, stride(*x).max(stride(*y)));
                }
                if let Some(axis) = batch { given.for_each(stride(*axis)) } else { given }
            }
        }
    }
}

/// Whether an error says that a kernel does not take its arguments. Others are those of a device that the program's own kernel would meet too.
fn is_refusal(error: &girih_kernels::Error) -> bool {
    use girih_device::Error::{ArgumentValue, ClusterShape, TensorMap, TensorOutside, TooMuchShared};
    match error {
        girih_kernels::Error::Device(error) => matches!(
            error,
            TensorMap(_)
                | TensorOutside { .. }
                | ArgumentValue { .. }
                | ClusterShape { .. }
                | TooMuchShared { .. }
        ),
        _ => true,
    }
}

/// An array as a buffer of its dtype; tf32 is in memory as f32.
fn untyped<'a>(of: &ArrayArgument<'a>, is_operand: bool) -> Untyped<'a> {
    let own = of.array.dtype();
    let dtype = if is_operand && own == DType::Tf32 { DType::F32 } else { own };
    let (bytes, size) = (of.array.bytes(), u64::from(dtype.bits().div_ceil(8)));
    Untyped {
        arg: of.array.memory(),
        device: of.array.device(),
        dtype,
        address: bytes.start,
        len: usize::try_from((bytes.end - bytes.start) / size).unwrap_or(usize::MAX),
    }
}

/// The bits of a scalar as it is passed: narrow integers are extended, floats of 16 bits are f32.
fn as_passed(dtype: DType, bits: u64) -> u64 {
    let to = passed(dtype);
    match dtype {
        DType::F16 | DType::Bf16 => crate::reference::convert(dtype, to, Default::default(), bits),
        _ if is_signed(dtype) && dtype.bits() < 32 => {
            let unused = 64 - dtype.bits();
            encode(DType::S32, crate::dtype::Const::Int(i128::from(((bits << unused) as i64) >> unused)))
        }
        _ => bits,
    }
}
