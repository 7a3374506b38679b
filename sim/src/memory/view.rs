//! Finds the allocation of an address among those that a launch sees.

use std::fmt;
use std::sync::Arc;

use super::Allocation;

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
    /// How `[address, address + bytes)` lies relative to a region.
    pub(crate) fn region(base: u64, len: u64, address: u64, bytes: u64) -> Self {
        let beyond = if address < base {
            -i64::try_from(base - address).unwrap_or(i64::MAX)
        } else {
            let past = u128::from(address) + u128::from(bytes)
                - (u128::from(base) + u128::from(len)).min(u128::from(address) + u128::from(bytes));
            i64::try_from(past).unwrap_or(i64::MAX)
        };
        Nearest::Region { base, bytes: len, beyond }
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

/// The allocations that a launch sees, sorted by address.
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
