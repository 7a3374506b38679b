//! What the four warps of a warpgroup do together: each operation is one of all four, which must issue the same.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::product::Elements;

/// Warps of a warpgroup.
pub(super) const WARPS: usize = 4;

/// The operations of a warpgroup that not all of its warps have waited for, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warpgroup {
    pub(super) operations: VecDeque<Operation>,
    /// Operations that are no longer in the list.
    pub(super) done: u64,
    /// Operations that each warp has issued.
    pub(super) issued: [u64; WARPS],
    /// Operations whose end some warp has waited for.
    pub(super) completed: u64,
    /// The shadow's counter of those.
    pub(super) counter: Option<usize>,
}

/// What the warps must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) source: u32,
    /// The descriptors of A, if it has one, and B.
    pub(super) a: Option<u64>,
    pub(super) b: u64,
    /// `scale-d`.
    pub(super) accumulate: bool,
}

/// An operation of a warpgroup.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// The warp that issued it first.
    pub(super) warp: u32,
    pub(super) operands: Operands,
    /// Where the 16-byte chunks of A and B are in shared memory, those of A first.
    pub(super) chunks: Arc<Vec<usize>>,
    /// The same bytes in as few ranges as they make, if there is a shadow.
    pub(super) ranges: Arc<Vec<Range<usize>>>,
    /// What has been read there.
    pub(super) matrices: Option<Arc<(Option<Elements>, Elements)>>,
    /// Warps that have their part of the result.
    pub(super) taken: u32,
    /// Its number in the shadow.
    pub(super) shadow: u32,
}

impl Warpgroup {
    /// The operation of this number, from 0.
    pub(super) fn operation(&mut self, number: u64) -> Option<&mut Operation> {
        self.operations.get_mut(number.checked_sub(self.done)? as usize)
    }

    /// The warps, by place in the warpgroup, that have not issued so many operations.
    pub(super) fn missing(&self, count: u64) -> impl Iterator<Item = usize> {
        let issued = self.issued;
        (0..WARPS).filter(move |&warp| issued[warp] < count)
    }

    /// A warp has its part of an operation's result.
    pub(super) fn take(&mut self, number: u64) {
        if let Some(operation) = self.operation(number) {
            operation.taken += 1;
        }
        while self.operations.pop_front_if(|operation| operation.taken == WARPS as u32).is_some() {
            self.done += 1;
        }
    }
}
