//! Split-K: several blocks for each tile of C share K, and add up their sums one after the other (CUTLASS's serial split-K).

use std::ops::Range;

use girih_layout::Lay;
use girih_tensor::{DType, Slice, Tensor};

use super::Tile;
use crate::algorithm::{CopyWith, Predicates, copy, copy_if, transform};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::error::narrow;
use crate::gemm::mainloop::Sums;
use crate::sizes::static_size;
use crate::sync::Semaphore;
use crate::{Error, Expr, Gmem, Rmem, Scalar};

/// The bytes of a sum and of a semaphore.
const WORD: i64 = 4;
/// The sums that are read together, which have to fit the registers beside the thread's own sums.
const TOGETHER: i64 = 16;

/// A block's part of a tile of C.
pub(in crate::gemm) struct Part {
    /// The tile's number.
    tile: Expr,
    /// The part's number, and the number of parts.
    index: Expr,
    of: i64,
}

/// The threads that have the sums.
pub(in crate::gemm) struct Team {
    /// The thread's number in the team, and the number of its threads.
    pub(in crate::gemm) thread: Expr,
    pub(in crate::gemm) threads: i64,
    /// The number of the named barrier at which the team meets, if it is not the whole block.
    pub(in crate::gemm) barrier: Option<i64>,
}

/// The workspace in which sums wait for the next part: for each tile an array of f32, and a semaphore with the number of the part
/// whose turn it is.
pub(in crate::gemm) struct Workspace {
    sums: Expr,
    turns: Expr,
}

impl Workspace {
    /// Declares the parameters.
    pub(in crate::gemm) fn new(b: &mut Builder, sums: &str, turns: &str) -> Workspace {
        Workspace { sums: b.pointer(sums, 4 * WORD), turns: b.pointer(turns, WORD) }
    }
}

impl Part {
    /// The part of block `block`. The parts of a tile are consecutive blocks, so that a block waits for blocks of lower numbers only.
    pub(super) fn of_block(block: &Expr, of: i64) -> Result<Part, Error> {
        Ok(Part { tile: block.div(of)?, index: block.rem(of)?, of })
    }

    /// The tile's number.
    pub(super) fn tile(&self) -> &Expr {
        &self.tile
    }

    /// The part's share of the tiles along K: at least one tile, if there are as many tiles as parts.
    pub(super) fn share(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        let count = &all.end - &all.start;
        let until = |part: &Expr| Ok::<_, Error>(&all.start + &(part * &count).div(self.of)?);
        Ok(until(&self.index)?..until(&(&self.index + 1))?)
    }

    /// Adds the sums of the parts before to the part's own sums, and hands the result on; the last part, which then has all sums, runs
    /// `store`.
    pub(super) fn add_up(
        &self,
        b: &mut Builder,
        workspace: &Workspace,
        team: &Team,
        sums: &Sums,
        store: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let count = static_size("sums", sums.values.layout())?;
        // Four sums of a thread are a vector, and the vectors of a warp lie side by side.
        let vector = if count % 4 == 0 { 4 } else { 1 };
        let place = &(&self.tile * (count * team.threads)) + &(&team.thread * vector);
        let stored = Gmem::new(&workspace.sums + &(&place * WORD), DType::F32);
        let vectors = count / vector;
        let together = (1..=TOGETHER / vector).rev().find(|by| vectors % by == 0).unwrap_or(1);
        let pieces = vectors / together;
        let strides = [1, vector * team.threads, vector * team.threads * together];
        let stored = Tensor::new(stored, Lay::strided([vector, together, pieces], strides)?); // (4,Vectors,Pieces)
        let own = Tensor::new(sums.values.engine().clone(), Lay::left(stored.layout().shape())?); // (4,Vectors,Pieces)
        let turn = Gmem::new(&workspace.turns + &(&self.tile * WORD), DType::U32);
        let turn = Semaphore::new(b, &turn)?;
        let first = Cond::less(&team.thread, &Expr::from(1));
        let turn = match team.barrier {
            Some(barrier) => turn.among(&first, &Expr::from(barrier), narrow("threads", team.threads)?),
            None => turn,
        };
        let index = |index: &Expr| Scalar::index(index, DType::U32);
        turn.wait_eq(b, &index(&self.index))?;
        // This does not branch, since beside a branch ptxas spills the sums of the widest tile.
        let others = Predicates::from(Cond::less(&Expr::from(0), &self.index));
        for piece in 0..pieces {
            let at = (Slice::All, Slice::All, Slice::at(piece));
            let (stored, own) = (stored.slice(at.clone())?, own.slice(at)?); // (4,Vectors)
            let before = Rmem::like(b, &stored)?;
            copy_if(b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), &others, &stored, &before)?;
            transform(b, &[&own, &before], &own, |_, x| Ok(&x[0] + &x[1]))?;
        }
        b.if_else(
            &Cond::less(&self.index, &Expr::from(self.of - 1)),
            |b| {
                copy(b, AUTO_VECTORIZING_COPY, &own, &stored)?;
                turn.release(b, &index(&(&self.index + 1)))
            },
            |b| {
                store(b)?;
                // The next launch finds the semaphore as this one did.
                turn.release(b, &index(&Expr::from(0)))
            },
        )
    }
}

impl Tile {
    /// The tiles along K that the block goes through, of all that there are.
    pub(in crate::gemm) fn k_tiles(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        self.part.as_ref().map_or_else(|| Ok(all.clone()), |part| part.share(all))
    }

    /// Runs `store` where the sums of the whole tile are.
    pub(in crate::gemm) fn store_sums(
        &self,
        b: &mut Builder,
        workspace: Option<&Workspace>,
        team: &Team,
        sums: &Sums,
        store: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.part.as_ref().zip(workspace) {
            Some((part, workspace)) => part.add_up(b, workspace, team, sums, store),
            None => store(b),
        }
    }
}
