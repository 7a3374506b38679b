//! The problem of decode attention: sizes, strides, cache, options.

use girih_codegen::attention::Scores;
use girih_codegen::attention::decode::{MAX_KEYS, MAX_PAGE_STRIDE, MAX_PAGES};
use girih_tensor::DType;

use crate::Error;
use crate::attention::array::{are_apart, span};
use crate::attention::problem::{check_factor, check_within, scores};

/// The most queries of a sequence.
pub const MAX_QUERIES: i64 = 16;
/// The most batches, and the most heads.
const MOST: i64 = (1 << 16) - 1;
/// The most elements from one row or head to the next.
const MAX_STEP: i64 = 1 << 30;

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
/// `O = softmax(scale Q K^T) V` for each query head.
///
/// # Examples
/// ```
/// use girih_kernels::attention::decode::{CacheOrder, DecodeProblem};
/// use girih_tensor::DType;
///
/// // 4 sequences of up to 8192 keys, 64 query heads for 8 heads of K and V.
/// let problem = DecodeProblem::new(DType::Bf16, [4, 1], [64, 8], 128, 8192)?;
/// assert_eq!(problem.scale(), 128f32.sqrt().recip());
/// let paged = problem.paged(64, 1000, CacheOrder::HeadsFirst)?;
/// assert_eq!(paged.table_entries(), 4 * 128);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeProblem {
    pub(super) dtype: DType,
    pub(super) cache: DType,
    pub(super) batches: i64,
    pub(super) queries: i64,
    pub(super) heads: i64,
    pub(super) groups: i64,
    pub(super) head_dim: i64,
    pub(super) capacity: i64,
    /// The strides of queries, heads and batches of Q and O.
    pub(super) rows: [[i64; 3]; 2],
    /// The strides of keys, heads, and batches or pages of K and V.
    pub(super) keys: [[i64; 3]; 2],
    pub(super) pages: Option<Pages>,
    pub(super) scores: Scores,
    pub(super) left: Option<i64>,
    pub(super) scales: Option<ScalesOf>,
    pub(super) lse: bool,
}

impl DecodeProblem {
    /// Decoding of `[batches, queries]`, 1 to 16 queries of each sequence, with `[query heads, heads of K and V]` of `head_dim` elements,
    /// against up to `capacity` keys. Q and O are (batch, query, head, dim) without gaps, K and V (batch, key, head, dim), of the same dtype.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than f16 and bf16; [`Error::Extent`]; [`Error::Input`] for query heads that are no multiple of the heads of
    /// K and V.
    pub fn new(
        dtype: DType,
        [batches, queries]: [i64; 2],
        [heads, groups]: [i64; 2],
        head_dim: i64,
        capacity: i64,
    ) -> Result<DecodeProblem, Error> {
        if !matches!(dtype, DType::F16 | DType::Bf16) {
            let accepted = "f16 and bf16 are accepted";
            return Err(Error::Kernel { kernel: "attention decode", dtype: dtype.name(), accepted });
        }
        check_within("batches", batches, 1, MOST)?;
        check_within("queries", queries, 1, MAX_QUERIES)?;
        check_within("heads", heads, 1, MOST)?;
        check_within("heads of K and V", groups, 1, MOST)?;
        check_within("head dim", head_dim, 1, 256)?;
        check_within("capacity", capacity, 1, MAX_KEYS)?;
        if heads % groups != 0 {
            return Err(Error::Input {
                name: String::from("heads"),
                found: format!("{heads} heads of Q and {groups} of K and V"),
                accepted: String::from("heads of Q that are a multiple of the heads of K and V"),
            });
        }
        let rows = [heads * head_dim, head_dim, queries * heads * head_dim];
        let problem = DecodeProblem {
            dtype,
            cache: dtype,
            batches,
            queries,
            heads,
            groups,
            head_dim,
            capacity,
            rows: [rows; 2],
            keys: [[0; 3]; 2],
            pages: None,
            scores: scores(head_dim),
            left: None,
            scales: None,
            lse: false,
        };
        problem.contiguous(CacheOrder::KeysFirst)
    }

    /// The same with K and V in one piece for each batch, without gaps.
    ///
    /// # Errors
    /// [`Error::Extent`] for strides that are too large.
    pub fn contiguous(self, order: CacheOrder) -> Result<DecodeProblem, Error> {
        DecodeProblem { pages: None, ..self }.ordered(order, self.capacity)
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
        let (d, groups) = (self.head_dim, self.groups);
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
    pub fn with_strides(self, rows: [[i64; 3]; 2], keys: [[i64; 3]; 2]) -> Result<DecodeProblem, Error> {
        DecodeProblem { rows, keys, ..self }.checked()
    }

    /// The same with K and V of another dtype, which is that of Q, e4m3 or e5m2, and the scales by which they are multiplied, positive
    /// numbers.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype; [`Error::Input`] for a head dim or strides that are no multiples of 16 elements of 8 bits.
    pub fn with_cache(self, cache: DType, scales: Option<ScalesOf>) -> Result<DecodeProblem, Error> {
        if cache != self.dtype && !matches!(cache, DType::E4m3 | DType::E5m2) {
            let accepted = "the dtype of Q, e4m3 and e5m2 are accepted for K and V";
            return Err(Error::Kernel { kernel: "attention decode", dtype: cache.name(), accepted });
        }
        DecodeProblem { cache, scales, ..self }.checked()
    }

    /// The same with another scale of the scores than `1 / sqrt(head dim)`.
    ///
    /// # Errors
    /// [`Error::Number`] unless the scale is in `2^-60..=2^60`.
    pub fn with_scale(self, scale: f32) -> Result<DecodeProblem, Error> {
        Ok(self.with_scores(Scores { scale: check_factor("scale", scale)?, ..self.scores }))
    }

    /// The same with scores `cap * tanh(score / cap)`.
    ///
    /// # Errors
    /// [`Error::Number`] unless the cap is in `2^-60..=2^60`.
    pub fn with_softcap(self, cap: f32) -> Result<DecodeProblem, Error> {
        Ok(self.with_scores(Scores { softcap: Some(check_factor("softcap", cap)?), ..self.scores }))
    }

    pub(in crate::attention) fn with_scores(self, scores: Scores) -> DecodeProblem {
        DecodeProblem { scores, ..self }
    }

    /// The same, where a query sees its own key and `left` keys before it.
    ///
    /// # Errors
    /// [`Error::Extent`].
    pub fn with_window(self, left: i64) -> Result<DecodeProblem, Error> {
        check_within("left", left, 0, MAX_KEYS)?;
        Ok(DecodeProblem { left: Some(left), ..self })
    }

    /// The same, where the logsumexps are wanted too.
    #[must_use]
    pub fn with_lse(self) -> DecodeProblem {
        DecodeProblem { lse: true, ..self }
    }

    fn checked(mut self) -> Result<DecodeProblem, Error> {
        // A mode of one element has no stride.
        let (of_rows, of_keys) = (self.row_extents(), self.key_extents());
        for (strides, extents) in [(&mut self.rows, of_rows), (&mut self.keys, of_keys)] {
            for (stride, extent) in strides.iter_mut().flat_map(|strides| strides.iter_mut().zip(extents)) {
                *stride = if extent > 1 { *stride } else { 0 };
            }
        }
        let [of_rows, of_keys] = [self.dtype, self.cache].map(|dtype| 128 / i64::from(dtype.bits()));
        let outer = if self.pages.is_some() { MAX_PAGE_STRIDE } else { girih_codegen::gemm::MAX_STRIDE };
        for (strides, vector, most) in [
            (self.rows, of_rows, [MAX_STEP, MAX_STEP, girih_codegen::gemm::MAX_STRIDE]),
            (self.keys, of_keys, [MAX_STEP, girih_codegen::gemm::MAX_STRIDE, outer]),
        ] {
            for (stride, most) in strides.iter().flat_map(|strides| strides.iter().zip(most)) {
                check_within("stride", *stride, 0, most)?;
                multiple("stride", *stride, vector)?;
            }
        }
        multiple("head dim", self.head_dim, of_rows.max(of_keys))?;
        // Blocks write different rows, which therefore have no elements in common.
        let extents = self.row_extents();
        if !are_apart(self.head_dim, self.rows[1], extents)? {
            let layout = format!("{extents:?}:{:?} in rows of {}", self.rows[1], self.head_dim);
            return Err(Error::Shared { tensor: "O", layout });
        }
        Ok(self)
    }

    /// The dtype of Q and O.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The dtype of K and V.
    pub fn cache(&self) -> DType {
        self.cache
    }

    /// The factor of the scores.
    pub fn scale(&self) -> f32 {
        self.scores.scale
    }

    /// How scores become exponents.
    pub(in crate::attention) fn scores(&self) -> Scores {
        self.scores
    }

    /// How many keys before its own a query sees, if not all.
    pub fn window(&self) -> Option<i64> {
        self.left
    }

    /// `[batches, queries]`.
    pub fn sequences(&self) -> [i64; 2] {
        [self.batches, self.queries]
    }

    /// `[query heads, heads of K and V]`.
    pub fn heads(&self) -> [i64; 2] {
        [self.heads, self.groups]
    }

    /// The elements of a row.
    pub fn head_dim(&self) -> i64 {
        self.head_dim
    }

    /// The most keys of a sequence.
    pub fn capacity(&self) -> i64 {
        self.capacity
    }

    /// The pages, if K and V are in pages.
    pub fn pages(&self) -> Option<Pages> {
        self.pages
    }

    /// The entries of the table of pages for each batch.
    pub fn table_stride(&self) -> i64 {
        self.pages.map_or(0, |pages| (self.capacity + pages.size - 1) / pages.size)
    }

    /// The entries of the table of pages, (batch, page of the sequence): entries behind a sequence's length are not read.
    pub fn table_entries(&self) -> i64 {
        self.batches * self.table_stride()
    }

    /// Queries, heads and batches of Q and O.
    fn row_extents(&self) -> [i64; 3] {
        [self.queries, self.heads, self.batches]
    }

    /// Keys, heads, and batches or pages of K and V.
    fn key_extents(&self) -> [i64; 3] {
        match self.pages {
            Some(pages) => [pages.size, self.groups, pages.count],
            None => [self.capacity, self.groups, self.batches],
        }
    }

    /// The extents and strides of Q and of O, (HeadDim,Query,Head,Batch).
    pub(super) fn row_modes(&self) -> [[[i64; 4]; 2]; 2] {
        self.rows.map(|strides| self.modes(self.row_extents(), strides))
    }

    /// The extents and strides of K and of V, (HeadDim,Key,Head,Batch), or with pages in the place of batches.
    pub(super) fn key_modes(&self) -> [[[i64; 4]; 2]; 2] {
        self.keys.map(|strides| self.modes(self.key_extents(), strides))
    }

    fn modes(&self, [a, b, c]: [i64; 3], [da, db, dc]: [i64; 3]) -> [[i64; 4]; 2] {
        [[self.head_dim, a, b, c], [1, da, db, dc]]
    }

    /// The elements of Q and of O, from the first to the last.
    pub fn row_spans(&self) -> [i64; 2] {
        let extents = self.row_extents();
        self.rows.map(|strides| span(self.head_dim, strides, extents))
    }

    /// The elements of K and of V, from the first to the last.
    pub fn key_spans(&self) -> [i64; 2] {
        let extents = self.key_extents();
        self.keys.map(|strides| span(self.head_dim, strides, extents))
    }

    /// The element of K, or of V where `of_values`, at which a key of a head of `outer` begins: of a batch, or of a page.
    pub fn key_at(&self, of_values: bool, [key, head, outer]: [i64; 3]) -> i64 {
        let [of_key, of_head, of_outer] = self.keys[usize::from(of_values)];
        key * of_key + head * of_head + outer * of_outer
    }

    /// The element of Q, or of O where `of_output`, at which a query of a head of a batch begins.
    pub fn row_at(&self, of_output: bool, [query, head, batch]: [i64; 3]) -> i64 {
        let [of_query, of_head, of_batch] = self.rows[usize::from(of_output)];
        query * of_query + head * of_head + batch * of_batch
    }

    /// The logarithms, (batch, head, query).
    pub fn lse_len(&self) -> i64 {
        self.batches * self.heads * self.queries
    }

    /// Whether the logsumexps are wanted.
    pub fn has_lse(&self) -> bool {
        self.lse
    }

    /// The scales of K or of V.
    pub fn scales_len(&self) -> i64 {
        match self.scales {
            None => 0,
            Some(ScalesOf::Tensor) => 1,
            Some(ScalesOf::Head) => self.groups,
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
