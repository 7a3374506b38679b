//! Instructions on registers of 32 bits, each of which holds several values.

use girih_ptx::{Modifier, Opcode, Operand, Type};

use crate::builder::{Builder, Reg};

/// Writes the instructions of one conversion. Constants, and what several results have in common, are computed once.
pub(super) struct Words<'b> {
    pub(super) b: &'b mut Builder,
    /// Whether infinity and NaN of 8-bit floats are kept.
    pub(super) exact: bool,
    constants: Vec<(i64, Reg)>,
    known: Vec<(Reg, Derived, Reg)>,
}

/// A register that is computed from a source register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Derived {
    /// The bits moved down.
    Shifted(i64),
    /// With the sign bit of each byte inverted.
    Flipped,
    /// The lower or the upper 16 bits.
    Half(bool),
    /// The lower or the upper four bits of each byte as the byte's number.
    Nibbles(bool),
}

/// `(a & b) | c` and `(a & b) ^ c` as the tables of `lop3`.
const AND_OR: i64 = 0xea;
const AND_XOR: i64 = 0x6a;

impl<'b> Words<'b> {
    pub(super) fn new(b: &'b mut Builder, exact: bool) -> Words<'b> {
        Words { b, exact, constants: Vec::new(), known: Vec::new() }
    }

    /// The kernel's target, as in 80 for sm_80.
    pub(super) fn sm(&self) -> u32 {
        self.b.sm()
    }

    /// The register that holds these bits.
    pub(super) fn constant(&mut self, bits: i64) -> Reg {
        if let Some((_, reg)) = self.constants.iter().find(|(known, _)| *known == bits) {
            return reg.clone();
        }
        let reg = self.make(Opcode::Mov, Type::B32, vec![Operand::Int(bits)]);
        self.constants.push((bits, reg.clone()));
        reg
    }

    /// A new register of 32 bits with the result of an instruction.
    pub(super) fn make(&mut self, opcode: Opcode, ty: Type, operands: Vec<Operand>) -> Reg {
        let out = self.b.reg(Type::B32);
        self.write(&out, opcode, &[ty.into()], operands);
        out
    }

    /// Writes the result of an instruction to `out`.
    pub(super) fn write(
        &mut self,
        out: &Reg,
        opcode: Opcode,
        modifiers: &[Modifier],
        operands: Vec<Operand>,
    ) {
        let operands = [Operand::from(out)].into_iter().chain(operands).collect();
        self.b.inst(opcode, modifiers, operands);
    }

    /// The register derived from `of`, if it has been computed.
    pub(super) fn derived(&self, of: &Reg, what: Derived) -> Option<Reg> {
        let known = |(source, derived, _): &&(Reg, Derived, Reg)| source == of && *derived == what;
        self.known.iter().find(known).map(|(.., reg)| reg.clone())
    }

    /// The register derived from `of`, computed at the first request.
    pub(super) fn once(&mut self, of: &Reg, what: Derived, compute: impl FnOnce(&mut Self) -> Reg) -> Reg {
        if let Some(known) = self.derived(of, what) {
            return known;
        }
        let reg = compute(self);
        self.known.push((of.clone(), what, reg.clone()));
        reg
    }

    /// The bits of `of` moved down by `by`.
    pub(super) fn shifted(&mut self, of: &Reg, by: i64) -> Reg {
        if by == 0 {
            return of.clone();
        }
        self.once(of, Derived::Shifted(by), |words| {
            words.make(Opcode::Shr, Type::U32, vec![Operand::from(of), Operand::Int(by)])
        })
    }

    pub(super) fn and(&mut self, a: &Reg, mask: i64) -> Reg {
        self.make(Opcode::And, Type::B32, vec![Operand::from(a), Operand::Int(mask)])
    }

    /// `(a & mask) | c`
    pub(super) fn and_or(&mut self, a: &Reg, mask: i64, c: Operand) -> Reg {
        let operands = vec![Operand::from(a), Operand::Int(mask), c, Operand::Int(AND_OR)];
        self.make(Opcode::Lop3, Type::B32, operands)
    }

    /// `(a & mask) ^ c`
    pub(super) fn and_xor(&mut self, a: &Reg, mask: i64, c: i64) -> Reg {
        let operands = vec![Operand::from(a), Operand::Int(mask), Operand::Int(c), Operand::Int(AND_XOR)];
        self.make(Opcode::Lop3, Type::B32, operands)
    }

    /// Four bytes of `a` (0 to 3) and `b` (4 to 7), the number of the lowest byte in the lowest four bits of `selector`.
    pub(super) fn permute(&mut self, a: &Reg, b: Operand, selector: i64) -> Reg {
        self.make(Opcode::Prmt, Type::B32, vec![Operand::from(a), b, Operand::Int(selector)])
    }
}
