//! Matching an instruction with the table.

use super::{Count, Form, Kind, OperandSlot, Space, Ty, When, forms};
use crate::forms::show::{alternatives, expected_operand};
use crate::{Address, Error, Inst, Modifier, Name, Operand, Special, Type, VarSpace, Word};

/// The form that `inst` has. Names are taken at their word: any name may be a register, a variable or a label.
///
/// # Errors
/// [`Error::Modifier`], [`Error::OperandCount`] or [`Error::Operand`]: what is wrong and what would be accepted, for
/// the form that comes nearest.
pub fn check(inst: &Inst) -> Result<&'static Form, Error> {
    resolve(inst, None).map(|(form, _)| form)
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Register(Type),
    Variable(VarSpace),
    Label,
    Kernel,
}

/// The names that are visible at an instruction.
pub(crate) trait Names {
    fn symbol(&self, name: &str) -> Option<Symbol>;
}

/// The modifier that fills each slot of a form; `None` where an optional one is empty.
pub type Filled = Vec<Option<Modifier>>;

/// The form that `inst` has, its names looked up in `names` if there are some.
pub(crate) fn resolve(inst: &Inst, names: Option<&dyn Names>) -> Result<(&'static Form, Filled), Error> {
    let mut nearest = Nearest { place: 0, accepted: Vec::new(), end: false };
    let mut trouble: Option<(usize, Error)> = None;
    for form in forms(inst.opcode) {
        let mut filled = vec![None; form.slots.len()];
        if !fill(form, 0, &inst.modifiers, 0, &mut filled, &mut nearest) {
            continue;
        }
        match check_operands(inst, form, &filled, names) {
            Ok(()) => return Ok((form, filled)),
            Err((place, error)) => {
                if trouble.as_ref().is_none_or(|(furthest, _)| place > *furthest) {
                    trouble = Some((place, error));
                }
            }
        }
    }
    Err(trouble.map_or_else(|| nearest.error(inst), |(_, error)| error))
}

/// The modifier nearest to the end that no form accepts, and what the forms would.
struct Nearest {
    place: usize,
    accepted: Vec<Modifier>,
    end: bool,
}

impl Nearest {
    /// A form would have accepted `slot`, or the end, as modifier number `place`.
    fn note(&mut self, place: usize, slot: Option<&super::Slot>) {
        if place < self.place {
            return;
        }
        if place > self.place {
            *self = Nearest { place, accepted: Vec::new(), end: false };
        }
        match slot {
            Some(slot) => {
                for modifier in slot.choices.modifiers() {
                    if !self.accepted.contains(&modifier) {
                        self.accepted.push(modifier);
                    }
                }
            }
            None => self.end = true,
        }
    }

    fn error(self, inst: &Inst) -> Error {
        let mut accepted: Vec<String> =
            self.accepted.iter().map(|modifier| format!("`.{modifier}`")).collect();
        if self.end {
            accepted.push("nothing more".into());
        }
        Error::Modifier {
            at: inst.span,
            inst: inst.brief(),
            expected: alternatives(&accepted),
            found: inst
                .modifiers
                .get(self.place)
                .map_or("nothing more".into(), |found| format!("`.{found}`")),
        }
    }
}

/// Fills the slots from `slot` on with the modifiers from `place` on; every modifier must find its slot.
fn fill(
    form: &Form,
    slot: usize,
    modifiers: &[Modifier],
    place: usize,
    filled: &mut Filled,
    nearest: &mut Nearest,
) -> bool {
    let Some(here) = form.slots.get(slot) else {
        if place < modifiers.len() {
            nearest.note(place, None);
        }
        return place == modifiers.len();
    };
    match modifiers.get(place) {
        Some(&modifier) if here.choices.accept(modifier) => {
            filled[slot] = Some(modifier);
            if fill(form, slot + 1, modifiers, place + 1, filled, nearest) {
                return true;
            }
            filled[slot] = None;
        }
        _ => nearest.note(place, Some(here)),
    }
    here.optional && fill(form, slot + 1, modifiers, place, filled, nearest)
}

/// The operand slots that are in use, given the modifiers and the number of operands; `None` if the number is wrong.
pub fn operand_slots(form: &Form, filled: &Filled, count: usize) -> Option<Vec<&'static OperandSlot>> {
    let there = |slot: &OperandSlot| match slot.when {
        When::Always => true,
        When::Slot(index) => filled.get(index).is_some_and(Option::is_some),
        When::Optional => false,
    };
    let required = form.operands.iter().filter(|slot| there(slot)).count();
    let mut spare = count.checked_sub(required)?;
    let mut slots = Vec::new();
    for slot in form.operands {
        let taken = slot.when == When::Optional && spare > 0;
        spare -= usize::from(taken);
        if taken || there(slot) {
            slots.push(slot);
        }
    }
    (spare == 0).then_some(slots)
}

/// Whether the operands fit; if not, how near the form comes, and the error.
fn check_operands(
    inst: &Inst,
    form: &Form,
    filled: &Filled,
    names: Option<&dyn Names>,
) -> Result<(), (usize, Error)> {
    let Some(slots) = operand_slots(form, filled, inst.operands.len()) else {
        let error = Error::OperandCount {
            at: inst.span,
            inst: inst.brief(),
            form: form.to_string(),
            found: inst.operands.len(),
        };
        return Err((0, error));
    };
    let context = Context { filled, names };
    for (i, (slot, operand)) in slots.iter().zip(&inst.operands).enumerate() {
        if !context.fits(slot.kind, operand) {
            let error = Error::Operand {
                at: inst.span,
                inst: inst.brief(),
                number: i + 1,
                expected: expected_operand(slot.kind, filled),
                found: context.describe(operand),
            };
            // Of two forms that get as far, the one that has braces where the instruction has them is meant.
            let alike = slot.kind.is_braced(filled) == matches!(operand, Operand::Vector(_));
            return Err((2 * (i + 1) + usize::from(alike), error));
        }
    }
    Ok(())
}

struct Context<'a> {
    filled: &'a Filled,
    names: Option<&'a dyn Names>,
}

impl Context<'_> {
    fn fits(&self, kind: Kind, operand: &Operand) -> bool {
        match (kind, operand) {
            (Kind::Def(ty) | Kind::UseReg(ty), Operand::Name(name)) => self.register(ty, name),
            (Kind::DefOrSink(_) | Kind::Sink, Operand::Sink) => true,
            (Kind::DefOrSink(ty), Operand::Name(name)) => self.register(ty, name),
            (Kind::DefPreds | Kind::UsePred, Operand::Name(name)) => self.predicate(name),
            (Kind::DefPreds, Operand::Pair(p, q)) => self.predicate(p) && self.predicate(q),
            (Kind::DefWithPred { ty, both: false }, Operand::Name(name)) => self.register(ty, name),
            (Kind::DefWithPred { ty, .. }, Operand::Pair(d, p)) => {
                (&**d == "_" || self.register(ty, d)) && self.predicate(p)
            }
            (Kind::Use(ty), operand) => self.value(ty, operand),
            (Kind::UsePred, Operand::Not(name)) => self.predicate(name),
            (Kind::UsePred, Operand::Int(value)) => matches!(value, 0 | 1),
            (Kind::DefVec(count, ty), operand) => self.parts(count, operand, |part| match part {
                Operand::Name(name) => self.register(ty, name),
                part => matches!((count, part), (Count::Slot(_), Operand::Sink)),
            }),
            (Kind::UseVec(count, ty), operand) => self.parts(count, operand, |part| self.value(ty, part)),
            (Kind::Source(ty), operand) => self.source(ty, operand),
            (Kind::Parts { ty, written }, Operand::Vector(parts)) => self.equal_parts(ty, written, parts),
            (Kind::Pointer(ty), Operand::Name(name)) => {
                self.variable(name).is_some() || self.register(ty, name)
            }
            (Kind::Address(space), Operand::Address(address)) => self.address(space, address),
            (Kind::Tensor(dims), Operand::Address(address)) => self.tensor(dims, address),
            (Kind::Constant(accepted), Operand::Int(value)) => {
                accepted.is_empty() || accepted.contains(value)
            }
            (Kind::Barrier, Operand::Int(id)) => (0..16).contains(id),
            (Kind::Barrier, Operand::Name(name)) => self.register(Ty::Is(Type::U32), name),
            (Kind::Fraction, Operand::F32(_) | Operand::F64(_)) => true,
            (Kind::Label, Operand::Name(name)) => {
                self.symbol(name).is_none_or(|symbol| symbol == Symbol::Label)
            }
            _ => false,
        }
    }

    /// What `name` stands for; `None` if names are taken at their word.
    fn symbol(&self, name: &str) -> Option<Symbol> {
        self.names.and_then(|names| names.symbol(name))
    }

    fn variable(&self, name: &str) -> Option<VarSpace> {
        match self.symbol(name) {
            Some(Symbol::Variable(space)) => Some(space),
            _ => None,
        }
    }

    /// Whether `name` can be a register for an operand of type `ty`.
    fn register(&self, ty: Ty, name: &Name) -> bool {
        let (Some(expected), symbol) = (ty.of(self.filled), self.symbol(name)) else { return false };
        match symbol {
            None => true,
            Some(Symbol::Register(found)) => holds(found, expected, matches!(ty, Ty::Wider(_))),
            Some(_) => false,
        }
    }

    fn predicate(&self, name: &Name) -> bool {
        &**name == "_" || self.register(Ty::Is(Type::Pred), name)
    }

    /// A register or a constant.
    fn value(&self, ty: Ty, operand: &Operand) -> bool {
        let Some(expected) = ty.of(self.filled) else { return false };
        match operand {
            Operand::Name(name) => self.register(ty, name),
            Operand::Int(_) | Operand::Special(Special::WarpSize) => expected.is_int() || expected.is_bits(),
            Operand::F32(_) | Operand::F64(_) => {
                matches!(expected, Type::F32 | Type::F64 | Type::B32 | Type::B64)
            }
            _ => false,
        }
    }

    fn source(&self, ty: Ty, operand: &Operand) -> bool {
        let Some(expected) = ty.of(self.filled) else { return false };
        let integral = expected.is_int() || expected.is_bits();
        match operand {
            Operand::Name(name) if self.variable(name).is_some() => {
                integral && matches!(expected.bits(), Some(32 | 64))
            }
            Operand::Special(special) if special.ty() == Type::Pred => expected == Type::Pred,
            Operand::Special(special) => {
                integral && (expected.bits() == special.ty().bits() || *special == Special::WarpSize)
            }
            Operand::Int(_) if expected == Type::Pred => true,
            operand => self.value(ty, operand),
        }
    }

    /// A vector of the count's parts, or the part alone if the count's slot is empty; 16 bytes at most.
    fn parts(&self, count: Count, operand: &Operand, fits: impl Fn(&Operand) -> bool) -> bool {
        match (count.of(self.filled), operand) {
            (None, part) => !matches!(part, Operand::Sink) && fits(part),
            (Some(count), Operand::Vector(parts)) => parts.len() == count && parts.iter().all(fits),
            _ => false,
        }
    }

    fn equal_parts(&self, ty: usize, written: bool, parts: &[Operand]) -> bool {
        let bits = Ty::Slot(ty).of(self.filled).and_then(Type::bits).unwrap_or(0) as usize;
        let part = bits / parts.len().max(1);
        matches!(parts.len(), 2 | 4)
            && part >= 8
            && parts.iter().all(|operand| match operand {
                Operand::Name(name) => match self.symbol(name) {
                    None => true,
                    Some(Symbol::Register(found)) => found.bits() == Some(part as u32),
                    Some(_) => false,
                },
                Operand::Sink => written,
                Operand::Int(_) => !written,
                _ => false,
            })
    }

    fn address(&self, space: Space, address: &Address) -> bool {
        let space = match space {
            Space::Is(word) => Some(word),
            Space::Generic => None,
            Space::Slot(slot) => match self.filled.get(slot) {
                Some(Some(Modifier::Word(word))) => Some(*word),
                _ => None,
            },
        };
        let Some(base) = &address.base else { return space == Some(Word::Local) };
        address.coordinates.is_empty()
            && match self.symbol(base) {
                None => true,
                Some(Symbol::Register(ty)) => {
                    let narrow = matches!(space, Some(Word::Shared | Word::SharedCta | Word::SharedCluster));
                    (ty.is_int() || ty.is_bits())
                        && (ty.bits() == Some(64) || narrow && ty.bits() == Some(32))
                }
                Some(Symbol::Variable(found)) => space.and_then(declared_in) == Some(found),
                Some(_) => false,
            }
    }

    fn tensor(&self, dims: usize, address: &Address) -> bool {
        let dims = match self.filled.get(dims) {
            Some(Some(Modifier::Word(word))) => dimensions(*word),
            _ => None,
        };
        let map = address.base.as_ref().is_some_and(|base| match self.symbol(base) {
            None => true,
            Some(Symbol::Register(ty)) => holds(ty, Type::B64, false) && !matches!(ty, Type::F64),
            Some(_) => false,
        });
        map && address.offset == 0
            && dims == Some(address.coordinates.len())
            && address.coordinates.iter().all(|coordinate| self.value(Ty::Is(Type::S32), coordinate))
    }

    /// The operand, and what is known of its name.
    fn describe(&self, operand: &Operand) -> String {
        let name = match operand {
            Operand::Name(name) | Operand::Not(name) => Some(name),
            Operand::Address(address) => address.base.as_ref(),
            _ => None,
        };
        match name.and_then(|name| self.symbol(name)) {
            Some(Symbol::Register(ty)) => format!("`{operand}`, a register of type .{ty}"),
            Some(Symbol::Variable(space)) => format!("`{operand}`, a variable in {space}"),
            Some(Symbol::Label) => format!("`{operand}`, a label"),
            Some(Symbol::Kernel) => format!("`{operand}`, a kernel"),
            None => format!("`{operand}`"),
        }
    }
}

/// Whether a register of type `register` fits an operand of type `ty` (PTX ISA, "Operand Type Information" and
/// "Operand Size Exceeding Instruction-Type Size").
fn holds(register: Type, ty: Type, wider: bool) -> bool {
    let (Some(have), Some(want)) = (register.bits(), ty.bits()) else { return register == ty };
    let sizes = have == want || wider && have > want;
    sizes && (register == ty || ty.is_bits() || register.is_bits() || (register.is_int() && ty.is_int()))
}

/// The state space of the declarations that an address in `space` may name.
pub(crate) fn declared_in(space: Word) -> Option<VarSpace> {
    Some(match space {
        Word::Param | Word::ParamEntry => VarSpace::Param,
        Word::Shared | Word::SharedCta | Word::SharedCluster => VarSpace::Shared,
        Word::Global => VarSpace::Global,
        Word::Const => VarSpace::Const,
        Word::Local => VarSpace::Local,
        _ => return None,
    })
}

fn dimensions(word: Word) -> Option<usize> {
    [Word::Dim1, Word::Dim2, Word::Dim3, Word::Dim4, Word::Dim5]
        .iter()
        .position(|&dim| dim == word)
        .map(|at| at + 1)
}

impl Ty {
    /// The type, given the modifiers.
    pub fn of(self, filled: &Filled) -> Option<Type> {
        let slot = match self {
            Ty::Is(ty) => return Some(ty),
            Ty::Slot(slot) | Ty::Wider(slot) | Ty::Double(slot) => slot,
        };
        let Some(Some(Modifier::Type(ty))) = filled.get(slot) else { return None };
        match (self, ty) {
            (Ty::Double(_), Type::U16) => Some(Type::U32),
            (Ty::Double(_), Type::U32) => Some(Type::U64),
            (Ty::Double(_), Type::S16) => Some(Type::S32),
            (Ty::Double(_), Type::S32) => Some(Type::S64),
            (Ty::Double(_), _) => None,
            _ => Some(*ty),
        }
    }
}

impl Kind {
    fn is_braced(self, filled: &Filled) -> bool {
        match self {
            Kind::DefVec(count, _) | Kind::UseVec(count, _) => count.of(filled).is_some(),
            Kind::Parts { .. } => true,
            _ => false,
        }
    }
}

impl Count {
    /// How many parts, given the modifiers; `None` for a scalar.
    pub fn of(self, filled: &Filled) -> Option<usize> {
        match self {
            Count::Is(count) => Some(count),
            Count::Slot(slot) => match filled.get(slot) {
                Some(Some(Modifier::Word(word))) => match word {
                    Word::X1 => Some(1),
                    Word::V2 | Word::X2 => Some(2),
                    Word::V4 | Word::X4 => Some(4),
                    Word::V8 => Some(8),
                    _ => None,
                },
                _ => None,
            },
            Count::Accumulators { shape, ty } => {
                let Some(Some(shape)) = filled.get(shape) else { return Some(0) };
                let n =
                    shape.text().strip_prefix("m64n").and_then(|rest| rest.split('k').next()?.parse().ok());
                let bits = Ty::Slot(ty).of(filled).and_then(Type::bits).unwrap_or(32) as usize;
                Some(n.unwrap_or(0) * 64 / 128 * bits / 32)
            }
        }
    }
}
