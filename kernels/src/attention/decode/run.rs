//! Loading and launching of decode attention.

use std::sync::{Mutex, PoisonError};

use girih_codegen::attention::decode::{DecodeKernel, THREADS, generate, generate_sum};
use girih_device::{Arg, Buffer, Device, Kernel, Launch, LaunchConfig, Pod, Template};
use girih_tensor::{DType, Element};

use super::bind::{Addresses, args, given, given_names};
use super::plan::{DecodePlan, choose};
use super::problem::DecodeProblem;
use crate::Error;
use crate::launch::{apart, run};
use crate::overlap::View;
use girih_device::sizes::{size, wide, word};

/// The alignment of tensors in bytes.
const ALIGNED: i64 = 16;

/// A kernel that is loaded.
#[derive(Debug)]
struct Loaded {
    kernel: Kernel,
    generated: DecodeKernel,
    config: LaunchConfig,
}

/// A decoding problem with the kernels that solve it, loaded on a device, and with the workspace for parts. Calls on one device handle
/// follow each other, so that they can share the workspace.
#[derive(Debug)]
pub struct Decode {
    device: Device,
    problem: DecodeProblem,
    plan: DecodePlan,
    /// The kernel that attends to the keys, and the one that adds up parts, if there are any.
    attend: Loaded,
    sum: Option<Loaded>,
    workspace: Option<[Buffer<f32>; 2]>,
    /// The launches without what each call is given, once there has been a call; held over all launches of a call.
    calls: Mutex<Vec<Template>>,
}

/// The tensors of a call.
#[derive(Clone, Copy, Debug)]
pub struct DecodeArgs<'a, T: Pod, C: Pod> {
    /// Q.
    pub q: &'a Buffer<T>,
    /// K and V.
    pub kv: [&'a Buffer<C>; 2],
    /// The keys of each sequence, at most the capacity.
    pub lengths: &'a Buffer<u32>,
    /// The pages of each sequence ([`DecodeProblem::table_entries`]), of a cache in pages.
    pub table: Option<&'a Buffer<u32>>,
    /// The scales of K and of V, of a cache with scales.
    pub scales: Option<[&'a Buffer<f32>; 2]>,
    /// Where O goes.
    pub o: &'a Buffer<T>,
    /// Where the logsumexps go, if they are wanted.
    pub lse: Option<&'a Buffer<f32>>,
}

impl Decode {
    /// Generates and loads the kernels for `problem`, and allocates the workspace.
    ///
    /// # Errors
    /// [`Error::Codegen`], [`Error::Device`], those of [`choose`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::attention::decode::{Decode, DecodeArgs, DecodeProblem};
    /// use girih_tensor::DType;
    /// use half::bf16;
    ///
    /// // One query of two heads that share K and V; of up to 100 keys there are 3, all alike, so that O is V.
    /// let problem = DecodeProblem::new(DType::Bf16, [1, 1], [2, 1], 64, 100)?;
    /// let device = Device::open(Select::Sim)?;
    /// let [q, o] = [device.zeros::<bf16>(128)?, device.zeros(128)?];
    /// let (k, v) = (device.zeros(6400)?, device.upload(&[bf16::ONE; 6400])?);
    /// let lengths = device.upload(&[3u32])?;
    /// let (table, scales, lse) = (None, None, None);
    /// let args = DecodeArgs { q: &q, kv: [&k, &v], lengths: &lengths, table, scales, o: &o, lse };
    /// Decode::new(&device, &problem)?.run(&args)?;
    /// assert_eq!(o.download()?, [bf16::ONE; 128]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(device: &Device, problem: &DecodeProblem) -> Result<Decode, Error> {
        Decode::planned(device, problem, choose(problem, device.limits(), None)?)
    }

    /// The same by a plan of the caller's choice for this problem, as a tuner tries them.
    ///
    /// # Errors
    /// [`Error::Configuration`] and [`Error::Extent`] for a plan of another problem; as [`Decode::new`].
    pub fn planned(device: &Device, problem: &DecodeProblem, plan: DecodePlan) -> Result<Decode, Error> {
        let load = |generated: DecodeKernel, grid| -> Result<Loaded, Error> {
            let kernel = device.load(&generated.kernel)?.kernel(generated.kernel.name())?;
            let config =
                LaunchConfig::new(grid, [THREADS, 1, 1]).with_dynamic_shared(generated.kernel.shared_bytes());
            Ok(Loaded { kernel, generated, config })
        };
        let generated = generate(&plan.config)?;
        plan.accepts(problem, device.limits().sm)?;
        let attend = load(generated, plan.grid)?;
        let (mut sum, mut workspace) = (None, None);
        if plan.config.features.parts {
            let grid = [problem.queries, problem.heads, problem.batches].map(word);
            let mut loaded = load(generate_sum(&plan.config, "attention_decode_sum")?, grid)?;
            if plan.config.features.programmatic {
                loaded.config = loaded.config.programmatic();
            }
            sum = Some(loaded);
            let [rows, totals] = plan.workspace(problem);
            workspace = Some([device.alloc(size(rows))?, device.alloc(size(totals))?]);
        }
        let calls = Mutex::default();
        Ok(Decode { device: device.clone(), problem: *problem, plan, attend, sum, workspace, calls })
    }

    /// The problem.
    pub fn problem(&self) -> &DecodeProblem {
        &self.problem
    }

    /// The plan.
    pub fn plan(&self) -> &DecodePlan {
        &self.plan
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels as they were generated: the one that attends to the keys, and the one that adds up parts, if there are any.
    pub fn generated(&self) -> impl Iterator<Item = &DecodeKernel> {
        self.kernels().map(|loaded| &loaded.generated)
    }

    /// The kernels in the order of their launches.
    fn kernels(&self) -> impl Iterator<Item = &Loaded> {
        std::iter::once(&self.attend).chain(&self.sum)
    }

    /// Writes O, and the logarithms if they are wanted. Nothing is allocated, so that the call can be captured in a graph. Lengths above
    /// the capacity count as the capacity, and numbers of pages above those of the cache as the last page.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Address`], [`Error::Overlap`], [`Error::Input`] for buffers that the problem does not
    /// take or that are missing, before anything is written; [`Error::Device`].
    pub fn run<T: Element + Pod, C: Element + Pod>(
        &self,
        tensors: &DecodeArgs<'_, T, C>,
    ) -> Result<(), Error> {
        self.check(tensors)?;
        let addresses = Addresses {
            q: tensors.q.into(),
            o: tensors.o.into(),
            k: tensors.kv[0].into(),
            v: tensors.kv[1].into(),
            lengths: tensors.lengths.into(),
            table: tensors.table.map(Arg::from),
            lse: tensors.lse.map(Arg::from),
            scales: tensors.scales.map(|scales| scales.map(Arg::from)),
            workspace: self.workspace.as_ref(),
        };
        self.call(&addresses)
    }

    /// Launches the kernels for tensors that are checked.
    pub(in crate::attention) fn call(&self, addresses: &Addresses<'_>) -> Result<(), Error> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.is_empty() {
            let open = |(launch, loaded): (Launch, &Loaded)| launch.open(&given_names(&loaded.generated));
            let launches = self.launches(addresses)?.into_iter().zip(self.kernels());
            *calls = launches.map(open).collect::<Result<_, _>>()?;
        }
        for (call, Loaded { generated, .. }) in calls.iter_mut().zip(self.kernels()) {
            run(call, &given(&self.problem, &self.plan, generated, addresses))?;
        }
        Ok(())
    }

    /// The launches for tensors that are checked, in their order.
    pub(in crate::attention) fn launches(&self, addresses: &Addresses<'_>) -> Result<Vec<Launch>, Error> {
        let launch = |Loaded { kernel, generated, config }: &Loaded| -> Result<Launch, Error> {
            let args = kernel.arguments(&args(&self.problem, &self.plan, generated, addresses))?;
            Ok(kernel.prepare(config, &args)?)
        };
        self.kernels().map(launch).collect()
    }

    /// The rows that parts leave, and their maxima and sums.
    pub(in crate::attention) fn workspace(&self) -> Option<&[Buffer<f32>; 2]> {
        self.workspace.as_ref()
    }

    /// The kernel that attends to the keys.
    pub fn kernel(&self) -> &Kernel {
        &self.attend.kernel
    }

    /// The same as it was generated.
    pub(in crate::attention) fn attending(&self) -> &DecodeKernel {
        &self.attend.generated
    }

    /// The launch of that kernel.
    pub fn launch_config(&self) -> &LaunchConfig {
        &self.attend.config
    }

    fn check<T: Element + Pod, C: Element + Pod>(&self, given: &DecodeArgs<'_, T, C>) -> Result<(), Error> {
        let p = &self.problem;
        for (problem, buffer) in [(p.dtype, T::DTYPE), (p.cache, C::DTYPE)] {
            if problem != buffer {
                return Err(Error::DType { problem: problem.name(), buffer: buffer.name() });
            }
        }
        let ([q, o], [k, v]) = (p.row_spans(), p.key_spans());
        sized("Q", given.q, q, ALIGNED)?;
        sized("O", given.o, o, ALIGNED)?;
        sized("K", given.kv[0], k, ALIGNED)?;
        sized("V", given.kv[1], v, ALIGNED)?;
        sized("lengths", given.lengths, p.batches, 4)?;
        let expected = [
            ("table", given.table.is_some(), p.pages.is_some()),
            ("scales", given.scales.is_some(), p.scales.is_some()),
            ("lse", given.lse.is_some(), p.lse),
        ];
        for (name, given, wanted) in expected {
            if given != wanted {
                let text = |is: bool| String::from(if is { "a buffer" } else { "no buffer" });
                return Err(Error::Input { name: name.into(), found: text(given), accepted: text(wanted) });
            }
        }
        let (rows, keys) = (p.row_modes(), p.key_modes());
        let o = viewed(given.o.address(), p.dtype, &rows[1]);
        let [k, v] = given.kv;
        for (read, bytes, from) in [
            ("Q", given.o.overlap(given.q), viewed(given.q.address(), p.dtype, &rows[0])),
            ("K", given.o.overlap(k), viewed(k.address(), p.cache, &keys[0])),
            ("V", given.o.overlap(v), viewed(v.address(), p.cache, &keys[1])),
        ] {
            // The buffers of two simulators have the same addresses.
            if bytes > 0
                && let Some(common) = o.common(&from)?
            {
                return Err(common.error("O", read));
            }
        }
        apart("O", given.o, "lengths", given.lengths)?;
        if let Some(table) = given.table {
            sized("table", table, p.table_entries(), 4)?;
            apart("O", given.o, "table", table)?;
        }
        for scales in given.scales.into_iter().flatten() {
            sized("scales", scales, p.scales_len(), 4)?;
            apart("O", given.o, "scales", scales)?;
        }
        let Some(lse) = given.lse else { return Ok(()) };
        sized("lse", lse, p.lse_len(), 4)?;
        apart("lse", lse, "O", given.o)?;
        apart("lse", lse, "Q", given.q)?;
        apart("lse", lse, "K", given.kv[0])?;
        apart("lse", lse, "V", given.kv[1])?;
        apart("lse", lse, "lengths", given.lengths)?;
        given.table.map_or(Ok(()), |table| apart("lse", lse, "table", table))?;
        given.scales.into_iter().flatten().try_for_each(|scales| apart("lse", lse, "scales", scales))
    }
}

/// The elements of a tensor with these extents and strides.
fn viewed(address: u64, dtype: DType, [extents, strides]: &[[i64; 4]; 2]) -> View<'_> {
    View { address, element: i64::from(dtype.bits()) / 8, extents, strides }
}

/// Checks that a buffer has this many elements and begins at such a multiple.
fn sized<T: Pod>(matrix: &'static str, buffer: &Buffer<T>, needed: i64, align: i64) -> Result<(), Error> {
    if needed > buffer.len() as i64 {
        return Err(Error::BufferTooSmall { matrix, needed, len: buffer.len() });
    }
    if !buffer.address().is_multiple_of(wide(align)) {
        return Err(Error::Address { matrix, address: buffer.address(), needed: align });
    }
    Ok(())
}
