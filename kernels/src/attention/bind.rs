//! The arguments of a launch, from a problem and its tensors.

use girih_codegen::Slot;
use girih_codegen::attention::{Arguments, Tensor4};
use girih_device::Arg;

use super::Problem;
use crate::Error;
use crate::family::{self, Memory, check};
use crate::gemm::Given;

/// The names by which a launch gives the bias, the sinks and the logsumexps.
const BIAS: &str = "bias";
const SINKS: &str = "sinks";
const LSE: &str = "lse";

/// The arguments of a problem's launches, with a table of this many entries.
pub(super) fn arguments(problem: &Problem, entries: usize) -> Arguments {
    let arrays = Tensor4::ALL.map(|tensor| problem.array(tensor));
    let mask = problem.mask();
    Arguments {
        extents: arrays.each_ref().map(|array| array.extents()),
        strides: arrays.map(|array| array.strides()),
        entries: entries as i64,
        scores: problem.scores(),
        window: [mask.left(), mask.right()].map(Option::unwrap_or_default),
        lse: [problem.queries(), problem.heads() * problem.queries()],
        bias: problem.bias().map_or([0; 3], |bias| bias.strides()),
    }
}

/// Checks the arguments of a call: dtypes, lengths, addresses, which are multiples of `aligned` bytes, and that no memory is both written and read.
pub(super) fn bind<'a>(
    problem: &Problem,
    aligned: [i64; 4],
    tensors: [Memory<'a>; 4],
    given: &[(&str, Given<'a>)],
) -> Result<Vec<(Slot<&'static str>, Arg<'a>)>, Error> {
    let mut all = extras(problem, given)?;
    for (tensor, memory) in Tensor4::ALL.into_iter().zip(tensors) {
        let (array, slot) = (problem.array(tensor), tensor.name());
        let [rows, heads, batches] = array.strides();
        all.push(family::Given {
            slot,
            name: slot,
            memory: memory.used(array.extents(), [rows, 1, heads, batches]),
            dtype: problem.dtype(),
            elements: array.span(),
            aligned: aligned[tensor as usize],
            written: tensor == Tensor4::O,
        });
    }
    check(&all)
}

/// The arguments in addition to Q, K, V and O, each given once by its name.
pub(super) fn extras<'a>(
    problem: &Problem,
    given: &[(&str, Given<'a>)],
) -> Result<Vec<family::Given<'a>>, Error> {
    let bias = problem.bias().map(|bias| (BIAS, bias.dtype(), problem.bias_len()));
    let lse = problem.lse().then_some((LSE, girih_tensor::DType::F32, problem.lse_len()));
    let sinks = problem.sinks().then_some((SINKS, girih_tensor::DType::F32, problem.sinks_len()));
    for (i, (name, _)) in given.iter().enumerate() {
        let wanted = [&bias, &sinks, &lse].into_iter().flatten().any(|(wanted, ..)| wanted == name);
        if !wanted || given[..i].iter().any(|(other, _)| other == name) {
            let found = if wanted { "given twice" } else { "nothing that the problem has" };
            let names: Vec<&str> =
                [&bias, &sinks, &lse].into_iter().flatten().map(|(name, ..)| *name).collect();
            let accepted = format!("each of these once: [{}]", names.join(", "));
            return Err(Error::Input { name: (*name).into(), found: found.into(), accepted });
        }
    }
    let wanted = [(bias, false), (sinks, false), (lse, true)]
        .into_iter()
        .filter_map(|(wanted, written)| Some((wanted?, written)));
    let one = |((slot, dtype, elements), written)| {
        let memory = Given::list(given, slot, dtype, elements)?;
        Ok(family::Given { slot, name: slot, memory, dtype, elements, aligned: dtype.bytes(), written })
    };
    wanted.map(one).collect()
}
