//! A compiled kernel on a device, with arrays and scalars that carry no types of Rust.

use girih_device::{Arg, BufferArg, Device, Error, LaunchConfig};

use girih_tensor::DType;

use crate::compile::Compiled;
use crate::dtype::is_signed;
use crate::lower::{Param, Source};

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
}

/// The argument of a parameter; none if what it stands for is not given.
pub(super) fn argument<'a>(param: &Param, values: &impl Values<'a>) -> Option<Arg<'a>> {
    let number = |value: u64| if param.bytes == 8 { Arg::U64(value) } else { Arg::U32(value as u32) };
    Some(match param.source {
        Source::Pointer(array) => Arg::Buffer(values.buffer(array.index())?),
        Source::Extent(array, axis) => number(values.extent(array.index(), usize::from(axis))?),
        Source::Stride(array, axis) => number(values.stride(array.index(), usize::from(axis))?),
        Source::Scalar(position) => {
            let (dtype, bits) = values.scalar(usize::from(position))?;
            match dtype {
                DType::F32 | DType::Tf32 => Arg::F32(f32::from_bits(bits as u32)),
                DType::F64 => Arg::F64(f64::from_bits(bits)),
                _ if is_signed(dtype) && dtype.bits() <= 16 => {
                    let by = 64 - dtype.bits();
                    number((((bits << by) as i64) >> by) as u64)
                }
                _ => number(bits),
            }
        }
    })
}

/// Arrays and scalars without types of Rust.
struct Untyped<'a, 's> {
    compiled: &'s Compiled,
    arrays: &'s [Given<'a>],
    scalars: &'s [u64],
}

impl<'a> Values<'a> for Untyped<'a, '_> {
    fn buffer(&self, array: usize) -> Option<BufferArg<'a>> {
        self.arrays.get(array).map(|given| given.buffer)
    }

    fn extent(&self, array: usize, axis: usize) -> Option<u64> {
        self.arrays.get(array)?.extents.get(axis).map(|&n| n as u64)
    }

    fn stride(&self, array: usize, axis: usize) -> Option<u64> {
        self.arrays.get(array)?.strides.get(axis).map(|&n| n as u64)
    }

    fn scalar(&self, at: usize) -> Option<(DType, u64)> {
        Some((self.compiled.plan.func.scalars().get(at)?.dtype, *self.scalars.get(at)?))
    }
}

/// The arguments of a kernel's parameters. A parameter of something that is not given has none, which the launch refuses by the number
/// of arguments.
pub fn arguments<'a>(compiled: &Compiled, arrays: &[Given<'a>], scalars: &[u64]) -> Vec<Arg<'a>> {
    let values = Untyped { compiled, arrays, scalars };
    compiled.params.iter().filter_map(|param| argument(param, &values)).collect()
}

/// Runs a kernel on a grid of blocks.
///
/// # Errors
/// The device's: for arguments of which the kernel's facts do not hold, and on the simulator for what the kernel does wrong.
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
) -> Result<(), Error> {
    let kernel = device.load(&compiled.kernel)?.kernel(compiled.kernel.name())?;
    let config = LaunchConfig::new(grid, [compiled.plan.threads, 1, 1])
        .with_dynamic_shared(compiled.kernel.shared_bytes());
    // SAFETY: the caller's promise is passed on.
    unsafe { kernel.launch(&config, &arguments(compiled, arrays, scalars)) }
}
