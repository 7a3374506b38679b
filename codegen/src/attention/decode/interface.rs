//! The parameters of the split kernel and of the combine kernel.

use girih_layout::{Int, Symbol};
use girih_tensor::DType;

use super::MAX_KEYS;
use super::config::DecodeConfig;
use super::share::{MAX_PARTS, MAX_TILES};
use crate::builder::Builder;
use crate::gemm::MAX_STRIDE;
use crate::{Error, Expr, Kernel, Scalar};

/// The most pages of a cache.
pub const MAX_PAGES: i64 = 1 << 28;
/// The most elements from one page to the next.
pub const MAX_PAGE_STRIDE: i64 = 1 << 29;
/// The most elements from one query, key or head of a tile to the next.
const MAX_STEP: i64 = 1 << 30;
/// The most heads, and the most batches.
pub(super) const MAX_HEADS: i64 = 1 << 16;

/// The meaning of a parameter of a decoding kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodeParam {
    /// The 64-bit address of Q, (HeadDim,Query,Head,Batch). Columns follow each other in all tensors.
    Q,
    /// The elements from one query, head or batch of Q to the next, 32 bits for queries and heads, 64 bits for batches: `[query, head, batch]`.
    QStride(usize),
    /// The 64-bit address of O, which has the shape of Q.
    O,
    /// As [`DecodeParam::QStride`].
    OStride(usize),
    /// The 64-bit address of K, (HeadDim,Key,Head,Batch), or (HeadDim,Key of the page,Head,Page).
    K,
    /// The elements from one key, head, or batch or page of K to the next, 32 bits for keys, else 64 bits: `[key, head, batch or page]`.
    KStride(usize),
    /// The 64-bit address of V, which has the shape of K.
    V,
    /// As [`DecodeParam::KStride`].
    VStride(usize),
    /// The columns of all tensors, 32 bits, at most [`DecodeConfig::head_dim`].
    HeadDim,
    /// The queries of each sequence, 32 bits. The last one sees all keys.
    Queries,
    /// The query heads that share a head of K and V, 32 bits.
    Group,
    /// The tiles of heads of a head of K and V, 32 bits.
    HeadTiles,
    /// The tiles of rows of a head of K and V, 32 bits.
    RowTiles,
    /// The 64-bit address of the numbers of keys, u32 for each batch. The kernel takes no more than [`DecodeParam::Capacity`].
    Lengths,
    /// The most keys of a sequence, 32 bits.
    Capacity,
    /// The 64-bit address of the table of pages, u32, for each batch the pages of its keys.
    Table,
    /// The entries of the table for each batch, 32 bits.
    TableStride,
    /// The number of the cache's last page, 32 bits. The kernel takes greater numbers for this one.
    LastPage,
    /// What powers of two take as exponents: `Scale` times the score, f32. It is log2(e) times the scale of the scores, or with a cap log2(e) times the
    /// cap.
    Scale,
    /// With a cap, 2 log2(e) times the scale of the scores divided by the cap, f32: the score becomes `1 - 2 / (1 + 2^(InnerScale * score))`, the
    /// tanh, before it is scaled.
    InnerScale,
    /// How many keys before its own a query sees, 32 bits, at most [`MAX_KEYS`].
    Left,
    /// The 64-bit address of the scales by which K is multiplied, f32.
    KScale,
    /// The 64-bit address of the scales by which V is multiplied, f32.
    VScale,
    /// The elements from the scale of a head of K and V to the next, 32 bits: 1, or 0 where all share one.
    ScaleStride,
    /// The 64-bit address of the logsumexps, f32, to the base e, (Query,Head,Batch): queries follow each other. A row that
    /// sees no key has negative infinity.
    Lse,
    /// The elements from one head or batch of these to the next, 32 bits for heads, 64 bits for batches: `[head, batch]`.
    LseStride(usize),
    /// The most parts of a sequence, 32 bits, at most [`MAX_PARTS`].
    Parts,
    /// The least tiles of [`KEYS`](super::KEYS) keys of a part, of a sequence that has several parts, 32 bits, at least 1.
    LeastTiles,
    /// The rows of a part, 32 bits: queries times heads of Q times batches.
    PartRows,
    /// The 64-bit address of the rows that parts leave, f32, ([`DecodeConfig::head_dim`],Query,Head,Batch,Part), compact.
    Partials,
    /// The 64-bit address of the maxima of scores and of the sums of exponentials relative to them that parts leave, f32, (2,Query,Head,Batch,Part), compact.
    PartialTotals,
}

/// A generated decoding kernel.
#[derive(Clone, Debug)]
pub struct DecodeKernel {
    /// The kernel.
    pub kernel: Kernel,
    /// The meaning of each of the kernel's parameters, in their order.
    pub params: Vec<DecodeParam>,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
}

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

/// What parts leave.
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
    params: Vec<DecodeParam>,
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
}

/// A declaration of parameters with their meanings.
struct Declared<'b> {
    b: &'b mut Builder,
    params: Vec<DecodeParam>,
}

impl Declared<'_> {
    fn pointer(&mut self, param: DecodeParam, name: &str, align: i64) -> Expr {
        self.params.push(param);
        self.b.pointer(name, align)
    }

    fn number(&mut self, param: DecodeParam, name: &str, most: i64) -> Expr {
        self.params.push(param);
        self.b.number(name, most)
    }

    fn wide(&mut self, param: DecodeParam, name: &str, most: i64, multiple: i64) -> Expr {
        self.params.push(param);
        self.b.wide_number(name, most, multiple)
    }

    fn symbol(&mut self, param: DecodeParam, name: &str, facts: [i64; 3]) -> Result<Int, Error> {
        let [least, most, multiple] = facts;
        self.params.push(param);
        let facts = |s: Symbol| s.at_least(least).at_most(most).divisible_by(multiple);
        Ok(Int::symbol(self.b.symbol(name, facts)?))
    }

    fn scalar(&mut self, param: DecodeParam, name: &str) -> Result<Scalar, Error> {
        self.params.push(param);
        self.b.scalar_parameter(name, DType::F32)
    }

    /// Q or O, whose strides have these meanings.
    fn rows(
        &mut self,
        config: &DecodeConfig,
        name: &str,
        param: DecodeParam,
        stride: fn(usize) -> DecodeParam,
    ) -> Result<Rows, Error> {
        let (vector, dtype) = (config.vector(), config.dtype);
        let pointer = self.pointer(param, name, 16);
        let step = [0, MAX_STEP, vector];
        let strides = [
            self.symbol(stride(0), &format!("{name}_query"), step)?,
            self.symbol(stride(1), &format!("{name}_head"), step)?,
        ];
        let batch = self.wide(stride(2), &format!("{name}_batch"), MAX_STRIDE, vector);
        Ok(Rows { pointer, dtype, strides, batch })
    }

    /// K or V, whose strides have these meanings.
    fn keys(
        &mut self,
        config: &DecodeConfig,
        name: &str,
        param: DecodeParam,
        stride: fn(usize) -> DecodeParam,
    ) -> Result<Keys, Error> {
        let vector = config.cache_vector();
        let pointer = self.pointer(param, name, 16);
        let step = self.symbol(stride(0), &format!("{name}_key"), [0, MAX_STEP, vector])?;
        let head = self.wide(stride(1), &format!("{name}_head"), MAX_STRIDE, vector);
        let (outer, most) =
            if config.page.is_some() { ("page", MAX_PAGE_STRIDE) } else { ("batch", MAX_STRIDE) };
        let outer = self.wide(stride(2), &format!("{name}_{outer}"), most, vector);
        Ok(Keys { pointer, step, head, outer })
    }
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    #[track_caller]
    pub(super) fn new(b: &mut Builder, config: &'a DecodeConfig, pass: Pass) -> Result<Interface<'a>, Error> {
        use DecodeParam as P;
        let features = config.features;
        let attends = pass == Pass::Attend;
        let mut d = Declared { b, params: Vec::new() };
        let q = if attends { Some(d.rows(config, "q", P::Q, P::QStride)?) } else { None };
        let o = d.rows(config, "o", P::O, P::OStride)?;
        let mut cache = Vec::new();
        if attends {
            cache.push(d.keys(config, "k", P::K, P::KStride)?);
            cache.push(d.keys(config, "v", P::V, P::VStride)?);
        }
        // The scale of K is one of scores, which both kernels scale, except with a cap.
        let scales_scores = features.scales && (attends || !features.softcap);
        let scales = [
            scales_scores.then(|| d.pointer(P::KScale, "k_scale", 4)),
            (attends && features.scales).then(|| d.pointer(P::VScale, "v_scale", 4)),
        ];
        let columns = if features.padded {
            let vector = config.vector().max(config.cache_vector());
            d.symbol(P::HeadDim, "head_dim", [1, config.head_dim, vector])?
        } else {
            Int::fixed(config.head_dim)
        };
        let queries = d.symbol(P::Queries, "queries", [1, MAX_HEADS, 1])?;
        let (mut group, mut tiles) = (Int::ONE, [Expr::from(1), Expr::from(1)]);
        if attends || scales_scores {
            group = d.symbol(P::Group, "group", [1, MAX_HEADS, 1])?;
        }
        if attends {
            let along_heads = d.symbol(P::HeadTiles, "head_tiles", [1, MAX_HEADS, 1])?;
            let all = d.symbol(P::RowTiles, "row_tiles", [1, MAX_HEADS, 1])?;
            tiles = [along_heads, all].map(|tiles| Expr::from_int(&tiles));
        }
        let lengths = d.pointer(P::Lengths, "lengths", 4);
        let capacity = d.number(P::Capacity, "capacity", MAX_KEYS);
        let table = (attends && config.page.is_some()).then(|| Table {
            pointer: d.pointer(P::Table, "table", 4),
            stride: d.number(P::TableStride, "table_stride", MAX_KEYS),
            last: d.number(P::LastPage, "last_page", MAX_PAGES - 1),
        });
        let scale = d.scalar(P::Scale, "scale")?;
        let inner_scale =
            if attends && features.softcap { Some(d.scalar(P::InnerScale, "inner_scale")?) } else { None };
        let left = features.left.then(|| d.number(P::Left, "left", MAX_KEYS));
        let scale_stride = match scales_scores || scales[1].is_some() {
            true => d.number(P::ScaleStride, "scale_stride", 1),
            false => Expr::from(0),
        };
        let lse = if features.lse {
            let pointer = d.pointer(P::Lse, "lse", 4);
            let head = d.symbol(P::LseStride(0), "lse_head", [0, MAX_STEP, 1])?;
            Some((pointer, head, d.wide(P::LseStride(1), "lse_batch", MAX_STRIDE, 1)))
        } else {
            None
        };
        let parts = if features.parts {
            let most = d.number(P::Parts, "parts", MAX_PARTS);
            let least = d.symbol(P::LeastTiles, "least_tiles", [1, MAX_TILES, 1])?;
            let least = Expr::from_int(&least);
            let rows = d.symbol(P::PartRows, "part_rows", [1, u32::MAX.into(), 1])?;
            let partials = d.pointer(P::Partials, "partials", 16);
            Some(Parts {
                most,
                least,
                rows,
                partials,
                totals: d.pointer(P::PartialTotals, "partial_totals", 8),
            })
        } else {
            None
        };
        let partitions = if attends { config.describe()? } else { Vec::new() };
        Ok(Interface {
            params: d.params,
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
        DecodeKernel { kernel, params: self.params, partitions: self.partitions }
    }
}
