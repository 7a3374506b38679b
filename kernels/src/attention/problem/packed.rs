//! Packed sequences of different lengths (varlen).

use std::sync::Arc;

use super::Problem;
use crate::Error;
use girih_device::sizes::size;

/// Where packed sequences begin, and where the last one ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Packed {
    queries: Arc<[u32]>,
    keys: Arc<[u32]>,
}

/// A sequence: a batch, or a part of the rows of packed sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// The batch.
    pub batch: i64,
    /// Where its queries begin among the rows of Q and O.
    pub first_query: i64,
    /// Its queries.
    pub queries: i64,
    /// Where its keys begin among the rows of K and V.
    pub first_key: i64,
    /// Its keys.
    pub keys: i64,
}

impl Problem {
    /// The same with sequences that follow each other in the rows of one batch: sequence `i` has the queries from `queries[i]` to
    /// `queries[i + 1]` and the keys from `keys[i]` to `keys[i + 1]` (`cu_seqlens` of other libraries). Rows of O after the last sequence are
    /// not written.
    ///
    /// # Errors
    /// [`Error::Input`] for several batches, unless both have as many numbers, one or more, that do not fall and do not go beyond the rows; and for
    /// a problem with a bias.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::attention::{Order, Problem};
    /// use girih_tensor::DType;
    ///
    /// let problem = Problem::new(DType::F16, Order::Bshd, [1, 4, 30, 50, 64])?.packed(&[0, 10, 30], &[0, 50, 50])?;
    /// assert_eq!(problem.sequences().map(|s| [s.queries, s.keys]).collect::<Vec<_>>(), [[10, 50], [20, 0]]);
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn packed(self, queries: &[u32], keys: &[u32]) -> Result<Problem, Error> {
        let refuse = |name: &str, found: String, accepted: String| {
            Err(Error::Input { name: name.into(), found, accepted })
        };
        if self.batches != 1 {
            return refuse("batches", self.batches.to_string(), "1 for packed sequences".into());
        }
        if self.options.bias.is_some() {
            return refuse("bias", "packed sequences".into(), "batches".into());
        }
        for (name, begins, rows) in
            [("cu_seqlens_q", queries, self.queries), ("cu_seqlens_k", keys, self.keys)]
        {
            let rises = !begins.is_empty() && begins.is_sorted();
            if !rises || begins.last().is_some_and(|&last| i64::from(last) > rows) {
                let found = format!("{} numbers up to {}", begins.len(), begins.iter().max().unwrap_or(&0));
                return refuse(name, found, format!("numbers that do not fall, up to the {rows} rows"));
            }
        }
        if queries.len() != keys.len() {
            return refuse(
                "cu_seqlens_k",
                format!("{} numbers", keys.len()),
                format!("{}, as of queries", queries.len()),
            );
        }
        let packed = Packed { queries: queries.into(), keys: keys.into() };
        Ok(Problem { packed: Some(packed), ..self })
    }

    /// Whether sequences follow each other in the rows of one batch.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The sequences: one for each batch, or those that are packed.
    pub fn sequences(&self) -> impl ExactSizeIterator<Item = Sequence> + '_ {
        let count = self.packed.as_ref().map_or(size(self.batches), |packed| packed.queries.len() - 1);
        (0..count).map(move |i| match &self.packed {
            None => {
                Sequence { batch: i as i64, queries: self.queries, keys: self.keys, ..Sequence::default() }
            }
            Some(Packed { queries, keys }) => {
                let [first_query, end_of_queries] = [queries[i], queries[i + 1]].map(i64::from);
                let [first_key, end_of_keys] = [keys[i], keys[i + 1]].map(i64::from);
                Sequence {
                    batch: 0,
                    first_query,
                    queries: end_of_queries - first_query,
                    first_key,
                    keys: end_of_keys - first_key,
                }
            }
        })
    }
}
