//! Loads and stores.

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::Space;

use super::{Builder, Cond, Reg, Width};
use crate::Error;
use crate::expr::Expr;

/// How an instruction accesses memory.
#[derive(Clone, Debug)]
pub struct Access {
    /// The memory.
    pub space: Space,
    /// The words that name it, with those of an order before and those of caches after it.
    pub words: Vec<Modifier>,
}

impl From<Space> for Access {
    fn from(space: Space) -> Access {
        let word = match space {
            Space::Gmem => Some(Word::Global),
            Space::Smem => Some(Word::Shared),
            Space::Dsmem => Some(Word::SharedCluster),
            _ => None,
        };
        Access { space, words: word.into_iter().map(Modifier::from).collect() }
    }
}

impl From<&Access> for Access {
    fn from(access: &Access) -> Access {
        access.clone()
    }
}

impl Builder {
    /// `ld` of one, two or four registers from `address` (bytes) where `cond` holds; elsewhere the registers keep their values.
    ///
    /// # Errors
    /// [`Error::Access`] for another number of registers, registers of different sizes, or a space without addresses.
    #[track_caller]
    pub fn load(&mut self, space: Space, target: &[Reg], address: &Expr, cond: &Cond) -> Result<(), Error> {
        self.load_as(type_of(target), space, target, address, cond)
    }

    /// [`Builder::load`] as a type that may be narrower than the registers are.
    #[track_caller]
    pub(crate) fn load_as(
        &mut self,
        ty: Type,
        access: impl Into<Access>,
        target: &[Reg],
        address: &Expr,
        cond: &Cond,
    ) -> Result<(), Error> {
        let (width, modifiers, policy) = self.access(access.into(), Opcode::Ld, ty, target)?;
        let address = self.address(address, width)?;
        let operands = [vector(target), address].into_iter().chain(policy).collect();
        self.inst_if(cond, Opcode::Ld, &modifiers, operands)
    }

    /// [`Builder::load_as`]; elsewhere the registers are undefined, and the simulator reports their use, whatever they held before.
    #[track_caller]
    pub(crate) fn load_undefined(
        &mut self,
        ty: Type,
        access: impl Into<Access>,
        target: &[Reg],
        address: &Expr,
        cond: &Cond,
    ) -> Result<(), Error> {
        self.load_as(ty, access, target, address, cond)?;
        if !matches!(cond, Cond::Always | Cond::Never) {
            let depth = self.depth();
            self.scopes[depth].body.leaves_undefined();
        }
        Ok(())
    }

    /// `st` of one, two or four registers to `address` (bytes) where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::load`].
    #[track_caller]
    pub fn store(&mut self, space: Space, address: &Expr, values: &[Reg], cond: &Cond) -> Result<(), Error> {
        self.store_as(type_of(values), space, address, values, cond)
    }

    /// [`Builder::store`] as a type that may be narrower than the registers are.
    #[track_caller]
    pub(crate) fn store_as(
        &mut self,
        ty: Type,
        access: impl Into<Access>,
        address: &Expr,
        values: &[Reg],
        cond: &Cond,
    ) -> Result<(), Error> {
        let (width, modifiers, policy) = self.access(access.into(), Opcode::St, ty, values)?;
        let address = self.address(address, width)?;
        let operands = [address, vector(values)].into_iter().chain(policy).collect();
        self.inst_if(cond, Opcode::St, &modifiers, operands)
    }

    /// The width of the address, the modifiers, and the operand after address and registers if there is one.
    fn access(&self, access: Access, opcode: Opcode, ty: Type, regs: &[Reg]) -> Result<Operands, Error> {
        let Access { space, words: mut modifiers } = access;
        let refused = || Error::Access { space, registers: regs.iter().map(|reg| reg.ty).collect() };
        let lanes = match regs.len() {
            1 => None,
            2 => Some(Word::V2),
            4 => Some(Word::V4),
            _ => return Err(refused()),
        };
        if modifiers.is_empty() || regs.iter().any(|reg| reg.ty.bytes() != regs[0].ty.bytes()) {
            return Err(refused());
        }
        let (kept, policy) = if space == Space::Gmem { self.kept(opcode) } else { Default::default() };
        modifiers.extend(kept.into_iter().chain(lanes.map(Modifier::from)).chain([ty.into()]));
        Ok((if space == Space::Gmem { Width::W64 } else { Width::W32 }, modifiers, policy))
    }
}

type Operands = (Width, Vec<Modifier>, Option<Operand>);

/// The type of the first register; a list without registers is refused later.
fn type_of(regs: &[Reg]) -> Type {
    regs.first().map_or(Type::B32, |reg| reg.ty)
}

/// Registers as one operand: a vector where there are several.
pub(crate) fn vector<'r>(regs: impl IntoIterator<Item = &'r Reg>) -> Operand {
    let mut all: Vec<Operand> = regs.into_iter().map(Operand::from).collect();
    if all.len() == 1 { all.swap_remove(0) } else { Operand::Vector(all) }
}
