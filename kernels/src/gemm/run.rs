//! Loading and launching.

use girih_codegen::gemm::warp_specialized::MAX_TILES;
use girih_device::{Arg, Buffer, Device, Kernel, LaunchConfig, Pod, TensorMap};
use girih_ptx::Module;
use girih_tensor::Element;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Config, Generated, KernelKind, Problem, choose};
use crate::Error;
use crate::launch::{apart, launch};

/// A loaded module: one serves every problem with its facts.
#[derive(Debug)]
struct Loaded {
    config: Config,
    kernel: Kernel,
    generated: Generated,
    multiprocessors: u32,
}

/// The order of tiles on the device, for problems of as many rows and columns of tiles.
type Order = Arc<Buffer<u32>>;

/// The GEMM kernels loaded on a device, one for each configuration that was asked for.
#[derive(Debug)]
pub struct Gemms {
    device: Device,
    loaded: Mutex<Vec<Arc<Loaded>>>,
    orders: Mutex<HashMap<[i64; 2], Order>>,
}

impl Gemms {
    /// No kernels yet.
    pub fn new(device: &Device) -> Gemms {
        Gemms { device: device.clone(), loaded: Mutex::default(), orders: Mutex::default() }
    }

    /// How many modules are loaded.
    pub fn modules(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The GEMM for `problem`, from a module that is loaded already if one with its facts is.
    ///
    /// # Errors
    /// [`Error::Kernel`], [`Error::TensorMap`], [`Error::Grid`], [`Error::Codegen`], [`Error::Device`].
    pub fn get(&self, problem: &Problem, kind: KernelKind) -> Result<Gemm, Error> {
        let multiprocessors = self.device.limits().multiprocessors;
        self.with(problem, choose(problem, kind, multiprocessors)?)
    }

    /// The same by a configuration of the caller's choice, which must state no more than what holds for the problem: the
    /// contiguous modes, and what divides pitches and extents, of [`Problem::row_major`].
    ///
    /// # Errors
    /// [`Error::Codegen`] if it cannot be built, [`Error::Device`].
    fn with(&self, problem: &Problem, config: Config) -> Result<Gemm, Error> {
        let (row_major, swapped) = problem.row_major();
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded.iter().find(|l| l.config == config).cloned();
        let module = match known {
            Some(module) => module,
            None => {
                let generated = config.generate()?;
                let kernel = self.device.load(generated.kernel())?.kernel(config.name())?;
                let multiprocessors = self.device.limits().multiprocessors;
                let module = Arc::new(Loaded { config, kernel, generated, multiprocessors });
                loaded.push(module.clone());
                module
            }
        };
        let order = self.order(&row_major, &module)?;
        Ok(Gemm { problem: *problem, row_major, swapped, module, order })
    }

    /// The order of a persistent kernel's tiles.
    fn order(&self, row_major: &Problem, module: &Loaded) -> Result<Option<Order>, Error> {
        let Generated::WarpSpecialized(kernel) = &module.generated else { return Ok(None) };
        let [m, n, _] = row_major.mnk();
        let ([tile_m, tile_n, _], most) = (module.config.tile(), MAX_TILES as u64);
        let [rows, columns] =
            [(m, tile_m), (n, tile_n)].map(|(extent, tile)| (extent as u64).div_ceil(tile as u64));
        if rows * columns > most {
            let tile = format!("({tile_m},{tile_n})");
            return Err(Error::Grid { tiles: (rows * columns) as i64, tile, most: most as i64 });
        }
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = orders.get(&[rows as i64, columns as i64]) {
            return Ok(Some(known.clone()));
        }
        let order = Arc::new(self.device.upload(&kernel.order(m, n)?.concat())?);
        orders.insert([rows as i64, columns as i64], order.clone());
        Ok(Some(order))
    }
}

/// A problem bound to the kernel that solves it.
#[derive(Clone, Debug)]
pub struct Gemm {
    problem: Problem,
    row_major: Problem,
    swapped: bool,
    module: Arc<Loaded>,
    order: Option<Order>,
}

impl Gemm {
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.module.config
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.module.kernel
    }

    /// The generated module.
    pub fn ptx(&self) -> &Module {
        self.module.generated.kernel().module()
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.module.generated.kernel().shared_bytes()
    }

    /// What the kernel was derived from, line by line: name and layout.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        self.module.generated.partitions()
    }

    /// The launch: a block for each tile of C, or as many persistent ones as go through them in the fewest turns.
    ///
    /// # Errors
    /// [`Error::Grid`] if there are more tiles than blocks in a grid.
    pub fn launch_config(&self) -> Result<LaunchConfig, Error> {
        let [m, n, _] = self.row_major.mnk();
        let [tile_m, tile_n, _] = self.module.config.tile();
        let tiles = (m as u64).div_ceil(tile_m as u64) * (n as u64).div_ceil(tile_n as u64);
        let most = i32::MAX as u64;
        if tiles > most {
            let tile = format!("({tile_m},{tile_n})");
            return Err(Error::Grid { tiles: tiles as i64, tile, most: most as i64 });
        }
        let blocks = match self.module.config {
            Config::Multistage(_) => tiles,
            Config::WarpSpecialized(_) => {
                let turns = tiles.div_ceil(u64::from(self.module.multiprocessors.max(1)));
                tiles.div_ceil(turns.max(1))
            }
        };
        Ok(self.module.kernel.config([blocks as u32, 1, 1])?)
    }

    /// `c = a * b`. An empty C is left alone; K = 0 writes zeros.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Overlap`] before anything is written; [`Error::Device`].
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
        apart("C", c, "A", a)?;
        apart("C", c, "B", b)?;
        let [m, n, k] = self.row_major.mnk();
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        let pitches = [self.row_major.a().ld(), self.row_major.b().ld(), self.row_major.c().ld()];
        let config = self.launch_config()?;
        match (&self.module.generated, &self.order) {
            (Generated::WarpSpecialized(kernel), Some(order)) => {
                let [of_a, of_b, of_c] = kernel.maps([m, n, k], pitches)?;
                let maps = [TensorMap::new(a, &of_a)?, TensorMap::new(b, &of_b)?, TensorMap::new(c, &of_c)?];
                let [map_a, map_b, map_c] = maps.each_ref().map(Arg::from);
                let tiles = Arg::U32(order.len() as u32 / 2);
                let args = [
                    ("map_a", map_a),
                    ("map_b", map_b),
                    ("map_c", map_c),
                    ("order", (&**order).into()),
                    ("tiles", tiles),
                    ("k", Arg::U32(k as u32)),
                ];
                Ok(launch(&self.module.kernel, &config, &args)?)
            }
            _ => {
                let [m, n, k, lda, ldb, ldc] =
                    [m, n, k, pitches[0], pitches[1], pitches[2]].map(|value| Arg::U32(value as u32));
                let sizes = [("m", m), ("n", n), ("k", k), ("lda", lda), ("ldb", ldb), ("ldc", ldc)];
                let args = [&[("a", a.into()), ("b", b.into()), ("c", c.into())], &sizes[..]].concat();
                Ok(launch(&self.module.kernel, &config, &args)?)
            }
        }
    }
}
