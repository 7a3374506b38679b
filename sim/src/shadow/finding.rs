//! The errors that the shadow finds in an access.

use super::Stamp;
use crate::Access;

/// An error that the shadow finds in an access. The machine makes an [`Error`](crate::Error) of it, with the place in the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    Unwritten,
    InFlight(Stamp),
    /// A write to bytes that an asynchronous operation may still read.
    BeingRead(Stamp),
    /// An ordinary access to the bytes of an mbarrier.
    Mbarrier,
    Race {
        offset: usize,
        access: Access,
        other: Stamp,
        /// Whether both accesses write, and write the same values.
        same: bool,
    },
    /// A volatile read of what another lane of the warp has written by a volatile write, without synchronisation in
    /// between.
    Lockstep {
        offset: usize,
        other: Stamp,
    },
    /// A write of the generic proxy that the async proxy does not see without a proxy fence.
    Unfenced {
        offset: usize,
        other: Stamp,
    },
    /// The initialisation of an mbarrier, which the async proxy does not see without a fence.
    MbarrierUnfenced {
        other: Stamp,
    },
}

impl Finding {
    pub(super) fn race(offset: usize, access: Access, other: Stamp) -> Finding {
        Finding::Race { offset, access, other, same: false }
    }

    /// Whether the program may not access the bytes at all now. Such an access is not recorded, so that the state of
    /// the operation or mbarrier to which the bytes belong stays intact.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Finding::InFlight(_) | Finding::BeingRead(_) | Finding::Mbarrier)
    }
}
