//! What buffers share: an allocation, which is freed in its own sequence when nothing of it is left.

use std::sync::Arc;

use crate::stream::Sequence;

/// Memory on a device.
pub(crate) struct Allocation {
    home: Arc<Sequence>,
    address: u64,
}

impl Allocation {
    /// What was allocated at `address` in a sequence.
    pub(crate) fn new(home: &Arc<Sequence>, address: u64) -> Allocation {
        Allocation { home: home.clone(), address }
    }

    /// The sequence in which it is freed, and with which those that use it are ordered.
    pub(crate) fn home(&self) -> &Sequence {
        &self.home
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.home.free(self.address);
    }
}
