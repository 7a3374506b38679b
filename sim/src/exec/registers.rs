//! Which registers have been written, lane by lane.

use crate::Error;
use crate::lanes::{File, Reg};
use crate::op::{Guard, Inst};

use super::context::Context;
use super::warp::Warp;

/// Which lanes of each register have been written.
#[derive(Debug)]
pub(super) struct Written {
    pred: Vec<u32>,
    w32: Vec<u32>,
    w64: Vec<u32>,
}

impl Written {
    pub(super) fn new(pred: usize, w32: usize, w64: usize) -> Self {
        Written { pred: vec![0; pred], w32: vec![0; w32], w64: vec![0; w64] }
    }

    pub(super) fn file(&mut self, file: File) -> &mut Vec<u32> {
        match file {
            File::Pred => &mut self.pred,
            File::W32 => &mut self.w32,
            File::W64 => &mut self.w64,
        }
    }
}

impl Warp {
    /// Checks that what an instruction reads has been written, and notes what it writes.
    pub(super) fn check_registers(
        &mut self,
        cx: &Context<'_>,
        inst: &Inst,
        mask: u32,
        active: u32,
    ) -> Result<(), Error> {
        let Some(written) = &mut self.written else { return Ok(()) };
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            Guard::Always | Guard::Same => None,
        };
        let needs = guard.iter().map(|&reg| (reg, mask)).chain(source.reads.iter().map(|&reg| (reg, active)));
        let missing = needs.map(|(reg, lanes)| (reg, lanes & !written.file(reg.file)[reg.slot as usize]));
        if let Some((reg, lanes)) = missing.into_iter().find(|(_, lanes)| *lanes != 0) {
            let at = cx.at(self.who(lanes, inst.source));
            return Err(Error::UninitialisedRegister { at, register: cx.machine.kernel.code.name(reg) });
        }
        for reg in &source.writes {
            written.file(reg.file)[reg.slot as usize] |= active;
        }
        Ok(())
    }

    /// The lanes of a register that nothing has written, if that is checked.
    pub(super) fn unwritten(&mut self, reg: Reg) -> u32 {
        self.written.as_mut().map_or(0, |written| !written.file(reg.file)[reg.slot as usize])
    }

    /// All lanes of a register are about to be written.
    pub(super) fn mark_written(&mut self, reg: Reg) {
        if let Some(written) = &mut self.written {
            written.file(reg.file)[reg.slot as usize] = u32::MAX;
        }
    }
}
