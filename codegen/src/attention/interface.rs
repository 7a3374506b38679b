//! The parameters of an attention kernel, and the tensors that they describe.

use girih_layout::{Int, Lay, Swizzle, Symbol};
use girih_ptx::Special;
use girih_tensor::DType;

use super::config::{AttentionConfig, MAX_COLUMNS, Scores};
use super::tile::{ENTRY, MAX_LENGTH};
use crate::atom::Transfer;
use crate::builder::{Builder, Cond};
use crate::params::{Generated, MAX_EXTENT, MAX_STRIDE, Params};
use crate::{Error, Expr, Kernel, Scalar, TmaCopy};

/// One of the four tensors, (Row,HeadDim,Head,Batch): rows are queries in Q and O, keys in K and V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tensor4 {
    /// Queries.
    Q,
    /// Keys.
    K,
    /// Values.
    V,
    /// The result.
    O,
}

impl Tensor4 {
    /// All four.
    pub const ALL: [Tensor4; 4] = [Tensor4::Q, Tensor4::K, Tensor4::V, Tensor4::O];

    /// The name of the tensor's parameter.
    pub const fn name(self) -> &'static str {
        ["q", "k", "v", "o"][self as usize]
    }
}

/// The arguments of a launch of an attention kernel, in elements.
///
/// Extents are those of (Row,HeadDim,Head,Batch). A stride of a mode of one element does not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// The extents of Q, K, V and O.
    pub extents: [[i64; 4]; 4],
    /// Their strides of rows, heads and batches; columns follow each other.
    pub strides: [[i64; 3]; 4],
    /// The number of entries of the table of tiles ([`super::QueryTile`]).
    pub entries: i64,
    /// How scores become exponents.
    pub scores: Scores,
    /// How many keys before and after the diagonal a query sees, each at most [`super::MAX_LENGTH`].
    pub window: [i64; 2],
    /// The strides of heads and batches of the logsumexps, f32, to the base e. Rows follow each other. A row that sees no
    /// key has its sink, or negative infinity.
    pub lse: [i64; 2],
    /// The strides of queries, heads and batches of the bias, (Query,Key,Head,Batch), 0 where all share it. Keys follow each other. Queries and keys are
    /// counted in their sequence.
    pub bias: [i64; 3],
}

impl Arguments {
    /// The modes with a stride: rows, heads and batches.
    fn extents_of(&self, tensor: Tensor4) -> [i64; 3] {
        let [rows, _, heads, batches] = self.extents[tensor as usize];
        [rows, heads, batches]
    }

    /// A stride, 0 where no step is made, so that it is a multiple of what the kernel copies at once.
    fn stride(&self, tensor: Tensor4, mode: usize) -> i64 {
        if self.extents_of(tensor)[mode] > 1 { self.strides[tensor as usize][mode] } else { 0 }
    }

    /// An extent in a tensor map, where one row stands for a tensor without rows.
    fn extent_of_map(&self, tensor: Tensor4, mode: usize) -> i64 {
        let extents = self.extents[tensor as usize];
        if extents[0] == 0 && mode != 1 { 1 } else { extents[mode] }
    }

    /// A stride in a tensor map, which takes no odd stride, also where no step is made.
    fn stride_of_map(&self, tensor: Tensor4, mode: usize, line: i64) -> i64 {
        if self.extent_of_map(tensor, [0, 2, 3][mode]) == 1 {
            line
        } else {
            self.strides[tensor as usize][mode]
        }
    }
}

/// A generated attention kernel, and what its launches need to know. Its memory is `q`, `k`, `v` and `o`; `table`; `lse`; `bias`; and `sinks`, f32, a logit
/// of each query head.
pub type AttentionKernel = Generated<Arguments>;

/// The parameters of the kernel that is being written.
pub(super) struct Interface<'a> {
    pub config: &'a AttentionConfig,
    params: Params<Arguments>,
    /// The addresses of tensors or of their maps.
    pub places: [Expr; 4],
    /// The strides of rows, heads and batches of tensors that are taken by their addresses.
    pub strides: [Option<Pitches>; 4],
    /// The columns of Q and K, and of V and O, that are taken by their addresses.
    columns: [Option<Symbol>; 2],
    /// The first column of V and O that the block computes, if blocks share them: the number along the second axis of the grid times the columns of a tile.
    first_value: Option<Expr>,
    pub table: Expr,
    pub entries: Expr,
    pub scale: Scalar,
    pub left: Option<Expr>,
    pub right: Option<Expr>,
    pub lse: Option<Lse>,
    /// The factor that makes exponents of the cap's tanh of scores.
    pub inner_scale: Option<Scalar>,
    pub bias: Option<Bias>,
    /// The address of the sinks.
    pub sinks: Option<Expr>,
    pub partitions: Vec<(&'static str, String)>,
}

/// Where the logsumexps are stored: the address, and the strides of heads and batches.
pub(super) struct Lse {
    pub address: Expr,
    pub strides: [Expr; 2],
}

/// The additive bias of scores.
pub(super) struct Bias {
    pub address: Expr,
    pub dtype: DType,
    pub strides: Pitches,
    pub scale: Scalar,
}

/// The elements from one place of a mode to the next.
pub(super) struct Pitches {
    pub rows: Symbol,
    pub heads: Expr,
    pub batches: Expr,
}

impl Pitches {
    /// Declares them as parameters, multiples of `vector`.
    #[track_caller]
    fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        name: &str,
        vector: i64,
        value: impl Fn(&Arguments, usize) -> i64 + Copy + Send + Sync + 'static,
    ) -> Result<Pitches, Error> {
        let facts = |rows: Symbol| rows.at_most(MAX_EXTENT).divisible_by(vector);
        let rows = params.symbol(b, format!("{name}_stride_0"), facts, move |a| value(a, 0))?;
        let mut wide = |number: usize, mode: usize| {
            params.wide(b, &format!("{name}_stride_{mode}"), (MAX_STRIDE, vector), move |a| value(a, number))
        };
        Ok(Pitches { rows, heads: wide(1, 2), batches: wide(2, 3) })
    }
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    #[track_caller]
    pub(super) fn new(b: &mut Builder, config: &'a AttentionConfig) -> Result<Interface<'a>, Error> {
        let (mut params, features) = (Params::<Arguments>::default(), config.features);
        let mut declare = |tensor: Tensor4| -> Result<(Expr, Option<Pitches>), Error> {
            let (name, vector) = (tensor.name(), config.vector());
            if config.is_mapped(tensor) {
                return Ok((params.tensor_map(b, &format!("map_{name}"), name), None));
            }
            let place = params.pointer(b, name, vector * config.dtype.bytes());
            let stride = move |a: &Arguments, mode| a.stride(tensor, mode);
            Ok((place, Some(Pitches::new(&mut params, b, name, vector, stride)?)))
        };
        let [(q, of_q), (k, of_k), (v, of_v), (o, of_o)] =
            [declare(Tensor4::Q)?, declare(Tensor4::K)?, declare(Tensor4::V)?, declare(Tensor4::O)?];
        let (places, strides) = ([q, k, v, o], [of_q, of_k, of_v, of_o]);
        let mut columns = |name: &'static str, tensor: Tensor4| -> Result<Option<Symbol>, Error> {
            let most = config.most_columns(tensor);
            let facts = |s: Symbol| s.at_least(1).at_most(most).divisible_by(config.vector());
            params.symbol(b, name, facts, move |a| a.extents[tensor as usize][1]).map(Some)
        };
        let are_given = strides.iter().any(Option::is_some);
        let of_keys = if are_given { columns("head_dim", Tensor4::K)? } else { None };
        let of_values = match config.value_dim {
            Some(_) if are_given => columns("value_dim", Tensor4::V)?,
            _ => of_keys,
        };
        let columns = [of_keys, of_values];
        let table = params.pointer(b, "table", ENTRY);
        let entries = params.number(b, "entries", MAX_LENGTH, |a| a.entries);
        let has_bias = features.bias.is_some();
        let scale = params.float(b, "scale", move |a| a.scores.exponent(has_bias))?;
        let left = features.left.then(|| params.number(b, "left", MAX_LENGTH, |a| a.window[0]));
        let right = features.right.then(|| params.number(b, "right", MAX_LENGTH, |a| a.window[1]));
        let lse = features.lse.then(|| Lse {
            address: params.pointer(b, "lse", 4),
            strides: [
                params.wide(b, "lse_stride_2", (MAX_STRIDE, 1), |a| a.lse[0]),
                params.wide(b, "lse_stride_3", (MAX_STRIDE, 1), |a| a.lse[1]),
            ],
        });
        let inner_scale = match features.softcap {
            true => Some(params.float(b, "inner_scale", |a| a.scores.inner())?),
            false => None,
        };
        let bias = match features.bias {
            Some(dtype) => Some(Bias {
                address: params.pointer(b, "bias", dtype.bytes()),
                dtype,
                strides: Pitches::new(&mut params, b, "bias", 1, |a, mode| a.bias[mode])?,
                scale: params.float(b, "bias_scale", |a| a.scores.outer())?,
            }),
            None => None,
        };
        let sinks = features.sinks.then(|| params.pointer(b, "sinks", 4));
        let first_value = match config.value_dim {
            Some(columns) => {
                let block = b.special(Special::CtaidY);
                Some(&b.bounded(&block, MAX_COLUMNS / columns - 1)? * columns)
            }
            None => None,
        };
        let partitions = Vec::new();
        Ok(Interface {
            config,
            params,
            places,
            strides,
            columns,
            first_value,
            table,
            entries,
            scale,
            left,
            right,
            lse,
            inner_scale,
            bias,
            sinks,
            partitions,
        })
    }

    /// The columns of a tensor that is taken by its address.
    pub(super) fn columns(&self, tensor: Tensor4) -> Option<Symbol> {
        self.columns[usize::from(matches!(tensor, Tensor4::V | Tensor4::O))]
    }

    /// The first column of a tensor that the block loads or stores.
    pub(super) fn first_column(&self, tensor: Tensor4) -> Expr {
        match (tensor, &self.first_value) {
            (Tensor4::V | Tensor4::O, Some(first)) => first.clone(),
            _ => Expr::from(0),
        }
    }

    /// Whether the block writes the logsumexps: the first of those that share the columns of V.
    pub(super) fn writes_lse(&self) -> Cond {
        self.first_value.as_ref().map_or(Cond::Always, |first| Cond::less(first, &Expr::from(1)))
    }

    /// The TMA copy of tiles of a tensor that are stored in shared memory as `swizzle` after `shared`, (Rows,HeadDim), says. The host makes the tensor
    /// map of it.
    pub(super) fn tma_copy(
        &mut self,
        b: &mut Builder,
        tensor: Tensor4,
        transfer: Transfer,
        shared: &Lay,
        swizzle: Swizzle,
    ) -> Result<TmaCopy, Error> {
        let line = 128 / i64::from(self.config.dtype.bits());
        let mut extent = |what, mode, most| {
            let facts = |s: Symbol| s.at_least(1).at_most(most);
            let symbol = self.params.of_maps(b, what, facts, move |a| a.extent_of_map(tensor, mode));
            symbol.map(Int::symbol)
        };
        let extents = [
            extent("rows", 0, MAX_LENGTH)?,
            extent("head dim", 1, self.config.most_columns(tensor))?,
            extent("heads", 2, 1 << 16)?,
            extent("batches", 3, MAX_LENGTH)?,
        ];
        let mut stride = |what, mode, most| {
            let facts = |s: Symbol| s.at_least(1).at_most(most).divisible_by(line);
            let symbol = self.params.of_maps(b, what, facts, move |a| a.stride_of_map(tensor, mode, line));
            symbol.map(Int::symbol)
        };
        let rows = stride("stride of rows", 0, MAX_EXTENT)?;
        let (heads, batches) =
            (stride("stride of heads", 1, MAX_STRIDE)?, stride("stride of batches", 2, MAX_STRIDE)?);
        let global = Lay::strided(extents, [rows, Int::fixed(1), heads, batches])?; // (Row,HeadDim,Head,Batch)
        let shared = shared.append_to(4, &Lay::UNIT)?; // (Rows,HeadDim,1,1)
        let copy = TmaCopy::new(transfer, self.config.dtype, &global, &shared, swizzle)?;
        self.params.keep(tensor.name(), &copy);
        Ok(copy)
    }

    /// The finished kernel.
    pub(super) fn into_kernel(self, kernel: Kernel) -> AttentionKernel {
        Generated { kernel, params: self.params, partitions: self.partitions }
    }
}
