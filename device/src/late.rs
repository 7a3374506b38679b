//! A device for tests that executes each operation as late as streams and events allow: an operation runs when
//! someone waits for it, and an operation of another stream only when the first was told to wait for that one. It
//! counts the modules that it loads.

use std::{
    collections::VecDeque,
    slice,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use girih_ptx as ptx;

use crate::{
    Assembled, Device, Error, Kind, LaunchConfig, Limits, Optimization, Resources, SimOptions,
    backend::{Backend, Clock, Code, Entry, Executable, HostMemory, Mark},
    sim::Simulator,
};

/// `to[0] = from[0] + by`.
pub(crate) const ADD: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from, .param .u32 by) {
  .reg .b64 %to, %from; .reg .b32 %x, %by;
  ld.param.u64 %to, [to]; ld.param.u64 %from, [from]; ld.param.u32 %by, [by];
  ld.global.u32 %x, [%from]; add.u32 %x, %x, %by; st.global.u32 [%to], %x; ret;
}";

type Operation = Box<dyn FnOnce(&Simulator) -> Result<(), Error> + Send>;

enum Step {
    Do(Operation),
    /// Wait until that stream has done this many steps.
    Wait(usize, usize),
}

#[derive(Default)]
struct Queue {
    steps: VecDeque<Step>,
    done: usize,
}

struct World {
    simulator: Simulator,
    queues: Mutex<Vec<Queue>>,
    loads: Arc<AtomicUsize>,
}

impl World {
    fn queues(&self) -> MutexGuard<'_, Vec<Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, stream: usize, until: usize) -> Result<(), Error> {
        loop {
            let mut queues = self.queues();
            let queue = &mut queues[stream];
            if queue.done >= until {
                return Ok(());
            }
            let step = queue.steps.pop_front();
            queue.done += 1;
            drop(queues);
            match step {
                Some(Step::Do(operation)) => operation(&self.simulator)?,
                Some(Step::Wait(other, steps)) => self.run(other, steps)?,
                None => return Ok(()),
            }
        }
    }
}

struct Late {
    world: Arc<World>,
    stream: usize,
}

impl Late {
    fn open(world: Arc<World>) -> Late {
        let mut queues = world.queues();
        queues.push(Queue::default());
        let stream = queues.len() - 1;
        drop(queues);
        Late { world, stream }
    }

    fn push(&self, step: Step) {
        self.world.queues()[self.stream].steps.push_back(step);
    }

    fn later(
        &self,
        operation: impl FnOnce(&Simulator) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        self.push(Step::Do(Box::new(operation)));
        Ok(())
    }

    fn steps(&self) -> usize {
        let queue = &self.world.queues()[self.stream];
        queue.done + queue.steps.len()
    }
}

#[allow(unsafe_code, reason = "host memory is read and written by its address, later")]
impl Backend for Late {
    fn kind(&self) -> Kind {
        Kind::Sim
    }

    fn limits(&self) -> &Limits {
        self.world.simulator.limits()
    }

    fn identity(&self) -> u64 {
        self.world.simulator.identity()
    }

    fn new_stream(&self) -> Result<Box<dyn Backend>, Error> {
        Ok(Box::new(Late::open(self.world.clone())))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.world.simulator.alloc(bytes)
    }

    fn free(&self, address: u64) {
        let _ = self.later(move |simulator| {
            simulator.free(address);
            Ok(())
        });
    }

    fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.world.simulator.check_range(address, bytes)
    }

    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let (from, len) = (bytes.as_ptr().expose_provenance(), bytes.len());
        self.later(move |simulator| {
            // SAFETY: the caller leaves the bytes alone until a mark after this is reached.
            unsafe {
                let from = std::ptr::with_exposed_provenance(from);
                simulator.write(address, slice::from_raw_parts(from, len))
            }
        })
    }

    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (to, len) = (bytes.as_mut_ptr().expose_provenance(), bytes.len());
        self.later(move |simulator| {
            // SAFETY: the caller leaves the bytes alone until a mark after this is reached.
            unsafe {
                let to = std::ptr::with_exposed_provenance_mut(to);
                simulator.read(address, slice::from_raw_parts_mut(to, len))
            }
        })
    }

    fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        self.world.simulator.pinned(bytes)
    }

    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error> {
        self.later(move |simulator| simulator.fill(address, byte, bytes))
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.later(move |simulator| simulator.copy(to, from, bytes))
    }

    fn load(
        &self,
        module: &ptx::Module,
        optimization: Optimization,
        built: Option<&Assembled>,
    ) -> Result<Arc<dyn Code>, Error> {
        self.world.loads.fetch_add(1, Relaxed);
        let code = self.world.simulator.load(module, optimization, built)?;
        Ok(Arc::new(LateCode { world: self.world.clone(), code }))
    }

    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error> {
        self.world.simulator.encode(map)
    }

    fn readdress(&self, map: &ptx::TensorMap, bytes: &mut [u8; ptx::TENSOR_MAP_BYTES]) -> Result<(), Error> {
        self.world.simulator.readdress(map, bytes)
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.world.run(self.stream, self.steps())
    }

    fn mark(&self) -> Result<Box<dyn Mark>, Error> {
        Ok(Box::new(Reached { world: self.world.clone(), stream: self.stream, steps: self.steps() }))
    }

    fn wait(&self, mark: &dyn Mark) -> Result<(), Error> {
        let raw = mark.raw();
        self.push(Step::Wait((raw >> 32) as usize, raw as u32 as usize));
        Ok(())
    }

    fn is_capturing(&self) -> bool {
        false
    }

    fn begin_capture(&self) -> Result<bool, Error> {
        Ok(false)
    }

    fn end_capture(&self) -> Result<Box<dyn Executable>, Error> {
        self.world.simulator.end_capture()
    }

    fn clock(&self) -> Result<Box<dyn Clock>, Error> {
        self.world.simulator.clock()
    }

    fn stream(&self) -> Option<u64> {
        Some(self.stream as u64)
    }

    fn report(&self) -> Option<girih_sim::Report> {
        None
    }

    fn findings(&self) -> Vec<girih_sim::Finding> {
        Vec::new()
    }
}

struct Reached {
    world: Arc<World>,
    stream: usize,
    steps: usize,
}

impl Mark for Reached {
    fn raw(&self) -> u64 {
        (self.stream as u64) << 32 | self.steps as u64
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.world.run(self.stream, self.steps)
    }

    fn is_done(&self) -> Result<bool, Error> {
        Ok(self.world.queues()[self.stream].done >= self.steps)
    }
}

/// Code whose kernels are launched late.
struct LateCode {
    world: Arc<World>,
    code: Arc<dyn Code>,
}

impl Code for LateCode {
    fn log(&self) -> &str {
        self.code.log()
    }

    fn kernel(&self, info: &Arc<ptx::KernelInfo>) -> Result<Arc<dyn Entry>, Error> {
        Ok(Arc::new(LateEntry { world: self.world.clone(), entry: self.code.kernel(info)? }))
    }
}

struct LateEntry {
    world: Arc<World>,
    entry: Arc<dyn Entry>,
}

#[allow(unsafe_code, reason = "the simulator checks what the kernels of these tests do")]
impl Entry for LateEntry {
    fn resources(&self) -> Resources {
        self.entry.resources()
    }

    fn function(&self) -> Option<u64> {
        self.entry.function()
    }

    fn allow(&self, config: &LaunchConfig) -> Result<(), Error> {
        self.entry.allow(config)
    }

    unsafe fn launch(&self, on: &dyn Backend, config: &LaunchConfig, args: &[u8]) -> Result<(), Error> {
        let stream = on.stream().and_then(|stream| usize::try_from(stream).ok()).unwrap_or(0);
        let (entry, config, args) = (self.entry.clone(), *config, args.to_vec());
        let late = Late { world: self.world.clone(), stream };
        // SAFETY: the caller's promise is passed on.
        late.later(move |simulator| unsafe { entry.launch(simulator, &config, &args) })
    }
}

/// Two streams of a device.
pub(crate) fn two() -> [Device; 2] {
    let (device, _) = counting();
    let other = device.new_stream().expect("a stream");
    [device, other]
}

/// A device, and how many modules it has loaded.
pub(crate) fn counting() -> (Device, Arc<AtomicUsize>) {
    let (simulator, loads) = (Simulator::new(SimOptions::fast()), Arc::<AtomicUsize>::default());
    let world = Arc::new(World { simulator, queues: Mutex::default(), loads: loads.clone() });
    (Device::new(Box::new(Late::open(world))), loads)
}
