//! Shared memory for exchanges between the threads of a block: one arena as large as its largest use.
//!
//! A barrier is between one use and the next, and is written only when there is a next one.

use girih_codegen::algorithm::distributed::Group;
use girih_codegen::algorithm::{load_elements, store_elements};
use girih_codegen::plan::Dist;
use girih_codegen::{Builder, Cond, Expr, Reg};
use girih_tensor::{DType, Space};

use super::Lowering;
use crate::error::{Error, Result};

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

/// The threads that compute.
impl Group for Lowering<'_> {
    type Error = Error;

    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn thread(&self) -> Expr {
        self.thread.clone()
    }

    fn threads(&self) -> i64 {
        self.plan.threads.into()
    }

    fn scratch(&mut self, bytes: i64, align: i64) -> Result<Expr> {
        if self.scratch.used {
            self.meet();
        }
        self.scratch.used = true;
        Ok(self.b.shared_scope(|b| b.alloc_shared(bytes, align))?)
    }

    fn sync(&mut self) {
        self.meet();
    }

    fn origin(&mut self, dist: &Dist, rank: usize) -> Result<Vec<Expr>> {
        if let Some(known) = self.origins.get(dist).filter(|known| known.len() == rank) {
            return Ok(known.clone());
        }
        let at = dist.coordinate(&self.thread, rank)?;
        self.origins.insert(dist.clone(), at.clone());
        Ok(at)
    }
}

impl Lowering<'_> {
    /// Stores an element, or neighbouring ones that are aligned as a whole, at an address in bytes of shared memory where `cond` holds.
    pub(super) fn put(&mut self, dtype: DType, address: &Expr, regs: &[Reg], cond: &Cond) -> Result {
        Ok(store_elements(&mut self.b, Space::Smem, dtype, address, cond, regs)?)
    }

    /// Loads neighbouring elements, which are aligned as a whole, from an address in bytes of shared memory where `cond` holds; elsewhere
    /// they are 0.
    pub(super) fn take(
        &mut self,
        dtype: DType,
        address: &Expr,
        count: usize,
        cond: &Cond,
    ) -> Result<Vec<Reg>> {
        Ok(load_elements(&mut self.b, Space::Smem, dtype, count, address, cond, Some(0))?)
    }

    /// A barrier of all threads of the block, which makes their writes visible. The arena counts as used, since an exchange reads it now.
    pub(crate) fn meet(&mut self) {
        if !self.meet_consumers() {
            self.b.barrier();
        }
        self.touched.clear();
    }

    /// As [`Lowering::meet`], where no exchange is in flight.
    pub(crate) fn meet_idle(&mut self) {
        self.meet();
        self.scratch.used = false;
    }

    /// Adds a barrier unless no thread has accessed the arena since the last one.
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
