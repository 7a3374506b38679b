//! Finds the allocation of an address among those that a launch can access.

use std::sync::Arc;

use super::Allocation;
use crate::Nearest;

/// The allocations that a launch can access, sorted by address.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) allocations: Vec<Arc<Allocation>>,
}

impl View {
    /// The index of the allocation that contains `[address, address + bytes)`, and the offset in it.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(usize, usize)> {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let index = after.checked_sub(1)?;
        self.allocations[index].offset(address, bytes).map(|offset| (index, offset))
    }

    /// The allocation nearest to an access that is in none.
    pub(crate) fn nearest(&self, address: u64, bytes: u64) -> Nearest {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let before = after.checked_sub(1).map(|i| &self.allocations[i]);
        let distance_before = before.map(|a| address.saturating_sub(a.base + a.bytes));
        let next = self.allocations.get(after);
        let distance_next = next.map(|a| a.base - address);
        let choice = match (distance_before, distance_next) {
            (Some(b), Some(n)) if n < b => next,
            (Some(_), _) => before,
            (None, _) => next,
        };
        choice.map_or(Nearest::None, |a| Nearest::region(a.base, a.bytes, address, bytes))
    }
}
