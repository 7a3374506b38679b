//! The engine's side: a context, a stream and memory that the engine got from the driver by itself. Where no GPU is asked for, memory of a
//! simulator stands for them. girih is given handles and addresses.

use super::Outcome;
use cudarc::driver::{result, sys};
use girih::device::{Buffer, Device, Launch, Select};
use half::bf16;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A machine with one stream and one piece of memory, of which the engine's tensors are parts.
pub(super) struct Host {
    machine: Machine,
    address: u64,
    bytes: usize,
    used: Cell<usize>,
}

enum Machine {
    Cuda { gpu: sys::CUdevice, context: sys::CUcontext, stream: sys::CUstream },
    Sim { device: Device, _memory: Buffer<u8> },
}

/// What the stream waits for.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    late: AtomicBool,
}

/// Longer than any call that does not wait.
const LATE: Duration = Duration::from_secs(5);

/// Waits in the stream until the gate of the argument is open.
unsafe extern "C" fn wait(gate: *mut c_void) {
    // SAFETY: `Host::unwaited` has given this call a share of the gate.
    let gate = unsafe { Arc::from_raw(gate.cast_const().cast::<Gate>()) };
    let since = Instant::now();
    while !gate.open.load(Ordering::Acquire) {
        if since.elapsed() > LATE {
            return gate.late.store(true, Ordering::Release);
        }
        std::thread::yield_now();
    }
}

/// The number of the GPU that `GIRIH_DEVICE` names; none if it names none.
pub(super) fn gpu() -> Outcome<Option<usize>> {
    let named = std::env::var("GIRIH_DEVICE").map_or(Ok(Select::Sim), |name| name.parse())?;
    Ok(if let Select::Cuda(number) = named { Some(number) } else { None })
}

impl Host {
    /// This many bytes on the GPU that the environment variable `GIRIH_DEVICE` names, or on a simulator.
    pub(super) fn open(bytes: usize) -> Outcome<Host> {
        let Some(number) = gpu()? else {
            let device = Device::open(Select::Sim)?;
            let memory = device.alloc(bytes)?;
            let address = memory.address();
            let machine = Machine::Sim { device, _memory: memory };
            return Ok(Host { machine, address, bytes, used: Cell::new(0) });
        };
        // SAFETY: the call only looks for the library.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no CUDA driver".into());
        }
        result::init()?;
        let gpu = result::device::get(i32::try_from(number)?)?;
        // SAFETY: the driver has named the GPU.
        let context = unsafe { result::primary_ctx::retain(gpu) }?;
        // SAFETY: the driver has made the context.
        unsafe { result::ctx::set_current(context) }?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        // SAFETY: the memory is written before it is read.
        let address = unsafe { result::malloc_sync(bytes) }?;
        Ok(Host { machine: Machine::Cuda { gpu, context, stream }, address, bytes, used: Cell::new(0) })
    }

    /// girih's view of the machine.
    pub(super) fn device(&self) -> Outcome<Device> {
        match &self.machine {
            Machine::Cuda { context, stream, .. } => {
                // SAFETY: the host outlives the engine, and the engine has all that the device makes.
                Ok(unsafe { Device::from_raw(*context as u64, *stream as u64) }?)
            }
            Machine::Sim { device, .. } => Ok(device.clone()),
        }
    }

    /// The address of memory that nobody else has.
    pub(super) fn take(&self, bytes: usize) -> Outcome<u64> {
        let from = self.used.get();
        let to = from + bytes.next_multiple_of(256);
        if to > self.bytes {
            return Err(format!("{bytes} bytes of {} are left", self.bytes - from).into());
        }
        self.used.set(to);
        Ok(self.address + from as u64)
    }

    /// Writes memory of the engine's, after what is in the stream.
    pub(super) fn write(&self, address: u64, values: &[bf16]) -> Outcome {
        match &self.machine {
            Machine::Cuda { stream, .. } => {
                // SAFETY: the address is the engine's, and the values stay until they are copied.
                unsafe { result::memcpy_htod_async(address, values, *stream) }?;
                self.synchronize()
            }
            Machine::Sim { device, .. } => {
                // SAFETY: the address is the engine's.
                Ok(unsafe { device.borrow(address, values.len()) }?.write(values)?)
            }
        }
    }

    /// Reads memory of the engine's, after what is in the stream.
    pub(super) fn read(&self, address: u64, len: usize) -> Outcome<Vec<bf16>> {
        match &self.machine {
            Machine::Cuda { stream, .. } => {
                let mut values = vec![bf16::ZERO; len];
                // SAFETY: the address is the engine's, and the vector stays until it is written.
                unsafe { result::memcpy_dtoh_async(&mut values, address, *stream) }?;
                self.synchronize()?;
                Ok(values)
            }
            // SAFETY: the address is the engine's.
            Machine::Sim { device, .. } => Ok(unsafe { device.borrow(address, len) }?.download()?),
        }
    }

    fn synchronize(&self) -> Outcome {
        match &self.machine {
            // SAFETY: the stream lives.
            Machine::Cuda { stream, .. } => Ok(unsafe { result::stream::synchronize(*stream) }?),
            Machine::Sim { device, .. } => Ok(device.synchronize()?),
        }
    }

    /// The bytes that are free on the GPU.
    pub(super) fn free(&self) -> Outcome<Option<usize>> {
        match &self.machine {
            Machine::Cuda { .. } => Ok(Some(result::mem_get_info()?.0)),
            Machine::Sim { .. } => Ok(None),
        }
    }

    /// Does the work while the stream of a GPU is idle: code that waits for the stream returns too late.
    pub(super) fn unwaited(&self, work: impl FnOnce() -> Outcome) -> Outcome {
        let Machine::Cuda { stream, .. } = &self.machine else { return work() };
        let gate = Arc::new(Gate::default());
        let share = Arc::into_raw(gate.clone()).cast_mut().cast();
        // SAFETY: the share is the function's own, which lets go of it.
        unsafe { result::stream::launch_host_function(*stream, wait, share) }?;
        let outcome = work();
        gate.open.store(true, Ordering::Release);
        self.synchronize()?;
        match gate.late.load(Ordering::Acquire) {
            true => Err("a call has waited for the stream".into()),
            false => outcome,
        }
    }

    /// What the work puts into the stream of a GPU, captured and replayed by the driver's own calls. A simulator has none.
    pub(super) fn replayed(&self, work: impl FnOnce() -> Outcome) -> Outcome<bool> {
        let Machine::Cuda { stream, .. } = &self.machine else { return Ok(false) };
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives, and the graph until it has run; what it uses is the engine's.
        unsafe {
            result::stream::begin_capture(*stream, mode)?;
            let outcome = work();
            let graph = result::stream::end_capture(*stream);
            outcome?;
            let runs = result::graph::instantiate(graph?, sys::CUgraphInstantiate_flags(0))?;
            result::graph::launch(runs, *stream)?;
            result::stream::synchronize(*stream)?;
            result::graph::exec_destroy(runs)?;
            result::graph::destroy(graph?)?;
        }
        Ok(true)
    }

    /// Launches what girih has prepared, by the engine's own call of the driver.
    pub(super) fn launch(&self, launch: &Launch) -> Outcome {
        let (Machine::Cuda { stream, .. }, Some(function)) = (&self.machine, launch.function()) else {
            // SAFETY: the buffers of the launch are the engine's.
            return Ok(unsafe { launch.run() }?);
        };
        let config = launch.config();
        let attribute = |id, value| sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let mut attributes = Vec::new();
        if let Some([x, y, z]) = launch.cluster() {
            let size = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            attributes.push(attribute(
                sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                sys::CUlaunchAttributeValue { clusterDim: size },
            ));
        }
        if config.cooperative {
            attributes.push(attribute(
                sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                sys::CUlaunchAttributeValue { cooperative: 1 },
            ));
        }
        let config = sys::CUlaunchConfig {
            gridDimX: config.grid[0],
            gridDimY: config.grid[1],
            gridDimZ: config.grid[2],
            blockDimX: config.block[0],
            blockDimY: config.block[1],
            blockDimZ: config.block[2],
            sharedMemBytes: config.dynamic_shared,
            hStream: *stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        let mut arguments: Vec<*mut c_void> =
            launch.arguments().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let function = function as sys::CUfunction;
        // SAFETY: the function, its configuration and its arguments are those of a launch that was checked.
        Ok(unsafe { sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), null_mut()) }
            .result()?)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Machine::Cuda { gpu, stream, .. } = self.machine {
            // SAFETY: nobody uses them any more.
            let _ = unsafe {
                result::free_sync(self.address)
                    .and(result::stream::destroy(stream))
                    .and(result::primary_ctx::release(gpu))
            };
        }
    }
}
