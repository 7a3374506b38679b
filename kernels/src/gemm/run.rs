//! Loading and launching.

use girih_codegen::Operand;
use girih_codegen::gemm::{
    Batch, BlockScales, Epilogue, GemmConfig, GemmKernel, Major, MixedInput, Pieces, Schedule, generate,
};
use girih_device::{Buffer, BufferArg, Device, Kernel, Launch, LaunchConfig, Pod, Pointers};
use girih_ptx::Module;
use girih_tensor::{DType, Element};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::bind::{Binding, Given};
use super::call::Call;
use super::choose::recorded;
use super::memory::Memory;
use super::passes::{self, Copies, Opened};
use super::workspace::{Shared, Workspace};
use super::{KernelKind, Prepared, Problem, Records, choose, repitched};
use crate::Error;

/// A loaded module. It serves every problem for which its configuration is chosen.
#[derive(Debug)]
struct Loaded {
    config: GemmConfig,
    epilogue: Epilogue,
    kernel: Kernel,
    generated: GemmKernel,
    multiprocessors: u32,
}

impl Loaded {
    /// The bytes of the sums and of the counters that blocks which share tiles hand to one another.
    fn workspace(&self, problem: &Problem, pieces: Option<&Pieces>) -> Result<[u64; 2], Error> {
        let [m, n, _] = problem.mnk();
        Ok(match pieces {
            // The kernel has the parameters also where no tile is cut.
            Some(pieces) => pieces.workspace().map(|bytes| bytes.max(LINE)),
            None => self.generated.workspace([m, n, problem.products()])?,
        })
    }
}

/// The order of tiles, or the pieces of tiles, on the device.
type Order = Arc<Buffer<u32>>;

/// The bytes of an empty workspace.
const LINE: u64 = 16;

/// The most problems whose configurations are remembered.
const MOST_CHOSEN: usize = 1 << 12;

/// What an order depends on: the tile's extents, and how many rows and columns of tiles there are.
type Tiles = ([i64; 2], [u32; 2]);

/// The GEMM kernels loaded on a device, one for each configuration and epilogue that was asked for.
#[derive(Debug)]
pub struct Gemms {
    device: Device,
    loaded: Mutex<Vec<Arc<Loaded>>>,
    orders: Mutex<HashMap<Tiles, Order>>,
    workspace: Shared,
    records: Records,
    /// What was chosen for problems that have come: to choose takes longer than to launch.
    chosen: Mutex<HashMap<(Problem, KernelKind), GemmConfig>>,
}

impl Gemms {
    /// An empty set of kernels for a device.
    pub fn new(device: &Device) -> Gemms {
        let (loaded, orders, workspace, records, chosen) = Default::default();
        Gemms { device: device.clone(), loaded, orders, workspace, records, chosen }
    }

    /// The same, with configurations that were measured for some problems: those get theirs by [`KernelKind::Sm90`].
    pub fn with_records(self, records: Records) -> Gemms {
        Gemms { records, chosen: Mutex::default(), ..self }
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
        self.fused(problem, kind, &Epilogue::new())
    }

    /// The GEMM for `problem` whose sums become C by `epilogue`, for [`Gemm::run_with`].
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
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = chosen.get(&(*problem, kind)) {
            return Ok(*known);
        }
        let config = match recorded(problem, kind, &self.records)? {
            Some((config, _)) => config,
            None => choose(problem, kind, self.device.limits().multiprocessors)?,
        };
        if chosen.len() == MOST_CHOSEN {
            chosen.clear();
        }
        chosen.insert((*problem, kind), config);
        Ok(config)
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
        let (oriented, transposed) = problem.oriented(config.c_major);
        fits(&oriented, &config)?;
        gates(problem, epilogue)?;
        let epilogue = turned(epilogue, transposed);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded.iter().find(|l| l.config == config && l.epilogue == epilogue).cloned();
        let module = match known {
            Some(module) => {
                if !module.epilogue.is_same(&epilogue) {
                    let generated = generate(&config, &epilogue)?;
                    if generated.kernel.module().to_string() != module.generated.kernel.module().to_string() {
                        return Err(Error::EpilogueKey { key: epilogue.key() });
                    }
                }
                module
            }
            None => {
                let generated = generate(&config, &epilogue)?;
                let kernel = self.device.load(&generated.kernel)?.kernel(config.name)?;
                let multiprocessors = self.device.limits().multiprocessors;
                let module = Arc::new(Loaded { config, epilogue, kernel, generated, multiprocessors });
                loaded.push(module.clone());
                module
            }
        };
        drop(loaded);
        let pieces = module.generated.pieces(oriented.mnk(), oriented.batches(), module.multiprocessors)?;
        let order = match &pieces {
            Some(pieces) => Some(Arc::new(self.device.upload(&pieces.table())?)),
            None => self.order(&oriented, &module)?,
        };
        let bytes = module.workspace(&oriented, pieces.as_ref())?;
        let [m, n, _] = oriented.mnk();
        let reductions = module.generated.reductions([m, n, oriented.batches()])?;
        let workspace = self.workspace.of(&self.device, bytes, &reductions)?;
        let solved = repitched(&oriented, &config)?;
        let early = config.mainloop.warp_specialized().is_some();
        let copies = Copies::new(&self.device, [&oriented, &solved], early)?.map(Arc::new);
        let aligned = aligned(&module.config, transposed, copies.as_deref())?;
        let call = Arc::default();
        Ok(Gemm { problem: *problem, solved, transposed, module, order, workspace, copies, aligned, call })
    }

    /// The order of a persistent kernel's tiles.
    fn order(&self, oriented: &Problem, module: &Loaded) -> Result<Option<Order>, Error> {
        let Schedule::Persistent { .. } = module.config.schedule else { return Ok(None) };
        if module.config.batch.grouped().is_some() {
            return Ok(None);
        }
        let ([m, n, _], [tile_m, tile_n, _]) = (oriented.mnk(), module.config.tile);
        let key = ([tile_m, tile_n], module.generated.tiles(m, n)?);
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = orders.get(&key) {
            return Ok(Some(known.clone()));
        }
        let order = Arc::new(self.device.upload(&module.generated.order(m, n)?.concat())?);
        orders.insert(key, order.clone());
        Ok(Some(order))
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

/// The epilogue of the problem that the kernel solves. A column-major C is a row-major one of the transposed problem: that is another kernel
/// only if the epilogue tells rows from columns.
fn turned(epilogue: &Epilogue, transposed: bool) -> Epilogue {
    let turns = transposed && !epilogue.is_identity();
    if turns { epilogue.clone().transposed() } else { epilogue.clone() }
}

/// A problem with the kernel that solves it, loaded on a device.
#[derive(Clone, Debug)]
pub struct Gemm {
    problem: Problem,
    /// The problem as the kernel solves it, oriented and with copies of A and B where these are copied.
    solved: Problem,
    transposed: bool,
    module: Arc<Loaded>,
    order: Option<Order>,
    workspace: Option<Arc<Workspace>>,
    copies: Option<Arc<Copies>>,
    /// How many bytes the addresses of A, B and C must be a multiple of.
    aligned: [i64; 3],
    /// What calls have in common, once one has been made.
    call: Arc<Mutex<Option<Call>>>,
}

impl Gemm {
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// How A and B lie where they are multiplied, if a run first copies them there ([`repitched`]).
    pub fn copied(&self) -> [Option<super::Matrix>; 2] {
        let [mut a, mut b] = [self.solved.a(), self.solved.b()];
        if self.transposed {
            (a, b) = (b, a);
        }
        [(self.problem.a(), a), (self.problem.b(), b)].map(|(from, to)| (from != to).then_some(to))
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
        self.module.generated.kernel.module()
    }

    /// The bytes of global memory in which blocks that share a tile hand their sums to one another: 0 where none do. All GEMMs of a
    /// [`Gemms`] share this memory, which is as large as the largest one needs, and is allocated when the first of that size is asked
    /// for.
    ///
    /// # Errors
    /// [`Error::Codegen`] for more bytes than 64 bits count.
    pub fn workspace_bytes(&self) -> Result<u64, Error> {
        let (module, problem) = (&self.module, &self.solved);
        let pieces = module.generated.pieces(problem.mnk(), problem.batches(), module.multiprocessors)?;
        let [m, n, _] = problem.mnk();
        let reductions = module.generated.reductions([m, n, problem.batches()])?;
        Ok(module.workspace(problem, pieces.as_ref())?.iter().chain(reductions.as_flattened()).sum())
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.module.generated.kernel.shared_bytes()
    }

    /// What the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.module.generated.partitions
    }

    /// The launch: the grid that the configuration's schedule asks for, and its block.
    ///
    /// # Errors
    /// [`Error::Codegen`] if there are more tiles than blocks in a grid.
    pub fn launch_config(&self) -> Result<LaunchConfig, Error> {
        let [m, n, _] = self.solved.mnk();
        let blocks =
            self.module.generated.blocks([m, n, self.solved.products()], self.module.multiprocessors)?;
        let config = self.module.kernel.config([blocks, 1, 1])?;
        // What comes after a pass prepares itself meanwhile.
        let early =
            self.module.config.programmatic || self.copies.as_ref().is_some_and(|copies| copies.early);
        Ok(if early { config.programmatic() } else { config })
    }

    /// `c = a * b`, for an epilogue without inputs. Nothing is launched for an empty C. Where K is 0, every sum is 0.
    ///
    /// # Errors
    /// As [`Gemm::run_with`].
    pub fn run<A: Element + Pod, B: Element + Pod, C: Element + Pod>(
        &self,
        a: &Buffer<A>,
        b: &Buffer<B>,
        c: &Buffer<C>,
    ) -> Result<(), Error> {
        self.run_with(a, b, c, &[])
    }

    /// `c = epilogue(a * b)`, with what is given for each of the epilogue's inputs, by its name. An input that is a matrix may be `c`
    /// itself: the epilogue reads what was there before. No other input may share memory with `c`. Outputs besides C are given as inputs
    /// are, in memory of their own; where C is empty, they are not written.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Address`], [`Error::Overlap`], [`Error::Input`] before anything is written;
    /// [`Error::Device`].
    pub fn run_with<A: Element + Pod, B: Element + Pod, C: Element + Pod>(
        &self,
        a: &Buffer<A>,
        b: &Buffer<B>,
        c: &Buffer<C>,
        given: &[(&str, Given<'_>)],
    ) -> Result<(), Error> {
        self.call([a.into(), b.into(), c.into()], given)
    }

    /// The same for matrices at addresses of their own ([`Problem::by_pointers`]): an A, a B and a C for each product. The matrices of C share
    /// no memory with each other nor with an A or a B, but the rows of each may lie between those of others, as heads of attention do. To make
    /// the arrays of addresses ([`Device::pointers`]) takes an allocation and a copy, so that they are made once for many calls.
    ///
    /// # Errors
    /// As [`Gemm::run_with`]; [`Error::Input`] for another number of buffers than products.
    pub fn run_pointers<A: Element + Pod, B: Element + Pod, C: Element + Pod>(
        &self,
        a: &Pointers<'_, A>,
        b: &Pointers<'_, B>,
        c: &Pointers<'_, C>,
        given: &[(&str, Given<'_>)],
    ) -> Result<(), Error> {
        self.call([a.into(), b.into(), c.into()], given)
    }

    fn call(&self, matrices: [Memory<'_>; 3], given: &[(&str, Given<'_>)]) -> Result<(), Error> {
        let Some(binding) = self.bind(matrices, given)? else { return Ok(()) };
        let (copies, generated) = (self.copies.as_deref(), &self.module.generated);
        let mut call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        let call = match &mut *call {
            Some(call) => call,
            first => first.insert(Call::new(self.launches(&binding)?, generated)?),
        };
        let turn = copies.map(|copies| copies.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let launched = call.run(&binding, generated);
        drop(turn);
        if let (Err(Error::Device(_)), Some(workspace)) = (&launched, &self.workspace) {
            workspace.reset()?;
        }
        launched
    }

    /// What [`Gemm::run_with`] launches, as a value: checked and encoded once, for programs that run it many times or launch it
    /// themselves. Nothing is launched for an empty C.
    ///
    /// # Errors
    /// As [`Gemm::run_with`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, [2, 3, 4], Layout::Tn)?;
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
    /// let (a, b) = (device.upload(&[1f32; 8])?, device.upload(&[2f32; 12])?);
    /// let (c, other) = (device.zeros::<f32>(6)?, device.zeros::<f32>(6)?);
    /// let mut launch = gemm.prepare(&a, &b, &c, &[])?.ok_or("C is not empty")?;
    /// // SAFETY: the buffers hold the problem's matrices.
    /// unsafe { launch.run() }?;
    /// launch.set("c", &other)?;
    /// unsafe { launch.run() }?;
    /// assert_eq!((c.download()?, other.download()?), (vec![8.0; 6], vec![8.0; 6]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare<A: Element + Pod, B: Element + Pod, C: Element + Pod>(
        &self,
        a: &Buffer<A>,
        b: &Buffer<B>,
        c: &Buffer<C>,
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        self.prepared([a.into(), b.into(), c.into()], given)
    }

    /// The same for [`Gemm::run_pointers`].
    ///
    /// # Errors
    /// As [`Gemm::run_pointers`].
    pub fn prepare_pointers<A: Element + Pod, B: Element + Pod, C: Element + Pod>(
        &self,
        a: &Pointers<'_, A>,
        b: &Pointers<'_, B>,
        c: &Pointers<'_, C>,
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        self.prepared([a.into(), b.into(), c.into()], given)
    }

    fn prepared(
        &self,
        matrices: [Memory<'_>; 3],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        let Some(binding) = self.bind(matrices, given)? else { return Ok(None) };
        let (copies, product) = self.launches(&binding)?;
        let fixed = |i: usize| self.copies.as_ref().is_some_and(|copies| copies.is_fixed(i));
        Ok(Some(Prepared {
            copies,
            product,
            transposed: self.transposed,
            fixed: [fixed(0), fixed(1)],
            turn: self.copies.as_ref().map(|copies| copies.turn.clone()),
            workspace: self.workspace.clone(),
        }))
    }

    /// Checks the buffers, and says which stands for what; none for an empty C.
    fn bind<'a>(
        &'a self,
        matrices: [Memory<'a>; 3],
        given: &'a [(&'a str, Given<'a>)],
    ) -> Result<Option<Binding<'a>>, Error> {
        let matrices = self.checked(matrices)?;
        let [a, b, c] = &matrices;
        let mut from = [a.arg, b.arg];
        if self.transposed {
            from.reverse();
        }
        let place = |i: usize| self.copies.as_ref().and_then(|copies| copies.places[i].as_ref());
        let at = |i: usize| place(i).map_or(from[i], BufferArg::from);
        let binding = Binding {
            problem: &self.solved,
            transposed: self.transposed,
            config: &self.module.config,
            epilogue: &self.module.epilogue,
            from,
            operands: [at(0), at(1), c.arg],
            order: self.order.as_deref(),
            workspace: self.workspace.as_deref(),
            given,
        };
        binding.check(&self.module.generated, &matrices)?;
        let [m, n, _] = self.solved.mnk();
        let empty = m == 0 || n == 0 || self.solved.products() == 0;
        Ok((!empty).then_some(binding))
    }

    /// The matrices A, B and C, if they are what the problem says, and a launch does not write what it reads, nor anything twice.
    fn checked<'a>(&self, matrices: [Memory<'a>; 3]) -> Result<[Memory<'a>; 3], Error> {
        let problem = &self.problem;
        for (operand, memory) in Operand::ALL.into_iter().zip(&matrices) {
            let dtype = problem.dtype_of(operand);
            if memory.dtype != dtype {
                return Err(Error::DType { problem: dtype.name(), buffer: memory.dtype.name() });
            }
        }
        let own = [problem.a(), problem.b(), problem.c()];
        for ((name, memory), matrix) in ["A", "B", "C"].into_iter().zip(&matrices).zip(&own) {
            memory.is_as_many(name, problem.pointers())?;
            matrix.fits(name, memory.len)?;
        }
        let [a, b, c] = [0, 1, 2].map(|i| matrices[i].up_to(own[i].span()));
        for (read, bytes) in
            [("A", c.overlap(&a)), ("B", c.overlap(&b)), ("another C", c.overlap_as(&own[2]))]
        {
            if bytes > 0 {
                return Err(Error::Overlap { written: "C", read, bytes });
            }
        }
        for ((matrix, memory), needed) in [("A", &a), ("B", &b), ("C", &c)].into_iter().zip(self.aligned) {
            let odd = memory.starts().iter().find(|start| !start.is_multiple_of(needed.max(1) as u64));
            if let Some(&address) = odd {
                return Err(Error::Address { matrix, address, needed });
            }
        }
        Ok([a, b, c])
    }

    /// The copies of A and B, if there are any, and the product.
    fn launches(&self, binding: &Binding<'_>) -> Result<(Vec<Opened>, Launch), Error> {
        let copies = match &self.copies {
            Some(copies) => copies.prepare(binding.from)?,
            None => Vec::new(),
        };
        let config = self.launch_config()?;
        Ok((copies, binding.prepare(&self.module.kernel, &self.module.generated, &config)?))
    }
}

/// How many bytes the addresses of A, B and C must be a multiple of, so that the kernel, or the pass that copies them, can read and write
/// them.
fn aligned(config: &GemmConfig, transposed: bool, copies: Option<&Copies>) -> Result<[i64; 3], Error> {
    let mut needed = [0; 3];
    for (i, (needed, operand)) in needed.iter_mut().zip(Operand::ALL).enumerate() {
        let bits = config.dtype(operand).bits();
        let copied = copies.filter(|_| i < 2).and_then(|copies| copies.needed(i));
        *needed = copied.unwrap_or(config.aligned(operand)? * i64::from(bits / 8));
    }
    if transposed {
        needed.swap(0, 1);
    }
    Ok(needed)
}

/// Checks that both the problem and the epilogue make one column of C of two of the product, or neither.
fn gates(problem: &Problem, epilogue: &Epilogue) -> Result<(), Error> {
    let refused = |found: &str, accepted| Err(Error::Gated { found: found.into(), accepted });
    match (problem.is_gated(), epilogue.is_gated()) {
        (true, false) => {
            refused("an epilogue without a gate", "one with `Epilogue::gated`, for a C of N/2 columns")
        }
        (false, true) => {
            refused("a C of N columns", "`Problem::gated`, with a C of N/2 columns, for a gated epilogue")
        }
        _ => Ok(()),
    }
}

/// Checks that a configuration multiplies the matrices of `problem`: what the facts of its parameters do not tell.
fn fits(problem: &Problem, config: &GemmConfig) -> Result<(), Error> {
    let refuse = |what, found: String, accepted: String| Err(Error::Configuration { what, found, accepted });
    let dtypes = |dtypes: [DType; 3]| format!("{} and {} to {}", dtypes[0], dtypes[1], dtypes[2]);
    let found = [config.dtype(Operand::A), config.dtype(Operand::B), config.c_type];
    // The numbers of tf32 are f32 in memory.
    let multiplied = |operand| match problem.dtype_of(operand) {
        DType::F32 => problem.dtype(),
        same => same,
    };
    let wanted = [multiplied(Operand::A), multiplied(Operand::B), problem.output()];
    if found != wanted {
        return refuse("dtypes", dtypes(found), dtypes(wanted));
    }
    if config.atom().c_type != problem.sums() {
        return refuse("sums", config.atom().c_type.to_string(), problem.sums().to_string());
    }
    if config.mixed_input() != problem.mixed_input() {
        let scales = |mixed: Option<&MixedInput>| format!("{mixed:?}");
        return refuse("scales", scales(config.mixed_input()), scales(problem.mixed_input()));
    }
    if config.block_scales().copied() != problem.block_scales() {
        let scales = |scales: Option<BlockScales>| format!("{scales:?}");
        return refuse("scales", scales(config.block_scales().copied()), scales(problem.block_scales()));
    }
    if let Schedule::SplitK { parts, .. } = config.schedule {
        let [k, tile] = [problem.mnk()[2], config.tile[2].max(1)];
        let tiles = (k + tile - 1) / tile;
        if tiles < parts {
            let accepted = format!("at most {tiles}, since K has as many tiles");
            return refuse("parts of K", parts.to_string(), accepted);
        }
    }
    if problem.is_invariant() && !choose::is_invariant(config) {
        let accepted = String::from("one block for each tile, which goes through K in one order");
        return refuse("schedule", format!("{:?}", config.schedule), accepted);
    }
    if config.batch == Batch::Single && problem.batches() > 1 {
        return refuse("products", String::from("one"), format!("{}, those of a batch", problem.batches()));
    }
    let kind = |batch: Batch| match batch {
        Batch::Grouped { mode: 0 } => "those of groups of rows",
        Batch::Grouped { .. } => "those of groups of columns",
        Batch::Pointers => "those of matrices at addresses of their own",
        Batch::Single | Batch::Strided => "those of matrices at strides",
    };
    let [found, wanted] = [config.batch, problem.batch()].map(kind);
    if found != wanted {
        return refuse("products", found.into(), wanted.into());
    }
    let majors = [problem.a(), problem.b()].map(|matrix| matrix.major());
    // What `wgmma` takes along K alone is copied so, and operands of f32 may be copied to where they need not be transposed.
    let taken = if config.loads_by_maps() { choose::taken(problem.dtype(), majors) } else { majors };
    let turned = |found: Major| config.atom().a_type == DType::F32 && found == Major::Mn;
    let fits = |(found, taken): (Major, Major)| found == taken || turned(found);
    if !config.majors().into_iter().zip(taken).all(fits) {
        let found = format!("{:?}", config.majors());
        return refuse("contiguous modes of A and B", found, format!("{majors:?}"));
    }
    Ok(())
}
