//! Arguments and results of calls, whose padding nothing may have written: it is passed on as unwritten, and told only
//! where it is used.

use crate::op::Transfer;
use crate::shadow::Who;
use crate::{Access, Error, Space};

use super::access::{extended, from_bytes, misaligned};
use super::context::Context;
use super::lanes;
use super::warp::Warp;

impl Warp {
    /// A load that leaves a register unwritten where it reads bytes that are.
    pub(super) fn load_argument(
        &mut self,
        cx: &mut Context<'_>,
        transfer: &Transfer,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        let Transfer { bytes, count, signed, .. } = *transfer;
        for lane in lanes(mask) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let address = self.address(&transfer.address, lane);
            let total = bytes * count;
            if !address.is_multiple_of(total.into()) {
                return Err(misaligned(cx, who, Access::Read, Space::Local, address, total));
            }
            let range = self.local_at(cx, who, Access::Read, address, total)?;
            let elements = range.step_by(bytes as usize).zip(&transfer.regs);
            for (at, reg) in elements.filter_map(|(at, reg)| Some((at, (*reg)?))) {
                let element = at..at + bytes as usize;
                let value = from_bytes(&self.local[element.clone()]) as u64;
                self.regs.set(reg, lane, extended(value, bytes, signed));
                if self.local_written[element].contains(&false)
                    && let Some(written) = &mut self.written
                {
                    *written.lanes(reg) &= !(1 << lane);
                }
            }
        }
        Ok(())
    }

    /// After a store: bytes that come from registers that nothing has written are unwritten themselves.
    pub(super) fn pass_on(
        &mut self,
        cx: &Context<'_>,
        transfer: &Transfer,
        who: Who,
        address: u64,
    ) -> Result<(), Error> {
        let Transfer { bytes, count, .. } = *transfer;
        let range = self.local_at(cx, who, Access::Write, address, bytes * count)?;
        let Some(written) = &mut self.written else { return Ok(()) };
        for (at, reg) in range.step_by(bytes as usize).zip(transfer.regs) {
            let known = reg.is_none_or(|reg| *written.lanes(reg) >> who.lane & 1 == 1);
            self.local_written[at..at + bytes as usize].fill(known);
        }
        Ok(())
    }
}
