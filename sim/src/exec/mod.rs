//! Execution: clusters in parallel, the warps of a cluster in turn, the lanes of a warp together.

mod access;
mod agents;
mod at_once;
mod atomic;
mod block;
mod bulk;
mod calls;
mod claims;
mod cluster;
mod context;
mod copy;
mod counts;
mod finding;
mod format;
mod gate;
mod groups;
mod map;
mod matrix;
mod mbarrier;
mod mma;
mod phase;
mod pool;
mod print;
mod quad;
mod registers;
mod shuffle;
mod special;
mod tensor;
mod together;
mod undefined;
mod warp;
mod watch;
mod wgmma;
mod wmma;

pub(crate) use cluster::{Cluster, Turn};
pub(crate) use context::Machine;
pub(crate) use wgmma::Major;

use crate::Space;

/// The first shared address. The bytes below belong to the system on sm_90, so a zero address is out of bounds.
pub(crate) const SHARED_BASE: u64 = 1024;
/// The bit at which the rank of a block stands in shared addresses, which mean the same in every block of the cluster.
pub(crate) const RANK_SHIFT: u32 = 24;
/// Where shared memory appears among generic addresses.
pub(crate) const SHARED_WINDOW: u64 = 0x7100_0000_0000;
/// Where local memory appears among generic addresses.
pub(crate) const LOCAL_WINDOW: u64 = 0x7200_0000_0000;
/// Bytes between the local memories of two threads among generic addresses. The first thread's begins one stride after
/// the window, so that every generic address tells whose memory it is in.
pub(crate) const LOCAL_STRIDE: u64 = 1 << 17;
/// Where parameters appear among generic addresses.
pub(crate) const PARAM_WINDOW: u64 = 0x7300_0000_0000;
/// Where the addresses of functions and kernels begin; nothing can be read there.
pub(crate) const CODE_WINDOW: u64 = 0x7400_0000_0000;
/// Bytes of a window.
const WINDOW: u64 = 1 << 32;

/// Resolves a generic address: the space that it points into, and the address there.
#[inline]
fn resolve(space: Space, address: u64) -> (Space, u64) {
    if space != Space::Generic || address < SHARED_WINDOW {
        return (if space == Space::Generic { Space::Global } else { space }, address);
    }
    let windows =
        [(Space::Cluster, SHARED_WINDOW), (Space::Local, LOCAL_WINDOW), (Space::Param, PARAM_WINDOW)];
    let found = windows.iter().find(|(_, window)| address.wrapping_sub(*window) < WINDOW);
    found.map_or((Space::Global, address), |&(space, window)| (space, address - window))
}

/// The lanes of a mask, in order.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
