//! Launches of products: a problem of the arrays' extents and strides, which kernels::gemm binds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use girih_device::{Device, Kind as DeviceKind};
use girih_kernels::gemm::{Gemm, Gemms, Given, Problem, Untyped};
use girih_tensor::DType;

use super::slice::passed;
use super::tiles::Arguments;
use super::{Matrix, Product, Source};
use crate::dtype::is_signed;
use crate::dtype::number::encode;
use crate::error::Error;
use crate::launch::ArrayArgument;

/// What a launch depends on besides addresses.
type Sizes = (Arguments, Vec<Vec<usize>>);

/// The kernels of a product on the devices where it was launched.
#[derive(Debug, Default)]
pub struct Loaded(Mutex<Vec<OnDevice>>);

#[derive(Debug)]
struct OnDevice {
    stream: Device,
    gemms: Gemms,
    /// The product of these sizes, or none if it is not one.
    known: HashMap<Sizes, Option<Gemm>>,
}

/// The most sizes that are remembered.
const MOST: usize = 1 << 10;

impl OnDevice {
    fn new(stream: &Device) -> OnDevice {
        OnDevice { stream: stream.clone(), gemms: Gemms::new(stream), known: HashMap::new() }
    }

    fn is(&self, stream: &Device) -> bool {
        self.stream.is_same(stream) && self.stream.cuda_stream() == stream.cuda_stream()
    }
}

impl Product {
    /// Launches the product in a stream, if these arguments are those of one. If not, nothing is launched, and the program runs as any other.
    pub(crate) fn launch(
        &self,
        loaded: &Loaded,
        stream: &Device,
        grid: [u32; 3],
        arrays: &[ArrayArgument<'_>],
        scalars: &[u64],
    ) -> Result<bool, Error> {
        let extents = arrays.iter().map(|array| array.extents.iter().map(|&n| n as i64).collect());
        let with = Arguments { grid, extents: extents.collect(), scalars: scalars.to_vec() };
        let sizes = (with, arrays.iter().map(|array| array.strides.clone()).collect());
        if stream.kind() == DeviceKind::Sim {
            // A simulator lives no longer than its handles.
            let mut once = OnDevice::new(stream);
            return self.on(&mut once, sizes, arrays, scalars);
        }
        let mut all = loaded.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match all.iter().position(|known| known.is(stream)) {
            Some(at) => at,
            None => {
                all.push(OnDevice::new(stream));
                all.len() - 1
            }
        };
        self.on(&mut all[at], sizes, arrays, scalars)
    }

    fn on(
        &self,
        on: &mut OnDevice,
        sizes: Sizes,
        arrays: &[ArrayArgument<'_>],
        scalars: &[u64],
    ) -> Result<bool, Error> {
        if !on.known.contains_key(&sizes) {
            if on.known.len() == MOST {
                on.known.clear();
            }
            let gemm = match self.problem_of(&sizes.0, arrays) {
                Some(problem) => {
                    Some(on.gemms.generated(&problem, self.config, self.epilogue(), &self.kernel)?)
                }
                None => None,
            };
            on.known.insert(sizes.clone(), gemm);
        }
        let Some(Some(gemm)) = on.known.get(&sizes) else { return Ok(false) };
        let untyped = |matrix: &Matrix| untyped(&arrays[matrix.array.index()], true);
        let matrices = [0, 1, 2].map(|i| untyped(&self.matrices[i]));
        let given: Vec<(&str, Given<'_>)> = self
            .fused
            .inputs
            .iter()
            .map(|(input, source)| (&*input.name, self.given(source, arrays, scalars)))
            .collect();
        gemm.run_untyped(matrices, &given)?;
        Ok(true)
    }

    /// What is given for an input of the epilogue.
    fn given<'a>(&self, source: &Source, arrays: &[ArrayArgument<'a>], scalars: &[u64]) -> Given<'a> {
        match source {
            Source::Scalar(at) => {
                let at = usize::from(*at);
                let (dtype, bits) = (self.func.scalars()[at].dtype, scalars[at]);
                Given::bits(passed(dtype), as_passed(dtype, bits))
            }
            Source::Array { array, modes, batch } => {
                let array = &arrays[array.index()];
                let stride = |axis: u8| array.strides[usize::from(axis)] as i64;
                let mut given = Given::from(untyped(array, false));
                if let [Some(x), Some(y)] = modes {
                    given = Given::pitched(given, stride(*x).max(stride(*y)));
                }
                if let Some(axis) = batch { given.for_each(stride(*axis)) } else { given }
            }
        }
    }

    /// The problem of a launch, if its arrays are those of one and the blocks of its grid store each tile once.
    fn problem_of(&self, with: &Arguments, arrays: &[ArrayArgument<'_>]) -> Option<Problem> {
        let extent = |i: usize, mode: usize| {
            let matrix = &self.matrices[i];
            with.extents[matrix.array.index()][usize::from(matrix.modes[mode])]
        };
        let stride =
            |i: usize, axis: u8| arrays[self.matrices[i].array.index()].strides[usize::from(axis)] as i64;
        let ([m, n, k], sample) = ([extent(2, 0), extent(2, 1), extent(0, 1)], &self.problem);
        if [extent(0, 0), extent(1, 0), extent(1, 1)] != [m, n, k] || m == 0 || n == 0 {
            return None;
        }
        let along = [sample.a(), sample.b(), sample.c()];
        let pitch = |i: usize| {
            let other = 1 - along[i].contiguous();
            let stride = stride(i, self.matrices[i].modes[other]);
            // Of one line, the stride is not used.
            let row = along[i].contiguous();
            Some(if extent(i, other) <= 1 { stride.max(extent(i, row)) } else { stride })
        };
        let problem = sample.sized([m, n, k]).ok()?.with_pitches(pitch(0), pitch(1), pitch(2)).ok()?;
        let products = |i: usize| {
            let matrix = &self.matrices[i];
            matrix.batch.map(|axis| with.extents[matrix.array.index()][usize::from(axis)])
        };
        let problem = match products(2) {
            None => problem,
            Some(count) => {
                if [0, 1].into_iter().filter_map(products).any(|other| other != count) {
                    return None;
                }
                let strides = [0, 1, 2].map(|i| {
                    let axis = self.matrices[i].batch;
                    Some(axis.map_or(0, |axis| stride(i, axis)))
                });
                problem.batched(count, strides).ok()?
            }
        };
        let fits =
            self.fused.inputs.iter().all(|(_, source)| fits(source, with, arrays, [m, n], products(2)));
        (fits && self.tiles.cover(&self.func, with, [m, n, k], products(2).unwrap_or(1))).then_some(problem)
    }
}

/// Whether an array that the epilogue reads has a value for each element of C, and rows that do not overlap.
fn fits(
    source: &Source,
    with: &Arguments,
    arrays: &[ArrayArgument<'_>],
    mn: [i64; 2],
    count: Option<i64>,
) -> bool {
    let Source::Array { array, modes, batch } = source else { return true };
    let extents = &with.extents[array.index()];
    let extent = |axis: &u8| extents[usize::from(*axis)];
    let strides = &arrays[array.index()].strides;
    let has_all = modes.iter().zip(mn).all(|(mode, n)| mode.as_ref().is_none_or(|axis| extent(axis) >= n));
    let apart = match modes {
        [Some(x), Some(y)] => {
            let (x, y) = (usize::from(*x), usize::from(*y));
            let pair = if strides[y] == 1 { [strides[x] as i64, mn[1]] } else { [strides[y] as i64, mn[0]] };
            pair[0] >= pair[1]
        }
        _ => true,
    };
    has_all
        && apart
        && extents.iter().all(|&n| n > 0)
        && batch.as_ref().is_none_or(|axis| Some(extent(axis)) >= count)
}

/// An array as a buffer of its dtype; tf32 lies in memory as f32.
fn untyped<'a>(array: &ArrayArgument<'a>, is_operand: bool) -> Untyped<'a> {
    let dtype = if is_operand && array.dtype == DType::Tf32 { DType::F32 } else { array.dtype };
    let bytes = u64::from(dtype.bits().div_ceil(8));
    Untyped {
        arg: array.buffer,
        device: array.device,
        dtype,
        address: array.bytes.start,
        len: ((array.bytes.end - array.bytes.start) / bytes) as usize,
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
