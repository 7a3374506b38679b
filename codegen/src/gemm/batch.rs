//! Several products by one kernel.

use girih_layout::{Int, Lay, Stride, Symbol};
use girih_tensor::Tensor;

use super::interface::{Locator, Param};
use super::schedule::{Place, SHARED_BYTES};
use super::{GemmConfig, MAX_TILES};
use crate::builder::Builder;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Gmem};

/// Which products a kernel computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Batch {
    /// One product.
    #[default]
    Single,
    /// Products of equal extents, whose matrices follow each other at equal distances: CuTe's mode L. A, (M,K,L), and B, (N,K,L), may be the
    /// same for all products, and so may be what the epilogue reads.
    Strided,
    /// Products of groups of rows, as a mixture of experts has them: the rows of A and C (mode 0), or the rows of B and the columns of C
    /// (mode 1), follow each other group by group in one matrix, and each group has a B, or an A, of its own, which lies as one of a batch
    /// does. Where the groups begin stands in memory as offsets of 32 bits, one more than there are groups. A launch knows no more of them
    /// than how many groups there are, at most [`MAX_GROUPS`](super::MAX_GROUPS).
    Grouped {
        /// The mode of C along which the groups follow each other, 0 or 1.
        mode: usize,
    },
}

impl Batch {
    /// The mode of C along which groups follow each other.
    pub fn grouped(self) -> Option<usize> {
        if let Batch::Grouped { mode } = self { Some(mode) } else { None }
    }

    /// The bytes of shared memory that a block keeps the offsets in.
    pub(super) fn shared_bytes(self) -> i64 {
        if self.grouped().is_some() { SHARED_BYTES } else { 0 }
    }
}

/// The most products of a batch.
pub const MAX_BATCHES: i64 = 1 << 20;
/// The most elements from a matrix of a batch to the next.
pub const MAX_STRIDE: i64 = 1 << 38;

/// The parameters of several products.
pub(super) struct Products {
    /// The tiles of one product, if all have as many.
    tiles: Option<Expr>,
    /// How A, B and C of the products lie.
    steps: [Step; 3],
}

/// How a kernel finds a matrix of a batch.
enum Step {
    /// Matrices are so many elements apart.
    Elements(Expr),
    /// They are a mode of the tensor map, of this extent and this stride. The last matrix of A or B stands for all that would follow.
    Mode { extent: Symbol, stride: Symbol, last: Option<Expr> },
    /// They are groups along this mode of one matrix.
    Groups(usize),
}

impl Products {
    /// Declares the parameters.
    pub(super) fn new(
        b: &mut Builder,
        config: &GemmConfig,
        places: &[Locator],
        params: &mut Vec<Param>,
    ) -> Result<Products, Error> {
        let grouped = config.batch.grouped();
        let tiles = grouped.is_none().then(|| {
            params.push(Param::TilesOfBatch);
            b.number("tiles_of_batch", MAX_TILES).maximum(&Expr::from(1))
        });
        let mut step = |operand: Operand| -> Result<Step, Error> {
            let along = grouped.and_then(|mode| operand.modes().iter().position(|own| *own == mode));
            if let Some(along) = along {
                return Ok(Step::Groups(along));
            }
            let (name, aligned) = (["a", "b", "c"][operand as usize], config.aligned(operand)?);
            Ok(match &places[operand as usize] {
                Locator::Pointer(_) => {
                    params.push(Param::BatchStride(operand));
                    Step::Elements(b.wide_number(&format!("batch_{name}"), MAX_STRIDE, aligned))
                }
                Locator::Map(_) => {
                    let last = (operand != Operand::C).then(|| {
                        params.push(Param::LastOfBatch(operand));
                        b.number(&format!("last_{name}"), MAX_BATCHES - 1)
                    });
                    let extent = b.unbound_symbol(|symbol| symbol.at_least(1).at_most(MAX_BATCHES))?;
                    let facts = |symbol: Symbol| symbol.at_least(1).at_most(MAX_STRIDE).divisible_by(aligned);
                    Step::Mode { extent, stride: b.unbound_symbol(facts)?, last }
                }
            })
        };
        Ok(Products { tiles, steps: [step(Operand::A)?, step(Operand::B)?, step(Operand::C)?] })
    }

    /// The product that tile `tile` of all products belongs to, and the tile's number among those of the product.
    pub(super) fn split(&self, b: &mut Builder, tile: &Expr) -> Result<[Expr; 2], Error> {
        // A tile that does not exist any more belongs to a product that does not.
        let Some(tiles) = &self.tiles else { return Ok([Expr::from(0), tile.clone()]) };
        let batch = b.divide(tile, tiles, MAX_TILES)?;
        let own = b.bounded(&(tile - &(&batch * tiles)), MAX_TILES - 1)?;
        Ok([batch, own])
    }

    /// The matrices of an operand that is taken by its address, of which `first` is the first one, or that of all groups.
    pub(super) fn tensors(&self, operand: Operand, first: Tensor<Gmem>) -> Tensors {
        match &self.steps[operand as usize] {
            Step::Elements(stride) => Tensors::new(first, Some(stride.clone()), None),
            Step::Mode { .. } => Tensors::new(first, None, None),
            Step::Groups(along) => Tensors::new(first, None, Some(*along)),
        }
    }

    /// The layout of an operand that has a tensor map, with the mode of the batch.
    pub(super) fn layout(&self, operand: Operand, matrix: &Lay) -> Result<Lay, Error> {
        match self.steps[operand as usize] {
            Step::Mode { extent, stride, .. } => {
                Ok(matrix.append(&Lay::leaf(Int::symbol(extent), Stride::Int(Int::symbol(stride)))?)?)
            }
            Step::Elements(_) | Step::Groups(_) => Ok(*matrix),
        }
    }

    /// The coordinate along the mode of the batch, if the operand has that mode.
    pub(super) fn coordinate(&self, operand: Operand, place: &Place) -> Option<Expr> {
        match &self.steps[operand as usize] {
            Step::Mode { last: Some(last), .. } => Some(place.batch.minimum(last)),
            Step::Mode { last: None, .. } | Step::Elements(_) => Some(place.batch.clone()),
            Step::Groups(_) => None,
        }
    }

    /// The extent and the stride of the operand's mode in its tensor map.
    pub(super) fn symbols(&self, operand: Operand) -> Option<[Symbol; 2]> {
        match self.steps[operand as usize] {
            Step::Mode { extent, stride, .. } => Some([extent, stride]),
            Step::Elements(_) | Step::Groups(_) => None,
        }
    }
}

/// The tensors of all products, each of which carries its coordinates.
#[derive(Clone)]
pub(super) struct Tensors {
    /// That of the first product.
    first: Tensor<Gmem>,
    /// The elements to that of the next one, if there are several.
    stride: Option<Expr>,
    /// The mode of the tensor along which groups follow each other, if the first tensor is that of all groups.
    along: Option<usize>,
}

impl Tensors {
    pub(super) fn new(first: Tensor<Gmem>, stride: Option<Expr>, along: Option<usize>) -> Tensors {
        Tensors { first, stride, along }
    }

    /// The tensor of the product of the tile at `place`.
    pub(super) fn at(&self, place: &Place) -> Tensor<Gmem> {
        let mut engine = self.first.engine().clone();
        if let Some(stride) = &self.stride {
            engine = engine.further(&(&place.batch * stride));
        }
        if let (Some(along), Some(span)) = (self.along, &place.span) {
            engine = engine.part_of(along, [&span.origin, &span.before, &span.extent]);
        }
        Tensor::new(engine, *self.first.layout())
    }
}
