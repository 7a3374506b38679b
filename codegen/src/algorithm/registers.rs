//! Pieces of fragments: whole registers, or a part of one register.

use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Space};

use super::Site;
use super::elements::{load_elements, store_elements};
use crate::builder::{Builder, Cond, Reg};
use crate::{Error, Expr, Rmem};

/// Registers that an instruction moves together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Whole registers, in order.
    Whole(Vec<Reg>),
    /// Some bits of one register of 32 bits.
    Field { reg: Reg, shift: i64, bits: i64 },
}

impl Piece {
    /// The registers of these values of a fragment, if the values are whole registers or are in one register; values that share a
    /// register must follow each other there.
    pub(super) fn of(values: &[Site]) -> Option<Piece> {
        let mut at = Vec::new();
        let mut fragment = None;
        for value in values {
            let Site::Rmem(rmem) = value else { return None };
            at.push(rmem.offset());
            fragment = Some(rmem.clone());
        }
        let fragment: Rmem = fragment?;
        let (per, bits) = (fragment.per_register() as i64, i64::from(fragment.dtype().bits()));
        let reg = |offset: i64| usize::try_from(offset).ok().and_then(|v| fragment.reg(v)).cloned();
        let together = |word: &[i64]| word.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let count = at.len() as i64;
        if count < per {
            let whole = together(&at) && at[0] % count == 0 && at[0] % per + count <= per;
            let (reg, shift) = (reg(at[0])?, at[0] % per * bits);
            return whole.then_some(Piece::Field { reg, shift, bits: count * bits });
        }
        let word = |word: &[i64]| {
            let whole = word.len() as i64 == per && together(word) && word[0] % per == 0;
            if whole { reg(word[0]) } else { None }
        };
        at.chunks(per as usize).map(word).collect::<Option<_>>().map(Piece::Whole)
    }

    /// New registers for `bits` bits.
    pub(super) fn scratch(b: &mut Builder, bits: i64) -> Piece {
        Piece::Whole(match bits {
            8 => vec![b.reg(Type::U8)],
            16 => vec![b.reg(Type::B16)],
            bits => b.regs(Type::B32, (bits / 32) as usize),
        })
    }

    /// New registers for a piece of the same form, which are zero.
    pub(super) fn zeros(&self, b: &mut Builder) -> Piece {
        let mut zero = |of: &Reg| {
            let reg = b.reg(of.ty());
            let bits = if of.ty().bytes() == Some(8) { Type::B64 } else { Type::B32 };
            b.inst(Opcode::Mov, &[bits.into()], vec![Operand::from(&reg), Operand::Int(0)]);
            reg
        };
        match self {
            Piece::Whole(regs) => Piece::Whole(regs.iter().map(zero).collect()),
            Piece::Field { reg, bits, .. } => Piece::Field { reg: zero(reg), shift: 0, bits: *bits },
        }
    }

    /// Sets whole registers to zero.
    pub(super) fn clear(&self, b: &mut Builder) {
        let Piece::Whole(regs) = self else { return };
        for reg in regs {
            let ty = if reg.ty() == Type::U8 { Type::U16 } else { reg.ty() };
            b.inst(Opcode::Mov, &[ty.into()], vec![Operand::from(reg), Operand::Int(0)]);
        }
    }

    /// Loads the piece. If `fresh` is set, the other bits of its register need not be kept.
    pub(super) fn load(
        &self,
        b: &mut Builder,
        space: Space,
        address: &Expr,
        cond: &Cond,
        fresh: bool,
    ) -> Result<(), Error> {
        match self {
            Piece::Whole(regs) => b.load(space, regs, address, cond),
            Piece::Field { bits, .. } => {
                // A load that does not run leaves the register as it was, which would depend on the iteration before.
                let wide = load_elements(b, space, unsigned(*bits), 1, address, cond, Some(0))?;
                self.insert(b, &wide[0], cond, fresh)
            }
        }
    }

    /// Loads the piece from a vector in which the place of a register, in bytes, is exclusive-ored with `order`.
    pub(super) fn load_ordered(
        &self,
        b: &mut Builder,
        space: Space,
        [address, order]: [&Expr; 2],
        cond: &Cond,
        fresh: bool,
    ) -> Result<(), Error> {
        match (self, order.as_constant()) {
            (Piece::Whole(regs), None) => {
                let loaded = Piece::Whole(regs.iter().map(|reg| b.reg(reg.ty())).collect());
                loaded.load(b, space, address, cond, true)?;
                loaded.toggled(b, order, cond)?.copy(b, self, cond, fresh)
            }
            _ => self.toggled(b, order, cond)?.load(b, space, address, cond, fresh),
        }
    }

    /// The registers in another order: in place `i` of a vector is the register whose place is `i ^ order`, in bytes. Where `order`
    /// is known only when the kernel runs, the values are selected into new registers, bit by bit of `order`.
    pub(super) fn toggled(&self, b: &mut Builder, order: &Expr, cond: &Cond) -> Result<Piece, Error> {
        let Piece::Whole(regs) = self else { return Ok(self.clone()) };
        let (mut out, bytes) = (regs.clone(), i64::from(regs[0].ty().bytes().unwrap_or(4)));
        for bit in 0..regs.len().trailing_zeros() {
            let by = 1usize << bit;
            let toggles = Cond::less(&Expr::from(0), &order.and(bytes << bit)?);
            let swapped = (0..out.len()).map(|i| out[i ^ by].clone());
            out = match &toggles {
                Cond::Never => continue,
                Cond::Always => swapped.collect(),
                toggles => {
                    let (toggles, swapped) = (b.cond(toggles)?, swapped.collect::<Vec<_>>());
                    let ty = if bytes == 8 { Type::B64 } else { Type::B32 };
                    let mut select = |(stays, comes): (&Reg, &Reg)| {
                        let reg = b.reg(stays.ty());
                        let operands = [&reg, comes, stays, &toggles].map(Operand::from).to_vec();
                        b.inst_if(cond, Opcode::Selp, &[ty.into()], operands)?;
                        Ok(reg)
                    };
                    out.iter().zip(&swapped).map(&mut select).collect::<Result<_, Error>>()?
                }
            };
        }
        Ok(Piece::Whole(out))
    }

    /// Stores the piece.
    pub(super) fn store(
        &self,
        b: &mut Builder,
        space: Space,
        address: &Expr,
        cond: &Cond,
    ) -> Result<(), Error> {
        match self {
            Piece::Whole(regs) => b.store(space, address, regs, cond),
            Piece::Field { bits, .. } => {
                let wide = self.extract(b);
                store_elements(b, space, unsigned(*bits), address, cond, &[wide])
            }
        }
    }

    /// Moves the piece to another one with as many bits.
    pub(super) fn copy(
        &self,
        b: &mut Builder,
        target: &Piece,
        cond: &Cond,
        fresh: bool,
    ) -> Result<(), Error> {
        match (self, target) {
            (Piece::Whole(from), Piece::Whole(to)) => {
                for (from, to) in from.iter().zip(to) {
                    let ty = if to.ty() == Type::U8 { Type::U16 } else { to.ty() };
                    b.inst_if(cond, Opcode::Mov, &[ty.into()], vec![Operand::from(to), Operand::from(from)])?;
                }
                Ok(())
            }
            _ => {
                let bits = self.extract(b);
                target.insert(b, &bits, cond, fresh)
            }
        }
    }

    /// A register with the bits of the piece at the bottom; above the bits of a field, the register may have others.
    fn extract(&self, b: &mut Builder) -> Reg {
        match self {
            Piece::Whole(regs) => regs[0].clone(),
            Piece::Field { reg, shift: 0, .. } => reg.clone(),
            Piece::Field { reg, shift, .. } => {
                let out = b.reg(Type::B32);
                let operands = vec![Operand::from(&out), Operand::from(reg), Operand::Int(*shift)];
                b.inst(Opcode::Shr, &[Type::U32.into()], operands);
                out
            }
        }
    }

    /// Writes the lowest bits of `value` to the piece.
    fn insert(&self, b: &mut Builder, value: &Reg, cond: &Cond, fresh: bool) -> Result<(), Error> {
        match self {
            Piece::Whole(regs) => {
                let operands = vec![Operand::from(&regs[0]), Operand::from(value)];
                b.inst_if(cond, Opcode::Mov, &[Type::B32.into()], operands)
            }
            Piece::Field { reg, shift, .. } if fresh => {
                let operands = vec![Operand::from(reg), Operand::from(value), Operand::Int(*shift)];
                b.inst_if(cond, Opcode::Shl, &[Type::B32.into()], operands)
            }
            Piece::Field { reg, shift, bits } => {
                let [old, shift, bits] = [Operand::from(reg), Operand::Int(*shift), Operand::Int(*bits)];
                let operands = vec![Operand::from(reg), Operand::from(value), old, shift, bits];
                b.inst_if(cond, Opcode::Bfi, &[Type::B32.into()], operands)
            }
        }
    }
}

/// The elements as which the bits of a field are accessed.
fn unsigned(bits: i64) -> DType {
    if bits == 8 { DType::U8 } else { DType::U16 }
}
