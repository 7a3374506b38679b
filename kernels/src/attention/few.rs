//! Attention of few queries by the decode kernels, which split the keys of a sequence among blocks.

use std::sync::Arc;

use girih_device::Device;

use super::decode::{Decode, DecodeProblem};
use super::{Diagonal, Mask, Problem, Tensor4};
use crate::Error;
use crate::attention::array::ALIGNMENT;
use crate::family::{Launches, words};
use girih_device::sizes::{size, word};

/// The least number of keys for which a second kernel and few rows in each block pay.
const LEAST_KEYS: i64 = 256;

/// The problem as a decoding problem, if the decoding kernels compute it and are faster: up to [`MAX_QUERIES`](super::decode::MAX_QUERIES) queries of
/// 256 keys or more. A tile of the other kernels has 64 or more rows of one head, most of which would be empty, and the grid has a block for each
/// tile only. The decoding kernels read the keys of a group of heads once, and each block reads one split of them.
///
/// They accept f16 and bf16, strides and addresses of 16 bytes, a scale, a soft cap, and the logsumexps; a mask if each query sees its own key and
/// those before it, the last one the last key, with or without a window; no mask for a single query. They accept neither a bias nor packed sequences.
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
    if !aligned || problem.keys() < LEAST_KEYS {
        return None;
    }
    // Decoding refuses problems that it does not support.
    DecodeProblem::of(problem.clone()).ok()
}

impl DecodeProblem {
    /// The same attention as one of packed sequences of this many keys each, which follow each other without pages.
    ///
    /// # Errors
    /// As [`Problem::packed`] and [`Problem::with_strides`].
    pub fn packed(&self, lengths: &[u32]) -> Result<Problem, Error> {
        let [batches, queries] = self.sequences();
        let ends = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let of_queries: Vec<u32> = (0..=batches).map(|batch| word(batch * queries)).collect();
        let of_keys = [0].into_iter().chain(ends).collect::<Vec<u32>>();
        let keys = lengths.iter().copied().map(i64::from).sum();
        let mask = Mask::window(self.attention().mask().left(), Some(0), Diagonal::BottomRight);
        let problem = self.attention().of_one_batch(batches * queries, keys)?.with_mask(mask)?;
        problem.packed(&of_queries, &of_keys)
    }
}

/// The kernels of a problem of few queries, loaded on a device.
#[derive(Debug)]
pub(super) struct Few {
    pub(super) decode: Decode,
    /// Its launches with as many keys of each sequence as the problem has.
    pub(super) launches: Launches,
}

impl Few {
    pub(super) fn new(device: &Device, problem: &DecodeProblem) -> Result<Arc<Few>, Error> {
        let lengths = words(device, &vec![word(problem.capacity()); size(problem.sequences()[0])])?;
        let decode = Decode::new(device, problem)?;
        let launches = decode.launches().with_own("lengths", &lengths);
        Ok(Arc::new(Few { decode, launches }))
    }
}
