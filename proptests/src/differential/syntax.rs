//! Shorthands for pieces of the tree.

use girih_ptx::{Address, Guard, Inst, Modifier, Name, Opcode, Operand, Span, Statement};

/// Types and words as one list of modifiers.
macro_rules! modifiers {
    ($($word:expr),* $(,)?) => { vec![$(::girih_ptx::Modifier::from($word)),*] };
}
pub(super) use modifiers;

pub(super) fn inst(opcode: Opcode, modifiers: Vec<Modifier>, operands: Vec<Operand>) -> Inst {
    Inst { guard: None, opcode, modifiers, operands, span: Span::default() }
}

pub(super) fn guarded(inst: Inst, reg: &Name, negated: bool) -> Inst {
    Inst { guard: Some(Guard { reg: reg.clone(), negated }), ..inst }
}

/// The operand of this name.
pub(super) fn name(text: &str) -> Operand {
    Operand::Name(text.into())
}

/// `[base+offset]`
pub(super) fn at(base: &str, offset: i64) -> Operand {
    Operand::Address(Address { base: Some(base.into()), offset, coordinates: Vec::new() })
}

pub(super) fn label(text: &Name) -> Statement {
    Statement::Label(text.clone())
}
