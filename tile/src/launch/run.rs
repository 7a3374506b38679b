//! A compiled kernel on a device, with arrays and scalars that carry no types of Rust.
//!
//! # Examples
//! ```
//! use girih_device::{Device, Select};
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([64]).store((block,), x.tiles([64]).load((block,)) * 2.0);
//! }
//!
//! use girih_tile::launch::run::{Given, run};
//!
//! let device = Device::open(Select::Sim)?;
//! let (x, y) = (device.upload(&[1.5f32; 100])?, device.zeros::<f32>(100)?);
//! let given = [&x, &y].map(|buffer| Given { buffer: buffer.into(), extents: vec![100], strides: vec![1] });
//! let compiled = girih_tile::compile(&double::ir()?, 90)?;
//! // SAFETY: both arrays are whole, and each block stores a tile of its own.
//! unsafe { run(&device, &compiled, [2, 1, 1], &given, &[])? };
//! assert_eq!(y.download()?, [3.0; 100]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use girih_codegen::atom::GmmaSwizzle;
use girih_device::{Arg, Buffer, BufferArg, Device, Error, LaunchConfig, TensorMap};
use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
use girih_tensor::DType;

use crate::compile::Compiled;
use crate::error::LaunchError;
use crate::fit;
use crate::ir::Known;
use crate::lower::{Boxes, Param, Source};

/// An array that a kernel is called with.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// The memory, from the element at coordinate 0 on.
    pub buffer: BufferArg<'a>,
    /// The extents in elements.
    pub extents: Vec<i64>,
    /// The strides in elements.
    pub strides: Vec<i64>,
}

/// What the arguments of a kernel's parameters are made of: arrays and scalars by their positions, none where there are none.
pub(super) trait Values<'a> {
    fn buffer(&self, array: usize) -> Option<BufferArg<'a>>;
    fn extent(&self, array: usize, axis: usize) -> Option<u64>;
    fn stride(&self, array: usize, axis: usize) -> Option<u64>;
    fn scalar(&self, at: usize) -> Option<(DType, u64)>;
    fn grid(&self, axis: usize) -> Option<u64>;
}

/// The argument of a parameter; none if what it stands for is not given.
pub(super) fn argument<'a>(param: &Param, values: &impl Values<'a>) -> Option<Arg<'a>> {
    let size = |value: u64| match param.bytes {
        8 => Some(Arg::U64(value)),
        _ => u32::try_from(value).ok().map(Arg::U32),
    };
    Some(match param.source {
        Source::Pointer(array) => Arg::Buffer(values.buffer(array.index())?),
        Source::Extent(array, axis) => size(values.extent(array.index(), usize::from(axis))?)?,
        Source::Stride(array, axis) => size(values.stride(array.index(), usize::from(axis))?)?,
        Source::Grid(axis) => size(values.grid(usize::from(axis))?)?,
        Source::Scalar(position) => {
            let (dtype, bits) = values.scalar(usize::from(position))?;
            match dtype {
                DType::F32 | DType::Tf32 => Arg::F32(f32::from_bits(fit::low(bits))),
                DType::F64 => Arg::F64(f64::from_bits(bits)),
                _ if param.bytes == 8 => Arg::U64(bits),
                _ if dtype.is_signed() && dtype.bits() <= 16 => {
                    let by = 32 - dtype.bits();
                    Arg::U32(((fit::low(bits) << by).cast_signed() >> by).cast_unsigned())
                }
                _ => Arg::U32(fit::low(bits)),
            }
        }
        // A launch that has a map takes the map of the same tensor in this memory.
        Source::Map(array) => Arg::Buffer(values.buffer(array.index())?),
    })
}

/// Whether a parameter is the map of an array without elements. There are no maps of such an array.
pub(super) fn is_empty<'a>(param: &Param, values: &impl Values<'a>) -> bool {
    let (Source::Map(array), Some(boxes)) = (param.source, &param.boxes) else { return false };
    boxes.axes.iter().any(|&axis| values.extent(array.index(), axis) == Some(0))
}

/// Bytes of which the strides of tensor maps are multiples.
const LINE: u64 = 16;

fn map<'m, 'a: 'm>(
    array: usize,
    boxes: &Boxes,
    values: &impl Values<'a>,
    zero: Option<&'m Buffer<u8>>,
) -> Option<Result<TensorMap<'m>, Error>> {
    let (mut dims, mut strides) = (Vec::new(), Vec::new());
    let element = element(boxes.dtype)?;
    for (i, &axis) in boxes.axes.iter().enumerate() {
        dims.push(if zero.is_some() { 1 } else { values.extent(array, axis)? });
        if i > 0 {
            let bytes = u64::from(element.bytes());
            strides.push(if zero.is_some() { LINE } else { values.stride(array, axis)? * bytes });
        }
    }
    let swizzle = match boxes.swizzle {
        GmmaSwizzle::Inter => TensorSwizzle::None,
        GmmaSwizzle::Sw32 => TensorSwizzle::B32,
        GmmaSwizzle::Sw64 => TensorSwizzle::B64,
        GmmaSwizzle::Sw128 => TensorSwizzle::B128,
    };
    let tiled = Tiled::new(element, &dims, &boxes.extents).with_strides(&strides).with_swizzle(swizzle);
    let buffer: BufferArg<'m> = zero.map_or(values.buffer(array), |zero| Some(zero.into()))?;
    Some(TensorMap::new(buffer, &tiled))
}

fn element(dtype: DType) -> Option<TensorElement> {
    Some(match dtype {
        DType::Tf32 => TensorElement::Tf32,
        DType::F16 => TensorElement::F16,
        DType::Bf16 => TensorElement::Bf16,
        _ => match dtype.bits() {
            8 => TensorElement::U8,
            16 => TensorElement::U16,
            32 => TensorElement::U32,
            _ => return None,
        },
    })
}

/// Gives the arguments of a kernel to a function, with its tensor maps. A parameter of something that is not given has no argument, which
/// a launch refuses by the number of arguments.
pub(super) fn with_arguments<'a, R>(
    device: &Device,
    params: &[Param],
    values: &impl Values<'a>,
    take: impl FnOnce(&[Arg<'_>]) -> Result<R, Error>,
) -> Result<R, Error> {
    let empty = params.iter().any(|param| is_empty(param, values));
    let zero: Option<Buffer<u8>> = empty.then(|| device.zeros(fit::elements(LINE))).transpose()?;
    let one = |param: &Param| match (param.source, &param.boxes) {
        (Source::Map(array), Some(boxes)) => {
            let zero = zero.as_ref().filter(|_| is_empty(param, values));
            map(array.index(), boxes, values, zero).transpose()
        }
        _ => Ok(None),
    };
    let maps = params.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let args = params.iter().zip(&maps).filter_map(|(param, map)| match map {
        Some(map) => Some(Arg::TensorMap(map)),
        None => argument(param, values),
    });
    let args: Vec<Arg<'_>> = args.collect();
    take(&args)
}

/// A stride that every kernel takes.
const NEAR: i64 = 1 << 30;

/// Arrays and scalars without types of Rust.
struct Untyped<'a, 's> {
    compiled: &'s Compiled,
    arrays: &'s [Given<'a>],
    scalars: &'s [u64],
    grid: [u32; 3],
}

impl Untyped<'_, '_> {
    fn sizes(&self, array: usize) -> Option<(Vec<i64>, Vec<i64>)> {
        let given = self.arrays.get(array)?;
        let per = self.compiled.per_byte.get(array).copied().unwrap_or(1);
        Some(in_bytes(per, &given.extents, &given.strides))
    }
}

/// The extents and strides, in bytes, of an array of which a byte holds `per` elements; as they are, if `per` is 1.
pub(super) fn in_bytes(per: i64, extents: &[i64], strides: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let last = extents.len().saturating_sub(1);
    let extents = extents.iter().enumerate().map(|(axis, &n)| if axis == last { n / per } else { n });
    let strides = strides.iter().enumerate().map(|(axis, &n)| if axis == last { n } else { n / per });
    (extents.collect(), strides.collect())
}

impl<'a> Values<'a> for Untyped<'a, '_> {
    fn buffer(&self, array: usize) -> Option<BufferArg<'a>> {
        self.arrays.get(array).map(|given| given.buffer)
    }

    fn extent(&self, array: usize, axis: usize) -> Option<u64> {
        u64::try_from(self.sizes(array)?.0.get(axis).copied()?).ok()
    }

    fn stride(&self, array: usize, axis: usize) -> Option<u64> {
        let (extents, strides) = self.sizes(array)?;
        let stride = *strides.get(axis)?;
        let fits = |by: i64| (0..=NEAR).contains(&stride) && stride % by == 0;
        match self.compiled.plan.func.params().nth(array)?.1.strides.get(axis)? {
            // Of an axis without a second element, any stride is accepted.
            &Known::MultipleOf(by) if extents.get(axis)? <= &1 && !fits(by.max(1)) => {
                u64::try_from(NEAR - NEAR % by.max(1)).ok()
            }
            _ => u64::try_from(stride).ok(),
        }
    }

    fn scalar(&self, at: usize) -> Option<(DType, u64)> {
        Some((self.compiled.plan.func.scalars().get(at)?.dtype, *self.scalars.get(at)?))
    }

    fn grid(&self, axis: usize) -> Option<u64> {
        self.grid.get(axis).map(|&n| n.into())
    }
}

/// Checks the extents and strides of arrays against what the kernel was built for.
fn check(compiled: &Compiled, arrays: &[Given<'_>]) -> Result<(), LaunchError> {
    let func = &compiled.plan.func;
    for (at, ((_, param), given)) in func.params().zip(arrays).enumerate() {
        let per = compiled.per_byte.get(at).copied().unwrap_or(1);
        let (extents, strides) = in_bytes(per, &given.extents, &given.strides);
        let axes = param.extents.iter().zip(&param.strides).zip(extents.iter().zip(&strides));
        for (axis, ((extent, stride), (&n, &step))) in axes.enumerate() {
            let farthest = fit::farthest(param.strides.len());
            let checks = [("an extent", extent, n, i32::MAX.into()), ("a stride", stride, step, farthest)];
            for (what, known, value, most) in checks {
                if what == "a stride" && n <= 1 {
                    continue;
                }
                let (holds, accepted) = match *known {
                    Known::Is(wanted) => (value == wanted, wanted.to_string()),
                    Known::MultipleOf(by) => {
                        let of = if by > 1 { format!("a multiple of {by} from 0") } else { "0".into() };
                        ((0..=most).contains(&value) && value % by.max(1) == 0, format!("{of} to {most}"))
                    }
                };
                if !holds {
                    return Err(LaunchError::Size {
                        kernel: func.name.clone(),
                        array: param.name.clone(),
                        what,
                        axis,
                        value,
                        accepted,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Runs a kernel on a grid of blocks.
///
/// # Errors
/// [`LaunchError::Size`] for extents and strides other than the kernel was built for, [`LaunchError::GridBlocks`]; the device's, and on the simulator for what the kernel
/// does wrong.
///
/// # Safety
/// The arrays are in their memory, those that the kernel writes overlap neither themselves nor others, and blocks write different
/// elements; the grid has no more blocks along an axis than an array has tiles that are indexed by them
/// ([`Bounds::checks`](crate::facts::Bounds)). On the simulator a violation is an error or a wrong result.
#[allow(unsafe_code, reason = "a typed launch checks what this promises")]
pub unsafe fn run(
    device: &Device,
    compiled: &Compiled,
    grid: [u32; 3],
    arrays: &[Given<'_>],
    scalars: &[u64],
) -> Result<(), crate::error::Error> {
    check(compiled, arrays)?;
    let kernel = device.load(&compiled.kernel)?.kernel(compiled.kernel.name())?;
    let config = LaunchConfig::new(compiled.blocks(grid, device)?, [compiled.kernel.threads(), 1, 1])
        .with_dynamic_shared(compiled.kernel.shared_bytes());
    let values = Untyped { compiled, arrays, scalars, grid };
    // SAFETY: the caller's promise is passed on.
    with_arguments(device, &compiled.params, &values, |args| unsafe { kernel.launch(&config, args) })?;
    Ok(())
}
