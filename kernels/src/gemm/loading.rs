//! Loading: the kernels of a device.

use std::sync::Arc;

use girih_codegen::gemm::{Epilogue, GemmConfig, GemmKernel, Pieces, Schedule, generate};
use girih_device::{Buffer, Device};

use super::fits::{fits, gates};
use super::passes::{self, Copies, Passes};
use super::run::aligned;
use super::workspace::Shared;
use super::{Gemm, KernelKind, Problem, Records, choose, repitched};
use crate::Error;
use crate::family::{Cache, Loaded, words};

/// A loaded module. It serves every problem for which its configuration is chosen.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) config: GemmConfig,
    pub(super) epilogue: Epilogue,
    pub(super) loaded: Loaded<GemmKernel>,
    pub(super) multiprocessors: u32,
}

impl Module {
    /// The bytes of the accumulators and of the counters that blocks which share a tile pass to one another.
    pub(super) fn workspace(&self, problem: &Problem, pieces: Option<&Pieces>) -> Result<[u64; 2], Error> {
        let [m, n, _] = problem.mnk();
        Ok(match pieces {
            // The kernel has the parameters also where no tile is cut.
            Some(pieces) => pieces.workspace().map(|bytes| bytes.max(LINE)),
            None => self.loaded.generated.workspace([m, n, problem.products()])?,
        })
    }
}

/// The order of tiles, or the pieces of tiles, on the device.
pub(super) type Order = Arc<Buffer<u8>>;

/// The bytes of an empty workspace.
const LINE: u64 = 16;

/// The most problems whose configurations are remembered.
const MOST_CHOSEN: usize = 1 << 12;

/// What an order depends on: the tile's extents, and how many rows and columns of tiles there are.
type Tiles = ([i64; 2], [u32; 2]);

/// The GEMM kernels loaded on a device, one for each configuration and epilogue that was asked for. Threads may ask for kernels at the same time:
/// those that ask for different ones do not wait for each other.
#[derive(Debug)]
pub struct Gemms {
    device: Device,
    /// Modules by their configurations and the keys of their epilogues.
    loaded: Cache<(GemmConfig, String), Arc<Module>>,
    orders: Cache<Tiles, Order>,
    passes: Passes,
    workspace: Shared,
    records: Records,
    /// What was chosen for problems that have come: to choose takes longer than to launch.
    chosen: Cache<(Problem, KernelKind), GemmConfig>,
}

impl Gemms {
    /// An empty set of kernels for a device.
    pub fn new(device: &Device) -> Gemms {
        Gemms {
            device: device.clone(),
            loaded: Cache::default(),
            orders: Cache::default(),
            passes: Cache::default(),
            workspace: Shared::default(),
            records: Records::default(),
            chosen: Cache::new(MOST_CHOSEN),
        }
    }

    /// The same, with configurations that were measured for some problems: those get theirs by [`KernelKind::Sm90`], before the records that girih
    /// comes with are asked ([`Records::shipped`]).
    pub fn with_records(self, records: Records) -> Gemms {
        Gemms { records, chosen: Cache::new(MOST_CHOSEN), ..self }
    }

    /// How many modules are loaded.
    pub fn modules(&self) -> usize {
        self.loaded.len()
    }

    /// The GEMM for `problem`, from a module that is loaded already if one with its facts is.
    ///
    /// # Errors
    /// [`Error::Kernel`], [`Error::Codegen`], [`Error::Device`].
    pub fn get(&self, problem: &Problem, kind: KernelKind) -> Result<Gemm, Error> {
        self.fused(problem, kind, &Epilogue::new())
    }

    /// The GEMM for `problem` whose accumulators become C by `epilogue`, for [`Gemm::run_with`].
    ///
    /// # Errors
    /// As [`Gemms::get`]; [`Error::EpilogueKey`] for another epilogue than the one of that key that is loaded already.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, [5, 7, 3], Layout::Tn)?;
    /// let epilogue = Epilogue::new().scale("alpha").plus(Input::row("bias", DType::F32)).relu();
    /// let gemm = Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?;
    /// let (a, b, bias) = (device.upload(&[1f32; 15])?, device.upload(&[2f32; 21])?, device.upload(&[1f32; 7])?);
    /// let c = device.zeros::<f32>(35)?;
    /// gemm.run_with(&a, &b, &c, &[("alpha", Given::from(0.5)), ("bias", Given::from(&bias))])?;
    /// assert_eq!(c.download()?, [4.0; 35]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The update of BLAS, `C = alpha * A * B + beta * C`, reads the C that it writes. For `beta = 0` BLAS does not read C: that is
    /// the epilogue `Epilogue::new().scale("alpha")`.
    /// ```
    /// # use girih_device::{Device, Select};
    /// # use girih_kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Problem};
    /// # use girih_tensor::DType;
    /// # let device = Device::open(Select::Sim)?;
    /// # let problem = Problem::new(DType::F32, [5, 7, 3], Layout::Tn)?;
    /// # let (a, b) = (device.upload(&[1f32; 15])?, device.upload(&[2f32; 21])?);
    /// let update = Epilogue::new().scale("alpha").plus_scaled("beta", Input::matrix("before", DType::F32));
    /// let gemm = Gemms::new(&device).fused(&problem, KernelKind::Simt, &update)?;
    /// let c = device.upload(&[10f32; 35])?;
    /// let (alpha, beta) = (Given::from(0.5), Given::from(-1.0));
    /// gemm.run_with(&a, &b, &c, &[("alpha", alpha), ("beta", beta), ("before", Given::from(&c))])?;
    /// assert_eq!(c.download()?, [-7.0; 35]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fused(&self, problem: &Problem, kind: KernelKind, epilogue: &Epilogue) -> Result<Gemm, Error> {
        let chosen = self.chosen(&problem.with_epilogue(epilogue), kind)?;
        self.configured(problem, choose::with_room(chosen, epilogue), epilogue)
    }

    /// The configuration that was measured for a problem, or else is chosen.
    fn chosen(&self, problem: &Problem, kind: KernelKind) -> Result<GemmConfig, Error> {
        self.chosen.get(&(*problem, kind), || match self.records.follow(problem, kind)? {
            Some((config, _)) => Ok(config),
            None => choose(problem, kind, self.device.limits()),
        })
    }

    /// The same by a configuration of the caller's choice for [`Problem::oriented`], as a tuner tries them. What it states of pitches,
    /// extents and addresses, a launch checks.
    ///
    /// # Errors
    /// [`Error::Configuration`] for one of other dtypes or contiguous modes than the problem's, or of more parts of K than K has tiles;
    /// as [`Gemms::fused`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{GemmConfig, Schedule};
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Epilogue, Gemms, KernelKind, Layout, Problem, choose};
    /// use girih_tensor::DType;
    ///
    /// // Two blocks for the one tile of C, which share K.
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, [5, 7, 100], Layout::Tn)?;
    /// let config = GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..choose(&problem, KernelKind::Simt, 132)? };
    /// let gemm = Gemms::new(&device).configured(&problem, config, &Epilogue::new())?;
    /// let (a, b) = (device.upload(&[1f32; 500])?, device.upload(&[2f32; 700])?);
    /// let c = device.zeros::<f32>(35)?;
    /// gemm.run(&a, &b, &c)?;
    /// assert_eq!(c.download()?, [200.0; 35]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn configured(
        &self,
        problem: &Problem,
        config: GemmConfig,
        epilogue: &Epilogue,
    ) -> Result<Gemm, Error> {
        self.with_kernel(problem, config, epilogue, generate)
    }

    /// The same with the kernel that [`generated`] has made for this configuration and this epilogue.
    ///
    /// # Errors
    /// As [`Gemms::configured`].
    pub fn generated(
        &self,
        problem: &Problem,
        config: GemmConfig,
        epilogue: &Epilogue,
        kernel: &GemmKernel,
    ) -> Result<Gemm, Error> {
        self.with_kernel(problem, config, epilogue, |_, _| Ok(kernel.clone()))
    }

    fn with_kernel(
        &self,
        problem: &Problem,
        config: GemmConfig,
        epilogue: &Epilogue,
        generate: impl Fn(&GemmConfig, &Epilogue) -> Result<GemmKernel, girih_codegen::Error>,
    ) -> Result<Gemm, Error> {
        let (oriented, transposed) = problem.oriented(config.c_major);
        fits(&oriented, &config)?;
        gates(problem, epilogue)?;
        let epilogue = turned(epilogue, transposed);
        let module = self.loaded.get(&(config, epilogue.key()), || {
            let loaded = Loaded::new(&self.device, generate(&config, &epilogue)?)?;
            let multiprocessors = self.device.limits().multiprocessors;
            Ok::<_, Error>(Arc::new(Module { config, epilogue: epilogue.clone(), loaded, multiprocessors }))
        })?;
        let kernel = &module.loaded.generated;
        if !module.epilogue.is_same(&epilogue) {
            let generated = generate(&config, &epilogue)?;
            if generated.kernel.module().to_string() != kernel.kernel.module().to_string() {
                return Err(Error::EpilogueKey { key: epilogue.key() });
            }
        }
        let pieces = kernel.pieces(oriented.mnk(), oriented.batches(), module.multiprocessors)?;
        let order = match &pieces {
            Some(pieces) => Some(words(&self.device, &pieces.table())?),
            None => self.order(&oriented, &module)?,
        };
        let bytes = module.workspace(&oriented, pieces.as_ref())?;
        let [m, n, _] = oriented.mnk();
        let reductions = kernel.reductions([m, n, oriented.batches()])?;
        let workspace = self.workspace.of(&self.device, bytes, &reductions)?;
        let solved = repitched(&oriented, &config)?;
        let early = config.mainloop.warp_specialized().is_some();
        let names = if transposed { ["b", "a"] } else { ["a", "b"] };
        let copies = Copies::new(&self.device, &self.passes, [&oriented, &solved], early, names)?;
        let aligned = aligned(&module.config, transposed, copies.as_ref())?;
        let (copies, launches) = (copies.map(Arc::new), Arc::default());
        Ok(Gemm {
            problem: *problem,
            solved,
            transposed,
            module,
            order,
            workspace,
            copies,
            aligned,
            launches,
        })
    }

    /// The order of a persistent kernel's tiles.
    fn order(&self, oriented: &Problem, module: &Module) -> Result<Option<Order>, Error> {
        let Schedule::Persistent { .. } = module.config.schedule else { return Ok(None) };
        if module.config.batch.grouped().is_some() {
            return Ok(None);
        }
        let ([m, n, _], [tile_m, tile_n, _]) = (oriented.mnk(), module.config.tile);
        let kernel = &module.loaded.generated;
        let key = ([tile_m, tile_n], kernel.tiles(m, n)?);
        self.orders.get(&key, || words(&self.device, kernel.order(m, n)?.as_flattened())).map(Some)
    }
}

/// The kernels that [`Gemms::configured`] loads for a problem, in no device: those that copy A or B, and the product's. So modules are built
/// ahead of time ([`Bundle`](girih_device::Bundle)).
///
/// # Errors
/// As [`Gemms::configured`], but for the device's.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Epilogue, KernelKind, Layout, Problem, choose, kernels};
/// use girih_tensor::DType;
///
/// // Rows of 127 elements are copied to where tensor copies can take them.
/// for (k, count) in [(128, 1), (127, 2)] {
///     let problem = Problem::new(DType::Bf16, [512, 256, k], Layout::Tn)?;
///     let config = choose(&problem, KernelKind::Sm90, 132)?;
///     assert_eq!(kernels(&problem, &config, &Epilogue::new())?.len(), count);
/// }
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn kernels(
    problem: &Problem,
    config: &GemmConfig,
    epilogue: &Epilogue,
) -> Result<Vec<girih_codegen::Kernel>, Error> {
    let (oriented, transposed) = problem.oriented(config.c_major);
    fits(&oriented, config)?;
    let early = config.mainloop.warp_specialized().is_some();
    let mut kernels = passes::kernels([&oriented, &repitched(&oriented, config)?], early)?;
    kernels.push(generate(config, &turned(epilogue, transposed))?.kernel);
    Ok(kernels)
}

/// The kernel of a product without those that copy A or B, as [`Gemms::configured`] generates it.
///
/// # Errors
/// [`Error::Codegen`].
pub fn generated(problem: &Problem, config: &GemmConfig, epilogue: &Epilogue) -> Result<GemmKernel, Error> {
    let (_, transposed) = problem.oriented(config.c_major);
    Ok(generate(config, &turned(epilogue, transposed))?)
}

/// The epilogue of the problem that the kernel solves. A column-major C is a row-major one of the transposed problem: that is another kernel
/// only if the epilogue tells rows from columns.
fn turned(epilogue: &Epilogue, transposed: bool) -> Epilogue {
    let turns = transposed && !epilogue.is_identity();
    if turns { epilogue.clone().transposed() } else { epilogue.clone() }
}
