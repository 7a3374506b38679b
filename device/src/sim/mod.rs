//! The simulator as a backend: every operation has finished when its call returns.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod code;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use girih_ptx as ptx;
use girih_sim::{Finding, Memory, Program, Report};

use crate::{
    Assembled, Error, Kind, Limits, Optimization, SimOptions,
    backend::{Backend, Clock, Code, Executable, HostMemory, Mark},
    free_host_memory,
};

/// A simulated device.
pub(crate) struct Simulator {
    limits: Limits,
    state: Arc<State>,
}

struct State {
    memory: Memory,
    options: SimOptions,
    /// The sizes in bytes of the live allocations, by their addresses.
    allocations: Mutex<BTreeMap<u64, usize>>,
    /// The results of the last launch. The lock is held during each operation, so that the operations of all threads are one
    /// sequence.
    last: Mutex<Last>,
}

/// The results of the last launch.
#[derive(Default)]
struct Last {
    report: Option<Report>,
    findings: Vec<Finding>,
}

impl State {
    fn allocations(&self) -> MutexGuard<'_, BTreeMap<u64, usize>> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Simulator {
    pub(crate) fn new(options: SimOptions) -> Simulator {
        let memory = Memory::with_capacity(capacity());
        let limits = Limits::simulator(memory.capacity(), options.multiprocessors);
        Simulator {
            limits,
            state: Arc::new(State { memory, options, allocations: Mutex::default(), last: Mutex::default() }),
        }
    }
}

/// The bytes of global memory of the simulated device: half of the memory that is free on the host, since the caller mostly holds
/// a copy of what is on the device; at most 64 GiB, and 64 GiB where the host does not say how much is free.
fn capacity() -> u64 {
    const MOST: u64 = 64 << 30;
    free_host_memory().map_or(MOST, |bytes| (bytes / 2).min(MOST))
}

impl Backend for Simulator {
    fn kind(&self) -> Kind {
        Kind::Sim
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn identity(&self) -> u64 {
        Arc::as_ptr(&self.state).addr() as u64
    }

    fn new_stream(&self) -> Result<Box<dyn Backend>, Error> {
        Ok(Box::new(Simulator { limits: self.limits.clone(), state: self.state.clone() }))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        // Nobody has written the bytes, which matters where uses of undefined values are looked for.
        let (memory, checked) = (&self.state.memory, self.state.options.uninitialised);
        let address = if checked { memory.alloc_uninitialised(bytes) } else { memory.alloc(bytes) };
        let address = address.map_err(|error| match error {
            girih_sim::Error::OutOfMemory { bytes, used, capacity } => {
                Error::OutOfMemory { bytes, available: capacity - used, total: capacity }
            }
            error => error.into(),
        })?;
        self.state.allocations().insert(address, bytes);
        Ok(address)
    }

    fn free(&self, address: u64) {
        let _turn = self.state.turn();
        // An allocation is freed once, by its address. An error could not be reported, since a drop returns nothing.
        let _ = self.state.memory.free(address);
        self.state.allocations().remove(&address);
    }

    fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error> {
        let allocations = self.state.allocations();
        let last = allocations.range(..=address).next_back();
        let end = last.map_or(0, |(&start, &size)| start.saturating_add(size as u64));
        match end.saturating_sub(address) {
            0 => Err(Error::NoMemory { address, device: self.limits.name.clone() }),
            available if bytes as u64 > available => {
                Err(Error::BeyondAllocation { address, bytes: bytes as u64, available })
            }
            _ => Ok(()),
        }
    }

    #[allow(unsafe_code, reason = "the trait's contract; the copy is done when this returns")]
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let _turn = self.state.turn();
        Ok(self.state.memory.write(address, bytes)?)
    }

    #[allow(unsafe_code, reason = "the trait's contract; the copy is done when this returns")]
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let _turn = self.state.turn();
        Ok(self.state.memory.read(address, bytes)?)
    }

    fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        Ok(Box::new(Pageable { words: vec![0; bytes.div_ceil(8)], bytes }))
    }

    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error> {
        let _turn = self.state.turn();
        Ok(self.state.memory.fill(address, byte, bytes)?)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let _turn = self.state.turn();
        let mut chunk = vec![0; bytes.min(1 << 20)];
        for start in (0..bytes).step_by(chunk.len().max(1)) {
            let chunk = &mut chunk[..(bytes - start).min(1 << 20)];
            self.state.memory.read(from + start as u64, chunk)?;
            self.state.memory.write(to + start as u64, chunk)?;
        }
        Ok(())
    }

    fn load(
        &self,
        module: &ptx::Module,
        _: Optimization,
        _: Option<&Assembled>,
    ) -> Result<Arc<dyn Code>, Error> {
        // The printed text is parsed and run, as a GPU runs the printed text, so that findings have the lines of that text.
        let mut text = ptx::Module::parse(&module.to_string())?;
        text.notes = module.notes.clone();
        let program = Arc::new(Program::load(&text)?);
        Ok(Arc::new(code::SimCode::new(self.state.clone(), program, self.limits.threads_per_block)))
    }

    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error> {
        Ok(map.to_bytes())
    }

    fn readdress(&self, map: &ptx::TensorMap, bytes: &mut [u8; ptx::TENSOR_MAP_BYTES]) -> Result<(), Error> {
        // The simulator reads the encoding of `girih_ptx`, which takes no longer to make than to change.
        *bytes = map.to_bytes();
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Error> {
        drop(self.state.turn());
        Ok(())
    }

    fn mark(&self) -> Result<Box<dyn Mark>, Error> {
        Ok(Box::new(Done))
    }

    fn wait(&self, _: &dyn Mark) -> Result<(), Error> {
        Ok(())
    }

    fn is_capturing(&self) -> bool {
        false
    }

    fn begin_capture(&self) -> Result<bool, Error> {
        Ok(false)
    }

    fn end_capture(&self) -> Result<Box<dyn Executable>, Error> {
        Err(Error::NotCaptured { operation: "Device::capture" })
    }

    fn clock(&self) -> Result<Box<dyn Clock>, Error> {
        let now = Instant::now();
        Ok(Box::new(WallClock { start: now, stop: now }))
    }

    fn stream(&self) -> Option<u64> {
        None
    }

    fn unwritten(&self, address: u64, bytes: usize) -> Option<u64> {
        let _turn = self.state.turn();
        self.state.memory.unwritten(address, bytes)
    }

    fn report(&self) -> Option<Report> {
        self.state.turn().report
    }

    fn findings(&self) -> Vec<Finding> {
        self.state.turn().findings.clone()
    }
}

/// The mark of a sequence in which every operation has finished when its call returns.
struct Done;

impl Mark for Done {
    #[cfg(feature = "cuda")]
    fn raw(&self) -> u64 {
        0
    }

    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool, Error> {
        Ok(true)
    }
}

/// Host memory. It consists of 64-bit words, which are aligned for every type of element.
struct Pageable {
    words: Vec<u64>,
    bytes: usize,
}

impl HostMemory for Pageable {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

struct WallClock {
    start: Instant,
    stop: Instant,
}

impl Clock for WallClock {
    fn start(&mut self) -> Result<(), Error> {
        self.start = Instant::now();
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.stop = Instant::now();
        Ok(())
    }

    fn elapsed(&mut self) -> Result<Duration, Error> {
        Ok(self.stop.saturating_duration_since(self.start))
    }
}
