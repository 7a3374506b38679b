//! Shared memory for exchanges between the threads of a block: one arena as large as its largest use.
//!
//! A barrier is between one use and the next, and is written only when there is a next one.

use girih_codegen::Expr;

use super::Lowering;
use crate::error::Result;

/// The state of the arena.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    /// Whether some thread may have accessed the arena since the last barrier.
    used: bool,
}

impl Scratch {
    /// As after either of two ways.
    pub(crate) fn join(&mut self, other: Scratch) {
        self.used |= other.used;
    }
}

impl Lowering<'_> {
    /// `bytes` bytes of shared memory at a multiple of `align`, for one exchange: all threads write, meet by
    /// [`Lowering::meet`], and read. The memory is another one's afterwards.
    pub(crate) fn scratch(&mut self, bytes: i64, align: i64) -> Result<Expr> {
        if self.scratch.used {
            self.meet();
        }
        self.scratch.used = true;
        Ok(self.b.shared_scope(|b| b.alloc_shared(bytes, align))?)
    }

    /// All threads of the block meet, and see what the others have written. The arena counts as used, since an exchange reads it now.
    pub(crate) fn meet(&mut self) {
        if !self.meet_consumers() {
            self.b.barrier();
        }
        self.touched.clear();
    }

    /// As [`Lowering::meet`], where no exchange is under way.
    pub(crate) fn meet_idle(&mut self) {
        self.meet();
        self.scratch.used = false;
    }

    /// Lets the threads meet unless none has accessed the arena since they did.
    pub(crate) fn meet_unless_clear(&mut self) {
        if self.scratch.used {
            self.meet_idle();
        }
    }

    /// At the beginning of a loop's iteration, or where ways come together: the arena may be in use.
    pub(crate) fn scratch_unknown(&mut self) {
        self.scratch.used = true;
    }
}
