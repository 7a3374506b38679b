//! Mainloops: tiles of A and B come to the threads that multiply, and the sums of a tile of C stay in their registers.
//!
//! A mainloop knows neither the kernel's parameters nor what becomes of the sums, so that any kernel can contain one:
//! [`Multistage::mainloop`] and [`WarpSpecialized::mainloop`] derive what there is to know from a tile's extents, and what they return
//! writes the instructions between whatever comes before and after. [`generate`](super::generate) does no more than that.

mod multistage;
mod warp_specialized;

use girih_layout::{Lay, Shape};
use girih_tensor::Tensor;

use crate::tiled::mma::{Operand, ThrMma};
use crate::{Builder, Error, Expr, Rmem, TiledMma};

pub use multistage::{Multistage, MultistageMainloop, SharedTile, Source};
pub use warp_specialized::{Consumer, Feed, Producer, WarpSpecialized, WarpSpecializedMainloop};
pub(super) use warp_specialized::{ROWS, WARPGROUP};

/// How the sums of a tile are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a plain value, one for each module")]
pub enum Mainloop {
    /// Every thread copies, multiplies and stores, with several tiles of A and B in flight: for every atom of a warp or a thread, and
    /// any sizes.
    Multistage(Multistage),
    /// One warpgroup issues tensor copies, the others multiply: for atoms of a warpgroup, and what tensor maps describe.
    WarpSpecialized(WarpSpecialized),
}

impl Mainloop {
    /// The multistage mainloop, if it is that.
    pub fn multistage(&self) -> Option<&Multistage> {
        if let Mainloop::Multistage(multistage) = self { Some(multistage) } else { None }
    }

    /// The warp-specialised mainloop, if it is that.
    pub fn warp_specialized(&self) -> Option<&WarpSpecialized> {
        if let Mainloop::WarpSpecialized(warp_specialized) = self { Some(warp_specialized) } else { None }
    }
}

/// The sums of a block's tile of C: what a thread has of them, and which elements they are.
#[derive(Clone, Debug)]
pub struct Sums {
    /// `(FrgV,RestM,RestN)`.
    pub values: Tensor<Rmem>,
    /// The thread among those that multiply: it partitions C, or whatever lies like C, as the sums are partitioned.
    pub thread: ThrMma<Expr>,
}

impl Sums {
    /// Registers for the sums of `tile`, which have no values yet.
    fn new(
        b: &mut Builder,
        mma: &TiledMma,
        [m, n, _]: [i64; 3],
        thread: ThrMma<Expr>,
    ) -> Result<Sums, Error> {
        let tile = Lay::col_major([m, n])?;
        let fragment = mma.thrfrg(Operand::C, &tile)?.mode(1)?; // (FrgV,(RestM,RestN))
        let rest = fragment.mode(1)?;
        let sizes = [fragment.mode(0)?.size()?, rest.mode(0)?.size()?, rest.mode(1)?.size()?];
        let values = Rmem::tensor(b, mma.atom.c_type, Lay::left(&Shape::flat(&sizes)?)?)?;
        let part = thread.part(Operand::C, &tile, *values.layout()).ok();
        let values = Rmem::holding(values, part.as_ref())?;
        Ok(Sums { values, thread })
    }
}

/// The tiles along K of `k` elements that a mainloop goes through if nothing else shares the work: from the first to the end.
///
/// # Errors
/// Those of [`Expr::div`].
pub fn k_tiles(k: &Expr, tile_k: i64) -> Result<std::ops::Range<Expr>, Error> {
    Ok(Expr::from(0)..(k + (tile_k - 1)).div(tile_k)?)
}
