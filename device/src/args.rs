//! Arguments of a launch, checked against the kernel's signature and against the facts that the kernel relies on.

use std::sync::Arc;

use girih_ptx::{KernelInfo, ParamInfo, TENSOR_MAP_BYTES, Type};

use crate::{Buffer, BufferArg, Device, Error, Kernel, Pod, TensorMap, stream::Allocation};

/// The alignment in bytes of a parameter that holds a tensor map.
const TENSOR_MAP_ALIGN: u32 = 64;

/// An argument of a launch.
///
/// An argument fits a parameter of the same size and kind: `U32` and `I32` fit `.u32`, `.s32` and `.b32`; `F32` fits `.f32` and
/// `.b32`; `U64`, `I64` and a buffer's address fit `.u64`, `.s64` and `.b64`; `F64` fits `.f64` and `.b64`; a tensor map fits
/// `.align 64 .b8 map[128]`. `Bytes` fits any parameter of as many bytes.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A 32-bit unsigned integer.
    U32(u32),
    /// A 32-bit signed integer.
    I32(i32),
    /// A 64-bit unsigned integer, or an address.
    U64(u64),
    /// A 64-bit signed integer.
    I64(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// The address of a buffer.
    Buffer(BufferArg<'a>),
    /// A tensor map.
    TensorMap(&'a TensorMap<'a>),
    /// Raw bytes, for parameters such as `.param .align 8 .b8 shape[24]`.
    Bytes(&'a [u8]),
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Arg::Buffer(buffer.into())
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        Arg::from(&*buffer)
    }
}

impl<'a> From<&'a TensorMap<'a>> for Arg<'a> {
    fn from(map: &'a TensorMap<'a>) -> Self {
        Arg::TensorMap(map)
    }
}

macro_rules! arg_from {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<$ty> for Arg<'_> {
            fn from(value: $ty) -> Self {
                Arg::$variant(value)
            }
        }
        impl From<&$ty> for Arg<'_> {
            fn from(value: &$ty) -> Self {
                Arg::$variant(*value)
            }
        }
    )*};
}
arg_from!(u32 => U32, i32 => I32, u64 => U64, i64 => I64, f32 => F32, f64 => F64);

/// Arguments with the names of their parameters, as [`Kernel::arguments`](crate::Kernel::arguments) takes them. Each one is
/// written as a variable that has the parameter's name, or as `parameter = value`.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select, args};
/// # let text = ".version 7.0 .target sm_80 .address_size 64
/// #     .visible .entry k(.param .u64 x, .param .u32 rows, .param .f32 scale) { ret; }";
/// let device = Device::open(Select::Sim)?;
/// let kernel = device.load(&girih_ptx::Module::parse(text)?)?.kernel("k")?; // k(x, rows, scale)
/// let (x, rows) = (device.zeros::<f32>(8)?, 8u32);
/// assert_eq!(kernel.arguments(&args![rows, x, scale = 0.5f32])?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! args {
    ($($name:ident $(= $value:expr)?),* $(,)?) => {
        [$((::core::stringify!($name), $crate::args!(@of $name $($value)?))),*]
    };
    (@of $name:ident) => { $crate::Arg::from(&$name) };
    (@of $name:ident $value:expr) => { $crate::Arg::from($value) };
}

impl<'a> Arg<'a> {
    /// The memory of the buffer that the argument is, or whose tensor map it is, and of the buffers whose addresses are in that one.
    pub(crate) fn memory(&self) -> impl Iterator<Item = &'a Arc<Allocation>> + use<'a> {
        let (own, named) = match self {
            Arg::Buffer(buffer) => (buffer.memory, buffer.named),
            Arg::TensorMap(map) => (map.memory(), &[][..]),
            _ => (None, &[][..]),
        };
        own.into_iter().chain(named.iter().filter_map(|buffer| buffer.memory))
    }

    /// The tensor map that the argument is.
    pub(crate) fn map(&self) -> Option<&'a TensorMap<'a>> {
        if let Arg::TensorMap(map) = self { Some(map) } else { None }
    }

    /// Writes the argument's bytes over the bytes of a parameter that the argument fits.
    pub(crate) fn write_to(&self, parameter: &mut [u8]) {
        match self {
            Arg::TensorMap(map) => parameter.copy_from_slice(map.bytes()),
            Arg::Bytes(bytes) => parameter.copy_from_slice(bytes),
            _ => {
                if let Some((bits, value)) = self.number() {
                    parameter.copy_from_slice(&value.to_le_bytes()[..bits as usize / 8]);
                }
            }
        }
    }

    /// The number of bits of the argument, 32 or 64, and the bits themselves; `None` for an argument of another size.
    fn number(&self) -> Option<(u32, u64)> {
        match *self {
            Arg::U32(v) => Some((32, v.into())),
            Arg::I32(v) => Some((32, v.cast_unsigned().into())),
            Arg::F32(v) => Some((32, v.to_bits().into())),
            Arg::U64(v) => Some((64, v)),
            Arg::I64(v) => Some((64, v.cast_unsigned())),
            Arg::F64(v) => Some((64, v.to_bits())),
            Arg::Buffer(buffer) => Some((64, buffer.address)),
            Arg::Bytes(bytes) => match *bytes {
                [a, b, c, d] => Some((32, u32::from_le_bytes([a, b, c, d]).into())),
                [a, b, c, d, e, f, g, h] => Some((64, u64::from_le_bytes([a, b, c, d, e, f, g, h]))),
                _ => None,
            },
            Arg::TensorMap(_) => None,
        }
    }

    fn fits(&self, parameter: &ParamInfo) -> bool {
        let types: &[Type] = match self {
            Arg::U32(_) | Arg::I32(_) => &[Type::U32, Type::S32, Type::B32],
            Arg::U64(_) | Arg::I64(_) | Arg::Buffer(_) => &[Type::U64, Type::S64, Type::B64],
            Arg::F32(_) => &[Type::F32, Type::B32],
            Arg::F64(_) => &[Type::F64, Type::B64],
            Arg::TensorMap(_) => return is_map(parameter),
            Arg::Bytes(bytes) => return bytes.len() as u64 == parameter.bytes,
        };
        types.contains(&parameter.ty) && parameter.ty.bytes().map(u64::from) == Some(parameter.bytes)
    }

    fn describe(&self) -> String {
        match self {
            Arg::U32(v) => format!("the u32 {v}"),
            Arg::I32(v) => format!("the i32 {v}"),
            Arg::U64(v) => format!("the u64 {v}"),
            Arg::I64(v) => format!("the i64 {v}"),
            Arg::F32(v) => format!("the f32 {v:?}"),
            Arg::F64(v) => format!("the f64 {v:?}"),
            Arg::Buffer(_) => "a buffer (a 64-bit address)".into(),
            Arg::TensorMap(_) => "a tensor map (128 bytes, aligned to 64)".into(),
            Arg::Bytes(bytes) => format!("{} bytes", bytes.len()),
        }
    }
}

impl Kernel {
    /// Puts arguments that are named by their parameters into the order of the kernel's parameters, as
    /// [`launch`](Kernel::launch) and [`prepare`](Kernel::prepare) take them.
    ///
    /// # Errors
    /// [`Error::ArgumentName`] for a parameter that has no argument or several, and for a name that no parameter has.
    pub fn arguments<'a>(&self, named: &[(&str, Arg<'a>)]) -> Result<Vec<Arg<'a>>, Error> {
        let refused = |name: &str, what| refused_name(&self.info, name, what);
        let unknown = |name: &str| self.info.params.iter().all(|param| &*param.name != name);
        if let Some((name, _)) = named.iter().find(|(name, _)| unknown(name)) {
            return Err(refused(name, "is no parameter"));
        }
        let argument = |param: &ParamInfo| {
            let mut found = named.iter().filter(|(name, _)| *name == &*param.name);
            match (found.next(), found.next()) {
                (Some((_, arg)), None) => Ok(*arg),
                (None, _) => Err(refused(&param.name, "has no argument")),
                (Some(_), Some(_)) => Err(refused(&param.name, "has several arguments")),
            }
        };
        self.info.params.iter().map(argument).collect()
    }
}

/// Checks the arguments of a launch: their number, and each one against its parameter.
pub(crate) fn check_args(info: &KernelInfo, device: &Device, args: &[Arg<'_>]) -> Result<(), Error> {
    if args.len() != info.params.len() {
        let signature = info.params.iter().map(|p| format!("{} {}", describe(p), p.name)).collect::<Vec<_>>();
        return Err(Error::ArgumentCount {
            kernel: info.name.to_string(),
            expected: info.params.len(),
            given: args.len(),
            signature: if signature.is_empty() { "none".into() } else { signature.join(", ") },
        });
    }
    args.iter().enumerate().try_for_each(|(index, arg)| check_arg(info, device, index, arg))
}

/// Checks an argument against the parameter of this index: the argument's type, its value and its device.
pub(crate) fn check_arg(
    info: &KernelInfo,
    device: &Device,
    index: usize,
    arg: &Arg<'_>,
) -> Result<(), Error> {
    let parameter = &info.params[index];
    if !arg.fits(parameter) {
        return Err(Error::ArgumentType {
            kernel: info.name.to_string(),
            index,
            parameter: parameter.name.to_string(),
            expected: describe(parameter),
            given: arg.describe(),
        });
    }
    check_value(info, parameter, arg)?;
    check_home(info, device, index, arg)
}

/// Refuses a buffer, or a tensor map of a buffer, of another device.
pub(crate) fn check_home(
    info: &KernelInfo,
    device: &Device,
    index: usize,
    arg: &Arg<'_>,
) -> Result<(), Error> {
    let (what, home) = match arg {
        Arg::Buffer(buffer) => ("the buffer", buffer.device),
        Arg::TensorMap(map) => ("the tensor map's buffer", map.device()),
        _ => return Ok(()),
    };
    if home.is_same(device) {
        return Ok(());
    }
    Err(Error::ForeignBuffer { what: format!("kernel `{}`, argument {index}: {what}", info.name) })
}

/// The error of a name that is not the name of exactly one parameter and its argument.
pub(crate) fn refused_name(info: &KernelInfo, name: &str, what: &'static str) -> Error {
    let signature = info.params.iter().map(|param| param.name.to_string()).collect();
    Error::ArgumentName { kernel: info.name.to_string(), name: name.into(), what, signature }
}

/// Whether a parameter can hold a tensor map.
fn is_map(parameter: &ParamInfo) -> bool {
    parameter.bytes == TENSOR_MAP_BYTES as u64 && parameter.align >= TENSOR_MAP_ALIGN
}

fn describe(parameter: &ParamInfo) -> String {
    match parameter.ty.bytes() {
        Some(bytes) if u64::from(bytes) == parameter.bytes => format!(".{}", parameter.ty),
        _ => {
            let map = if is_map(parameter) { " (a tensor map, or its bytes)" } else { "" };
            format!(".{} of {} bytes, aligned to {}{map}", parameter.ty, parameter.bytes, parameter.align)
        }
    }
}

/// Checks an argument against the fact that the program that wrote the kernel claims of the parameter.
fn check_value(info: &KernelInfo, parameter: &ParamInfo, arg: &Arg<'_>) -> Result<(), Error> {
    let Some(fact) = &parameter.fact else { return Ok(()) };
    let Some((bits, value)) = arg.number() else { return Ok(()) };
    if fact.holds(bits, value) {
        return Ok(());
    }
    Err(Error::ArgumentValue {
        kernel: info.name.to_string(),
        parameter: parameter.name.to_string(),
        value: fact.value(bits, value),
        accepted: fact.accepted(),
        site: fact.site.to_string(),
    })
}
