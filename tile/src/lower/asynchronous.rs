//! Tiles from arrays to shared memory by `cp.async`.

use girih_codegen::algorithm::{CopyWith, Predicates, copy_if};
use girih_codegen::atom::cp_async;
use girih_codegen::{Cond, Counting, Expr, Gmem, Smem};
use girih_layout::{Lay, Shape};
use girih_tensor::Tensor;

use super::Lowering;
use super::exchange::Spread;
use super::memory::{Tile, runs};
use crate::error::Error;
use crate::fit;
use crate::place::wgmma::SharedTile;

/// How a tile lies in shared memory.
pub(super) enum Target<'t> {
    /// At strides.
    Rows(Spread<'t>),
    /// As `wgmma` reads it.
    Swizzled(&'t SharedTile),
}

impl Lowering<'_> {
    /// Copies a tile to shared memory by `cp.async` of up to `most` elements along an axis, if they lie as that asks for. Outside of the
    /// array there are zeros.
    pub(super) fn copy_async(
        &mut self,
        tile: &Tile<'_>,
        base: &Expr,
        target: &Target<'_>,
        fast: usize,
        most: usize,
    ) -> Result<bool, Error> {
        let (rank, dtype) = (tile.dims.rank(), tile.array.dtype);
        let size = dtype.bytes();
        let row = tile.array.strides[fast].as_constant() == Some(1);
        for vector in std::iter::successors(Some(most), |&n| (n > 1).then_some(n / 2)) {
            let (n, width) = (vector as i64, vector as i64 * size);
            let begins = tile.begins[fast].as_ref().is_none_or(|begin| begin.multiple() % n == 0);
            let (Some(atom), true) = (cp_async(fit::word(width)), begins && (vector == 1 || row)) else {
                continue;
            };
            let Some(found) = runs(tile.dist, rank, fast, vector) else { continue };
            let (mut copies, mut even) = (Vec::new(), true);
            for run in found {
                let from = self.address_of(tile, run[0]);
                let to = match target {
                    Target::Rows(spread) => {
                        let to = self.shared_at(base, dtype, spread, run[0])?;
                        even &= to.multiple() % width == 0;
                        to
                    }
                    // Pieces of 16 bytes remain whole.
                    Target::Swizzled(shared) => self.in_tile(base, shared, tile.dist, rank, run[0])?,
                };
                even &= from.multiple() % width == 0;
                copies.push((run[0], from, to));
            }
            if !even {
                continue;
            }
            let own = tile.dist.owner(&self.thread)?;
            let line = Lay::col_major([n])?;
            for (value, from, to) in copies {
                let exists = Cond::all([own.clone(), self.inside(tile.dist, value, &tile.dims)?]);
                let with = CopyWith::from(atom).zero_fill_outside(self.in_array(tile, value, fast, n)?);
                let source = Tensor::new(Gmem::new(from, dtype), line);
                let target = Tensor::new(Smem::new(to, dtype, None), line);
                copy_if(&mut self.b, with, &Predicates::from(exists), &source, &target)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Which of the `n` elements along an axis from a value on are in the array.
    fn in_array(&mut self, tile: &Tile<'_>, value: usize, fast: usize, n: i64) -> Result<Predicates, Error> {
        let rank = tile.dims.rank();
        let origin = self.origin(tile.dist, rank)?;
        let mut conds = vec![tile.always.clone()];
        let mut ends = None;
        for (axis, by) in tile.dist.offset(value, rank).into_iter().enumerate() {
            if axis == fast && tile.rest[axis].multiple() % n != 0 {
                ends = Some(&Expr::from(-by) - &tile.beyond[axis]);
            } else {
                conds.push(Cond::less(&tile.beyond[axis], &Expr::from(-by)));
            }
            if let Some(begin) = &tile.begins[axis] {
                conds.push(Cond::less(&Expr::from(-1 - by), &(begin + &origin[axis])));
            }
        }
        let inside = Predicates::from(Cond::all(conds));
        let Some(left) = ends else { return Ok(inside) };
        let numbers = Tensor::new(Counting::new(1), Lay::identity(&Shape::of([n])?)?);
        Ok(inside.and(Predicates::inside(&numbers, &[left])?))
    }
}
