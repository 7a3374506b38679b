//! From a problem's tensors to the arguments of a launch.

use std::f32::consts::LOG2_E;

use girih_codegen::attention::{AttentionKernel, AttentionParam, Tensor4};
use girih_device::{Arg, Buffer, BufferArg, Kernel, Launch, LaunchConfig, TensorMap};

use super::Problem;
use crate::Error;
use crate::gemm::{Given, Memory};
use girih_device::sizes::{wide, word};

/// The names by which a launch gives the bias and the logsumexps.
const BIAS: &str = "bias";
const LSE: &str = "lse";
/// The most parameters that each call is given: four tensors, bias and logarithms.
pub(super) const MOST_OPEN: usize = 6;

/// What the parameters of a kernel are made of.
pub(super) struct Binding<'a> {
    pub(super) problem: &'a Problem,
    pub(super) tensors: [BufferArg<'a>; 4],
    bias: Option<BufferArg<'a>>,
    pub(super) lse: Option<BufferArg<'a>>,
}

/// Whether each call is given the argument of a parameter. What the problem says is the same for all.
fn is_open(param: &AttentionParam) -> bool {
    use AttentionParam::*;
    matches!(param, Pointer(_) | Map(_) | Lse | Bias)
}

/// The names of the parameters whose arguments each call is given.
pub(super) fn open(kernel: &AttentionKernel) -> Vec<&str> {
    let named = kernel.kernel.params().iter().zip(&kernel.params);
    named.filter(|(_, param)| is_open(param)).map(|(info, _)| &*info.name).collect()
}

impl<'a> Binding<'a> {
    /// Checks the buffers: dtypes, lengths, addresses, which are multiples of this many bytes, and that nothing is written that is also read. `spare` stands for K and
    /// V where there are no keys.
    pub(super) fn new(
        problem: &'a Problem,
        aligned: impl Fn(Tensor4) -> i64,
        tensors: [Memory<'a>; 4],
        given: &[(&str, Given<'a>)],
        spare: Option<BufferArg<'a>>,
    ) -> Result<Binding<'a>, Error> {
        for (tensor, memory) in Tensor4::ALL.into_iter().zip(&tensors) {
            memory.is_as_many(tensor.name(), None)?;
            if memory.dtype != problem.dtype() {
                return Err(Error::DType { problem: problem.dtype().name(), buffer: memory.dtype.name() });
            }
            problem.array(tensor).fits(tensor.name(), memory.len)?;
            let needed = aligned(tensor);
            if !memory.address.is_multiple_of(wide(needed)) {
                return Err(Error::Input {
                    name: tensor.name().into(),
                    found: format!("an address of {:#x}", memory.address),
                    accepted: format!(
                        "multiples of {needed} bytes, or a problem that says what divides the address (`Problem::with_alignment`)"
                    ),
                });
            }
        }
        let bias = problem.bias().map(|bias| (BIAS, bias.dtype(), problem.bias_len()));
        let lse = problem.lse().then_some((LSE, girih_tensor::DType::F32, problem.lse_len()));
        for (i, (name, _)) in given.iter().enumerate() {
            let wanted = [&bias, &lse].into_iter().flatten().any(|(wanted, ..)| wanted == name);
            if !wanted || given[..i].iter().any(|(other, _)| other == name) {
                let found = if wanted { "given twice" } else { "nothing that the problem has" };
                let names: Vec<&str> = [&bias, &lse].into_iter().flatten().map(|(name, ..)| *name).collect();
                let accepted = format!("each of these once: [{}]", names.join(", "));
                return Err(Error::Input { name: (*name).into(), found: found.into(), accepted });
            }
        }
        let bias = bias.map(|wanted| beside(given, wanted)).transpose()?;
        let lse = lse.map(|wanted| beside(given, wanted)).transpose()?;
        let [q, k, v, o] = Tensor4::ALL.map(|tensor| {
            let array = problem.array(tensor);
            let [rows, heads, batches] = array.strides();
            tensors[tensor as usize].used(array.extents(), [rows, 1, heads, batches])
        });
        let read = [("q", Some(q)), ("k", Some(k)), ("v", Some(v)), (BIAS, bias)];
        let written = [("o", Some(o)), (LSE, lse)];
        for (name, memory) in written.iter().filter_map(|(name, memory)| memory.map(|memory| (*name, memory)))
        {
            for (other, read) in
                read.iter().chain(&written[1..]).filter_map(|(name, read)| read.map(|read| (*name, read)))
            {
                let common = if name == other { None } else { memory.common(&read)? };
                if let Some(common) = common {
                    return Err(common.error(name, other));
                }
            }
        }
        let mut arguments = tensors.map(|memory| memory.arg);
        if let Some(spare) = spare {
            (arguments[1], arguments[2]) = (spare, spare);
        }
        Ok(Binding { problem, tensors: arguments, bias: bias.map(|m| m.arg), lse: lse.map(|m| m.arg) })
    }

    /// The arguments of the parameters that are open, in their order, and how many there are.
    pub(super) fn open(&self, kernel: &AttentionKernel) -> ([Arg<'a>; MOST_OPEN], usize) {
        let mut args = [Arg::U32(0); MOST_OPEN];
        let given = kernel.params.iter().filter_map(|param| self.given(param));
        let count = args.iter_mut().zip(given).map(|(place, arg)| *place = arg).count();
        (args, count)
    }

    fn given(&self, param: &AttentionParam) -> Option<Arg<'a>> {
        let buffer = match param {
            AttentionParam::Pointer(tensor) | AttentionParam::Map(tensor) => {
                Some(self.tensors[*tensor as usize])
            }
            AttentionParam::Lse => self.lse,
            AttentionParam::Bias => self.bias,
            _ => None,
        };
        buffer.map(Arg::Buffer)
    }

    /// The launch, checked and encoded.
    pub(super) fn prepare(
        &self,
        loaded: &Kernel,
        kernel: &AttentionKernel,
        config: &LaunchConfig,
        (table, entries): (&Buffer<u32>, usize),
    ) -> Result<Launch, Error> {
        let problem = self.problem;
        let mut maps = [const { None }; 4];
        for tensor in Tensor4::ALL {
            maps[tensor as usize] = self.map(kernel, tensor)?;
        }
        // Lengths and strides of problems fit, and offsets have 64 bits.
        let number = |value: i64| Arg::U32(word(value));
        let stride = |mode: usize, of: [i64; 3]| match mode {
            0 => number(of[0]),
            _ => Arg::U64(wide(of[mode - 1])),
        };
        let (scale, cap) = (problem.scale(), problem.softcap());
        let mut args = Vec::new();
        for (info, param) in kernel.kernel.params().iter().zip(&kernel.params) {
            let arg = match param {
                AttentionParam::Map(tensor) => maps[*tensor as usize].as_ref().map(Arg::TensorMap),
                AttentionParam::Stride(tensor, mode) => Some(stride(*mode, used(problem, *tensor))),
                AttentionParam::HeadDim => Some(number(problem.head_dim())),
                AttentionParam::Table => Some(Arg::from(table)),
                AttentionParam::Entries => Some(number(entries as i64)),
                AttentionParam::LseStride(2) => Some(Arg::U64(wide(problem.queries()))),
                AttentionParam::LseStride(_) => Some(Arg::U64(wide(problem.heads() * problem.queries()))),
                AttentionParam::BiasStride(mode) => problem.bias().map(|bias| stride(*mode, bias.strides())),
                // With a bias scores are scaled before it is added.
                AttentionParam::Scale if problem.bias().is_some() => Some(Arg::F32(LOG2_E)),
                AttentionParam::Scale => Some(Arg::F32(cap.unwrap_or(scale) * LOG2_E)),
                AttentionParam::InnerScale => cap.map(|cap| Arg::F32(2.0 * LOG2_E * (scale / cap))),
                AttentionParam::BiasScale => Some(Arg::F32(cap.unwrap_or(scale))),
                AttentionParam::Left => problem.mask().left().map(number),
                AttentionParam::Right => problem.mask().right().map(number),
                given => self.given(given),
            };
            // A missing argument is reported when the launch checks its arguments.
            args.extend(arg.map(|arg| (&*info.name, arg)));
        }
        Ok(loaded.prepare(config, &loaded.arguments(&args)?)?)
    }

    /// The tensor map of a tensor, if the kernel takes it by one. Without keys, it is that of one row of the spare memory, which is not read.
    fn map(&self, kernel: &AttentionKernel, tensor: Tensor4) -> Result<Option<TensorMap<'a>>, Error> {
        let array = self.problem.array(tensor);
        let [rows, columns, heads, batches] = array.extents();
        let extents = if rows == 0 { [1, columns, 1, 1] } else { [rows, columns, heads, batches] };
        // Tensor maps take no odd stride, also where no step is made.
        let line = 128 / i64::from(self.problem.dtype().bits());
        let mut strides = array.strides();
        for (stride, extent) in strides.iter_mut().zip([extents[0], extents[2], extents[3]]) {
            *stride = if extent == 1 { line } else { *stride };
        }
        let tiled = kernel.map(tensor, extents, strides)?;
        Ok(tiled.map(|tiled| TensorMap::new(self.tensors[tensor as usize], &tiled)).transpose()?)
    }
}

/// The strides of a tensor, 0 where no step is made, so that they are multiples of what the kernel copies at once.
fn used(problem: &Problem, tensor: Tensor4) -> [i64; 3] {
    let array = problem.array(tensor);
    let ([rows, _, heads, batches], mut strides) = (array.extents(), array.strides());
    for (stride, extent) in strides.iter_mut().zip([rows, heads, batches]) {
        if extent <= 1 {
            *stride = 0;
        }
    }
    strides
}

/// What is given by this name: a buffer of this many elements of this dtype.
fn beside<'a>(
    given: &[(&str, Given<'a>)],
    (name, dtype, needed): (&'static str, girih_tensor::DType, i64),
) -> Result<Memory<'a>, Error> {
    let refuse = |found: String| Error::Input {
        name: name.into(),
        found,
        accepted: format!("a buffer of {needed} elements of {dtype} or more"),
    };
    let given = given.iter().find(|(given, _)| *given == name).map(|(_, given)| given);
    let Some(given) = given else { return Err(refuse("nothing".into())) };
    match given.memory() {
        Some(memory)
            if memory.dtype == dtype && memory.pointers.is_none() && memory.len as u64 >= wide(needed) =>
        {
            Ok(*memory)
        }
        Some(memory) => Err(refuse(format!("{} elements of {}", memory.len, memory.dtype))),
        None => Err(refuse("a number".into())),
    }
}
