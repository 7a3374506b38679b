//! The cost of all accesses of a partition.

use girih_layout::{Composed, Lay};

use super::access::{Pieces, WarpAccess, warp_accesses};
use super::vector::{Limit, widest_vector};
use crate::Error;

/// The bank conflicts and sectors of a partition's accesses, and their possible width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The accesses of warps.
    pub accesses: usize,
    /// Elements that a thread accesses at a time.
    pub vector: i64,
    /// Elements that a thread could access at a time, and what limits them.
    pub widest: (i64, Limit),
    /// The wavefronts of shared memory.
    pub wavefronts: Pieces,
    /// The sectors of global memory.
    pub sectors: Pieces,
    /// The first conflict, with its warp and value, in words.
    pub conflict: Option<String>,
}

/// The bank conflicts and sectors of a partition's accesses, if each thread accesses `vector` elements of `bits` bits at a time; the widest vector
/// for `None`. `tv` maps (thread, value) to the index of the element in the tile, and `memory` maps a coordinate of the tile to the offset of the
/// element.
///
/// ```
/// use girih_codegen::plan::traffic;
/// use girih_layout::{Composed, lay};
///
/// // A column of a tile of 16-bit elements, by 32 threads: all words lie in one bank.
/// let tile = Composed::parse("Sw<0,4,3> o 0 o (64,64):(64,1)")?;
/// let traffic = traffic(&tile, &lay!("(32,1):(1,0)"), 16, Some(1))?;
/// assert_eq!((traffic.wavefronts.taken, traffic.sectors.taken), (32, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`widest_vector`] and [`warp_accesses`].
pub fn traffic(memory: &Composed, tv: &Lay, bits: i64, vector: Option<i64>) -> Result<Traffic, Error> {
    let widest = widest_vector(memory, tv, (128 / bits).max(1))?;
    let vector = vector.unwrap_or(widest.0);
    let accesses = warp_accesses(memory, tv, bits, vector)?;
    let conflict = accesses.iter().find_map(|access| Some((access, access.conflict()?)));
    Ok(Traffic {
        accesses: accesses.len(),
        vector,
        widest,
        wavefronts: accesses.iter().map(WarpAccess::wavefronts).sum(),
        sectors: accesses.iter().map(WarpAccess::sectors).sum(),
        conflict: conflict
            .map(|(access, conflict)| format!("warp {}, value {}: {conflict}", access.warp, access.value)),
    })
}
