//! Allocations, which several buffers can share. An allocation is freed in its own sequence when no buffer of it is left.

use std::sync::Arc;

use super::Sequence;

/// Memory on a device.
pub(crate) struct Allocation {
    home: Arc<Sequence>,
    address: u64,
    owner: Owner,
}

/// Who frees an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// girih, when the last buffer of the allocation is dropped.
    Buffers,
    /// Another library, whose user has promised that the memory outlives its buffers.
    Other,
    /// `cudarc`, which lends the memory as long as a [`Borrowed`](crate::Borrowed) lives: no buffer of the memory may outlive that.
    #[cfg(feature = "cudarc")]
    Scope,
}

impl Allocation {
    /// The memory at `address`. Its home sequence orders the operations that use it.
    pub(crate) fn new(home: &Arc<Sequence>, address: u64, owner: Owner) -> Allocation {
        Allocation { home: home.clone(), address, owner }
    }

    /// Whether slices of a buffer in this memory may outlive the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.owner, Owner::Buffers | Owner::Other)
    }

    /// The sequence in which the memory is freed, and with which the operations that use it are ordered.
    pub(crate) fn home(&self) -> &Arc<Sequence> {
        &self.home
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.owner == Owner::Buffers {
            self.home.free(self.address);
        }
    }
}
