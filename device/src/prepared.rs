//! Prepared launches: encoded once and run many times.

use std::{fmt, sync::Arc};

use girih_ptx as ptx;

use crate::sizes::size;
use crate::{
    Arg, Device, Error, Kernel, LaunchConfig,
    args::{check_arg, check_args, check_home, refused_name},
    backend::{Backend, each_argument},
    launch::check_extents,
    stream::{Allocation, Sequence},
    tensor::readdress,
};

/// A prepared launch of a kernel: the configuration and the arguments have been checked, and the arguments encoded
/// ([`Kernel::prepare`]).
///
/// [`run`](Launch::run) puts the launch into the stream of its kernel, as often as it is called. A run checks nothing again, and on
/// a GPU it allocates nothing on the host, unless the stream is being captured, a buffer belongs to another stream, or the kernel
/// has more than 32 parameters. [`set`](Launch::set) changes the argument of one parameter, which it finds by its name.
///
/// A launch keeps the memory of the buffers that it names allocated, unless the memory was borrowed, and keeps the code of its
/// kernel loaded. The buffers, the tensor maps, the kernel and the module may be dropped before the launch. A clone is a second
/// launch with the same arguments, which can be changed without changing the first.
///
/// # Launching by another engine
/// An engine that calls the driver itself reads what the driver needs from a prepared launch: the
/// [`function`](Launch::function), the [`config`](Launch::config) (grid, block, bytes of dynamic shared memory, whether the launch is
/// cooperative or programmatic), the [`cluster`](Launch::cluster), and the bytes of each [argument](Launch::arguments). Clusters and
/// cooperation must be asked of `cuLaunchKernelEx` by their attributes; a programmatic launch is right without its attribute, and
/// begins later. The driver has already been told to allow the function this much dynamic shared memory and clusters of this size.
///
/// girih does not see the launches of the engine. The engine must put them into the stream of the launch's
/// [`device`](Launch::device) ([`Device::cuda_stream`]), since girih frees memory and unloads code after the operations of that
/// stream, or must wait for them before the launch is dropped or an argument is changed. The engine must order them with the
/// streams of buffers of other streams by events.
///
/// ```
/// use girih_device::{Device, LaunchConfig, Select, args};
/// # let text = ".version 7.0 .target sm_80 .address_size 64
/// #     .visible .entry add(.param .u64 x, .param .u32 by) {
/// #       .reg .b32 %r<4>; .reg .b64 %rd<4>;
/// #       ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [by]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
/// #       add.u64 %rd0, %rd0, %rd1; ld.global.u32 %r2, [%rd0]; add.u32 %r2, %r2, %r0; st.global.u32 [%rd0], %r2; ret;
/// #     }";
/// let device = Device::open(Select::Sim)?;
/// let kernel = device.load(&girih_ptx::Module::parse(text)?)?.kernel("add")?; // x[tid] += by
/// let (x, y) = (device.upload(&[1u32, 2])?, device.upload(&[10u32, 20])?);
/// let args = kernel.arguments(&args![x, by = 5u32])?;
/// let mut launch = kernel.prepare(&LaunchConfig::linear(2, 2), &args)?;
/// // SAFETY: the kernel reads and writes x[tid] alone, and tid < 2, which is the length of both buffers.
/// unsafe { launch.run()? };
/// launch.set("x", &y)?;
/// launch.set("by", 1u32)?;
/// // SAFETY: as above.
/// unsafe { launch.run()? };
/// assert_eq!((x.download()?, y.download()?), (vec![6, 7], vec![11, 21]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Launch {
    kernel: Kernel,
    config: LaunchConfig,
    /// The bytes of the arguments in order, without gaps.
    bytes: Box<[u8]>,
    /// The owners of the memory of each argument, in order.
    kept: Box<[Kept]>,
    /// The home sequences of the buffers, without the kernel's own sequence.
    others: Vec<Arc<Sequence>>,
}

/// The part of an argument that a launch keeps along with the argument's bytes.
#[derive(Clone)]
struct Kept {
    /// The memory of the argument's buffer, or of its tensor map's buffer, and of the buffers whose addresses are in that one.
    memory: Vec<Arc<Allocation>>,
    /// The description of the argument's tensor map.
    map: Option<ptx::TensorMap>,
}

/// The place of a parameter: its index, and its first byte among the bytes of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) index: usize,
    start: usize,
}

impl Kept {
    fn of(arg: &Arg<'_>) -> Kept {
        Kept { memory: arg.memory().cloned().collect(), map: arg.map().map(|map| map.description().clone()) }
    }
}

impl Kernel {
    /// Checks and encodes a launch now, to be run later, once or many times.
    ///
    /// This checks everything that [`launch`](Kernel::launch) checks. [`Kernel::arguments`] takes arguments by name.
    ///
    /// # Errors
    /// As for [`launch`](Kernel::launch), without the errors of the kernel when it runs.
    pub fn prepare(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<Launch, Error> {
        Launch::new(self, config, args)
    }

    /// The configuration of a launch of `grid` blocks, with the block and the dynamic shared memory that the kernel was generated
    /// for.
    ///
    /// # Errors
    /// [`Error::NoBlock`] if neither the text nor the module's [notes](girih_ptx::Notes) say the block (`.reqntid` in the
    /// text) and the dynamic shared memory (none, if the text declares none); [`LaunchConfig::new`] takes both.
    pub fn config(&self, grid: [u32; 3]) -> Result<LaunchConfig, Error> {
        let (Some(block), Some(bytes)) = (self.info.block, self.info.dynamic_shared_bytes) else {
            return Err(Error::NoBlock { kernel: self.info.name.to_string() });
        };
        Ok(LaunchConfig::new(grid, block).with_dynamic_shared(bytes))
    }

    /// Puts a launch into the sequence of the kernel's device; on the simulator the launch has run when this returns. In a
    /// capture ([`Device::capture`](crate::Device::capture)) the launch goes into the graph instead.
    ///
    /// The arguments are checked against the kernel's signature and the facts that the kernel relies on, the extents and the
    /// shared memory against the limits of kernel and device. [`prepare`](Kernel::prepare) checks once for many launches.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentType`], [`Error::ArgumentValue`], [`Error::ForeignBuffer`],
    /// [`Error::EmptyLaunch`], [`Error::ExtentTooLarge`], [`Error::ClusterShape`], [`Error::TooManyThreads`], [`Error::BlockShape`],
    /// [`Error::TooMuchShared`]; on the simulator [`Error::Sim`] for what the kernel does wrong, on a GPU the driver's.
    ///
    /// # Safety
    /// Rust does not check PTX. With these arguments and this configuration the kernel must touch only memory that the
    /// arguments name, inside the bounds of that memory and while it is allocated, and neither two blocks nor two launches may
    /// race on that memory. On the simulator a violation is an error or a wrong result, never undefined behaviour of the host
    /// program. A typed wrapper that can promise this for its kernel can be a safe function, and says why.
    #[allow(unsafe_code, reason = "launching arbitrary PTX is unsafe: the contract is the caller's")]
    pub unsafe fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        let launch = Launch::new(self, config, args)?;
        // SAFETY: the caller's promise is passed on.
        unsafe { launch.enqueue("Kernel::launch", launch.memory(), &launch.others) }
    }
}

impl Launch {
    pub(crate) fn new(kernel: &Kernel, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<Launch, Error> {
        let (info, device) = (&kernel.info, &kernel.device);
        check_extents(info, device.limits(), kernel.resources().max_threads, config)?;
        check_args(info, device, args)?;
        kernel.entry.allow(config)?;
        let mut bytes = vec![0; info.params.iter().map(|parameter| size(parameter.bytes)).sum()];
        let mut rest = &mut bytes[..];
        for (arg, parameter) in args.iter().zip(&info.params) {
            let (own, others) = rest.split_at_mut(size(parameter.bytes));
            arg.write_to(own);
            rest = others;
        }
        let kept: Box<[Kept]> = args.iter().map(Kept::of).collect();
        let mut launch =
            Launch { kernel: kernel.clone(), config: *config, bytes: bytes.into(), kept, others: Vec::new() };
        launch.others = device.sequence.others(launch.memory());
        Ok(launch)
    }

    /// The memory of the buffers.
    pub(crate) fn memory(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.kept.iter().flat_map(|kept| &kept.memory)
    }

    /// Changes the argument of a parameter, for later runs. When this fails, the launch stays as it was.
    ///
    /// A parameter that holds a tensor map accepts another tensor map, or a buffer. With a buffer the map becomes the map of the
    /// same tensor at the buffer's first element, and only the address is encoded anew
    /// ([`TensorMap::with_buffer`](crate::TensorMap::with_buffer)).
    ///
    /// # Errors
    /// [`Error::ArgumentName`] for a name that no parameter has; [`Error::ArgumentType`] for an argument that does not fit the
    /// parameter; [`Error::ArgumentValue`] for an argument that breaks a fact that the kernel relies on;
    /// [`Error::ForeignBuffer`] for a buffer of another device. For a buffer in the place of a tensor map
    /// [`Error::TensorMap`] if its address is no multiple of 16, [`Error::TensorOutside`] if the tensor does not end inside the
    /// buffer, and the driver's.
    ///
    /// ```
    /// use girih_device::{Arg, Device, LaunchConfig, Select, TensorMap};
    /// use girih_ptx::{TensorElement, Tiled};
    /// # let text = ".version 8.0 .target sm_90 .address_size 64
    /// #     .visible .entry k(.param .align 64 .b8 map[128]) { ret; }";
    /// let device = Device::open(Select::Sim)?;
    /// let kernel = device.load(&girih_ptx::Module::parse(text)?)?.kernel("k")?; // k(map)
    /// let (x, y) = (device.zeros::<f32>(512)?, device.zeros::<f32>(512)?);
    /// let map = TensorMap::new(&x, &Tiled::new(TensorElement::F32, &[64, 8], &[64, 8]))?;
    /// let mut launch = kernel.prepare(&LaunchConfig::linear(32, 32), &[Arg::from(&map)])?;
    /// launch.set("map", &y)?;
    /// assert_eq!(launch.arguments().next(), Some(&map.with_buffer(&y)?.bytes()[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<'a>(&mut self, parameter: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let (place, arg) = (self.place(parameter)?, value.into());
        self.put(place, &arg)?;
        self.kept[place.index].memory = arg.memory().cloned().collect();
        self.others = self.kernel.device.sequence.others(self.memory());
        Ok(())
    }

    /// The place of the parameter of this name.
    pub(crate) fn place(&self, parameter: &str) -> Result<Place, Error> {
        let info = &self.kernel.info;
        let Some(index) = info.params.iter().position(|param| &*param.name == parameter) else {
            return Err(refused_name(info, parameter, "is no parameter"));
        };
        let start: u64 = info.params[..index].iter().map(|param| param.bytes).sum();
        Ok(Place { index, start: size(start) })
    }

    /// Checks an argument and encodes it in its place. When this fails, the launch stays as it was.
    pub(crate) fn put(&mut self, Place { index, start }: Place, arg: &Arg<'_>) -> Result<(), Error> {
        let (info, device) = (&self.kernel.info, &self.kernel.device);
        let bytes = &mut self.bytes[start..][..size(info.params[index].bytes)];
        if let (Arg::Buffer(buffer), Some(map)) = (arg, &mut self.kept[index].map)
            && let Some(encoded) = bytes.first_chunk_mut()
        {
            check_home(info, device, index, arg)?;
            return readdress(device, map, encoded, buffer);
        }
        check_arg(info, device, index, arg)?;
        arg.write_to(bytes);
        self.kept[index].map = arg.map().map(|map| map.description().clone());
        Ok(())
    }

    /// Takes the memory of an argument, which the launch keeps no longer.
    pub(crate) fn release(&mut self, place: Place) {
        self.kept[place.index].memory.clear();
        self.others = self.kernel.device.sequence.others(self.memory());
    }

    /// Puts the launch into the stream of its kernel; on the simulator the kernel has run when this returns. In a capture
    /// ([`Device::capture`], or `cuStreamBeginCapture` of the stream's owner) the launch goes into the graph instead, with the arguments
    /// that it has at this time.
    ///
    /// A run is ordered with the streams of its buffers, as every operation is ([`Device::new_stream`]).
    ///
    /// # Errors
    /// [`Error::CapturedByOther`] while another thread captures the stream by [`Device::capture`]; [`Error::CapturedApart`] for a buffer of
    /// another stream while the owner of either captures one of the two; on the simulator [`Error::Sim`] for what the kernel does wrong, on a
    /// GPU the driver's.
    ///
    /// # Safety
    /// The contract of [`Kernel::launch`] must hold at each run. Memory that girih has not allocated (borrowed memory, addresses as
    /// numbers) must still be allocated.
    #[allow(unsafe_code, reason = "launching arbitrary PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.enqueue("Launch::run", self.memory(), &self.others) }
    }

    /// Puts the launch into the stream, or into the graph that is being captured. It uses some memory, whose home sequences are `others`.
    ///
    /// # Safety
    /// As for [`Launch::run`].
    #[allow(unsafe_code, reason = "launching arbitrary PTX is unsafe: the contract is the caller's")]
    pub(crate) unsafe fn enqueue<'a>(
        &self,
        operation: &'static str,
        memory: impl Iterator<Item = &'a Arc<Allocation>>,
        others: &[Arc<Sequence>],
    ) -> Result<(), Error> {
        let Kernel { device, loaded, entry, .. } = &self.kernel;
        let mut turns = device.sequence.turns(operation, others)?;
        if let Some(capture) = turns.capture() {
            let (entry, config, bytes) = (entry.clone(), self.config, self.bytes.clone());
            return capture.add(device.backend(), memory, Some(loaded), move |backend: &dyn Backend| {
                // SAFETY: the caller of `Graph::launch` makes the same promise, and `new` has allowed the configuration.
                unsafe { entry.launch(backend, &config, &bytes) }
            });
        }
        device.sequence.ordered(others, |backend| {
            // SAFETY: the caller's promise is passed on, and `new` has allowed the configuration.
            unsafe { entry.launch(backend, &self.config, &self.bytes) }
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The device whose stream the launch runs in.
    pub fn device(&self) -> &Device {
        &self.kernel.device
    }

    /// The configuration of the launch as it was given: grid, block, cluster, bytes of dynamic shared memory, and whether the
    /// launch is cooperative.
    pub fn config(&self) -> &LaunchConfig {
        &self.config
    }

    /// Blocks of a cluster along x, y, z: those of the configuration, or else those of the kernel's `.reqnctapercluster`; `None` if
    /// the launch has no clusters.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.config.cluster.or(self.kernel.info.required_cluster)
    }

    /// The handle (`CUfunction`) of the kernel, as `cuLaunchKernelEx` takes it; `None` on the simulator. The handle is valid as long
    /// as the launch lives.
    pub fn function(&self) -> Option<u64> {
        self.kernel.entry.function()
    }

    /// The bytes of each argument at this time, in the order of the kernel's parameters.
    /// [`KernelInfo::params`](girih_ptx::KernelInfo::params) has the parameters' names, and their offsets in a parameter buffer.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        each_argument(&self.kernel.info, &self.bytes)
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch({} on {:?}: {:?})", self.kernel.info.name, self.kernel.device, self.config)
    }
}

#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod tests;
