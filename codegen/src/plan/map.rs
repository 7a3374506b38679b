//! The linear map over F2 of a tile in shared memory under which a set of accesses has the fewest conflicts.
//!
//! A map `F` moves elements. The bits of `F(x)` within a word do not matter here, and the next five (for elements of at
//! most 4 bytes) are the bank. Lanes that are served together ask for a set of words; where this set is a coset of a
//! subspace `W`, the access takes as many wavefronts as `W` has elements of bank 0 ("Linear Layouts", 2025, bank conflicts). So
//! only the banks of the columns matter, and conflicts are counted one by one: they are the elements of all `W` that are
//! not 0 and go to bank 0. There is no conflict at all if the elements of bank 0 are a common complement of all `W`, which
//! over F2 need not exist; then the search tells how few conflicts are possible.

mod search;

use std::collections::BTreeMap;

use girih_layout::{Composed, F2Matrix, Lay, Swizzle};

use super::access::{Pieces, WarpAccess, warp_accesses};
use super::swizzle::{Access, best_swizzle};
use super::vector::Limit;
use crate::Error;
use search::Search;

/// Whether the elements of a vector may change places within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The elements follow each other as in the tile, as `cp.async`, `ldmatrix` and TMA copies need them.
    Kept,
    /// A vector is whole, but its words are in an order that may differ from vector to vector. A copy through registers can
    /// put the words back in order, as [`copy`](crate::algorithm::copy()) does.
    Free,
}

/// A map of the elements of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestMap {
    /// From the index of an element in the layout to the index at which it is, the same for every block of `2^inputs` elements; the
    /// identity where no map is better. [`Smem::mapped`](crate::Smem::mapped) makes an engine with this map.
    pub map: F2Matrix,
    /// The wavefronts that all accesses take together.
    pub wavefronts: Pieces,
    /// Whether it is proved that no linear map takes fewer wavefronts, of those that keep words whole and vectors in the order asked for.
    pub is_optimal: bool,
}

/// The map over F2 after which `accesses` to a tile that is laid out as `layout` says take the fewest wavefronts together. Of equally good
/// maps, a [`Swizzle`] is preferred, then a map that changes bits of the bank by bits above them, then any map.
///
/// Where the words that lanes ask for together are linear in the lanes' numbers, as for all layouts of powers of two, the search is
/// exact up to a bound on its steps. For other accesses it only decides whether they can be without conflicts.
/// [`BestMap::is_optimal`] says what is proved.
///
/// # Errors
/// Those of [`best_swizzle`]; [`Error::Mismatch`] for vectors that are not aligned and for elements before the first.
///
/// # Examples
/// ```
/// use girih_codegen::plan::{Access, Order, best_map};
/// use girih_layout::{Swizzle, lay};
///
/// // A 32 x 32 tile of f32 is stored by 16-byte pieces of rows and read by columns. If the words of a piece keep their order, a
/// // column lies in eight banks at most; if their order depends on the row, a column lies in all 32.
/// let rows = Access { tv: lay!("((8,32),4):((128,1),32)"), vector: 4 };
/// let columns = Access { tv: lay!("(32,32):(1,32)"), vector: 1 };
/// let best = |order| best_map(&lay!("(32,32):(32,1)"), 32, &[rows, columns], order);
/// assert_eq!(best(Order::Kept)?.wavefronts.to_string(), "160 (64 at the least)");
/// assert!(best(Order::Kept)?.is_optimal);
/// let free = best(Order::Free)?;
/// assert!(free.wavefronts.is_least() && free.map.swizzle() == Some(Swizzle::new(5, 0, 5)?));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn best_map(layout: &Lay, bits: i64, accesses: &[Access], order: Order) -> Result<BestMap, Error> {
    let tile = Tile::new(layout, bits, accesses)?;
    let (swizzle, wavefronts) = best_swizzle(layout, bits, accesses)?;
    let inputs = tile.inputs.max(if swizzle.bits() == 0 { 0 } else { swizzle.period().ilog2() });
    let map = F2Matrix::of_swizzle(swizzle, inputs)?;
    let swizzled = BestMap { map, wavefronts, is_optimal: wavefronts.is_least() };
    if swizzled.is_optimal || tile.free_units() == 0 {
        return Ok(swizzled);
    }
    let found = Search::new(&tile, order).run();
    let map = tile.map(&found.banks)?;
    let wavefronts = tile.wavefronts(&map)?;
    let is_optimal = found.is_exact || wavefronts.is_least();
    if wavefronts.taken < swizzled.wavefronts.taken {
        return Ok(BestMap { map, wavefronts, is_optimal });
    }
    // A swizzle takes as few wavefronts, and is preferred.
    Ok(BestMap { is_optimal: is_optimal && swizzled.wavefronts.taken == wavefronts.taken, ..swizzled })
}

/// The units that lanes ask for together, as differences. A unit is an element or a word, whichever is larger.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// A subspace, by its reduced basis.
    Space(Vec<u64>),
    /// All differences of a set that is no coset of a subspace.
    Differences(Vec<u64>),
}

/// A tile and its accesses, in units.
struct Tile {
    accesses: Vec<(WarpAccess, i64)>,
    bits: i64,
    /// Bits of an index that a map may move.
    inputs: u32,
    /// Bits of an index below a unit.
    within: u32,
    /// Bits of a unit's index within the widest vector.
    vector: u32,
    /// Bits of a unit's index that are its bank.
    banks: u32,
    /// The sets of units that are asked for together, and how often each is.
    asked: BTreeMap<Asked, i64>,
}

impl Tile {
    fn new(layout: &Lay, bits: i64, accesses: &[Access]) -> Result<Tile, Error> {
        let not_static = || Error::NotStatic { what: "best_map", layout: layout.to_string() };
        let cosize = layout.cosize()?.get().ok_or_else(not_static)?;
        if !matches!(bits, 1..=128) || bits.count_ones() != 1 {
            return Err(Error::Mismatch {
                what: "best_map",
                layout: layout.to_string(),
                with: format!("elements of {bits} bits"),
                accepted: "elements of a power of two of bits up to 128",
            });
        }
        let wide = (bits / 32).max(1).ilog2();
        let within = (32 / bits).max(1).ilog2();
        let widest = accesses.iter().map(|access| access.vector).max().unwrap_or(1).max(1).ilog2();
        let mut tile = Tile {
            accesses: Vec::new(),
            bits,
            // A map permutes the indices of whole periods only.
            inputs: cosize.trailing_zeros(),
            within,
            vector: widest.saturating_sub(within),
            banks: 5 - wide,
            asked: BTreeMap::new(),
        };
        let memory = Composed::new(Swizzle::NONE, 0, *layout);
        for Access { tv, vector } in accesses {
            for access in warp_accesses(&memory, tv, bits, *vector)? {
                let beside = |at: &&i64| **at < 0 || **at % access.bytes != 0;
                if let Some((lane, at)) = access.addresses.iter().enumerate().find(|(_, at)| beside(at)) {
                    let (thread, offset) = (32 * access.warp + lane as i64, at * 8 / bits);
                    let limit = Limit::Misaligned { thread, value: access.value, offset };
                    return Err(Error::Mismatch {
                        what: "best_map",
                        layout: tv.to_string(),
                        with: format!("vectors of {vector}: {limit}"),
                        accepted: "vectors that begin at multiples of their size, from 0 on",
                    });
                }
                for (_, words) in access.phases() {
                    let mut units: Vec<u64> = words.iter().map(|(word, _)| *word as u64 >> wide).collect();
                    units.dedup();
                    *tile.asked.entry(asked(&units)).or_default() += 1;
                }
                tile.accesses.push((access, *vector));
            }
        }
        Ok(tile)
    }

    /// Bits of a unit's index that a map may move.
    fn units(&self) -> u32 {
        self.inputs.saturating_sub(self.within)
    }

    /// Bits of a unit's index that a map may move and that do not number the units within a vector.
    fn free_units(&self) -> u32 {
        self.units().saturating_sub(self.vector)
    }

    /// The map whose columns of units have these banks, as near to the identity as it can be.
    fn map(&self, banks: &[u64]) -> Result<F2Matrix, Error> {
        let rank = (self.banks.min(self.units())) as usize;
        let mut span = vec![0];
        // The columns whose banks are a basis of all banks; these columns keep no other bit.
        let pivot: Vec<bool> = banks
            .iter()
            .map(|&bank| {
                let new = !span.contains(&bank);
                if new {
                    span.extend(span.clone().iter().map(|other| other ^ bank));
                }
                new
            })
            .collect();
        let mut rows: Vec<usize> = (rank..banks.len()).filter(|&row| pivot[row]).collect();
        rows.reverse();
        let unit = |(column, &bank): (usize, &u64)| match (pivot[column], column < rank) {
            (true, _) => bank,
            (false, true) => bank | rows.pop().map_or(0, |row| 1 << row),
            (false, false) => bank | 1 << column,
        };
        let units: Vec<u64> = banks.iter().enumerate().map(unit).collect();
        let columns: Vec<u64> = (0..self.within)
            .map(|bit| 1 << bit)
            .chain(units.iter().map(|unit| unit << self.within))
            .collect();
        Ok(F2Matrix::of_columns(&columns)?)
    }

    /// The wavefronts that the accesses take after a map.
    fn wavefronts(&self, map: &F2Matrix) -> Result<Pieces, Error> {
        let mut sum = Pieces::default();
        for (access, vector) in &self.accesses {
            let mapped = |at: &i64| -> Result<i64, Error> {
                let (index, period) = (at * 8 / self.bits, 1 << map.inputs());
                let to = map.apply(index % period)? + index / period * period;
                Ok(to / vector * vector * self.bits / 8)
            };
            let addresses = access.addresses.iter().map(mapped).collect::<Result<_, Error>>()?;
            sum += WarpAccess { addresses, ..access.clone() }.wavefronts();
        }
        Ok(sum)
    }
}

/// The differences within a set of units.
fn asked(units: &[u64]) -> Asked {
    let first = units.first().copied().unwrap_or(0);
    let mut basis: Vec<u64> = Vec::new();
    for unit in units {
        let reduced = basis.iter().fold(unit ^ first, |unit, &row| unit.min(unit ^ row));
        if reduced != 0 {
            basis.iter_mut().for_each(|row| *row = (*row).min(*row ^ reduced));
            basis.push(reduced);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    if units.len() == 1 << basis.len() {
        return Asked::Space(basis);
    }
    let mut all: Vec<u64> =
        units.iter().enumerate().flat_map(|(i, a)| units[..i].iter().map(move |b| a ^ b)).collect();
    all.sort_unstable();
    all.dedup();
    Asked::Differences(all)
}
