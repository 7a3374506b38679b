//! The contents of memory at one moment, to be restored later.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::sync::Arc;

use crate::memory::Allocation;
use crate::{Kernel, Memory};

/// The contents of allocations and of a module's variables: for each, the bytes and which of them have a value.
pub(crate) struct Snapshot(Vec<(Arc<Allocation>, Vec<u8>, Vec<u32>)>);

fn save(allocation: &Arc<Allocation>) -> (Arc<Allocation>, Vec<u8>, Vec<u32>) {
    let mut bytes = vec![0; allocation.len()];
    allocation.read_host(0, &mut bytes);
    (allocation.clone(), bytes, allocation.marks())
}

impl Snapshot {
    /// A snapshot of all that a launch of the kernel could change.
    pub(crate) fn new(kernel: &Kernel, memory: &Memory) -> Snapshot {
        let view = memory.view();
        Snapshot(view.allocations.iter().chain(&kernel.variables).map(save).collect())
    }

    /// A snapshot of the present contents of those allocations that have changed since this snapshot.
    pub(crate) fn changed(&self) -> Snapshot {
        let now = self.0.iter().map(|(allocation, ..)| save(allocation));
        let same = |now: &(Arc<Allocation>, Vec<u8>, Vec<u32>), then: &(_, Vec<u8>, Vec<u32>)| {
            now.1 == then.1 && now.2 == then.2
        };
        Snapshot(now.zip(&self.0).filter(|(now, then)| !same(now, then)).map(|(now, _)| now).collect())
    }

    /// Restores the contents of the snapshot.
    pub(crate) fn restore(&self) {
        for (allocation, bytes, marks) in &self.0 {
            allocation.write_host(0, bytes);
            allocation.forget(marks);
        }
    }
}
