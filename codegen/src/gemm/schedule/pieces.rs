//! Stream-K work units: the ranges of K of the tiles that each block computes, so that all blocks have equal work.

use std::ops::Range;

use crate::Error;
use crate::error::GemmError;

/// The words of a piece in memory: row and column, first tile along K and how many there are, array and flags, product and others. The
/// second one of two is in the upper half of a word, of which the sign is free, and the flags above 24 bits.
pub(super) const WORDS: usize = 4;
pub(super) const HALF: u32 = 16;
pub(super) const FLAGS: u32 = 24;
/// Flags of a work unit.
pub(super) const BACKWARDS: u32 = 1;
pub(super) const LAST: u32 = 2;
pub(super) const LEFT: u32 = 4;
/// The most that the lower and the upper half of a word hold.
pub(super) const MOST: [u32; 2] = [(1 << HALF) - 1, (1 << (HALF - 1)) - 1];
/// As many tiles along K as it costs a block to hand over its accumulators, or to take those of another block.
const COST: u32 = 4;
/// The most windows into which K is cut.
const WINDOWS: u32 = 32;
/// How many lengths of windows are compared.
const LENGTHS: u32 = 64;

/// The work that is divided among blocks.
pub(in crate::gemm) struct Work<'a> {
    /// The tiles of a GEMM, each as its row and column, in the order in which they share rows and columns best.
    pub(in crate::gemm) order: &'a [[u32; 2]],
    /// The GEMMs.
    pub(in crate::gemm) products: u32,
    /// The tiles along K.
    pub(in crate::gemm) along_k: u32,
    /// The blocks that run together.
    pub(in crate::gemm) blocks: u32,
    /// Whether every second tile of a block iterates over K backwards.
    pub(in crate::gemm) alternate: bool,
    /// Whether the L2 cache holds what is multiplied, so that blocks that share rows or columns need not be at the same place along K.
    pub(in crate::gemm) cached: bool,
}

/// The pieces of tiles that each block of [`Schedule::StreamK`](super::Schedule::StreamK) multiplies, in their order.
///
/// Where the tiles do not fill the blocks, the tiles that are left, or these and one for each block, are cut along K, such that every block
/// has as much to do: pieces of one length, in which blocks go through K side by side, or what a long row of all tiles gives each block
/// ("Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", Osama et al.). These pieces come first,
/// and the whole tiles after them. A tile's first piece along K is of the block that stores the tile, after it has added the accumulators of the
/// other pieces in their order along K. It waits for blocks of lower numbers alone, which wait for nobody before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    blocks: Vec<Vec<Piece>>,
    arrays: u32,
    array_bytes: u64,
}

/// A part along K of a tile of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The tile's row and column among tiles, and the number of its GEMM in a batch.
    pub tile: [u32; 3],
    /// The tiles along K.
    pub k: Range<u32>,
    /// Whether the last of these comes first.
    pub backwards: bool,
    /// Whether the piece's accumulator is stored or passed to another block.
    pub sums: Handed,
}

/// Whether the accumulator of a piece is stored or passed to another block. It is passed in an array of a workspace; those of a tile are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// The block adds those in this many arrays from the first on, and stores the tile.
    Stored {
        /// The number of the first array, if there are any.
        first: u32,
        /// How many other pieces the tile has.
        others: u32,
    },
    /// They are left in an array.
    Left {
        /// The number of the array.
        array: u32,
        /// That of the tile's first one.
        first: u32,
    },
}

/// How the first tiles are cut.
#[derive(Clone, Copy)]
enum Cut {
    /// Not at all.
    Whole,
    /// Each of this many tiles into `windows` equal pieces.
    Equal { tiles: u32, windows: u32 },
    /// Each of this many tiles into `windows` pieces of `length` tiles along K, and what is left of it for the `rest` blocks that are left.
    Windows { tiles: u32, windows: u32, length: u32, rest: u32 },
    /// This many tiles, one after the other, into equal pieces for all blocks.
    Row { tiles: u32 },
}

/// A tile's index, and some of its tiles along K.
type Part = (u32, Range<u32>);

impl Pieces {
    /// Shares out the work on this many rows and columns of tiles; the accumulators of a piece take `array_bytes` bytes.
    pub(in crate::gemm) fn new(
        work: &Work<'_>,
        [rows, columns]: [u32; 2],
        array_bytes: u64,
    ) -> Result<Pieces, Error> {
        let [lower, upper] = MOST;
        for (what, tiles, most) in [
            ("rows of tiles", rows, lower),
            ("columns of tiles", columns, upper),
            ("tiles along K", work.along_k, upper),
            ("problems", work.products, lower),
        ] {
            if tiles > most {
                return Err(GemmError::WorkUnits { what, tiles, most }.into());
            }
        }
        let parts = work.cut().parts(work);
        let cut: u32 = parts.iter().flatten().map(|(tile, _)| tile + 1).max().unwrap_or(0);
        // Each tile's parts along K: where they begin, and whose they are.
        let mut of_tiles = vec![Vec::new(); cut as usize];
        for (block, own) in parts.iter().enumerate() {
            own.iter().for_each(|(tile, k)| of_tiles[*tile as usize].push((k.start, block)));
        }
        let mut arrays = 0;
        let firsts: Vec<u32> = of_tiles
            .iter_mut()
            .map(|parts| {
                parts.sort_unstable();
                let first = arrays;
                arrays += parts.len() as u32 - 1;
                first
            })
            .collect();
        let piece = |(tile, k): Part, backwards: bool| {
            let (all, first) = match of_tiles.get(tile as usize) {
                Some(all) => (all.as_slice(), firsts[tile as usize]),
                None => (&[][..], 0),
            };
            let number = all.iter().position(|(start, _)| *start == k.start).unwrap_or(0) as u32;
            let sums = match number {
                0 => Handed::Stored { first, others: (all.len() as u32).saturating_sub(1) },
                number => Handed::Left { array: first + number - 1, first },
            };
            Piece { tile: work.tile(tile), k, backwards: backwards && work.alternate, sums }
        };
        let whole = work.tiles() - cut;
        let step = whole.div_ceil(whole.div_ceil(work.blocks).max(1)).max(1);
        let blocks = parts.into_iter().zip(0..).map(|(own, block)| {
            let own = own.into_iter().map(|part| piece(part, false));
            let rounds = (cut + block..work.tiles()).step_by(step as usize).filter(|_| block < step);
            let rounds = rounds.zip([false, true].into_iter().cycle());
            own.chain(rounds.map(|(tile, backwards)| piece((tile, 0..work.along_k), backwards))).collect()
        });
        Ok(Pieces { blocks: blocks.collect(), arrays, array_bytes })
    }

    /// The pieces of each block, in the order in which the block multiplies them.
    pub fn blocks(&self) -> &[Vec<Piece>] {
        &self.blocks
    }

    /// The bytes of the accumulators and those of the semaphores in the workspace.
    pub fn workspace(&self) -> [u64; 2] {
        [u64::from(self.arrays) * self.array_bytes, u64::from(self.arrays) * super::SEMAPHORE as u64]
    }

    /// The pieces as the kernel reads them, the memory `pieces`: the first one of each block, the second one of
    /// each block, and so on, each of four words. A block without a piece has four zeros.
    pub fn table(&self) -> Vec<u32> {
        let rounds = self.blocks.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let entry = |round: usize, pieces: &Vec<Piece>| {
            let last = round + 1 == pieces.len();
            pieces.get(round).map_or([0; WORDS], |piece| piece.words(last))
        };
        (0..rounds).flat_map(|round| self.blocks.iter().flat_map(move |own| entry(round, own))).collect()
    }
}

impl Piece {
    fn words(&self, last: bool) -> [u32; WORDS] {
        let [row, column, product] = self.tile;
        let (left, array, others) = match self.sums {
            Handed::Stored { first, others } => (0, first, others),
            Handed::Left { array, first } => (LEFT, array, array - first),
        };
        let flags = left + if last { LAST } else { 0 } + if self.backwards { BACKWARDS } else { 0 };
        let length = self.k.len() as u32;
        [
            row | column << HALF,
            self.k.start | length << HALF,
            array | flags << FLAGS,
            product | others << HALF,
        ]
    }
}

impl Work<'_> {
    /// The tiles of all GEMMs.
    fn tiles(&self) -> u32 {
        self.order.len() as u32 * self.products
    }

    fn tile(&self, number: u32) -> [u32; 3] {
        let of_product = (self.order.len() as u32).max(1);
        let [row, column] = self.order[(number % of_product) as usize];
        [row, column, number / of_product]
    }

    /// The cut by which the last block is done first.
    fn cut(&self) -> Cut {
        let (blocks, k) = (self.blocks.max(1), self.along_k);
        let (turns, rest) = (self.tiles() / blocks, self.tiles() % blocks);
        if rest == 0 || k < 2 * COST {
            return Cut::Whole;
        }
        let mut best = (k, Cut::Whole);
        let mut better = |time: u32, cut: Cut| {
            if time < best.0 {
                best = (time, cut);
            }
        };
        let share =
            |tiles: u32, parts: u32| (u64::from(tiles) * u64::from(k)).div_ceil(u64::from(parts)) as u32;
        for windows in 1..=(blocks / rest).min(k / COST).min(WINDOWS) {
            if windows > 1 {
                let length = k.div_ceil(windows);
                better(length + COST * windows, Cut::Equal { tiles: rest, windows });
            }
            let left = blocks - windows * rest;
            let lengths = share(rest, blocks).max(COST)..k / windows;
            for length in lengths.step_by((k / LENGTHS).max(1) as usize).filter(|_| left > 0) {
                let over = k - windows * length;
                // A tile's rest has so many parts, and a block so many of them.
                let (parts, own) = (left.div_ceil(rest) + 1, rest.div_ceil(left) + 1);
                let time = length.max((over * rest).div_ceil(left) + COST * own);
                let cut = Cut::Windows { tiles: rest, windows, length, rest: left };
                better(time + COST * (windows + parts - 1), cut);
            }
        }
        // A row of tiles has blocks at all places along K at a time.
        if self.cached && share(rest, blocks) >= COST {
            better(share(rest, blocks) + COST * (blocks / rest + 2), Cut::Row { tiles: rest });
        }
        if self.cached && turns > 0 {
            let both = rest + blocks;
            better((share(both, blocks) + 2 * COST).saturating_sub(k), Cut::Row { tiles: both });
        }
        best.1
    }
}

impl Cut {
    /// The parts of each block.
    fn parts(self, work: &Work<'_>) -> Vec<Vec<Part>> {
        let (blocks, k) = (work.blocks.max(1), work.along_k);
        let mut parts: Vec<Vec<Part>> = match self {
            Cut::Whole => Vec::new(),
            Cut::Equal { tiles, windows } => {
                let until = |window: u32| (u64::from(k) * u64::from(window) / u64::from(windows)) as u32;
                side_by_side(tiles, windows, until).collect()
            }
            Cut::Windows { tiles, windows, length, rest } => {
                let over = row(tiles, windows * length..k, rest);
                side_by_side(tiles, windows, |window| window * length).chain(over).collect()
            }
            Cut::Row { tiles } => row(tiles, 0..k, blocks),
        };
        parts.resize(blocks as usize, Vec::new());
        // A block waits for blocks of lower indices only.
        parts.reverse();
        parts
    }
}

/// The parts of blocks that go through the first window of all tiles, through the second one, and so on; a window begins at `from`.
fn side_by_side(tiles: u32, windows: u32, from: impl Fn(u32) -> u32) -> impl Iterator<Item = Vec<Part>> {
    (0..windows).flat_map(move |window| {
        let k = from(window)..from(window + 1);
        (0..tiles).map(move |tile| vec![(tile, k.clone())])
    })
}

/// The shares of `blocks` blocks of the tiles along K in `k` of `tiles` tiles that are in a row. A share that would end so near the
/// beginning or the end of a tile that handing over the accumulators would cost more ends there.
fn row(tiles: u32, k: Range<u32>, blocks: u32) -> Vec<Vec<Part>> {
    let length = u64::from(k.end - k.start);
    let end = |share: u32| {
        let end = u64::from(tiles) * length * u64::from(share) / u64::from(blocks.max(1));
        let (before, cost) = (end % length.max(1), u64::from(COST));
        match before {
            before if before < cost => end - before,
            before if length - before < cost => end + length - before,
            _ => end,
        }
    };
    let share = |share: u32| {
        let (mut at, end) = (end(share), end(share + 1));
        let mut parts = Vec::new();
        while at < end {
            let until = (at / length + 1) * length;
            let [from, to] = [at, until.min(end)].map(|at| at - (until - length));
            parts.push(((at / length) as u32, k.start + from as u32..k.start + to as u32));
            at = until;
        }
        parts
    };
    (0..blocks).map(share).collect()
}
