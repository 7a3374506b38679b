//! Bits: counts, fields, permutations, funnel shifts (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
//! Instructions").

use girih_ptx::{Opcode, Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::Error;
use crate::lanes::{by_type, lanes};

/// The low `len` bits set.
fn ones(len: u32) -> u64 {
    1u64.checked_shl(len).map_or(u64::MAX, |bit| bit - 1)
}

/// A field of a value that has `bits` bits and has been sign- or zero-extended to 64: at most its own bits, the rest
/// filled with the field's last bit if `signed`.
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

/// `prmt`: each nibble of `selectors` names a byte of `{b, a}`, or with its high bit that byte's sign.
fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = (u64::from(a) | u64::from(b) << 32).to_le_bytes();
    u32::from_le_bytes([0, 4, 8, 12].map(|shift| {
        let selector = selectors >> shift & 15;
        let byte = bytes[(selector & 7) as usize];
        if selector & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
    }))
}

/// `lop3`: the bit of `table` that the three operands' bits number.
fn lookup(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |bits, row| {
        let pick = |x: u32, bit: u32| if row >> bit & 1 == 1 { x } else { !x };
        bits | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

impl Decoder<'_> {
    pub(super) fn bits(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if opcode == Opcode::Shf {
            return self.funnel(words, ops);
        }
        let ty = self.last(words)?;
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
                let run = by_type!(ty, T in [B32: u32] lanes!(T: |a: T, b: T, c: u32| permute(a, b, c)));
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
