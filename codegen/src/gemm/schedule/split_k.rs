//! Split-K: several blocks for each tile of C share K. The blocks of a cluster add up their sums through distributed shared memory;
//! if a tile has more blocks than that, the last of them adds up what all have left in a workspace.

use std::ops::Range;

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::{Place, Tile};
use crate::algorithm::{Data, copy, transform};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::mainloop::Sums;
use crate::sizes::static_size;
use crate::sync::Semaphore;
use crate::{Error, Expr, Gmem, Memory, Rmem, Smem};

/// The bytes of a counter.
pub(in crate::gemm) const SEMAPHORE: i64 = 4;
/// The bytes of which the workspace's address is a multiple.
const LINE: i64 = 16;
/// The registers for a thread's sums and for what is read together to be added to them.
const REGISTERS: i64 = 160;

/// A block's part of a tile of C.
pub(in crate::gemm) struct Part {
    /// The tile's number.
    tile: Expr,
    /// The part's number, and the number of parts.
    index: Expr,
    of: i64,
    /// The blocks of a cluster, which have consecutive parts, and the block's number among them.
    cluster: i64,
    rank: Expr,
}

/// The threads that have the sums.
pub(in crate::gemm) struct Team {
    /// The thread's number in the team, and the number of its threads.
    pub(in crate::gemm) thread: Expr,
    pub(in crate::gemm) threads: i64,
    /// The number of the named barrier at which the team meets, if it is not the whole block.
    pub(in crate::gemm) barrier: Option<i64>,
}

/// The workspace in which the sums of all parts wait for the last one: for each part an array of sums, and for each tile a counter for
/// each block of a cluster.
pub(in crate::gemm) struct Workspace {
    sums: Expr,
    arrived: Expr,
}

impl Workspace {
    /// Declares the parameters.
    pub(in crate::gemm) fn new(b: &mut Builder, sums: &str, arrived: &str) -> Workspace {
        Workspace { sums: b.pointer(sums, LINE), arrived: b.pointer(arrived, SEMAPHORE) }
    }
}

impl Part {
    /// The part of block `block`. The parts of a tile are consecutive blocks.
    pub(super) fn of_block(b: &mut Builder, block: &Expr, of: i64, cluster: i64) -> Result<Part, Error> {
        let rank = if cluster > 1 { b.special(Special::ClusterCtarank) } else { Expr::from(0) };
        Ok(Part { tile: block.div(of)?, index: block.rem(of)?, of, cluster, rank })
    }

    /// The tile's number.
    pub(super) fn tile(&self) -> &Expr {
        &self.tile
    }

    /// The part's share of the tiles along K: at least one tile, if there are as many tiles as parts.
    fn share(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        let count = &all.end - &all.start;
        let until = |part: &Expr| Ok::<_, Error>(&all.start + &(part * &count).div(self.of)?);
        Ok(until(&self.index)?..until(&(&self.index + 1))?)
    }

    /// Adds up the sums of the cluster's blocks, each of which gets a share of the columns: `own` are the block's sums of the whole
    /// tile, `share` those of its columns.
    fn add_up_cluster(&self, b: &mut Builder, team: &Team, own: &Sums, share: &Sums) -> Result<(), Error> {
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
        vectors.add_up(b, &shares, share)?;
        b.cluster_arrive();
        Ok(())
    }

    /// Leaves the sums in the workspace. Returns whether the block is the last to do so, and if it is, adds up the sums of all parts.
    fn add_up(
        &self,
        b: &mut Builder,
        workspace: &Workspace,
        team: &Team,
        sums: &Sums,
        store: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let vectors = Vectors::of(sums)?;
        let ([columns, rows], width) = (vectors.counts, vectors.width);
        let (side_by_side, of_part) = (width * team.threads, vectors.count() * width * team.threads);
        let lies = Lay::strided([width, columns, rows], [1, side_by_side, side_by_side * columns])?; // (Width,Columns,Rows)
        let at = |part: &Expr| {
            let place = &(&(&(&self.tile * self.of) + part) * of_part) + &(&team.thread * width);
            Tensor::new(Gmem::new(&workspace.sums + &(&place * vectors.bytes), vectors.dtype), lies)
        };
        let own = Tensor::new(sums.values.engine().of_no_tile(), vectors.layout);
        copy(b, AUTO_VECTORIZING_COPY, &own, &at(&self.index))?;
        let counter = &(&self.tile * self.cluster) + &self.rank;
        let counter =
            Semaphore::new(b, &Gmem::new(&workspace.arrived + &(&counter * SEMAPHORE), DType::U32))?;
        let first = Cond::less(&team.thread, &Expr::from(1));
        let counter = match team.barrier {
            Some(barrier) => counter.among(&first, &Expr::from(barrier), narrow("threads", team.threads)?),
            None => counter,
        };
        let arrivals = self.of / self.cluster;
        let last = counter.arrive_last(b, narrow("parts", arrivals)?)?;
        b.if_(&last, |b| {
            let parts = (0..arrivals).map(|i| at(&(&self.rank + i * self.cluster)));
            vectors.add_up(b, &parts.collect::<Vec<_>>(), sums)?;
            store(b)
        })
    }
}

/// A thread's sums as vectors of neighbours.
struct Vectors {
    /// (Width,Columns,Rows)
    layout: Lay,
    /// The values of a vector: four, where so many make up all values.
    width: i64,
    /// The vectors along a row of atoms, and the rows of atoms.
    counts: [i64; 2],
    /// The dtype of a sum, and its bytes.
    dtype: DType,
    bytes: i64,
}

impl Vectors {
    fn of(sums: &Sums) -> Result<Vectors, Error> {
        let layout = sums.values.layout();
        let size = |mode: usize| static_size("sums", &layout.mode(mode)?);
        let [values, rows, columns] = [size(0)?, size(1)?, size(2)?];
        // With several atoms along N, the values of one row of atoms do not lie together.
        let [along, rows] = if columns == 1 { [values, rows] } else { [values * rows * columns, 1] };
        let width = if along % 4 == 0 { 4 } else { 1 };
        let (counts, dtype) = ([along / width, rows], sums.values.engine().dtype());
        let layout = Lay::strided([width, counts[0], rows], [1, width, along])?;
        Ok(Vectors { layout, width, counts, dtype, bytes: element_bytes("sums", dtype)? })
    }

    fn count(&self) -> i64 {
        self.counts[0] * self.counts[1]
    }

    /// `sums = parts[0] + parts[1] + ...`, where each part is a tensor in memory, (Width,Columns,Rows).
    fn add_up<E: Memory + Data>(
        &self,
        b: &mut Builder,
        parts: &[Tensor<E>],
        sums: &Sums,
    ) -> Result<(), Error> {
        let own = Tensor::new(sums.values.engine().of_no_tile(), self.layout);
        // As many vectors are read together as registers are left.
        let registers = self.width * (self.bytes / 4).max(1);
        let together = ((REGISTERS - self.count() * registers) / registers).clamp(4, 32) as usize;
        let at_once = (together / parts.len().max(1)).max(1);
        for vector in 0..self.count() {
            let at = (Slice::All, Slice::at(vector % self.counts[0]), Slice::at(vector / self.counts[0]));
            let total = own.slice(at.clone())?; // Width
            for (i, some) in parts.chunks(together).enumerate() {
                let mut read = Vec::new();
                for part in some {
                    let part = part.slice(at.clone())?; // Width
                    let values = Rmem::like(b, &part)?;
                    copy(b, AUTO_VECTORIZING_COPY, &part, &values)?;
                    read.push(values);
                }
                let before = if i > 0 { vec![&total] } else { Vec::new() };
                let all: Vec<&Tensor<Rmem>> = before.into_iter().chain(&read).collect();
                transform(b, &all, &total, |_, x| {
                    let (first, rest) = (x[0].clone(), &x[1..]);
                    Ok(rest.iter().fold(first, |sum, next| &sum + next))
                })?;
            }
            if vector as usize % at_once == at_once - 1 {
                // Without this ptxas moves later reads here, into more registers than there are.
                b.warp_sync();
            }
        }
        Ok(())
    }
}

impl Tile {
    /// The tiles along K that the block goes through, of all that there are.
    pub(in crate::gemm) fn k_tiles(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        self.part.as_ref().map_or_else(|| Ok(all.clone()), |part| part.share(all))
    }

    /// Runs `store` where the sums of a tile of C are, with these sums and the tile's place. In a cluster each block has the sums of a share
    /// of the columns, for which `share` makes registers.
    pub(in crate::gemm) fn store_sums(
        &self,
        b: &mut Builder,
        workspace: Option<&Workspace>,
        team: &Team,
        sums: &Sums,
        share: impl FnOnce(&mut Builder) -> Result<Sums, Error>,
        store: impl FnOnce(&mut Builder, &Sums, &Place) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(part) = &self.part else { return store(b, sums, &self.place) };
        if part.cluster == 1 {
            return match workspace {
                Some(workspace) => part.add_up(b, workspace, team, sums, |b| store(b, sums, &self.place)),
                None => store(b, sums, &self.place),
            };
        }
        let own = share(b)?;
        part.add_up_cluster(b, team, sums, &own)?;
        let [m, n] = self.place.extents;
        let place = Place {
            row: self.place.row.clone(),
            column: &(&self.place.column * part.cluster) + &part.rank,
            extents: [m, n / part.cluster],
            batch: self.place.batch.clone(),
        };
        match workspace {
            Some(workspace) => part.add_up(b, workspace, team, &own, |b| store(b, &own, &place))?,
            None => store(b, &own, &place)?,
        }
        // The other blocks may still read this block's sums.
        b.cluster_wait();
        Ok(())
    }
}
