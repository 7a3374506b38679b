//! Which registers have been written, lane by lane.
//!
//! What nothing has written may be copied and computed with, as compilers do in lanes whose results nobody takes; the
//! results count as unwritten too. An error is to use it: for an address, in a store, as a guard, in an instruction of
//! the whole warp.

use std::collections::HashMap;

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
    /// The register that was missing when this one was computed.
    blame: HashMap<Reg, Reg>,
}

impl Written {
    pub(super) fn new(pred: usize, w32: usize, w64: usize) -> Self {
        Written { pred: vec![0; pred], w32: vec![0; w32], w64: vec![0; w64], blame: HashMap::new() }
    }

    pub(super) fn file(&mut self, file: File) -> &mut Vec<u32> {
        match file {
            File::Pred => &mut self.pred,
            File::W32 => &mut self.w32,
            File::W64 => &mut self.w64,
        }
    }

    /// Begins a block.
    pub(super) fn clear(&mut self) {
        for file in [File::Pred, File::W32, File::W64] {
            self.file(file).fill(0);
        }
        self.blame.clear();
    }

    /// The lanes in which a register has been written.
    pub(super) fn lanes(&mut self, reg: Reg) -> &mut u32 {
        &mut self.file(reg.file)[reg.slot as usize]
    }

    /// The same, to look at.
    pub(super) fn in_lanes(&self, reg: Reg) -> u32 {
        let file = match reg.file {
            File::Pred => &self.pred,
            File::W32 => &self.w32,
            File::W64 => &self.w64,
        };
        file[reg.slot as usize]
    }

    /// Counts lanes of a register that is computed from `from` as unwritten.
    pub(super) fn pass(&mut self, from: Reg, to: Reg, lanes: u32) {
        *self.lanes(to) &= !lanes;
        let origin = self.blame.get(&from).copied().unwrap_or(from);
        self.blame.insert(to, origin);
    }

    /// The first register that nothing has written in some of its lanes, and those.
    fn missing(&mut self, needs: impl Iterator<Item = (Reg, u32)>) -> Option<(Reg, u32)> {
        let mut missing = needs.map(|(reg, lanes)| (reg, lanes & !*self.lanes(reg)));
        missing.find(|(_, lanes)| *lanes != 0)
    }
}

impl Warp {
    /// Checks that what an instruction uses has been written, and notes what it writes.
    pub(super) fn check_registers(
        &mut self,
        cx: &Context<'_>,
        inst: &Inst,
        mask: u32,
        active: u32,
    ) -> Result<(), Error> {
        while let Some((reg, lanes)) = self.unwritten_use(cx, inst, mask, active) {
            cx.note(self.unwritten_register(cx, reg, lanes, inst.source))?;
            // Told once, not at every use.
            self.written.iter_mut().for_each(|written| *written.lanes(reg) |= lanes);
        }
        let Some(written) = &mut self.written else { return Ok(()) };
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let found = written.missing(source.reads.iter().map(|&reg| (reg, active)));
        let passing = &source.reads[..source.passes];
        let unwritten = passing.iter().fold(0, |all, &reg| all | active & !*written.lanes(reg));
        for &reg in &source.writes {
            *written.lanes(reg) |= active;
            if let Some((from, _)) = found {
                written.pass(from, reg, unwritten);
            }
        }
        Ok(())
    }

    /// A register that an instruction uses, and the lanes in which nothing has written it.
    fn unwritten_use(&mut self, cx: &Context<'_>, inst: &Inst, mask: u32, active: u32) -> Option<(Reg, u32)> {
        let source = &cx.machine.kernel.code.sources[inst.source as usize];
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            Guard::Always | Guard::Same => None,
        };
        let strict = source.reads[source.passes..].iter().map(|&reg| (reg, active));
        self.written.as_mut()?.missing(guard.iter().map(|&reg| (reg, mask)).chain(strict))
    }

    /// The lanes of a register that nothing has written, if that is checked.
    pub(super) fn unwritten(&mut self, reg: Reg) -> u32 {
        self.written.as_mut().map_or(0, |written| !*written.lanes(reg))
    }

    /// All lanes of a register are about to be written.
    pub(super) fn mark_written(&mut self, reg: Reg) {
        if let Some(written) = &mut self.written {
            *written.lanes(reg) = u32::MAX;
        }
    }

    /// The error that an instruction uses a register in lanes where nothing has written it.
    pub(super) fn unwritten_register(&self, cx: &Context<'_>, reg: Reg, lanes: u32, source: u32) -> Error {
        let code = &cx.machine.kernel.code;
        let blame = self.written.as_ref().and_then(|written| written.blame.get(&reg).copied());
        let via = blame.map(|_| format!(" by way of `{}`", code.name(reg))).unwrap_or_default();
        let at = cx.at(self.who(lanes, source));
        Error::UninitialisedRegister { at, register: code.name(blame.unwrap_or(reg)), via }
    }
}
