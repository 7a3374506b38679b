//! Order between streams, on streams that do everything as late as they may: an operation runs when someone waits for it, and
//! another stream's only when it was told to wait for that.

use std::{
    collections::VecDeque,
    slice,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use girih_ptx as ptx;

use crate::{
    Device, Error, Kind, Limits, Optimization, SimOptions,
    backend::{Backend, Clock, Code, Executable, HostMemory, Mark},
    sim::Simulator,
};

type Operation = Box<dyn FnOnce(&Simulator) -> Result<(), Error> + Send>;

enum Step {
    Do(Operation),
    /// Until that stream has done so many steps.
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
            // SAFETY: the caller leaves the bytes alone until a mark behind this is reached.
            unsafe {
                let from = std::ptr::with_exposed_provenance(from);
                simulator.write(address, slice::from_raw_parts(from, len))
            }
        })
    }

    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (to, len) = (bytes.as_mut_ptr().expose_provenance(), bytes.len());
        self.later(move |simulator| {
            // SAFETY: the caller leaves the bytes alone until a mark behind this is reached.
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

    fn load(&self, module: &ptx::Module, optimization: Optimization) -> Result<Arc<dyn Code>, Error> {
        self.world.simulator.load(module, optimization)
    }

    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error> {
        self.world.simulator.encode(map)
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
        None
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

/// Two streams of a device.
fn two() -> [Device; 2] {
    let simulator = Simulator::new(SimOptions::fast());
    let world = Arc::new(World { simulator, queues: Mutex::default() });
    let device = Device::new(Box::new(Late::open(world)));
    let other = device.new_stream().expect("a stream");
    [device, other]
}

/// The streams of these tests do nothing by themselves: without an order another stream's operation has not run.
#[test]
fn streams_are_as_late_as_they_may() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    #[allow(unsafe_code, reason = "the address of a live buffer")]
    // SAFETY: x is dropped last, and what is read early is the test's point.
    let unordered = unsafe { b.borrow::<u8>(x.address(), 4) }?;
    y.copy_from(&unordered)?;
    assert_eq!(y.download()?, [0; 4]);
    let written = a.record()?;
    b.wait(&written)?;
    assert!(!written.is_done()?);
    y.copy_from(&unordered)?;
    assert_eq!(y.download()?, [7; 4]);
    assert!(written.is_done()?);
    Ok(())
}

#[test]
fn an_operation_waits_for_the_stream_of_its_buffer() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    y.copy_from(&x)?;
    assert_eq!(y.download()?, [7; 4]);
    Ok(())
}

#[test]
fn the_stream_of_a_buffer_waits_for_operations_of_others() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(7)?;
    y.copy_from(&x.slice(..)?)?;
    x.fill_bytes(9)?;
    assert_eq!(x.download()?, [9; 4]);
    assert_eq!(y.download()?, [7; 4]);
    // Freed behind them, too: the simulator refuses to copy what is freed.
    y.copy_from(&x)?;
    drop(x);
    a.synchronize()?;
    assert_eq!(y.download()?, [9; 4]);
    Ok(())
}

#[test]
fn a_replay_is_ordered_as_its_operations_are() -> Result<(), Error> {
    let [a, b] = two();
    let (x, y) = (a.alloc::<u8>(4)?, b.alloc::<u8>(4)?);
    x.fill_bytes(1)?;
    let graph = a.capture(|| x.copy_from(&y))?;
    #[allow(unsafe_code, reason = "a graph of copies")]
    // SAFETY: the graph keeps both buffers.
    let replay = || unsafe { graph.launch() };
    y.fill_bytes(7)?;
    replay()?;
    assert_eq!(x.download()?, [7; 4]);
    y.fill_bytes(8)?;
    replay()?;
    y.fill_bytes(9)?;
    assert_eq!(y.download()?, [9; 4]);
    assert_eq!(x.download()?, [8; 4]);
    drop((graph, y));
    b.synchronize()
}

#[test]
fn transfers_are_over_when_they_have_been_waited_for() -> Result<(), Error> {
    let [a, _] = two();
    let x = a.alloc::<u16>(3)?;
    let mut pinned = a.pinned::<u16>(3)?;
    pinned.copy_from_slice(&[1, 2, 3]);
    let upload = x.write_async(pinned)?;
    assert!(!upload.is_done()?);
    let download = x.download_async(a.pinned(3)?)?;
    assert_eq!(*download.wait()?, [1, 2, 3]);
    assert!(upload.is_done()?);
    drop(upload);
    // Dropped before it is over: the memory is freed when it is.
    drop(x.write_async(a.pinned(3)?)?);
    assert_eq!(x.download()?, [0; 3]);
    Ok(())
}
