//! Undefined values: registers that nothing has written, and the results of instructions that read such registers or
//! memory without a value.
//!
//! Undefined values may be copied, stored in shared and local memory, and computed with, as compilers do in lanes whose
//! results nobody uses. A result is undefined, bit by bit, as far as it depends on undefined values. An undefined value
//! must not decide something: an address, a guard, what is stored in global memory, an operand of a barrier.
//!
//! An instruction whose registers have been written on every path to it need not be checked, until an undefined value
//! comes from memory or another lane (`decode/defined.rs`).

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

/// Where an undefined value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A register that nothing has written.
    Register(Reg),
    /// Bytes that nothing has written, and the thread and instruction that read them first.
    Memory { who: Who, space: Space, address: u64, bytes: u32 },
    /// A register of lane `from`, which did not execute the shuffle that read it, and the thread and instruction of the
    /// shuffle.
    Lane { who: Who, from: u32, register: Reg },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) source: Source,
    /// Whether the value may be the padding of a structure that is copied as a whole.
    pub(super) padding: bool,
}

/// Which values of a warp's registers are undefined: for each register, the lanes in which at least one bit is.
#[derive(Debug)]
pub(super) struct Undefined {
    pred: Vec<u32>,
    w32: Vec<u32>,
    w64: Vec<u32>,
    /// For registers that are undefined only in part in some lane: the undefined bits of each lane.
    bits: HashMap<Reg, Box<[u64; WARP]>>,
    origins: HashMap<Reg, Origin>,
    /// Whether every instruction has to be checked, as an undefined value may be in any register.
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

    /// Begins a block. The `open` registers, which some path reads before it writes them, are undefined; all are if the
    /// warp is observed.
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

    /// The undefined bits of a lane of a register.
    pub(super) fn bits(&self, reg: Reg, lane: usize) -> u64 {
        if self.lanes(reg) >> lane & 1 == 0 {
            return 0;
        }
        self.bits.get(&reg).map_or(all_bits(reg), |bits| bits[lane])
    }

    /// Makes a register defined in these lanes, as it is about to be written there.
    pub(super) fn define(&mut self, reg: Reg, lanes: u32) {
        self.file(reg.file)[reg.slot as usize] &= !lanes;
    }

    /// Makes these bits of a lane of a register undefined, and the lane's other bits defined.
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
        // A register keeps the origin of its first undefined lane, since a message tells that lane.
        if before << (31 - lane) << 1 == 0 {
            self.origins.insert(reg, origin);
        }
        self.spread = true;
    }

    /// Makes all bits of a lane of a register undefined.
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

    /// The first of these registers that is undefined in one of its given lanes, with those of the lanes in which it
    /// is.
    fn first(&self, mut needs: impl Iterator<Item = (Reg, u32)>) -> Option<(Reg, u32)> {
        needs.find_map(|(reg, lanes)| Some((reg, lanes & self.lanes(reg))).filter(|found| found.1 != 0))
    }
}

impl Warp {
    /// Checks that the registers are defined that decide something in an instruction, and marks the results of
    /// undefined values as undefined. `pc` is the instruction's first operation.
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
            // The register counts as defined from now on, so that there is one finding and not one for every use.
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

    /// Whether an instruction has to be checked.
    #[inline]
    pub(super) fn is_careful(&self, inst: &Inst) -> bool {
        self.undefined.as_ref().is_some_and(|undefined| inst.careful || undefined.spread)
    }

    /// The lanes in which a register is undefined; none if that is not checked.
    pub(super) fn undefined_lanes(&self, reg: Reg) -> u32 {
        self.undefined.as_ref().map_or(0, |undefined| undefined.lanes(reg))
    }

    /// Makes a register defined in all lanes, as it is about to be written there.
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
