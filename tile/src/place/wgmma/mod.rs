//! MMAs that use `wgmma`, and the reasons why others do not.
//!
//! The accumulator has the distribution of the instruction's C, 64 rows a warpgroup. A is in registers of the same
//! distribution, or in shared memory. B is in shared memory. A tile that only `wgmma` reads is loaded to shared memory directly, and no
//! thread holds it. Other operands are stored there by the threads. If B is computed and A is loaded, the instructions compute C^T = B^T A^T, so that
//! the computed operand stays in registers.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn product(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
//!     let mut sums = zeros::<f32>([128, 128]);
//!     for k in 0..cdiv(a.dim(1), 64) {
//!         let left = a.tiles([128, 64]).padding(Padding::Zero).load((bid(0), k));
//!         let right = b.tiles([64, 128]).padding(Padding::Zero).load((k, bid(1)));
//!         sums = mma(left, right, sums);
//!     }
//!     c.tiles_mut([128, 128]).store((bid(0), bid(1)), sums);
//! }
//!
//! let plan = girih_tile::place::place(&product::ir()?, 90)?;
//! assert!(plan.products.wgmma.values().all(|product| product.mnk == [128, 128, 64]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod choice;
mod read;
mod registers;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::atom::{GmmaLayout, GmmaSwizzle, MmaAtom};
use girih_codegen::plan::{Dist, Leaf, primes};
use girih_tensor::DType;

use self::choice::Choice;
pub(crate) use self::registers::{KEPT, OF_INSTRUCTION, REGISTERS, begin, registers_of_consumers};
use super::ahead::Ahead;
use super::pipeline::Pipeline;
use super::scratch::Arena;
use crate::ir::{Def, Dims, Func, Kind, OpId, Value};

/// Threads of a warpgroup, and the rows of C that it computes by one instruction.
pub(crate) const WARPGROUP: u32 = 128;
pub(crate) const ROWS: i64 = 64;
/// The most elements of a box along an axis (PTX ISA, tensor dimension, size and format).
const BOX: i64 = 256;
/// The most registers that the accumulators of one product take.
const SUMS: i64 = 192;
/// The most bytes of tiles in shared memory, which leaves room for exchanges.
const SHARED: i64 = 192 << 10;

/// Where a product takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From registers in the distribution of the instruction's operand.
    Registers,
    /// From where this load has put a tile in shared memory.
    Loaded(OpId),
    /// From registers in any distribution, by way of shared memory.
    Stored,
}

/// A product by `wgmma`.
#[derive(Clone, Debug, PartialEq)]
pub struct Wgmma {
    /// The instruction.
    pub atom: MmaAtom,
    /// Which operands of the product are the instruction's A and B; `[1, 0]` where it computes C^T = B^T A^T. All that follows is by the
    /// instruction's.
    pub operands: [usize; 2],
    /// M, N and K of the tiles.
    pub mnk: [i64; 3],
    /// The warpgroups, which share M.
    pub warpgroups: i64,
    /// Where A and B come from.
    pub sources: [Source; 2],
    /// How A and B are laid out in shared memory, where they are in it.
    pub layouts: [GmmaLayout; 2],
}

/// A tile in shared memory, in rows along its contiguous axis that are as long as the swizzle, or as the tile where there is none and threads
/// read it; such rows of all other coordinates are one below the other, and these blocks side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// The dtype of its elements.
    pub dtype: DType,
    /// The axis of the view along which rows are.
    pub fast: usize,
    /// The other axes of which the tile has more than one element, the slowest first, and the tile's extents along these.
    pub rows: Vec<(usize, i64)>,
    /// The elements along the first, and how many such rows there are.
    pub extents: [i64; 2],
    /// How pieces of 16 bytes are exchanged.
    pub swizzle: GmmaSwizzle,
    /// Elements of a row.
    pub row: i64,
    /// Whether the producer brings it, a view by TMA and gathered rows by `cp.async`, or why not.
    pub produced: Result<(), String>,
    /// The latency that the user expects.
    pub latency: Option<u8>,
    /// The axes along which the array is a part of another one: TMA copies bring what is beyond the part, which is cleared.
    pub cut: Vec<usize>,
}

impl SharedTile {
    /// Bytes of the tile.
    pub fn bytes(&self) -> i64 {
        self.extents[0] * self.extents[1] * i64::from(self.dtype.bits()) / 8
    }
}

/// Elements of a row as long as a swizzle.
pub(crate) fn row(swizzle: GmmaSwizzle, dtype: DType) -> i64 {
    swizzle.period() / i64::from(dtype.bits())
}

/// The products of a function by the way in which they are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Products {
    /// The architecture, by which it is decided how the others are computed; 0 for multiply-adds alone.
    pub sm: u32,
    /// Those by `wgmma`.
    pub wgmma: BTreeMap<OpId, Wgmma>,
    /// Why the others are not.
    pub refused: BTreeMap<OpId, String>,
    /// Loads whose tiles are in shared memory.
    pub loads: BTreeMap<OpId, SharedTile>,
    /// Those among them whose tiles the threads read into registers.
    pub read: BTreeSet<OpId>,
    /// Why others are not the producer's: gathers, and loads of what threads compute with.
    pub refused_loads: BTreeMap<OpId, String>,
    /// Operations that give such a tile other axes.
    pub views: BTreeSet<OpId>,
    /// How the producer brings such tiles.
    pub pipeline: Pipeline,
    /// Stores by TMA, from tiles in shared memory.
    pub stores: BTreeMap<OpId, SharedTile>,
    /// Whether accumulators are set to zeros before loops, rather than by the first product.
    pub clears: bool,
    /// Blocks of an SM that the assembler is told of, where no hint says how many.
    pub blocks: Option<u32>,
    /// Whether exchanges are to leave shared memory to the tiles that are prefetched.
    pub tight: bool,
    /// What other products multiply and loops load iterations ahead.
    pub ahead: Ahead,
}

/// The distribution of C of `wgmma`, and of an A of 16 bits: rows and columns are the last two axes.
pub(crate) fn fragment(extents: &[i64], threads: i64) -> Dist {
    let (row, column) = (extents.len() - 2, extents.len() - 1);
    let mut bits: Vec<Option<(usize, i64)>> = vec![Some((column, 2)), Some((column, 4))];
    bits.extend([1, 2, 4, 16, 32].map(|scale| Some((row, scale))));
    let mut scale = ROWS;
    while (1 << bits.len()) < threads {
        bits.push(Some((row, scale)));
        scale *= 2;
    }
    let mut vals = vec![Leaf { extent: 2, mode: column, scale: 1 }, Leaf { extent: 2, mode: row, scale: 8 }];
    for (mode, mut scale, n) in [(column, 8, extents[column] / 8), (row, scale, extents[row] / scale)] {
        for extent in primes(n) {
            vals.push(Leaf { extent, mode, scale });
            scale *= extent;
        }
    }
    Dist { bits, vals }
}

/// The same where the instruction computes the transpose of a tile.
fn transposed(extents: &[i64], threads: i64) -> Dist {
    let rank = extents.len();
    let axes: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    let turned: Vec<i64> = axes.iter().map(|&axis| extents[axis]).collect();
    fragment(&turned, threads).permute(&axes)
}

/// Blocks that a user wants on an SM at a time.
pub(crate) fn blocks(func: &Func, sm: u32) -> i64 {
    func.hints.resolve(sm).occupancy.unwrap_or(1).into()
}

impl Products {
    /// Which products of a function `wgmma` computes in blocks of this many threads on this architecture, where these gathers and loads are not
    /// the producer's.
    pub(crate) fn choose(func: &Func, sm: u32, threads: u32, refused: &BTreeMap<OpId, String>) -> Products {
        let mut chosen = Products { refused_loads: refused.clone(), ..Products::default() };
        if !(90..100).contains(&sm) {
            return chosen;
        }
        let choice = Choice { refused: refused.clone(), ..Choice::new(func, sm, threads) };
        let operands = choice.operands();
        let mut products = Vec::new();
        func.walk(func.body(), &mut |id, op| {
            if op.kind == Kind::Mma {
                match choice.fits(op, operands) {
                    Ok(mnk) => products.push((id, mnk)),
                    Err(why) => drop(chosen.refused.insert(id, why)),
                }
            }
        });
        let ids: BTreeSet<OpId> = products.iter().map(|(id, _)| *id).collect();
        for (id, mnk) in products {
            match choice.product(id, operands, mnk, &ids, &mut chosen) {
                Ok(product) => drop(chosen.wgmma.insert(id, product)),
                Err(why) => drop(chosen.refused.insert(id, why)),
            }
        }
        // A load goes to shared memory for products by `wgmma` alone. Tensor copies may bring tiles of one view to the same slots.
        let mut views: Vec<(&Kind, &SharedTile)> = Vec::new();
        let mut bytes = 0;
        for product in chosen.wgmma.values() {
            let stored = (0..2).filter(|&at| product.sources[at] == Source::Stored);
            bytes += stored.map(|at| product.stored(at)).sum::<i64>();
        }
        for (&id, tile) in &chosen.loads {
            let view = (&func.op(id).kind, tile);
            if tile.produced.is_err() || !views.contains(&view) {
                bytes += tile.bytes();
                views.push(view);
            }
        }
        let why = || format!("the tiles take {bytes} bytes of shared memory, {SHARED} are accepted");
        let rows = chosen.gathered(func, &why());
        if bytes > SHARED && !rows.is_empty() {
            return Products::choose(func, sm, threads, &rows.into_iter().chain(refused.clone()).collect());
        }
        let broken = chosen.refused.keys().any(|id| ids.contains(id));
        if bytes > SHARED || broken {
            let why =
                if bytes > SHARED { why() } else { String::from("another product of the kernel is not") };
            for id in ids {
                chosen.refused.entry(id).or_insert(why.clone());
            }
            let (refused, refused_loads) = (chosen.refused, chosen.refused_loads);
            return Products { refused, refused_loads, ..Products::default() };
        }
        let reads = choice.reads(&chosen);
        if bytes + reads.values().map(SharedTile::bytes).sum::<i64>() <= SHARED {
            chosen.read.extend(reads.keys());
            chosen.loads.extend(reads);
        }
        chosen.stores = choice.stores(&chosen.wgmma);
        chosen
    }

    /// The most registers of a thread that the accumulators of one product take.
    pub(super) fn most_sums(&self) -> i64 {
        let sums = |product: &Wgmma| {
            let [m, n, _] = product.mnk;
            m * n * i64::from(product.atom.c_type.bits()) / (32 * i64::from(WARPGROUP) * product.warpgroups)
        };
        self.wgmma.values().map(sums).max().unwrap_or(0)
    }

    /// Whether these loads bring both operands of one product, and no other reads them.
    pub(super) fn is_pair(&self, loads: [OpId; 2]) -> bool {
        let is_read = |source: &&Source| matches!(source, Source::Loaded(id) if loads.contains(id));
        let reads = self.wgmma.values().map(|product| product.sources.iter().filter(is_read).count());
        reads.filter(|&reads| reads > 0).eq([2])
    }

    /// How many operands go to shared memory from registers.
    pub(super) fn stored(&self) -> usize {
        let sources = self.wgmma.values().flat_map(|product| product.sources);
        sources.filter(|&source| source == Source::Stored).count()
    }

    /// Whether as much is computed by `wgmma`, and prefetched, as in others.
    pub(crate) fn keeps(&self, others: &Products) -> bool {
        self.wgmma.len() >= others.wgmma.len()
            && self.pipeline.loads.len() >= others.pipeline.loads.len()
            && self.ahead.loads.len() >= others.ahead.loads.len()
    }

    /// Keeps what is said of these operations.
    pub(super) fn keep(&mut self, live: &BTreeSet<OpId>) {
        self.wgmma.retain(|id, _| live.contains(id));
        self.refused.retain(|id, _| live.contains(id));
        self.loads.retain(|id, _| live.contains(id));
        self.read.retain(|id| live.contains(id));
        self.views.retain(|id| live.contains(id));
        self.stores.retain(|id, _| live.contains(id));
        self.ahead.keep(live);
    }

    /// The gathers that the producer runs, and the loads of tiles that threads read, each with a reason why it is not to.
    pub(super) fn gathered(&self, func: &Func, why: &str) -> BTreeMap<OpId, String> {
        let gathered = |id: &OpId| matches!(func.op(*id).kind, Kind::Gather(_)) || self.read.contains(id);
        self.loads.keys().filter(|id| gathered(id)).map(|&id| (id, why.into())).collect()
    }

    /// Whether an operation's result is in shared memory, where no thread holds it.
    pub(crate) fn is_shared(&self, id: OpId) -> bool {
        self.loads.contains_key(&id) && !self.read.contains(&id)
            || self.is_view(id)
            || self.ahead.is_shared(id)
    }

    /// Where the tiles of products by `wgmma` are in shared memory.
    pub(crate) fn arena(&self) -> Arena {
        let mut arena = Arena::default();
        for (&id, tile) in &self.loads {
            if tile.produced.is_err() && !self.ahead.loads.contains_key(&id) {
                let at = arena.take(tile.bytes());
                arena.places.insert((id, 0), at);
            }
        }
        for (&id, product) in &self.wgmma {
            for at in (0..2).filter(|&at| product.sources[at] == Source::Stored) {
                let place = arena.take(product.stored(at));
                arena.places.insert((id, at), place);
            }
        }
        let stored = self.stores.values().map(SharedTile::bytes).max();
        arena.stores = stored.map_or(0, |bytes| arena.take(bytes));
        for ring in &self.pipeline.rings {
            let at = arena.take(ring.step * ring.slots);
            arena.rings.push(at);
        }
        arena
    }

    /// The same without TMA copies, for a reason.
    pub(super) fn by_threads(mut self, func: &Func, threads: u32, why: &str) -> Products {
        self.loads.retain(|id, _| !self.read.contains(id));
        self.read.clear();
        self.loads.values_mut().for_each(|tile| tile.produced = Err(why.into()));
        self.ahead = Ahead::choose(func, self.sm, threads, &self);
        self
    }

    /// The same without any by `wgmma`, for a reason.
    pub(super) fn without_wgmma(self, func: &Func, threads: u32, why: &str) -> Products {
        let mut refused = self.refused;
        self.wgmma.into_keys().for_each(|id| drop(refused.insert(id, why.into())));
        let products = Products { sm: self.sm, refused, ..Products::default() };
        Products { ahead: Ahead::choose(func, self.sm, threads, &products), ..products }
    }

    /// Whether an operation gives other axes to a tile in shared memory.
    pub(crate) fn is_view(&self, id: OpId) -> bool {
        self.views.contains(&id) || self.ahead.views.contains(&id)
    }

    /// Whether a value is a tile in shared memory, where no thread holds it.
    pub(crate) fn holds(&self, func: &Func, value: Value) -> bool {
        matches!(func.value(value).def, Def::Result(id, _) if self.is_shared(id))
    }

    /// The distribution of the accumulators of a product by `wgmma`.
    pub(crate) fn sums(&self, func: &Func, id: OpId, threads: i64) -> Option<Dist> {
        let product = self.wgmma.get(&id)?;
        Some(product.fragment(&func.ty(func.op(id).results[0]).dims, threads))
    }

    /// The distribution that a product asks for of an operand, if it is by `wgmma` or takes the operand from a tile in shared memory; `None`
    /// within if any will do.
    pub(crate) fn need(&self, func: &Func, id: OpId, at: usize, threads: i64) -> Option<Option<Dist>> {
        // The producer computes the indices of a gather in a distribution of its own.
        if func.op(id).kind == Kind::Mma && self.holds(func, func.op(id).operands[at])
            || self.loads.contains_key(&id)
        {
            return Some(None);
        }
        let product = self.wgmma.get(&id)?;
        let held = at == 2 || at == product.operands[0] && product.sources[0] == Source::Registers;
        Some(held.then(|| product.fragment(&func.ty(func.op(id).operands[at]).dims, threads)))
    }
}

impl Wgmma {
    /// The distribution of the accumulators, or of an operand in registers, of these extents.
    fn fragment(&self, dims: &Dims, threads: i64) -> Dist {
        let extents = super::rule::extents(dims);
        if self.operands == [0, 1] { fragment(&extents, threads) } else { transposed(&extents, threads) }
    }

    /// Bytes of an operand in shared memory.
    pub(super) fn stored(&self, at: usize) -> i64 {
        let [m, n, k] = self.mnk;
        let (dtype, x) = [(self.atom.a_type, m), (self.atom.b_type, n)][at];
        x * k * i64::from(dtype.bits()) / 8
    }
}
