//! Mainloops, which load tiles of A and B and leave the accumulator of a tile of C in registers.
//!
//! A mainloop depends neither on the kernel's parameters nor on what is done with the accumulators, so that any kernel can contain one:
//! [`Multistage::mainloop`] and [`WarpSpecialized::mainloop`] derive everything from a tile's extents, and the values that they return
//! write the instructions of the mainloop wherever the kernel calls them. [`generate`](super::generate) does no more than that.

mod multistage;
mod warp_specialized;

use girih_layout::{Lay, Shape};
use girih_tensor::Tensor;

use crate::tiled::mma::{Operand, ThrMma};
use crate::{Builder, Error, Expr, Rmem, TiledMma};

pub use multistage::{Multistage, MultistageMainloop, SharedTile, Source};
pub use warp_specialized::{
    BlockScales, Consumer, Feed, MixedInput, Producer, Stages, WarpSpecialized, WarpSpecializedMainloop,
};
pub(super) use warp_specialized::{CLUSTERS, ROWS, Scaling, WARPGROUP};

/// How the accumulators of a tile are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "a plain value, one for each module")]
pub enum Mainloop {
    /// Every thread copies, multiplies and stores, with several tiles of A and B in flight. This takes every atom of a warp or a thread,
    /// and any sizes.
    Multistage(Multistage),
    /// One warpgroup issues TMA copies, and the others multiply. This takes atoms of a warpgroup, and tensors that tensor maps describe.
    WarpSpecialized(WarpSpecialized),
}

impl Mainloop {
    /// The mainloop as a multistage mainloop, if it is one.
    pub fn multistage(&self) -> Option<&Multistage> {
        if let Mainloop::Multistage(multistage) = self { Some(multistage) } else { None }
    }

    /// The mainloop as a warp-specialised mainloop, if it is one.
    pub fn warp_specialized(&self) -> Option<&WarpSpecialized> {
        if let Mainloop::WarpSpecialized(warp_specialized) = self { Some(warp_specialized) } else { None }
    }
}

/// A thread's accumulators of a block's tile of C, and the thread's index among those that issue MMAs.
#[derive(Clone, Debug)]
pub struct Sums {
    /// `(FrgV,RestM,RestN)`.
    pub values: Tensor<Rmem>,
    /// The thread among those that issue MMAs, which partitions C and any tensor that is laid out like C as the accumulators are partitioned.
    pub thread: ThrMma<Expr>,
}

impl Sums {
    /// Registers for the accumulators of `tile`, which have no values yet.
    pub(crate) fn new(
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

/// The tiles along K of `k` elements, from the first to the end, for a mainloop that does not share the work.
///
/// # Errors
/// Those of [`Expr::div`].
pub fn k_tiles(k: &Expr, tile_k: i64) -> Result<std::ops::Range<Expr>, Error> {
    Ok(Expr::from(0)..(k + (tile_k - 1)).div(tile_k)?)
}
