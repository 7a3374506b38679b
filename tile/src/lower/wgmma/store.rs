//! Stores by TMA.

use girih_codegen::algorithm::{
    copy, fence_proxy_async, tma_store_arrive, tma_store_complete, tma_store_wait,
};
use girih_codegen::atom::{
    GmmaLayout, Major, MmaAtom, MmaKind, Product, SM90_U16X8_STSM_T, SM90_U32X4_STSM_N, Transfer,
};
use girih_codegen::{Cond, Expr, Operand, Reg, Rmem, Smem, TiledCopy, TiledMma};
use girih_layout::Lay;
use girih_tensor::{DType, Tensor};

use super::super::params::{Boxes, Source};
use super::super::{Lowering, unfit};
use super::copies::sides;
use crate::error::Error;
use crate::fit;
use crate::ir::{Known, OpId, View};
use crate::place::wgmma::{ROWS, SharedTile, WARPGROUP};

/// The most warpgroups that have a barrier of their own, and the first of these: before it are the one of all threads and those of ping-pong.
const MOST: i64 = 4;
const FIRST: i64 = 2 + MOST;

/// What TMA copies store from.
#[derive(Debug)]
pub(super) struct Stores {
    base: Expr,
    /// Whether each warpgroup stores the rows that it has, and waits for no other one.
    apart: bool,
    /// Whether copies may read shared memory by now.
    used: bool,
}

impl Lowering<'_> {
    /// Declares the tensor maps of stores, which go through shared memory at `base`.
    pub(super) fn declare_stores(&mut self, base: Expr) -> Result<(), Error> {
        let plan = self.plan;
        let stores = &plan.products.stores;
        let threads = i64::from(plan.threads);
        let of_sums = |(&id, tile): (&OpId, &SharedTile)| self.strips(id, tile).is_some();
        let apart = threads <= MOST * i64::from(WARPGROUP) && stores.iter().all(of_sums);
        for (&id, tile) in stores {
            let Some(array) = plan.func.op(id).kind.array() else { continue };
            let (array, param) = plan.func.param_of(array);
            let strips = self.strips(id, tile).filter(|_| apart);
            let tma = tile.piece(strips).tensor_copy(Transfer::Store, param.extents.len())?;
            let boxes = Boxes::of(tile, &tma);
            let name = format!("{}_store", param.name);
            let map = self.b.tensor_map(&name);
            self.params.add_map(name, Source::Map(array), boxes);
            self.products.maps.insert(id, map);
        }
        self.products.stores = (!stores.is_empty()).then_some(Stores { base, apart, used: false });
        Ok(())
    }

    /// Puts a tile into shared memory, from where one thread lets it be copied to its array; one of each warpgroup, if these have rows of
    /// their own.
    pub(crate) fn store_by_copy(&mut self, id: OpId, view: &View, tile: &SharedTile) -> Result<(), Error> {
        let plan = self.plan;
        let value = plan.func.op(id).operands[0];
        let missing = || unfit("a store without a tensor map");
        let map = self.products.maps.get(&id).cloned().ok_or_else(missing)?;
        let regs = self.regs(value)?;
        let stores = self.products.stores.as_mut().ok_or_else(missing)?;
        let (base, apart) = (stores.base.clone(), stores.apart);
        // An iteration finds the copies of the one before, and may store to the same place.
        let again = self.loops.len() > usize::from(plan.func.is_persistent());
        if std::mem::replace(&mut stores.used, true) || !self.loops.is_empty() {
            let leader = self.leader(apart)?;
            self.b.if_(&leader, |b| {
                if again {
                    tma_store_complete(b, 0)
                } else {
                    tma_store_wait(b, 0)
                };
                Ok(())
            })?;
            self.meet_to_store(apart)?;
        }
        let strips = self.strips(id, tile).filter(|_| apart);
        let piece = tile.piece(strips);
        let rank = view.tile.rank();
        let begin = (0..rank).map(|axis| self.begin_of(id, view, axis)).collect::<Result<Vec<_>, _>>()?;
        // Where pieces begin in shared memory, and in the array.
        let mut pieces = vec![(base.clone(), begin.clone())];
        if let Some(major) = strips {
            pieces.clear();
            let group = self.products.group.clone().ok_or_else(missing)?;
            let count = tile.bytes() / piece.bytes();
            let warpgroups = i64::from(plan.threads / WARPGROUP);
            for (regs, at) in regs.chunks(regs.len() / fit::size(count / warpgroups)).zip(0..) {
                let number = &group + at * warpgroups;
                let to = &base + &(&number * piece.bytes());
                self.write_matrices(&to, &piece, major, regs)?;
                let (mut begin, mut number) = (begin.clone(), number);
                if major == Major::Mn {
                    begin[tile.fast] = &begin[tile.fast] + &(&number * ROWS);
                    number = Expr::from(0);
                }
                for (&(axis, extent), &(_, own)) in tile.rows.iter().zip(&piece.rows).rev() {
                    begin[axis] = &begin[axis] + &(&number.rem(extent / own)? * own);
                    number = number.div(extent / own)?;
                }
                pieces.push((to, begin));
            }
        } else {
            self.write_tile(&base, tile, plan.dist(value), view.tile, &regs)?;
        }
        fence_proxy_async(&mut self.b);
        self.meet_to_store(apart)?;

        let tma = piece.tensor_copy(Transfer::Store, rank)?;
        let one = tma.copy().get_slice(&Expr::from(0))?;
        let leader = Cond::all([self.leader(apart)?, self.has_elements(view)]);
        self.b.if_(&leader, |b| {
            for (from, begin) in pieces {
                let (global, shared) = sides(&tma, &piece, begin, from)?;
                copy(b, tma.with(&map), &one.partition_s(&shared)?, &one.partition_d(&global)?)?; // (Box,Rest0,Rest1,...)
            }
            tma_store_arrive(b);
            Ok(())
        })?;
        Ok(())
    }

    /// Whether this is the thread that issues the copies that store, of a warpgroup or of all.
    pub(super) fn leader(&self, apart: bool) -> Result<Cond, Error> {
        let number = if apart { self.thread.rem(WARPGROUP.into())? } else { self.thread.clone() };
        Ok(Cond::less(&number, &Expr::from(1)))
    }

    /// The threads of a warpgroup, or all, meet.
    fn meet_to_store(&mut self, apart: bool) -> Result<(), Error> {
        match self.products.group.as_ref().filter(|_| apart) {
            Some(group) => {
                let barrier = group + FIRST;
                self.b.named_barrier_sync(&barrier, WARPGROUP)?;
            }
            None => self.meet(),
        }
        Ok(())
    }

    /// Writes a strip of 16-bit elements, which a warpgroup holds like accumulators of `wgmma`, to shared memory by `stmatrix`.
    fn write_matrices(
        &mut self,
        base: &Expr,
        strip: &SharedTile,
        major: Major,
        regs: &[Reg],
    ) -> Result<(), Error> {
        let [along, others] = strip.extents;
        let n = if major == Major::K { along } else { others };
        let types = [DType::F32, DType::Bf16, DType::Bf16];
        let columns = (1..=16).rev().map(|by| 16 * by).find(|columns| n % columns == 0).unwrap_or(16);
        let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, columns, types, [Major::K; 2], Product::Multiply)?;
        let mma = TiledMma::new(atom, Lay::strided([1, 1], [0, 0])?)?;
        let by = if major == Major::K { SM90_U32X4_STSM_N } else { SM90_U16X8_STSM_T };
        let by = TiledCopy::of_mma(by, 16, &mma, Operand::C)?;
        let layout = GmmaLayout { major, swizzle: strip.swizzle }.tile(strip.dtype, [ROWS, n])?;
        let target = Smem::new(base.clone(), strip.dtype, Some(layout.swizzle()));
        let target = Tensor::new(target, *layout.layout()); // (64,N)
        let lay = Lay::strided([columns / 2, 1, n / columns], [1, 0, columns / 2])?;
        let source = Tensor::new(Rmem::of(self.pairs(regs), strip.dtype)?, lay); // (FrgV,1,RestN)
        let thread = self.thread.rem(WARPGROUP.into())?;
        let target = by.get_slice(&thread)?.partition_d(&target)?; // (FrgV,1,RestN)
        Ok(copy(&mut self.b, &by, &source, &target)?)
    }

    /// How warpgroups hold strips of a stored tile, if they do.
    fn strips(&self, id: OpId, tile: &SharedTile) -> Option<Major> {
        let value = self.plan.func.op(id).operands[0];
        tile.strips(&self.plan.func.ty(value).dims, self.plan.dist(value))
    }

    /// That an array has elements: the map of one without describes another.
    fn has_elements(&self, view: &View) -> Cond {
        let (array, param) = self.plan.func.param_of(view.array);
        let extents = self.params.arrays.get(&array).map_or(&[][..], |bound| &bound.extents);
        let unknown =
            extents.iter().zip(&param.extents).filter(|(_, known)| !matches!(known, Known::Is(1..)));
        Cond::all(unknown.map(|(extent, _)| Cond::less(&Expr::from(0), extent)))
    }

    /// Behind all stores: shared memory stays until they have read it.
    pub(super) fn end_stores(&mut self) -> Result<(), Error> {
        let Some(Stores { apart, .. }) = self.products.stores else { return Ok(()) };
        let leader = self.leader(apart)?;
        Ok(self.b.if_(&leader, |b| {
            tma_store_wait(b, 0);
            Ok(())
        })?)
    }
}
