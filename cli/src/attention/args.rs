//! The arguments of `girih attention`, which describe a problem, alone or with files.

use girih_kernels::attention::{Diagonal, KernelKind, Mask, Order, Problem};
use girih_notation::find::dtype;
use girih_tensor::DType;

use super::data::{Files, begins};
use super::options::OptionArgs;
use crate::Error;

/// The default extents, which the simulator computes in a few seconds.
const HEADS: i64 = 2;
const LENGTH: i64 = 256;
const HEAD_DIM: i64 = 64;

/// How orders and masks are named, for the long help.
pub(crate) const ORDERS: &str = "\
O = softmax(scale * Q K^T) V for each head of each batch. Orders are those of the axes of Q, K, V and O:

  bshd   (batch, row, head, dim), as projections leave them and FlashAttention takes them
  bhsd   (batch, head, row, dim), as torch's scaled_dot_product_attention takes them

A query's own key has its own number, or with --diagonal bottom-right the last query's own key is the \
last one. With --causal a query sees its own key and those before it; with --window LEFT,RIGHT as many \
keys before its own and behind it, where `all` stands for all of them.";

/// The arguments that describe attention.
#[derive(clap::Args)]
pub(crate) struct ProblemArgs {
    /// Batches [default: 1]
    #[arg(long)]
    batch: Option<i64>,
    /// Heads of queries [default: 2]
    #[arg(long)]
    heads: Option<i64>,
    /// Heads of keys and values, a divisor of the heads of queries [default: as many]
    #[arg(long, value_name = "HEADS")]
    kv_heads: Option<i64>,
    /// Queries of a batch, or of all packed sequences [default: 256]
    #[arg(long)]
    queries: Option<i64>,
    /// Keys of a batch, or of all packed sequences [default: as many as queries]
    #[arg(long)]
    keys: Option<i64>,
    /// Elements of a row of a head, 1 to 512 [default: 64]
    #[arg(long, value_name = "ELEMENTS")]
    head_dim: Option<i64>,
    /// Elements of a row of a head of V and O, 1 to 512 [default: as many as of Q and K]
    #[arg(long, value_name = "ELEMENTS")]
    value_dim: Option<i64>,
    /// Element type of Q, K, V and O: bf16, f16, f32 [default: bf16, or the type of the files]
    #[arg(long, value_parser = dtype)]
    dtype: Option<DType>,
    /// Order of the axes: bshd or bhsd, see below
    #[arg(long, default_value = "bshd")]
    order: Order,
    /// A query sees its own key and those before it
    #[arg(long, conflicts_with = "window")]
    causal: bool,
    /// A query sees this many keys before its own and after it: two numbers, or `all`
    #[arg(long, value_name = "LEFT,RIGHT", value_parser = window)]
    window: Option<[Option<i64>; 2]>,
    /// Which key is a query's own: top-left or bottom-right
    #[arg(long, default_value = "bottom-right")]
    diagonal: Diagonal,
    #[command(flatten)]
    options: OptionArgs,
    /// Add a random bias of this type to the scores, one for all batches: f32, or the type of Q
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    bias: Option<DType>,
    /// Let this many sequences of random lengths follow each other in the rows of one batch
    #[arg(long, value_name = "SEQUENCES", conflicts_with_all = ["batch", "bias"], value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    packed: Option<u32>,
    /// Kernel: sm80 or sm90 [default: the fastest that the device and the problem allow]
    #[arg(long)]
    kernel: Option<KernelKind>,
}

/// Attention and the family of kernels that computes it.
pub(crate) struct Chosen {
    pub(crate) problem: Problem,
    /// The family of the kernel; `None` for the fastest.
    pub(crate) kind: Option<KernelKind>,
}

impl ProblemArgs {
    /// Attention of random tensors, with logarithms if these are to be written.
    pub(crate) fn without_files(&self, seed: u64, lse: bool) -> Result<Chosen, girih_kernels::Error> {
        let (batch, heads) = (self.batch.unwrap_or(1), self.heads.unwrap_or(HEADS));
        let queries = self.queries.unwrap_or(LENGTH);
        let (keys, dim) = (self.keys.unwrap_or(queries), self.head_dim.unwrap_or(HEAD_DIM));
        let dtype = self.dtype.unwrap_or(DType::Bf16);
        let problem = Problem::new(dtype, self.order, [batch, heads, queries, keys, dim])?;
        let problem = self.kv_heads.map_or(Ok(problem.clone()), |heads| problem.with_kv_heads(heads))?;
        let problem = self.value_dim.map_or(Ok(problem.clone()), |dim| problem.with_value_dim(dim))?;
        let problem = match self.packed {
            Some(sequences) => problem
                .packed(&begins(seed, queries, sequences), &begins(seed.wrapping_add(1), keys, sequences))?,
            None => problem,
        };
        let problem = match self.bias {
            Some(dtype) => problem.with_bias(dtype, [1, heads, queries])?,
            None => problem,
        };
        self.chosen(problem, lse)
    }

    /// Attention of files, which say the extents and the type.
    pub(crate) fn with_files(&self, files: &Files, lse: bool) -> Result<Chosen, Box<dyn std::error::Error>> {
        let problem = files.problem(self.order)?;
        Ok(self.chosen(problem, lse)?)
    }

    fn chosen(&self, problem: Problem, lse: bool) -> Result<Chosen, girih_kernels::Error> {
        let mask = match self.window {
            Some([left, right]) => Mask::window(left, right, self.diagonal),
            None if self.causal => Mask::causal(self.diagonal),
            None => Mask::NONE,
        };
        let problem = self.options.of(problem.with_mask(mask)?.with_lse(lse))?;
        Ok(Chosen { problem, kind: self.kernel })
    }
}

/// Parses the limits of a window.
fn window(text: &str) -> Result<[Option<i64>; 2], Error> {
    let refused = || Error::Argument {
        text: text.into(),
        expected: "two limits such as 128,0, each a number of keys or `all`".into(),
    };
    let limit = |text: &str| match text.trim() {
        "all" => Ok(None),
        number => number.parse().map(Some).map_err(|_| refused()),
    };
    let (left, right) = text.split_once(',').ok_or_else(refused)?;
    Ok([limit(left)?, limit(right)?])
}
