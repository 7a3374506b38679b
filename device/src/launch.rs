//! Launching: arguments checked against the signature, extents against the limits, then the backend's launch.

use std::{fmt, marker::PhantomData};

use girih_ptx::{KernelInfo, ParamInfo, Type};

use crate::{Buffer, Device, Error, Kernel, Limits, Pod, TensorMap};

/// Grid, block, cluster and dynamic shared memory of a launch, and whether its blocks can wait for one another.
///
/// ```
/// use girih_device::LaunchConfig;
/// let config = LaunchConfig::linear(1000, 128);
/// assert_eq!((config.grid, config.block, config.dynamic_shared), ([8, 1, 1], [128, 1, 1], 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z, of which the grid is a multiple. `None`: what the kernel's `.reqnctapercluster`
    /// says, or every block for itself.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// Whether all blocks are there at a time (`cudaLaunchCooperativeKernel`), so that they can wait for one another, as
    /// `grid.sync()` of cooperative groups does. More blocks than fit the device are refused.
    pub cooperative: bool,
}

impl LaunchConfig {
    /// No clusters of its own and no dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig { grid, block, cluster: None, dynamic_shared: 0, cooperative: false }
    }

    /// One-dimensional blocks of `block` threads, enough for `threads` threads in all.
    pub const fn linear(threads: u32, block: u32) -> LaunchConfig {
        let blocks = if block == 0 { 0 } else { threads.div_ceil(block) };
        LaunchConfig::new([blocks, 1, 1], [block, 1, 1])
    }

    /// The same in clusters of so many blocks along x, y, z: 16 together at most, on Hopper and newer.
    pub const fn with_cluster(self, cluster: [u32; 3]) -> LaunchConfig {
        LaunchConfig { cluster: Some(cluster), ..self }
    }

    /// The same with `bytes` of dynamic shared memory.
    pub const fn with_dynamic_shared(self, bytes: u32) -> LaunchConfig {
        LaunchConfig { dynamic_shared: bytes, ..self }
    }

    /// The same as a cooperative launch.
    pub const fn cooperative(self) -> LaunchConfig {
        LaunchConfig { cooperative: true, ..self }
    }
}

/// Bytes that the address of a tensor map is a multiple of.
const TENSOR_MAP_ALIGN: u32 = 64;

/// An argument of a launch.
///
/// A value fits a parameter of its size and kind: `U32` and `I32` a `.u32 .s32 .b32`, `F32` a `.f32` or `.b32`, a buffer's
/// address a `.u64 .s64 .b64`, a tensor map a `.align 64 .b8 map[128]`. `Bytes` fits any parameter of as many bytes.
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

/// A buffer as an argument: it borrows the buffer until the launch is in the device's sequence.
#[derive(Clone, Copy)]
pub struct BufferArg<'a> {
    address: u64,
    device: &'a Device,
    borrow: PhantomData<&'a ()>,
}

impl fmt::Debug for BufferArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        Arg::Buffer(BufferArg { address: buffer.address(), device: buffer.device(), borrow: PhantomData })
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
    )*};
}
arg_from!(u32 => U32, i32 => I32, u64 => U64, i64 => I64, f32 => F32, f64 => F64);

impl Arg<'_> {
    fn bytes(&self) -> Vec<u8> {
        match *self {
            Arg::U32(v) => v.to_le_bytes().to_vec(),
            Arg::I32(v) => v.to_le_bytes().to_vec(),
            Arg::U64(v) => v.to_le_bytes().to_vec(),
            Arg::I64(v) => v.to_le_bytes().to_vec(),
            Arg::F32(v) => v.to_le_bytes().to_vec(),
            Arg::F64(v) => v.to_le_bytes().to_vec(),
            Arg::Buffer(buffer) => buffer.address.to_le_bytes().to_vec(),
            Arg::TensorMap(map) => map.bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.to_vec(),
        }
    }

    fn fits(&self, parameter: &ParamInfo) -> bool {
        let types: &[Type] = match self {
            Arg::U32(_) | Arg::I32(_) => &[Type::U32, Type::S32, Type::B32],
            Arg::U64(_) | Arg::I64(_) | Arg::Buffer(_) => &[Type::U64, Type::S64, Type::B64],
            Arg::F32(_) => &[Type::F32, Type::B32],
            Arg::F64(_) => &[Type::F64, Type::B64],
            Arg::TensorMap(map) => {
                return map.bytes().len() as u64 == parameter.bytes && parameter.align >= TENSOR_MAP_ALIGN;
            }
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
    /// Puts a launch into the device's sequence of operations; on the simulator it has run when this returns.
    ///
    /// Everything that can be known before is checked before: the arguments against the signature, the extents against
    /// the kernel's and the device's limits, shared memory against what a block can opt in to.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentType`], [`Error::ForeignBuffer`], [`Error::EmptyLaunch`],
    /// [`Error::ExtentTooLarge`], [`Error::ClusterShape`], [`Error::TooManyThreads`], [`Error::BlockShape`],
    /// [`Error::TooMuchShared`]; on the simulator [`Error::Sim`] for what the kernel does wrong, on a GPU the driver's.
    ///
    /// # Safety
    /// PTX is not checked by Rust: for these arguments and this configuration the kernel must touch only memory that the
    /// arguments stand for, within their bounds and while they live, and two launches or blocks must not race on it.
    /// On the simulator a violation is an error or a wrong result, never undefined behaviour of the host program.
    /// A typed wrapper that can promise this for its kernel is safe, and says why.
    #[allow(unsafe_code, reason = "launching arbitrary PTX is unsafe: the contract is the caller's")]
    pub unsafe fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        check_extents(&self.info, self.device.limits(), self.resources().max_threads, config)?;
        let args = check_args(&self.info, &self.device, args)?;
        // SAFETY: the caller's promise is passed on; `check_args` gives every parameter a value of its size.
        unsafe { self.entry.launch(config, args) }
    }
}

/// The bytes of each argument, once count, types and devices are right.
fn check_args(info: &KernelInfo, device: &Device, args: &[Arg<'_>]) -> Result<Vec<Vec<u8>>, Error> {
    let kernel = || info.name.to_string();
    if args.len() != info.params.len() {
        let signature = info.params.iter().map(|p| format!("{} {}", describe(p), p.name)).collect::<Vec<_>>();
        return Err(Error::ArgumentCount {
            kernel: kernel(),
            expected: info.params.len(),
            given: args.len(),
            signature: if signature.is_empty() { "none".into() } else { signature.join(", ") },
        });
    }
    let check = |(index, (arg, parameter)): (usize, (&Arg<'_>, &ParamInfo))| {
        if !arg.fits(parameter) {
            return Err(Error::ArgumentType {
                kernel: kernel(),
                index,
                parameter: parameter.name.to_string(),
                expected: describe(parameter),
                given: arg.describe(),
            });
        }
        let (what, home) = match arg {
            Arg::Buffer(buffer) => ("the buffer", buffer.device),
            Arg::TensorMap(map) => ("the tensor map's buffer", map.device()),
            _ => return Ok(arg.bytes()),
        };
        if !home.is_same(device) {
            let what = format!("kernel `{}`, argument {index}: {what}", info.name);
            return Err(Error::ForeignBuffer { what });
        }
        Ok(arg.bytes())
    };
    args.iter().zip(&info.params).enumerate().map(check).collect()
}

fn describe(parameter: &ParamInfo) -> String {
    match parameter.ty.bytes() {
        Some(bytes) if u64::from(bytes) == parameter.bytes => format!(".{}", parameter.ty),
        _ => format!(".{} of {} bytes, aligned to {}", parameter.ty, parameter.bytes, parameter.align),
    }
}

/// Most blocks of a cluster; above 8 a GPU may have no room for them.
const CLUSTER_LIMIT: u64 = 16;

fn check_cluster(info: &KernelInfo, limits: &Limits, config: &LaunchConfig) -> Result<(), Error> {
    let (Some(cluster), required) = (config.cluster.or(info.required_cluster), info.required_cluster) else {
        return Ok(());
    };
    let refused = |accepted: String| {
        Err(Error::ClusterShape { kernel: info.name.to_string(), cluster, grid: config.grid, accepted })
    };
    let blocks = cluster.iter().map(|&extent| u64::from(extent)).product::<u64>();
    if limits.sm < 90 {
        return refused(format!("none on sm_{}: clusters need sm_90", limits.sm));
    }
    if let Some(required) = required
        && required != cluster
    {
        return refused(format!("{required:?}, what .reqnctapercluster says"));
    }
    if blocks == 0 || blocks > CLUSTER_LIMIT {
        return refused(format!("1 to {CLUSTER_LIMIT} blocks"));
    }
    if config.grid.iter().zip(cluster).any(|(extent, by)| !extent.is_multiple_of(by)) {
        return refused(String::from("extents that divide the grid's"));
    }
    Ok(())
}

fn check_extents(
    info: &KernelInfo,
    limits: &Limits,
    max_threads: u32,
    config: &LaunchConfig,
) -> Result<(), Error> {
    let kernel = || info.name.to_string();
    for (what, extent, limit) in [("grid", config.grid, limits.grid), ("block", config.block, limits.block)] {
        if extent.contains(&0) {
            return Err(Error::EmptyLaunch { kernel: kernel(), what, extent });
        }
        if extent.iter().zip(limit).any(|(&extent, limit)| extent > limit) {
            return Err(Error::ExtentTooLarge { kernel: kernel(), what, extent, limit });
        }
    }
    check_cluster(info, limits, config)?;
    let block = config.block;
    if let Some(required) = info.required_threads.filter(|&required| required != block) {
        return Err(Error::BlockShape { kernel: kernel(), block, required });
    }
    let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
    let declared = info.max_threads.map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX));
    for (limit, why) in [
        (declared, "the kernel's .maxntid"),
        (limits.threads_per_block, "the device's limit"),
        (max_threads, "the registers that the compiled kernel needs"),
    ] {
        if threads > u64::from(limit) {
            return Err(Error::TooManyThreads { kernel: kernel(), block, threads, limit, why });
        }
    }
    let static_bytes = info.static_shared_bytes;
    let (dynamic_bytes, limit) = (config.dynamic_shared, limits.shared_per_block_optin);
    if static_bytes.saturating_add(dynamic_bytes.into()) > u64::from(limit) {
        return Err(Error::TooMuchShared { kernel: kernel(), static_bytes, dynamic_bytes, limit });
    }
    Ok(())
}
