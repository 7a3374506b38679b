//! The schedule: which block computes which tiles of queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use girih_codegen::attention::{QueryTile, Tensor4};

use super::{Problem, Sequence};
use crate::Error;
use girih_device::sizes::word;

/// The bytes of keys and values of heads whose tiles are computed at the same time: they stay in the L2 cache. With less or more of them, causal
/// attention is slower on an H200.
const TOGETHER: i64 = 16 << 20;
/// The most keys of sequences whose tiles are dealt out over all heads at once: each takes so little time that blocks that have one more than others
/// cost more than keys that are read again.
const SHORT: i64 = 1024;
/// The most tiles of a table, which has 32 bytes for each.
const MOST_TILES: i64 = 1 << 24;

/// The tiles of a problem, block by block.
///
/// Where all queries see all keys, whole tiles come head by head, so that neighbouring blocks read the same keys, and at the end the last tiles of heads,
/// if they have fewer rows. Else tiles differ in their keys: heads whose keys and values stay in the cache follow each other, and in a group
/// the tiles with most keys come first. Each tile goes to the block that has least to do so far. Where sequences are short, the longest tiles of all
/// groups are dealt out first, and each block computes its own in the order of groups.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Diagonal, Mask, Order, Problem, Table};
/// use girih_tensor::DType;
///
/// // Four tiles of 64 queries, which see up to 64, 128, 192 and 256 keys, for two blocks.
/// let problem = Problem::new(DType::Bf16, Order::Bhsd, [1, 1, 256, 256, 64])?.with_mask(Mask::causal(Diagonal::TopLeft))?;
/// let table = Table::new(&problem, [64, 64], 2)?;
/// let rows = |block| table.tiles(block).map(|tile| tile.row).collect::<Vec<_>>();
/// assert_eq!((rows(0), rows(1)), (vec![192, 0], vec![128, 64]));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    entries: Vec<QueryTile>,
    blocks: u32,
    loads: [i64; 2],
}

impl Table {
    /// The table for tiles of `[queries, keys]` and at most this many blocks, of which each gets a tile.
    ///
    /// # Errors
    /// [`Error::Grid`] for more tiles than a table has.
    pub fn new(problem: &Problem, tile: [i64; 2], blocks: u32) -> Result<Table, Error> {
        let count = Table::count(problem, tile[0]);
        if count > MOST_TILES {
            let tile = format!("{} queries", tile[0]);
            return Err(Error::Grid { tiles: count, tile, most: MOST_TILES });
        }
        let mut lists = Lists::new(u32::try_from(count).map_or(blocks, |count| blocks.min(count)));
        let heads = problem.sequences().flat_map(|s| (0..problem.kv_heads()).map(move |group| (s, group)));
        let mut costly = Vec::new();
        if problem.mask().is_none() && !problem.is_packed() {
            for (sequence, group) in heads {
                costly.extend(tiles_of(problem, &sequence, group, tile));
            }
            // Stable, so that heads stay in their order.
            costly.sort_by_key(|one| one.rows < tile[0]);
            costly.drain(..).for_each(|one| lists.give(one));
        } else {
            let short = problem.sequences().all(|sequence| sequence.keys <= SHORT);
            let (mut bytes, mut number) = (0, 0);
            for (sequence, group) in heads {
                let columns = problem.columns(Tensor4::K) + problem.columns(Tensor4::V);
                let own = sequence.keys * columns * i64::from(problem.dtype().bits()) / 8;
                if bytes > 0 && bytes + own > TOGETHER {
                    if !short {
                        lists.give_longest_first(&mut costly);
                    }
                    (bytes, number) = (0, number + 1);
                }
                bytes += own;
                let tiles = tiles_of(problem, &sequence, group, tile);
                costly.extend(tiles.map(|one| Costly { number, ..one }));
            }
            lists.give_longest_first(&mut costly);
            lists.sort();
        }
        Ok(lists.table())
    }

    /// How many tiles of this many queries a problem has.
    pub fn count(problem: &Problem, queries: i64) -> i64 {
        let of = |sequence: Sequence| tiles(sequence.queries, queries).saturating_mul(problem.heads());
        problem.sequences().fold(0, |count, sequence| count.saturating_add(of(sequence)))
    }

    /// The blocks: 0 where there are no tiles.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The entries, of which block `i` takes the ones at `i`, `i + blocks`, `i + 2 blocks` and so on, up to one that is [`QueryTile::END`].
    pub fn entries(&self) -> &[QueryTile] {
        &self.entries
    }

    /// The tiles of a block, in their order.
    pub fn tiles(&self, block: u32) -> impl Iterator<Item = &QueryTile> {
        let own = self.entries.iter().skip(block as usize).step_by(self.blocks.max(1) as usize);
        own.take_while(|tile| **tile != QueryTile::END)
    }

    /// The work of all blocks together, and the work of the block with the most: in tiles of keys, plus the number of tiles of queries.
    pub fn loads(&self) -> [i64; 2] {
        self.loads
    }

    /// The entries as they are in memory.
    pub fn words(&self) -> Vec<u32> {
        self.entries.iter().flat_map(QueryTile::words).collect()
    }
}

/// A tile with the rows that it has, and with what it costs: the tiles of keys that it processes, and as much as one of them for its begin and its
/// end.
struct Costly {
    tile: QueryTile,
    rows: i64,
    cost: i64,
    /// The number of its group of heads.
    number: usize,
}

/// How many tiles of `tile` rows hold this many rows.
fn tiles(rows: i64, tile: i64) -> i64 {
    (rows + tile - 1) / tile
}

/// How many tiles of `tile` keys the queries from `begin` to `end` of a sequence go through.
fn tiles_of_keys(problem: &Problem, sequence: &Sequence, [begin, end]: [i64; 2], tile: i64) -> i64 {
    // Later queries see no earlier keys.
    let seen = |query| problem.mask().keys(query, sequence.queries, sequence.keys);
    let (first, last) = (seen(begin), seen(end - 1));
    if first.start >= last.end { 0 } else { tiles(last.end, tile) - first.start / tile }
}

/// The tiles of the heads of queries that a head of keys of a sequence serves, head by head.
fn tiles_of(
    problem: &Problem,
    sequence: &Sequence,
    group: i64,
    [of_queries, of_keys]: [i64; 2],
) -> impl Iterator<Item = Costly> {
    let each = problem.heads() / problem.kv_heads();
    let places = (0..tiles(sequence.queries, of_queries)).map(|i| i * of_queries);
    // The tiles of keys are the same for all heads.
    let costs = places.map(|row| {
        let end = sequence.queries.min(row + of_queries);
        (row, end - row, 1 + tiles_of_keys(problem, sequence, [row, end], of_keys))
    });
    let costs: Vec<(i64, i64, i64)> = costs.collect();
    let diagonal = problem.mask().diagonal().key(sequence.queries, sequence.keys);
    // Problems have no extents beyond 28 bits, and no heads beyond 16.
    let of_sequence = QueryTile {
        queries: word(sequence.queries),
        keys: word(sequence.keys),
        diagonal: i32::try_from(diagonal).unwrap_or(i32::MAX),
        first_query: word(sequence.first_query),
        first_key: word(sequence.first_key),
        group: u16::try_from(group).unwrap_or(u16::MAX),
        batch: word(sequence.batch),
        ..QueryTile::default()
    };
    (group * each..(group + 1) * each).flat_map(move |head| {
        let tile = move |(row, rows, cost)| {
            let tile =
                QueryTile { row: word(row), head: u16::try_from(head).unwrap_or(u16::MAX), ..of_sequence };
            Costly { tile, rows, cost, number: 0 }
        };
        costs.clone().into_iter().map(tile)
    })
}

/// The work of each block so far.
struct Lists {
    /// The tiles of each block, each with the number of its group.
    lists: Vec<Vec<(usize, QueryTile)>>,
    /// The cost of each block's tiles, the least one first.
    loads: BinaryHeap<Reverse<(i64, usize)>>,
}

impl Lists {
    fn new(blocks: u32) -> Lists {
        let blocks = blocks as usize;
        Lists {
            lists: vec![Vec::new(); blocks],
            loads: (0..blocks).map(|block| Reverse((0, block))).collect(),
        }
    }

    /// Gives a tile to the block that has least to do.
    fn give(&mut self, Costly { tile, cost, number, .. }: Costly) {
        if let Some(mut least) = self.loads.peek_mut() {
            let Reverse((load, block)) = *least;
            *least = Reverse((load + cost, block));
            self.lists[block].push((number, tile));
        }
    }

    /// Puts the tiles of each block in the order of groups.
    fn sort(&mut self) {
        self.lists.iter_mut().for_each(|list| list.sort_by_key(|(number, _)| *number));
    }

    fn give_longest_first(&mut self, tiles: &mut Vec<Costly>) {
        tiles.sort_by_key(|tile| Reverse(tile.cost));
        tiles.drain(..).for_each(|tile| self.give(tile));
    }

    fn table(self) -> Table {
        let longest = self.lists.iter().map(Vec::len).max().unwrap_or(0);
        let turn = |i: usize| {
            self.lists.iter().map(move |list| list.get(i).map_or(QueryTile::END, |(_, tile)| *tile))
        };
        let loads = self.loads.iter().map(|Reverse((load, _))| *load);
        let loads = [loads.clone().sum(), loads.max().unwrap_or(0)];
        Table { entries: (0..longest).flat_map(turn).collect(), blocks: word(self.lists.len()), loads }
    }
}
