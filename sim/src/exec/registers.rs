//! Undefined values: registers that nothing has written, and what comes of them and of memory without a value.
//!
//! What is undefined may be copied, stored in shared and local memory, and computed with, as compilers do in lanes whose
//! results nobody takes; the results are undefined as far as they depend on it, bit by bit. An error is to let it decide
//! something: an address, a guard, what is stored in global memory, an operand of a barrier.
//!
//! Instructions whose registers every path has written need not be looked at until something undefined comes from elsewhere
//! (`decode/defined.rs`).

mod flow;
mod spread;

use std::collections::HashMap;

use crate::error::Used;
use crate::lanes::{File, Reg, WARP};
use crate::op::{Guard, Inst, Op};
use crate::shadow::Who;
use crate::{Error, Space};

use super::context::Context;
use super::warp::Warp;

/// Where something undefined comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A register that nothing has written.
    Register(Reg),
    /// Bytes that nothing has written, and who read them first.
    Memory { who: Who, space: Space, address: u64, bytes: u32 },
    /// A register of a lane that did not execute the shuffle that brought it, and who did.
    Lane { who: Who, from: u32, register: Reg },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) source: Source,
    /// Whether it may be the padding of a structure that is copied as it is.
    pub(super) padding: bool,
}

/// What of a warp's registers is undefined.
#[derive(Debug)]
pub(super) struct Undefined {
    pred: Vec<u32>,
    w32: Vec<u32>,
    w64: Vec<u32>,
    /// Which bits, of the lanes of a register in which it is not all.
    bits: HashMap<Reg, Box<[u64; WARP]>>,
    origins: HashMap<Reg, Origin>,
    /// Whether every instruction has to be looked at.
    pub(super) spread: bool,
}

/// All bits of a register.
pub(super) fn all_bits(reg: Reg) -> u64 {
    match reg.file {
        File::Pred => 1,
        File::W32 => u32::MAX.into(),
        File::W64 => u64::MAX,
    }
}

impl Undefined {
    pub(super) fn new(pred: usize, w32: usize, w64: usize) -> Self {
        Undefined {
            pred: vec![0; pred],
            w32: vec![0; w32],
            w64: vec![0; w64],
            bits: HashMap::new(),
            origins: HashMap::new(),
            spread: false,
        }
    }

    fn file(&mut self, file: File) -> &mut Vec<u32> {
        match file {
            File::Pred => &mut self.pred,
            File::W32 => &mut self.w32,
            File::W64 => &mut self.w64,
        }
    }

    /// Begins a block: these registers are yet to be written, or, if the warp is observed, all.
    pub(super) fn start(&mut self, open: &[Reg], observed: bool) {
        for file in [File::Pred, File::W32, File::W64] {
            self.file(file).fill(if observed { u32::MAX } else { 0 });
        }
        open.iter().for_each(|&reg| self.file(reg.file)[reg.slot as usize] = u32::MAX);
        self.bits.clear();
        self.origins.clear();
        self.spread = observed;
    }

    /// The lanes in which a register has undefined bits.
    pub(super) fn lanes(&self, reg: Reg) -> u32 {
        let file = match reg.file {
            File::Pred => &self.pred,
            File::W32 => &self.w32,
            File::W64 => &self.w64,
        };
        file[reg.slot as usize]
    }

    /// Which bits of a lane.
    pub(super) fn bits(&self, reg: Reg, lane: usize) -> u64 {
        if self.lanes(reg) >> lane & 1 == 0 {
            return 0;
        }
        self.bits.get(&reg).map_or(all_bits(reg), |bits| bits[lane])
    }

    /// A register is about to be written in these lanes.
    pub(super) fn define(&mut self, reg: Reg, lanes: u32) {
        self.file(reg.file)[reg.slot as usize] &= !lanes;
    }

    /// These bits of a lane of a register are undefined, and no others of it.
    pub(super) fn set(&mut self, reg: Reg, lane: usize, bits: u64, origin: Origin) {
        let bits = bits & all_bits(reg);
        if bits == 0 {
            return self.define(reg, 1 << lane);
        }
        let before = self.lanes(reg);
        self.file(reg.file)[reg.slot as usize] = before | 1 << lane;
        if bits != all_bits(reg) || self.bits.contains_key(&reg) {
            self.bits.entry(reg).or_insert_with(|| Box::new([all_bits(reg); WARP]))[lane] = bits;
        }
        // That of the first lane, which is the one that is told.
        if before << (31 - lane) << 1 == 0 {
            self.origins.insert(reg, origin);
        }
        self.spread = true;
    }

    /// A lane of a register has no value any more.
    pub(super) fn lose(&mut self, reg: Reg, lane: usize) {
        self.file(reg.file)[reg.slot as usize] |= 1 << lane;
        if let Some(bits) = self.bits.get_mut(&reg) {
            bits[lane] = all_bits(reg);
        }
        self.origins.remove(&reg);
    }

    pub(super) fn origin(&self, reg: Reg) -> Origin {
        let own = Origin { source: Source::Register(reg), padding: false };
        self.origins.get(&reg).copied().unwrap_or(own)
    }

    /// The first register that is undefined in some of its lanes, and those.
    fn first(&self, mut needs: impl Iterator<Item = (Reg, u32)>) -> Option<(Reg, u32)> {
        needs.find_map(|(reg, lanes)| Some((reg, lanes & self.lanes(reg))).filter(|found| found.1 != 0))
    }
}

impl Warp {
    /// Checks that what decides something in an instruction is defined, and passes on what is not. `pc` is its first
    /// operation.
    pub(super) fn check_registers(
        &mut self,
        cx: &Context<'_>,
        pc: u32,
        mask: u32,
        active: u32,
    ) -> Result<(), Error> {
        let code = &cx.machine.kernel.code;
        let inst = &code.insts[pc as usize];
        let source = &code.sources[inst.source as usize];
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            Guard::Always | Guard::Same => None,
        };
        let (passing, strict) = source.reads.split_at(source.passes);
        let strict = strict.iter().map(|&reg| (reg, active));
        let uses = guard.iter().map(|&reg| (reg, mask)).chain(strict);
        while let Some((reg, lanes)) =
            self.undefined.as_ref().and_then(|undefined| undefined.first(uses.clone()))
        {
            cx.note(self.undefined_register(cx, reg, lanes, inst.source))?;
            // Told once, not at every use.
            self.undefined.iter_mut().for_each(|undefined| undefined.define(reg, lanes));
        }
        let Some(undefined) = &self.undefined else { return Ok(()) };
        let lanes = passing.iter().fold(0, |all, &reg| all | active & undefined.lanes(reg));
        let ops = operations(&code.insts, pc);
        if lanes != 0 && ops.iter().all(|inst| matches!(inst.op, Op::Lanes(..))) {
            self.flow(ops, source, active, lanes);
        } else if !ops.last().is_some_and(|inst| inst.op.spreads())
            && let Some(undefined) = &mut self.undefined
        {
            source.writes.iter().for_each(|&reg| undefined.define(reg, active));
        }
        Ok(())
    }

    /// Whether an instruction has to be looked at.
    #[inline]
    pub(super) fn is_careful(&self, inst: &Inst) -> bool {
        self.undefined.as_ref().is_some_and(|undefined| inst.careful || undefined.spread)
    }

    /// The lanes of a register that are undefined, if that is checked.
    pub(super) fn undefined_lanes(&self, reg: Reg) -> u32 {
        self.undefined.as_ref().map_or(0, |undefined| undefined.lanes(reg))
    }

    /// All lanes of a register are about to be written.
    pub(super) fn define_all(&mut self, reg: Reg) {
        if let Some(undefined) = &mut self.undefined {
            undefined.define(reg, u32::MAX);
        }
    }

    /// The error that an instruction uses a register in lanes where it is undefined.
    pub(super) fn undefined_register(&self, cx: &Context<'_>, reg: Reg, lanes: u32, source: u32) -> Error {
        let origin = self.undefined.as_ref().map(|undefined| undefined.origin(reg));
        let at = cx.at(self.who(lanes, source));
        let code = &cx.machine.kernel.code;
        let used = |at| Box::new(Used { register: code.name(reg), at });
        match origin.map(|origin| origin.source) {
            Some(Source::Memory { who, space, address, bytes }) => {
                Error::UninitialisedMemory { at: cx.at(who), space, address, bytes, used: Some(used(*at)) }
            }
            Some(Source::Lane { who, from, register }) => Error::AbsentLane {
                at: cx.at(who),
                register: code.name(register),
                lane: from,
                used: used(*at),
            },
            Some(Source::Register(first)) if first != reg => {
                let via = format!(" by way of `{}`", code.name(reg));
                Error::UninitialisedRegister { at, register: code.name(first), via }
            }
            _ => Error::UninitialisedRegister { at, register: code.name(reg), via: String::new() },
        }
    }
}

/// The operations of the PTX instruction that begins here.
pub(super) fn operations(insts: &[Inst], pc: u32) -> &[Inst] {
    let rest = &insts[pc as usize..];
    let more = rest.iter().skip(1).take_while(|inst| inst.guard == Guard::Same).count();
    &rest[..=more]
}
