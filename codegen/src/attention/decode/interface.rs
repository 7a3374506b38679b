//! The parameters of the split kernel and of the combine kernel.

use girih_layout::{Int, Symbol};
use girih_tensor::DType;

use super::MAX_KEYS;
use super::config::DecodeConfig;
use super::share::{MAX_PARTS, MAX_TILES};
use crate::attention::config::Scores;
use crate::builder::Builder;
use crate::params::{Generated, MAX_STRIDE, Params};
use crate::{Error, Expr, Kernel, Scalar};

/// The most pages of a cache.
pub const MAX_PAGES: i64 = 1 << 28;
/// The most elements from one page to the next.
pub const MAX_PAGE_STRIDE: i64 = 1 << 29;
/// The most elements from one query, key or head of a tile to the next.
const MAX_STEP: i64 = 1 << 30;
/// The most heads, and the most batches.
pub(super) const MAX_HEADS: i64 = 1 << 16;

/// The arguments of a launch of the two kernels. Strides are in elements; columns are contiguous in all tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// The strides of queries, heads and batches of Q and O, (HeadDim,Query,Head,Batch).
    pub rows: [[i64; 3]; 2],
    /// The strides of keys, heads, and batches or pages of K and V, (HeadDim,Key,Head,Batch), or (HeadDim,Key of the page,Head,Page).
    pub keys: [[i64; 3]; 2],
    /// The columns of all tensors, at most [`DecodeConfig::head_dim`].
    pub head_dim: i64,
    /// The queries of each sequence. The last one sees all keys.
    pub queries: i64,
    /// Query heads, heads of K and V, and batches.
    pub heads: [i64; 3],
    /// The tiles of heads of a head of K and V, and those of queries.
    pub tiles: [i64; 2],
    /// The most keys of a sequence: the kernel takes no more from the lengths in memory.
    pub capacity: i64,
    /// The entries of the table of pages for each batch, and the number of the cache's pages. The kernel takes greater numbers for the last page.
    pub pages: [i64; 2],
    /// How scores become exponents.
    pub scores: Scores,
    /// How many keys before its own a query sees, at most [`MAX_KEYS`].
    pub left: i64,
    /// Whether each head of K and V has scales of its own.
    pub scale_of_heads: bool,
    /// The most splits of a sequence, at most [`MAX_PARTS`].
    pub parts: i64,
    /// The least tiles of [`KEYS`](super::KEYS) keys of a split, of a sequence that has several splits, at least 1.
    pub least_tiles: i64,
}

/// A generated decoding kernel. Its memory is `q`, `o`, `k`, `v`; `lengths`, the numbers of keys, u32 for each batch; `table`, for each batch the pages of
/// its keys, u32; `k_scale` and `v_scale`, f32; `lse`, the logsumexps, f32, to the base e, (Query,Head,Batch), compact, negative
/// infinity for a row that sees no key and has no sink; `sinks`, f32, a logit of each query head; `partials`, the rows that splits leave, f32, ([`DecodeConfig::head_dim`],Query,Head,Batch,Part), compact;
/// `partial_totals`, the maxima of scores and the sums of exponentials relative to them that splits leave, f32, (2,Query,Head,Batch,Part), compact.
pub type DecodeKernel = Generated<Arguments>;

/// Which of the two kernels is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Attend,
    Sum,
}

/// Q or O.
pub(super) struct Rows {
    pub pointer: Expr,
    pub dtype: DType,
    /// The strides of queries and heads, and that of batches.
    pub strides: [Int; 2],
    pub batch: Expr,
}

/// K or V.
pub(super) struct Keys {
    pub pointer: Expr,
    /// The stride of keys, that of heads, and that of batches or pages.
    pub step: Int,
    pub head: Expr,
    pub outer: Expr,
}

/// The table of pages.
pub(super) struct Table {
    pub pointer: Expr,
    pub stride: Expr,
    pub last: Expr,
}

/// The partial results that splits store.
pub(super) struct Parts {
    pub most: Expr,
    /// The least tiles of one.
    pub least: Expr,
    pub rows: Int,
    pub partials: Expr,
    pub totals: Expr,
}

/// The parameters of the kernel that is being written.
pub(super) struct Interface<'a> {
    pub config: &'a DecodeConfig,
    params: Params<Arguments>,
    pub partitions: Vec<(&'static str, String)>,
    pub q: Option<Rows>,
    pub o: Rows,
    /// K and V, of the first kernel.
    pub cache: Vec<Keys>,
    /// The scales of K and of V, where the kernel needs them.
    pub scales: [Option<Expr>; 2],
    pub columns: Int,
    pub queries: Int,
    pub group: Int,
    /// The tiles of heads, and the tiles of rows.
    pub tiles: [Expr; 2],
    pub lengths: Expr,
    pub capacity: Expr,
    pub table: Option<Table>,
    pub scale: Scalar,
    pub inner_scale: Option<Scalar>,
    pub left: Option<Expr>,
    pub scale_stride: Expr,
    pub lse: Option<(Expr, Int, Expr)>,
    pub parts: Option<Parts>,
    /// The address of the sinks.
    pub sinks: Option<Expr>,
}

/// A number in these limits, and the number that it is a multiple of.
fn within(least: i64, most: i64, multiple: i64) -> impl FnOnce(Symbol) -> Symbol {
    move |s| s.at_least(least).at_most(most).divisible_by(multiple)
}

impl Rows {
    /// Declares Q (0) or O (1).
    fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &DecodeConfig,
        which: usize,
    ) -> Result<Rows, Error> {
        let (name, vector, dtype) = (["q", "o"][which], config.vector(), config.dtype);
        let pointer = params.pointer(b, name, 16);
        let step = || within(0, MAX_STEP, vector);
        let strides = [
            Int::symbol(params.symbol(b, format!("{name}_query"), step(), move |a| a.rows[which][0])?),
            Int::symbol(params.symbol(b, format!("{name}_head"), step(), move |a| a.rows[which][1])?),
        ];
        let most = (MAX_STRIDE, vector);
        let batch = params.wide(b, &format!("{name}_batch"), most, move |a| a.rows[which][2]);
        Ok(Rows { pointer, dtype, strides, batch })
    }
}

impl Keys {
    /// Declares K (0) or V (1).
    fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &DecodeConfig,
        which: usize,
    ) -> Result<Keys, Error> {
        let (name, vector) = (["k", "v"][which], config.cache_vector());
        let pointer = params.pointer(b, name, 16);
        let step = within(0, MAX_STEP, vector);
        let step = params.symbol(b, format!("{name}_key"), step, move |a| a.keys[which][0])?;
        let most = (MAX_STRIDE, vector);
        let head = params.wide(b, &format!("{name}_head"), most, move |a| a.keys[which][1]);
        let (outer, most) =
            if config.page.is_some() { ("page", MAX_PAGE_STRIDE) } else { ("batch", MAX_STRIDE) };
        let outer = params.wide(b, &format!("{name}_{outer}"), (most, vector), move |a| a.keys[which][2]);
        Ok(Keys { pointer, step: Int::symbol(step), head, outer })
    }
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    #[track_caller]
    pub(super) fn new(b: &mut Builder, config: &'a DecodeConfig, pass: Pass) -> Result<Interface<'a>, Error> {
        let features = config.features;
        let attends = pass == Pass::Attend;
        let mut params = Params::<Arguments>::default();
        let p = &mut params;
        let q = if attends { Some(Rows::new(p, b, config, 0)?) } else { None };
        let o = Rows::new(p, b, config, 1)?;
        let mut cache = Vec::new();
        if attends {
            cache.extend([Keys::new(p, b, config, 0)?, Keys::new(p, b, config, 1)?]);
        }
        // The scale of K is one of scores, which both kernels scale, except with a cap.
        let scales_scores = features.scales && (attends || !features.softcap);
        let scales = [
            scales_scores.then(|| p.pointer(b, "k_scale", 4)),
            (attends && features.scales).then(|| p.pointer(b, "v_scale", 4)),
        ];
        let columns = if features.padded {
            let vector = config.vector().max(config.cache_vector());
            Int::symbol(p.symbol(b, "head_dim", within(1, config.head_dim, vector), |a| a.head_dim)?)
        } else {
            Int::fixed(config.head_dim)
        };
        let few = || within(1, MAX_HEADS, 1);
        let queries = Int::symbol(p.symbol(b, "queries", few(), |a| a.queries)?);
        let (mut group, mut tiles) = (Int::ONE, [Expr::from(1), Expr::from(1)]);
        if attends || scales_scores {
            group = Int::symbol(p.symbol(b, "group", few(), |a| a.heads[0] / a.heads[1])?);
        }
        if attends {
            let along_heads = p.symbol(b, "head_tiles", few(), |a| a.tiles[0])?;
            let all = p.symbol(b, "row_tiles", few(), |a| a.tiles[0] * a.tiles[1])?;
            tiles = [along_heads, all].map(|tiles| Expr::from_int(&Int::symbol(tiles)));
        }
        let lengths = p.pointer(b, "lengths", 4);
        let capacity = p.number(b, "capacity", MAX_KEYS, |a| a.capacity);
        let table = (attends && config.page.is_some()).then(|| Table {
            pointer: p.pointer(b, "table", 4),
            stride: p.number(b, "table_stride", MAX_KEYS, |a| a.pages[0]),
            last: p.number(b, "last_page", MAX_PAGES - 1, |a| a.pages[1] - 1),
        });
        let scale = p.float(b, "scale", |a| a.scores.exponent(false))?;
        let inner_scale = match attends && features.softcap {
            true => Some(p.float(b, "inner_scale", |a| a.scores.inner())?),
            false => None,
        };
        let left = features.left.then(|| p.number(b, "left", MAX_KEYS, |a| a.left));
        let scale_stride = match scales_scores || scales[1].is_some() {
            true => p.number(b, "scale_stride", 1, |a| a.scale_of_heads.into()),
            false => Expr::from(0),
        };
        let lse = if features.lse {
            let pointer = p.pointer(b, "lse", 4);
            let head = p.symbol(b, "lse_head", within(0, MAX_STEP, 1), |a| a.queries)?;
            let batch = p.wide(b, "lse_batch", (MAX_STRIDE, 1), |a| a.heads[0] * a.queries);
            Some((pointer, Int::symbol(head), batch))
        } else {
            None
        };
        let parts = if features.parts {
            let most = p.number(b, "parts", MAX_PARTS, |a| a.parts);
            let least = p.symbol(b, "least_tiles", within(1, MAX_TILES, 1), |a| a.least_tiles)?;
            let least = Expr::from_int(&Int::symbol(least));
            let all = |a: &Arguments| a.queries * a.heads[0] * a.heads[2];
            let rows = Int::symbol(p.symbol(b, "part_rows", within(1, u32::MAX.into(), 1), all)?);
            let partials = p.pointer(b, "partials", 16);
            Some(Parts { most, least, rows, partials, totals: p.pointer(b, "partial_totals", 8) })
        } else {
            None
        };
        let sinks = features.sinks.then(|| p.pointer(b, "sinks", 4));
        let partitions = if attends { config.describe()? } else { Vec::new() };
        Ok(Interface {
            params,
            config,
            partitions,
            q,
            o,
            cache,
            scales,
            columns,
            queries,
            group,
            tiles,
            lengths,
            capacity,
            table,
            scale,
            inner_scale,
            left,
            scale_stride,
            lse,
            parts,
            sinks,
        })
    }

    /// The queries of each sequence.
    pub(super) fn queries(&self) -> Expr {
        Expr::from_int(&self.queries)
    }

    /// The query heads that share a head of K and V.
    pub(super) fn group(&self) -> Expr {
        Expr::from_int(&self.group)
    }

    /// The finished kernel.
    pub(super) fn into_kernel(self, kernel: Kernel) -> DecodeKernel {
        Generated { kernel, params: self.params, partitions: self.partitions }
    }
}
