//! State spaces, and where the memory of each appears among addresses.

use std::fmt;

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
        })
    }
}

/// A state space (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Kernel parameters.
    Param,
    /// Shared memory of a block.
    Shared,
    /// Shared memory of the blocks of a cluster.
    Cluster,
    /// Global memory.
    Global,
    /// Local memory of a thread.
    Local,
    /// An address whose window tells the space.
    Generic,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Param => "param",
            Space::Shared => "shared",
            Space::Cluster => "shared::cluster",
            Space::Global => "global",
            Space::Local => "local",
            Space::Generic => "generic",
        })
    }
}

/// The allocation nearest to an address that is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// There is no memory at all in this space.
    None,
    /// A region of `bytes` bytes at `base`.
    Region {
        /// First address.
        base: u64,
        /// Size in bytes.
        bytes: u64,
        /// How many bytes the access begins before `base` (negative) or ends after the region's end (positive).
        beyond: i64,
    },
}

impl Nearest {
    /// How `[address, address + bytes)` relates to a region.
    pub(crate) fn region(base: u64, len: u64, address: u64, bytes: u64) -> Self {
        let (from, to) = (i128::from(address), i128::from(address) + i128::from(bytes));
        let (begin, end) = (i128::from(base), i128::from(base) + i128::from(len));
        let beyond = if from < begin { from - begin } else { (to - end).max(0) };
        // An address that is no memory's at all may be farther away than 63 bits say; such a distance saturates.
        let most = i128::from(i64::MAX);
        Nearest::Region { base, bytes: len, beyond: beyond.clamp(-most, most) as i64 }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Nearest::None => f.write_str("nothing is allocated there"),
            Nearest::Region { base, bytes, beyond } if beyond < 0 => {
                write!(f, "it begins {} bytes before the nearest memory, {bytes} bytes at {base:#x}", -beyond)
            }
            Nearest::Region { base, bytes, beyond } => {
                write!(f, "it ends {beyond} bytes after the nearest memory, {bytes} bytes at {base:#x}")
            }
        }
    }
}

/// The first shared address. The bytes below belong to the system on sm_90, so a zero address is out of bounds.
pub(crate) const SHARED_BASE: u64 = 1024;
/// The bit at which the rank of a block is in shared addresses, which mean the same in every block of the cluster.
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
pub(crate) fn resolve(space: Space, address: u64) -> (Space, u64) {
    if space != Space::Generic || address < SHARED_WINDOW {
        return (if space == Space::Generic { Space::Global } else { space }, address);
    }
    let windows =
        [(Space::Cluster, SHARED_WINDOW), (Space::Local, LOCAL_WINDOW), (Space::Param, PARAM_WINDOW)];
    let found = windows.iter().find(|(_, window)| address.wrapping_sub(*window) < WINDOW);
    found.map_or((Space::Global, address), |&(space, window)| (space, address - window))
}
