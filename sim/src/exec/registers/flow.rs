//! How undefined bits pass through instructions that compute registers from registers.
//!
//! The instructions of most kinds are executed twice, with all undefined bits clear and with all of them set. The bits
//! of the result that differ are undefined.

use crate::lanes::{Args, File, Reg, WARP, lanes_of};
use crate::op::{Flow, Inst, Op, Source};

use super::super::warp::Warp;
use super::{Undefined, all_bits};

impl Warp {
    /// Marks the results of an instruction, which is about to be executed, as undefined where they depend on undefined
    /// sources. `some` are the active lanes that have such sources.
    pub(super) fn flow(&mut self, ops: &[Inst], source: &Source, active: u32, some: u32) {
        let flow = match (source.flow, ops) {
            (Flow::Chosen(_), [Inst { op: Op::Lanes(..), .. }]) => source.flow,
            (Flow::Chosen(_), _) => Flow::Any,
            (flow, _) => flow,
        };
        let Some(mut undefined) = self.undefined.take() else { return };
        let first = source.reads.iter().find(|&&reg| undefined.lanes(reg) & some != 0);
        let Some(mut origin) = first.map(|&reg| undefined.origin(reg)) else {
            self.undefined = Some(undefined);
            return;
        };
        // A result that is not a copy of its source can't be the padding of a structure.
        origin.padding &= matches!(flow, Flow::Bits | Flow::Chosen(_));
        let results = match flow {
            Flow::Any => Vec::new(),
            Flow::Either => either(&undefined, source),
            Flow::Halves { joined, from, to } => halves(&undefined, source, joined, from, to),
            Flow::Bits | Flow::Masked | Flow::Whole | Flow::Chosen(_) => {
                self.differences(&undefined, ops, source, some)
            }
        };
        let unchosen = match (flow, &ops[0].op) {
            (Flow::Chosen(files), Op::Lanes(_, args)) => {
                choosers(files, args).fold(0, |unknown, reg| unknown | undefined.lanes(reg))
            }
            _ => 0,
        };
        for (i, &reg) in source.writes.iter().enumerate() {
            undefined.define(reg, active & !some);
            for lane in lanes_of(some) {
                let bits = results.get(i).map_or(u64::MAX, |bits: &[u64; WARP]| bits[lane]);
                let whole = unchosen >> lane & 1 == 1 || flow == Flow::Whole && bits != 0;
                undefined.set(reg, lane, if whole { all_bits(reg) } else { bits }, origin);
            }
        }
        self.undefined = Some(undefined);
    }

    /// For each register that an instruction writes, the bits that differ between an execution with all undefined bits
    /// clear and one with all of them set.
    fn differences(
        &mut self,
        undefined: &Undefined,
        ops: &[Inst],
        source: &Source,
        some: u32,
    ) -> Vec<[u64; WARP]> {
        let touched: Vec<Reg> = source.reads.iter().chain(&source.writes).copied().collect();
        let values = |warp: &Warp, reg: Reg| std::array::from_fn(|lane| warp.regs.get(reg, lane));
        let saved: Vec<[u64; WARP]> = touched.iter().map(|&reg| values(self, reg)).collect();
        let mut outcomes = [false, true].map(|ones| {
            for &reg in &source.reads {
                for lane in lanes_of(some & undefined.lanes(reg)) {
                    let (value, bits) = (self.regs.get(reg, lane), undefined.bits(reg, lane));
                    self.regs.set(reg, lane, if ones { value | bits } else { value & !bits });
                }
            }
            for inst in ops {
                if let Op::Lanes(run, args) = &inst.op {
                    run(&mut self.regs, args, some);
                }
            }
            let outcome: Vec<[u64; WARP]> = source.writes.iter().map(|&reg| values(self, reg)).collect();
            for (&reg, values) in touched.iter().zip(&saved) {
                (0..WARP).for_each(|lane| self.regs.set(reg, lane, values[lane]));
            }
            outcome
        });
        let [clear, set] = &mut outcomes;
        for (clear, set) in clear.iter_mut().zip(set.iter()) {
            clear.iter_mut().zip(set).for_each(|(clear, set)| *clear ^= set);
        }
        std::mem::take(clear)
    }
}

/// The bits that are undefined in any source: those of the result of an instruction such as `xor`, which would agree in
/// both executions.
fn either(undefined: &Undefined, source: &Source) -> Vec<[u64; WARP]> {
    let bits = |lane| source.reads.iter().fold(0, |bits, &reg| bits | undefined.bits(reg, lane));
    vec![std::array::from_fn(bits)]
}

/// The halves of the result whose halves of sources, or whose source, have undefined bits. A half has `from` bits in the
/// sources and `to` in the result.
fn halves(undefined: &Undefined, source: &Source, joined: bool, from: u8, to: u8) -> Vec<[u64; WARP]> {
    let half = |bits: u8, upper: bool| ((1u64 << bits) - 1) << if upper { bits } else { 0 };
    let bits = |lane| {
        let of = |reg: &Reg| undefined.bits(*reg, lane);
        let lost = match source.reads.as_slice() {
            [high, low] if joined => [of(low), of(high)].map(|bits| bits != 0),
            all => {
                let any = all.iter().fold(0, |any, reg| any | of(reg));
                [false, true].map(|upper| if joined { any != 0 } else { any & half(from, upper) != 0 })
            }
        };
        let spread = |upper: bool| if lost[usize::from(upper)] { half(to, upper) } else { 0 };
        spread(false) | spread(true)
    };
    vec![std::array::from_fn(bits)]
}

/// Those of the second and the third source whose value chooses between the others.
fn choosers(files: [Option<File>; 2], args: &Args) -> impl Iterator<Item = Reg> {
    let slots = [args.b, args.c];
    files.into_iter().zip(slots).filter_map(|(file, slot)| Some(Reg { file: file?, slot }))
}
