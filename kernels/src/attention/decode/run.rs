//! Loading and launching of decode attention.

use std::sync::Arc;

use girih_codegen::Slot;
use girih_codegen::attention::decode::{Arguments, DecodeKernel, generate, generate_sum};
use girih_device::{Arg, Buffer, Device, Kernel, LaunchConfig, Pod};
use girih_tensor::{DType, Element};

use super::plan::{DecodePlan, choose};
use super::problem::{DecodeProblem, ScalesOf};
use crate::Error;
use crate::attention::bind::extras;
use crate::family::{Given, Launches, Loaded, Memory, Step, check};
use girih_device::sizes::{size, word};

/// The alignment of tensors in bytes.
const ALIGNED: i64 = 16;

/// A decoding problem with the kernels that solve it, loaded on a device, and with the workspace for splits. Calls on one device handle
/// follow each other, so that they can share the workspace.
#[derive(Debug)]
pub struct Decode {
    device: Device,
    problem: DecodeProblem,
    plan: DecodePlan,
    attend: Loaded<DecodeKernel>,
    /// The kernel that adds up splits, if there are any.
    sum: Option<Loaded<DecodeKernel>>,
    config: LaunchConfig,
    launches: Launches,
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
    /// The arguments in addition to Q, K, V and O, as in [`Attention::run_with`](crate::attention::Attention::run_with).
    pub given: &'a [(&'a str, crate::gemm::Given<'a>)],
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
    /// let (table, scales) = (None, None);
    /// let args = DecodeArgs { q: &q, kv: [&k, &v], lengths: &lengths, table, scales, o: &o, given: &[] };
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
        let generated = generate(&plan.config)?;
        plan.accepts(problem, device.limits().sm)?;
        let attend = Loaded::new(device, generated)?;
        let features = plan.config.features;
        let sum = match features.parts {
            true => Some(Loaded::new(device, generate_sum(&plan.config, "attention_decode_sum")?)?),
            false => None,
        };
        let floats = |count: i64| Ok::<_, Error>(Arc::new(device.alloc::<u8>(4 * size(count))?));
        let [rows, totals] = plan.workspace(problem);
        let workspace = if features.parts {
            vec![("partials", floats(rows)?), ("partial_totals", floats(totals)?)]
        } else {
            vec![]
        };
        let arguments = arguments(problem, &plan);
        let step = |loaded: &Loaded<DecodeKernel>, grid| {
            let config = loaded.kernel.config(grid)?;
            let step = Step::new(&loaded.kernel, config, loaded.generated.params.values(&arguments)?);
            let own = workspace.iter().cloned();
            Ok::<_, Error>(own.fold(step, |step, (name, memory)| step.with_own(name, memory)))
        };
        let mut steps = vec![step(&attend, plan.grid)?];
        let config = *steps[0].config();
        if let Some(sum) = &sum {
            let ([batches, queries], [heads, _]) = (problem.sequences(), problem.heads());
            let step = step(sum, [queries, heads, batches].map(word))?;
            steps.push(if features.programmatic { step.programmatic() } else { step });
        }
        let launches = Launches::new(steps);
        Ok(Decode { device: device.clone(), problem: problem.clone(), plan, attend, sum, config, launches })
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

    /// The kernels as they were generated: the one that attends to the keys, and the one that adds up splits, if there are any.
    pub fn generated(&self) -> impl Iterator<Item = &DecodeKernel> {
        [&self.attend].into_iter().chain(&self.sum).map(|loaded| &loaded.generated)
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
        self.launches.call(&self.check(tensors)?)
    }

    /// The launches, of which each call is given its tensors.
    pub(in crate::attention) fn launches(&self) -> &Launches {
        &self.launches
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
        &self.config
    }

    /// Checks the arguments of a call.
    fn check<'a, T: Element + Pod, C: Element + Pod>(
        &self,
        tensors: &DecodeArgs<'a, T, C>,
    ) -> Result<Vec<(Slot<&'static str>, Arg<'a>)>, Error> {
        let p = &self.problem;
        let DecodeArgs { q, kv: [k, v], lengths, table, scales, o, given } = *tensors;
        let (rows, keys) = (p.row_modes(), p.key_modes());
        let ([of_q, of_o], [of_k, of_v]) = (p.row_spans(), p.key_spans());
        let tensor = |slot, name, memory: Memory<'a>, dtype, [extents, strides]: [[i64; 4]; 2], elements| {
            let memory = memory.used(extents, strides);
            Given { slot, name, memory, dtype, elements, aligned: ALIGNED, written: name == "O" }
        };
        let list = |slot, name, memory, dtype, elements| Given {
            slot,
            name,
            memory,
            dtype,
            elements,
            aligned: 4,
            written: false,
        };
        let (dtype, batches) = (p.dtype(), p.sequences()[0]);
        let mut all = vec![
            tensor("q", "Q", q.into(), dtype, rows[0], of_q),
            tensor("o", "O", o.into(), dtype, rows[1], of_o),
            tensor("k", "K", k.into(), p.cache, keys[0], of_k),
            tensor("v", "V", v.into(), p.cache, keys[1], of_v),
            list("lengths", "lengths", lengths.into(), DType::U32, batches),
        ];
        all.extend(table.map(|table| list("table", "table", table.into(), DType::U32, p.table_entries())));
        for (slot, scales) in ["k_scale", "v_scale"].into_iter().zip(scales.into_iter().flatten()) {
            all.push(list(slot, "scales", scales.into(), DType::F32, p.scales_len()));
        }
        all.extend(extras(p.attention(), given)?);
        let given = check(&all)?;
        let expected =
            [("table", table.is_some(), p.pages.is_some()), ("scales", scales.is_some(), p.scales.is_some())];
        for (name, given, wanted) in expected {
            if given != wanted {
                let text = |is: bool| String::from(if is { "a buffer" } else { "no buffer" });
                return Err(Error::Input { name: name.into(), found: text(given), accepted: text(wanted) });
            }
        }
        Ok(given)
    }
}

/// The arguments of a problem's launches.
fn arguments(problem: &DecodeProblem, plan: &DecodePlan) -> Arguments {
    let ([batches, queries], [heads, groups]) = (problem.sequences(), problem.heads());
    Arguments {
        rows: problem.rows(),
        keys: problem.keys,
        head_dim: problem.head_dim(),
        queries,
        heads: [heads, groups, batches],
        tiles: plan.tiles,
        capacity: problem.capacity(),
        pages: [problem.table_stride(), problem.pages.map_or(1, |pages| pages.count)],
        scores: problem.attention().scores(),
        left: problem.attention().mask().left().unwrap_or(0),
        scale_of_heads: problem.scales == Some(ScalesOf::Head),
        parts: plan.parts,
        least_tiles: plan.least_tiles,
    }
}
