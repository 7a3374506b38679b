//! Launches of the kernel of an attention problem.

use std::sync::Arc;

use girih_codegen::attention::{AttentionConfig, AttentionKernel, Tensor4};
use girih_device::{Buffer, Kernel, LaunchConfig, Pod};
use girih_ptx::Module;
use girih_tensor::Element;

use super::Problem;
use super::bind::bind;
use super::decode::Decode;
use super::few::Few;
use crate::Error;
use crate::family::{Launches, Loaded, Memory, Prepared, Untyped};
use crate::gemm::Given;

/// A problem with its kernel, loaded on a device: a kernel that iterates over tiles of queries, or the decoding kernels for few queries.
#[derive(Clone, Debug)]
pub struct Attention {
    problem: Problem,
    by: By,
    /// The alignments in bytes of Q, K, V and O.
    aligned: [i64; 4],
}

/// The kernels of a problem.
#[derive(Clone, Debug)]
pub(super) enum By {
    Tiles(Tiles),
    Few(Arc<Few>),
}

/// A kernel that iterates over tiles of queries.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    pub(super) config: AttentionConfig,
    pub(super) module: Arc<Loaded<AttentionKernel>>,
    /// The launches; empty if there is nothing to compute.
    pub(super) launches: Arc<Launches>,
}

impl Attention {
    pub(super) fn new(problem: &Problem, by: By) -> Result<Attention, Error> {
        let aligned = |tensor: Tensor4| match &by {
            By::Tiles(Tiles { module, .. }) => {
                module.generated.params.alignment(&module.generated.kernel, tensor.name())
            }
            By::Few(few) => {
                let kernel = few.decode.attending();
                kernel.params.alignment(&kernel.kernel, tensor.name())
            }
        };
        Ok(Attention { problem: problem.clone(), aligned: Tensor4::ALL.map(aligned), by })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The configuration of a kernel that iterates over tiles of queries; `None` for the decoding kernels, whose plan [`Attention::decode`] has.
    pub fn config(&self) -> Option<&AttentionConfig> {
        match &self.by {
            By::Tiles(tiles) => Some(&tiles.config),
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

    /// The loaded kernel; of the decoding kernels the one that attends to the keys.
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

    /// The layouts that the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        self.generated().1
    }

    /// The launch of this kernel: its grid and its block. `None` where there are no queries.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn launch_config(&self) -> Result<Option<LaunchConfig>, Error> {
        match &self.by {
            By::Tiles(tiles) => Ok(tiles.launches.steps().first().map(|step| *step.config())),
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

    /// [`Attention::run`] with the problem's other tensors: `"bias"`, which is read, and `"lse"`, which is written. Written tensors share no memory
    /// with others. Q, K and V may be parts of one buffer, or the same memory.
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

    /// Prepares the launch of [`Attention::run_with`]: checked and encoded once, for programs that run it many times or launch it themselves. Without
    /// queries nothing is launched.
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
        self.launches().call(&bind(&self.problem, self.aligned, tensors, given)?)
    }

    fn prepared(
        &self,
        tensors: [Memory<'_>; 4],
        given: &[(&str, Given<'_>)],
    ) -> Result<Option<Prepared>, Error> {
        let given = bind(&self.problem, self.aligned, tensors, given)?;
        let launches = self.launches();
        if launches.steps().is_empty() { Ok(None) } else { launches.prepare(&given, Vec::new()).map(Some) }
    }

    fn launches(&self) -> &Launches {
        match &self.by {
            By::Tiles(tiles) => &tiles.launches,
            By::Few(few) => &few.launches,
        }
    }
}
