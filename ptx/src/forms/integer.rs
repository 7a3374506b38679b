//! Integer arithmetic, logic and shifts (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions").

use super::row::*;
use super::{Form, Kind, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::*;

const INTS: &[Type] = &[U16, U32, U64, S16, S32, S64];
const SIGNED: &[Type] = &[S16, S32, S64];
const HALVES: &[Type] = &[U16, U32, S16, S32];
const BITS: &[Type] = &[B16, B32, B64];
/// The types of sums with carry.
const CARRIED: &[Type] = &[U32, S32, U64, S64];
const SHIFT: super::OperandSlot = read(U32);

pub(super) static FORMS: &[Form] = &[
    row(O::Add, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Add, &[one(&[Sat]), of(&[S32])], &[d(1), s(1), s(1)]),
    row(O::Add, &[of(&[U16x2, S16x2])], &[d(0), s(0), s(0)]).since(8, 0, 90),
    row(O::Add, &[one(&[Cc]), of(CARRIED)], &[d(1), s(1), s(1)]),
    row(O::Addc, &[maybe(&[Cc]), of(CARRIED)], &[d(1), s(1), s(1)]),
    row(O::Sub, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Sub, &[one(&[Sat]), of(&[S32])], &[d(1), s(1), s(1)]),
    row(O::Sub, &[one(&[Cc]), of(CARRIED)], &[d(1), s(1), s(1)]),
    row(O::Subc, &[maybe(&[Cc]), of(CARRIED)], &[d(1), s(1), s(1)]),
    row(O::Mul, &[one(&[Lo, Hi]), of(INTS)], &[d(1), s(1), s(1)]),
    row(O::Mul, &[one(&[Wide]), of(HALVES)], &[operand(Kind::Def(Ty::Double(1))), s(1), s(1)]),
    row(O::Mad, &[one(&[Lo, Hi]), of(INTS)], &[d(1), s(1), s(1), s(1)]),
    row(
        O::Mad,
        &[one(&[Wide]), of(HALVES)],
        &[operand(Kind::Def(Ty::Double(1))), s(1), s(1), operand(Kind::Use(Ty::Double(1)))],
    ),
    row(O::Mad, &[one(&[Hi]), one(&[Sat]), of(&[S32])], &[d(2), s(2), s(2), s(2)]),
    row(O::Mad, &[one(&[Lo, Hi]), one(&[Cc]), of(CARRIED)], &[d(2), s(2), s(2), s(2)]),
    row(O::Madc, &[one(&[Lo, Hi]), maybe(&[Cc]), of(CARRIED)], &[d(2), s(2), s(2), s(2)]),
    row(O::Mul24, &[one(&[Lo, Hi]), of(&[U32, S32])], &[d(1), s(1), s(1)]),
    row(O::Mad24, &[one(&[Lo, Hi]), of(&[U32, S32])], &[d(1), s(1), s(1), s(1)]),
    row(O::Sad, &[of(INTS)], &[d(0), s(0), s(0), s(0)]),
    row(O::Div, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Rem, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Abs, &[of(SIGNED)], &[d(0), s(0)]),
    row(O::Neg, &[of(SIGNED)], &[d(0), s(0)]),
    row(O::Min, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Max, &[of(INTS)], &[d(0), s(0), s(0)]),
    row(O::Min, &[of(&[U16x2, S16x2])], &[d(0), s(0), s(0)]).since(8, 0, 90),
    row(O::Max, &[of(&[U16x2, S16x2])], &[d(0), s(0), s(0)]).since(8, 0, 90),
    row(O::Min, &[one(&[Relu]), of(&[S32, S16x2])], &[d(1), s(1), s(1)]).since(8, 0, 90),
    row(O::Max, &[one(&[Relu]), of(&[S32, S16x2])], &[d(1), s(1), s(1)]).since(8, 0, 90),
    row(O::Popc, &[of(&[B32, B64])], &[def(U32), s(0)]),
    row(O::Clz, &[of(&[B32, B64])], &[def(U32), s(0)]),
    row(O::Bfind, &[maybe(&[Shiftamt]), of(&[U32, U64, S32, S64])], &[def(U32), s(1)]),
    row(O::Brev, &[of(&[B32, B64])], &[d(0), s(0)]),
    row(O::Bfe, &[of(&[U32, U64, S32, S64])], &[d(0), s(0), SHIFT, SHIFT]),
    row(O::Bfi, &[of(&[B32, B64])], &[d(0), s(0), s(0), SHIFT, SHIFT]),
    row(O::Prmt, &[of(&[B32]), maybe(&[F4e, B4e, Rc8, Ecl, Ecr, Rc16])], &[d(0), s(0), s(0), s(0)]),
    row(O::Dp4a, &[of(&[U32, S32]), of(&[U32, S32])], &[def(B32), read(B32), read(B32), read(B32)]),
    row(
        O::Dp2a,
        &[one(&[Lo, Hi]), of(&[U32, S32]), of(&[U32, S32])],
        &[def(B32), read(B32), read(B32), read(B32)],
    ),
    row(O::Fns, &[of(&[B32])], &[d(0), s(0), read(B32), read(S32)]),
    row(O::Szext, &[one(&[Clamp, Wrap]), of(&[U32, S32])], &[d(1), s(1), read(U32)]).since(7, 6, 70),
    row(O::Bmsk, &[one(&[Clamp, Wrap]), of(&[B32])], &[d(1), read(U32), read(U32)]).since(7, 6, 70),
    // logic and shifts
    row(O::And, &[of(BITS)], &[d(0), s(0), s(0)]),
    row(O::Or, &[of(BITS)], &[d(0), s(0), s(0)]),
    row(O::Xor, &[of(BITS)], &[d(0), s(0), s(0)]),
    row(O::Not, &[of(BITS)], &[d(0), s(0)]),
    row(O::Cnot, &[of(BITS)], &[d(0), s(0)]),
    row(O::And, &[of(&[Pred])], &[d(0), PRED, PRED]),
    row(O::Or, &[of(&[Pred])], &[d(0), PRED, PRED]),
    row(O::Xor, &[of(&[Pred])], &[d(0), PRED, PRED]),
    row(O::Not, &[of(&[Pred])], &[d(0), PRED]),
    row(O::Shl, &[of(BITS)], &[d(0), s(0), SHIFT]),
    row(O::Shr, &[of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64])], &[d(0), s(0), SHIFT]),
    row(O::Shf, &[one(&[Left, Right]), one(&[Clamp, Wrap]), of(&[B32])], &[d(2), s(2), s(2), SHIFT]),
    row(O::Lop3, &[of(&[B32])], &[d(0), s(0), s(0), s(0), CONSTANT]),
    row(
        O::Lop3,
        &[one(&[And, Or]), of(&[B32])],
        &[operand(Kind::DefWithPred { ty: Ty::Slot(1), both: true }), s(1), s(1), s(1), CONSTANT, PRED],
    )
    .since(8, 2, 70),
];
