//! Arguments that describe the problem of a decoding command.

use girih_device::sizes::{size, word};
use girih_kernels::attention::decode::{DecodeProblem, ScalesOf};
use girih_kernels::attention::{Diagonal, Mask, Order};
use girih_notation::find::dtype;
use girih_tensor::DType;

use super::files::cache_order;
use crate::Error;
use crate::attention::options::OptionArgs;

/// How many keys a sequence has by default.
const KEYS: u32 = 256;

/// A problem of decoding.
#[derive(clap::Args)]
pub(crate) struct ProblemArgs {
    /// Sequences [default: 1, or as many as --lengths has]
    #[arg(long)]
    batch: Option<i64>,
    /// Keys of each sequence [default: 256]
    #[arg(long)]
    keys: Option<u32>,
    /// Keys of a sequence for which the cache has room [default: those of the longest one]
    #[arg(long, value_name = "KEYS")]
    capacity: Option<i64>,
    /// Queries of each sequence, 1 to 16
    #[arg(long, default_value_t = 1)]
    queries: i64,
    /// Heads of queries
    #[arg(long, default_value_t = 8)]
    heads: i64,
    /// Heads of keys and values, a divisor of the heads of queries [default: as many]
    #[arg(long, value_name = "HEADS")]
    kv_heads: Option<i64>,
    /// Elements of a row of a head, a multiple of 8 up to 256
    #[arg(long, value_name = "ELEMENTS", default_value_t = 64)]
    head_dim: i64,
    /// Element type of Q and O: bf16, f16
    #[arg(long, default_value = "bf16", value_parser = dtype)]
    dtype: DType,
    /// Element type of K and V: that of Q, e4m3, e5m2 [default: that of Q]
    #[arg(long, value_name = "DTYPE", value_parser = dtype)]
    pub(crate) cache: Option<DType>,
    /// Multiply K and V by random scales: one for each `tensor`, or one for each `head`
    #[arg(long, value_name = "OF", value_parser = scales)]
    scales: Option<ScalesOf>,
    /// Store the cache in pages of this many keys, 16, 32, 64, 128 or 256, in a random order
    #[arg(long, value_name = "KEYS")]
    pages: Option<i64>,
    /// Order of the axes of the cache: bshd, (sequence or page, key, head, dim), or bhsd
    #[arg(long, default_value = "bshd")]
    pub(crate) order: Order,
    /// A query sees its own key and this many keys before it [default: all]
    #[arg(long, value_name = "KEYS")]
    pub(crate) window: Option<i64>,
    #[command(flatten)]
    options: OptionArgs,
    /// Cut the keys of a sequence into up to this many splits [default: as keep the device busy]
    #[arg(long)]
    pub(crate) parts: Option<i64>,
}

impl ProblemArgs {
    /// A problem without files, and the keys of each sequence.
    pub(crate) fn without_files(&self) -> Result<(DecodeProblem, Vec<u32>), Box<dyn std::error::Error>> {
        self.of(None, None)
    }

    /// The problem of files, or a random one, and the keys of each sequence, which a file may say.
    pub(super) fn of(
        &self,
        files: Option<DecodeProblem>,
        lengths: Option<Vec<u32>>,
    ) -> Result<(DecodeProblem, Vec<u32>), Box<dyn std::error::Error>> {
        let (problem, lengths) = match files {
            Some(problem) => {
                let ([batch, _], capacity) = (problem.sequences(), problem.capacity());
                (problem, lengths.unwrap_or_else(|| vec![word(capacity); size(batch)]))
            }
            None => self.random(lengths)?,
        };
        let ([batch, _], capacity) = (problem.sequences(), problem.capacity());
        let longest = lengths.iter().max().copied().unwrap_or(0);
        if lengths.len() as i64 != batch {
            let expected = format!("those of {batch} sequences, as Q has");
            return Err(Error::Argument { text: format!("{} lengths", lengths.len()), expected }.into());
        }
        if i64::from(longest) > capacity {
            let (text, expected) =
                (format!("{longest} keys"), format!("a capacity of as many, not of {capacity}"));
            return Err(Error::Argument { text, expected }.into());
        }
        let mask = Mask::window(self.window, Some(0), Diagonal::BottomRight);
        let problem = problem.map(|attention| self.options.of(attention.with_mask(mask)?))?;
        Ok((problem, lengths))
    }

    /// A random problem, with the keys of each sequence.
    fn random(
        &self,
        file: Option<Vec<u32>>,
    ) -> Result<(DecodeProblem, Vec<u32>), Box<dyn std::error::Error>> {
        let batch = file.as_ref().map_or(self.batch.unwrap_or(1), |lengths| lengths.len() as i64);
        let longest = file.iter().flatten().max().copied().unwrap_or(self.keys.unwrap_or(KEYS));
        let capacity = self.capacity.unwrap_or(i64::from(longest).max(1));
        let heads = [self.heads, self.kv_heads.unwrap_or(self.heads)];
        let problem = DecodeProblem::new(self.dtype, [batch, self.queries], heads, self.head_dim, capacity)?
            .with_cache(self.cache.unwrap_or(self.dtype), self.scales)?;
        let order = cache_order(self.order);
        let problem = match self.pages {
            None => problem.contiguous(order)?,
            // As many pages as all sequences have.
            Some(size) => {
                let pages = problem.clone().paged(size, 1, order)?.table_entries();
                problem.paged(size, pages, order)?
            }
        };
        Ok((problem, file.unwrap_or_else(|| vec![longest; size(batch)])))
    }
}

/// Parses to what scales belong.
fn scales(text: &str) -> Result<ScalesOf, Error> {
    match text {
        "tensor" => Ok(ScalesOf::Tensor),
        "head" => Ok(ScalesOf::Head),
        _ => Err(Error::Argument { text: text.into(), expected: "`tensor` or `head`".into() }),
    }
}
