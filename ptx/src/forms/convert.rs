//! Moves and conversions (PTX ISA, "Data Movement and Conversion Instructions": `mov`, `cvt`, `cvta`, `isspacep`,
//! `mapa`).

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const INTS: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64];
const ROUND: &[Word] = &[Rn, Rz, Rm, Rp];
const TO_INT: &[Word] = &[Rni, Rzi, Rmi, Rpi];
const FTZ: super::Slot = maybe(&[Ftz]);
const SAT: super::Slot = maybe(&[Sat]);
const RELU: super::Slot = maybe(&[Relu]);
const SPACES: &[Word] = &[Const, Global, Local, Shared, SharedCta, SharedCluster];

/// `cvt`'s destination and source: a register may be wider than the type.
const fn dst(slot: usize) -> OperandSlot {
    operand(Kind::Def(Ty::Wider(slot)))
}
const fn src(slot: usize) -> OperandSlot {
    operand(Kind::Use(Ty::Wider(slot)))
}
/// A register, a constant or a special register.
const fn any(slot: usize) -> OperandSlot {
    operand(Kind::UseOrSpecial(Ty::Wider(slot)))
}
const fn pointer(slot: usize) -> OperandSlot {
    operand(Kind::Pointer(Ty::Slot(slot)))
}

pub(super) static FORMS: &[Form] = &[
    row(
        O::Mov,
        &[of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])],
        &[d(0), operand(Kind::Source(Ty::Slot(0)))],
    ),
    row(
        O::Mov,
        &[one(&[V2]), of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])],
        &[
            operand(Kind::DefVec(Count::Slot(0), Ty::Slot(1))),
            operand(Kind::UseVec(Count::Slot(0), Ty::Slot(1))),
        ],
    ),
    row(
        O::Mov,
        &[one(&[V4]), of(&[B16, B32, U16, U32, S16, S32, F32])],
        &[
            operand(Kind::DefVec(Count::Slot(0), Ty::Slot(1))),
            operand(Kind::UseVec(Count::Slot(0), Ty::Slot(1))),
        ],
    ),
    row(O::Mov, &[of(&[Pred])], &[d(0), operand(Kind::Source(Ty::Slot(0)))]),
    row(O::Mov, &[of(&[B32, B64])], &[d(0), operand(Kind::Parts { ty: 0, written: false })]),
    row(O::Mov, &[of(&[B32, B64])], &[operand(Kind::Parts { ty: 0, written: true }), s(0)]),
    row(O::Mov, &[of(&[B128])], &[d(0), s(0)]).since(8, 3, 70),
    row(O::Mov, &[of(&[B128])], &[d(0), operand(Kind::Parts { ty: 0, written: false })]).since(8, 3, 70),
    row(O::Mov, &[of(&[B128])], &[operand(Kind::Parts { ty: 0, written: true }), s(0)]).since(8, 3, 70),
    // integers; saturation only where the destination can't hold every value of the source
    row(O::Cvt, &[of(INTS), of(INTS)], &[dst(0), any(1)]),
    row(O::Cvt, &[one(&[Sat]), of(&[U8]), of(&[U16, U32, U64, S8, S16, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[S8]), of(&[U8, U16, U32, U64, S16, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[U16]), of(&[U32, U64, S8, S16, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[S16]), of(&[U16, U32, U64, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[U32]), of(&[U64, S8, S16, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[S32]), of(&[U32, U64, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[U64]), of(&[S8, S16, S32, S64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(&[Sat]), of(&[S64]), of(&[U64])], &[dst(1), src(2)]),
    row(O::Cvt, &[one(ROUND), SAT, of(&[F16, F64]), of(INTS)], &[dst(2), src(3)]),
    row(O::Cvt, &[one(ROUND), FTZ, SAT, of(&[F32]), of(INTS)], &[dst(3), src(4)]),
    row(O::Cvt, &[one(TO_INT), FTZ, SAT, of(INTS), of(&[F32])], &[dst(3), src(4)]),
    row(O::Cvt, &[one(TO_INT), SAT, of(INTS), of(&[F16, F64])], &[dst(2), src(3)]),
    row(O::Cvt, &[one(ROUND), of(&[Bf16]), of(INTS)], &[d(1), s(2)]).since(7, 8, 90),
    row(O::Cvt, &[one(TO_INT), of(INTS), of(&[Bf16])], &[d(1), s(2)]).since(7, 8, 90),
    // f16, f32, f64 among each other
    row(O::Cvt, &[one(ROUND), of(&[F16]), of(&[Bf16])], &[d(1), s(2)]).since(7, 8, 90),
    row(O::Cvt, &[one(ROUND), of(&[Bf16]), of(&[F16, F64])], &[d(1), s(2)]).since(7, 8, 90),
    row(O::Cvt, &[one(&[Rm, Rp]), of(&[Bf16]), of(&[F32])], &[d(1), s(2)]).since(7, 0, 80),
    row(O::Cvt, &[one(ROUND), one(&[Ftz]), of(&[Bf16]), of(&[F32])], &[d(2), s(3)]).since(7, 0, 80),
    row(O::Cvt, &[one(TO_INT), of(&[Bf16]), of(&[Bf16])], &[d(1), s(2)]).since(7, 8, 90),
    row(O::Cvt, &[of(&[F64]), of(&[Bf16])], &[d(0), s(1)]).since(7, 8, 90),
    row(O::Cvt, &[one(&[Ftz]), of(&[F32]), of(&[Bf16])], &[d(1), s(2)]).since(7, 8, 90),
    row(O::Cvt, &[one(ROUND), FTZ, SAT, of(&[F32]), of(&[F64])], &[dst(3), src(4)]),
    row(O::Cvt, &[one(ROUND), SAT, of(&[F16]), of(&[F64])], &[dst(2), src(3)]),
    row(O::Cvt, &[one(ROUND), FTZ, SAT, of(&[F16]), of(&[F32])], &[dst(3), src(4)]),
    row(O::Cvt, &[one(&[Rn, Rz]), one(&[Relu]), of(&[F16]), of(&[F32])], &[dst(2), src(3)]).since(7, 0, 80),
    row(O::Cvt, &[FTZ, SAT, of(&[F32]), of(&[F16])], &[dst(2), src(3)]),
    row(O::Cvt, &[FTZ, SAT, of(&[F64]), of(&[F32])], &[dst(2), src(3)]),
    row(O::Cvt, &[SAT, of(&[F64]), of(&[F16])], &[dst(1), src(2)]),
    row(O::Cvt, &[maybe(TO_INT), FTZ, SAT, of(&[F32]), of(&[F32])], &[dst(3), src(4)]),
    row(O::Cvt, &[maybe(TO_INT), SAT, of(&[F64]), of(&[F64])], &[dst(2), src(3)]),
    row(O::Cvt, &[maybe(TO_INT), SAT, of(&[F16]), of(&[F16])], &[dst(2), src(3)]),
    // bf16, tf32 and pairs: the first source goes to the upper half
    row(O::Cvt, &[one(&[Rn, Rz]), RELU, of(&[Bf16]), of(&[F32])], &[d(2), s(3)]).since(7, 0, 80),
    row(O::Cvt, &[of(&[F32]), of(&[Bf16])], &[d(0), s(1)]).since(7, 1, 80),
    row(O::Cvt, &[one(&[Rn, Rz]), RELU, of(&[F16x2, Bf16x2]), of(&[F32])], &[d(2), s(3), s(3)])
        .since(7, 0, 80),
    row(O::Cvt, &[one(&[Rn, Rz]), one(&[Satfinite]), of(&[F16]), of(&[F32])], &[d(2), s(3)]).since(8, 1, 70),
    row(O::Cvt, &[one(&[Rn, Rz]), one(&[Relu]), one(&[Satfinite]), of(&[F16]), of(&[F32])], &[d(3), s(4)])
        .since(8, 1, 80),
    row(O::Cvt, &[one(&[Rn, Rz]), RELU, one(&[Satfinite]), of(&[Bf16]), of(&[F32])], &[d(3), s(4)])
        .since(8, 1, 80),
    row(
        O::Cvt,
        &[one(&[Rn, Rz]), RELU, one(&[Satfinite]), of(&[F16x2, Bf16x2]), of(&[F32])],
        &[d(3), s(4), s(4)],
    )
    .since(8, 1, 80),
    row(O::Cvt, &[one(&[Rna]), of(&[Tf32]), of(&[F32])], &[d(1), s(2)]).since(7, 0, 80),
    row(O::Cvt, &[one(&[Rna]), one(&[Satfinite]), of(&[Tf32]), of(&[F32])], &[d(2), s(3)]).since(8, 1, 80),
    row(O::Cvt, &[one(&[Rn, Rz]), RELU, of(&[Tf32]), of(&[F32])], &[d(2), s(3)]).since(7, 8, 90),
    row(
        O::Cvt,
        &[one(&[Rn]), RELU, one(&[Satfinite]), of(&[E4m3x2, E5m2x2]), of(&[F32])],
        &[d(3), s(4), s(4)],
    )
    .since(8, 1, 89),
    row(O::Cvt, &[one(&[Rn]), RELU, one(&[Satfinite]), of(&[E4m3x2, E5m2x2]), of(&[F16x2])], &[d(3), s(4)])
        .since(8, 1, 89),
    row(O::Cvt, &[one(&[Rn]), RELU, of(&[F16x2]), of(&[E4m3x2, E5m2x2])], &[d(2), s(3)]).since(8, 1, 89),
    // two saturated integers side by side; the third source, where there is one, is shifted left to make room for them
    row(O::Cvt, &[one(&[Pack]), one(&[Sat]), of(&[U16, S16]), of(&[S32])], &[def(U32), s(3), s(3)])
        .since(6, 5, 72),
    row(
        O::Cvt,
        &[one(&[Pack]), one(&[Sat]), of(&[U8, S8, U4, S4, U2, S2]), of(&[S32]), of(&[B32])],
        &[def(U32), s(3), s(3), s(4)],
    )
    .since(6, 5, 75),
    // addresses
    row(O::Cvta, &[one(SPACES), of(&[U64])], &[d(1), pointer(1)]),
    row(O::Cvta, &[one(&[To]), one(SPACES), of(&[U64])], &[d(2), operand(Kind::UseReg(Ty::Slot(2)))]),
    row(O::Cvta, &[one(&[Param, ParamEntry]), of(&[U64])], &[d(1), pointer(1)]).since(7, 7, 70),
    row(
        O::Cvta,
        &[one(&[To]), one(&[Param, ParamEntry]), of(&[U64])],
        &[d(2), operand(Kind::UseReg(Ty::Slot(2)))],
    )
    .since(7, 7, 70),
    row(O::Isspacep, &[one(SPACES)], &[def(Pred), operand(Kind::UseReg(Ty::Is(U64)))]),
    row(O::Isspacep, &[one(&[Param, ParamEntry])], &[def(Pred), operand(Kind::UseReg(Ty::Is(U64)))])
        .since(7, 7, 70),
    row(O::Mapa, &[one(&[SharedCluster]), of(&[U32, U64])], &[d(1), pointer(1), read(U32)]).since(7, 8, 90),
    row(O::Mapa, &[of(&[U64])], &[d(0), pointer(0), read(U32)]).since(7, 8, 90),
    row(O::Getctarank, &[one(&[SharedCluster]), of(&[U32, U64])], &[def(U32), pointer(1)]).since(7, 8, 90),
    row(O::Getctarank, &[of(&[U64])], &[def(U32), pointer(0)]).since(7, 8, 90),
];
