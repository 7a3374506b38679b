//! Launching: a problem with its kernel.

use std::sync::{Arc, Mutex, PoisonError};

use girih_codegen::attention::{AttentionConfig, Form, Tensor4};
use girih_device::{Buffer, BufferArg, Kernel, Launch, LaunchConfig, Pod, Template};
use girih_ptx::Module;
use girih_tensor::Element;

use super::array::ALIGNMENT;
use super::bind::{self, Binding};
use super::decode::Decode;
use super::few::Few;
use super::loading::{Loaded, OnDevice};
use super::{Prepared, Problem};
use crate::Error;
use crate::gemm::{Given, Memory, Untyped};

/// A problem with the kernel that solves it, loaded on a device: one that goes through tiles of queries, or for few queries those of decoding.
#[derive(Clone, Debug)]
pub struct Attention {
    pub(super) problem: Problem,
    pub(super) by: By,
}

/// The kernels of a problem.
#[derive(Clone, Debug)]
pub(super) enum By {
    Tiles(Tiles),
    Few(Arc<Few>),
}

/// A kernel that goes through tiles of queries.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    pub(super) module: Arc<Loaded>,
    /// None where there is nothing to compute.
    pub(super) table: Option<Arc<OnDevice>>,
    /// Memory for K and V where there are no keys.
    pub(super) spare: Option<Arc<Buffer<u8>>>,
    /// What calls have in common, once one has been made.
    pub(super) call: Arc<Mutex<Option<Template>>>,
}

impl Attention {
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The configuration of a kernel that goes through tiles of queries; none of the kernels of decoding, whose plan [`Attention::decode`] has.
    pub fn config(&self) -> Option<&AttentionConfig> {
        match &self.by {
            By::Tiles(tiles) => Some(&tiles.module.config),
            By::Few(_) => None,
        }
    }

    /// The kernels of decoding, if they compute the problem ([`few_queries`](super::few_queries)).
    pub fn decode(&self) -> Option<&Decode> {
        match &self.by {
            By::Tiles(_) => None,
            By::Few(few) => Some(&few.decode),
        }
    }

    /// The loaded kernel: of those of decoding the one that attends to the keys.
    pub fn kernel(&self) -> &Kernel {
        match &self.by {
            By::Tiles(tiles) => &tiles.module.kernel,
            By::Few(few) => few.decode.kernel(),
        }
    }

    fn generated(&self) -> (&girih_codegen::Kernel, &[(&'static str, String)]) {
        match &self.by {
            By::Tiles(tiles) => (&tiles.module.generated.kernel, &tiles.module.generated.partitions),
            By::Few(few) => (&few.decode.attending().kernel, &few.decode.attending().partitions),
        }
    }

    /// The generated module of this kernel.
    pub fn ptx(&self) -> &Module {
        self.generated().0.module()
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.generated().0.shared_bytes()
    }

    /// What the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        self.generated().1
    }

    /// The launch of this kernel: its grid and its block. None where there are no queries.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn launch_config(&self) -> Result<Option<LaunchConfig>, Error> {
        match &self.by {
            By::Tiles(tiles) => tiles.launch_config(),
            By::Few(few) => Ok(Some(*few.decode.launch_config())),
        }
    }

    /// `o = softmax(scale q k^T) v`, for a problem without a bias, and without logsumexps. Nothing is launched where there are no queries.
    ///
    /// # Errors
    /// As [`Attention::run_with`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::attention::{Attentions, Order, Problem};
    /// use girih_tensor::DType;
    ///
    /// // A query weighs two equal keys.
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, Order::Bshd, [1, 1, 1, 2, 4])?;
    /// let (q, k) = (device.upload(&[1f32; 4])?, device.upload(&[1f32; 8])?);
    /// let v = device.upload(&[[2f32; 4], [4.0; 4]].concat())?;
    /// let o = device.zeros::<f32>(4)?;
    /// Attentions::new(&device).get(&problem)?.run(&q, &k, &v, &o)?;
    /// assert_eq!(o.download()?, [3.0; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<T: Element + Pod>(
        &self,
        q: &Buffer<T>,
        k: &Buffer<T>,
        v: &Buffer<T>,
        o: &Buffer<T>,
    ) -> Result<(), Error> {
        self.run_with([q, k, v, o], &[])
    }

    /// The same for Q, K, V and O, with what the problem has besides: `"bias"`, which is read, and `"lse"`, which is written. What is written shares no
    /// memory with anything else; Q, K and V may be parts of one buffer, or of the same memory.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Overlap`], [`Error::Input`] before anything is written; [`Error::Device`].
    pub fn run_with<T: Element + Pod>(
        &self,
        tensors: [&Buffer<T>; 4],
        given: &[(&str, Given<'_>)],
    ) -> Result<(), Error> {
        self.call(tensors.map(Memory::from), given)
    }

    /// The same for buffers whose elements have dtypes that are known at run time.
    ///
    /// # Errors
    /// As [`Attention::run_with`].
    pub fn run_untyped(&self, tensors: [Untyped<'_>; 4], given: &[(&str, Given<'_>)]) -> Result<(), Error> {
        self.call(tensors.map(Memory::from), given)
    }

    /// What [`Attention::run_with`] launches, as a value: checked and encoded once, for programs that run it many times or launch it
    /// themselves. Nothing is launched where there are no queries.
    ///
    /// # Errors
    /// As [`Attention::run_with`].
    pub fn prepare<T: Element + Pod>(
        &self,
        tensors: [&Buffer<T>; 4],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        self.prepared(tensors.map(Memory::from), given)
    }

    /// The same for [`Attention::run_untyped`].
    ///
    /// # Errors
    /// As [`Attention::run_with`].
    pub fn prepare_untyped(
        &self,
        tensors: [Untyped<'_>; 4],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        self.prepared(tensors.map(Memory::from), given)
    }

    fn call(&self, tensors: [Memory<'_>; 4], given: &[(&str, Given<'_>)]) -> Result<(), Error> {
        let binding = self.bind(tensors, given)?;
        match &self.by {
            By::Tiles(tiles) => tiles.run(&binding),
            By::Few(few) => few.run(&binding),
        }
    }

    fn prepared(
        &self,
        tensors: [Memory<'_>; 4],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        let binding = self.bind(tensors, given)?;
        let launches = match &self.by {
            By::Tiles(tiles) => tiles.launch(&binding)?.into_iter().collect(),
            By::Few(few) => few.launches(&binding)?,
        };
        Ok((!launches.is_empty()).then_some(Prepared { launches }))
    }

    fn bind<'a>(
        &'a self,
        tensors: [Memory<'a>; 4],
        given: &[(&str, Given<'a>)],
    ) -> Result<Binding<'a>, Error> {
        let (config, spare) = match &self.by {
            By::Tiles(tiles) => (Some(tiles.module.config), tiles.spare.as_deref().map(BufferArg::from)),
            By::Few(_) => (None, None),
        };
        let aligned = |tensor: Tensor4| match config {
            Some(config) if !config.is_mapped(tensor) => config.vector() * i64::from(config.dtype.bits()) / 8,
            _ => ALIGNMENT,
        };
        Binding::new(&self.problem, aligned, tensors, given, spare)
    }
}

impl Tiles {
    fn launch_config(&self) -> Result<Option<LaunchConfig>, Error> {
        let Some(table) = &self.table else { return Ok(None) };
        let config = self.module.kernel.config([table.blocks, 1, 1])?;
        // Blocks of sm_90 prepare themselves while the kernel before ends.
        Ok(Some(match self.module.config.form {
            Form::Ring(_) => config.programmatic(),
            Form::Multistage(_) => config,
        }))
    }

    fn run(&self, binding: &Binding<'_>) -> Result<(), Error> {
        let kernel = &self.module.generated;
        let mut call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        if call.is_none() {
            let launch = self.launch(binding)?;
            *call = launch.map(|launch| launch.open(&bind::open(kernel))).transpose()?;
        }
        let Some(template) = &mut *call else { return Ok(()) };
        let (args, count) = binding.open(kernel);
        Ok(crate::launch::run(template, &args[..count])?)
    }

    /// The launch, if there is something to compute.
    fn launch(&self, binding: &Binding<'_>) -> Result<Option<Launch>, Error> {
        let (Some(table), Some(config)) = (&self.table, self.launch_config()?) else { return Ok(None) };
        let table = (&table.words, table.entries);
        binding.prepare(&self.module.kernel, &self.module.generated, &config, table).map(Some)
    }
}
