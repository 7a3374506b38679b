//! Matching an instruction with the table.

use super::operand::Context;
use super::order::{fill_in_any_order, fill_in_order};
use super::show::{alternatives, expected_operand};
use super::{Form, Kind, OperandSlot, When, forms};
use crate::{Error, Inst, Modifier, Name, Operand, Type, VarSpace};

/// The form that `inst` has. Names are not looked up: any name may stand for a register or a label.
///
/// # Errors
/// [`Error::Modifier`], [`Error::OperandCount`] or [`Error::Operand`]: what is wrong and what would be accepted, for
/// the form that comes nearest.
pub fn check(inst: &Inst) -> Result<&'static Form, Error> {
    resolve(inst, None).map(|(form, _)| form)
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Register(Type),
    Variable(VarSpace),
    Label,
    Kernel,
    /// A function, with the numbers of its results and parameters.
    Function {
        results: usize,
        params: usize,
    },
}

/// The names that are visible at an instruction.
pub(crate) trait Names {
    fn symbol(&self, name: &str) -> Option<Symbol>;
}

/// The modifier that fills each slot of a form; `None` where an optional slot is empty.
pub type Filled = Vec<Option<Modifier>>;

/// The form that `inst` has, with the instruction's names looked up in `names` if there is such a table.
pub(crate) fn resolve(inst: &Inst, names: Option<&dyn Names>) -> Result<(&'static Form, Filled), Error> {
    if forms(inst.opcode).next().is_none() {
        return Err(Error::UnknownOpcode { at: inst.span, word: inst.opcode.to_string() });
    }
    let mut filled = Vec::new();
    // The table's order first: it is the usual one, and is found faster.
    for fill in [fill_in_order, fill_in_any_order] {
        for form in forms(inst.opcode) {
            if fill(form, &inst.modifiers, &mut filled) && misfit(inst, form, &filled, names).is_none() {
                return Ok((form, filled));
            }
        }
    }
    Err(refusal(inst, names))
}

/// The error of an instruction that no form takes, for the form that comes nearest.
fn refusal(inst: &Inst, names: Option<&dyn Names>) -> Error {
    let modifiers = &inst.modifiers;
    let mut filled = Vec::new();
    let mut nearest = Some(Nearest { place: 0, accepted: Vec::new(), end: false });
    let mut trouble: Option<(usize, Error)> = None;
    for form in forms(inst.opcode) {
        if (filled_by(form, modifiers, &mut filled, &mut nearest)
            || fill_in_any_order(form, modifiers, &mut filled))
            && let Some(misfit) = misfit(inst, form, &filled, names)
        {
            let (place, error) = misfit.error(inst, form, &filled, names);
            if trouble.as_ref().is_none_or(|(furthest, _)| place > *furthest) {
                trouble = Some((place, error));
            }
        }
    }
    let unfilled = || nearest.map(|nearest| nearest.error(inst, modifiers));
    let unknown = || Error::UnknownOpcode { at: inst.span, word: inst.opcode.to_string() };
    trouble.map(|(_, error)| error).or_else(unfilled).unwrap_or_else(unknown)
}

/// How far the modifiers match before no form accepts the next one, and what forms would accept in that place.
struct Nearest {
    place: usize,
    accepted: Vec<Modifier>,
    end: bool,
}

impl Nearest {
    /// Notes that a form would have accepted a modifier of `slot`, or without a slot the end, as modifier number
    /// `place`.
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

    fn error(self, inst: &Inst, modifiers: &[Modifier]) -> Error {
        let mut accepted: Vec<String> =
            self.accepted.iter().map(|modifier| format!("`.{modifier}`")).collect();
        if self.end {
            accepted.push("nothing more".into());
        }
        Error::Modifier {
            at: inst.span,
            inst: inst.brief(),
            expected: alternatives(&accepted),
            found: modifiers.get(self.place).map_or("nothing more".into(), |found| format!("`.{found}`")),
        }
    }
}

/// Whether the modifiers fill the slots of `form`; `nearest` is told where they do not, if there is one.
fn filled_by(
    form: &Form,
    modifiers: &[Modifier],
    filled: &mut Filled,
    nearest: &mut Option<Nearest>,
) -> bool {
    filled.clear();
    filled.resize(form.slots.len(), None);
    fill(form, 0, modifiers, 0, filled, nearest)
}

/// Fills the slots from `slot` on with the modifiers from `place` on; every modifier must find its slot.
fn fill(
    form: &Form,
    slot: usize,
    modifiers: &[Modifier],
    place: usize,
    filled: &mut Filled,
    nearest: &mut Option<Nearest>,
) -> bool {
    let mut note = |slot| nearest.iter_mut().for_each(|nearest| nearest.note(place, slot));
    let Some(here) = form.slots.get(slot) else {
        if place < modifiers.len() {
            note(None);
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
        _ => note(Some(here)),
    }
    here.optional && fill(form, slot + 1, modifiers, place, filled, nearest)
}

/// The operand slots that are in use, given the modifiers and the number of operands; `None` if the number is wrong.
pub fn operand_slots(form: &Form, filled: &Filled, count: usize) -> Option<Vec<&'static OperandSlot>> {
    slots_in_use(form, filled, count).map(Iterator::collect)
}

fn slots_in_use(
    form: &Form,
    filled: &Filled,
    count: usize,
) -> Option<impl Iterator<Item = &'static OperandSlot>> {
    let there = |slot: &OperandSlot| match slot.when {
        When::Always => true,
        When::Slot(index) => filled.get(index).is_some_and(Option::is_some),
        When::Optional => false,
    };
    let required = form.operands.iter().filter(|slot| there(slot)).count();
    let optional = form.operands.iter().filter(|slot| slot.when == When::Optional).count();
    let mut spare = count.checked_sub(required).filter(|spare| *spare <= optional)?;
    Some(form.operands.iter().filter(move |slot| {
        let taken = slot.when == When::Optional && spare > 0;
        spare -= usize::from(taken);
        taken || there(slot)
    }))
}

impl Inst {
    /// The registers that the instruction writes, as far as its form tells; registers for the results of a `call` are
    /// not among them. Empty for an instruction that is not in the table.
    ///
    /// # Examples
    /// ```
    /// use girih_ptx::Statement;
    ///
    /// let statements = Statement::parse_all("ld.global.v2.u32 {%r1, %r2}, [%rd1]; setp.lt.s32 %p1|%p2, %r1, %r3;")?;
    /// let written: Vec<&str> = statements
    ///     .iter()
    ///     .filter_map(|statement| if let Statement::Inst(inst) = statement { Some(inst) } else { None })
    ///     .flat_map(|inst| inst.written())
    ///     .map(|name| &**name)
    ///     .collect();
    /// assert_eq!(written, ["%r1", "%r2", "%p1", "%p2"]);
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn written(&self) -> Vec<&Name> {
        accessed(self).0
    }
}

/// The names that an instruction writes, and those that it reads, the guard among them. An instruction that is not in the table reads all.
pub(crate) fn accessed(inst: &Inst) -> (Vec<&Name>, Vec<&Name>) {
    let (mut written, mut read) = (Vec::new(), inst.guard.iter().map(|guard| &guard.reg).collect());
    let known = resolve(inst, None).ok();
    let slots = known.and_then(|(form, filled)| operand_slots(form, &filled, inst.operands.len()));
    for (at, operand) in inst.operands.iter().enumerate() {
        let slot = slots.as_ref().and_then(|slots| slots.get(at));
        operand.names(if slot.is_some_and(|slot| slot.kind.is_written()) { &mut written } else { &mut read });
    }
    written.retain(|name| &***name != "_");
    (written, read)
}

/// The mismatch of an instruction's operands and a form: their number, or the operand of an index from 0.
enum Misfit {
    Count,
    Operand(usize, Kind),
}

/// The first misfit, if there is one.
fn misfit(inst: &Inst, form: &Form, filled: &Filled, names: Option<&dyn Names>) -> Option<Misfit> {
    let Some(slots) = slots_in_use(form, filled, inst.operands.len()) else { return Some(Misfit::Count) };
    let context = Context { filled, names };
    let fits = |(_, (slot, operand)): &(usize, (&OperandSlot, &Operand))| context.fits(slot.kind, operand);
    let (i, (slot, _)) = slots.zip(&inst.operands).enumerate().find(|at| !fits(at))?;
    Some(Misfit::Operand(i, slot.kind))
}

impl Misfit {
    /// The error, with a number that is the greater the further the operands fit.
    fn error(self, inst: &Inst, form: &Form, filled: &Filled, names: Option<&dyn Names>) -> (usize, Error) {
        let (at, found) = (inst.span, inst.operands.len());
        let Misfit::Operand(i, kind) = self else {
            let form = form.to_string();
            return (0, Error::OperandCount { at, inst: inst.brief(), form, found });
        };
        let operand = &inst.operands[i];
        let error = Error::Operand {
            at,
            inst: inst.brief(),
            number: i + 1,
            expected: expected_operand(kind, filled),
            found: Context { filled, names }.describe(operand),
        };
        // If two forms fail at the same operand, the error is that of the form whose operand has braces if and only
        // if the instruction's has.
        let alike = kind.is_braced(filled) == matches!(operand, Operand::Vector(_));
        (2 * (i + 1) + usize::from(alike), error)
    }
}
