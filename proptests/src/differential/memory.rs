//! Loads, stores, atomics and matrices: each through memory that the same step has filled.
//!
//! Every thread has a row of [`ROW`] bytes in shared, in global and in local memory. What crosses threads goes to the
//! row of another thread of the block, between two barriers; the rows are permuted, so that none is written twice.

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use rand::RngExt;

use super::agree::Agree;
use super::draft::{Card, Draft};
use super::lane::{bare, instruction};
use super::syntax::{at, inst, modifiers, name};
use super::value::{Class, Value};
use super::{BLOCK, Reach};

/// Bytes of a thread's row, of which the first half is used.
pub(super) const ROW: usize = 32;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Shared,
    Global,
    Local,
    Const,
    Param,
    /// The program's inputs, which nothing writes.
    Inputs,
}

impl Home {
    /// The state space of a form's modifiers; an access without one gets a generic address of shared or global memory.
    fn of(draft: &mut Draft<'_>, (form, filled): &Card) -> (Home, bool) {
        let opcode = form.opcode;
        let home = |word: &Word| {
            Some(match word {
                Word::Shared | Word::SharedCta | Word::SharedCluster => Home::Shared,
                Word::Global => Home::Global,
                Word::Local => Home::Local,
                Word::Const => Home::Const,
                Word::Param | Word::ParamEntry => Home::Param,
                _ => return None,
            })
        };
        let words = || {
            filled
                .iter()
                .flatten()
                .filter_map(|m| if let Modifier::Word(word) = m { Some(word) } else { None })
        };
        if words().any(|word| *word == Word::Nc) {
            return (Home::Inputs, false);
        }
        match words().find_map(home) {
            Some(home) => (home, false),
            // Vectors are updated in global memory alone, and cache policies are of global memory.
            None if matches!(opcode, Opcode::Red | Opcode::Atom) && count(filled) > 1 => (Home::Global, true),
            None if words().any(|word| *word == Word::L2CacheHint) => (Home::Global, true),
            None => (draft.pick(&[Home::Shared, Home::Global]), true),
        }
    }

    fn word(self) -> Word {
        match self {
            Home::Shared => Word::Shared,
            Home::Local => Word::Local,
            Home::Const => Word::Const,
            Home::Param => Word::Param,
            Home::Global | Home::Inputs => Word::Global,
        }
    }

    /// The register with the address of the thread's own row, or what stands for it.
    fn row(self) -> &'static str {
        match self {
            Home::Shared => "shared_row",
            Home::Global => "global_row",
            Home::Local => "local_row",
            Home::Const => "constants",
            Home::Param => "parameter",
            Home::Inputs => "input_row",
        }
    }

    fn is_written(self) -> bool {
        matches!(self, Home::Shared | Home::Global | Home::Local)
    }
}

fn barrier(draft: &mut Draft<'_>) {
    draft.inst(inst(Opcode::Bar, modifiers![Word::Sync], vec![Operand::Int(0)]));
}

/// The most parts of a vector that is loaded or stored.
const PARTS: usize = 4;

/// Stores `parts`, all of one class, to the thread's own row.
fn store(draft: &mut Draft<'_>, home: Home, parts: Vec<Operand>, class: Class) {
    let mut offset = 0;
    for parts in parts.chunks(PARTS) {
        let (modifiers, what) = vector(Opcode::St, home, parts.to_vec(), class);
        draft.inst(inst(Opcode::St, modifiers, vec![at(home.row(), offset), what]));
        offset += PARTS as i64 * i64::from(class.ty().bytes().unwrap_or(0));
    }
}

/// Loads `count` results from the row at `row`.
fn load(draft: &mut Draft<'_>, home: Home, row: &str, count: usize, class: Class, agree: Agree) {
    for first in (0..count).step_by(PARTS) {
        let parts = (first..count.min(first + PARTS))
            .map(|_| draft.result(class, class.ty(), agree).operand())
            .collect();
        let (modifiers, what) = vector(Opcode::Ld, home, parts, class);
        let offset = first as i64 * i64::from(class.ty().bytes().unwrap_or(0));
        draft.inst(inst(Opcode::Ld, modifiers, vec![what, at(row, offset)]));
    }
}

fn vector(opcode: Opcode, home: Home, mut parts: Vec<Operand>, class: Class) -> (Vec<Modifier>, Operand) {
    assert!(matches!(opcode, Opcode::Ld | Opcode::St));
    let mut words = modifiers![home.word()];
    let what = match parts.len() {
        1 => parts.remove(0),
        n => {
            words.push(Modifier::from(if n == 2 { Word::V2 } else { Word::V4 }));
            Operand::Vector(parts)
        }
    };
    words.push(class.ty().into());
    (words, what)
}

/// Fills the first 16 bytes of the thread's own row.
fn fill(draft: &mut Draft<'_>, home: Home) {
    let parts = (0..4).map(|_| draft.read(Class::B32, Type::B32)).collect();
    store(draft, home, parts, Class::B32);
}

/// The row of another thread of the block: a permutation.
fn other_row(draft: &mut Draft<'_>, home: Home) -> Value {
    let number = draft.register(Class::B32, Type::U32);
    let shift = Operand::Int(draft.rng.random_range(0..BLOCK as i64));
    let n = || number.operand();
    let lo = modifiers![Word::Lo, Type::U32];
    draft.inst(inst(Opcode::Mad, lo.clone(), vec![n(), name("thread"), Operand::Int(5), shift]));
    draft.inst(inst(Opcode::And, modifiers![Type::B32], vec![n(), n(), Operand::Int(BLOCK as i64 - 1)]));
    row_of(draft, home, &number)
}

/// The row of this thread of the block.
fn row_of(draft: &mut Draft<'_>, home: Home, number: &Value) -> Value {
    let row = Operand::Int(ROW as i64);
    let (class, mad, base) = match home {
        Home::Shared => (Class::B32, Word::Lo, "shared_rows"),
        _ => (Class::B64, Word::Wide, "global_rows"),
    };
    let address = draft.register(class, class.ty());
    let operands = vec![address.operand(), number.operand(), row, name(base)];
    draft.inst(inst(Opcode::Mad, modifiers![mad, Type::U32], operands));
    address
}

/// The generic address for a register with one of `home`.
fn generic(draft: &mut Draft<'_>, home: Home, register: &str) -> Value {
    let address = draft.register(Class::B64, Type::U64);
    let mut from = name(register);
    if home == Home::Shared {
        let widened = draft.register(Class::B64, Type::U64);
        draft.inst(inst(Opcode::Cvt, modifiers![Type::U64, Type::U32], vec![widened.operand(), from]));
        from = widened.operand();
    }
    draft.inst(inst(Opcode::Cvta, modifiers![home.word(), Type::U64], vec![address.operand(), from]));
    address
}

/// A step of `ld` or `st`.
pub(super) fn access(draft: &mut Draft<'_>, card: &Card) {
    let (form, filled) = card;
    let (home, is_generic) = Home::of(draft, card);
    let loads = form.opcode == Opcode::Ld;
    if !loads && home == Home::Param {
        return draft.abandon();
    }
    if home.is_written() {
        fill(draft, home);
    }
    let crosses = loads && matches!(home, Home::Shared | Home::Global);
    if crosses {
        barrier(draft);
    }
    let row = if crosses { other_row(draft, home).name } else { home.row().into() };
    let row = if is_generic { generic(draft, home, &row).name } else { row };
    let address = at(&row, offset(draft, card));
    let Some(instruction) = instruction(draft, card, false, Some(&address)) else { return draft.abandon() };
    draft.inst_with_halves(instruction);
    if crosses {
        barrier(draft);
    }
    if !loads {
        load(draft, home, home.row(), 4, Class::B32, Agree::Bits);
    }
    // ptxas 13.0 converts a byte that it has loaded by the sign of the load, whatever the conversion's.
    let widened = loads && draft.widened();
    draft.step(bare(form, filled).to_string(), if crosses { Reach::Block } else { Reach::Lane }, !widened);
}

/// An offset at which the access stays within 16 bytes.
fn offset(draft: &mut Draft<'_>, (_, filled): &Card) -> i64 {
    let bytes =
        filled.iter().flatten().filter_map(|m| if let Modifier::Type(ty) = m { ty.bytes() } else { None });
    let bytes = bytes.max().unwrap_or(16) * count(filled);
    i64::from(bytes) * draft.rng.random_range(0..i64::from(16 / bytes.clamp(1, 16)))
}

fn count(filled: &[Option<Modifier>]) -> u32 {
    let has = |word: Word| filled.contains(&Some(Modifier::Word(word)));
    if has(Word::V4) {
        4
    } else if has(Word::V8) {
        8
    } else if has(Word::V2) {
        2
    } else {
        1
    }
}

/// A step of `atom` or `red`: on the thread's own row, or where the order doesn't show, on one that 16 threads share.
pub(super) fn atomic(draft: &mut Draft<'_>, card: &Card) {
    let (form, filled) = card;
    let (home, is_generic) = Home::of(draft, card);
    let mut types =
        filled.iter().flatten().filter_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None });
    let Some(ty) = types.next_back() else { return };
    let wide = ty == Type::B128;
    let (ty, count) = if wide { (Type::B64, 2) } else { (ty, count(filled) as usize) };
    let Some(class) = Class::of(ty) else { return };
    let parts: Vec<Operand> = (0..count).map(|_| draft.read(class, ty)).collect();
    store(draft, home, parts.clone(), class);
    let has = |word: Word| filled.contains(&Some(Modifier::Word(word)));
    let commutes = ty.is_int() || ty.is_bits();
    let shared =
        form.opcode == Opcode::Red && commutes && !has(Word::Inc) && !has(Word::Dec) && draft.chance(2);
    let row = if shared {
        barrier(draft);
        let leader = draft.register(Class::B32, Type::U32);
        let operands = vec![leader.operand(), name("thread"), Operand::Int(-16)];
        draft.inst(inst(Opcode::And, modifiers![Type::B32], operands));
        row_of(draft, home, &leader).name
    } else {
        home.row().into()
    };
    let target = if is_generic { generic(draft, home, &row).name } else { row.clone() };
    let Some(mut instruction) = instruction(draft, card, false, Some(&at(&target, 0))) else {
        return draft.abandon();
    };
    // A comparison that holds would be rare.
    if has(Word::Cas) && draft.chance(2) {
        let same = if wide { draft.packed([parts[0].clone(), parts[1].clone()]) } else { parts[0].clone() };
        instruction.operands[2] = same;
    }
    draft.inst_with_halves(instruction);
    if shared {
        barrier(draft);
    }
    // Which NaN a sum of f64 is differs between the memories.
    load(draft, home, &row, count, class, if ty == Type::F64 { Agree::Nan(ty) } else { Agree::Bits });
    if shared {
        barrier(draft);
    }
    draft.step(bare(form, filled).to_string(), if shared { Reach::Block } else { Reach::Lane }, true);
}

/// A step of `ldmatrix` or `stmatrix`.
pub(super) fn matrix(draft: &mut Draft<'_>, card: &Card) {
    let (form, filled) = card;
    let home = Home::Shared;
    let is_generic =
        !filled.iter().flatten().any(|m| matches!(m, Modifier::Word(Word::Shared | Word::SharedCta)));
    fill(draft, home);
    barrier(draft);
    let row = other_row(draft, home).name;
    let row = if is_generic { generic(draft, home, &row).name } else { row };
    let Some(instruction) = instruction(draft, card, false, Some(&at(&row, 0))) else {
        return draft.abandon();
    };
    draft.inst(instruction);
    barrier(draft);
    if form.opcode == Opcode::Stmatrix {
        load(draft, home, home.row(), 4, Class::B32, Agree::Bits);
    }
    draft.step(bare(form, filled).to_string(), Reach::Block, true);
}
