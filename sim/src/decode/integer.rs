//! Integer arithmetic, logic and shifts (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions").
//!
//! Results that the ISA leaves open are those of NVIDIA GPUs: a quotient or a remainder by zero has all bits set, and
//! the smallest integer divided by -1 is itself.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::Error;
use crate::lanes::{Args, LaneFn, Regs, Scalar, WARP, Word as _, by_type, lanes, load, predicates};

/// A lane function over every integer type, from a formula that is the same for all.
macro_rules! integers {
    ($ty:expr, |$($x:ident),*| $value:expr) => {
        by_type!($ty, T in [U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
            lanes!(T: |$($x: T),*| $value))
    };
}

/// A lane function over every bit type, from a formula that is the same for all.
macro_rules! bits {
    ($ty:expr, |$($x:ident),*| $value:expr) => {
        by_type!($ty, T in [B16: u16, B32: u32, B64: u64] lanes!(T: |$($x: T),*| $value))
            .or_else(|| ($ty == Type::Pred).then_some(predicates!(|$($x),*| $value)))
    };
}

/// A lane function over the 16-bit halves of packed types, and over other types as a whole.
macro_rules! halves {
    ($ty:expr, [$($whole:tt)*], |$a:ident, $b:ident| $value:expr) => {
        by_type!($ty, T in [U16x2: u16, S16x2: i16] lanes!(u32: |a: u32, b: u32| {
            let half = |shift: u32| {
                let ($a, $b) = ((a >> shift) as T, (b >> shift) as T);
                u32::from($value as u16) << shift
            };
            half(0) | half(16)
        }))
        .or_else(|| by_type!($ty, T in [$($whole)*] lanes!(T: |$a: T, $b: T| $value)))
    };
}

/// `.relu`: negative numbers become 0.
fn at_least_0<T: Ord + Default>(value: T) -> T {
    value.max(T::default())
}

fn packed(ty: Type) -> bool {
    matches!(ty, Type::U16x2 | Type::S16x2)
}

/// Integer division by PTX's rules.
pub(crate) trait Divide: Copy {
    fn quotient(self, by: Self) -> Self;
    fn remainder(self, by: Self) -> Self;
}
macro_rules! divide {
    ($($t:ty)*) => { $(impl Divide for $t {
        fn quotient(self, by: Self) -> Self {
            if by == 0 { !0 } else { self.wrapping_div(by) }
        }
        fn remainder(self, by: Self) -> Self {
            if by == 0 { !0 } else { self.wrapping_rem(by) }
        }
    })* };
}
divide!(u16 i16 u32 i32 u64 i64);

/// The high half of a product.
pub(crate) trait High: Copy {
    fn high(self, by: Self) -> Self;
}
macro_rules! high {
    ($($t:ty: $wide:ty, $bits:literal;)*) => { $(impl High for $t {
        #[inline(always)]
        fn high(self, by: Self) -> Self {
            ((<$wide>::from(self) * <$wide>::from(by)) >> $bits) as $t
        }
    })* };
}
high! { u16: u32, 16; i16: i32, 16; u32: u64, 32; i32: i64, 32; u64: u128, 64; i64: i128, 64; }

/// Shifts by any amount; by the width or more, all bits are shifted out.
pub(crate) trait Shift: Scalar {
    fn left(self, by: u32) -> Self;
    fn right(self, by: u32) -> Self;
}
macro_rules! shift {
    ($($t:ty: |$x:ident| $out:expr;)*) => { $(impl Shift for $t {
        #[inline(always)]
        fn left(self, by: u32) -> Self {
            if by >= <$t>::BITS { 0 } else { self << by }
        }
        #[inline(always)]
        fn right(self, by: u32) -> Self {
            let $x = self;
            if by >= <$t>::BITS { $out } else { self >> by }
        }
    })* };
}
shift! {
    u16: |_x| 0; u32: |_x| 0; u64: |_x| 0;
    i16: |x| x >> 15; i32: |x| x >> 31; i64: |x| x >> 63;
}

/// `shl`
fn left<T: Shift>(regs: &mut Regs, args: &Args, mask: u32) {
    shifted(regs, args, mask, T::left);
}

/// `shr`
fn right<T: Shift>(regs: &mut Regs, args: &Args, mask: u32) {
    shifted(regs, args, mask, T::right);
}

/// Most shifts have the same amount in all lanes, for which processors have vector instructions.
#[inline(always)]
fn shifted<T: Shift>(regs: &mut Regs, args: &Args, mask: u32, shift: impl Fn(T, u32) -> T) {
    let (a, by) = (T::Word::part(regs, args.a, 0), &regs.w32[args.b as usize]);
    let mut out = [T::Word::default(); WARP];
    let lane = |i: usize, by: u32| shift(load::<T, WARP>(a, i), by).store();
    let (first, differ) = (by[0], by.iter().fold(0, |differ, one| differ | one ^ by[0]));
    if differ == 0 {
        (0..WARP).for_each(|i| out[i] = lane(i, first));
    } else {
        (0..WARP).for_each(|i| out[i] = lane(i, by[i]));
    }
    T::Word::write(regs, args.d, 0, mask, out);
}

/// The double-width type of a product.
fn wide(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => return None,
    })
}

/// The part of a product that an instruction returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Low,
    High,
    Wide,
}

impl Decoder<'_> {
    pub(super) fn integer(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if matches!(opcode, Opcode::Mul | Opcode::Mad) {
            if words.has(Word::Cc) {
                return self.carry_product(false, words, ops);
            }
            return self.product(opcode == Opcode::Mad, words, ops);
        }
        if matches!(opcode, Opcode::Add | Opcode::Sub) && words.take(Word::Cc) {
            return self.carry(opcode, true, words, ops);
        }
        let saturate = matches!(opcode, Opcode::Add | Opcode::Sub) && words.take(Word::Sat);
        let relu = matches!(opcode, Opcode::Min | Opcode::Max) && words.take(Word::Relu);
        let ty = self.last(words)?;
        let run = match opcode {
            Opcode::Add if saturate => saturating(ty, false),
            Opcode::Sub if saturate => saturating(ty, true),
            Opcode::Min if relu => halves!(ty, [S32: i32], |a, b| at_least_0(a.min(b))),
            Opcode::Max if relu => halves!(ty, [S32: i32], |a, b| at_least_0(a.max(b))),
            Opcode::Add if packed(ty) => halves!(ty, [], |a, b| a.wrapping_add(b)),
            Opcode::Min if packed(ty) => halves!(ty, [], |a, b| a.min(b)),
            Opcode::Max if packed(ty) => halves!(ty, [], |a, b| a.max(b)),
            Opcode::Add => integers!(ty, |a, b| a.wrapping_add(b)),
            Opcode::Sub => integers!(ty, |a, b| a.wrapping_sub(b)),
            Opcode::Div => integers!(ty, |a, b| a.quotient(b)),
            Opcode::Rem => integers!(ty, |a, b| a.remainder(b)),
            Opcode::Min => integers!(ty, |a, b| a.min(b)),
            Opcode::Max => integers!(ty, |a, b| a.max(b)),
            Opcode::Abs => {
                by_type!(ty, T in [S16: i16, S32: i32, S64: i64] lanes!(T: |a: T| a.wrapping_abs()))
            }
            Opcode::Neg => {
                by_type!(ty, T in [S16: i16, S32: i32, S64: i64] lanes!(T: |a: T| a.wrapping_neg()))
            }
            _ => None,
        };
        let types: &[Type] = if matches!(opcode, Opcode::Abs | Opcode::Neg) { &[ty] } else { &[ty, ty] };
        self.typed(run, ty, ops, ty, types)
    }

    fn product(&mut self, add: bool, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let parts = [(Word::Lo, Part::Low), (Word::Hi, Part::High), (Word::Wide, Part::Wide)];
        let part =
            words.pick(&parts).ok_or_else(|| self.unsupported("a product without .lo, .hi or .wide"))?;
        let saturate = words.take(Word::Sat);
        let ty = self.last(words)?;
        let run = match (part, add) {
            (Part::High, true) if saturate && ty == Type::S32 => {
                Some(lanes!(i32: |a: i32, b: i32, c: i32| a.high(b).saturating_add(c)))
            }
            _ if saturate => None,
            (Part::Low, false) => integers!(ty, |a, b| a.wrapping_mul(b)),
            (Part::Low, true) => integers!(ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
            (Part::High, false) => integers!(ty, |a, b| a.high(b)),
            (Part::High, true) => integers!(ty, |a, b, c| a.high(b).wrapping_add(c)),
            (Part::Wide, add) => wide_product(ty, add),
        };
        let d = if part == Part::Wide { wide(ty).unwrap_or(ty) } else { ty };
        let types = [ty, ty, d];
        self.typed(run, ty, ops, d, &types[..if add { 3 } else { 2 }])
    }

    pub(super) fn logic(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let ty = self.last(words)?;
        let shift = matches!(opcode, Opcode::Shl | Opcode::Shr);
        let run = match opcode {
            Opcode::And => bits!(ty, |a, b| a & b),
            Opcode::Or => bits!(ty, |a, b| a | b),
            Opcode::Xor => bits!(ty, |a, b| a ^ b),
            Opcode::Not => bits!(ty, |a| !a),
            Opcode::Cnot => {
                by_type!(ty, T in [B16: u16, B32: u32, B64: u64] lanes!(T: |a: T| T::from(a == 0)))
            }
            Opcode::Shl => {
                by_type!(ty, T in [B16: u16, B32: u32, B64: u64] left::<T> as LaneFn)
            }
            Opcode::Shr => {
                by_type!(ty, T in [B16: u16, B32: u32, B64: u64, U16: u16, U32: u32, U64: u64, S16: i16,
                S32: i32, S64: i64] right::<T> as LaneFn)
            }
            _ => None,
        };
        let both = [ty, if shift { Type::U32 } else { ty }];
        self.typed(
            run,
            ty,
            ops,
            ty,
            &both[..if matches!(opcode, Opcode::Not | Opcode::Cnot) { 1 } else { 2 }],
        )
    }

    /// The last modifier, which must be a type.
    pub(super) fn last(&mut self, words: &mut Words<'_>) -> Result<Type, Error> {
        match (words.ty(), words.rest()) {
            (Some(ty), _) => Ok(ty),
            (None, Some(rest)) => Err(self.unsupported(&format!("modifier `.{rest}`"))),
            (None, None) => Err(self.unsupported("an instruction without a type")),
        }
    }

    /// [`Decoder::simple`] with a function that exists for this type.
    pub(super) fn typed(
        &mut self,
        run: Option<LaneFn>,
        ty: Type,
        ops: &[Operand],
        d: Type,
        types: &[Type],
    ) -> Result<(), Error> {
        match run {
            Some(run) => self.simple(run, ops, d, types),
            None => Err(self.unsupported(&format!("this instruction with type `.{ty}`"))),
        }
    }
}

fn saturating(ty: Type, subtract: bool) -> Option<LaneFn> {
    match (ty, subtract) {
        (Type::S32, false) => Some(lanes!(i32: |a: i32, b: i32| a.saturating_add(b))),
        (Type::S32, true) => Some(lanes!(i32: |a: i32, b: i32| a.saturating_sub(b))),
        _ => None,
    }
}

fn wide_product(ty: Type, add: bool) -> Option<LaneFn> {
    Some(match (ty, add) {
        (Type::U16, false) => lanes!(u32: |a: u16, b: u16| u32::from(a) * u32::from(b)),
        (Type::S16, false) => lanes!(i32: |a: i16, b: i16| i32::from(a) * i32::from(b)),
        (Type::U32, false) => lanes!(u64: |a: u32, b: u32| u64::from(a) * u64::from(b)),
        (Type::S32, false) => lanes!(i64: |a: i32, b: i32| i64::from(a) * i64::from(b)),
        (Type::U16, true) => {
            lanes!(u32: |a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        (Type::S16, true) => {
            lanes!(i32: |a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
        }
        (Type::U32, true) => {
            lanes!(u64: |a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        (Type::S32, true) => {
            lanes!(i64: |a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))
        }
        _ => return None,
    })
}
