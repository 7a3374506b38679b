//! The cost of a warp's access in the memory system: bank conflicts and sectors.

use std::fmt;

use girih_layout::{Composed, Lay, Swizzle};

use super::vector::{Limit, Offsets};
use crate::Error;

/// Banks of shared memory, 4 bytes wide each (PTX ISA and CUDA guide, "Shared Memory").
const BANKS: i64 = 32;
/// Bytes of a bank's word.
const WORD: i64 = 4;
/// Bytes that shared memory serves at a time.
const WAVEFRONT: i64 = BANKS * WORD;
/// Bytes in which global memory moves.
const SECTOR: i64 = 32;
/// Threads of a warp.
pub(super) const WARP: i64 = 32;

/// One access by the threads of a warp, or by some of them: the address at which each lane begins, and how many bytes it takes.
/// `ldmatrix` and `stmatrix` are accesses of 16 bytes by the lanes that give the rows' addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpAccess {
    /// The index of the warp.
    pub warp: i64,
    /// The number of the first value that each thread takes.
    pub value: i64,
    /// The address in bytes at which each lane begins.
    pub addresses: Vec<i64>,
    /// The bytes that each lane takes.
    pub bytes: i64,
}

/// The number of pieces in which an access is served, compared to the fewest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// The pieces that the access takes.
    pub taken: i64,
    /// The fewest pieces that would hold as many bytes.
    pub least: i64,
}

impl Pieces {
    /// Whether the access takes no more than the fewest pieces.
    pub fn is_least(&self) -> bool {
        self.taken == self.least
    }
}

impl std::ops::AddAssign for Pieces {
    fn add_assign(&mut self, other: Pieces) {
        self.taken += other.taken;
        self.least += other.least;
    }
}

impl std::iter::Sum for Pieces {
    fn sum<I: Iterator<Item = Pieces>>(all: I) -> Pieces {
        all.fold(Pieces::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl fmt::Display for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} at the least)", self.taken, self.least)
    }
}

/// Two lanes of an access that ask one bank for different words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The lanes.
    pub lanes: [i64; 2],
    /// The bank that both ask.
    pub bank: i64,
    /// How many words the bank has to give: 2 for a two-way conflict.
    pub ways: i64,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { lanes: [a, b], bank, ways } = self;
        write!(f, "{ways}-way conflict: lanes {a} and {b} ask bank {bank} for different words")
    }
}

impl WarpAccess {
    /// The groups of lanes that shared memory serves together: as many lanes as ask for 128 bytes.
    pub(super) fn phases(&self) -> impl Iterator<Item = (i64, Vec<(i64, i64)>)> {
        let together = self.together();
        let words = move |(i, lanes): (usize, &[i64])| {
            let first = (i * together) as i64;
            let word = move |(lane, &at): (usize, &i64)| {
                let words = at.div_euclid(WORD)..=(at + self.bytes - 1).div_euclid(WORD);
                words.map(move |word| (word, first + lane as i64))
            };
            let mut words: Vec<(i64, i64)> = lanes.iter().enumerate().flat_map(word).collect();
            words.sort_unstable();
            words.dedup_by_key(|(word, _)| *word);
            (first, words)
        };
        self.addresses.chunks(together).enumerate().map(words)
    }

    /// The same access after a swizzle, which keeps the access's vectors whole, has moved the offsets of elements of `bits` bits.
    pub(super) fn swizzled(&self, swizzle: Swizzle, bits: i64) -> WarpAccess {
        let moved = |address: &i64| swizzle.apply(address * 8 / bits) * bits / 8;
        WarpAccess { addresses: self.addresses.iter().map(moved).collect(), ..*self }
    }

    /// The wavefronts of shared memory: for each group of lanes that are served together, as many as the words that the busiest bank
    /// has to give. Lanes that ask for the same word share it.
    ///
    /// ```
    /// use girih_codegen::plan::WarpAccess;
    ///
    /// // A column of a row-major 32 x 32 tile of f32, and the same with rows of 33.
    /// let column = |pitch: i64| WarpAccess { warp: 0, value: 0, addresses: (0..32).map(|i| 4 * pitch * i).collect(), bytes: 4 };
    /// assert_eq!(column(32).wavefronts().to_string(), "32 (1 at the least)");
    /// assert_eq!(column(32).conflict().unwrap().to_string(), "32-way conflict: lanes 0 and 1 ask bank 0 for different words");
    /// assert!(column(33).wavefronts().is_least());
    /// ```
    pub fn wavefronts(&self) -> Pieces {
        let mut words = Vec::with_capacity(BANKS as usize);
        let phase = |lanes: &[i64]| {
            words.clear();
            let mut banks = [0; BANKS as usize];
            for at in lanes {
                for word in at.div_euclid(WORD)..=(at + self.bytes - 1).div_euclid(WORD) {
                    let given = &mut banks[word.rem_euclid(BANKS) as usize];
                    if *given == 0 || !words.contains(&word) {
                        *given += 1;
                        words.push(word);
                    }
                }
            }
            let least = (words.len() as i64 + BANKS - 1) / BANKS;
            Pieces { taken: banks.into_iter().fold(0, i64::max), least }
        };
        self.addresses.chunks(self.together()).map(phase).sum()
    }

    /// The number of lanes that shared memory serves together.
    fn together(&self) -> usize {
        (WAVEFRONT / self.bytes.max(WORD)).max(1) as usize
    }

    /// For every lane, how many words the busiest of the banks that it asks has to give while the lane is served: 1 without a
    /// conflict.
    ///
    /// ```
    /// use girih_codegen::plan::WarpAccess;
    ///
    /// // Lanes 0 and 1 ask one bank for two words, the others a bank each.
    /// let addresses = (0..32).map(|i| if i == 1 { 128 * 4 } else { 4 * i }).collect();
    /// let access = WarpAccess { warp: 0, value: 0, addresses, bytes: 4 };
    /// assert_eq!(access.ways()[..3], [2, 2, 1]);
    /// ```
    pub fn ways(&self) -> Vec<i64> {
        let mut ways = vec![1; self.addresses.len()];
        let together = self.together();
        for (first, words) in self.phases() {
            let mut banks = [0; BANKS as usize];
            words.iter().for_each(|(word, _)| banks[word.rem_euclid(BANKS) as usize] += 1);
            for (lane, &at) in self.addresses.iter().enumerate().skip(first as usize).take(together) {
                let asked = at.div_euclid(WORD)..=(at + self.bytes - 1).div_euclid(WORD);
                ways[lane] = asked.map(|word| banks[word.rem_euclid(BANKS) as usize]).fold(1, i64::max);
            }
        }
        ways
    }

    /// The first bank that has to give more words than an even spread would ask of it, and two lanes that ask this bank; `None` without
    /// a conflict.
    pub fn conflict(&self) -> Option<Conflict> {
        self.phases().find_map(|(_, words)| {
            let of_bank = |bank: i64| words.iter().filter(move |(word, _)| word.rem_euclid(BANKS) == bank);
            let least = (words.len() as i64 + BANKS - 1) / BANKS;
            let bank = (0..BANKS).find(|&bank| of_bank(bank).count() as i64 > least)?;
            let mut asking = of_bank(bank).map(|(_, lane)| *lane);
            let first = asking.next()?;
            let second = asking.find(|lane| *lane != first).unwrap_or(first);
            Some(Conflict { lanes: [first, second], bank, ways: of_bank(bank).count() as i64 })
        })
    }

    /// The sectors of global memory, 32 bytes each, that the access touches, and the fewest that hold as many bytes.
    ///
    /// ```
    /// use girih_codegen::plan::WarpAccess;
    ///
    /// // A warp reads 4 bytes a lane in a row: 4 sectors; with a stride of 8: 32 for the same 128 bytes.
    /// let row = |stride: i64| WarpAccess { warp: 0, value: 0, addresses: (0..32).map(|i| 4 * stride * i).collect(), bytes: 4 };
    /// assert_eq!(row(1).sectors().to_string(), "4 (4 at the least)");
    /// assert_eq!(row(8).sectors().to_string(), "32 (4 at the least)");
    /// ```
    pub fn sectors(&self) -> Pieces {
        let distinct = |mut all: Vec<i64>| {
            all.sort_unstable();
            all.dedup();
            all.len() as i64
        };
        let sectors = |at: &i64| at.div_euclid(SECTOR)..=(at + self.bytes - 1).div_euclid(SECTOR);
        let taken = distinct(self.addresses.iter().flat_map(sectors).collect());
        let bytes = distinct(self.addresses.iter().flat_map(|&at| at..at + self.bytes).collect());
        Pieces { taken, least: (bytes + SECTOR - 1) / SECTOR }
    }
}

/// The accesses of `tv`, `(Thr,Val) -> index in the tile`, to a tile that is in memory as `memory` says (tile
/// coordinate to element): for every warp and every `vector` values, one access.
///
/// # Errors
/// [`Error::Mismatch`] if `vector` does not divide the values or is no access of 1 to 16 bytes, or the values of a vector
/// are not next to each other and aligned; the message names the first such value. [`Error::NotStatic`]; [`Error::Layout`] for
/// indices outside of `memory`.
///
/// # Examples
/// ```
/// use girih_codegen::plan::{Pieces, warp_accesses};
/// use girih_layout::{Composed, Swizzle, lay};
///
/// // 32 threads, each with 8 halves of one column of 16 bytes of a 32 x 64 tile.
/// let tv = lay!("(32,8):(1,32)");
/// let rows = lay!("(32,64):(64,1)");
/// let wavefronts = |swizzle| -> Result<Pieces, girih_codegen::Error> {
///     let accesses = warp_accesses(&Composed::new(swizzle, 0, rows), &tv, 16, 8)?;
///     Ok(accesses.iter().map(|a| a.wavefronts()).sum())
/// };
/// assert_eq!(wavefronts(Swizzle::NONE)?.to_string(), "32 (4 at the least)");
/// assert_eq!(wavefronts(Swizzle::new(3, 3, 3)?)?.to_string(), "4 (4 at the least)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn warp_accesses(memory: &Composed, tv: &Lay, bits: i64, vector: i64) -> Result<Vec<WarpAccess>, Error> {
    let offsets = Offsets::new("warp_accesses", memory, tv, bits)?;
    let mismatch = |with: String, accepted| Error::Mismatch {
        what: "warp_accesses",
        layout: tv.to_string(),
        with,
        accepted,
    };
    let whole = vector >= 1 && offsets.values % vector == 0;
    if !whole || !matches!(vector.saturating_mul(bits), 8 | 16 | 32 | 64 | 128) {
        let with = format!("vectors of {vector} elements of {bits} bits");
        return Err(mismatch(with, "accesses of 1, 2, 4, 8 or 16 bytes, and as many values as vectors hold"));
    }
    if let Limit::Apart { thread, value, step } = offsets.limit(vector)? {
        let with = format!(
            "vectors of {vector}: value {value} of thread {thread} is {step} elements after the one before"
        );
        return Err(mismatch(with, "values of a vector next to each other"));
    }
    let mut out = Vec::new();
    for warp in 0..(offsets.threads + WARP - 1) / WARP {
        let lanes = warp * WARP..((warp + 1) * WARP).min(offsets.threads);
        for value in (0..offsets.values).step_by(vector as usize) {
            let address = |thread| {
                let bit = offsets.at(thread, value)?.checked_mul(bits);
                Ok(bit.ok_or(girih_layout::Error::Overflow { op: "an address in bits" })? / 8)
            };
            let addresses = lanes.clone().map(address).collect::<Result<_, Error>>()?;
            out.push(WarpAccess { warp, value, addresses, bytes: vector * bits / 8 });
        }
    }
    Ok(out)
}
