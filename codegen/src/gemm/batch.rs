//! Several products by one kernel.

use girih_layout::{Int, Lay, Stride, Symbol};
use girih_tensor::Tensor;

use super::interface::{Locator, Param};
use super::schedule::Place;
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
}

/// The most products of a batch.
pub const MAX_BATCHES: i64 = 1 << 20;
/// The most elements from a matrix of a batch to the next.
pub const MAX_STRIDE: i64 = 1 << 38;

/// The parameters of a batch.
pub(super) struct Strided {
    /// The tiles of one product.
    tiles: Expr,
    /// The distances of A, B and C.
    steps: [Step; 3],
}

/// How a kernel finds a matrix of a batch.
enum Step {
    /// Matrices are so many elements apart.
    Elements(Expr),
    /// They are a mode of the tensor map, of this extent and this stride. The last matrix of A or B stands for all that would follow.
    Mode { extent: Symbol, stride: Symbol, last: Option<Expr> },
}

impl Strided {
    /// Declares the parameters.
    pub(super) fn new(
        b: &mut Builder,
        config: &GemmConfig,
        places: &[Locator],
        params: &mut Vec<Param>,
    ) -> Result<Strided, Error> {
        params.push(Param::TilesOfBatch);
        let tiles = b.number("tiles_of_batch", MAX_TILES).maximum(&Expr::from(1));
        let mut step = |operand: Operand| -> Result<Step, Error> {
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
        Ok(Strided { tiles, steps: [step(Operand::A)?, step(Operand::B)?, step(Operand::C)?] })
    }

    /// The product that tile `tile` of all products belongs to, and the tile's number among those of the product.
    pub(super) fn split(&self, b: &mut Builder, tile: &Expr) -> Result<[Expr; 2], Error> {
        // A tile that does not exist any more belongs to a product that does not.
        let batch = b.divide(tile, &self.tiles, MAX_TILES)?;
        let own = b.bounded(&(tile - &(&batch * &self.tiles)), MAX_TILES - 1)?;
        Ok([batch, own])
    }

    /// The elements from a matrix of the operand to the next, if the operand is taken by its address.
    pub(super) fn stride(&self, operand: Operand) -> Option<&Expr> {
        match &self.steps[operand as usize] {
            Step::Elements(stride) => Some(stride),
            Step::Mode { .. } => None,
        }
    }

    /// The layout of an operand that has a tensor map, with the mode of the batch.
    pub(super) fn layout(&self, operand: Operand, matrix: &Lay) -> Result<Lay, Error> {
        match self.steps[operand as usize] {
            Step::Mode { extent, stride, .. } => {
                Ok(matrix.append(&Lay::leaf(Int::symbol(extent), Stride::Int(Int::symbol(stride)))?)?)
            }
            Step::Elements(_) => Ok(*matrix),
        }
    }

    /// The coordinate along the mode of the batch.
    pub(super) fn coordinate(&self, operand: Operand, place: &Place) -> Expr {
        match &self.steps[operand as usize] {
            Step::Mode { last: Some(last), .. } => place.batch.minimum(last),
            Step::Mode { last: None, .. } | Step::Elements(_) => place.batch.clone(),
        }
    }

    /// The extent and the stride of the operand's mode in its tensor map.
    pub(super) fn symbols(&self, operand: Operand) -> Option<[Symbol; 2]> {
        match self.steps[operand as usize] {
            Step::Mode { extent, stride, .. } => Some([extent, stride]),
            Step::Elements(_) => None,
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
}

impl Tensors {
    pub(super) fn new(first: Tensor<Gmem>, stride: Option<Expr>) -> Tensors {
        Tensors { first, stride }
    }

    /// The tensor of the product of the tile at `place`.
    pub(super) fn at(&self, place: &Place) -> Tensor<Gmem> {
        match &self.stride {
            Some(stride) => {
                let engine = self.first.engine().further(&(&place.batch * stride));
                Tensor::new(engine, *self.first.layout())
            }
            None => self.first.clone(),
        }
    }
}
