//! The swizzle of a tile in shared memory under which a set of accesses has the fewest conflicts.

use girih_layout::{Composed, Lay, Swizzle};

use super::access::{Pieces, WarpAccess, warp_accesses};
use crate::Error;

/// An access to a tile in shared memory: a copy's stores, `ldmatrix` (the lanes that give the rows' addresses, 16 bytes
/// each), a fragment's loads, the epilogue's `stmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// (Thr,Val) -> index in the tile.
    pub tv: Lay,
    /// Values that a thread takes at a time.
    pub vector: i64,
}

/// The most bits that a swizzle moves: those that number the 32 banks.
const MOST_BITS: u32 = 5;

/// The swizzle after which `accesses` to a tile that is laid out as `layout` says take the fewest wavefronts together, and
/// how many they take. Every [`Swizzle`] that keeps the vectors whole and stays inside the tile is tried; of those that
/// are as good, the one that moves the fewest bits wins, then the one with the smallest shift and base.
///
/// # Errors
/// Those of [`warp_accesses`]; [`Error::NotStatic`].
///
/// # Examples
/// ```
/// use girih_codegen::plan::{Access, best_swizzle};
/// use girih_layout::lay;
///
/// // A 64 x 64 tile of bf16 with contiguous rows, stored row by row and read by ldmatrix.
/// let store = Access { tv: lay!("((8,16),(8,4)):((512,1),(64,16))"), vector: 8 };
/// let ldmatrix = Access { tv: lay!("((16,2),(8,4,4)):((1,512),(64,16,1024))"), vector: 8 };
/// let (swizzle, wavefronts) = best_swizzle(&lay!("(64,64):(64,1)"), 16, &[store, ldmatrix])?;
/// assert_eq!(swizzle.to_string(), "Sw<3,3,3>");
/// assert!(wavefronts.is_least());
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn best_swizzle(layout: &Lay, bits: i64, accesses: &[Access]) -> Result<(Swizzle, Pieces), Error> {
    let plain = Composed::new(Swizzle::NONE, 0, *layout);
    let mut all = Vec::new();
    for Access { tv, vector } in accesses {
        all.extend(warp_accesses(&plain, tv, bits, *vector)?);
    }
    // A swizzle moves whole vectors, so that each access stays one access. What takes `most` wavefronts or more is not counted further.
    let cost = |swizzle: Swizzle, most: i64| -> Option<Pieces> {
        let add = |sum: Pieces, access: &WarpAccess| {
            let sum: Pieces = [sum, access.swizzled(swizzle, bits).wavefronts()].into_iter().sum();
            Some(sum).filter(|sum| sum.taken < most)
        };
        all.iter().try_fold(Pieces::default(), add)
    };
    let mut best = (Swizzle::NONE, cost(Swizzle::NONE, i64::MAX).unwrap_or_default());
    let not_static = || Error::NotStatic { what: "best_swizzle", layout: layout.to_string() };
    let cosize = layout.cosize()?.get().ok_or_else(not_static)?;
    // A swizzle permutes the indices of whole periods only.
    let period = cosize & cosize.wrapping_neg();
    let reach = period.trailing_zeros();
    let widest = accesses.iter().map(|access| access.vector).max().unwrap_or(1).max(1);
    let least_base = (widest as u64).next_power_of_two().trailing_zeros();
    for bits in 1..=MOST_BITS.min(reach.saturating_sub(least_base) / 2) {
        for shift in bits..=reach.saturating_sub(least_base + bits) {
            for base in least_base..=reach - bits - shift {
                if best.1.is_least() {
                    return Ok(best);
                }
                let swizzle = Swizzle::new(bits, base, shift as i32)?;
                if let Some(taken) = cost(swizzle, best.1.taken) {
                    best = (swizzle, taken);
                }
            }
        }
    }
    Ok(best)
}
