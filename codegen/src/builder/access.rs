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
        let (width, modifiers) = access(space, target)?;
        let address = self.address(address, width)?;
        self.inst_if(cond, Opcode::Ld, &modifiers, vec![vector(target), address])
    }

    /// `st` of one, two or four registers to `address` (bytes) where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::load`].
    #[track_caller]
    pub fn store(&mut self, space: Space, address: &Expr, values: &[Reg], cond: &Cond) -> Result<(), Error> {
        let (width, modifiers) = access(space, values)?;
        let address = self.address(address, width)?;
        self.inst_if(cond, Opcode::St, &modifiers, vec![address, vector(values)])
    }
}

fn access(space: Space, regs: &[Reg]) -> Result<(Width, Vec<Modifier>), Error> {
    let refused = || Error::Access { space, registers: regs.iter().map(|r| r.ty).collect() };
    let (width, word) = match space {
        Space::Gmem => (Width::W64, Word::Global),
        Space::Smem => (Width::W32, Word::Shared),
        Space::Dsmem => (Width::W32, Word::SharedCluster),
        _ => return Err(refused()),
    };
    let mut modifiers = vec![word.into()];
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
    Ok((width, modifiers))
}

fn vector(regs: &[Reg]) -> Operand {
    match regs {
        [one] => Operand::from(one),
        many => Operand::Vector(many.iter().map(Operand::from).collect()),
    }
}
