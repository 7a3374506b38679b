//! The parameters of a copy kernel, and the tensors that they describe.

use girih_layout::{Int, Lay, Stride, Symbol};
use girih_tensor::{DType, Engine as _, Slice, Tensor};

use super::At;
use super::config::{CopyConfig, Extent, MAX_WALKED, Side};
use crate::builder::Builder;
use crate::engine::element_bytes;
use crate::params::{Generated, MAX_EXTENT, Params};
use crate::sizes::shape_tiler;
use crate::{Error, Expr, Gmem, Scalar};

/// The arguments of a launch of a copy kernel, in elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// The extent of each mode in the destination.
    pub extents: Vec<i64>,
    /// The strides of the modes in the destination, and in the source.
    pub strides: [Vec<i64>; 2],
    /// Where in each padded mode the source begins, and how much of it the source has.
    pub pads: Vec<Option<[i64; 2]>>,
    /// The bits of what is written where the source has nothing, repeated in 64 bits.
    pub fill: u64,
    /// The extent of the source along the mode of a gather.
    pub rows: i64,
}

impl Arguments {
    /// The size of a stride. Along a single position no stride is used, but the module states what the stride is a multiple of.
    fn stride(&self, side: usize, mode: usize, is_gather: bool) -> i64 {
        let stride = self.strides[side].get(mode).map_or(0, |stride| stride.abs());
        if self.extents[mode] == 1 && !(is_gather && side == 1) { 0 } else { stride }
    }

    /// Where the source begins along a mode, and its extent. A source that has nothing begins after the destination.
    fn pad(&self, mode: usize) -> [i64; 2] {
        let pad = self.pads.get(mode).copied().flatten();
        pad.filter(|[_, extent]| *extent > 0).unwrap_or([MAX_EXTENT; 2])
    }
}

/// A generated copy kernel. Its memory is `dst`, `src` and `index`.
pub type CopyKernel = Generated<Arguments>;

/// The tensor at the source or at the destination.
#[derive(Clone)]
pub(super) struct Array {
    pub(super) pointer: Expr,
    /// The stride of each mode; of a mode within a run that of the run.
    pub(super) strides: Vec<Int>,
    /// The extent of each mode.
    pub(super) extents: Vec<Int>,
    /// Where in the destination each mode begins, if it is padded.
    pub(super) lows: Vec<Option<Int>>,
}

/// The indices of a gather.
pub(super) struct Indices {
    /// An index for each position of the mode.
    pub(super) list: Tensor<Gmem>,
    /// The extent of the source.
    pub(super) rows: Expr,
}

/// The parameters as the kernel sees them.
pub(super) struct Interface {
    pub(super) params: Params<Arguments>,
    /// The number of tiles, of a kernel whose blocks go on with other tiles.
    pub(super) tiles: Option<Expr>,
    pub(super) dst: Array,
    pub(super) src: Array,
    /// The value that is written outside of the source, if a mode is padded.
    pub(super) fill: Option<Scalar>,
    pub(super) indices: Option<Indices>,
}

impl Interface {
    pub(super) fn declare(b: &mut Builder, config: &CopyConfig) -> Result<Interface, Error> {
        let element = element_bytes("dtype", config.dtype)?;
        let mut params = Params::<Arguments>::default();
        let [dst, src] = [("dst", &config.dst), ("src", &config.src)]
            .map(|(name, side)| params.pointer(b, name, element * side.vector));
        let mut extents = Vec::new();
        for (number, mode) in config.modes.iter().enumerate() {
            extents.push(match mode.extent {
                Extent::Known(extent) => Int::fixed(extent),
                Extent::Multiple(of) => {
                    let facts = |n: Symbol| n.at_least(1).at_most(MAX_EXTENT).divisible_by(of);
                    Int::symbol(params.symbol(b, format!("n{number}"), facts, move |a| a.extents[number])?)
                }
            });
        }
        let is_gather = config.gather.is_some();
        let mut strides = |name: &str, number: usize, side: &Side| -> Result<Vec<Int>, Error> {
            let mut strides = vec![Int::ONE; config.modes.len()];
            for &mode in &side.order[side.run..] {
                if config.modes[mode].extent != Extent::Known(1) {
                    let facts = |s: Symbol| s.divisible_by(side.vector);
                    let value = move |a: &Arguments| a.stride(number, mode, is_gather);
                    let size = Int::symbol(params.symbol(b, format!("{name}{mode}"), facts, value)?);
                    let backwards = side.backwards.contains(&mode);
                    strides[mode] = if backwards { size.mul(Int::fixed(-1))? } else { size };
                }
            }
            Ok(strides)
        };
        let (of_dst, of_src) = (strides("dst", 0, &config.dst)?, strides("src", 1, &config.src)?);
        let (mut inner, mut lows) = (extents.clone(), vec![None; extents.len()]);
        for (number, mode) in config.modes.iter().enumerate() {
            let Some(of) = mode.pad else { continue };
            let facts = |n: Symbol| n.at_most(MAX_EXTENT).divisible_by(of);
            let (name, least) = (format!("m{number}"), |m| facts(m).at_least(1));
            inner[number] = Int::symbol(params.symbol(b, name, least, move |a| a.pad(number)[1])?);
            let low = params.symbol(b, format!("low{number}"), facts, move |a| a.pad(number)[0])?;
            lows[number] = Some(Int::symbol(low));
        }
        let mut fill = None;
        if config.is_padded() {
            let dtype = if element == 8 { DType::U64 } else { DType::U32 };
            fill = Some(params.bits(b, "fill", dtype, |a| a.fill)?);
        }
        let mut indices = None;
        if let Some(gather) = config.gather {
            let pointer = params.pointer(b, "index", element_bytes("index", gather.index)?);
            let layout = Lay::leaf(extents[gather.mode], Stride::Int(Int::ONE))?;
            let wide = gather.index == DType::S64;
            let most = if gather.index == DType::S32 { 1 << 31 } else { u32::MAX.into() };
            let rows = params.symbol(b, "rows", |n| n.at_least(1).at_most(most), |a| a.rows)?;
            let rows = Expr::from_int(&Int::symbol(rows));
            // As a number without sign, an index below 0 is none of the source's positions either.
            let list = Gmem::bounded(pointer, if wide { DType::U64 } else { DType::U32 }, &layout)?;
            indices = Some(Indices { list, rows });
        }
        let tiles = config.walk.persistent.then(|| {
            let config = config.clone();
            let tiles = move |a: &Arguments| config.tiles(&a.extents).unwrap_or(i64::MAX);
            params.number(b, "tiles", MAX_WALKED, tiles)
        });
        let dst = Array { pointer: dst, strides: of_dst, lows: vec![None; extents.len()], extents };
        let src = Array { pointer: src, strides: of_src, lows, extents: inner };
        Ok(Interface { params, tiles, dst, src, fill, indices })
    }

    /// How many tiles there are along a mode.
    pub(super) fn count(&self, config: &CopyConfig, mode: usize) -> Result<Expr, Error> {
        Ok(Expr::from_int(&self.dst.extents[mode].ceil_div(Int::fixed(config.modes[mode].tile))?))
    }

    /// The extent of a mode.
    pub(super) fn extent(&self, mode: usize) -> Expr {
        Expr::from_int(&self.dst.extents[mode])
    }

    /// The addresses at which a tile begins in the destination and in the source.
    pub(super) fn lines(&self, config: &CopyConfig, at: &At) -> Result<[Expr; 2], Error> {
        let element = element_bytes("dtype", config.dtype)?;
        Ok([&self.dst, &self.src].map(|array| {
            let offset =
                |mode: usize| &(&at[mode] * config.modes[mode].tile) * &Expr::from_int(&array.strides[mode]);
            let offset = (0..at.len()).fold(Expr::from(0), |sum, mode| &sum + &offset(mode));
            &array.pointer + &(&offset * element)
        }))
    }

    /// The tile at a coordinate in the destination.
    pub(super) fn target(&self, config: &CopyConfig, at: &At) -> Result<Tensor<Gmem>, Error> {
        self.tile(config, &config.dst, &self.dst, at)
    }

    /// The tile at a coordinate in the source.
    pub(super) fn source(&self, config: &CopyConfig, at: &At) -> Result<Tensor<Gmem>, Error> {
        self.tile(config, &config.src, &self.src, at)
    }

    /// The tile at a coordinate, with a mode for each group of the side that has more than one element of the tile or is padded.
    pub(super) fn tile(
        &self,
        config: &CopyConfig,
        side: &Side,
        array: &Array,
        at: &At,
    ) -> Result<Tensor<Gmem>, Error> {
        let element = element_bytes("dtype", config.dtype)?;
        let mut pointer = array.pointer.clone();
        let (mut extents, mut strides, mut tile, mut coordinate) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut lows = Vec::new();
        for group in side.groups() {
            let last = group[group.len() - 1];
            let elements: i64 = group.iter().map(|&mode| config.modes[mode].tile).product();
            if elements == 1 && config.modes[last].pad.is_none() {
                pointer = &pointer + &(&(&at[last] * &Expr::from_int(&array.strides[last])) * element);
                continue;
            }
            let extent = group.iter().try_fold(Int::ONE, |all, &mode| all.mul(array.extents[mode]))?;
            let within = elements / config.modes[last].tile;
            if let Some(low) = array.lows[last] {
                lows.push((&Expr::from_int(&low) * -within, extents.len()));
            }
            extents.push(extent);
            strides.push(array.strides[last]);
            tile.push(elements);
            coordinate.push(Slice::At(at[last].clone()));
        }
        if tile.is_empty() {
            (extents, strides) = (vec![Int::ONE], vec![Int::ONE]);
            (tile, coordinate) = (vec![1], vec![Slice::At(Expr::from(0))]);
        }
        let layout = Lay::strided(extents, strides.into_iter().map(Stride::Int))?;
        // The positions at which indices stand are coordinates.
        let whole = match config.is_ragged() || !lows.is_empty() || config.gather.is_some() {
            true => Gmem::bounded(pointer, config.dtype, &layout)?,
            false => Tensor::new(Gmem::new(pointer, config.dtype), layout),
        };
        let tile = whole.local_tile(&shape_tiler(&tile)?, &coordinate)?;
        let low = |(low, mode)| Ok::<_, Error>((low, whole.layout().mode(mode)?.flat_leaf(0).1));
        let steps = lows.into_iter().map(low).collect::<Result<Vec<_>, _>>()?;
        Ok(Tensor::new(tile.engine().advance(&steps)?, *tile.layout()))
    }
}
