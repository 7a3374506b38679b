//! The problem of attention: sizes, strides, mask, options.

mod mask;
mod options;
mod packed;

use girih_codegen::attention::{MAX_LENGTH, Tensor4};
use girih_codegen::gemm::{MAX_EXTENT, MAX_STRIDE};
use girih_tensor::DType;

use super::array::{ALIGNMENT, Array};
use crate::Error;

pub use mask::{Diagonal, Mask};
pub use options::Bias;
use options::Options;
use packed::Packed;
pub use packed::Sequence;

/// The most elements of a row of a head.
pub const MAX_HEAD_DIM: i64 = 512;
/// The most elements of a row of a head of V.
pub const MAX_VALUE_DIM: i64 = 512;
/// The most heads.
pub const MAX_HEADS: i64 = (1 << 16) - 1;

/// In which order the modes of tensors without gaps are in memory, the first one outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// (batch, sequence, head, dim), as projections leave them, and FlashAttention takes them.
    Bshd,
    /// (batch, head, sequence, dim), as torch's `scaled_dot_product_attention` takes them.
    Bhsd,
}

impl std::str::FromStr for Order {
    type Err = Error;
    fn from_str(text: &str) -> Result<Order, Error> {
        match text {
            "bshd" => Ok(Order::Bshd),
            "bhsd" => Ok(Order::Bhsd),
            _ => Err(Error::Unknown {
                what: "order",
                text: text.into(),
                accepted: "bshd and bhsd are accepted",
            }),
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Order::Bshd { "bshd" } else { "bhsd" })
    }
}

/// Attention: `O = softmax(scale Q K^T) V` for each head of each batch.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Diagonal, Mask, Order, Problem, Tensor4};
/// use girih_tensor::DType;
///
/// // 2 batches, 8 heads, 100 queries, 300 keys of 64 elements; four heads of queries share one of keys.
/// let problem = Problem::new(DType::Bf16, Order::Bshd, [2, 8, 100, 300, 64])?
///     .with_kv_heads(2)?
///     .with_mask(Mask::causal(Diagonal::BottomRight))?;
/// assert_eq!(problem.array(Tensor4::K).to_string(), "(300,64,2,2):(128,1,64,38400)"); // (Key,HeadDim,Head,Batch)
/// assert_eq!(problem.scale(), 0.125);
/// assert!(Problem::new(DType::Bf16, Order::Bshd, [2, 8, 100, 300, 513]).is_err());
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    dtype: DType,
    batches: i64,
    heads: i64,
    kv_heads: i64,
    queries: i64,
    keys: i64,
    head_dim: i64,
    value_dim: i64,
    order: Order,
    /// Strides of rows, heads and batches, where they are not those of `order`.
    strides: [Option<[i64; 3]>; 4],
    alignments: [i64; 4],
    packed: Option<Packed>,
    mask: Mask,
    options: Options,
}

impl Problem {
    /// Attention of `[batches, heads, queries, keys, head dim]`, with as many heads of keys as of queries, tensors without gaps in this order, a scale
    /// of `1 / sqrt(head dim)`, and without a mask. There may be no batches, queries or keys; a query that sees no key has an O of 0.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than bf16, f16 and f32, [`Error::Extent`] unless batches, queries and keys are in
    /// `0..=`[`MAX_LENGTH`], heads in `1..=`[`MAX_HEADS`] and the head dim in `1..=`[`MAX_HEAD_DIM`].
    pub fn new(dtype: DType, order: Order, sizes: [i64; 5]) -> Result<Problem, Error> {
        if !crate::DTYPES.contains(&dtype) {
            return Err(Error::unsupported("attention", dtype));
        }
        let [batches, heads, queries, keys, head_dim] = sizes;
        check_within("batches", batches, 0, MAX_LENGTH)?;
        check_within("heads", heads, 1, MAX_HEADS)?;
        check_within("queries", queries, 0, MAX_LENGTH)?;
        check_within("keys", keys, 0, MAX_LENGTH)?;
        check_within("head dim", head_dim, 1, MAX_HEAD_DIM)?;
        let problem = Problem {
            dtype,
            batches,
            heads,
            kv_heads: heads,
            queries,
            keys,
            head_dim,
            value_dim: head_dim,
            order,
            strides: [None; 4],
            alignments: [ALIGNMENT; 4],
            packed: None,
            mask: Mask::NONE,
            options: Options::new(head_dim),
        };
        problem.checked()
    }

    /// The same with fewer heads of keys and values: each serves `heads / kv_heads` heads of queries that follow each other (grouped-query
    /// attention; multi-query attention for one).
    ///
    /// # Errors
    /// [`Error::Heads`] unless the number divides that of the heads of queries.
    pub fn with_kv_heads(self, kv_heads: i64) -> Result<Problem, Error> {
        if kv_heads < 1 || self.heads % kv_heads != 0 {
            return Err(Error::Heads { heads: self.heads, kv_heads });
        }
        Problem { kv_heads, ..self }.checked()
    }

    /// The same with heads of V and O of this many elements, which may be others than those of Q and K, as latent attention has them. The scale stays what it is.
    ///
    /// # Errors
    /// [`Error::Extent`] unless it is in `1..=`[`MAX_VALUE_DIM`].
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::attention::{Order, Problem, Tensor4};
    /// use girih_tensor::DType;
    ///
    /// let problem = Problem::new(DType::Bf16, Order::Bshd, [1, 2, 100, 300, 192])?.with_value_dim(128)?;
    /// assert_eq!(problem.array(Tensor4::V).to_string(), "(300,128,2,1):(256,1,128,76800)");
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn with_value_dim(self, value_dim: i64) -> Result<Problem, Error> {
        check_within("value dim", value_dim, 1, MAX_VALUE_DIM)?;
        Problem { value_dim, ..self }.checked()
    }

    /// The same with a tensor whose rows, heads and batches begin this many elements apart. The elements of a row follow each other. The
    /// stride of a mode of one element does not count.
    ///
    /// # Errors
    /// [`Error::Extent`] for a stride outside of `0..=`[`MAX_EXTENT`] of rows or `0..=`[`MAX_STRIDE`] of heads and batches;
    /// [`Error::Shared`] for an O whose rows could have elements in common: accepted are strides of which each steps over all that
    /// the smaller ones reach.
    pub fn with_strides(mut self, tensor: Tensor4, strides: [i64; 3]) -> Result<Problem, Error> {
        self.strides[tensor as usize] = Some(strides);
        self.checked()
    }

    /// The same with a tensor that begins at multiples of this many bytes, where that is not 16. Kernels for TMA copies need 16.
    ///
    /// # Errors
    /// [`Error::Alignment`] for what is no power of two, or less than an element.
    pub fn with_alignment(mut self, tensor: Tensor4, bytes: i64) -> Result<Problem, Error> {
        let least = i64::from(self.dtype.bits() / 8);
        if bytes < least || bytes.count_ones() != 1 {
            return Err(Error::Alignment { matrix: tensor.name(), bytes, least });
        }
        self.alignments[tensor as usize] = bytes.min(ALIGNMENT);
        Ok(self)
    }

    /// The dtype of Q, K, V and O.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Batches: one for packed sequences.
    pub fn batches(&self) -> i64 {
        self.batches
    }

    /// Heads of Q and O.
    pub fn heads(&self) -> i64 {
        self.heads
    }

    /// Heads of K and V.
    pub fn kv_heads(&self) -> i64 {
        self.kv_heads
    }

    /// Rows of Q and O in a batch: the queries of a sequence, or of all packed sequences.
    pub fn queries(&self) -> i64 {
        self.queries
    }

    /// Rows of K and V in a batch: the keys of a sequence, or of all packed sequences.
    pub fn keys(&self) -> i64 {
        self.keys
    }

    /// Elements of a row of a head.
    pub fn head_dim(&self) -> i64 {
        self.head_dim
    }

    /// Elements of a row of a head of a tensor.
    pub fn columns(&self, tensor: Tensor4) -> i64 {
        match tensor {
            Tensor4::Q | Tensor4::K => self.head_dim,
            Tensor4::V | Tensor4::O => self.value_dim,
        }
    }

    /// The order of tensors that have no strides of their own.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How a tensor is laid out.
    pub fn array(&self, tensor: Tensor4) -> Array {
        let (rows, heads) = match tensor {
            Tensor4::Q | Tensor4::O => (self.queries, self.heads),
            Tensor4::K | Tensor4::V => (self.keys, self.kv_heads),
        };
        let dim = self.columns(tensor);
        let mut strides = match self.order {
            Order::Bshd => [heads * dim, dim, rows * heads * dim],
            Order::Bhsd => [dim, rows * dim, rows * heads * dim],
        };
        let extents = [rows, dim, heads, self.batches];
        // A mode of one element has no stride, and a tensor without elements has none: whatever is given there does not count.
        let counts = [rows, heads, self.batches].map(|extent| extent > 1 && !extents.contains(&0));
        for (stride, (given, counts)) in
            strides.iter_mut().zip(self.strides[tensor as usize].into_iter().flatten().zip(counts))
        {
            *stride = if counts { given } else { *stride };
        }
        Array { extents, strides, alignment: self.alignments[tensor as usize] }
    }

    /// The additions and multiplications of the two products, for pairs of a query and a key that it sees alone.
    pub fn flops(&self) -> f64 {
        let pairs = |sequence: Sequence| {
            let seen = |row| self.mask.keys(row, sequence.queries, sequence.keys);
            (0..sequence.queries).map(|row| seen(row).end - seen(row).start).sum::<i64>() as f64
        };
        let (mut last, mut all) = (None, 0.0);
        for sequence in self.sequences() {
            let shape = [sequence.queries, sequence.keys];
            let of_this = match last {
                Some((known, pairs)) if known == shape => pairs,
                _ => pairs(sequence),
            };
            last = Some((shape, of_this));
            all += of_this;
        }
        all * 2.0 * ((self.head_dim + self.value_dim) * self.heads) as f64
    }

    /// A problem that has the same tiles: what says nothing of them is what it is for a new problem.
    pub(super) fn tiled(&self) -> Problem {
        let (strides, alignments, order) = ([None; 4], [ALIGNMENT; 4], Order::Bshd);
        Problem { strides, alignments, order, options: Options::new(self.head_dim), ..self.clone() }
    }

    /// The same options for one batch of other lengths, of tensors without gaps.
    pub(super) fn of_one_batch(&self, queries: i64, keys: i64) -> Result<Problem, Error> {
        check_within("queries", queries, 0, MAX_LENGTH)?;
        check_within("keys", keys, 0, MAX_LENGTH)?;
        let (strides, alignments, order) = ([None; 4], [ALIGNMENT; 4], Order::Bshd);
        Problem { batches: 1, queries, keys, strides, alignments, order, ..self.clone() }.checked()
    }

    /// Checks what depends on several fields.
    fn checked(self) -> Result<Problem, Error> {
        for tensor in Tensor4::ALL {
            let array = self.array(tensor);
            let [rows, _, heads, batches] = array.extents;
            for (what, stride, most, extent) in [
                ("stride of rows", array.strides[0], MAX_EXTENT, rows),
                ("stride of heads", array.strides[1], MAX_STRIDE, heads),
                ("stride of batches", array.strides[2], MAX_STRIDE, batches),
            ] {
                if extent > 1 {
                    check_within(what, stride, 0, most)?;
                }
            }
        }
        let o = self.array(Tensor4::O);
        if !o.is_apart()? {
            return Err(Error::Shared { tensor: "o", layout: o.to_string() });
        }
        Ok(self)
    }
}

pub(super) fn check_within(what: &'static str, value: i64, least: i64, most: i64) -> Result<(), Error> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Error::Extent { what, value, least, most }) }
}
