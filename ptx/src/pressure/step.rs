//! What the estimate knows of one instruction.

use crate::{Inst, Modifier, Opcode, Operand, Special, Type, Word};

/// What the order of an instruction depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Its registers alone.
    None,
    /// It stays between the effects around it.
    Read,
    /// It stays where it is among reads and effects.
    Write,
}

/// An instruction with the numbers of its registers.
pub(super) struct Step<'k> {
    pub(super) inst: &'k Inst,
    /// The statement of the kernel that it is, or is in.
    pub(super) statement: usize,
    pub(super) written: Vec<usize>,
    pub(super) read: Vec<usize>,
    pub(super) effect: Effect,
}

impl Step<'_> {
    /// Whether it may leave what it writes as it was.
    pub(super) fn is_guarded(&self) -> bool {
        self.inst.guard.is_some()
    }

    /// The register that an instruction copies.
    pub(super) fn copied(&self) -> Option<usize> {
        let plain = |operand: &Operand| matches!(operand, Operand::Name(_));
        match (&self.written[..], &self.read[..]) {
            ([_], &[from])
                if self.inst.opcode == Opcode::Mov
                    && !self.is_guarded()
                    && self.inst.operands.iter().all(plain) =>
            {
                Some(from)
            }
            _ => None,
        }
    }

    pub(super) fn ends_block(&self) -> bool {
        matches!(self.inst.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap)
    }
}

pub(super) fn is_float(inst: &Inst) -> bool {
    let float = |ty: Type| !(ty.is_int() || ty.is_bits() || ty == Type::Pred);
    inst.modifiers.iter().any(|modifier| matches!(modifier, Modifier::Type(ty) if float(*ty)))
}

/// Whether an instruction has the same result in all threads if its registers have.
pub(super) fn is_uniform(inst: &Inst) -> bool {
    let shared = |special: &Special| {
        let text = special.text();
        ["%ctaid", "%nctaid", "%ntid", "%cluster", "%nsmid", "WARP_SZ"]
            .iter()
            .any(|start| text.starts_with(start))
    };
    let agreed = inst.operands.iter().all(|operand| match operand {
        Operand::Special(special) => shared(special),
        _ => true,
    });
    agreed
        && match inst.opcode {
            Opcode::Mov => true,
            Opcode::Ld => inst.modifiers.contains(&Word::Param.into()),
            Opcode::Add
            | Opcode::Sub
            | Opcode::Mul
            | Opcode::Mad
            | Opcode::Shl
            | Opcode::Shr
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Not
            | Opcode::Neg
            | Opcode::Abs
            | Opcode::Min
            | Opcode::Max
            | Opcode::Div
            | Opcode::Rem
            | Opcode::Cvt
            | Opcode::Cvta
            | Opcode::Setp
            | Opcode::Selp
            | Opcode::Slct
            | Opcode::Bfe
            | Opcode::Bfi
            | Opcode::Shf
            | Opcode::Lop3
            | Opcode::Prmt
            | Opcode::Clz
            | Opcode::Popc => !is_float(inst),
            _ => false,
        }
}

/// Whether an instruction does nothing but to compute registers from registers, whenever it runs.
pub(crate) fn computes(inst: &Inst) -> bool {
    let special = |operand: &Operand| matches!(operand, Operand::Special(_));
    inst.guard.is_none()
        && inst.opcode != Opcode::Mma
        && effect(inst) == Effect::None
        && !inst.operands.iter().any(special)
}

pub(super) fn effect(inst: &Inst) -> Effect {
    match inst.opcode {
        Opcode::Ld if inst.modifiers.contains(&Word::Param.into()) => Effect::None,
        Opcode::Ld | Opcode::Ldmatrix | Opcode::Shfl => Effect::Read,
        Opcode::St
        | Opcode::Stmatrix
        | Opcode::Red
        | Opcode::Atom
        | Opcode::Bar
        | Opcode::Barrier
        | Opcode::Bra
        | Opcode::Brx
        | Opcode::Ret
        | Opcode::Exit
        | Opcode::Trap
        | Opcode::Call
        | Opcode::Fence
        | Opcode::Membar
        | Opcode::Wgmma
        | Opcode::Wmma
        | Opcode::Cp
        | Opcode::Mbarrier
        | Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Discard
        | Opcode::Setmaxnreg
        | Opcode::Griddepcontrol
        | Opcode::Nanosleep
        | Opcode::Tensormap
        | Opcode::Vote
        | Opcode::Match
        | Opcode::Activemask
        | Opcode::Elect => Effect::Write,
        _ => Effect::None,
    }
}
