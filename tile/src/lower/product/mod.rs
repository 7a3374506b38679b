//! Matrix multiplies. The plan decides the instruction of each; operands that are not in the registers of the threads that need them are
//! staged in shared memory.

mod ahead;
mod fma;
mod stage;
mod sync;

pub(super) use ahead::Ahead;

use super::Lowering;
use crate::error::Result;
use crate::ir::OpId;
use crate::place::product::Way;

impl Lowering<'_> {
    /// Lowers [`Kind::Mma`](crate::ir::Kind::Mma).
    pub(super) fn product(&mut self, id: OpId) -> Result {
        match self.plan.way(id) {
            Way::Fma => self.multiply_add(id),
            Way::Sync(atom) => self.multiply_warps(id, &atom),
        }
    }
}
