//! The problem of decode attention: sizes, strides, cache, options.

use girih_codegen::attention::Tensor4;
use girih_codegen::attention::decode::{MAX_KEYS, MAX_PAGE_STRIDE, MAX_PAGES};
use girih_codegen::gemm::{MAX_EXTENT, MAX_STRIDE};
use girih_tensor::DType;

use crate::Error;
use crate::attention::array::span;
use crate::attention::problem::check_within;
use crate::attention::{Diagonal, MAX_HEADS, Mask, Order, Problem};

/// The most elements of a row.
const MAX_COLUMNS: i64 = 256;
/// The most queries of a sequence.
pub const MAX_QUERIES: i64 = 16;

/// Which comes first in a cache without gaps, in one piece for each batch or in each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheOrder {
    /// (batch or page, key, head, dim).
    KeysFirst,
    /// (batch or page, head, key, dim).
    HeadsFirst,
}

/// A cache that is in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pages {
    /// The keys of a page: a power of two from 16 to 256.
    pub size: i64,
    /// The pages of the cache, of which sequences have some, in any order.
    pub count: i64,
}

/// To what a scale of K or V belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalesOf {
    /// One scale for the whole tensor.
    Tensor,
    /// A scale for each head of K and V.
    Head,
}

/// Attention of the last queries of each sequence to all keys before them, the last query to all keys:
/// `O = softmax(scale Q K^T) V` for each query head. It is a [`Problem`] whose keys are in a cache.
///
/// # Examples
/// ```
/// use girih_kernels::attention::decode::{CacheOrder, DecodeProblem};
/// use girih_tensor::DType;
///
/// // 4 sequences of up to 8192 keys, 64 query heads for 8 heads of K and V.
/// let problem = DecodeProblem::new(DType::Bf16, [4, 1], [64, 8], 128, 8192)?;
/// assert_eq!(problem.attention().scale(), 128f32.sqrt().recip());
/// let capped = problem.map(|attention| attention.with_softcap(30.0))?;
/// let paged = capped.paged(64, 1000, CacheOrder::HeadsFirst)?;
/// assert_eq!(paged.table_entries(), 4 * 128);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DecodeProblem {
    /// The attention, of as many keys as the cache has room for. K and V are in `keys`.
    attention: Problem,
    pub(super) cache: DType,
    /// The strides of keys, heads, and batches or pages of K and V.
    pub(super) keys: [[i64; 3]; 2],
    pub(super) pages: Option<Pages>,
    pub(super) scales: Option<ScalesOf>,
}

impl DecodeProblem {
    /// Decoding of `[batches, queries]`, 1 to 16 queries of each sequence, with `[query heads, heads of K and V]` of `head_dim` elements,
    /// against up to `capacity` keys. Q and O are (batch, query, head, dim) without gaps, K and V (batch, key, head, dim), of the same dtype.
    ///
    /// # Errors
    /// As [`Problem::new`], [`Problem::with_kv_heads`] and [`DecodeProblem::of`].
    pub fn new(
        dtype: DType,
        [batches, queries]: [i64; 2],
        [heads, groups]: [i64; 2],
        head_dim: i64,
        capacity: i64,
    ) -> Result<DecodeProblem, Error> {
        let attention = Problem::new(dtype, Order::Bshd, [batches, heads, queries, capacity, head_dim])?
            .with_kv_heads(groups)?
            .with_mask(Mask::causal(Diagonal::BottomRight))?;
        DecodeProblem::of(attention)
    }

    /// Decoding by the sizes, strides and options of an attention of few queries, whose keys are those that the cache has room for.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than f16 and bf16; [`Error::Extent`] for no batch, no key and for queries outside of 1 to [`MAX_QUERIES`];
    /// [`Error::Input`] for a bias and for packed sequences, for a mask by which a query sees other keys than its own and those before it, and
    /// for strides that are no multiples of 16 bytes.
    pub fn of(attention: Problem) -> Result<DecodeProblem, Error> {
        let dtype = attention.dtype();
        if !matches!(dtype, DType::F16 | DType::Bf16) {
            let accepted = "f16 and bf16 are accepted";
            return Err(Error::Kernel { kernel: "attention decode", dtype: dtype.name(), accepted });
        }
        let keys = [Tensor4::K, Tensor4::V].map(|tensor| attention.array(tensor).strides());
        DecodeProblem { attention, cache: dtype, keys, pages: None, scales: None }.checked()
    }

    /// The same with other options of the attention, such as a soft cap.
    ///
    /// # Errors
    /// Those of `change`; as [`DecodeProblem::of`].
    pub fn map(self, change: impl FnOnce(Problem) -> Result<Problem, Error>) -> Result<DecodeProblem, Error> {
        DecodeProblem { attention: change(self.attention)?, ..self }.checked()
    }

    /// The same with K and V in one piece for each batch, without gaps.
    ///
    /// # Errors
    /// [`Error::Extent`] for strides that are too large.
    pub fn contiguous(self, order: CacheOrder) -> Result<DecodeProblem, Error> {
        let capacity = self.capacity();
        DecodeProblem { pages: None, ..self }.ordered(order, capacity)
    }

    /// The same with K and V in `pages` pages of `size` keys, without gaps. A table names the pages of each sequence
    /// ([`DecodeProblem::table_entries`]).
    ///
    /// # Errors
    /// [`Error::Extent`].
    pub fn paged(self, size: i64, pages: i64, order: CacheOrder) -> Result<DecodeProblem, Error> {
        check_within("page size", size, 16, 256)?;
        if size.count_ones() != 1 {
            return Err(Error::Input {
                name: String::from("page size"),
                found: size.to_string(),
                accepted: String::from("16, 32, 64, 128 and 256 keys"),
            });
        }
        check_within("pages", pages, 1, MAX_PAGES)?;
        DecodeProblem { pages: Some(Pages { size, count: pages }), ..self }.ordered(order, size)
    }

    fn ordered(self, order: CacheOrder, keys: i64) -> Result<DecodeProblem, Error> {
        let (d, groups) = (self.head_dim(), self.heads()[1]);
        let strides = match order {
            CacheOrder::KeysFirst => [groups * d, d, keys * groups * d],
            CacheOrder::HeadsFirst => [d, keys * d, groups * keys * d],
        };
        DecodeProblem { keys: [strides; 2], ..self }.checked()
    }

    /// The same with other strides, in elements: of queries, heads and batches of Q and O; of keys, heads, and batches or pages of K and
    /// V. Strides of dtypes of 16 bits are multiples of 8, those of 8 bits multiples of 16.
    ///
    /// # Errors
    /// [`Error::Extent`]; [`Error::Input`] for strides that are no such multiples; [`Error::Shared`] for an O whose rows could have elements in
    /// common.
    pub fn with_strides(self, [q, o]: [[i64; 3]; 2], keys: [[i64; 3]; 2]) -> Result<DecodeProblem, Error> {
        let attention = self.attention.with_strides(Tensor4::Q, q)?.with_strides(Tensor4::O, o)?;
        DecodeProblem { attention, keys, ..self }.checked()
    }

    /// The same with K and V of another dtype, which is that of Q, e4m3 or e5m2, and the scales by which they are multiplied, positive
    /// numbers.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype; [`Error::Input`] for a head dim or strides that are no multiples of 16 elements of 8 bits.
    pub fn with_cache(self, cache: DType, scales: Option<ScalesOf>) -> Result<DecodeProblem, Error> {
        if cache != self.dtype() && !matches!(cache, DType::E4m3 | DType::E5m2) {
            let accepted = "the dtype of Q, e4m3 and e5m2 are accepted for K and V";
            return Err(Error::Kernel { kernel: "attention decode", dtype: cache.name(), accepted });
        }
        DecodeProblem { cache, scales, ..self }.checked()
    }

    fn checked(mut self) -> Result<DecodeProblem, Error> {
        let ([batches, queries], mask) = (self.sequences(), self.attention.mask());
        check_within("batches", batches, 1, MAX_HEADS)?;
        check_within("queries", queries, 1, MAX_QUERIES)?;
        check_within("head dim", self.head_dim(), 1, MAX_COLUMNS)?;
        check_within("capacity", self.capacity(), 1, MAX_KEYS)?;
        let of_values = self.attention.columns(Tensor4::V);
        let ends_at_the_last = mask.diagonal() == Diagonal::BottomRight;
        let sees_its_own = (ends_at_the_last && (mask.right() == Some(0) || queries == 1))
            || (mask.is_none() && queries == 1);
        for (name, found, is, accepted) in [
            ("bias", "a bias", self.attention.bias().is_some(), "none"),
            ("value dim", "other than the head dim", of_values != self.head_dim(), "the head dim"),
            ("sequences", "packed sequences", self.attention.is_packed(), "batches"),
            (
                "mask",
                &*mask.to_string(),
                !sees_its_own,
                "causal or a window without keys behind, bottom-right",
            ),
        ] {
            if is {
                return Err(Error::Input {
                    name: name.into(),
                    found: found.into(),
                    accepted: accepted.into(),
                });
            }
        }
        // A mode of one element has no stride.
        let of_keys = self.key_extents();
        for (stride, extent) in self.keys.iter_mut().flat_map(|strides| strides.iter_mut().zip(of_keys)) {
            *stride = if extent > 1 { *stride } else { 0 };
        }
        let [of_rows, of_keys] = [self.dtype(), self.cache].map(|dtype| 128 / i64::from(dtype.bits()));
        let outer = if self.pages.is_some() { MAX_PAGE_STRIDE } else { MAX_STRIDE };
        for (strides, vector, most) in [
            (self.rows(), of_rows, [MAX_EXTENT, MAX_EXTENT, MAX_STRIDE]),
            (self.keys, of_keys, [MAX_EXTENT, MAX_STRIDE, outer]),
        ] {
            for (stride, most) in strides.iter().flat_map(|strides| strides.iter().zip(most)) {
                check_within("stride", *stride, 0, most)?;
                multiple("stride", *stride, vector)?;
            }
        }
        multiple("head dim", self.head_dim(), of_rows.max(of_keys))?;
        Ok(self)
    }

    /// The attention of which the keys are in a cache: its options, and as many keys as the cache has room for.
    pub fn attention(&self) -> &Problem {
        &self.attention
    }

    /// The dtype of Q and O.
    pub fn dtype(&self) -> DType {
        self.attention.dtype()
    }

    /// The dtype of K and V.
    pub fn cache(&self) -> DType {
        self.cache
    }

    /// `[batches, queries]`.
    pub fn sequences(&self) -> [i64; 2] {
        [self.attention.batches(), self.attention.queries()]
    }

    /// `[query heads, heads of K and V]`.
    pub fn heads(&self) -> [i64; 2] {
        [self.attention.heads(), self.attention.kv_heads()]
    }

    /// The elements of a row.
    pub fn head_dim(&self) -> i64 {
        self.attention.head_dim()
    }

    /// The most keys of a sequence.
    pub fn capacity(&self) -> i64 {
        self.attention.keys()
    }

    /// The pages, if K and V are in pages.
    pub fn pages(&self) -> Option<Pages> {
        self.pages
    }

    /// The entries of the table of pages for each batch.
    pub fn table_stride(&self) -> i64 {
        self.pages.map_or(0, |pages| (self.capacity() + pages.size - 1) / pages.size)
    }

    /// The entries of the table of pages, (batch, page of the sequence): entries after a sequence's length are not read.
    pub fn table_entries(&self) -> i64 {
        self.sequences()[0] * self.table_stride()
    }

    /// The strides of queries, heads and batches of Q and O, 0 of a mode of one element.
    pub(super) fn rows(&self) -> [[i64; 3]; 2] {
        let extents = self.row_extents();
        [Tensor4::Q, Tensor4::O].map(|tensor| {
            let strides = self.attention.array(tensor).strides();
            [0, 1, 2].map(|mode| if extents[mode] > 1 { strides[mode] } else { 0 })
        })
    }

    /// Queries, heads and batches of Q and O.
    pub(super) fn row_extents(&self) -> [i64; 3] {
        let ([batches, queries], [heads, _]) = (self.sequences(), self.heads());
        [queries, heads, batches]
    }

    /// Keys, heads, and batches or pages of K and V.
    fn key_extents(&self) -> [i64; 3] {
        match self.pages {
            Some(pages) => [pages.size, self.heads()[1], pages.count],
            None => [self.capacity(), self.heads()[1], self.sequences()[0]],
        }
    }

    /// The extents and strides of Q and of O, (HeadDim,Query,Head,Batch).
    pub(super) fn row_modes(&self) -> [[[i64; 4]; 2]; 2] {
        self.rows().map(|strides| self.modes(self.row_extents(), strides))
    }

    /// The extents and strides of K and of V, (HeadDim,Key,Head,Batch), or with pages in the place of batches.
    pub(super) fn key_modes(&self) -> [[[i64; 4]; 2]; 2] {
        self.keys.map(|strides| self.modes(self.key_extents(), strides))
    }

    fn modes(&self, [a, b, c]: [i64; 3], [da, db, dc]: [i64; 3]) -> [[i64; 4]; 2] {
        [[self.head_dim(), a, b, c], [1, da, db, dc]]
    }

    /// The elements of Q and of O, from the first to the last.
    pub fn row_spans(&self) -> [i64; 2] {
        let extents = self.row_extents();
        self.rows().map(|strides| span(self.head_dim(), strides, extents))
    }

    /// The elements of K and of V, from the first to the last.
    pub fn key_spans(&self) -> [i64; 2] {
        let extents = self.key_extents();
        self.keys.map(|strides| span(self.head_dim(), strides, extents))
    }

    /// The element of K, or of V where `of_values`, at which a key of a head of `outer` begins: of a batch, or of a page.
    pub fn key_at(&self, of_values: bool, [key, head, outer]: [i64; 3]) -> i64 {
        let [of_key, of_head, of_outer] = self.keys[usize::from(of_values)];
        key * of_key + head * of_head + outer * of_outer
    }

    /// The element of Q, or of O where `of_output`, at which a query of a head of a batch begins.
    pub fn row_at(&self, of_output: bool, [query, head, batch]: [i64; 3]) -> i64 {
        let [of_query, of_head, of_batch] = self.rows()[usize::from(of_output)];
        query * of_query + head * of_head + batch * of_batch
    }

    /// The scales of K or of V.
    pub fn scales_len(&self) -> i64 {
        match self.scales {
            None => 0,
            Some(ScalesOf::Tensor) => 1,
            Some(ScalesOf::Head) => self.heads()[1],
        }
    }
}

fn multiple(what: &str, value: i64, of: i64) -> Result<(), Error> {
    if value % of == 0 {
        return Ok(());
    }
    Err(Error::Input {
        name: what.into(),
        found: value.to_string(),
        accepted: format!("multiples of {of} elements, 16 bytes"),
    })
}
