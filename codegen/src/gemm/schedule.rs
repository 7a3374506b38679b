//! Schedules (tile schedulers): which block computes which tiles of C, in which order.

mod groups;
mod order;
mod persistent;
mod pieces;
mod raster;
mod split_k;
mod stream;
mod sums;

use std::ops::Range;

use girih_layout::Lay;
use girih_ptx::Special;

use super::batch::Products;
use super::mainloop::{CLUSTERS, Sums};
use super::{GemmConfig, Mainloop, Store};
use crate::builder::{Builder, Cond};
use crate::error::GemmError;
use crate::sizes::static_size;
use crate::tiled::mma::Operand;
use crate::{Error, Expr};
use split_k::Part;

pub use groups::MAX_GROUPS;
pub(super) use groups::{Groups, SHARED_BYTES};
pub use order::hilbert;
pub(super) use order::order;
pub use persistent::MAX_TILES;
pub(super) use persistent::{Order, Tiles};
pub(super) use pieces::Work;
pub use pieces::{Handed, Piece, Pieces};
pub(super) use stream::Stream;
pub(super) use sums::{SEMAPHORE, Team, Workspace};

/// The most blocks that share a tile.
const MAX_PARTS: i64 = 256;

/// Which block computes which tiles of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// A block for each tile.
    Raster {
        /// Rows of tiles that are walked column by column, so that blocks that run together share tiles of A and B in the L2 cache.
        group: i64,
    },
    /// Several blocks for each tile, which share the tiles along K: for few tiles of C and a long K. The blocks of a cluster add up their
    /// accumulators through distributed shared memory, and each of them stores a share of the tile's columns. Where a tile has more parts than a
    /// cluster, all parts leave their accumulators in a workspace, and the last block adds them up; two launches with one workspace must not run at
    /// the same time. Accumulators are added in the order of the parts, so that the sums of a problem are the same each time. No block waits for a
    /// block of another cluster.
    SplitK {
        /// The blocks for each tile, from 2 to 256; K must have at least as many tiles.
        parts: i64,
        /// The blocks of a cluster, 1, 2, 4 or 8, which divide the parts. More than 1 needs a warp-specialised mainloop, and a direct store.
        cluster: i64,
    },
    /// As many blocks as run together. With `n` blocks, each computes every `n`-th tile of an order that is in memory.
    Persistent {
        /// Whether every second tile of a block iterates over K backwards: such a tile begins with what the tiles before left in the L2 cache.
        /// The grid decides which tiles do so, and with that in which order their accumulators are added.
        alternate: bool,
    },
    /// As many blocks as run together, each with as much to do: those of the tiles that would leave some blocks without work are cut along K
    /// ([`Pieces`]). A block that has a tile's first piece along K waits for the accumulators of the others, and adds these to its own in their
    /// order along K, so that the sums of a problem are the same each time on a device; two launches with one workspace must not run at the
    /// same time.
    StreamK {
        /// As that of [`Schedule::Persistent`], of the tiles that are not cut.
        alternate: bool,
    },
}

/// A tile of C that a block computes.
pub(super) struct Tile {
    pub(super) place: Place,
    /// 1 if the tile iterates over K backwards, else 0.
    pub(super) backwards: Expr,
    share: Share,
}

/// How much of a tile a block computes.
enum Share {
    /// All of it.
    Whole,
    /// A part along K that follows from the block's index.
    Part(Part),
    /// A part along K that is in memory.
    Piece(stream::Piece),
}

/// The place of a tile of C: its row and its column among tiles of these extents, in elements, and the number of its GEMM in a batch.
pub(super) struct Place {
    pub(super) row: Expr,
    pub(super) column: Expr,
    pub(super) extents: [i64; 2],
    pub(super) batch: Expr,
    /// The group that the row or the column is counted in, if GEMMs are groups of rows or columns.
    pub(super) span: Option<Span>,
}

impl Place {
    /// Where the group begins in A or B, if the operand's rows are those of groups.
    pub(super) fn origin(&self, operand: Operand) -> Option<&Expr> {
        self.span.as_ref().filter(|span| span.mode == operand.modes()[0]).map(|span| &span.origin)
    }

    /// 1 if row `first` of the tile, or one after it, is a row of the tile's group, else 0; `None` if there are no groups of rows.
    pub(super) fn has_rows_from(&self, first: &Expr) -> Option<Expr> {
        let span = self.span.as_ref().filter(|span| span.mode == 0)?;
        let before = &(&self.row * self.extents[0]) + first;
        let rows = &(&span.before + &span.extent) - &before;
        Some(rows.maximum(&Expr::from(0)).minimum(&Expr::from(1)))
    }
}

/// A group of rows (mode 0) or columns (mode 1) of C.
pub(super) struct Span {
    pub(super) mode: usize,
    /// The row from which on tiles are counted, how many rows there are before the group's first one, and how many rows the group has.
    pub(super) origin: Expr,
    pub(super) before: Expr,
    pub(super) extent: Expr,
}

/// A block's way through its tiles.
pub(super) enum Walk {
    /// The numbers of rows and columns of tiles of a cluster, the number of rows that are walked together, and the number of parts of a tile and of a
    /// cluster.
    Raster {
        tiles: [Expr; 2],
        group: i64,
        parts: [i64; 2],
    },
    Persistent(Tiles),
    Stream(Stream),
    Grouped(Groups),
}

impl Schedule {
    /// The number of blocks that go through `tiles` tiles on a device with `multiprocessors` SMs: one for each tile, or for a
    /// persistent schedule the fewest that finish the tiles in as few turns, or all that run together if they share tiles.
    pub fn blocks(&self, tiles: u64, multiprocessors: u32) -> u64 {
        match self {
            Schedule::Raster { .. } => tiles,
            Schedule::SplitK { parts, .. } => tiles * *parts as u64,
            Schedule::Persistent { .. } => {
                let turns = tiles.div_ceil(u64::from(multiprocessors.max(1)));
                tiles.div_ceil(turns.max(1))
            }
            Schedule::StreamK { .. } => u64::from(multiprocessors.max(1)),
        }
    }

    /// Whether a block may compute several tiles.
    pub fn is_persistent(&self) -> bool {
        matches!(self, Schedule::Persistent { .. } | Schedule::StreamK { .. })
    }

    /// How many rows of tiles are walked together.
    pub(super) fn group(&self) -> i64 {
        match *self {
            Schedule::Raster { group } => group,
            Schedule::SplitK { .. } | Schedule::Persistent { .. } | Schedule::StreamK { .. } => 1,
        }
    }

    /// How many blocks share a tile, and how many of them are a cluster.
    pub(super) fn parts(&self) -> [i64; 2] {
        if let Schedule::SplitK { parts, cluster } = *self { [parts, cluster] } else { [1, 1] }
    }

    pub(super) fn check(&self, config: &GemmConfig) -> Result<(), Error> {
        if config.teams() > 1 && !matches!(self, Schedule::Persistent { .. }) {
            let with = format!("the schedule {self:?}, which has one tile for a block");
            return Err(GemmError::Teams { teams: config.teams(), with, most: 1 }.into());
        }
        match *self {
            // A group of rows has at most 2^31 tiles, whatever N is.
            Schedule::Raster { group } if !(1..=2 * config.tile[1]).contains(&group) => {
                Err(GemmError::RasterGroup { group, most: 2 * config.tile[1] }.into())
            }
            Schedule::Persistent { alternate: true } | Schedule::StreamK { alternate: true }
                if matches!(config.mainloop, Mainloop::Multistage(_)) =>
            {
                Err(GemmError::Alternate {}.into())
            }
            Schedule::SplitK { parts, .. } if !(2..=MAX_PARTS).contains(&parts) => {
                Err(GemmError::Splits { splits: parts, most: MAX_PARTS }.into())
            }
            Schedule::SplitK { parts, cluster } if !CLUSTERS.contains(&cluster) || parts % cluster != 0 => {
                Err(GemmError::SplitCluster { splits: parts, cluster }.into())
            }
            Schedule::SplitK { .. } | Schedule::StreamK { .. } if config.multicast() > 1 => {
                let (multicast, schedule) = (config.multicast(), format!("{self:?}"));
                Err(GemmError::SplitMulticast { multicast, schedule }.into())
            }
            Schedule::SplitK { cluster: 2.., .. } => match (&config.mainloop, config.store) {
                (Mainloop::WarpSpecialized(parts), Store::Direct { .. }) => {
                    parts.check_share(config.tile, self.parts()[1])
                }
                (Mainloop::WarpSpecialized(_), Store::Tma { .. } | Store::Coalesced { .. }) => {
                    config.store.refuse("split-K in clusters", "a direct store")
                }
                (Mainloop::Multistage(_), _) => {
                    Err(GemmError::MultistageCluster { cluster: self.parts()[1] }.into())
                }
            },
            Schedule::SplitK { .. } | Schedule::StreamK { .. } => {
                // The workspace has a place for each element of C's tiles.
                let ([m, n, _], mma) = (config.tile, config.mma()?);
                let sums = static_size("sums", &mma.thrfrg(Operand::C, &Lay::col_major([m, n])?)?)?;
                if sums == m * n {
                    return Ok(());
                }
                Err(GemmError::Duplicates { accumulators: sums, elements: m * n }.into())
            }
            _ => Ok(()),
        }
    }
}

impl Walk {
    /// Runs `body` for each of the block's tiles. The threads where `who` holds know which tile it is, and with `alternate` whether the
    /// tile iterates over K backwards.
    pub(super) fn for_each(
        &self,
        b: &mut Builder,
        config: &GemmConfig,
        batch: Option<&Products>,
        who: &Cond,
        alternate: bool,
        body: impl FnOnce(&mut Builder, &Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (extents, stacked) = (config.extents(Operand::C), config.multicast());
        let rank = if stacked > 1 { b.special(Special::ClusterCtarank) } else { Expr::from(0) };
        // The blocks of a cluster have tiles one below the other.
        let body = |b: &mut Builder, tile: Tile| {
            let row = &(&tile.place.row * stacked) + &rank;
            body(b, &Tile { place: Place { row, ..tile.place }, ..tile })
        };
        match self {
            Walk::Raster { tiles: [rows, columns], group, parts: [parts, cluster] } => {
                let block = b.special(Special::CtaidX).div(stacked)?;
                let share = match *parts {
                    1 => Share::Whole,
                    parts => Share::Part(Part::of_block(b, &block, parts, *cluster)?),
                };
                let tile = if let Share::Part(part) = &share { part.tile() } else { &block };
                let [batch, tile] = match batch {
                    Some(products) => products.split(b, tile)?,
                    None => [Expr::from(0), tile.clone()],
                };
                let (row, column) = raster::block_tile(b, &tile, [rows, columns], *group)?;
                let place = Place { row, column, extents, batch, span: None };
                body(b, Tile { place, backwards: Expr::from(0), share })
            }
            Walk::Persistent(tiles) => tiles.for_each(b, extents, batch, who, alternate, body),
            Walk::Stream(stream) => stream.for_each(b, extents, body),
            Walk::Grouped(groups) => groups.for_each(b, extents, body),
        }
    }
}

impl Tile {
    /// The tiles along K that the block computes, of all that there are.
    pub(super) fn k_tiles(&self, all: &Range<Expr>) -> Result<Range<Expr>, Error> {
        match &self.share {
            Share::Whole => Ok(all.clone()),
            Share::Part(part) => part.share(all),
            Share::Piece(piece) => Ok(piece.k_tiles()),
        }
    }

    /// Runs `store` where the accumulators of a tile of C are, with these accumulators and the tile's place. In a cluster each block has the accumulators of a share
    /// of the columns, for which `share` makes registers.
    pub(super) fn store_sums(
        &self,
        b: &mut Builder,
        team: &Team<'_>,
        sums: &Sums,
        share: impl FnOnce(&mut Builder) -> Result<Sums, Error>,
        store: impl FnOnce(&mut Builder, &Sums, &Place) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match (&self.share, team.workspace) {
            (Share::Part(part), _) => part.store_sums(b, &self.place, team, sums, share, store),
            (Share::Piece(piece), Some(workspace)) => {
                piece.store_sums(b, workspace, team, sums, |b| store(b, sums, &self.place))
            }
            (Share::Whole | Share::Piece(_), _) => store(b, sums, &self.place),
        }
    }
}
