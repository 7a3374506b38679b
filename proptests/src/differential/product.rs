//! Products of matrices: whole numbers so small that every order of the sums is exact.

use girih_ptx::forms::{Count, Kind, Ty};
use girih_ptx::{Modifier, Opcode, Operand, Type};

use super::Reach;
use super::agree::Agree;
use super::draft::{Card, Draft};
use super::lane::bare;
use super::value::{Class, Flavour};

/// A step of `mma.sync`.
pub(super) fn step(draft: &mut Draft<'_>, card: &Card) {
    let (form, filled) = card;
    assert_eq!(form.opcode, Opcode::Mma);
    let types: Vec<Type> = filled
        .iter()
        .flatten()
        .filter_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None })
        .collect();
    let mut instruction = bare(form, filled);
    let name = instruction.to_string();
    for (slot, &elements) in form.operands.iter().zip(&types) {
        let (Kind::DefVec(Count::Is(n), Ty::Is(ty)) | Kind::UseVec(Count::Is(n), Ty::Is(ty))) = slot.kind
        else {
            return draft.abandon();
        };
        let Some(class) = Class::of(ty) else { return draft.abandon() };
        let written = matches!(slot.kind, Kind::DefVec(..));
        let part = |draft: &mut Draft<'_>| match written {
            true => draft.result(class, ty, Agree::Bits).operand(),
            false => draft.input(class, Flavour::Elements(elements)).operand(),
        };
        instruction.operands.push(Operand::Vector((0..n).map(|_| part(draft)).collect()));
    }
    // Sparse products have metadata, and which threads have it.
    for slot in &form.operands[types.len()..] {
        let operand = match slot.kind {
            Kind::Use(Ty::Is(Type::B32)) => draft.input(Class::B32, Flavour::Metadata(types[1])).operand(),
            Kind::Constant(accepted) => Operand::Int(draft.pick(accepted)),
            _ => return draft.abandon(),
        };
        instruction.operands.push(operand);
    }
    draft.inst(instruction);
    draft.step(name, Reach::Warp, true);
}
