//! Finds the variable that an address is made from, so that an access through the address can be checked to stay inside
//! the variable.
//!
//! A register has an address of a variable if every instruction that writes the register makes such an address: by a
//! copy or a conversion of one, or a sum of one and numbers. Of all other registers nothing is known, and accesses
//! through them are not checked.

use girih_ptx::{Modifier, Opcode, Type};

use crate::lanes::Reg;
use crate::op::{Address, Op};
use crate::program::{Code, Whole};

use super::Decoder;

/// How the results of an instruction depend on addresses in its sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// The result is a number if all sources are numbers, and otherwise unknown.
    #[default]
    Numbers,
    /// The result may be any of the sources.
    Any,
    /// The result is the sum of the sources: an address, if one source is an address and the others are numbers.
    Sum,
    /// The result comes from memory. It counts as a number, since no address of a known variable is expected there.
    Loads,
}

/// The possible values of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// No instruction that writes the register has been looked at yet.
    Nothing,
    Number,
    /// An address of this variable.
    Address(u32),
    Unknown,
}

impl Held {
    fn join(self, other: Held) -> Held {
        match (self, other) {
            (Held::Nothing, held) | (held, Held::Nothing) => held,
            (one, same) if one == same => one,
            _ => Held::Unknown,
        }
    }
}

/// How the results of an instruction depend on addresses, by its opcode and types.
pub(super) fn step(opcode: Opcode, modifiers: &[Modifier]) -> Step {
    let float =
        |ty: &Type| matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 | Type::F32 | Type::F64);
    if modifiers.iter().any(|m| matches!(m, Modifier::Type(ty) if float(ty))) {
        return Step::Numbers;
    }
    match opcode {
        Opcode::Mov | Opcode::Cvt | Opcode::Cvta | Opcode::Selp | Opcode::Shfl => Step::Any,
        Opcode::Add | Opcode::Sub | Opcode::Mad | Opcode::Or => Step::Sum,
        Opcode::Ld | Opcode::Atom | Opcode::Ldmatrix => Step::Loads,
        _ => Step::Numbers,
    }
}

impl Decoder<'_> {
    /// The number of a variable, from 1, after noting that the instruction being decoded mentions the variable.
    pub(super) fn mention(&mut self, variable: Whole) -> u32 {
        let known = self.code.variables.iter().position(|other| *other == variable);
        let number = known.unwrap_or_else(|| {
            self.code.variables.push(variable);
            self.code.variables.len() - 1
        });
        self.mentioned.push(number as u32 + 1);
        number as u32 + 1
    }
}

/// Marks every memory operand with the variable in which the access has to stay. `steps` has, for each instruction,
/// what it does with addresses and the variables that it mentions.
pub(super) fn mark(code: &mut Code, steps: &[(Step, Vec<u32>)]) {
    let (pred, w32) = (code.pred as usize, code.w32 as usize);
    let number = |reg: Reg| {
        reg.slot as usize
            + match reg.file {
                crate::lanes::File::Pred => 0,
                crate::lanes::File::W32 => pred,
                crate::lanes::File::W64 => pred + w32,
            }
    };
    if code.variables.is_empty() {
        return;
    }
    let mut held = vec![Held::Nothing; pred + w32 + code.w64 as usize];
    loop {
        let mut changed = false;
        for (source, (step, mentioned)) in code.sources.iter().zip(steps) {
            let found = result(*step, mentioned, source.reads.iter().map(|&reg| held[number(reg)]));
            for &reg in &source.writes {
                let joined = held[number(reg)].join(found);
                changed |= joined != held[number(reg)];
                held[number(reg)] = joined;
            }
        }
        if !changed {
            break;
        }
    }
    for inst in &mut code.insts {
        for address in addresses(&mut inst.op) {
            if let (0, Some(Held::Address(of))) = (address.within, address.base.map(|reg| held[number(reg)]))
            {
                address.within = of;
            }
        }
    }
}

/// The possible values of an instruction's result.
fn result(step: Step, mentioned: &[u32], reads: impl Iterator<Item = Held> + Clone) -> Held {
    let sources = mentioned.iter().map(|&of| Held::Address(of)).chain(reads);
    match step {
        Step::Loads => Held::Number,
        Step::Any => {
            let held = sources.clone().fold(Held::Nothing, Held::join);
            if sources.count() == 0 { Held::Number } else { held }
        }
        Step::Numbers if sources.clone().all(|held| matches!(held, Held::Number | Held::Nothing)) => {
            Held::Number
        }
        Step::Numbers => Held::Unknown,
        Step::Sum => {
            let mut addresses = sources.clone().filter(|held| matches!(held, Held::Address(_)));
            let first = addresses.next();
            if sources.clone().any(|held| held == Held::Unknown) || addresses.next().is_some() {
                return Held::Unknown;
            }
            let open = || sources.clone().any(|held| held == Held::Nothing);
            first.unwrap_or_else(|| if open() { Held::Nothing } else { Held::Number })
        }
    }
}

/// The memory operands of an operation whose accesses are checked.
fn addresses(op: &mut Op) -> Vec<&mut Address> {
    match op {
        Op::Load(transfer) | Op::Store(transfer) => vec![&mut transfer.address],
        Op::Atomic(atomic) => vec![&mut atomic.address],
        Op::Copy(copy) => vec![&mut copy.to],
        Op::AtomicWide(atomic) => vec![&mut atomic.address],
        Op::CopyArrive { address, .. } => vec![address],
        Op::Bulk(bulk) => vec![&mut bulk.to, &mut bulk.from, &mut bulk.mbarrier],
        Op::Tensor(copy) => vec![&mut copy.shared, &mut copy.mbarrier],
        Op::StoreAsync(store) => vec![&mut store.to, &mut store.mbarrier],
        Op::Mbarrier(mbarrier) => vec![&mut mbarrier.address],
        Op::Wmma(tile) => vec![&mut tile.address],
        Op::Ldmatrix(matrices) | Op::Stmatrix(matrices) => vec![&mut matrices.address],
        _ => Vec::new(),
    }
}
