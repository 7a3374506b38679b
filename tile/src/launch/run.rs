//! A compiled kernel on a device, with arrays and scalars that carry no types of Rust.

use girih_device::{Arg, BufferArg, Device, Error, LaunchConfig};

use crate::compile::Compiled;
use crate::dtype::is_signed;
use crate::lower::Source;

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

/// The arguments of a kernel's parameters. A parameter of something that is not given has none, which the launch refuses by the number
/// of arguments.
pub fn arguments<'a>(compiled: &Compiled, arrays: &[Given<'a>], scalars: &[u64]) -> Vec<Arg<'a>> {
    let number = |bytes: u32, value: u64| if bytes == 8 { Arg::U64(value) } else { Arg::U32(value as u32) };
    let of = |param: &crate::lower::Param| {
        Some(match param.source {
            Source::Pointer(array) => Arg::Buffer(arrays.get(array.index())?.buffer),
            Source::Extent(array, axis) => {
                number(param.bytes, *arrays.get(array.index())?.extents.get(usize::from(axis))? as u64)
            }
            Source::Stride(array, axis) => {
                number(param.bytes, *arrays.get(array.index())?.strides.get(usize::from(axis))? as u64)
            }
            Source::Scalar(position) => {
                let position = usize::from(position);
                let dtype = compiled.plan.func.scalars().get(position)?.dtype;
                let bits = *scalars.get(position)?;
                let extended = match dtype.bits() {
                    8 | 16 if is_signed(dtype) => {
                        let by = 64 - dtype.bits();
                        (((bits << by) as i64) >> by) as u64
                    }
                    _ => bits,
                };
                match dtype {
                    girih_tensor::DType::F32 | girih_tensor::DType::Tf32 => {
                        Arg::F32(f32::from_bits(bits as u32))
                    }
                    girih_tensor::DType::F64 => Arg::F64(f64::from_bits(bits)),
                    _ => number(param.bytes, extended),
                }
            }
        })
    };
    compiled.params.iter().filter_map(of).collect()
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
