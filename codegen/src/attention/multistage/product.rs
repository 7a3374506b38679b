//! The two MMAs: scores Q K, and the accumulator P V.

use girih_layout::{Lay, Tiler};
use girih_tensor::{Slice, Tensor};

use super::config::{Multistage, part};
use super::slots::Slot;
use crate::algorithm::{clear, convert, copy, gemm};
use crate::atom::{AUTO_VECTORIZING_COPY, MmaKind};
use crate::attention::{AttentionConfig, Tensor4};
use crate::builder::Builder;
use crate::gemm::Sums;
use crate::sizes::{extent, shape_tiler, static_size};
use crate::tiled::copy::{ThrCopy, TiledCopy};
use crate::tiled::mma::{Operand, ThrMma, TiledMma};
use crate::{Error, Expr, Rmem, Smem};

/// How a thread's fragments of an operand come from shared memory.
struct Reader {
    thread: ThrMma<Expr>,
    operand: Operand,
    matrices: Option<(TiledCopy, ThrCopy<Expr>)>,
}

impl Reader {
    fn new(mma: &TiledMma, operand: Operand, along_k: bool, thread: &Expr) -> Result<Reader, Error> {
        let matrices = match Multistage::reader(mma, operand, along_k)? {
            Some(copy) => Some((copy, copy.get_slice(thread)?)),
            None => None,
        };
        Ok(Reader { thread: mma.get_slice(thread)?, operand, matrices })
    }

    /// The fragment of a block of the operand, (X,K), as (FrgV,RestX,RestK).
    fn read(&self, b: &mut Builder, block: &Tensor<Smem>) -> Result<Tensor<Rmem>, Error> {
        let fragment = self.thread.partition_fragment(b, self.operand, block)?; // (FrgV,RestX,RestK)
        match &self.matrices {
            Some((matrices, mine)) => {
                copy(b, matrices, &mine.partition_s(block)?, &mine.retile_d(&fragment)?)?;
            }
            None => copy(b, AUTO_VECTORIZING_COPY, &self.thread.partition(self.operand, block)?, &fragment)?,
        }
        Ok(fragment)
    }
}

/// Block `at` of `extents` of a tile.
fn block(tile: &Tensor<Smem>, extents: [i64; 2], at: [i64; 2]) -> Result<Tensor<Smem>, Error> {
    let at = at.map(|at| Slice::At(Expr::from(at)));
    Ok(tile.local_tile(&shape_tiler(&extents)?, &at)?)
}

/// The probabilities of a tile of keys, as the second MMA takes them.
enum Weights {
    /// In registers, (FrgV,RestQ,RestK) of operand A.
    Registers(Tensor<Rmem>),
    /// In shared memory, (BlockQ,BlockK), where the threads of a warp share rows.
    Shared(Tensor<Smem>),
}

/// A thread's part in the MMAs.
pub(super) struct Products {
    tile: [i64; 2],
    head_dim: i64,
    value_dim: i64,
    /// The columns of values that are multiplied together.
    columns: i64,
    pub(super) mma: [TiledMma; 2],
    pub(super) scores: Sums,
    pub(super) sums: Sums,
    weights: Weights,
}

impl Products {
    /// The products of `thread`. `weights` is the memory for weights, if they go through it.
    pub(super) fn new(
        b: &mut Builder,
        multistage: &Multistage,
        config: &AttentionConfig,
        weights: Option<&Slot>,
        thread: &Expr,
    ) -> Result<Products, Error> {
        let mma = multistage.products(config)?;
        let [first, second] = &mma;
        let AttentionConfig { tile: [queries, keys], head_dim, dtype, .. } = *config;
        let value_dim = config.columns(Tensor4::V);
        let weights = match weights {
            Some(slot) => Weights::Shared(slot.tensor()?),
            None => {
                let of = second.get_slice(thread)?;
                let block = Lay::col_major([queries, keys])?;
                let parts = second.thrfrg(Operand::A, &block)?.mode(1)?; // (FrgV,(RestQ,RestK))
                let (own, rest) = (parts.mode(0)?, parts.mode(1)?);
                let sizes = [own, rest.mode(0)?, rest.mode(1)?].map(|mode| static_size("weights", &mode));
                let [values, rows, steps] = sizes;
                let (values, rows, steps) = (values?, rows?, steps?);
                let layout = Lay::strided([values, rows, steps], [1, values, values * rows])?;
                let fragment = Rmem::tensor(b, dtype, layout)?;
                Weights::Registers(Rmem::holding(
                    fragment,
                    of.part(Operand::A, &block, layout).ok().as_ref(),
                )?)
            }
        };
        Ok(Products {
            tile: config.tile,
            head_dim,
            value_dim,
            columns: part(dtype, value_dim)?,
            mma,
            scores: Sums::new(b, first, [queries, keys, 0], first.get_slice(thread)?)?,
            sums: Sums::new(b, second, [queries, value_dim, 0], second.get_slice(thread)?)?,
            weights,
        })
    }

    /// Whether probabilities go through shared memory, since threads multiply alone.
    pub(super) fn shares_weights(mma: &TiledMma) -> bool {
        mma.atom.kind == MmaKind::Fma
    }

    /// The scores of the queries and keys of two tiles. What follows from `thread` is computed in its scope.
    #[track_caller]
    pub(super) fn score(
        &self,
        b: &mut Builder,
        [queries, keys]: [&Slot; 2],
        thread: &Expr,
    ) -> Result<(), Error> {
        let (q, k) = (queries.tensor()?, keys.tensor()?); // (BlockQ,HeadDim), (BlockK,HeadDim)
        let mma = &self.mma[0];
        let of_q = Reader::new(mma, Operand::A, true, thread)?;
        let of_k = Reader::new(mma, Operand::B, true, thread)?;
        let step = Multistage::step(mma);
        clear(b, &self.scores.values)?;
        for at in 0..self.head_dim / step {
            let q = of_q.read(b, &block(&q, [self.tile[0], step], [0, at])?)?; // (FrgV,RestQ,RestD)
            let k = of_k.read(b, &block(&k, [self.tile[1], step], [0, at])?)?; // (FrgV,RestK,RestD)
            gemm(b, mma, &q, &k, &self.scores.values)?;
        }
        Ok(())
    }

    /// Makes weights of what is in the place of the scores. Where they go through shared memory, a barrier has to follow.
    #[track_caller]
    pub(super) fn take_weights(&self, b: &mut Builder) -> Result<(), Error> {
        let powers = &self.scores.values; // (FrgV,RestQ,RestK)
        match &self.weights {
            Weights::Registers(weights) => {
                // Neighbouring atoms of scores along the keys are one atom of weights: (FrgV,RestQ,(2,RestK)) of A's (FrgV 2,RestQ,RestK).
                let of_one = extent(static_size("weights", &powers.layout().mode(0)?)?)?;
                let values = weights.layout().mode(0)?.logical_divide(&Tiler::Lay(of_one))?; // (FrgV,2)
                let keys = Lay::concat(&[values.mode(1)?, weights.layout().mode(2)?])?; // (2,RestK)
                let layout = Lay::concat(&[values.mode(0)?, weights.layout().mode(1)?, keys])?;
                convert(b, powers, &Tensor::new(weights.engine().clone(), layout))
            }
            Weights::Shared(weights) => {
                copy(b, AUTO_VECTORIZING_COPY, powers, &self.scores.thread.partition(Operand::C, weights)?)
            }
        }
    }

    /// Adds P V of a tile to the accumulators. What follows from `thread` is computed in its scope.
    #[track_caller]
    pub(super) fn sum(&self, b: &mut Builder, values: &Slot, thread: &Expr) -> Result<(), Error> {
        let v = values.tensor()?; // (BlockK,HeadDim)
        let v = Tensor::new(v.engine().clone(), Lay::concat(&[v.layout().mode(1)?, v.layout().mode(0)?])?); // (HeadDim,BlockK)
        let mma = &self.mma[1];
        let of_weights = Reader::new(mma, Operand::A, true, thread)?;
        let of_values = Reader::new(mma, Operand::B, false, thread)?;
        let step = Multistage::step(mma);
        // Atoms along N in a part of the columns.
        let layout = self.sums.values.layout();
        let parts = self.value_dim / self.columns;
        let atoms = static_size("sums", &layout.mode(2)?)? / parts;
        let columns = layout.mode(2)?.logical_divide(&Tiler::Lay(extent(atoms)?))?; // (RestD,Part)
        let modes = [layout.mode(0)?, layout.mode(1)?, columns.mode(0)?, columns.mode(1)?];
        let sums = Tensor::new(self.sums.values.engine().clone(), Lay::concat(&modes)?); // (FrgV,RestQ,RestD,Part)
        for at in 0..self.tile[1] / step {
            let p = match &self.weights {
                Weights::Registers(weights) => {
                    // All of the atom's values along the keys are in one.
                    let one = Tiler::Lay(extent(1)?);
                    let steps = weights.layout().mode(2)?.logical_divide(&one)?; // (1,RestK)
                    let layout = [
                        weights.layout().mode(0)?,
                        weights.layout().mode(1)?,
                        steps.mode(0)?,
                        steps.mode(1)?,
                    ];
                    let weights = Tensor::new(weights.engine().clone(), Lay::concat(&layout)?);
                    weights.slice(last(at))? // (FrgV,RestQ,1)
                }
                Weights::Shared(weights) => {
                    of_weights.read(b, &block(weights, [self.tile[0], step], [0, at])?)?
                }
            };
            for part in 0..parts {
                let v = of_values.read(b, &block(&v, [self.columns, step], [part, at])?)?; // (FrgV,RestD,RestK)
                gemm(b, mma, &p, &v, &sums.slice(last(part))?)?;
            }
        }
        Ok(())
    }
}

/// The place `at` of the last of four modes.
fn last(at: i64) -> Slice<Expr> {
    Slice::tuple([Slice::All, Slice::All, Slice::All, Slice::At(Expr::from(at))])
}
