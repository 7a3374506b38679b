//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").

use super::Form;
use super::row::*;
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::{self, *};

const ROUND: &[Word] = &[Rn, Rz, Rm, Rp];
const FTZ: super::Slot = maybe(&[Ftz]);
const SAT: super::Slot = maybe(&[Sat]);
const NAN: super::Slot = maybe(&[Nan]);

/// `$op.f32`, `.f64`, `.f16`, `.bf16` of two sources with the modifiers of addition.
macro_rules! sum {
    ($op:expr) => {
        [
            row($op, &[maybe(ROUND), FTZ, SAT, of(&[F32])], &[d(3), s(3), s(3)]),
            row($op, &[maybe(ROUND), of(&[F64])], &[d(1), s(1), s(1)]),
            row($op, &[maybe(&[Rn]), FTZ, SAT, of(&[F16, F16x2])], &[d(3), s(3), s(3)]),
            row($op, &[maybe(&[Rn]), of(&[Bf16, Bf16x2])], &[d(1), s(1), s(1)]).since(7, 8, 90),
        ]
    };
}

/// `min` and `max`.
macro_rules! extremum {
    ($op:expr) => {
        [
            row($op, &[FTZ, of(&[F32])], &[d(1), s(1), s(1)]),
            row($op, &[FTZ, one(&[Nan]), of(&[F32])], &[d(2), s(2), s(2)]).since(7, 0, 80),
            row($op, &[FTZ, NAN, one(&[Xorsign]), one(&[Abs]), of(&[F32])], &[d(4), s(4), s(4)])
                .since(7, 2, 86),
            row($op, &[of(&[F64])], &[d(0), s(0), s(0)]),
            row($op, &[FTZ, NAN, of(&[F16, F16x2])], &[d(2), s(2), s(2)]).since(7, 0, 80),
            row($op, &[NAN, of(&[Bf16, Bf16x2])], &[d(1), s(1), s(1)]).since(7, 0, 80),
            row($op, &[FTZ, NAN, one(&[Xorsign]), one(&[Abs]), of(&[F16, F16x2])], &[d(4), s(4), s(4)])
                .since(7, 2, 86),
            row($op, &[NAN, one(&[Xorsign]), one(&[Abs]), of(&[Bf16, Bf16x2])], &[d(3), s(3), s(3)])
                .since(7, 2, 86),
        ]
    };
}

/// `rcp` and `sqrt`.
macro_rules! root {
    ($op:expr) => {
        [
            row($op, &[one(&[Approx, Rn, Rz, Rm, Rp]), FTZ, of(&[F32])], &[d(2), s(2)]),
            row($op, &[one(ROUND), of(&[F64])], &[d(1), s(1)]),
        ]
    };
}

pub(super) static SUMS: [[Form; 4]; 3] = [sum!(O::Add), sum!(O::Sub), sum!(O::Mul)];
pub(super) static EXTREMA: [[Form; 8]; 2] = [extremum!(O::Min), extremum!(O::Max)];
pub(super) static ROOTS: [[Form; 2]; 2] = [root!(O::Rcp), root!(O::Sqrt)];

pub(super) static FORMS: &[Form] = &[
    row(O::Fma, &[one(ROUND), FTZ, SAT, of(&[F32])], &[d(3), s(3), s(3), s(3)]),
    row(O::Fma, &[one(ROUND), of(&[F64])], &[d(1), s(1), s(1), s(1)]),
    row(O::Fma, &[one(&[Rn]), FTZ, SAT, of(&[F16, F16x2])], &[d(3), s(3), s(3), s(3)]),
    row(O::Fma, &[one(&[Rn]), FTZ, one(&[Relu]), of(&[F16, F16x2])], &[d(3), s(3), s(3), s(3)])
        .since(7, 0, 80),
    row(O::Fma, &[one(&[Rn]), maybe(&[Relu]), of(&[Bf16, Bf16x2])], &[d(2), s(2), s(2), s(2)])
        .since(7, 0, 80),
    row(
        O::Fma,
        &[one(&[Rn]), one(&[Oob]), maybe(&[Relu]), of(&[F16, F16x2, Bf16, Bf16x2])],
        &[d(3), s(3), s(3), s(3)],
    )
    .since(8, 1, 90),
    row(O::Mad, &[one(ROUND), FTZ, SAT, of(&[F32])], &[d(3), s(3), s(3), s(3)]),
    row(O::Mad, &[one(ROUND), of(&[F64])], &[d(1), s(1), s(1), s(1)]),
    row(O::Div, &[one(&[Approx, Full, Rn, Rz, Rm, Rp]), FTZ, of(&[F32])], &[d(2), s(2), s(2)]),
    row(O::Div, &[one(ROUND), of(&[F64])], &[d(1), s(1), s(1)]),
    row(O::Abs, &[FTZ, of(&[F32])], &[d(1), s(1)]),
    row(O::Abs, &[of(&[F64])], &[d(0), s(0)]),
    row(O::Abs, &[FTZ, of(&[F16, F16x2])], &[d(1), s(1)]).since(6, 5, 70),
    row(O::Abs, &[of(&[Bf16, Bf16x2])], &[d(0), s(0)]).since(7, 0, 80),
    row(O::Neg, &[FTZ, of(&[F32])], &[d(1), s(1)]),
    row(O::Neg, &[of(&[F64])], &[d(0), s(0)]),
    row(O::Neg, &[FTZ, of(&[F16, F16x2])], &[d(1), s(1)]),
    row(O::Neg, &[of(&[Bf16, Bf16x2])], &[d(0), s(0)]).since(7, 0, 80),
    row(O::Rcp, &[one(&[Approx]), one(&[Ftz]), of(&[F64])], &[d(2), s(2)]),
    row(O::Rsqrt, &[one(&[Approx]), FTZ, of(&[F32, F64])], &[d(2), s(2)]),
    row(O::Sin, &[one(&[Approx]), FTZ, of(&[F32])], &[d(2), s(2)]),
    row(O::Cos, &[one(&[Approx]), FTZ, of(&[F32])], &[d(2), s(2)]),
    row(O::Lg2, &[one(&[Approx]), FTZ, of(&[F32])], &[d(2), s(2)]),
    row(O::Ex2, &[one(&[Approx]), FTZ, of(&[F32])], &[d(2), s(2)]),
    row(O::Ex2, &[one(&[Approx]), of(&[F16, F16x2])], &[d(1), s(1)]).since(7, 0, 75),
    row(O::Ex2, &[one(&[Approx]), one(&[Ftz]), of(&[Bf16, Bf16x2])], &[d(2), s(2)]).since(7, 8, 90),
    row(O::Tanh, &[one(&[Approx]), of(&[F32, F16, F16x2])], &[d(1), s(1)]).since(7, 0, 75),
    row(O::Tanh, &[one(&[Approx]), of(&[Bf16, Bf16x2])], &[d(1), s(1)]).since(7, 8, 90),
    row(O::Copysign, &[of(&[F32, F64])], &[d(0), s(0), s(0)]),
    row(
        O::Testp,
        &[one(&[Finite, Infinite, Number, Notanumber, Normal, Subnormal]), of(&[F32, F64])],
        &[def(Pred), s(1)],
    ),
];
