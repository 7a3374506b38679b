//! The operations that the four warps of a warpgroup issue together. Each operation belongs to all four, which must issue the same.

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
    /// The number of operations that have been removed from the list.
    pub(super) done: u64,
    /// The number of operations that each warp has issued.
    pub(super) issued: [u64; WARPS],
    /// The number of operations that some warp has waited for.
    pub(super) completed: u64,
    /// The shadow's counter of the completed operations, once there is one.
    pub(super) counter: Option<usize>,
}

/// The operands of an operation, in which the warps must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) source: u32,
    /// The descriptor of A, if A is in shared memory.
    pub(super) a: Option<u64>,
    /// The descriptor of B.
    pub(super) b: u64,
    /// Whether `scale-d` is set: the products are added to D.
    pub(super) accumulate: bool,
}

/// An operation of a warpgroup.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// The warp that issued the operation first.
    pub(super) warp: u32,
    pub(super) operands: Operands,
    /// Where the 16-byte chunks of A and B are in shared memory, those of A first.
    pub(super) chunks: Arc<Vec<usize>>,
    /// The bytes of the chunks as few ranges, for the shadow; empty without a shadow.
    pub(super) ranges: Arc<Vec<Range<usize>>>,
    /// The matrices that have been read from shared memory, once they have.
    pub(super) matrices: Option<Arc<(Option<Elements>, Elements)>>,
    /// How many warps have written their part of the result to registers.
    pub(super) taken: u32,
    /// The shadow's index of the operation.
    pub(super) shadow: u32,
}

impl Warpgroup {
    /// The operation of this number, from 0.
    pub(super) fn operation(&mut self, number: u64) -> Option<&mut Operation> {
        self.operations.get_mut(number.checked_sub(self.done)? as usize)
    }

    /// The warps that have not issued this many operations, by place in the warpgroup.
    pub(super) fn missing(&self, count: u64) -> impl Iterator<Item = usize> {
        let issued = self.issued;
        (0..WARPS).filter(move |&warp| issued[warp] < count)
    }

    /// Counts that a warp has written its part of an operation's result, and removes operations that all warps are done
    /// with.
    pub(super) fn take(&mut self, number: u64) {
        if let Some(operation) = self.operation(number) {
            operation.taken += 1;
        }
        while self.operations.pop_front_if(|operation| operation.taken == WARPS as u32).is_some() {
            self.done += 1;
        }
    }
}
