//! The parameters of an attention kernel, and the tensors that they describe.

use std::collections::BTreeMap;

use girih_layout::{Int, Lay, Swizzle, Symbol};
use girih_ptx::Tiled;

use super::config::{AttentionConfig, refuse};
use super::tile::{ENTRY, MAX_LENGTH};
use crate::atom::Transfer;
use crate::builder::Builder;
use crate::gemm::{MAX_EXTENT, MAX_STRIDE};
use crate::{Error, Expr, Kernel, Scalar, TmaCopy};
use girih_tensor::DType;

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

/// The meaning of a parameter of an attention kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttentionParam {
    /// The 64-bit address of a tensor.
    Pointer(Tensor4),
    /// The tensor map of a tensor ([`AttentionKernel::map`]).
    Map(Tensor4),
    /// The elements from one place of a tensor's mode 0 (rows), 2 (heads) or 3 (batches) to the next, 32 bits for rows, else 64 bits.
    Stride(Tensor4, usize),
    /// The columns of the tensors, 32 bits, at most [`AttentionConfig::head_dim`]: for kernels that take tensors by their addresses.
    HeadDim,
    /// The 64-bit address of the table of tiles ([`super::QueryTile`]), a multiple of 32 bytes.
    Table,
    /// The number of entries of the table, 32 bits.
    Entries,
    /// The 64-bit address of the logsumexps, f32, to the base e. A row that sees no key has negative infinity.
    Lse,
    /// The elements from one place of mode 2 (heads) or 3 (batches) of these logarithms to the next, 64 bits. Rows follow each other.
    LseStride(usize),
    /// The 64-bit address of what is added to the scores, (Query,Key,Head,Batch), keys follow each other. Queries and keys are counted in their sequence.
    Bias,
    /// The elements from one place of its mode 0 (queries), 2 (heads) or 3 (batches) to the next, 32 bits for queries, else 64 bits, 0 where
    /// all share it.
    BiasStride(usize),
    /// What powers of two take as exponents: `Scale` times the score, f32, more than 0. It is log2(e) times the scale of the scores, or with a cap log2(e) times the
    /// cap. With a bias, which is added to scores that are scaled, it is log2(e).
    Scale,
    /// With a cap, 2 log2(e) times the scale of the scores divided by the cap, f32: the score becomes `1 - 2 / (1 + 2^(InnerScale * score))`, the
    /// tanh, before it is scaled.
    InnerScale,
    /// With a bias, what scores are multiplied by before it is added, f32: their scale, or the cap.
    BiasScale,
    /// How many keys before the diagonal a query sees, 32 bits, at most [`super::MAX_LENGTH`].
    Left,
    /// How many keys behind the diagonal a query sees, 32 bits, at most [`super::MAX_LENGTH`].
    Right,
}

/// A generated attention kernel, and what its launches need to know.
#[derive(Clone, Debug)]
pub struct AttentionKernel {
    /// The kernel [`AttentionConfig::name`].
    pub kernel: Kernel,
    /// The meaning of each of the kernel's parameters, in their order.
    pub params: Vec<AttentionParam>,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
    config: AttentionConfig,
    maps: BTreeMap<Tensor4, Mapped>,
}

impl AttentionKernel {
    /// The configuration.
    pub fn config(&self) -> &AttentionConfig {
        &self.config
    }

    /// The tensor map of a tensor without its address, for extents (Row,HeadDim,Head,Batch) and the strides of rows, heads and batches, all in
    /// elements; the columns follow each other. `None` for a tensor that the kernel takes by its address.
    ///
    /// # Errors
    /// [`Error::Config`] for what tensor maps do not take: extents below 1, strides that are no multiples of 16 bytes.
    pub fn map(&self, tensor: Tensor4, extents: [i64; 4], strides: [i64; 3]) -> Result<Option<Tiled>, Error> {
        let Some(Mapped { copy, extents: of_extents, strides: of_strides }) = self.maps.get(&tensor) else {
            return Ok(None);
        };
        let mut bound = copy.clone();
        let names = [
            "rows",
            "head dim",
            "heads",
            "batches",
            "stride of rows",
            "stride of heads",
            "stride of batches",
        ];
        let symbols = of_extents.iter().chain(of_strides).zip(extents.into_iter().chain(strides));
        for (what, (symbol, value)) in names.into_iter().zip(symbols) {
            let (line, most) = (symbol.divisor(), symbol.upper().unwrap_or(MAX_EXTENT));
            if !(1..=most).contains(&value) || value % line != 0 {
                return refuse(what, value, format!("multiples of {line} from 1 to {most} elements"));
            }
            bound = bound.bind(*symbol, value)?;
        }
        bound.tiled().map(Some)
    }
}

/// A TMA copy, and the symbols of its tensor.
#[derive(Clone, Debug)]
struct Mapped {
    copy: TmaCopy,
    extents: [Symbol; 4],
    strides: [Symbol; 3],
}

/// The parameters of the kernel that is being written.
pub(super) struct Interface<'a> {
    pub config: &'a AttentionConfig,
    params: Vec<AttentionParam>,
    /// The addresses of tensors or of their maps.
    pub places: [Expr; 4],
    /// The strides of rows, heads and batches of tensors that are taken by their addresses.
    pub strides: [Option<Pitches>; 4],
    /// The columns of tensors that are taken by their addresses.
    pub columns: Option<Symbol>,
    pub table: Expr,
    pub entries: Expr,
    pub scale: Scalar,
    pub left: Option<Expr>,
    pub right: Option<Expr>,
    pub lse: Option<Lse>,
    /// What scores are multiplied by to become exponents of the cap's tanh.
    pub inner_scale: Option<Scalar>,
    pub bias: Option<Bias>,
    pub partitions: Vec<(&'static str, String)>,
    maps: BTreeMap<Tensor4, Mapped>,
}

/// Where the logsumexps are stored: the address, and the strides of heads and batches.
pub(super) struct Lse {
    pub address: Expr,
    pub strides: [Expr; 2],
}

/// What is added to scores.
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
    /// Declares them as parameters, multiples of `vector`; `param` says of which mode each is.
    #[track_caller]
    fn new(
        b: &mut Builder,
        name: &str,
        vector: i64,
        params: &mut Vec<AttentionParam>,
        param: impl Fn(usize) -> AttentionParam,
    ) -> Result<Pitches, Error> {
        params.extend([0, 2, 3].map(param));
        let rows = b.symbol(&format!("{name}_stride_0"), |s| s.at_most(MAX_EXTENT).divisible_by(vector))?;
        let mut wide = |mode: usize| b.wide_number(&format!("{name}_stride_{mode}"), MAX_STRIDE, vector);
        Ok(Pitches { rows, heads: wide(2), batches: wide(3) })
    }
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    #[track_caller]
    pub(super) fn new(b: &mut Builder, config: &'a AttentionConfig) -> Result<Interface<'a>, Error> {
        let (mut params, mut places) = (Vec::new(), Vec::new());
        let mut strides = [const { None }; 4];
        for tensor in Tensor4::ALL {
            if config.is_mapped(tensor) {
                params.push(AttentionParam::Map(tensor));
                places.push(b.tensor_map(&format!("map_{}", tensor.name())));
                continue;
            }
            let vector = config.vector();
            params.push(AttentionParam::Pointer(tensor));
            places.push(b.pointer(tensor.name(), vector * config.dtype.bytes()));
            let param = |mode| AttentionParam::Stride(tensor, mode);
            strides[tensor as usize] = Some(Pitches::new(b, tensor.name(), vector, &mut params, param)?);
        }
        let columns = if Tensor4::ALL.into_iter().all(|tensor| config.is_mapped(tensor)) {
            None
        } else {
            params.push(AttentionParam::HeadDim);
            let facts = |s: Symbol| s.at_least(1).at_most(config.head_dim).divisible_by(config.vector());
            Some(b.symbol("head_dim", facts)?)
        };
        params.extend([AttentionParam::Table, AttentionParam::Entries]);
        let (table, entries) = (b.pointer("table", ENTRY), b.number("entries", MAX_LENGTH));
        params.push(AttentionParam::Scale);
        let scale = b.scalar_parameter("scale", DType::F32)?;
        let mut window = |wanted: bool, param, name: &str| {
            wanted.then(|| {
                params.push(param);
                b.number(name, MAX_LENGTH)
            })
        };
        let left = window(config.features.left, AttentionParam::Left, "left");
        let right = window(config.features.right, AttentionParam::Right, "right");
        let lse = config.features.lse.then(|| {
            params.push(AttentionParam::Lse);
            let address = b.pointer("lse", 4);
            let strides = [2, 3].map(|mode| {
                params.push(AttentionParam::LseStride(mode));
                b.wide_number(&format!("lse_stride_{mode}"), MAX_STRIDE, 1)
            });
            Lse { address, strides }
        });
        let inner_scale = if config.features.softcap {
            params.push(AttentionParam::InnerScale);
            Some(b.scalar_parameter("inner_scale", DType::F32)?)
        } else {
            None
        };
        let bias = match config.features.bias {
            None => None,
            Some(dtype) => {
                params.push(AttentionParam::Bias);
                let address = b.pointer("bias", dtype.bytes());
                let strides = Pitches::new(b, "bias", 1, &mut params, AttentionParam::BiasStride)?;
                params.push(AttentionParam::BiasScale);
                let scale = b.scalar_parameter("bias_scale", DType::F32)?;
                Some(Bias { address, dtype, strides, scale })
            }
        };
        let [q, k, v, o] = [0, 1, 2, 3].map(|i: usize| places[i].clone());
        Ok(Interface {
            config,
            params,
            places: [q, k, v, o],
            strides,
            columns,
            table,
            entries,
            scale,
            left,
            right,
            lse,
            inner_scale,
            bias,
            partitions: Vec::new(),
            maps: BTreeMap::new(),
        })
    }

    /// The TMA copy of tiles of a tensor that are in shared memory as `swizzle` after `shared`, (Rows,HeadDim), says. The host makes the tensor
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
        let mut symbol =
            |most: i64, divisor: i64| b.unbound_symbol(|s| s.at_least(1).at_most(most).divisible_by(divisor));
        let extents = [
            symbol(MAX_LENGTH, 1)?,
            symbol(self.config.head_dim, 1)?,
            symbol(1 << 16, 1)?,
            symbol(MAX_LENGTH, 1)?,
        ];
        let strides = [symbol(MAX_EXTENT, line)?, symbol(MAX_STRIDE, line)?, symbol(MAX_STRIDE, line)?];
        let [rows, heads, batches] = strides.map(Int::symbol);
        let global = Lay::strided(extents.map(Int::symbol), [rows, Int::fixed(1), heads, batches])?; // (Row,HeadDim,Head,Batch)
        let shared = shared.append_to(4, &Lay::UNIT)?; // (Rows,HeadDim,1,1)
        let copy = TmaCopy::new(transfer, self.config.dtype, &global, &shared, swizzle)?;
        self.maps.insert(tensor, Mapped { copy: copy.clone(), extents, strides });
        Ok(copy)
    }

    /// The finished kernel.
    pub(super) fn into_kernel(self, kernel: Kernel) -> Result<AttentionKernel, Error> {
        let Interface { config, params, partitions, maps, .. } = self;
        Ok(AttentionKernel { kernel, params, partitions, config: *config, maps })
    }
}
