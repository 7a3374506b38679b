//! Matrix fragments whose layout the ISA leaves open (PTX ISA, "Warp Level Matrix Instructions using wmma"):
//! `wmma.load`, `wmma.mma`, `wmma.store`.

use super::row::*;
use super::{Form, Kind, OperandSlot, Slot, Space};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const SYNC: Slot = one(&[Sync]);
const ALIGNED: Slot = one(&[Aligned]);
const LAYOUT: &[Word] = &[Row, Col];
const SPACE: Slot = maybe(&[Global, Shared, SharedCta]);
const PLACE: OperandSlot = operand(Kind::Address(Space::Slot(6)));
/// Elements from one row, or column, to the next.
const STRIDE: OperandSlot = read(U32).optional();
const SQUARE: &[Word] = &[M16n16k16];
const FLAT: &[Word] = &[M8n32k16];
const TALL: &[Word] = &[M32n8k16];
const ANY: &[Word] = &[M16n16k16, M8n32k16, M32n8k16];
const BYTES: &[Type] = &[U8, S8];
const NIBBLES: &[Type] = &[U4, S4];

/// `wmma.load.a.sync.aligned.layout.shape.space.type` into `$n` registers.
macro_rules! load {
    ($matrix:ident, $layouts:expr, $shapes:expr, $types:expr, $n:literal $t:ident) => {
        row(
            O::Wmma,
            &[one(&[Load]), one(&[$matrix]), SYNC, ALIGNED, one($layouts), one($shapes), SPACE, of($types)],
            &[defs($n, $t), operand(Kind::Address(Space::Slot(6))), STRIDE],
        )
    };
}

macro_rules! store {
    ($shapes:expr, $types:expr, $n:literal $t:ident) => {
        row(
            O::Wmma,
            &[one(&[Store]), one(&[D]), SYNC, ALIGNED, one(LAYOUT), one($shapes), SPACE, of($types)],
            &[PLACE, reads($n, $t), STRIDE],
        )
    };
}

/// `wmma.mma.sync.aligned.a-layout.b-layout.shape` with the modifiers `$tail` after the shape.
macro_rules! mma {
    ([$($first:expr),*], $la:expr, $lb:expr, $shapes:expr, [$($tail:expr),*],
     $nd:literal $td:ident, $na:literal, $nb:literal $tab:ident, $nc:literal $tc:ident) => {
        row(
            O::Wmma,
            &[one(&[Mma]), $($first,)* SYNC, ALIGNED, one($la), one($lb), one($shapes) $(, $tail)*],
            &[defs($nd, $td), reads($na, $tab), reads($nb, $tab), reads($nc, $tc)],
        )
    };
}

const SATFINITE: Slot = maybe(&[Satfinite]);

pub(super) static FORMS: &[Form] = &[
    // f16
    load!(A, LAYOUT, ANY, &[F16], 8 B32),
    load!(B, LAYOUT, ANY, &[F16], 8 B32),
    load!(C, LAYOUT, ANY, &[F16], 4 B32),
    load!(C, LAYOUT, ANY, &[F32], 8 F32),
    store!(ANY, &[F16], 4 B32),
    store!(ANY, &[F32], 8 F32),
    mma!([], LAYOUT, LAYOUT, ANY, [of(&[F16]), of(&[F16])], 4 B32, 8, 8 B32, 4 B32),
    mma!([], LAYOUT, LAYOUT, ANY, [of(&[F16]), of(&[F32])], 4 B32, 8, 8 B32, 8 F32),
    mma!([], LAYOUT, LAYOUT, ANY, [of(&[F32]), of(&[F16])], 8 F32, 8, 8 B32, 4 B32),
    mma!([], LAYOUT, LAYOUT, ANY, [of(&[F32]), of(&[F32])], 8 F32, 8, 8 B32, 8 F32),
    // bf16
    load!(A, LAYOUT, SQUARE, &[Bf16], 4 B32).since(7, 0, 80),
    load!(A, LAYOUT, FLAT, &[Bf16], 2 B32).since(7, 0, 80),
    load!(A, LAYOUT, TALL, &[Bf16], 8 B32).since(7, 0, 80),
    load!(B, LAYOUT, SQUARE, &[Bf16], 4 B32).since(7, 0, 80),
    load!(B, LAYOUT, FLAT, &[Bf16], 8 B32).since(7, 0, 80),
    load!(B, LAYOUT, TALL, &[Bf16], 2 B32).since(7, 0, 80),
    mma!([], LAYOUT, LAYOUT, SQUARE, [of(&[F32]), of(&[Bf16]), of(&[Bf16]), of(&[F32])], 8 F32, 4, 4 B32, 8 F32)
        .since(7, 0, 80),
    mma!([], LAYOUT, LAYOUT, FLAT, [of(&[F32]), of(&[Bf16]), of(&[Bf16]), of(&[F32])], 8 F32, 2, 8 B32, 8 F32)
        .since(7, 0, 80),
    mma!([], LAYOUT, LAYOUT, TALL, [of(&[F32]), of(&[Bf16]), of(&[Bf16]), of(&[F32])], 8 F32, 8, 2 B32, 8 F32)
        .since(7, 0, 80),
    // tf32
    load!(A, LAYOUT, &[M16n16k8], &[Tf32], 4 B32).since(7, 0, 80),
    load!(B, LAYOUT, &[M16n16k8], &[Tf32], 4 B32).since(7, 0, 80),
    load!(C, LAYOUT, &[M16n16k8], &[F32], 8 F32).since(7, 0, 80),
    store!(&[M16n16k8], &[F32], 8 F32).since(7, 0, 80),
    mma!([], LAYOUT, LAYOUT, &[M16n16k8], [of(&[F32]), of(&[Tf32]), of(&[Tf32]), of(&[F32])], 8 F32, 4, 4 B32, 8 F32)
        .since(7, 0, 80),
    // f64
    load!(A, LAYOUT, &[M8n8k4], &[F64], 1 F64).since(7, 0, 80),
    load!(B, LAYOUT, &[M8n8k4], &[F64], 1 F64).since(7, 0, 80),
    load!(C, LAYOUT, &[M8n8k4], &[F64], 2 F64).since(7, 0, 80),
    store!(&[M8n8k4], &[F64], 2 F64).since(7, 0, 80),
    mma!(
        [], LAYOUT, LAYOUT, &[M8n8k4],
        [of(&[F64]), of(&[F64]), of(&[F64]), of(&[F64]), maybe(&[Rn, Rz, Rm, Rp])],
        2 F64, 1, 1 F64, 2 F64
    )
    .since(7, 0, 80),
    // bytes
    load!(A, LAYOUT, SQUARE, BYTES, 2 B32).since(6, 3, 72),
    load!(A, LAYOUT, FLAT, BYTES, 1 B32).since(6, 3, 72),
    load!(A, LAYOUT, TALL, BYTES, 4 B32).since(6, 3, 72),
    load!(B, LAYOUT, SQUARE, BYTES, 2 B32).since(6, 3, 72),
    load!(B, LAYOUT, FLAT, BYTES, 4 B32).since(6, 3, 72),
    load!(B, LAYOUT, TALL, BYTES, 1 B32).since(6, 3, 72),
    load!(C, LAYOUT, ANY, &[S32], 8 S32).since(6, 3, 72),
    store!(ANY, &[S32], 8 S32).since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, SQUARE, [of(&[S32]), of(&[U8]), of(&[U8]), of(&[S32]), SATFINITE], 8 S32, 2, 2 B32, 8 S32)
        .since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, FLAT, [of(&[S32]), of(&[U8]), of(&[U8]), of(&[S32]), SATFINITE], 8 S32, 1, 4 B32, 8 S32)
        .since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, TALL, [of(&[S32]), of(&[U8]), of(&[U8]), of(&[S32]), SATFINITE], 8 S32, 4, 1 B32, 8 S32)
        .since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, SQUARE, [of(&[S32]), of(&[S8]), of(&[S8]), of(&[S32]), SATFINITE], 8 S32, 2, 2 B32, 8 S32)
        .since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, FLAT, [of(&[S32]), of(&[S8]), of(&[S8]), of(&[S32]), SATFINITE], 8 S32, 1, 4 B32, 8 S32)
        .since(6, 3, 72),
    mma!([], LAYOUT, LAYOUT, TALL, [of(&[S32]), of(&[S8]), of(&[S8]), of(&[S32]), SATFINITE], 8 S32, 4, 1 B32, 8 S32)
        .since(6, 3, 72),
    // nibbles and bits
    load!(A, &[Row], &[M8n8k32], NIBBLES, 1 B32).since(6, 3, 75),
    load!(B, &[Col], &[M8n8k32], NIBBLES, 1 B32).since(6, 3, 75),
    load!(A, &[Row], &[M8n8k128], &[B1], 1 B32).since(6, 3, 75),
    load!(B, &[Col], &[M8n8k128], &[B1], 1 B32).since(6, 3, 75),
    load!(C, LAYOUT, &[M8n8k32, M8n8k128], &[S32], 2 S32).since(6, 3, 75),
    store!(&[M8n8k32, M8n8k128], &[S32], 2 S32).since(6, 3, 75),
    mma!(
        [], &[Row], &[Col], &[M8n8k32], [of(&[S32]), of(&[U4]), of(&[U4]), of(&[S32]), SATFINITE],
        2 S32, 1, 1 B32, 2 S32
    )
    .since(6, 3, 75),
    mma!(
        [], &[Row], &[Col], &[M8n8k32], [of(&[S32]), of(&[S4]), of(&[S4]), of(&[S32]), SATFINITE],
        2 S32, 1, 1 B32, 2 S32
    )
    .since(6, 3, 75),
    mma!(
        [one(&[Xor]), one(&[Popc])], &[Row], &[Col], &[M8n8k128], [of(&[S32]), of(&[B1]), of(&[B1]), of(&[S32])],
        2 S32, 1, 1 B32, 2 S32
    )
    .since(6, 3, 75),
    mma!(
        [one(&[And]), one(&[Popc])], &[Row], &[Col], &[M8n8k128], [of(&[S32]), of(&[B1]), of(&[B1]), of(&[S32])],
        2 S32, 1, 1 B32, 2 S32
    )
    .since(7, 1, 80),
];
