//! Batched and grouped GEMMs in one kernel.

use girih_layout::{Int, Lay, Stride, Symbol};
use girih_tensor::Tensor;

use super::interface::{Locator, NAMES};
use super::kernel::Arguments;
use super::schedule::{Place, SHARED_BYTES};
use super::{GemmConfig, MAX_TILES};
use crate::builder::Builder;
use crate::engine::Memory;
use crate::params::{MAX_STRIDE, Params};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Gmem};

/// Which GEMMs a kernel computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Batch {
    /// One GEMM.
    #[default]
    Single,
    /// Products of equal extents, whose matrices follow each other at equal distances: CuTe's mode L. A, (M,K,L), and B, (N,K,L), may be the
    /// same for all GEMMs, and so may be what the epilogue reads.
    Strided,
    /// Products of equal extents, whose matrices are at addresses that are in memory: for each of A, B and C, and for each matrix that the
    /// epilogue reads, an array of 64-bit addresses (`cublasGemmBatchedEx`). Each address is a multiple of as many bytes as that of a single
    /// matrix. Vectors, and the epilogue's outputs other than C, follow each other at equal distances. Only a multistage mainloop takes this.
    Pointers,
    /// Products of groups of rows, as a mixture of experts has them: the rows of A and C (mode 0), or the rows of B and the columns of C
    /// (mode 1), follow each other group by group in one matrix, and each group has a B, or an A, of its own, which is laid out as one of a batch
    /// does. Where the groups begin is in memory as offsets of 32 bits, one more than there are groups. A launch knows no more of them
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

/// The most GEMMs of a batch.
pub const MAX_BATCHES: i64 = 1 << 20;

/// The parameters of several GEMMs.
pub(super) struct Products {
    /// The tiles of one GEMM, if all have as many.
    tiles: Option<Expr>,
    /// How A, B and C of the GEMMs are.
    steps: [Step; 3],
}

/// How a kernel finds a matrix of a batch.
enum Step {
    /// By its address.
    Address(Lie),
    /// They are a mode of the tensor map, of this extent and this stride. The last matrix of A or B stands for all that would follow.
    Mode { extent: Symbol, stride: Symbol, last: Option<Expr> },
}

/// How the tensors of several GEMMs are laid out that are taken by their addresses.
#[derive(Clone)]
pub(super) enum Lie {
    /// All GEMMs have the same.
    Same,
    /// They are this many elements apart.
    Apart(Expr),
    /// They are groups along this mode of one tensor.
    Along(usize),
    /// Their addresses, multiples of this many bytes, are one after the other where the first tensor would begin.
    Pointers(i64),
}

/// The bytes of an address.
pub(super) const ADDRESS: i64 = 8;

impl Products {
    /// Declares the parameters.
    pub(super) fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        places: &[Locator],
    ) -> Result<Products, Error> {
        let grouped = config.batch.grouped();
        let tiles = grouped.is_none().then(|| {
            let config = *config;
            let tiles = move |a: &Arguments| config.tiles_for(a.mnk, 1);
            params.number(b, "tiles_of_batch", MAX_TILES, tiles).maximum(&Expr::from(1))
        });
        let mut step = |operand: Operand| -> Result<Step, Error> {
            let along = grouped.and_then(|mode| operand.modes().iter().position(|own| *own == mode));
            if let Some(along) = along {
                return Ok(Step::Address(Lie::Along(along)));
            }
            let (number, aligned) = (operand as usize, config.aligned(operand)?);
            let name = NAMES[number];
            // Of one matrix, the stride does not matter.
            let stride = move |a: &Arguments, alone: i64| match a.batch[number] {
                [count, stride] if count > 1 => stride,
                _ => alone,
            };
            Ok(match &places[number] {
                Locator::Pointers(_) => Step::Address(Lie::Pointers(config.aligned_bytes(operand)?)),
                Locator::Pointer(_) => {
                    let limits = (MAX_STRIDE, aligned);
                    let stride = params.wide(b, &format!("batch_{name}"), limits, move |a| stride(a, 0));
                    Step::Address(Lie::Apart(stride))
                }
                Locator::Map(_) => {
                    let count = move |a: &Arguments| a.batch[number][0];
                    let last = (operand != Operand::C).then(|| {
                        params.number(b, &format!("last_{name}"), MAX_BATCHES - 1, move |a| count(a) - 1)
                    });
                    let facts = |symbol: Symbol| symbol.at_least(1).at_most(MAX_BATCHES);
                    let extent = params.of_maps(b, "matrices of a batch", facts, count)?;
                    let facts = |symbol: Symbol| symbol.at_least(1).at_most(MAX_STRIDE).divisible_by(aligned);
                    let value = move |a: &Arguments| stride(a, a.pitches[number]);
                    Step::Mode { extent, stride: params.of_maps(b, "batch stride", facts, value)?, last }
                }
            })
        };
        Ok(Products { tiles, steps: [step(Operand::A)?, step(Operand::B)?, step(Operand::C)?] })
    }

    /// The GEMM that tile `tile` of all GEMMs belongs to, and the tile's index among those of the GEMM.
    pub(super) fn split(&self, b: &mut Builder, tile: &Expr) -> Result<[Expr; 2], Error> {
        // A tile that does not exist any more belongs to a GEMM that does not.
        let Some(tiles) = &self.tiles else { return Ok([Expr::from(0), tile.clone()]) };
        let batch = b.divide(tile, tiles, MAX_TILES)?;
        let own = b.bounded(&(tile - &(&batch * tiles)), MAX_TILES - 1)?;
        Ok([batch, own])
    }

    /// How the matrices of an operand are laid out that is taken by its address.
    pub(super) fn lie(&self, operand: Operand) -> Lie {
        match &self.steps[operand as usize] {
            Step::Address(lie) => lie.clone(),
            Step::Mode { .. } => Lie::Same,
        }
    }

    /// The layout of an operand that has a tensor map, with the mode of the batch.
    pub(super) fn layout(&self, operand: Operand, matrix: &Lay) -> Result<Lay, Error> {
        match self.steps[operand as usize] {
            Step::Mode { extent, stride, .. } => {
                Ok(matrix.append(&Lay::leaf(Int::symbol(extent), Stride::Int(Int::symbol(stride)))?)?)
            }
            Step::Address(_) => Ok(*matrix),
        }
    }

    /// The coordinate along the mode of the batch, if the operand has that mode.
    pub(super) fn coordinate(&self, operand: Operand, place: &Place) -> Option<Expr> {
        match &self.steps[operand as usize] {
            Step::Mode { last: Some(last), .. } => Some(place.batch.minimum(last)),
            Step::Mode { last: None, .. } => Some(place.batch.clone()),
            Step::Address(_) => None,
        }
    }
}

/// The tensors of all GEMMs, each of which carries its coordinates.
#[derive(Clone)]
pub(super) struct Tensors {
    /// That of the first GEMM, or of all groups.
    first: Tensor<Gmem>,
    lie: Lie,
}

impl Tensors {
    pub(super) fn new(first: Tensor<Gmem>, lie: Lie) -> Tensors {
        Tensors { first, lie }
    }

    /// The tensor of the GEMM of the tile at `place`.
    pub(super) fn at(&self, b: &mut Builder, place: &Place) -> Result<Tensor<Gmem>, Error> {
        let first = self.first.engine();
        let engine = match (&self.lie, &place.span) {
            (Lie::Apart(stride), _) => first.further(&(&place.batch * stride)),
            (Lie::Along(along), Some(span)) => {
                first.part_of(*along, [&span.origin, &span.before, &span.extent])
            }
            (Lie::Pointers(aligned), _) => {
                let entry = &first.address()? + &(&place.batch * ADDRESS);
                first.at_pointer(b.pointer_at(&entry, *aligned)?)
            }
            (Lie::Same | Lie::Along(_), _) => first.clone(),
        };
        Ok(Tensor::new(engine, *self.first.layout()))
    }
}
