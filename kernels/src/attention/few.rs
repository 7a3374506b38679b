//! Attention of few queries by the decode kernels, which split the keys of a sequence among blocks.

use std::sync::Arc;

use girih_device::{Arg, Buffer, Device, Launch};

use super::bind::Binding;
use super::decode::{Addresses, Decode, DecodeProblem};
use super::{Diagonal, Mask, Problem, Tensor4};
use crate::Error;
use crate::attention::array::ALIGNMENT;
use girih_device::sizes::{size, word};

/// The least keys for which a launch of two kernels and a few rows in each block are worth it.
const LEAST_KEYS: i64 = 256;

/// The problem as one of decoding, if the kernels of decoding compute it, and are made for it: up to [`MAX_QUERIES`](super::decode::MAX_QUERIES) queries of
/// 256 keys or more. A tile of the other kernels has 64 or more rows of one head, most of which would be empty, and blocks only for as many tiles as there
/// are; those of decoding read the keys of a group of heads once, and each block a part of them.
///
/// They take f16 and bf16, strides and addresses of 16 bytes, a scale, a soft cap, and the logsumexps; a mask if each query sees its own key and those before
/// it, the last one the last key, with or without a window; no mask for a single query. They take neither a bias nor packed sequences.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Diagonal, Mask, Order, Problem, few_queries};
/// use girih_tensor::DType;
///
/// let problem = |queries| Problem::new(DType::Bf16, Order::Bshd, [4, 32, queries, 8192, 128]);
/// assert!(few_queries(&problem(1)?).is_some());
/// // All four queries would see all keys.
/// assert!(few_queries(&problem(4)?).is_none());
/// let causal = problem(4)?.with_mask(Mask::causal(Diagonal::BottomRight))?;
/// assert!(few_queries(&causal).is_some_and(|decode| decode.capacity() == 8192));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn few_queries(problem: &Problem) -> Option<DecodeProblem> {
    let aligned = Tensor4::ALL.into_iter().all(|tensor| problem.array(tensor).alignment() >= ALIGNMENT);
    let (queries, keys) = (problem.queries(), problem.keys());
    if !aligned || problem.bias().is_some() || problem.is_packed() || keys < LEAST_KEYS {
        return None;
    }
    let left = window(problem.mask(), queries)?;
    let sizes = ([problem.batches(), queries], [problem.heads(), problem.kv_heads()]);
    let [q, k, v, o] = Tensor4::ALL.map(|tensor| problem.array(tensor).strides());
    // What decoding does not take it refuses.
    let decode = DecodeProblem::new(problem.dtype(), sizes.0, sizes.1, problem.head_dim(), keys).ok()?;
    let decode =
        decode.with_strides([q, o], [k, v]).and_then(|decode| decode.with_scale(problem.scale())).ok()?;
    let decode = problem.softcap().map_or(Ok(decode), |cap| decode.with_softcap(cap)).ok()?;
    let decode = left.map_or(Ok(decode), |left| decode.with_window(left)).ok()?;
    Some(if problem.lse() { decode.with_lse() } else { decode })
}

/// The keys before its own that a query sees, if not all, of a mask that decoding has.
fn window(mask: &Mask, queries: i64) -> Option<Option<i64>> {
    let ends_at_the_last = mask.diagonal() == Diagonal::BottomRight;
    match (mask.left(), mask.right()) {
        (None, None) if queries == 1 => Some(None),
        (left, Some(0)) if ends_at_the_last => Some(left),
        (left, _) if ends_at_the_last && queries == 1 => Some(left),
        _ => None,
    }
}

/// A problem of few queries with its kernels, loaded on a device.
#[derive(Debug)]
pub(super) struct Few {
    pub(super) decode: Decode,
    /// As many keys of each sequence as the problem has.
    lengths: Buffer<u32>,
}

impl Few {
    pub(super) fn new(device: &Device, problem: &DecodeProblem) -> Result<Arc<Few>, Error> {
        let lengths = vec![word(problem.capacity()); size(problem.sequences()[0])];
        Ok(Arc::new(Few { decode: Decode::new(device, problem)?, lengths: device.upload(&lengths)? }))
    }

    pub(super) fn run(&self, binding: &Binding<'_>) -> Result<(), Error> {
        self.decode.call(&self.addresses(binding))
    }

    pub(super) fn launches(&self, binding: &Binding<'_>) -> Result<Vec<Launch>, Error> {
        self.decode.launches(&self.addresses(binding))
    }

    fn addresses<'a>(&'a self, binding: &Binding<'a>) -> Addresses<'a> {
        let [q, k, v, o] = binding.tensors.map(Arg::Buffer);
        Addresses {
            q,
            o,
            k,
            v,
            lengths: Arg::from(&self.lengths),
            table: None,
            lse: binding.lse.map(Arg::Buffer),
            scales: None,
            workspace: self.decode.workspace(),
        }
    }
}
