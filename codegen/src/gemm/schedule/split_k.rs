//! Split-K: several blocks share the K of each tile of C. The blocks of a cluster add up their accumulators through distributed shared memory. If a
//! tile has more blocks than that, the last of them adds up the accumulators that all have stored in a workspace.

use std::ops::Range;

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{Slice, Tensor};

use super::Place;
use super::sums::{LINE, Team, Vectors, Workspace};
use crate::algorithm::copy;
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::Builder;
use crate::gemm::mainloop::Sums;
use crate::{Error, Expr, Smem};

/// A block's part of a tile of C.
pub(in crate::gemm) struct Part {
    /// The tile's index.
    tile: Expr,
    /// The part's index, and the number of parts.
    index: Expr,
    of: i64,
    /// The blocks of a cluster, which have consecutive parts, and the block's index among them.
    cluster: i64,
    rank: Expr,
}

impl Part {
    /// The part of block `block`. The parts of a tile are consecutive blocks.
    pub(super) fn of_block(b: &mut Builder, block: &Expr, of: i64, cluster: i64) -> Result<Part, Error> {
        let rank = if cluster > 1 { b.special(Special::ClusterCtarank) } else { Expr::from(0) };
        Ok(Part { tile: block.div(of)?, index: block.rem(of)?, of, cluster, rank })
    }

    /// The tile's index.
    pub(super) fn tile(&self) -> &Expr {
        &self.tile
    }

    /// The part's share of the tiles along K: at least one tile, if there are as many tiles as parts.
    pub(super) fn share(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        let count = &all.end - &all.start;
        let until = |part: &Expr| Ok::<_, Error>(&all.start + &(part * &count).div(self.of)?);
        Ok(until(&self.index)?..until(&(&self.index + 1))?)
    }

    /// Adds up the accumulators of the cluster's blocks, each of which gets a share of the columns: `own` are the block's accumulators of the whole
    /// tile, `share` those of its columns.
    fn add_up_cluster(
        &self,
        b: &mut Builder,
        team: &Team<'_>,
        own: &Sums,
        share: &Sums,
    ) -> Result<(), Error> {
        let vectors = Vectors::of(share)?;
        let ([columns, rows], width) = (vectors.counts, vectors.width);
        // The share of each block is an array in which the threads' vectors lie side by side.
        let (side_by_side, of_share) = (width * team.threads, vectors.count() * width * team.threads);
        let strides = [1, side_by_side, side_by_side * columns, of_share];
        let lies = Lay::strided([width, columns, rows, self.cluster], strides)?; // (Width,Columns,Rows,Shares)
        let base = b.alloc_shared(of_share * self.cluster * vectors.bytes, LINE)?;
        let mine = Smem::new(&base + &(&team.thread * (width * vectors.bytes)), vectors.dtype, None);
        let sums = [1, width, width * columns * self.cluster, width * columns];
        let sums = Lay::strided([width, columns, rows, self.cluster], sums)?; // (Width,Columns,Rows,Shares)
        let sums = Tensor::new(own.values.engine().of_no_tile(), sums);
        copy(b, AUTO_VECTORIZING_COPY, &sums, &Tensor::new(mine.clone(), lies))?;
        b.cluster_sync();
        let mut shares = Vec::new();
        for rank in 0..self.cluster {
            let there = Tensor::new(mine.of_block(b, &Expr::from(rank))?, lies);
            shares.push(there.slice((Slice::All, Slice::All, Slice::All, Slice::At(self.rank.clone())))?); // (Width,Columns,Rows)
        }
        vectors.add_up(b, &shares, share, false)?;
        b.cluster_arrive();
        Ok(())
    }

    /// Leaves the accumulators in the workspace, for each part an array. The last block to do so adds up the accumulators of all parts, and stores them.
    fn add_up(
        &self,
        b: &mut Builder,
        workspace: &Workspace,
        team: &Team<'_>,
        sums: &Sums,
        store: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let vectors = Vectors::of(sums)?;
        let at = |part: &Expr| workspace.array(&vectors, team, &(&(&self.tile * self.of) + part));
        vectors.leave(b, sums, &at(&self.index)?)?;
        // For each tile a counter for each block of a cluster.
        let counter = workspace.counter(b, team, &(&(&self.tile * self.cluster) + &self.rank))?;
        let arrivals = self.of / self.cluster;
        let last = counter.arrive_last(b, &Expr::from(arrivals))?;
        b.if_(&last, |b| {
            let parts = (0..arrivals).map(|i| at(&(&self.rank + i * self.cluster)));
            vectors.add_up(b, &parts.collect::<Result<Vec<_>, Error>>()?, sums, false)?;
            store(b)
        })
    }

    /// Runs `store` where the accumulators of the tile at `place` are, with these accumulators and their place. In a cluster each block has the accumulators of a
    /// share of the columns, for which `share` makes registers.
    pub(super) fn store_sums(
        &self,
        b: &mut Builder,
        place: &Place,
        team: &Team<'_>,
        sums: &Sums,
        share: impl FnOnce(&mut Builder) -> Result<Sums, Error>,
        store: impl FnOnce(&mut Builder, &Sums, &Place) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.cluster == 1 {
            return match team.workspace {
                Some(workspace) => self.add_up(b, workspace, team, sums, |b| store(b, sums, place)),
                None => store(b, sums, place),
            };
        }
        let own = share(b)?;
        self.add_up_cluster(b, team, sums, &own)?;
        let [m, n] = place.extents;
        let place = Place {
            row: place.row.clone(),
            column: &(&place.column * self.cluster) + &self.rank,
            extents: [m, n / self.cluster],
            batch: place.batch.clone(),
            span: None,
        };
        match team.workspace {
            Some(workspace) => self.add_up(b, workspace, team, &own, |b| store(b, &own, &place))?,
            None => store(b, &own, &place)?,
        }
        // The other blocks may still read this block's sums.
        b.cluster_wait();
        Ok(())
    }
}
