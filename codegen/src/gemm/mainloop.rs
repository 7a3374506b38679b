//! Mainloops: tiles of A and B come to the threads that multiply, and the sums of a tile of C stay in their registers.

mod multistage;
mod warp_specialized;

pub use multistage::{Multistage, SharedTile, Source};
pub use warp_specialized::WarpSpecialized;

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
