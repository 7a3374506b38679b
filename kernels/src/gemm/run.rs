//! Loading and launching.

use girih_codegen::gemm::{GemmConfig, GemmKernel, generate};
use girih_device::{Arg, Buffer, Device, Kernel, LaunchConfig, Pod};
use girih_ptx::Module;
use girih_tensor::Element;
use std::sync::{Arc, Mutex, PoisonError};

use super::{KernelKind, Problem, choose};
use crate::Error;
use crate::launch::launch;

/// A loaded module: one serves every problem with its facts.
#[derive(Debug)]
struct Loaded {
    config: GemmConfig,
    kernel: Kernel,
    generated: GemmKernel,
}

/// The GEMM kernels loaded on a device, one for each configuration that was asked for.
#[derive(Debug)]
pub struct Gemms {
    device: Device,
    loaded: Mutex<Vec<Arc<Loaded>>>,
}

impl Gemms {
    /// No kernels yet.
    pub fn new(device: &Device) -> Gemms {
        Gemms { device: device.clone(), loaded: Mutex::new(Vec::new()) }
    }

    /// How many modules are loaded.
    pub fn modules(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The GEMM for `problem`, from a module that is loaded already if one with its facts is.
    ///
    /// # Errors
    /// [`Error::Kernel`], [`Error::Codegen`], [`Error::Device`].
    pub fn get(&self, problem: &Problem, kind: KernelKind) -> Result<Gemm, Error> {
        let (row_major, swapped) = problem.row_major();
        let config = choose(&row_major, kind)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded.iter().find(|l| l.config == config).cloned();
        let module = match known {
            Some(module) => module,
            None => {
                let generated = generate(&config)?;
                let kernel = self.device.load(&generated.module)?.kernel(config.name)?;
                let module = Arc::new(Loaded { config, kernel, generated });
                loaded.push(module.clone());
                module
            }
        };
        Ok(Gemm { problem: *problem, row_major, swapped, module })
    }
}

/// A problem bound to the kernel that solves it.
#[derive(Clone, Debug)]
pub struct Gemm {
    problem: Problem,
    row_major: Problem,
    swapped: bool,
    module: Arc<Loaded>,
}

impl Gemm {
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The configuration.
    pub fn config(&self) -> &GemmConfig {
        &self.module.config
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.module.kernel
    }

    /// The generated module.
    pub fn ptx(&self) -> &Module {
        &self.module.generated.module
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.module.generated.shared_bytes
    }

    /// What the kernel was derived from, line by line: name and layout.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.module.generated.partitions
    }

    /// The launch: a block for each tile of C.
    ///
    /// # Errors
    /// [`Error::Grid`] if there are more tiles than blocks in a grid.
    pub fn launch_config(&self) -> Result<LaunchConfig, Error> {
        let [m, n, _] = self.row_major.mnk();
        let [tile_m, tile_n, _] = self.module.config.tile;
        let tiles = (m as u64).div_ceil(tile_m as u64) * (n as u64).div_ceil(tile_n as u64);
        let most = i32::MAX as u64;
        if tiles > most {
            let tile = format!("({tile_m},{tile_n})");
            return Err(Error::Grid { tiles: tiles as i64, tile, most: most as i64 });
        }
        let generated = &self.module.generated;
        let config = LaunchConfig::new([tiles as u32, 1, 1], [generated.threads, 1, 1]);
        Ok(config.with_dynamic_shared(generated.shared_bytes))
    }

    /// `c = a * b`. An empty C is left alone; K = 0 writes zeros.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`] before anything is written; [`Error::Device`].
    pub fn run<T: Element + Pod>(
        &self,
        a: &Buffer<T>,
        b: &Buffer<T>,
        c: &mut Buffer<T>,
    ) -> Result<(), Error> {
        if T::DTYPE != self.problem.dtype() {
            return Err(Error::DType { problem: self.problem.dtype().name(), buffer: T::DTYPE.name() });
        }
        self.problem.a().fits("A", a.len())?;
        self.problem.b().fits("B", b.len())?;
        self.problem.c().fits("C", c.len())?;
        let [m, n, k] = self.row_major.mnk();
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        let pitches = [self.row_major.a().ld(), self.row_major.b().ld(), self.row_major.c().ld()];
        let mut args: Vec<Arg<'_>> = vec![a.into(), b.into(), c.into()];
        args.extend([m, n, k].into_iter().chain(pitches).map(|v| Arg::U32(v as u32)));
        Ok(launch(&self.module.kernel, &self.launch_config()?, &args)?)
    }
}
