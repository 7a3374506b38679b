//! Tiles from arrays to shared memory by `cp.async`.

use girih_codegen::algorithm::distributed::{Piece, address_in, widest};
use girih_codegen::algorithm::{CopyWith, Predicates, copy_if};
use girih_codegen::atom::cp_async;
use girih_codegen::{Cond, Counting, Expr, Gmem, Smem};
use girih_layout::{Lay, Shape};
use girih_tensor::Tensor;

use super::memory::Tile;
use super::{Lowering, unfit};
use crate::error::{Error, Result};
use crate::fit;
use crate::ir::{Indexed, Value};
use crate::place::wgmma::SharedTile;

/// How a tile is laid out in shared memory.
pub(super) enum Target<'t> {
    /// At strides.
    Rows(Piece<'t>),
    /// As `wgmma` reads it.
    Swizzled(&'t SharedTile),
}

impl Lowering<'_> {
    /// Copies a tile to shared memory by `cp.async` of up to `most` elements along an axis, if they are laid out as that asks for. Outside of the
    /// array there are zeros.
    pub(super) fn copy_async(
        &mut self,
        tile: &Tile<'_>,
        base: &Expr,
        target: &Target<'_>,
        fast: usize,
        most: usize,
    ) -> Result<bool> {
        let (rank, dtype) = (tile.dims.rank(), tile.array.dtype);
        let size = dtype.bytes();
        let row = tile.array.strides[fast].as_constant() == Some(1);
        let places = |low: &mut Self, value: usize| {
            let to = match target {
                Target::Rows(piece) => address_in(low, piece, base, value, None)?.0,
                Target::Swizzled(shared) => low.in_tile(base, shared, tile.dist, rank, value)?,
            };
            Ok::<_, Error>([low.address_of(tile, value), to])
        };
        let runs = widest(tile.dist, rank, Some(fast).filter(|_| row), most as i64, |n, run| {
            let [from, to] = places(self, run[0])?;
            let even = |at: &Expr, unit: i64| at.multiple() % unit == 0;
            // Pieces of 16 bytes remain whole in a swizzled tile.
            Ok::<_, Error>(
                cp_async(fit::word(n * size)).is_some()
                    && tile.begins[fast].as_ref().is_none_or(|begin| even(begin, n))
                    && even(&from, n * size)
                    && (matches!(target, Target::Swizzled(_)) || even(&to, n * size)),
            )
        })?;
        let n = runs[0].len() as i64;
        let Some(atom) = cp_async(fit::word(n * size)) else { return Ok(false) };
        let own = tile.dist.owner(&self.thread)?;
        let line = Lay::col_major([n])?;
        for run in runs {
            let [from, to] = places(self, run[0])?;
            let exists = Cond::all([own.clone(), self.inside(tile.dist, run[0], &tile.dims)?]);
            let with = CopyWith::from(atom).zero_fill_outside(self.predicates(tile, run[0], fast, n)?);
            let source = Tensor::new(Gmem::new(from, dtype), line);
            let target = Tensor::new(Smem::new(to, dtype, None), line);
            copy_if(&mut self.b, with, &Predicates::from(exists), &source, &target)?;
        }
        Ok(true)
    }

    /// Copies gathered elements to a tile in shared memory as `wgmma` reads it, by `cp.async` of elements that follow each other. Outside of the
    /// array there are zeros.
    pub(super) fn gather_async(
        &mut self,
        (at, operands): (&Indexed, &[Value]),
        base: &Expr,
        tile: &SharedTile,
    ) -> Result {
        let narrow = || unfit("elements that `cp.async` is to copy do not follow each other");
        let (places, _) = self.places(at, operands)?;
        let (rank, dtype) = (places.dims.rank(), places.array.dtype);
        let mut spans = self.spans(&places, &operands[..places.array.extents.len()])?.ok_or_else(narrow)?;
        let n = spans.runs[0].len() as i64;
        let atom = cp_async(fit::word(n * dtype.bytes())).ok_or_else(narrow)?;
        let own = places.dist.owner(&self.thread)?;
        let line = Lay::col_major([n])?;
        let numbers = Tensor::new(Counting::new(1), Lay::identity(&Shape::of([n])?)?);
        // Copies end where rows of the array end.
        spans.whole = Some(Cond::Always);
        for run in &spans.runs {
            let (from, inside) = self.place(&places, Some(&spans), run[0])?;
            let mut inside = Predicates::from(inside);
            if at.check {
                let (first, axis) = (self.column(&places, &spans, run[0])?, spans.axis);
                let [low, end] = [&places.array.lows[axis], &places.array.extents[axis]];
                let begun = Predicates::from(Cond::less(&(low + -1), &first));
                inside = inside.and(begun).and(Predicates::inside(&numbers, &[end - &first])?);
            }
            let to = self.in_tile(base, tile, places.dist, rank, run[0])?;
            let exists = Cond::all([own.clone(), self.inside(places.dist, run[0], &places.dims)?]);
            let with = CopyWith::from(atom).zero_fill_outside(inside);
            let source = Tensor::new(Gmem::new(from, dtype), line);
            let target = Tensor::new(Smem::new(to, dtype, None), line);
            copy_if(&mut self.b, with, &Predicates::from(exists), &source, &target)?;
        }
        Ok(())
    }

    /// Which of the `n` elements along an axis from a value on are in the array.
    fn predicates(&mut self, tile: &Tile<'_>, value: usize, fast: usize, n: i64) -> Result<Predicates> {
        let ends = tile.rest[fast].multiple() % n != 0;
        let inside = Predicates::from(self.in_array(tile, value, false, Some(fast).filter(|_| ends))?);
        if !ends {
            return Ok(inside);
        }
        let by = tile.dist.offset(value, tile.dims.rank())[fast];
        let numbers = Tensor::new(Counting::new(1), Lay::identity(&Shape::of([n])?)?);
        Ok(inside.and(Predicates::inside(&numbers, &[&Expr::from(-by) - &tile.beyond[fast]])?))
    }
}
