//! Tiles from arrays to shared memory by `cp.async`.

use girih_codegen::atom::cp_async;
use girih_codegen::{Cond, Expr, Width};
use girih_ptx::{Opcode, Operand};

use super::exchange::Spread;
use super::memory::{Tile, runs};
use super::{Lowering, bytes};
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
        let size = bytes(dtype);
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
            let own = self.first_replica(tile.dist)?;
            for (value, from, to) in copies {
                let exists = Cond::all([own.clone(), self.inside(tile.dist, value, &tile.dims)?]);
                let (inside, count) = self.part(tile, value, fast, n)?;
                let target = self.b.address(&to, Width::W32)?;
                let source = self.b.address(&from, Width::W64)?;
                let mut operands = vec![target, source, Operand::Int(width)];
                match self.b.select_or_zero(&inside, &(&count * size))? {
                    Operand::Int(all) if all == width => {}
                    wanted => operands.push(wanted),
                }
                self.b.inst_if(&exists, Opcode::Cp, &atom.modifiers(), operands)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether a vector of `n` elements along an axis is in the array, and how many of its elements are.
    fn part(&mut self, tile: &Tile<'_>, value: usize, fast: usize, n: i64) -> Result<(Cond, Expr), Error> {
        let rank = tile.dims.rank();
        let origin = self.origin(tile.dist, rank)?;
        let mut conds = vec![tile.always.clone()];
        let mut count = Expr::from(n);
        for (axis, by) in tile.dist.offset(value, rank).into_iter().enumerate() {
            let rest = &tile.rest[axis];
            if axis == fast && (rest.multiple() % n != 0 || rest.as_constant() == Some(0)) {
                let left = &Expr::from(-by) - &tile.beyond[axis];
                count = left.maximum(&Expr::from(0)).minimum(&count);
            } else {
                conds.push(Cond::less(&tile.beyond[axis], &Expr::from(-by)));
            }
            if let Some(begin) = &tile.begins[axis] {
                conds.push(Cond::less(&Expr::from(-1 - by), &(begin + &origin[axis])));
            }
        }
        Ok((Cond::all(conds), count))
    }
}
