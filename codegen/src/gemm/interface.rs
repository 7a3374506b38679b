//! The parameters of a GEMM kernel, and the tensors that they describe.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
use girih_ptx::Tiled;
use girih_tensor::{Slice, Tensor};

use super::batch::{ADDRESS, Batch, Lie, Products, Tensors};
use super::config::Store;
use super::epilogue::{AtTile, Epilogue, Given, Input, Mapped, Output, Part, Reducing, for_pairs};
use super::mainloop::{Sums, k_tiles};
use super::scales::{Scaled, Scales};
use super::schedule::{
    self, Groups, Order, Pieces, Place, SEMAPHORE, Schedule, Stream, Team, Tile, Walk, Work, Workspace,
};
use super::{GemmConfig, MAX_TILES};
use crate::atom::Major;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::sizes::shape_tiler;
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Counting, Error, Expr, Gmem, Kernel, TmaCopy};

/// The largest M, N, K or pitch in elements: index arithmetic on them stays in 32 bits.
pub const MAX_EXTENT: i64 = 1 << 30;

/// The meaning of a parameter of a GEMM kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    /// The 64-bit address of A, B or C.
    Pointer(Operand),
    /// The 64-bit address of the 64-bit addresses of the matrices A, B or C of all products ([`Batch::Pointers`]).
    Pointers(Operand),
    /// The tensor map of A, B or C ([`GemmKernel::map`]).
    Map(Operand),
    /// The tensor map of the scales of A or B ([`GemmKernel::map_of_scales`]).
    Scales(Operand),
    /// The extent of a mode of M, N, K in elements, 32 bits.
    Extent(usize),
    /// The pitch of A, B or C in elements, 32 bits.
    Pitch(Operand),
    /// The 64-bit address of the order of tiles ([`GemmKernel::order`]): the row and the column of each tile, two 32-bit values.
    Order,
    /// The number of tiles of all products together, or of groups the most that there may be, 32 bits.
    Tiles,
    /// The 64-bit address of where the groups begin along their mode of C, and of where the last one ends, 32 bits each.
    Offsets,
    /// The number of groups, 32 bits.
    Groups,
    /// The number of tiles of each product of a batch, which is that of the tiles in the order, 32 bits.
    TilesOfBatch,
    /// How many elements A, B or C of a product of a batch is behind that of the product before, 64 bits.
    BatchStride(Operand),
    /// The last A or B in the tensor map, 32 bits, 0 if all products of a batch have the same.
    LastOfBatch(Operand),
    /// The 64-bit address of the pieces of tiles that the blocks go through ([`Pieces::table`]), a multiple of 16 bytes.
    Pieces,
    /// The 64-bit address of the partial accumulators that blocks of the same tile pass to each other ([`GemmKernel::workspace`], [`Pieces::workspace`]).
    Workspace,
    /// The 64-bit address of the 32-bit semaphores, which are 0 before the first launch and after each launch.
    Semaphores,
    /// The address of a tensor that is an input of the epilogue, by the input's name, or the value of a scalar; of a matrix that is another one
    /// for each product of [`Batch::Pointers`], as [`Param::Pointers`].
    Input(String),
    /// The pitch of a matrix that is an input of the epilogue, in elements, 32 bits, by the input's name.
    InputPitch(String),
    /// The tensor map of a matrix that is an input of the epilogue and is read ahead, by the input's name ([`GemmKernel::map_of_input`]).
    InputMap(String),
    /// How many elements such a tensor of a product of a batch is behind that of the product before, 64 bits, by the input's name.
    InputBatchStride(String),
    /// The address of an output of the epilogue besides C, by its name.
    Output(String),
    /// How many elements such an output of a product of a batch is behind that of the product before, 64 bits, by its name.
    OutputBatchStride(String),
    /// The 64-bit address of what the tiles leave of an output, by its name ([`GemmKernel::reductions`]).
    Partials(String),
    /// The 64-bit address of the 32-bit semaphores of the tiles' lines, as [`Param::Semaphores`], by the output's name.
    Arrivals(String),
}

/// The most tiles of which pieces are made.
const MAX_WHOLE: i64 = 1 << 22;
/// Bytes of A and B that stay in the L2 cache of a device with tensor cores while blocks read them.
const CACHED: i64 = 24 << 20;
/// The blocks of a multistage mainloop that an SM may have room for.
const TOGETHER: u64 = 4;

/// The names of M, N, K and the pitches of A, B and C, as parameters and in errors.
const SIZES: [&str; 6] = ["m", "n", "k", "lda", "ldb", "ldc"];

/// A generated GEMM kernel, and what its launches need to know.
#[derive(Clone, Debug)]
pub struct GemmKernel {
    /// The kernel [`GemmConfig::name`].
    pub kernel: Kernel,
    /// The meaning of each of the kernel's parameters, in their order.
    pub params: Vec<Param>,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
    /// The inputs of the epilogue.
    pub inputs: Vec<Input>,
    /// The outputs of the epilogue besides C.
    pub outputs: Vec<Output>,
    /// The mode of the kernel's C along which each of the outputs has values.
    kept: Vec<Option<usize>>,
    tile: [i64; 3],
    /// The bytes of a sum, and those of an element of A.
    sum: i64,
    element: i64,
    cluster_tile: [i64; 2],
    multicast: i64,
    schedule: Schedule,
    batched: Batch,
    /// Of how many elements the origins of the tiles of groups are multiples.
    unit_of_groups: i64,
    loads_by_maps: bool,
    copies: BTreeMap<usize, TmaCopy>,
    scales: [Option<Scaled>; 2],
    /// The TMA copy of the input that is read ahead, and the input's pitch.
    ahead: Option<(TmaCopy, Symbol)>,
    symbols: [Symbol; 6],
    /// The extent and the stride of the mode of the batch in each tensor map.
    batch: BTreeMap<usize, [Symbol; 2]>,
}

impl GemmKernel {
    /// Rows and columns of tiles of an M x N problem. With a multicast, these are the tiles of clusters.
    ///
    /// # Errors
    /// [`Error::Config`] for more tiles than a grid, or an order of tiles, takes.
    pub fn tiles(&self, m: i64, n: i64) -> Result<[u32; 2], Error> {
        let tiles =
            |extent: i64, mode: usize| (extent.max(0) as u64).div_ceil(self.cluster_tile[mode] as u64) as i64;
        let (rows, columns) = (tiles(m, 0), tiles(n, 1));
        let (count, most) = (rows.saturating_mul(columns), self.most_tiles());
        if count > most {
            let [tile_m, tile_n] = self.cluster_tile;
            let value = format!("{count} of ({tile_m},{tile_n})");
            return Err(Error::Config { what: "tiles", value, accepted: format!("at most {most}") });
        }
        Ok([narrow("rows of tiles", rows)?, narrow("columns of tiles", columns)?])
    }

    /// The most tiles that a grid, or an order of tiles, takes.
    fn most_tiles(&self) -> i64 {
        match self.schedule {
            Schedule::Persistent { .. } => MAX_TILES,
            Schedule::StreamK { .. } => MAX_WHOLE,
            Schedule::Raster { .. } | Schedule::SplitK { .. } => {
                i64::from(i32::MAX) / self.schedule.parts()[0] / self.multicast
            }
        }
    }

    /// The tiles of an M x N problem in the order in which they share their operands best; a persistent kernel goes through this order.
    ///
    /// # Errors
    /// Those of [`GemmKernel::tiles`].
    pub fn order(&self, m: i64, n: i64) -> Result<Vec<[u32; 2]>, Error> {
        Ok(schedule::order(self.cluster_tile, self.tiles(m, n)?))
    }

    /// The tiles of all products of a batch of `l` problems of M x N, or the most that `l` groups may have that are M x N together.
    ///
    /// # Errors
    /// Those of [`GemmKernel::tiles`], for the tiles of all together.
    pub fn all_tiles(&self, [m, n, l]: [i64; 3]) -> Result<u32, Error> {
        let [mut rows, mut columns] = self.tiles(m, n)?.map(i64::from);
        let count = match self.batched {
            Batch::Single | Batch::Strided | Batch::Pointers => (rows * columns).saturating_mul(l),
            Batch::Grouped { mode } => {
                // The last tile of each group may have one row alone, and tiles may begin before the group.
                let (extent, tile) = ([m, n][mode], self.tile[mode]);
                let more = (tile + self.unit_of_groups - 2).saturating_mul(l);
                *[&mut rows, &mut columns][mode] = extent.saturating_add(more) / tile;
                rows.saturating_mul(columns)
            }
        };
        if count > self.most_tiles() {
            let (value, accepted) = (count.to_string(), format!("at most {}", self.most_tiles()));
            return Err(Error::Config { what: "tiles of all products", value, accepted });
        }
        narrow("tiles", count)
    }

    /// The blocks of the grid for `l` problems of M x N on a device with `multiprocessors` SMs.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn blocks(&self, mnl: [i64; 3], multiprocessors: u32) -> Result<u32, Error> {
        let tiles = u64::from(self.all_tiles(mnl)?);
        let clusters = match self.batched {
            Batch::Single | Batch::Strided | Batch::Pointers => {
                self.schedule.blocks(tiles, multiprocessors / self.multicast as u32)
            }
            // How many tiles there are is not known. Blocks of a multistage mainloop may share a multiprocessor.
            Batch::Grouped { .. } => {
                let together = if self.loads_by_maps { 1 } else { TOGETHER };
                tiles.min(u64::from(multiprocessors) * together)
            }
        };
        narrow("blocks", clusters as i64 * self.multicast)
    }

    /// The bytes of the accumulators and those of the semaphores in the workspace for `l` problems of M x N; both are 0 where each tile has one
    /// block or one cluster.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn workspace(&self, mnl: [i64; 3]) -> Result<[u64; 2], Error> {
        let all = u64::from(self.all_tiles(mnl)?);
        let [parts, cluster] = self.schedule.parts();
        let tiles = if parts > cluster { all } else { 0 };
        let sums = self.tile[0] * self.tile[1] / cluster * parts * self.sum;
        Ok([tiles * sums as u64, tiles * (cluster * SEMAPHORE) as u64])
    }

    /// The pieces of tiles of `l` problems of M x N x K that blocks go through on a device with `multiprocessors` SMs; `None` for
    /// another schedule than [`Schedule::StreamK`].
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`]; [`Error::Config`] for more tiles along a mode than a piece counts.
    pub fn pieces(&self, [m, n, k]: [i64; 3], l: i64, multiprocessors: u32) -> Result<Option<Pieces>, Error> {
        let Schedule::StreamK { alternate } = self.schedule else { return Ok(None) };
        self.all_tiles([m, n, l])?;
        let [tile_m, tile_n, tile_k] = self.tile;
        let along_k = ((k + tile_k - 1) / tile_k).max(1);
        let blocks = self.blocks([m, n, l], multiprocessors)?;
        // Blocks that run together have tiles that are a square of C, or less.
        let side = |extent: i64| extent.min((tile_m * tile_n * i64::from(blocks)).isqrt());
        let work = Work {
            order: &self.order(m, n)?,
            products: narrow("products", l)?,
            along_k: narrow("tiles along K", along_k)?,
            blocks,
            alternate,
            cached: (side(m) + side(n)) * k * self.element <= CACHED,
        };
        Pieces::new(&work, self.tiles(m, n)?, (tile_m * tile_n * self.sum) as u64).map(Some)
    }

    /// For each of the outputs besides C, the bytes of what the tiles leave and those of the semaphores, for `l` problems of M x N.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn reductions(&self, mnl: [i64; 3]) -> Result<Vec<[u64; 2]>, Error> {
        let ([m, n, l], all) = (mnl, u64::from(self.all_tiles(mnl)?));
        let [rows, columns] = self.tiles(m, n)?.map(u64::from);
        // Tiles as those that blocks store: the blocks of a cluster share a tile, or have tiles of their own.
        let [_, share] = self.schedule.parts().map(|parts| parts as u64);
        let stored = [self.multicast as u64, share];
        let extents = [self.tile[0], self.tile[1] / share as i64];
        let each = self.outputs.iter().zip(&self.kept).map(|(output, kept)| {
            let values = kept.map_or(1, |mode| extents[mode]) as u64 * u64::from(output.dtype.bits() / 8);
            let lines = kept.map_or(1, |mode| [rows, columns][mode] * stored[mode]);
            [all * stored[0] * stored[1] * values, lines * l as u64 * SEMAPHORE as u64]
        });
        Ok(each.collect())
    }

    /// The tensor map of A, B or C without its address, for extents M, N, K and the three pitches, in elements, and for the number of such
    /// matrices in a batch and the elements from one to the next; `None` for an operand that the kernel takes by its address.
    ///
    /// # Errors
    /// [`Error::Config`] for values that tensor maps do not take: extents below 1, or an N, a pitch or a stride that is no multiple of
    /// 16 bytes.
    pub fn map(
        &self,
        operand: Operand,
        mnk: [i64; 3],
        pitches: [i64; 3],
        batch: [i64; 2],
    ) -> Result<Option<Tiled>, Error> {
        let Some(copy) = self.copies.get(&(operand as usize)) else { return Ok(None) };
        let sizes = SIZES.into_iter().zip(self.symbols).zip([mnk, pitches].concat());
        let of_batch = self.batch.get(&(operand as usize)).into_iter().flatten().copied();
        let of_batch = ["matrices of a batch", "batch stride"].into_iter().zip(of_batch).zip(batch);
        bound(copy, sizes.chain(of_batch)).map(Some)
    }

    /// The tensor map of the input that the kernel reads ahead ([`Param::InputMap`]) without its address, for extents M, N, K and the input's
    /// pitch, in elements; `None` where it reads none ahead.
    ///
    /// # Errors
    /// As [`GemmKernel::map`].
    pub fn map_of_input(&self, mnk: [i64; 3], pitch: i64) -> Result<Option<Tiled>, Error> {
        let Some((copy, symbol)) = &self.ahead else { return Ok(None) };
        let sizes = SIZES.into_iter().zip(self.symbols).zip(mnk);
        bound(copy, sizes.chain([(("pitch of an input", *symbol), pitch)])).map(Some)
    }
}

/// The tensor map of a copy, with these values of symbols.
fn bound(
    copy: &TmaCopy,
    values: impl Iterator<Item = ((&'static str, Symbol), i64)>,
) -> Result<Tiled, Error> {
    let mut bound = copy.clone();
    for ((what, symbol), value) in values {
        let (line, most) = (symbol.divisor(), symbol.upper().unwrap_or(MAX_EXTENT));
        if !(1..=most).contains(&value) || value % line != 0 {
            let accepted = format!("multiples of {line} from 1 to {most} elements");
            return Err(Error::Config { what, value: value.to_string(), accepted });
        }
        bound = bound.bind(symbol, value)?;
    }
    bound.tiled()
}

impl GemmKernel {
    /// The tensor map of the scales of A or B without its address, for extents M, N, K and the number of elements from the scales of one
    /// group of K to those of the next; `None` for an operand without scales.
    ///
    /// # Errors
    /// [`Error::Config`] for values that tensor maps do not take: extents below 1, or a pitch that is no multiple of 16 bytes.
    pub fn map_of_scales(&self, operand: Operand, mnk: [i64; 3], pitch: i64) -> Result<Option<Tiled>, Error> {
        let scales = self.scales.get(operand as usize).and_then(Option::as_ref);
        scales.map_or(Ok(None), |scales| scales.map(operand.modes().map(|mode| mnk[mode]), pitch))
    }
}

/// The parameter that locates A, B or C.
pub(super) enum Locator {
    Pointer(Expr),
    /// The address of the addresses of all matrices.
    Pointers(Expr),
    Map(Expr),
}

/// The parameters of the kernel that is being written.
pub(super) struct Interface<'a> {
    pub(super) config: &'a GemmConfig,
    params: Vec<Param>,
    places: Vec<Locator>,
    /// M, N, K and the pitches of A, B and C.
    symbols: [Symbol; 6],
    walk: Walk,
    products: Option<Products>,
    workspace: Option<Workspace>,
    epilogue: &'a Epilogue,
    inputs: Vec<Given>,
    reducing: Vec<Reducing>,
    copies: BTreeMap<usize, TmaCopy>,
    scales: [Option<Scales>; 2],
    ahead: Option<(TmaCopy, Symbol)>,
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    pub(super) fn new(
        b: &mut Builder,
        config: &'a GemmConfig,
        epilogue: &'a Epilogue,
    ) -> Result<Interface<'a>, Error> {
        let mut params = Vec::new();
        let mut places = Vec::new();
        for (operand, name) in Operand::ALL.into_iter().zip(["a", "b", "c"]) {
            let by_map = match operand {
                Operand::C => matches!(config.store, Store::Tma { .. }),
                _ => config.loads_by_maps(),
            };
            if by_map {
                params.push(Param::Map(operand));
                places.push(Locator::Map(b.tensor_map(&format!("map_{name}"))));
            } else if config.batch == Batch::Pointers {
                params.push(Param::Pointers(operand));
                places.push(Locator::Pointers(b.pointer(name, ADDRESS)));
            } else {
                params.push(Param::Pointer(operand));
                places.push(Locator::Pointer(b.pointer(name, config.aligned_bytes(operand)?)));
            }
        }
        let (mut order, mut stream, mut workspace) = (None, None, None);
        match config.schedule {
            // Groups have no order.
            Schedule::Persistent { .. } if config.batch.grouped().is_some() => {}
            Schedule::Persistent { .. } => {
                params.extend([Param::Order, Param::Tiles]);
                order = Some(Order::new(b, "order", "tiles"));
            }
            Schedule::StreamK { .. } => {
                params.push(Param::Pieces);
                stream = Some(Stream::new(b, "pieces"));
            }
            Schedule::Raster { .. } | Schedule::SplitK { .. } => {}
        }
        let [parts, cluster] = config.schedule.parts();
        if parts > cluster || stream.is_some() {
            params.extend([Param::Workspace, Param::Semaphores]);
            workspace = Some(Workspace::new(b, "workspace", "semaphores"));
        }
        let symbols = sizes(b, config, epilogue, &places, &mut params)?;
        let mut scales = [None, None];
        for (scales, operand) in scales.iter_mut().zip([Operand::A, Operand::B]) {
            if let Some(scaling) = config.mainloop.warp_specialized().and_then(|parts| parts.scales(operand))
            {
                params.push(Param::Scales(operand));
                *scales = Some(Scales::new(b, operand, scaling)?);
            }
        }
        let products = match config.batch {
            Batch::Single => None,
            Batch::Strided | Batch::Pointers | Batch::Grouped { .. } => {
                Some(Products::new(b, config, &places, &mut params)?)
            }
        };
        let cluster_tile = config.cluster_tile();
        let tiles =
            [0, 1].map(|mode| (&extent(symbols[mode]) + (cluster_tile[mode] - 1)).div(cluster_tile[mode]));
        let [rows, columns] = tiles;
        let tiles = [rows?, columns?];
        let walk = match (order, stream, config.batch) {
            (.., Batch::Grouped { mode }) => {
                params.extend([Param::Offsets, Param::Groups, Param::Tiles]);
                let extents = [0, 1].map(|mode| extent(symbols[mode]));
                Walk::Grouped(Groups::new(b, config, mode, extents, tiles)?)
            }
            (Some(order), ..) => {
                let most = cluster_tile.map(|extent| (MAX_EXTENT + extent - 1) / extent);
                Walk::Persistent(schedule::Tiles::new(b, order, most, config.multicast())?)
            }
            (None, Some(stream), _) => Walk::Stream(stream),
            (None, None, _) => {
                Walk::Raster { tiles, group: config.schedule.group(), parts: config.schedule.parts() }
            }
        };
        let shape = Shape::flat(&[Int::symbol(symbols[0]), Int::symbol(symbols[1])])?;
        let shape_of_c = shape_of_c(&symbols, epilogue)?;
        let inputs = epilogue.declare(b, config, [&shape, &shape_of_c], &mut params)?;
        let reducing = epilogue.declare_outputs(b, config, &mut params)?;
        Ok(Interface {
            config,
            params,
            places,
            symbols,
            walk,
            products,
            workspace,
            epilogue,
            inputs,
            reducing,
            copies: BTreeMap::new(),
            scales,
            ahead: None,
        })
    }

    /// Whether the epilogue makes one column of C of two.
    pub(super) fn is_gated(&self) -> bool {
        self.epilogue.is_gated()
    }

    /// Whether the epilogue depends on the place of a tile: on coordinates, or on tensors that it reads.
    pub(super) fn epilogue_reads_tiles(&self) -> bool {
        self.epilogue.reads_tiles()
    }

    /// The tiles along K.
    pub(super) fn k_tiles(&self) -> Result<Range<Expr>, Error> {
        k_tiles(&extent(self.symbols[2]), self.config.tile[2])
    }

    /// The extents of an operand.
    fn shape(&self, operand: Operand) -> Result<Shape, Error> {
        Ok(Shape::flat(&operand.modes().map(|mode| Int::symbol(self.symbols[mode])))?)
    }

    /// The layout of an operand that has a tensor map, (X,Y) or (X,Y,L).
    pub(super) fn layout_of_map(&self, operand: Operand) -> Result<Lay, Error> {
        let matrix = self.layout(operand)?;
        self.products.as_ref().map_or(Ok(matrix), |products| products.layout(operand, &matrix))
    }

    /// The coordinate of an operand's tile at `place` among tiles of its tensor map, without that along K: `at`, and in a batch that along
    /// mode L.
    pub(super) fn coordinate(&self, operand: Operand, at: &Expr, place: &Place) -> Vec<Expr> {
        let batch = self.products.as_ref().and_then(|products| products.coordinate(operand, place));
        [at.clone()].into_iter().chain(batch).collect()
    }

    /// The layout of an operand's matrix in global memory.
    fn layout(&self, operand: Operand) -> Result<Lay, Error> {
        let major = match operand {
            Operand::C => self.config.c_major,
            _ => self.config.majors()[operand as usize],
        };
        let pitch = Stride::Int(Int::symbol(self.symbols[3 + operand as usize]));
        let one = Stride::Int(Int::fixed(1));
        let strides = if major == Major::K { [pitch, one] } else { [one, pitch] };
        let shape = match operand {
            Operand::C => shape_of_c(&self.symbols, self.epilogue)?,
            _ => self.shape(operand)?,
        };
        Ok(Lay::new(&shape, &Strides::flat(&strides)?)?)
    }

    /// The matrices of an operand that is taken by its address.
    pub(super) fn tensors(&self, operand: Operand) -> Result<Tensors, Error> {
        match &self.places[operand as usize] {
            Locator::Pointer(pointer) | Locator::Pointers(pointer) => {
                let first =
                    Gmem::bounded(pointer.clone(), self.config.dtype(operand), &self.layout(operand)?)?;
                let lie = self.products.as_ref().map_or(Lie::Same, |products| products.lie(operand));
                Ok(Tensors::new(first, lie))
            }
            Locator::Map(_) => Err(self.other_place(operand, "an operand that is taken by its address")),
        }
    }

    /// The address of an operand's tensor map.
    pub(super) fn map(&self, operand: Operand) -> Result<&Expr, Error> {
        match &self.places[operand as usize] {
            Locator::Map(map) => Ok(map),
            Locator::Pointer(_) | Locator::Pointers(_) => {
                Err(self.other_place(operand, "an operand that is taken by its tensor map"))
            }
        }
    }

    fn other_place(&self, operand: Operand, accepted: &str) -> Error {
        Error::Config { what: "operand", value: format!("{operand:?}"), accepted: accepted.into() }
    }

    /// Keeps the TMA copy of an operand, from which the host makes a tensor map.
    pub(super) fn keep(&mut self, operand: Operand, copy: &TmaCopy) {
        self.copies.insert(operand as usize, copy.clone());
    }

    /// The layout of the scales of A or B and the address of their tensor map, if it has scales.
    pub(super) fn scales(&self, operand: Operand) -> Result<Option<(Lay, Expr)>, Error> {
        let scales = self.scales[operand as usize].as_ref();
        scales.map(|scales| Ok((scales.layout()?, scales.map.clone()))).transpose()
    }

    /// Keeps the TMA copy of the scales, as [`Interface::keep`] does.
    pub(super) fn keep_scales(&mut self, operand: Operand, copy: &TmaCopy) {
        self.scales[operand as usize].iter_mut().for_each(|scales| scales.keep(copy));
    }

    /// The input that is read ahead, if there is one.
    pub(super) fn ahead(&self) -> Option<&Mapped> {
        self.inputs
            .iter()
            .find_map(|given| if let Given::Ahead(mapped) = given { Some(&**mapped) } else { None })
    }

    /// Keeps the TMA copy of the input that is read ahead, as [`Interface::keep`] does.
    pub(super) fn keep_ahead(&mut self, copy: &TmaCopy) {
        self.ahead = self.ahead().map(|mapped| (copy.clone(), mapped.pitch));
    }

    /// Brings what all threads have to know before they go through tiles. All threads of the block take part.
    pub(super) fn prepare_walk(&mut self, b: &mut Builder) -> Result<(), Error> {
        let Walk::Grouped(groups) = &mut self.walk else { return Ok(()) };
        if self.config.loads_by_maps() {
            b.wait_on_dependent_grids();
        }
        groups.fetch(b)
    }

    /// Runs `body` for each of the block's tiles; the threads where `who` holds know which tile it is.
    pub(super) fn for_each_tile(
        &self,
        b: &mut Builder,
        who: &Cond,
        alternate: bool,
        body: impl FnOnce(&mut Builder, &Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.walk.for_each(b, self.config, self.products.as_ref(), who, alternate, body)
    }

    /// The workspace through which blocks that share a tile pass partial accumulators.
    pub(super) fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// The tile of C at `tile`, (TileM,TileN), where C is taken by its address.
    pub(super) fn tensor_of_c(&self, b: &mut Builder, tile: &Place) -> Result<Tensor<Gmem>, Error> {
        let whole = self.tensors(Operand::C)?.at(b, tile)?;
        if self.epilogue.is_gated() { self.half_tile(&whole, tile) } else { self.tile_of_c(&whole, tile) }
    }

    /// The tile at `tile` of a tensor of C's shape, half as wide as the tile of accumulators, with each column for a pair of accumulators.
    fn half_tile(&self, whole: &Tensor<Gmem>, tile: &Place) -> Result<Tensor<Gmem>, Error> {
        let [m, n] = tile.extents;
        let at = [Slice::At(tile.row.clone()), Slice::At(tile.column.clone())];
        for_pairs(&whole.local_tile(&shape_tiler(&[m, n / 2])?, &at)?)
    }

    /// The tile at `tile`, (TileM,TileN), of a tensor that is laid out like C.
    fn tile_of_c<E: girih_tensor::Engine<Index = Expr>>(
        &self,
        whole: &Tensor<E>,
        tile: &Place,
    ) -> Result<Tensor<E>, Error> {
        let tiler = shape_tiler(&tile.extents)?;
        Ok(whole.local_tile(&tiler, &[Slice::At(tile.row.clone()), Slice::At(tile.column.clone())])?)
    }

    /// The epilogue at a tile, with a thread's part of its inputs.
    pub(super) fn epilogue_at(
        &self,
        b: &mut Builder,
        mine: &ThrMma<Expr>,
        tile: &Place,
    ) -> Result<AtTile<'_>, Error> {
        let mut identity = Tensor::new(Counting::new(2), Lay::identity(&self.shape(Operand::C)?)?);
        if let Some(span) = &tile.span {
            let mut origin = [Expr::from(0), Expr::from(0)];
            origin[span.mode] = span.origin.clone();
            identity = identity.domain_offset(Slice::tuple(origin.map(Slice::At)))?;
        }
        let coordinate = mine.partition(Operand::C, &self.tile_of_c(&identity, tile)?)?; // (FrgV,RestM,RestN)
        let mut inputs = Vec::new();
        for (place, input) in self.inputs.iter().zip(self.epilogue.inputs()) {
            inputs.push(match place {
                Given::Tensors(all) => {
                    let whole = all.at(b, tile)?;
                    let tile = match self.epilogue.is_behind_gate(&input.name) {
                        true => self.half_tile(&whole, tile)?,  // (TileM,(2,TileN/2))
                        false => self.tile_of_c(&whole, tile)?, // (TileM,TileN)
                    };
                    Part::Tensor(Box::new(mine.partition(Operand::C, &tile)?)) // (FrgV,RestM,RestN)
                }
                Given::Scalar(value) => Part::Scalar(value.clone()),
                Given::Ahead(_) => Part::Ahead(None),
            });
        }
        let partials = self.reducing.iter().map(|_| Default::default()).collect();
        Ok(AtTile {
            epilogue: self.epilogue,
            dtype: self.config.c_type,
            coordinate,
            inputs,
            extents: [0, 1].map(|mode| extent(self.symbols[mode])),
            reducing: &self.reducing,
            partials: Rc::new(RefCell::new(partials)),
        })
    }

    /// Writes the outputs besides C, once the epilogue has made the tile at `place` of the accumulators.
    pub(super) fn finish(
        &self,
        b: &mut Builder,
        epilogue: &AtTile<'_>,
        team: &Team<'_>,
        sums: &Sums,
        place: &Place,
    ) -> Result<(), Error> {
        if self.reducing.is_empty() {
            return Ok(());
        }
        let counts = self.stored_tiles(b)?;
        epilogue.finish(b, team, sums, place, counts)
    }

    /// How many rows and columns of tiles there are that blocks store.
    fn stored_tiles(&self, b: &mut Builder) -> Result<[Expr; 2], Error> {
        let [m, n] = self.config.cluster_tile();
        // Variables of the scope, so that what follows from them takes no registers beside the sums.
        let mut tiles = |mode: usize, tile: i64| {
            let extent = b.bounded(&extent(self.symbols[mode]), MAX_EXTENT)?;
            (&extent + (tile - 1)).div(tile)
        };
        let [_, share] = self.config.schedule.parts();
        Ok([&tiles(0, m)? * self.config.multicast(), &tiles(1, n)? * share])
    }

    /// The finished kernel.
    pub(super) fn into_kernel(
        self,
        kernel: Kernel,
        partitions: Vec<(&'static str, String)>,
    ) -> Result<GemmKernel, Error> {
        let of_map = |operand: Operand| {
            let symbols = self.products.as_ref().and_then(|products| products.symbols(operand));
            symbols.map(|symbols| (operand as usize, symbols))
        };
        let batch = Operand::ALL.into_iter().filter_map(of_map).collect();
        Ok(GemmKernel {
            kernel,
            params: self.params,
            partitions,
            inputs: self.epilogue.inputs(),
            outputs: self.epilogue.outputs(),
            kept: self.epilogue.outputs().iter().map(|output| self.epilogue.kept(output)).collect(),
            tile: self.config.tile,
            sum: element_bytes("sum", self.config.atom().c_type)?,
            element: element_bytes("element", self.config.dtype(Operand::A))?,
            cluster_tile: self.config.cluster_tile(),
            multicast: self.config.multicast(),
            schedule: self.config.schedule,
            batched: self.config.batch,
            unit_of_groups: self.config.unit_of_groups(self.config.batch.grouped().unwrap_or(0))?,
            loads_by_maps: self.config.loads_by_maps(),
            copies: self.copies,
            scales: self.scales.map(|scales| scales.map(Scales::into_scaled)),
            ahead: self.ahead,
            symbols: self.symbols,
            batch,
        })
    }
}

fn extent(symbol: Symbol) -> Expr {
    Expr::from_int(&Int::symbol(symbol))
}

/// M, N, K and the pitches, with the facts that the configuration states. The sizes that the kernel reads are parameters; from the
/// others the host makes tensor maps.
fn sizes(
    b: &mut Builder,
    config: &GemmConfig,
    epilogue: &Epilogue,
    places: &[Locator],
    params: &mut Vec<Param>,
) -> Result<[Symbol; 6], Error> {
    let by_pointer = |operand: usize| !matches!(places[operand], Locator::Map(_));
    let reads_c =
        !config.schedule.is_persistent() || config.batch.grouped().is_some() || epilogue.reads_tiles();
    // Tensor maps have extents of 1 or more.
    let least_k = match config.schedule.parts()[0] {
        1 => i64::from(config.loads_by_maps()),
        parts => (parts - 1) * config.tile[2] + 1,
    };
    let mut symbols = [Symbol::new(0); 6];
    for (i, symbol) in symbols.iter_mut().enumerate() {
        let (param, is_read, least) = match i {
            0 | 1 => (Param::Extent(i), reads_c || by_pointer(i) || by_pointer(2), 1),
            2 => (Param::Extent(i), true, least_k),
            _ => (Param::Pitch(Operand::ALL[i - 3]), by_pointer(i - 3), 1),
        };
        let divisor = match i {
            1 if epilogue.is_gated() => 2 * config.aligned(Operand::C)?,
            0 | 1 if i == config.c_contiguous() => config.aligned(Operand::C)?,
            0 | 1 => 1,
            2 => config.aligned_k()?,
            _ => config.aligned(Operand::ALL[i - 3])?,
        };
        let facts = |symbol: Symbol| symbol.at_least(least).at_most(MAX_EXTENT).divisible_by(divisor);
        *symbol = if is_read { b.symbol(SIZES[i], facts)? } else { b.unbound_symbol(facts)? };
        if is_read {
            params.push(param);
        }
    }
    Ok(symbols)
}

/// The extents of C, which has half as many columns as the product where pairs of these are gated.
fn shape_of_c(symbols: &[Symbol; 6], epilogue: &Epilogue) -> Result<Shape, Error> {
    let [m, n] = [0, 1].map(|mode| Int::symbol(symbols[mode]));
    Ok(Shape::flat(&[m, if epilogue.is_gated() { n.ceil_div(Int::fixed(2))? } else { n }])?)
}
