//! Instructions from registers to registers, straight from the table of forms; those among the lanes of a warp too.

use girih_ptx::forms::{Count, Filled, Form, Kind, Ty, When, operand_slots};
use girih_ptx::{Inst, Modifier, Opcode, Operand, Special, Type, Word};
use rand::RngExt;

use super::Reach;
use super::agree::{Agree, rule};
use super::draft::{Card, Draft};
use super::syntax::{guarded, inst, modifiers};
use super::value::{Class, Flavour, Value};

/// Special registers whose values the launch determines.
const SPECIALS: [Special; 11] = [
    Special::TidX,
    Special::NtidX,
    Special::CtaidX,
    Special::NctaidX,
    Special::Laneid,
    Special::LanemaskEq,
    Special::LanemaskLe,
    Special::LanemaskLt,
    Special::LanemaskGe,
    Special::LanemaskGt,
    Special::WarpSize,
];

/// The form with its modifiers, as an instruction without operands: for messages and rules.
pub(super) fn bare(form: &Form, filled: &Filled) -> Inst {
    inst(form.opcode, filled.iter().flatten().copied().collect(), Vec::new())
}

/// A step of this form, with operands that fit.
pub(super) fn step(draft: &mut Draft<'_>, card: &Card) {
    let (form, filled) = card;
    let name = bare(form, filled).to_string();
    let reach = if collective(form.opcode) { Reach::Warp } else { Reach::Lane };
    let carries = has(filled, Word::Cc) || matches!(form.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    if carries {
        carry_in(draft);
    }
    let plain = !carries && reach == Reach::Lane;
    let Some(instruction) = instruction(draft, card, plain, None) else { return draft.abandon() };
    // ptxas 13.0 makes two instructions of these, the second without the predicate: the value that should stay is
    // converted, or lost.
    let expanded = matches!(form.opcode, Opcode::Set | Opcode::Testp);
    if plain && !expanded && !draft.writes_wide() && draft.chance(8) {
        predicated(draft, instruction);
    } else {
        draft.inst_with_halves(instruction);
    }
    if carries {
        carry_out(draft);
    }
    // ptxas 13.0 makes one instruction of neg and cvt.sat, in which the least number has an opposite.
    let joined = contractible(form.opcode, filled) || form.opcode == Opcode::Neg;
    draft.step(name, reach, !joined);
}

fn has(filled: &Filled, word: Word) -> bool {
    filled.contains(&Some(Modifier::Word(word)))
}

/// Whether all lanes of a warp take part.
fn collective(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(opcode, O::Shfl | O::Vote | O::Match | O::Redux | O::Activemask | O::Movmatrix)
}

/// A product without a rounding mode: an assembler may make one instruction of it and a sum that reads it (PTX ISA,
/// `mul`, `add`).
fn contractible(opcode: Opcode, filled: &Filled) -> bool {
    let float =
        filled.iter().flatten().any(|m| matches!(m, Modifier::Type(ty) if !ty.is_int() && !ty.is_bits()));
    let rounded = [Word::Rn, Word::Rz, Word::Rm, Word::Rp].iter().any(|&word| has(filled, word));
    opcode == Opcode::Mul && float && !rounded
}

/// Sets the carry flag from data.
fn carry_in(draft: &mut Draft<'_>) {
    let d = draft.register(Class::B32, Type::U32).operand();
    let (a, b) = (draft.read(Class::B32, Type::U32), draft.read(Class::B32, Type::U32));
    draft.inst(inst(Opcode::Add, modifiers![Word::Cc, Type::U32], vec![d, a, b]));
}

/// Makes the carry flag a result.
fn carry_out(draft: &mut Draft<'_>) {
    let d = draft.result(Class::B32, Type::U32, Agree::Bits).operand();
    draft.inst(inst(Opcode::Addc, modifiers![Type::U32], vec![d, Operand::Int(0), Operand::Int(0)]));
}

/// The instruction under a predicate, its destinations written before.
fn predicated(draft: &mut Draft<'_>, instruction: Inst) {
    for (value, _) in draft.take_writes() {
        let before = draft.read(value.class, value.ty);
        let modifiers = modifiers![value.class.ty()];
        draft.inst(inst(Opcode::Mov, modifiers, vec![value.operand(), before]));
        // A value that stays is not computed: whatever it is, it is the same.
        draft.writes(&value, rule(&instruction));
    }
    let guard = draft.source(Class::Pred, Type::Pred);
    let negated = draft.chance(2);
    draft.inst(guarded(instruction, &guard.name, negated));
}

/// An instruction of this form, its sources constants now and then if told so; `None` if one of its operands is not a
/// value and not the address that is given.
pub(super) fn instruction(
    draft: &mut Draft<'_>,
    (form, filled): &Card,
    constants: bool,
    address: Option<&Operand>,
) -> Option<Inst> {
    let optional = draft.chance(2);
    let there = form.operands.iter().filter(|slot| match slot.when {
        When::Always => true,
        When::Slot(index) => filled[index].is_some(),
        When::Optional => optional,
    });
    let slots = operand_slots(form, filled, there.count())?;
    let mut instruction = bare(form, filled);
    let agree = rule(&instruction);
    use Opcode as O;
    let last = slots.len() - 1;
    let masked = collective(form.opcode) && !matches!(form.opcode, Opcode::Movmatrix | Opcode::Activemask);
    for (i, slot) in slots.iter().enumerate() {
        let operand = match slot.kind {
            Kind::Address(_) => address?.clone(),
            Kind::Def(ty) | Kind::DefOrSink(ty) if is_wide(ty, filled) => draft.wide_result(),
            Kind::Use(ty) | Kind::Source(ty) if is_wide(ty, filled) => {
                let halves = [(); 2].map(|()| draft.read(Class::B64, Type::B64));
                draft.packed(halves)
            }
            // Of an access it is the cache policy.
            Kind::Use(Ty::Is(Type::B64)) if has(filled, Word::L2CacheHint) => policy(draft),
            // Straight-line code: all lanes are there.
            _ if masked && i == last => Operand::Int(0xffff_ffff),
            Kind::Use(Ty::Slot(_)) if matches!(form.opcode, Opcode::Sin | Opcode::Cos) => {
                draft.input(Class::B32, Flavour::Angle).operand()
            }
            // "c and d are restricted to 0..255", and the code for 64 bits relies on it.
            Kind::Use(Ty::Is(Type::U32)) if matches!(form.opcode, Opcode::Bfe | Opcode::Bfi) => {
                draft.input(Class::B32, Flavour::Byte).operand()
            }
            // A place among 32 bits, and so many set bits from there: nothing is said of others.
            Kind::Use(_) if form.opcode == Opcode::Fns && i == 2 => {
                Operand::Int(draft.pick(&[0, 1, 7, 15, 16, 30, 31]))
            }
            Kind::Use(_) if form.opcode == Opcode::Fns && i == 3 => {
                Operand::Int(draft.pick(&[-33, -32, -17, -2, -1, 0, 1, 2, 17, 32, 33]))
            }
            // `st.mmio`, which has no vectors.
            Kind::Use(ty) if form.opcode == Opcode::St => {
                let mut operands = Operands { draft, filled, agree, constants };
                let (class, ty) = operands.class(ty)?;
                operands.stored(class, ty)
            }
            kind => Operands { draft, filled, agree, constants }.operand(kind)?,
        };
        instruction.operands.push(operand);
    }
    // ptxas 13.0 takes the minimum of a value and itself for the value, which a NaN is not.
    if let ([_, a, b], O::Min | O::Max) = (&mut instruction.operands[..], form.opcode)
        && a == b
        && let Some(ty) = Ty::Slot(form.slots.len() - 1).of(filled)
        && matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64)
        && let Some(class) = Class::of(ty)
    {
        *b = draft.own_input(class, Flavour::Of(ty)).operand();
    }
    Some(instruction)
}

fn is_wide(ty: Ty, filled: &Filled) -> bool {
    ty.of(filled) == Some(Type::B128)
}

/// A cache policy.
fn policy(draft: &mut Draft<'_>) -> Operand {
    let first =
        draft.pick(&[Word::L2EvictLast, Word::L2EvictNormal, Word::L2EvictFirst, Word::L2EvictUnchanged]);
    let policy = draft.register(Class::B64, Type::B64).operand();
    let fraction = Operand::F32(draft.pick(&[0.25f32, 0.5, 1.0]).to_bits());
    let modifiers = modifiers![Word::Fractional, first, Type::B64];
    draft.inst(inst(Opcode::Createpolicy, modifiers, vec![policy.clone(), fraction]));
    policy
}

/// What operands are made with.
struct Operands<'a, 'd> {
    draft: &'a mut Draft<'d>,
    filled: &'a Filled,
    agree: Agree,
    /// Whether a source may be a constant.
    constants: bool,
}

impl Operands<'_, '_> {
    fn operand(&mut self, kind: Kind) -> Option<Operand> {
        Some(match kind {
            Kind::Def(ty) | Kind::DefOrSink(ty) => self.written(ty)?.operand(),
            Kind::Use(Ty::Is(Type::U32)) => self.draft.input(Class::B32, Flavour::Small).operand(),
            Kind::Use(ty) | Kind::UseOrSpecial(ty) => {
                self.constant(ty).map_or_else(|| self.read(ty), Some)?
            }
            Kind::UseReg(ty) => self.read(ty)?,
            Kind::UsePred => {
                let p = self.draft.source(Class::Pred, Type::Pred).name;
                if self.draft.chance(3) { Operand::Not(p) } else { Operand::Name(p) }
            }
            Kind::DefPreds => {
                let p = self.written(Ty::Is(Type::Pred))?;
                // Of pairs there are two results.
                let pairs = [Type::F16x2, Type::Bf16x2].map(|ty| Some(Modifier::Type(ty)));
                if !pairs.iter().any(|ty| self.filled.contains(ty)) && self.draft.chance(2) {
                    p.operand()
                } else {
                    Operand::Pair(p.name, self.written(Ty::Is(Type::Pred))?.name)
                }
            }
            Kind::DefWithPred { ty, .. } => {
                let d = self.written(ty)?;
                Operand::Pair(d.name, self.written(Ty::Is(Type::Pred))?.name)
            }
            Kind::DefVec(count, ty) => self.vector(count, ty, |operands, class, ty| {
                operands.draft.result(class, ty, operands.agree).operand()
            })?,
            Kind::UseVec(count, ty) => self.vector(count, ty, Operands::stored)?,
            Kind::Source(ty) => self.moved(ty)?,
            Kind::Parts { ty, written } => self.parts(Ty::Slot(ty).of(self.filled)?, written)?,
            Kind::Constant([]) => Operand::Int(self.draft.rng.random_range(0..256)),
            Kind::Constant(accepted) => Operand::Int(self.draft.pick(accepted)),
            _ => return None,
        })
    }

    /// What is stored as `ty` of a register.
    fn stored(&mut self, class: Class, ty: Type) -> Operand {
        // ptxas 13.0 takes a register that other instructions use as a float for one, and converts what is stored of it,
        // if that is narrower: such a register is used for nothing else.
        match ty.bits() < class.ty().bits() {
            true => self.draft.own_input(class, Flavour::Of(class.ty())).operand(),
            false => self.draft.read(class, ty),
        }
    }

    /// The class of a register for this type, and the type that it then has.
    fn class(&mut self, ty: Ty) -> Option<(Class, Type)> {
        let of = ty.of(self.filled)?;
        let class = Class::of(of)?;
        // No register of 8 bits is declared: a type of 8 bits is that of a wider register, where the form accepts one.
        if !matches!(ty, Ty::Wider(_)) && of.bits() == Some(8) {
            return None;
        }
        let narrow = matches!(ty, Ty::Wider(_)) && of.is_int() && self.draft.chance(3);
        Some(match class {
            Class::B16 if narrow => (Class::B32, of),
            Class::B32 if narrow => (Class::B64, of),
            class => (class, of),
        })
    }

    fn written(&mut self, ty: Ty) -> Option<Value> {
        let (class, ty) = self.class(ty)?;
        Some(self.draft.result(class, ty, self.agree))
    }

    fn read(&mut self, ty: Ty) -> Option<Operand> {
        let (class, ty) = self.class(ty)?;
        Some(self.draft.read(class, ty))
    }

    /// This many parts, all in registers of one class.
    fn vector(
        &mut self,
        count: Count,
        ty: Ty,
        part: impl Fn(&mut Self, Class, Type) -> Operand,
    ) -> Option<Operand> {
        let (class, ty) = self.class(ty)?;
        Some(match count.of(self.filled) {
            None => part(self, class, ty),
            Some(n) => Operand::Vector((0..n).map(|_| part(self, class, ty)).collect()),
        })
    }

    /// Now and then a constant.
    fn constant(&mut self, ty: Ty) -> Option<Operand> {
        let Ty::Slot(_) = ty else { return None };
        if !self.constants || !self.draft.chance(8) {
            return None;
        }
        let ty = ty.of(self.filled)?;
        let bits = Flavour::Of(ty).draw(&mut self.draft.rng);
        Some(match ty {
            Type::F32 => Operand::F32(bits as u32),
            Type::F64 => Operand::F64(bits),
            _ if !ty.is_int() && !ty.is_bits() => return None,
            _ => {
                let unused = 64 - ty.bits()?;
                Operand::Int(if ty.is_signed() { (bits << unused) as i64 >> unused } else { bits as i64 })
            }
        })
    }

    fn moved(&mut self, ty: Ty) -> Option<Operand> {
        match ty.of(self.filled)? {
            Type::U32 | Type::B32 | Type::S32 if self.draft.closed.is_none() && self.draft.chance(2) => {
                Some(Operand::Special(self.draft.pick(&SPECIALS)))
            }
            _ => self.read(ty),
        }
    }

    fn parts(&mut self, ty: Type, written: bool) -> Option<Operand> {
        let bits = ty.bits()?;
        let count = if bits == 64 && self.draft.chance(2) { 4 } else { 2 };
        let part = match bits / count {
            16 => Type::B16,
            32 => Type::B32,
            64 => Type::B64,
            _ => return None,
        };
        let parts: Option<Vec<_>> =
            (0..count)
                .map(|_| {
                    if written {
                        Some(self.written(Ty::Is(part))?.operand())
                    } else {
                        self.read(Ty::Is(part))
                    }
                })
                .collect();
        Some(Operand::Vector(parts?))
    }
}
