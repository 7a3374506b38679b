//! Forms in words, for messages.

use std::fmt::{Display, Formatter, Result};

use super::check::Filled;
use super::{Choices, Count, Form, Kind, OperandSlot, Slot, Space, Ty, When};
use crate::Type;

/// The form's syntax, as in the PTX ISA: `cp.async.cg{.shared|.shared::cta}.global [a], [a], 16{, .u32}`.
impl Display for Form {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.opcode)?;
        for slot in self.slots {
            write!(f, "{slot}")?;
        }
        for (i, OperandSlot { kind, when }) in self.operands.iter().enumerate() {
            let separator = if i == 0 { " " } else { ", " };
            match when {
                When::Always => write!(f, "{separator}{}", Place(self, *kind))?,
                When::Optional | When::Slot(_) => write!(f, "{{{separator}{}}}", Place(self, *kind))?,
            }
        }
        Ok(())
    }
}

impl Display for Slot {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (self.choices.modifiers().len(), self.optional) {
            (1, false) => write!(f, "{}", self.choices),
            (_, false) => write!(f, "({})", self.choices),
            (_, true) => write!(f, "{{{}}}", self.choices),
        }
    }
}

impl Display for Choices {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, modifier) in self.modifiers().iter().enumerate() {
            write!(f, "{}.{modifier}", if i == 0 { "" } else { "|" })?;
        }
        Ok(())
    }
}

/// An operand's place in a form's syntax.
struct Place<'f>(&'f Form, Kind);

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Place(form, kind) = *self;
        let ty = |ty: Ty| match ty {
            Ty::Is(ty) => format!(".{ty}"),
            Ty::Slot(slot) | Ty::Wider(slot) | Ty::Packed(slot) => {
                match form.slots.get(slot).map(|slot| slot.choices.modifiers()) {
                    Some(one) if one.len() == 1 => format!(".{}", one[0]),
                    _ => ".type".into(),
                }
            }
            Ty::Double(_) => ".wide".into(),
        };
        match kind {
            Kind::Def(t) | Kind::Use(t) | Kind::UseOrSpecial(t) | Kind::UseReg(t) => f.write_str(&ty(t)),
            Kind::Source(t) | Kind::Pointer(t) => f.write_str(&ty(t)),
            Kind::DefOrSink(t) => write!(f, "{}|_", ty(t)),
            Kind::Sink => f.write_str("_"),
            Kind::DefPreds => f.write_str("p{|q}"),
            Kind::DefWithPred { ty: t, both: true } => write!(f, "{}|p", ty(t)),
            Kind::DefWithPred { ty: t, both: false } => write!(f, "{}{{|p}}", ty(t)),
            Kind::UsePred => f.write_str("{!}p"),
            Kind::DefVec(Count::Is(n), t) | Kind::UseVec(Count::Is(n), t) => write!(f, "{{{n} x {}}}", ty(t)),
            Kind::DefVec(_, t) | Kind::UseVec(_, t) => write!(f, "{{{}, ...}}", ty(t)),
            Kind::Parts { .. } => f.write_str("{a, ...}"),
            Kind::Address(_) => f.write_str("[a]"),
            Kind::Tensor(_) => f.write_str("[map, {x, ...}]"),
            Kind::Constant([]) => f.write_str("n"),
            Kind::Constant(accepted) => f.write_str(&joined(accepted, "|")),
            Kind::Barrier => f.write_str("id"),
            Kind::Label => f.write_str("label"),
            Kind::Table => f.write_str("targets"),
        }
    }
}

/// The accepted operands of `kind`, given the modifiers.
pub(super) fn expected_operand(kind: Kind, filled: &Filled) -> String {
    let ty = |ty: Ty| {
        let wider = if matches!(ty, Ty::Wider(_)) { " or wider" } else { "" };
        ty.of(filled).map_or(String::new(), |ty| format!(" of type .{ty}{wider}"))
    };
    let value = |ty: Ty| match ty.of(filled) {
        Some(Type::F32 | Type::F64) => "a register or a floating-point constant",
        Some(ty) if ty.is_int() => "a register or an integer constant",
        Some(ty) if ty.is_bits() => "a register or a constant",
        _ => "a register",
    };
    match kind {
        Kind::Def(t) | Kind::UseReg(t) => format!("a register{}", ty(t)),
        Kind::DefOrSink(t) => format!("a register{} or `_`", ty(t)),
        Kind::Sink => "`_`".into(),
        Kind::DefPreds => "a predicate register, or two as in `p|q`".into(),
        Kind::DefWithPred { ty: t, both: false } => {
            format!("a register{}, or with a predicate as in `d|p`", ty(t))
        }
        Kind::DefWithPred { ty: t, .. } => format!("a register{} and a predicate as in `d|p`", ty(t)),
        Kind::Use(t) => format!("{}{}", value(t), ty(t)),
        Kind::UseOrSpecial(t) => format!("{}{}, or a special register", value(t), ty(t)),
        Kind::UsePred => "a predicate register, its negation as in `!p`, 0 or 1".into(),
        Kind::DefVec(count, t) => match count.of(filled) {
            Some(n) => format!("{n} registers{} in braces", ty(t)),
            None => format!("a register{}", ty(t)),
        },
        Kind::UseVec(count, t) => match count.of(filled) {
            Some(n) => format!("{n} registers or constants{} in braces", ty(t)),
            None => format!("{}{}", value(t), ty(t)),
        },
        Kind::Source(t) => format!("a register, a constant, a special register or a variable{}", ty(t)),
        Kind::Parts { .. } => "2 or 4 registers in braces that have the type's width together".into(),
        Kind::Pointer(t) => format!("a register{}, or a variable", ty(t)),
        Kind::Address(space) => {
            let word = match space {
                Space::Is(word) => Some(word.text()),
                Space::Slot(slot) => filled.get(slot).copied().flatten().map(|word| word.text()),
                Space::Generic => None,
            };
            match word {
                Some(word) if word.starts_with("shared") => {
                    format!("an address in .{word}, in a register of 32 or 64 bits or a variable")
                }
                Some(word) => format!("an address in .{word}, in a register of 64 bits or a variable"),
                None => "a generic address, in a register of 64 bits".into(),
            }
        }
        Kind::Tensor(dims) => {
            let dims = filled.get(dims).copied().flatten().map_or("some", |word| word.text());
            format!("`[map, {{x, ...}}]`: a register of 64 bits and the coordinates of a {dims} tensor")
        }
        Kind::Constant([]) => "an integer constant".into(),
        Kind::Constant(accepted) => {
            alternatives(&accepted.iter().map(|value| value.to_string()).collect::<Vec<_>>())
        }
        Kind::Barrier => "a barrier: a register of type .u32, or 0 to 15".into(),
        Kind::Label => "a label".into(),
        Kind::Table => "the label of a `.branchtargets`".into(),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn alternatives(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", joined(rest, ", ")),
    }
}

fn joined<T: Display>(items: &[T], separator: &str) -> String {
    items.iter().map(|item| item.to_string()).collect::<Vec<_>>().join(separator)
}
