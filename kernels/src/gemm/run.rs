//! Launches of the kernel of a GEMM problem.

use std::sync::{Arc, Mutex, PoisonError};

use girih_codegen::Operand;
use girih_codegen::gemm::{Arguments, GemmConfig};
use girih_device::{Buffer, Kernel, LaunchConfig, Pod, Pointers};
use girih_tensor::Element;

use super::Problem;
use super::bind::{Binding, Given, scales_name};
use super::loading::{Module, Order};
use super::passes::Copies;
use super::workspace::Workspace;
use crate::Error;
use crate::family::{Launches, Memory, Need, Prepared, Step, Untyped};
use girih_device::sizes::wide;

/// A problem with the kernel that solves it, loaded on a device.
#[derive(Clone, Debug)]
pub struct Gemm {
    pub(super) problem: Problem,
    /// The problem as the kernel solves it, oriented and with copies of A and B where these are copied.
    pub(super) solved: Problem,
    pub(super) transposed: bool,
    pub(super) module: Arc<Module>,
    pub(super) order: Option<Order>,
    pub(super) workspace: Option<Arc<Workspace>>,
    pub(super) copies: Option<Arc<Copies>>,
    /// How many bytes the addresses of A, B and C must be a multiple of.
    pub(super) aligned: [i64; 3],
    /// The launches, once there has been a call.
    pub(super) launches: Arc<Mutex<Known>>,
}

/// Launches, and the pitch of the input that the kernel reads ahead.
type Known = Option<(i64, Arc<Launches>)>;

impl Gemm {
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// How A and B are laid out where they are multiplied, if a run first copies them there ([`repitched`](super::repitched)).
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
        &self.module.loaded.kernel
    }

    /// The generated module.
    pub fn ptx(&self) -> &girih_ptx::Module {
        self.module.loaded.generated.kernel.module()
    }

    /// The bytes of global memory in which blocks that share a tile hand their accumulators to one another: 0 where none do. All GEMMs of a
    /// [`Gemms`](super::Gemms) share this memory, which is as large as the largest one needs, and is allocated when the first of that size is
    /// asked for.
    ///
    /// # Errors
    /// [`Error::Codegen`] for more bytes than 64 bits count.
    pub fn workspace_bytes(&self) -> Result<u64, Error> {
        let (module, problem) = (&self.module, &self.solved);
        let pieces =
            module.loaded.generated.pieces(problem.mnk(), problem.batches(), module.multiprocessors)?;
        let [m, n, _] = problem.mnk();
        let reductions = module.loaded.generated.reductions([m, n, problem.batches()])?;
        Ok(module.workspace(problem, pieces.as_ref())?.iter().chain(reductions.as_flattened()).sum())
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.module.loaded.generated.kernel.shared_bytes()
    }

    /// The layouts that the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.module.loaded.generated.partitions
    }

    /// The launch: the grid that the configuration's schedule asks for, and its block.
    ///
    /// # Errors
    /// [`Error::Codegen`] if there are more tiles than blocks in a grid.
    pub fn launch_config(&self) -> Result<LaunchConfig, Error> {
        let [m, n, _] = self.solved.mnk();
        let blocks = self
            .module
            .loaded
            .generated
            .blocks([m, n, self.solved.products()], self.module.multiprocessors)?;
        let config = self.module.loaded.kernel.config([blocks, 1, 1])?;
        // A kernel after a pass prepares itself while the pass runs.
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

    /// The same for buffers whose elements have dtypes that are known at run time.
    ///
    /// # Errors
    /// As [`Gemm::run_with`].
    pub fn run_untyped(&self, matrices: [Untyped<'_>; 3], given: &[(&str, Given<'_>)]) -> Result<(), Error> {
        self.call(matrices.map(Memory::from), given)
    }

    /// The same for matrices at addresses of their own ([`Problem::by_pointers`]): an A, a B and a C for each GEMM. The matrices of C share
    /// no memory with each other nor with an A or a B, but the rows of each may be between those of others, as heads of attention do. To make
    /// the arrays of addresses ([`Device::pointers`](girih_device::Device::pointers)) takes an allocation and a copy, so that they are made once
    /// for many calls.
    ///
    /// # Errors
    /// As [`Gemm::run_with`]; [`Error::Input`] for another number of buffers than GEMMs.
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
        self.launches(binding.ahead()?)?.call(&binding.slots()?)
    }

    /// Prepares the launch of [`Gemm::run_with`]: checked and encoded once, for programs that run it many times or launch it themselves. For an empty
    /// C nothing is launched.
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

    /// The same for [`Gemm::run_untyped`].
    ///
    /// # Errors
    /// As [`Gemm::run_with`].
    pub fn prepare_untyped(
        &self,
        matrices: [Untyped<'_>; 3],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        self.prepared(matrices.map(Memory::from), given)
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
        let needs = self.needs(&binding)?;
        self.launches(binding.ahead()?)?.prepare(&binding.slots()?, needs).map(Some)
    }

    /// The requirements of buffers that replace others.
    fn needs(&self, binding: &Binding<'_>) -> Result<Vec<Need>, Error> {
        if self.problem.pointers().is_some() {
            return Ok(Vec::new());
        }
        let spans = [self.problem.a(), self.problem.b(), self.problem.c()].map(|matrix| matrix.span());
        let mut needs = binding.needs()?;
        for (at, (name, matrix)) in [("a", "A"), ("b", "B"), ("c", "C")].into_iter().enumerate() {
            needs.push(Need {
                name: name.into(),
                matrix: Some(matrix),
                dtype: self.problem.dtype_of(Operand::ALL[at]),
                elements: spans[at],
                aligned: self.aligned[at],
                anywhere: false,
            });
        }
        Ok(needs)
    }

    /// Checks the buffers, and says which stands for what; `None` for an empty C.
    fn bind<'a>(
        &'a self,
        matrices: [Memory<'a>; 3],
        given: &'a [(&'a str, Given<'a>)],
    ) -> Result<Option<Binding<'a>>, Error> {
        let binding = Binding {
            problem: &self.solved,
            transposed: self.transposed,
            config: &self.module.config,
            epilogue: &self.module.epilogue,
            kernel: &self.module.loaded.generated,
            matrices: self.checked(matrices)?,
            given,
        };
        binding.check()?;
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
        let [a, b, c] = [0, 1, 2].map(|i| {
            let [extents, strides] = own[i].modes();
            matrices[i].used(extents, strides)
        });
        for (read, common) in [("A", c.common(&a)?), ("B", c.common(&b)?), ("another C", c.common_among()?)] {
            if let Some(common) = common {
                return Err(common.error("C", read));
            }
        }
        for ((matrix, memory), needed) in [("A", &a), ("B", &b), ("C", &c)].into_iter().zip(self.aligned) {
            let odd = memory.starts().iter().find(|start| !start.is_multiple_of(wide(needed.max(1))));
            if let Some(&address) = odd {
                return Err(Error::Address { matrix, address, needed });
            }
        }
        Ok([a, b, c])
    }

    /// The copies of A and B, if there are any, and the GEMM, whose input that is read ahead has this pitch.
    fn launches(&self, ahead: i64) -> Result<Arc<Launches>, Error> {
        let mut known = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((pitch, launches)) = &*known
            && *pitch == ahead
        {
            return Ok(launches.clone());
        }
        let mut steps = self.copies.as_ref().map_or(Vec::new(), |copies| copies.steps.clone());
        steps.push(self.product(ahead)?);
        let mut launches = Launches::new(steps);
        if let Some(copies) = &self.copies {
            launches = launches.with_lock(copies.lock.clone());
        }
        if let Some(workspace) = &self.workspace {
            launches = launches.with_counters(workspace.counters());
        }
        let launches = Arc::new(launches);
        *known = Some((ahead, launches.clone()));
        Ok(launches)
    }

    /// The launch of the GEMM.
    fn product(&self, ahead: i64) -> Result<Step, Error> {
        let (solved, kernel) = (&self.solved, &self.module.loaded.generated);
        let matrices = [solved.a(), solved.b(), solved.c()];
        let arguments = Arguments {
            mnk: solved.mnk(),
            pitches: matrices.each_ref().map(|matrix| matrix.bound_pitch()),
            products: solved.products(),
            batch: matrices.map(|matrix| [matrix.different(), matrix.batch_stride()]),
            scales: [Operand::A, Operand::B].map(|operand| solved.pitch_of_scales(operand).max(1)),
            ahead,
        };
        let (config, values) = (self.launch_config()?, kernel.params.values(&arguments)?);
        let mut step = Step::new(&self.module.loaded.kernel, config, values);
        let names = if self.transposed { ["b", "a"] } else { ["a", "b"] };
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            step = match self.copies.as_ref().and_then(|copies| copies.places[at].as_ref()) {
                Some(place) => step.with_own(name, place.clone()),
                None => step.renamed(name, names[at]),
            };
        }
        for (operand, name) in [(Operand::A, "scales"), (Operand::B, "scales_b")] {
            if let Some(given) = scales_name(solved, self.transposed, operand) {
                step = step.renamed(name, given);
            }
        }
        if let Some(order) = &self.order {
            step = step.with_own("order", order.clone()).with_own("pieces", order.clone());
        }
        let Some(workspace) = &self.workspace else { return Ok(step) };
        step = step.with_own("workspace", workspace.sums.clone());
        step = step.with_own("semaphores", workspace.turns.clone());
        for (output, [left, turns]) in kernel.outputs.iter().zip(&workspace.reductions) {
            step = step.with_own(&format!("partials_{}", output.name), left.clone());
            step = step.with_own(&format!("arrivals_{}", output.name), turns.clone());
        }
        Ok(step)
    }
}

/// How many bytes the addresses of A, B and C must be a multiple of, so that the kernel, or the pass that copies them, can read and write
/// them.
pub(super) fn aligned(
    config: &GemmConfig,
    transposed: bool,
    copies: Option<&Copies>,
) -> Result<[i64; 3], Error> {
    let mut needed = [0; 3];
    for (i, (needed, operand)) in needed.iter_mut().zip(Operand::ALL).enumerate() {
        let bits = config.dtype(operand).bits();
        let copied = copies.filter(|_| i < 2).and_then(|copies| copies.needed[i]);
        *needed = copied.unwrap_or(config.aligned(operand)? * i64::from(bits / 8));
    }
    if transposed {
        needed.swap(0, 1);
    }
    Ok(needed)
}
