//! Bits: counts, fields, permutations, funnel shifts (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
//! Instructions").

use girih_ptx::{Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::lanes::{LaneFn, by_type, lanes, predicates};

/// The low `len` bits set.
fn ones(len: u32) -> u64 {
    1u64.checked_shl(len).map_or(u64::MAX, |bit| bit - 1)
}

/// A field of a value of `bits` bits, which is sign- or zero-extended to 64. The field ends with the value's last bit.
/// The rest of the result is filled with the field's last bit if `signed`, and with zeros otherwise.
fn extract(a: i64, position: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (position, len) = (position & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let last = (position + len - 1).min(bits - 1);
    let negative = signed && a >> last & 1 == 1;
    let there = len.min(bits.saturating_sub(position));
    let field = (a as u64).checked_shr(position).unwrap_or(0) & ones(there);
    if negative { field | !ones(there) } else { field }
}

fn insert(a: u64, into: u64, position: u32, len: u32) -> u64 {
    let (position, len) = (position & 0xff, len & 0xff);
    let mask = ones(len).checked_shl(position).unwrap_or(0);
    into & !mask | a.checked_shl(position).unwrap_or(0) & mask
}

/// `prmt`: the low three bits of each nibble of `selectors` select a byte of `{b, a}`. With the nibble's high bit the
/// result is that byte's sign, repeated.
fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = (u64::from(a) | u64::from(b) << 32).to_le_bytes();
    u32::from_le_bytes([0, 4, 8, 12].map(|shift| {
        let selector = selectors >> shift & 15;
        let byte = bytes[(selector & 7) as usize];
        if selector & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
    }))
}

/// `lop3`: each bit of the result is the bit of `table` whose number the three operands' bits form.
fn lookup(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |bits, row| {
        let pick = |x: u32, bit: u32| if row >> bit & 1 == 1 { x } else { !x };
        bits | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// For a mode of `prmt`: the byte of `{b, a}` that becomes byte `i`, given the low two bits of the selector.
type Choose = fn(u32, u32) -> u32;

const MODES: &[(Word, LaneFn)] = &[
    (Word::F4e, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |i, s| s + i))),
    (Word::B4e, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |i, s| s.wrapping_sub(i) & 7))),
    (Word::Rc8, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |_, s| s))),
    (Word::Ecl, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |i, s| s.max(i)))),
    (Word::Ecr, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |i, s| s.min(i)))),
    (Word::Rc16, lanes!(u32: |a: u32, b: u32, c: u32| chosen(a, b, c, |i, s| (s & 1) << 1 | i & 1))),
];

fn chosen(a: u32, b: u32, selector: u32, choose: Choose) -> u32 {
    let nibbles = (0..4).fold(0, |all, i| all | choose(i, selector & 3) << (4 * i));
    permute(a, b, nibbles)
}

/// `c` plus the products of the bytes of `a` and `b` (`dp4a`); with `half`, plus the products of the 16-bit halves of
/// `a` and the two bytes of `b` from bit `half` on (`dp2a`).
fn dot(half: Option<u32>, a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let field = |x: u32, at: u32, bits: u32, signed: bool| extended(x >> at, bits, signed);
    let product = |i: u32| match half {
        None => field(a, 8 * i, 8, a_signed).wrapping_mul(field(b, 8 * i, 8, b_signed)),
        Some(from) => field(a, 16 * i, 16, a_signed).wrapping_mul(field(b, from + 8 * i, 8, b_signed)),
    };
    (0..if half.is_none() { 4 } else { 2 }).fold(c, |sum, i| sum.wrapping_add(product(i)))
}

/// The number of the highest bit that differs from the sign (or from 0, if unsigned); all ones if there is none.
fn highest(a: i64, signed: bool) -> u32 {
    let a = if signed && a < 0 { !a } else { a } as u64;
    a.checked_ilog2().unwrap_or(u32::MAX)
}

/// `fns`: the number of the `offset`th set bit of `mask`, counted from bit `base` on: upwards, or with a negative
/// offset downwards. With offset 0, `base` itself if the bit is set. All ones if there is no such bit.
fn nth(mask: u32, base: u32, offset: i32) -> u32 {
    let place = |i: u32| mask.checked_shr(i).is_some_and(|rest| rest & 1 == 1);
    let n = offset.unsigned_abs() as usize;
    let found = match offset {
        0 => Some(base).filter(|&i| place(i)),
        1.. => (base..32).filter(|&i| place(i)).nth(n - 1),
        _ => (0..=base.min(31)).rev().filter(|&i| place(i)).nth(n - 1),
    };
    found.unwrap_or(u32::MAX)
}

/// `bmsk`: 32 bits with `len` ones from bit `from` on.
fn field(from: u32, len: u32) -> u32 {
    (ones(len) << from) as u32
}

/// The low 24 bits of an operand, extended by the sign or by zeros.
fn low24(a: i64, signed: bool) -> i64 {
    if signed { a << 40 >> 40 } else { a & 0xff_ffff }
}

/// The low `n` bits, extended by the sign or by zeros; all bits if `n` is 32 or more.
fn extended(a: u32, n: u32, signed: bool) -> u32 {
    match 32u32.saturating_sub(n) {
        32 => 0,
        unused if signed => ((a << unused) as i32 >> unused) as u32,
        unused => a << unused >> unused,
    }
}

impl Decoder<'_> {
    pub(super) fn bits(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Shf => return self.funnel(words, ops),
            Opcode::Bfind => return self.bfind(words, ops),
            Opcode::Szext | Opcode::Bmsk => return self.szext(opcode, words, ops),
            Opcode::Dp4a | Opcode::Dp2a => return self.dot(opcode, words, ops),
            Opcode::Sad | Opcode::Mul24 | Opcode::Mad24 => return self.small(opcode, words, ops),
            _ => {}
        }
        let combine = words.pick(&[(Word::And, Opcode::And), (Word::Or, Opcode::Or)]);
        let ty = self.last(words)?;
        if opcode == Opcode::Fns {
            let run = by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T, c: i32| nth(a, b, c)));
            return self.typed(run, ty, ops, ty, &[ty, Type::B32, Type::S32]);
        }
        if opcode == Opcode::Lop3
            && let Some(combine) = combine
        {
            return self.lop3_joined(combine, ops);
        }
        let (run, d, types): (_, _, &[Type]) = match opcode {
            Opcode::Popc => {
                (by_type!(ty, T in [B32: u32, B64: u64] lanes!(u32: |a: T| a.count_ones())), Type::U32, &[ty])
            }
            Opcode::Clz => (
                by_type!(ty, T in [B32: u32, B64: u64] lanes!(u32: |a: T| a.leading_zeros())),
                Type::U32,
                &[ty],
            ),
            Opcode::Brev => {
                (by_type!(ty, T in [B32: u32, B64: u64] lanes!(T: |a: T| a.reverse_bits())), ty, &[ty])
            }
            Opcode::Bfe => {
                let run = by_type!(ty, T in [U32: u32, S32: i32, U64: u64, S64: i64]
                    lanes!(T: |a: T, b: u32, c: u32| extract(a as i64, b, c, T::BITS, T::MIN != 0) as T));
                (run, ty, &[ty, Type::U32, Type::U32])
            }
            Opcode::Bfi => {
                let run = by_type!(ty, T in [B32: u32, B64: u64]
                    lanes!(T: |a: T, b: T, c: u32, d: u32| insert(a as u64, b as u64, c, d) as T));
                (run, ty, &[ty, ty, Type::U32, Type::U32])
            }
            Opcode::Prmt => {
                let mode = words.pick(MODES);
                let run = by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T, c: u32| permute(a, b, c)));
                let run = run.map(|run| mode.unwrap_or(run));
                (run, ty, &[ty, ty, Type::U32])
            }
            Opcode::Lop3 => {
                let run =
                    by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T, c: T, d: u32| lookup(a, b, c, d)));
                (run, ty, &[ty, ty, ty, Type::U32])
            }
            other => return Err(self.unsupported(&format!("instruction `{other}`"))),
        };
        self.typed(run, ty, ops, d, types)
    }

    /// `lop3.and.b32 d|p, a, b, c, table, q`: `p` is whether the result differs from 0, combined with `q`.
    fn lop3_joined(&mut self, combine: Opcode, ops: &[Operand]) -> Result<(), Error> {
        self.arity(ops, 6..=6)?;
        let mut sources = Vec::with_capacity(4);
        for i in 1..=4 {
            sources.push(self.source(ops, i, Type::B32)?);
        }
        let third = self.source(ops, 5, Type::Pred)?;
        let Operand::Pair(d, p) = &ops[0] else { return Err(self.operand(ops, 0, "a pair `d|p`")) };
        let (d, p) = (self.destination_name(d, File::W32)?, self.destination_name(p, File::Pred)?);
        let value = self.temporary(File::W32);
        self.lanes(lanes!(u32: |a: u32, b: u32, c: u32, d: u32| lookup(a, b, c, d)), value, &sources);
        let holds = self.through(File::Pred, lanes!(bool: |a: u32| a != 0), value);
        let joined = self.combined(Some((combine, third)), holds);
        self.lanes(lanes!(u32: |a: u32| a), d, &[value]);
        self.lanes(predicates!(|a| a), p, &[joined]);
        Ok(())
    }

    fn bfind(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let amount = words.take(Word::Shiftamt);
        let ty = self.last(words)?;
        let run = if amount {
            by_type!(ty, T in [U32: u32, S32: i32, U64: u64, S64: i64] lanes!(u32: |a: T| {
                match highest(a as i64, T::MIN != 0) {
                    u32::MAX => u32::MAX,
                    place => T::BITS - 1 - place,
                }
            }))
        } else {
            by_type!(ty, T in [U32: u32, S32: i32, U64: u64, S64: i64]
                lanes!(u32: |a: T| highest(a as i64, T::MIN != 0)))
        };
        self.typed(run, ty, ops, Type::U32, &[ty])
    }

    /// `szext`, `bmsk`.
    fn szext(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let wrap = words.pick(&[(Word::Wrap, true), (Word::Clamp, false)]);
        let wrap =
            wrap.ok_or_else(|| self.unsupported(&format!("a {opcode} that is not .wrap or .clamp")))?;
        let ty = self.last(words)?;
        if opcode == Opcode::Bmsk {
            let run = if wrap {
                by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T| field(a & 31, b & 31)))
            } else {
                by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T| field(a.min(32), b.min(32))))
            };
            return self.typed(run, ty, ops, ty, &[Type::U32, Type::U32]);
        }
        let run = if wrap {
            by_type!(ty, T in [U32: u32, S32: i32] lanes!(u32: |a: u32, b: u32| extended(a, b & 31, T::MIN != 0)))
        } else {
            by_type!(ty, T in [U32: u32, S32: i32] lanes!(u32: |a: u32, b: u32| extended(a, b, T::MIN != 0)))
        };
        self.typed(run, ty, ops, ty, &[ty, Type::U32])
    }

    /// `dp4a`, `dp2a`: `a` and `b` each have a type.
    fn dot(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        macro_rules! dots {
            ($half:expr) => {
                [
                    lanes!(u32: |a: u32, b: u32, c: u32| dot($half, a, b, c, false, false)),
                    lanes!(u32: |a: u32, b: u32, c: u32| dot($half, a, b, c, false, true)),
                    lanes!(u32: |a: u32, b: u32, c: u32| dot($half, a, b, c, true, false)),
                    lanes!(u32: |a: u32, b: u32, c: u32| dot($half, a, b, c, true, true)),
                ]
            };
        }
        let runs = if opcode == Opcode::Dp4a {
            dots!(None)
        } else {
            let halves = [(Word::Lo, dots!(Some(0))), (Word::Hi, dots!(Some(16)))];
            words.pick(&halves).ok_or_else(|| self.unsupported("a dp2a that is not .lo or .hi"))?
        };
        let mut signed = [false; 2];
        for signed in &mut signed {
            *signed = match self.last(words)? {
                Type::U32 => false,
                Type::S32 => true,
                ty => return Err(self.unsupported(&format!("this instruction with type `.{ty}`"))),
            };
        }
        let run = runs[2 * usize::from(signed[0]) + usize::from(signed[1])];
        self.simple(run, ops, Type::B32, &[Type::B32; 3])
    }

    /// `sad`, `mul24`, `mad24`.
    fn small(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let high = opcode != Opcode::Sad && words.pick(&[(Word::Lo, false), (Word::Hi, true)]) == Some(true);
        if opcode == Opcode::Mad24 && words.take(Word::Sat) {
            return Err(self.unsupported("mad24.sat"));
        }
        let ty = self.last(words)?;
        macro_rules! product {
            (|$x:ident $(, $c:ident)?| $value:expr) => {
                by_type!(ty, T in [U32: u32, S32: i32] lanes!(T: |a: T, b: T $(, $c: T)?| {
                    let $x = low24(a.into(), T::MIN != 0) * low24(b.into(), T::MIN != 0);
                    $value
                }))
            };
        }
        let run = match (opcode, high) {
            (Opcode::Sad, _) => {
                by_type!(ty, T in [U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
                    lanes!(T: |a: T, b: T, c: T| c.wrapping_add(a.abs_diff(b) as T)))
            }
            (Opcode::Mul24, false) => product!(|x| x as T),
            (Opcode::Mul24, true) => product!(|x| (x >> 16) as T),
            (_, false) => product!(|x, c| (x as T).wrapping_add(c)),
            (_, true) => product!(|x, c| ((x >> 16) as T).wrapping_add(c)),
        };
        let types = [ty; 3];
        self.typed(run, ty, ops, ty, &types[..if opcode == Opcode::Mul24 { 2 } else { 3 }])
    }

    fn funnel(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let left = words.pick(&[(Word::Left, true), (Word::Right, false)]);
        let wrap = words.pick(&[(Word::Wrap, true), (Word::Clamp, false)]);
        let ty = self.last(words)?;
        let run = match (left, wrap) {
            _ if ty != Type::B32 => None,
            (Some(true), Some(true)) => Some(lanes!(u32: |a: u32, b: u32, c: u32| left_of(a, b, c & 31))),
            (Some(true), Some(false)) => Some(lanes!(u32: |a: u32, b: u32, c: u32| left_of(a, b, c.min(32)))),
            (Some(false), Some(true)) => Some(lanes!(u32: |a: u32, b: u32, c: u32| right_of(a, b, c & 31))),
            (Some(false), Some(false)) => {
                Some(lanes!(u32: |a: u32, b: u32, c: u32| right_of(a, b, c.min(32))))
            }
            _ => None,
        };
        self.typed(run, ty, ops, ty, &[ty, ty, Type::U32])
    }
}

/// The high word of `{b, a}` shifted left by at most 32.
fn left_of(a: u32, b: u32, by: u32) -> u32 {
    (((u64::from(b) << 32 | u64::from(a)) << by) >> 32) as u32
}

/// The low word of `{b, a}` shifted right by at most 32.
fn right_of(a: u32, b: u32, by: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> by) as u32
}
