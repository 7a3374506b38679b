//! What buffers share: an allocation, which is freed in its own sequence when nothing of it is left.

use std::sync::Arc;

use crate::stream::Sequence;

/// Memory on a device.
pub(crate) struct Allocation {
    home: Arc<Sequence>,
    address: u64,
    owner: Owner,
}

/// Who frees it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The last buffer of it.
    Buffers,
    /// Someone else, who has promised that it outlives its buffers.
    Other,
    /// Someone else, who lends it as long as a [`Borrowed`](crate::Borrowed) lives: no buffer of it may leave that.
    #[cfg(feature = "cudarc")]
    Scope,
}

impl Allocation {
    /// What lies at `address`; a sequence orders those that use it.
    pub(crate) fn new(home: &Arc<Sequence>, address: u64, owner: Owner) -> Allocation {
        Allocation { home: home.clone(), address, owner }
    }

    /// Whether slices of a buffer of it may outlive the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.owner, Owner::Buffers | Owner::Other)
    }

    /// The sequence in which it is freed, and with which those that use it are ordered.
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
