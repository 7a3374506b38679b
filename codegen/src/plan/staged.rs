//! The best copy of a tile through shared memory, from one order of its elements in global memory to another.

use std::fmt;

use girih_layout::{Int, Lay, Shape, Stride};

use super::access::WARP;
use super::deal::{Deal, Piece, Pieces};
use super::map::{BestMap, Order, best_map};
use super::proof::exactly_once;
use super::swizzle::Access;
use crate::Error;
use crate::sizes::{is_bijective, static_size};

const WHAT: &str = "staged_copy";

/// Bits that the lanes of a warp read contiguously, a line of the cache, if there are as many lanes. The other lanes read what is
/// beside that in shared memory, so that the words that a warp writes there come to all banks.
const BESIDE: i64 = 1024;
/// Bits of a bank's word.
const WORD: i64 = 32;

/// A copy of a tile through shared memory, where the tile is in the order of the destination.
///
/// [`staged_copy`] makes it. A thread reads its elements from global memory by `load`, writes them to shared memory, and after a barrier reads
/// by `store` what it writes to global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagedCopy {
    /// (Thr,Val) -> index of the tile in the order of the source.
    pub load: Lay,
    /// Which leaf of the values of [`StagedCopy::load`] counts elements that share a word of shared memory, if there is one: the
    /// elements of a word come from several vectors.
    pub pack: Option<usize>,
    /// (Thr,Val) -> index of the tile in the order of the destination.
    pub store: Lay,
    /// From the index in the order of the destination to the index in shared memory, and what the accesses of the first warp cost there.
    /// Those of the other warps are the same at other places.
    pub map: BestMap,
}

impl fmt::Display for StagedCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StagedCopy { load, store, map, .. } = self;
        write!(f, "load {load}, store {store}, wavefronts {}", map.wavefronts)
    }
}

/// The most bytes of shared memory that a block of any GPU has.
const SHARED: i64 = 227 << 10;

/// The copy of a tile by `threads` threads where the tile is in one order in the source and in another one in the destination.
///
/// `tile` maps the coordinates of the tile, the fastest mode of the source first, to the index in the order of the destination: of a
/// transpose `(64,64):(64,1)`. The elements of a source's vector, `vectors[0]` of them, follow each other in the first leaves of `tile`, and
/// those of a destination's vector, `vectors[1]`, in the leaves of the smallest strides. Elements smaller than a word of shared memory
/// are put into words by the thread that reads them.
///
/// The function proves that both partitions have every element once.
///
/// # Errors
/// [`Error::Mismatch`] for a tile that is no bijection, for vectors that are no accesses of up to 16 bytes, and for a tile that has
/// fewer vectors than threads or vectors that `threads` does not divide; [`Error::NotStatic`].
///
/// # Examples
/// ```
/// use girih_codegen::plan::staged_copy;
/// use girih_layout::lay;
///
/// // The transpose of 64 x 64 halves, 16 bytes a thread on both sides, and no bank conflict.
/// let copy = staged_copy(&lay!("(64,64):(64,1)"), 16, [8, 8], 128)?;
/// assert_eq!(copy.load.to_string(), "((8,4,4),(8,2,2)):((8,128,512),(1,64,2048))");
/// assert_eq!(copy.store.to_string(), "((8,16),(8,4)):((8,64),(1,1024))");
/// assert!(copy.map.wavefronts.is_least());
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn staged_copy(tile: &Lay, bits: i64, vectors: [i64; 2], threads: i64) -> Result<StagedCopy, Error> {
    let mismatch =
        |with: String, accepted| Error::Mismatch { what: WHAT, layout: tile.to_string(), with, accepted };
    let size = static_size(WHAT, tile)?;
    if size.saturating_mul(bits) > 8 * SHARED {
        let accepted = "a tile of up to 227 KB, which is what the shared memory of a block has at the most";
        return Err(mismatch(format!("{size} elements of {bits} bits"), accepted));
    }
    if !is_bijective(WHAT, tile)? {
        return Err(mismatch(format!("the {size} indices below its size"), "a bijection"));
    }
    if let Some(vector) =
        vectors.into_iter().find(|v| !matches!(v.saturating_mul(bits), 8 | 16 | 32 | 64 | 128))
    {
        let with = format!("vectors of {vector} elements of {bits} bits");
        return Err(mismatch(with, "accesses of 1, 2, 4, 8 or 16 bytes"));
    }
    if !(1..=1024).contains(&threads) || threads & (threads - 1) != 0 {
        return Err(mismatch(format!("{threads} threads"), "a power of two up to 1024"));
    }
    let few = || {
        let with = format!("{threads} threads, vectors of {} and {}", vectors[0], vectors[1]);
        mismatch(with, "a tile of as many vectors as threads, or a multiple of it")
    };
    let leaves = Leaves::of(tile)?;
    let (read, pack) = leaves.read(bits, vectors[0], threads).ok_or_else(few)?;
    let load = read.tv(&leaves.source)?;
    let written = leaves.written(&read, pack, bits)?;
    let leaves = leaves.by_target();
    let own = dealt(&leaves.extents, vectors[1], threads).ok_or_else(few)?;
    let store = own.tv(&leaves.target)?;
    let whole = Shape::flat(&[Int::fixed(size)])?;
    [&load, &store].into_iter().try_for_each(|tv| exactly_once(tv, &whole))?;
    let accesses = [written, Access { tv: own.first_warp().tv(&leaves.target)?, vector: vectors[1] }];
    let map = best_map(&Lay::left(&whole)?, bits, &accesses, Order::Kept)?;
    Ok(StagedCopy { load, pack, store, map })
}

/// The partition of a tile in vectors of `vector` elements of its first leaves, neighbouring vectors for neighbouring threads, as
/// `(Thr,Val) -> index`; the extents are those of the tile's leaves in memory's order.
///
/// # Errors
/// [`Error::Mismatch`] for a tile that has fewer vectors than threads or vectors that `threads` does not divide.
pub(crate) fn vectors_in_order(extents: &[i64], vector: i64, threads: i64) -> Result<Lay, Error> {
    let few = || Error::Mismatch {
        what: WHAT,
        layout: format!("a tile of {extents:?}"),
        with: format!("{threads} threads, vectors of {vector}"),
        accepted: "a tile of as many vectors as threads, or a multiple of it",
    };
    let steps: Vec<i64> = steps(extents);
    let tv = dealt(extents, vector, threads).ok_or_else(few)?.tv(&steps)?;
    exactly_once(&tv, &Shape::flat(&[Int::fixed(extents.iter().product())])?)?;
    Ok(tv)
}

/// The most threads, a power of two, for which there is a partition of a tile by [`vectors_in_order`]; 1 if there is none.
pub(crate) fn most_threads(extents: &[i64], vector: i64) -> i64 {
    most(|threads| dealt(extents, vector, threads).is_some())
}

/// As [`most_threads`], by [`staged_copy`].
pub(crate) fn most_threads_staged(tile: &Lay, bits: i64, vectors: [i64; 2]) -> Result<i64, Error> {
    let (by_source, by_target) = (Leaves::of(tile)?, Leaves::of(tile)?.by_target());
    let there_are = |threads| {
        by_source.read(bits, vectors[0], threads).is_some()
            && dealt(&by_target.extents, vectors[1], threads).is_some()
    };
    Ok(most(there_are))
}

fn most(there_are: impl Fn(i64) -> bool) -> i64 {
    (0..=10).rev().map(|bits| 1 << bits).find(|&threads| there_are(threads)).unwrap_or(1)
}

/// The strides of compact leaves.
fn steps(extents: &[i64]) -> Vec<i64> {
    extents.iter().scan(1, |step, extent| Some(std::mem::replace(step, *step * extent))).collect()
}

/// The pieces that the threads own, and the pieces of each thread's values.
struct Dealt {
    threads: Pieces,
    values: Pieces,
}

impl Dealt {
    /// The pieces of the first warp.
    fn first_warp(&self) -> Dealt {
        Dealt { threads: self.threads.first(WARP), values: self.values.clone() }
    }

    fn tv(&self, strides: &[i64]) -> Result<Lay, Error> {
        Ok(Lay::concat(&[self.threads.mode(strides)?, self.values.mode(strides)?])?)
    }
}

fn dealt(extents: &[i64], vector: i64, threads: i64) -> Option<Dealt> {
    let mut deal = Deal::new(extents);
    let (mut own, mut values) = (Pieces::default(), deal.vectors(vector)?);
    deal.spread_all(&mut own, threads);
    deal.rest(&mut values);
    (own.size() == threads).then_some(Dealt { threads: own, values })
}

/// The leaves of a tile: extents, and strides in the order of the source and in that of the destination.
struct Leaves {
    extents: Vec<i64>,
    source: Vec<i64>,
    target: Vec<i64>,
}

impl Leaves {
    fn of(tile: &Lay) -> Result<Leaves, Error> {
        let not_static = || Error::NotStatic { what: WHAT, layout: tile.to_string() };
        let (mut extents, mut target) = (Vec::new(), Vec::new());
        for (extent, stride) in (0..tile.leaf_count()).map(|leaf| tile.flat_leaf(leaf)) {
            let Stride::Int(stride) = stride else { return Err(not_static()) };
            if !extent.is(1) {
                extents.push(extent.get().ok_or_else(not_static)?);
                target.push(stride.get().ok_or_else(not_static)?);
            }
        }
        Ok(Leaves { source: steps(&extents), extents, target })
    }

    /// The leaves in the order of the destination.
    fn by_target(&self) -> Leaves {
        let mut order: Vec<usize> = (0..self.extents.len()).collect();
        order.sort_by_key(|&leaf| self.target[leaf]);
        let of = |all: &[i64]| order.iter().map(|&leaf| all[leaf]).collect();
        Leaves { extents: of(&self.extents), source: of(&self.source), target: of(&self.target) }
    }

    /// The pieces that the threads read, and the index of the piece that counts the elements of a word.
    fn read(&self, bits: i64, vector: i64, threads: i64) -> Option<(Dealt, Option<usize>)> {
        let mut deal = Deal::new(&self.extents);
        let (mut own, mut values) = (Pieces::default(), deal.vectors(vector)?);
        let fast = self.target.iter().position(|&stride| stride == 1).unwrap_or(0);
        let apart = fast > 0 && values.0.iter().all(|piece| piece.leaf != fast);
        let mut pack = None;
        if apart && deal.power(fast, WORD / bits) > 1 {
            pack = Some(values.0.len());
            let elements = deal.power(fast, WORD / bits);
            deal.take(&mut values, fast, elements);
        }
        if let Some(first) = deal.first_left().filter(|_| apart) {
            deal.spread(&mut own, first, (BESIDE / (vector * bits)).clamp(1, WARP.min(threads)));
            deal.spread(&mut own, fast, WARP.min(threads));
        }
        deal.spread_all(&mut own, threads);
        deal.rest(&mut values);
        (own.size() == threads).then_some((Dealt { threads: own, values }, pack))
    }

    /// The writes of what the first warp has read to shared memory, before a map.
    fn written(&self, read: &Dealt, pack: Option<usize>, bits: i64) -> Result<Access, Error> {
        let mut values = read.values.clone();
        if let Some(pack) = pack {
            values.0[..=pack].rotate_right(1);
        }
        let together = |piece: &&Piece| {
            let whole = piece.extent & (piece.extent - 1) == 0 && piece.extent * bits <= 128;
            whole && self.target[piece.leaf] * piece.step == 1
        };
        let vector = values.0.first().filter(together).map_or(1, |piece| piece.extent);
        let tv = Dealt { threads: read.threads.clone(), values }.first_warp().tv(&self.target)?;
        Ok(Access { tv, vector })
    }
}
