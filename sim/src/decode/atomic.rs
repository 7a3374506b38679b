//! `atom`, `red` (PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red").

use girih_ptx::{Operand, Type, Word};

use super::float::Packed;
use super::memory::ATOMIC_ORDERS;
use super::words::Words;
use super::{Decoder, File, file};
use crate::float::{Bfloat, Half, Pair, add_odd, canon};
use crate::lanes::Scalar;
use crate::op::{Atomic, AtomicWide, Op, Update};
use crate::shadow::{Manner, Order};
use crate::{Error, Space};

/// The function of the old value and the operand of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exchange,
    Compare,
}

impl Action {
    /// Whether several updates have the same result in every order. Sums of floats have not, as each sum is rounded.
    pub(super) fn commutes(self, ty: Type) -> bool {
        match self {
            Action::Add => ty.is_int() || ty.is_bits(),
            Action::Min | Action::Max | Action::And | Action::Or | Action::Xor => true,
            Action::Inc | Action::Dec | Action::Exchange | Action::Compare => false,
        }
    }
}

pub(super) const ACTIONS: &[(Word, Action)] = &[
    (Word::Add, Action::Add),
    (Word::Min, Action::Min),
    (Word::Max, Action::Max),
    (Word::And, Action::And),
    (Word::Or, Action::Or),
    (Word::Xor, Action::Xor),
    (Word::Inc, Action::Inc),
    (Word::Dec, Action::Dec),
    (Word::Exch, Action::Exchange),
    (Word::Cas, Action::Compare),
];

const SPACES: &[(Word, Space)] = &[
    (Word::Global, Space::Global),
    (Word::Shared, Space::Shared),
    (Word::SharedCta, Space::Shared),
    (Word::SharedCluster, Space::Cluster),
];

/// An [`Update`] by type, from a formula in that type.
macro_rules! update {
    ($ty:expr, [$($variant:ident: $rust:ty as $word:ty),* $(,)?] |$a:ident, $b:ident| $value:expr) => {
        match $ty {
            $(Type::$variant => {
                fn run(a: u64, b: u64, _: u64) -> u64 {
                    let ($a, $b) = (<$rust>::load(a as $word), <$rust>::load(b as $word));
                    let new: $rust = $value;
                    new.store() as u64
                }
                Some(run as Update)
            })*
            _ => None,
        }
    };
}

macro_rules! integers {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        update!($ty, [U32: u32 as u32, S32: i32 as u32, U64: u64 as u64, S64: i64 as u64] |$a, $b| $value)
    };
}

macro_rules! bits {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        update!($ty, [B32: u32 as u32, B64: u64 as u64] |$a, $b| $value)
    };
}

/// An [`Update`] for 16-bit floats, which bulk reductions and vectors have.
macro_rules! halves {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        update!($ty, [F16: Half as u32, Bf16: Bfloat as u32, F16x2: Pair<Half> as u32, Bf16x2: Pair<Bfloat> as u32]
            |a, b| a.each(b, b, |$a, $b, _| $value))
    };
}

/// The lesser of two numbers, where -0 is less than +0. If one is NaN, the other is returned.
fn lesser(a: f64, b: f64) -> f64 {
    if b.is_nan() || a < b || a == b && a.is_sign_negative() { a } else { b }
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// The function for an update. Sums of f32 in global memory flush subnormals, unlike those in shared memory.
pub(super) fn update(action: Action, ty: Type, global: bool) -> Option<Update> {
    match action {
        Action::Add if ty == Type::F32 && global => Some(update_flushed()),
        Action::Add => update!(ty, [U32: u32 as u32, S32: i32 as u32, U64: u64 as u64]
            |a, b| a.wrapping_add(b))
        .or_else(|| update!(ty, [F32: f32 as u32] |a, b| canon(a + b)))
        .or_else(|| update!(ty, [F64: f64 as u64] |a, b| a + b))
        .or_else(|| {
            update!(ty, [F16: Half as u32, Bf16: Bfloat as u32, F16x2: Pair<Half> as u32,
                Bf16x2: Pair<Bfloat> as u32] |a, b| a.each(b, b, |a, b, _| add_odd(a, b)))
        }),
        Action::Min => integers!(ty, |a, b| a.min(b)).or_else(|| halves!(ty, |a, b| lesser(a, b))),
        Action::Max => integers!(ty, |a, b| a.max(b)).or_else(|| halves!(ty, |a, b| -lesser(-a, -b))),
        Action::And => bits!(ty, |a, b| a & b),
        Action::Or => bits!(ty, |a, b| a | b),
        Action::Xor => bits!(ty, |a, b| a ^ b),
        Action::Inc => update!(ty, [U32: u32 as u32] |a, b| if a >= b { 0 } else { a + 1 }),
        Action::Dec => update!(ty, [U32: u32 as u32] |a, b| if a == 0 || a > b { b } else { a - 1 }),
        Action::Exchange => matches!(ty, Type::B32 | Type::B64).then_some(|_, b, _| b),
        Action::Compare => {
            let accepted = matches!(ty, Type::B16 | Type::B32 | Type::B64);
            // The register of `b` may have more bits than a narrow type, which are ignored.
            match ty {
                Type::B16 => Some(|old, b, c| if old == b & 0xffff { c } else { old }),
                _ => accepted.then_some(|old, b, c| if old == b { c } else { old }),
            }
        }
    }
}

impl Decoder<'_> {
    /// `atom` returns the old value, `red` does not.
    pub(super) fn atomic(
        &mut self,
        returns: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if !returns && words.take(Word::Async) {
            return self.store_async(true, words, ops);
        }
        let order = words.pick(ATOMIC_ORDERS).unwrap_or_default();
        let scope = self.scope(words);
        let space = words.pick(SPACES).unwrap_or(Space::Generic);
        let action = words.pick(ACTIONS).ok_or_else(|| self.unsupported("an atomic of this operation"))?;
        if !returns && matches!(action, Action::Exchange | Action::Compare) {
            return Err(self.unsupported("a red that exchanges; atom does"));
        }
        let noftz = words.take(Word::Noftz);
        let hint = words.take(Word::L2CacheHint);
        let vector = words.pick(&[(Word::V2, 2), (Word::V4, 4), (Word::V8, 8)]);
        let ty = self.last(words)?;
        let bytes = ty.bytes().unwrap_or(0);
        let order = Order { manner: Manner { scope, bytes: bytes as u8, ..Manner::default() }, ..order };
        if ty == Type::B128 && returns && !noftz && vector.is_none() {
            return self.atomic_wide(action, (space, order), hint, ops);
        }
        let update = update(action, ty, false)
            .ok_or_else(|| self.unsupported(&format!("this atomic with type `.{ty}`")))?;
        let half = matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
        if half != noftz {
            return Err(self.unsupported("an atomic with `.noftz` that is not of 16-bit floats, or without"));
        }
        let count = vector.unwrap_or(1);
        let reduces = match action {
            Action::Add => half || ty == Type::F32,
            Action::Min | Action::Max => half,
            _ => false,
        };
        if vector.is_some() && (!reduces || bytes * count > 16) {
            return Err(self.unsupported(
                "a vector atomic that is not an add, min or max of at most 16 bytes of 16-bit floats, or an add of f32",
            ));
        }
        if vector.is_none() && half && action != Action::Add {
            return Err(self.unsupported("a min or max of 16-bit floats that is not of a vector"));
        }
        let global = self::update(action, ty, true).unwrap_or(update);
        let first = usize::from(returns);
        let compare = usize::from(action == Action::Compare);
        let all = first + 2 + compare + usize::from(hint);
        self.arity(ops, all..=all)?;
        let d = if returns {
            self.olds(ops, count as usize, vector.is_some(), ty)?
        } else {
            vec![None; count as usize]
        };
        let address = self.address(ops, first)?;
        let b = match (&ops[first + 1], vector) {
            (Operand::Vector(parts), Some(_)) if parts.len() == count as usize => {
                (0..parts.len()).map(|i| self.source(parts, i, ty)).collect::<Result<_, _>>()?
            }
            (_, None) => vec![self.source(ops, first + 1, ty)?],
            _ => return Err(self.operand(ops, first + 1, &format!("a vector of {count}"))),
        };
        let c = if compare == 1 { Some(self.source(ops, first + 2, ty)?) } else { None };
        self.touches(space, bytes);
        if matches!(space, Space::Global | Space::Generic) {
            self.code.communicates |= d.iter().any(Option::is_some) || !action.commutes(ty);
        }
        self.emit(Op::Atomic(Box::new(Atomic { space, address, bytes, update, global, d, b, c, order })));
        Ok(())
    }

    /// `atom.exch.b128`, `atom.cas.b128`.
    fn atomic_wide(
        &mut self,
        action: Action,
        (space, order): (Space, Order),
        hint: bool,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if !matches!(action, Action::Exchange | Action::Compare) {
            return Err(self.unsupported("an atomic of .b128 that is neither .exch nor .cas"));
        }
        let compare = action == Action::Compare;
        let all = 3 + usize::from(compare) + usize::from(hint);
        self.arity(ops, all..=all)?;
        let address = self.address(ops, 1)?;
        let b = self.source_halves(ops, 2)?;
        let c = if compare { Some(self.source_halves(ops, 3)?) } else { None };
        let d = self.destination_halves(ops, 0)?;
        self.touches(space, 16);
        self.code.communicates |= matches!(space, Space::Global | Space::Generic);
        self.emit(Op::AtomicWide(Box::new(AtomicWide { space, address, d, b, c, order })));
        Ok(())
    }

    /// The registers that the old values are written to.
    fn olds(
        &mut self,
        ops: &[Operand],
        count: usize,
        vector: bool,
        ty: Type,
    ) -> Result<Vec<Option<crate::lanes::Reg>>, Error> {
        let parts = match &ops[0] {
            Operand::Sink => return Ok(vec![None; count]),
            Operand::Vector(parts) if vector && parts.len() == count => &parts[..],
            _ if !vector => &ops[..1],
            _ => return Err(self.operand(ops, 0, &format!("a vector of {count}, or `_`"))),
        };
        debug_assert!(matches!(file(ty), Some(File::W32 | File::W64)));
        (0..count).map(|i| self.destination(parts, i, ty).map(Some)).collect()
    }
}

/// The sum of f32 in global memory: subnormal operands and results become zeros of the same sign.
fn update_flushed() -> Update {
    |a, b, _| flush(canon(flush(f32::from_bits(a as u32)) + flush(f32::from_bits(b as u32)))).to_bits().into()
}
