//! The parameters of a GEMM kernel, and the tensors that they describe.

mod sizes;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
use girih_tensor::{Slice, Tensor};

use super::GemmConfig;
use super::batch::{ADDRESS, Batch, Lie, Products, Tensors};
use super::config::Store;
use super::epilogue::{AtTile, Epilogue, Given, Mapped, Part, Reducing, for_pairs};
use super::kernel::{Arguments, GemmKernel};
use super::mainloop::{Sums, k_tiles};
use super::scales::{self, Scales};
use super::schedule::{self, Groups, Order, Place, Schedule, Stream, Team, Tile, Walk, Workspace};
use crate::atom::Major;
use crate::builder::{Builder, Cond};
use crate::params::{MAX_EXTENT, Params};
use crate::sizes::shape_tiler;
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Counting, Error, Expr, Gmem, Kernel, TmaCopy};
use sizes::{extent, shape_of_c, sizes};

/// The names of A, B and C.
pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];

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
    params: Params<Arguments>,
    places: Vec<Locator>,
    /// M, N, K and the pitches of A, B and C.
    symbols: [Symbol; 6],
    walk: Walk,
    products: Option<Products>,
    workspace: Option<Workspace>,
    epilogue: &'a Epilogue,
    inputs: Vec<Given>,
    reducing: Vec<Reducing>,
    scales: [Option<Scales>; 2],
}

impl<'a> Interface<'a> {
    /// Declares the parameters.
    pub(super) fn new(
        b: &mut Builder,
        config: &'a GemmConfig,
        epilogue: &'a Epilogue,
    ) -> Result<Interface<'a>, Error> {
        let mut params = Params::<Arguments>::default();
        let mut places = Vec::new();
        for (operand, name) in Operand::ALL.into_iter().zip(NAMES) {
            let by_map = match operand {
                Operand::C => matches!(config.store, Store::Tma { .. }),
                _ => config.loads_by_maps(),
            };
            places.push(if by_map {
                Locator::Map(params.tensor_map(b, &format!("map_{name}"), name))
            } else if config.batch == Batch::Pointers {
                Locator::Pointers(params.pointer(b, name, ADDRESS))
            } else {
                Locator::Pointer(params.pointer(b, name, config.aligned_bytes(operand)?))
            });
        }
        let (mut order, mut stream) = (None, None);
        match config.schedule {
            // Groups have no order.
            Schedule::Persistent { .. } if config.batch.grouped().is_some() => {}
            Schedule::Persistent { .. } => order = Some(Order::new(&mut params, b, config)),
            Schedule::StreamK { .. } => stream = Some(Stream::new(&mut params, b)),
            Schedule::Raster { .. } | Schedule::SplitK { .. } => {}
        }
        let [parts, cluster] = config.schedule.parts();
        let workspace = (parts > cluster || stream.is_some()).then(|| Workspace::new(&mut params, b));
        let symbols = sizes(&mut params, b, config, epilogue, &places)?;
        let mut scales = [None, None];
        for (scales, operand) in scales.iter_mut().zip([Operand::A, Operand::B]) {
            if let Some(scaling) = config.mainloop.warp_specialized().and_then(|parts| parts.scales(operand))
            {
                *scales = Some(Scales::new(&mut params, b, operand, scaling)?);
            }
        }
        let products = match config.batch {
            Batch::Single => None,
            Batch::Strided | Batch::Pointers | Batch::Grouped { .. } => {
                Some(Products::new(&mut params, b, config, &places)?)
            }
        };
        let cluster_tile = config.cluster_tile();
        let tiles =
            [0, 1].map(|mode| (&extent(symbols[mode]) + (cluster_tile[mode] - 1)).div(cluster_tile[mode]));
        let [rows, columns] = tiles;
        let tiles = [rows?, columns?];
        let walk = match (order, stream, config.batch) {
            (.., Batch::Grouped { mode }) => {
                let extents = [0, 1].map(|mode| extent(symbols[mode]));
                Walk::Grouped(Groups::new(&mut params, b, config, mode, extents, tiles)?)
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
        let inputs = epilogue.declare(&mut params, b, config, [&shape, &shape_of_c])?;
        let reducing = epilogue.declare_outputs(&mut params, b, config)?;
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
            scales,
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
            Locator::Map(_) => Err(Error::Generator("the address of an operand that has a tensor map")),
        }
    }

    /// The address of an operand's tensor map.
    pub(super) fn map(&self, operand: Operand) -> Result<&Expr, Error> {
        match &self.places[operand as usize] {
            Locator::Map(map) => Ok(map),
            Locator::Pointer(_) | Locator::Pointers(_) => {
                Err(Error::Generator("the tensor map of an operand that has an address"))
            }
        }
    }

    /// Keeps the TMA copy of an operand, from which the host makes a tensor map.
    pub(super) fn keep(&mut self, operand: Operand, copy: &TmaCopy) {
        self.params.keep(NAMES[operand as usize], copy);
    }

    /// The layout of the scales of A or B and the address of their tensor map, if it has scales.
    pub(super) fn scales(&self, operand: Operand) -> Result<Option<(Lay, Expr)>, Error> {
        let scales = self.scales[operand as usize].as_ref();
        scales.map(|scales| Ok((scales.layout()?, scales.map.clone()))).transpose()
    }

    /// Keeps the TMA copy of the scales, as [`Interface::keep`] does.
    pub(super) fn keep_scales(&mut self, operand: Operand, copy: &TmaCopy) {
        self.params.keep(scales::name(operand), copy);
    }

    /// The input that is read ahead, if there is one.
    pub(super) fn ahead(&self) -> Option<&Mapped> {
        self.inputs
            .iter()
            .find_map(|given| if let Given::Ahead(mapped) = given { Some(&**mapped) } else { None })
    }

    /// Keeps the TMA copy of the input that is read ahead, as [`Interface::keep`] does.
    pub(super) fn keep_ahead(&mut self, mapped: &Mapped, copy: &TmaCopy) {
        self.params.keep(&mapped.name, copy);
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
    pub(super) fn into_kernel(self, kernel: Kernel, partitions: Vec<(&'static str, String)>) -> GemmKernel {
        let outputs = self.epilogue.outputs();
        GemmKernel {
            kernel,
            params: self.params,
            partitions,
            config: *self.config,
            inputs: self.epilogue.inputs(),
            kept: outputs.iter().map(|output| self.epilogue.kept(output)).collect(),
            outputs,
        }
    }
}
