//! Loads and stores.

use girih_ptx::{Modifier, Opcode, Operand, Word};
use girih_tensor::Space;

use super::{Builder, Cond, Reg, Width};
use crate::Error;
use crate::expr::Expr;

impl Builder {
    /// `ld` of one, two or four registers from `address` (bytes) where `cond` holds; elsewhere the registers keep their values.
    ///
    /// # Errors
    /// [`Error::Access`] for another number of registers, registers of different types, or a space without addresses.
    #[track_caller]
    pub fn load(&mut self, space: Space, target: &[Reg], address: &Expr, cond: &Cond) -> Result<(), Error> {
        let (width, modifiers, policy) = self.access(space, Opcode::Ld, target)?;
        let address = self.address(address, width)?;
        let operands = [vector(target), address].into_iter().chain(policy).collect();
        self.inst_if(cond, Opcode::Ld, &modifiers, operands)
    }

    /// `st` of one, two or four registers to `address` (bytes) where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::load`].
    #[track_caller]
    pub fn store(&mut self, space: Space, address: &Expr, values: &[Reg], cond: &Cond) -> Result<(), Error> {
        let (width, modifiers, policy) = self.access(space, Opcode::St, values)?;
        let address = self.address(address, width)?;
        let operands = [address, vector(values)].into_iter().chain(policy).collect();
        self.inst_if(cond, Opcode::St, &modifiers, operands)
    }

    /// The width of the address, the modifiers, and the operand behind address and registers if there is one.
    fn access(&self, space: Space, opcode: Opcode, regs: &[Reg]) -> Result<Access, Error> {
        let refused = || Error::Access { space, registers: regs.iter().map(|r| r.ty).collect() };
        let (width, word, (kept, policy)) = match space {
            Space::Gmem => (Width::W64, Word::Global, self.kept(opcode)),
            Space::Smem => (Width::W32, Word::Shared, Default::default()),
            Space::Dsmem => (Width::W32, Word::SharedCluster, Default::default()),
            _ => return Err(refused()),
        };
        let mut modifiers = vec![word.into()];
        modifiers.extend(kept);
        match regs.len() {
            1 => {}
            2 => modifiers.push(Word::V2.into()),
            4 => modifiers.push(Word::V4.into()),
            _ => return Err(refused()),
        }
        if regs.iter().any(|reg| reg.ty != regs[0].ty) {
            return Err(refused());
        }
        modifiers.push(regs[0].ty.into());
        Ok((width, modifiers, policy))
    }
}

type Access = (Width, Vec<Modifier>, Option<Operand>);

fn vector(regs: &[Reg]) -> Operand {
    match regs {
        [one] => Operand::from(one),
        many => Operand::Vector(many.iter().map(Operand::from).collect()),
    }
}
