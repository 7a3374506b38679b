//! The best copy for reading or writing a tile of global memory.

use girih_layout::{Int, Lay, Shape, Stride};

use super::proof::exactly_once;
use crate::atom::universal_copy;
use crate::sizes::static_size;
use crate::tiled::copy::coalesced;
use crate::{Error, TiledCopy};

/// Bits of the widest access of a thread.
const WIDEST: i64 = 128;

/// The copy of a tile, `(M,N) -> element of global memory`, by `threads` threads. Neighbouring threads take neighbouring vectors
/// along the contiguous mode, so that a warp touches as few sectors as there can be. The vectors are the widest that the extent of
/// this mode and the stride of the other one allow, 16 bytes at most. Strides may be symbolic; their declared facts count.
///
/// The function proves that every element is copied once; [`super::warp_accesses`] tells the sectors.
///
/// # Errors
/// [`Error::Mismatch`] for a tile without a contiguous mode, or one that the threads do not divide;
/// [`Error::NotStatic`] for symbolic extents.
///
/// # Examples
/// ```
/// use girih_codegen::plan::coalesced_copy;
/// use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
///
/// // 128 x 64 halves, rows of `ld` elements.
/// let rows = |ld: Symbol| {
///     let stride = Strides::flat(&[Stride::Int(Int::symbol(ld)), Stride::Int(Int::fixed(1))])?;
///     Lay::new(&Shape::parse("(128,64)")?, &stride)
/// };
/// // A multiple of 8: 16 bytes a thread, 8 threads a row.
/// let copy = coalesced_copy(&rows(Symbol::new(0).divisible_by(8))?, 256, 16)?;
/// assert_eq!((copy.atom.bits(), copy.extents()?), (128, vec![32, 64]));
/// assert_eq!(copy.tv.to_string(), "((8,32),8):((256,1),32)");
/// // Nothing known of `ld`: two bytes.
/// assert_eq!(coalesced_copy(&rows(Symbol::new(0))?, 256, 16)?.atom.bits(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn coalesced_copy(tile: &Lay, threads: i64, bits: i64) -> Result<TiledCopy, Error> {
    const WHAT: &str = "coalesced_copy";
    let mismatch =
        |with: String, accepted| Error::Mismatch { what: WHAT, layout: tile.to_string(), with, accepted };
    if tile.rank() != 2 || tile.leaf_count() != 2 {
        return Err(mismatch(String::from("a matrix"), "two modes of one extent and stride each"));
    }
    if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
        return Err(mismatch(format!("elements of {bits} bits"), "8, 16, 32, 64 or 128 bits"));
    }
    let extents = [static_size(WHAT, &tile.mode(0)?)?, static_size(WHAT, &tile.mode(1)?)?];
    let stride = |mode: usize| match tile.flat_leaf(mode).1 {
        Stride::Int(stride) => Ok(stride),
        other => Err(mismatch(format!("the stride {other}"), "integer strides")),
    };
    let strides = [stride(0)?, stride(1)?];
    let Some(contiguous) = [1, 0].into_iter().find(|&mode| strides[mode].is(1)) else {
        return Err(mismatch(String::from("vectors along a mode"), "a mode of stride 1"));
    };
    let divides = |n: i64, value: Int| value.is_divisible_by(n) == Some(true);
    let mut vector = WIDEST / bits;
    while vector > 1 && !(extents[contiguous] % vector == 0 && divides(vector, strides[1 - contiguous])) {
        vector /= 2;
    }
    // Vectors are narrower where some threads would have none.
    let elements = extents[0].saturating_mul(extents[1]);
    while vector > 1 && elements < threads.saturating_mul(vector) {
        vector /= 2;
    }
    let copy = loop {
        let atom = universal_copy((vector * bits / 8) as u32);
        let atom = atom.ok_or_else(|| {
            mismatch(format!("{} bytes a thread", vector * bits / 8), "1, 2, 4, 8 or 16 bytes")
        })?;
        match coalesced(*atom, threads, extents, contiguous, vector) {
            // Perhaps the threads divide the tile in narrower vectors.
            Err(_) if vector > 1 => vector /= 2,
            found => break found?,
        }
    };
    exactly_once(&copy.layout_s_tv(&extents)?, &Shape::flat(&extents.map(Int::fixed))?)?;
    Ok(copy)
}
