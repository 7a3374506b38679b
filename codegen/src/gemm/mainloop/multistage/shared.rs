//! The layout of a tile of A or B in shared memory.

use girih_layout::{Composed, Lay, Swizzle};

use super::Multistage;
use super::load::TileCopies;
use crate::Error;
use crate::atom::Major;
use crate::plan::{Access, best_swizzle, widest_vector};
use crate::sizes::static_size;
use crate::tiled::mma::Operand;

/// The layout `(BlockX,BlockK,Stage)` of an operand in shared memory and the swizzle of its element offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// `(BlockX,BlockK,Stage)` -> element.
    pub layout: Lay,
    /// The swizzle of element offsets.
    pub swizzle: Option<Swizzle>,
}

impl std::fmt::Display for SharedTile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.swizzle {
            Some(swizzle) => write!(f, "{swizzle} o 0 o {}", self.layout),
            None => write!(f, "{}", self.layout),
        }
    }
}

impl SharedTile {
    /// The tile of A or B of `[x, k]` elements. It has rows along the operand's contiguous mode, or along the other one if copies transpose it, and the swizzle under which the copies that
    /// write the tile and the copies that read its fragments have the fewest bank conflicts ([`best_swizzle`]).
    pub(super) fn new(
        multistage: &Multistage,
        operand: Operand,
        [x, k]: [i64; 2],
    ) -> Result<SharedTile, Error> {
        let transposes = multistage.transposes(operand, [x, k])?;
        let strides = match multistage.source(operand).major {
            Major::K if !transposes => [k, 1],
            _ => [1, x],
        };
        let tile = Lay::strided([x, k], strides)?; // (BlockX,BlockK)
        let bits = multistage.atom.dtype(operand).bits();
        let TileCopies { load, store } = multistage.tile_copies(operand, [x, k])?;
        let store = store.unwrap_or(load);
        let vector = i64::from(store.atom.bits() / bits);
        let store = Access { tv: store.layout_d_tv(&[x, k])?, vector };
        let load = multistage.fragment_access(operand, [x, k], &tile)?;
        // Threads that read the same values count once, so that other threads take their places in a wavefront.
        let load = Access { tv: Lay::concat(&[load.tv.mode(0)?.filter(), load.tv.mode(1)?])?, ..load };
        let (swizzle, _) = best_swizzle(&tile, i64::from(bits), &[store, load])?;
        let layout = Lay::strided([x, k, multistage.stages], [strides[0], strides[1], x * k])?;
        Ok(SharedTile { layout, swizzle: (swizzle != Swizzle::NONE).then_some(swizzle) })
    }
}

impl Multistage {
    /// The access that reads a fragment of the operand from a tile of `extents` that is laid out as `tile` says.
    fn fragment_access(&self, operand: Operand, extents: [i64; 2], tile: &Lay) -> Result<Access, Error> {
        let bits = self.atom.dtype(operand).bits();
        if let Some(copy) = self.fragment_copy(operand)? {
            let vector = static_size("ldmatrix", &copy.atom.src.mode(1)?)? / i64::from(bits);
            return Ok(Access { tv: copy.layout_s_tv(&extents)?, vector });
        }
        let [x, y] = operand.modes().map(|mode| self.mma().and_then(|mma| Ok(mma.tile_size_mnk()?[mode])));
        // (Thr,Val) -> index in the tile of the block
        let tv = Lay::strided([x?, y?], [1, extents[0]])?.composition(&self.mma()?.layout_tv(operand)?)?;
        let tv = by_memory(&tv, tile)?;
        let (vector, _) = widest_vector(&Composed::new(Swizzle::NONE, 0, *tile), &tv, 128 / i64::from(bits))?;
        Ok(Access { tv, vector })
    }
}

/// The values in the order in which they are in memory.
fn by_memory(tv: &Lay, tile: &Lay) -> Result<Lay, Error> {
    let values = tv.mode(1)?;
    let places = tile.composition(&values)?;
    let values = values.composition(&Lay::left(places.shape())?)?.flatten();
    let places = places.flatten();
    if places.leaf_count() != values.leaf_count() {
        return Ok(*tv);
    }
    let mut leaves: Vec<usize> = (0..values.leaf_count()).collect();
    leaves.sort_by_key(|&leaf| places.flat_leaf(leaf).1.int().and_then(|stride| stride.get()));
    let leaf = |&leaf: &usize| Lay::leaf(values.flat_leaf(leaf).0, values.flat_leaf(leaf).1);
    let values = leaves.iter().map(leaf).collect::<Result<Vec<_>, _>>()?;
    Ok(Lay::concat(&[tv.mode(0)?, Lay::concat(&values)?])?)
}
