//! Matrix fragments and products (PTX ISA, "Warp Level Matrix Instructions", "Asynchronous Warpgroup Level Matrix
//! Instructions"): `ldmatrix`, `stmatrix`, `movmatrix`, `mma.sync`, `wgmma`.

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Space, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const SYNC: Slot = one(&[Sync]);
const ALIGNED: Slot = one(&[Aligned]);
const SHARED: Slot = maybe(&[Shared, SharedCta]);
const FP8: &[Type] = &[E4m3, E5m2];
const INT8: &[Type] = &[U8, S8];
const INT4: &[Type] = &[U4, S4];

/// `mma.sync.aligned.SHAPE.row.col.D.A.B.C` with the number and type of the registers of D, A and B; C is like D.
macro_rules! mma {
    ($shapes:expr, $d:expr, $a:expr, $b:expr, [$($extra:expr),*], $nd:literal $td:ident, $na:literal, $nb:literal $tab:ident) => {
        row(
            O::Mma,
            &[SYNC, ALIGNED, one($shapes), one(&[Row]), one(&[Col]), $($extra,)* of($d), of($a), of($b), of($d)],
            &[defs($nd, $td), reads($na, $tab), reads($nb, $tab), reads($nd, $td)],
        )
    };
}

/// `mma.sync.aligned.m8n8k4` of f16 in every layout, with the number and type of the registers of D and C.
macro_rules! quad {
    ($d:ident, $nd:literal $td:ident, $c:ident, $nc:literal $tc:ident) => {
        row(
            O::Mma,
            &[
                SYNC,
                ALIGNED,
                one(&[M8n8k4]),
                one(&[Row, Col]),
                one(&[Row, Col]),
                of(&[$d]),
                of(&[F16]),
                of(&[F16]),
                of(&[$c]),
            ],
            &[defs($nd, $td), reads(2, B32), reads(2, B32), reads($nc, $tc)],
        )
        .since(6, 4, 70)
    };
}

/// `mma.sync.aligned.SHAPE.row.col.s32.b1.b1.s32.OP.popc`.
macro_rules! bits {
    ($shapes:expr, $nd:literal, $na:literal, $nb:literal, $op:ident) => {
        row(
            O::Mma,
            &[
                SYNC,
                ALIGNED,
                one($shapes),
                one(&[Row]),
                one(&[Col]),
                of(&[S32]),
                of(&[B1]),
                of(&[B1]),
                of(&[S32]),
                one(&[$op]),
                one(&[Word::Popc]),
            ],
            &[defs($nd, S32), reads($na, B32), reads($nb, B32), reads($nd, S32)],
        )
    };
}

/// The accumulators of a `wgmma`: its shape is in slot 3, their type in slot `ty`.
const fn accumulators(ty: usize) -> OperandSlot {
    operand(Kind::DefVec(Count::Accumulators { shape: 3, ty }, Ty::Packed(ty)))
}
const DESCRIPTOR: OperandSlot = operand(Kind::UseReg(Ty::Is(B64)));
const FRAGMENT: OperandSlot = reads(4, B32);
const SCALE_D: OperandSlot = PRED;
const SIGN: OperandSlot = operand(Kind::Constant(&[-1, 1]));
const TRANSPOSE: OperandSlot = operand(Kind::Constant(&[0, 1]));

/// `wgmma.mma_async.sync.aligned.SHAPE.D.A.B`, A from shared memory and from registers.
macro_rules! wgmma {
    ($shapes:expr, [$($extra:expr),*], $d_slot:literal, $d:expr, $a:expr, $b:expr, [$($tail:expr),*], [$($reg_tail:expr),*]) => {
        wgmma!((8, 0), $shapes, [$($extra),*], $d_slot, $d, $a, $b, [], [$($tail),*], [$($reg_tail),*])
    };
    (($major:literal, $minor:literal), $shapes:expr, [$($extra:expr),*], $d_slot:literal, $d:expr, $a:expr, $b:expr,
     [$($after:expr),*], [$($tail:expr),*], [$($reg_tail:expr),*]) => {
        [
            row(
                O::Wgmma,
                &[one(&[MmaAsync]), SYNC, one(&[Aligned]), one($shapes), $($extra,)* of($d), of($a), of($b) $(, $after)*],
                &[accumulators($d_slot), DESCRIPTOR, DESCRIPTOR, SCALE_D $(, $tail)*],
            )
            .since($major, $minor, 90)
            .specific(),
            row(
                O::Wgmma,
                &[one(&[MmaAsync]), SYNC, one(&[Aligned]), one($shapes), $($extra,)* of($d), of($a), of($b) $(, $after)*],
                &[accumulators($d_slot), FRAGMENT, DESCRIPTOR, SCALE_D $(, $reg_tail)*],
            )
            .since($major, $minor, 90)
            .specific(),
        ]
    };
}

const K8: &[Word] = &[
    M64n8k8, M64n16k8, M64n24k8, M64n32k8, M64n40k8, M64n48k8, M64n56k8, M64n64k8, M64n72k8, M64n80k8,
    M64n88k8, M64n96k8, M64n104k8, M64n112k8, M64n120k8, M64n128k8, M64n136k8, M64n144k8, M64n152k8,
    M64n160k8, M64n168k8, M64n176k8, M64n184k8, M64n192k8, M64n200k8, M64n208k8, M64n216k8, M64n224k8,
    M64n232k8, M64n240k8, M64n248k8, M64n256k8,
];
const K16: &[Word] = &[
    M64n8k16, M64n16k16, M64n24k16, M64n32k16, M64n40k16, M64n48k16, M64n56k16, M64n64k16, M64n72k16,
    M64n80k16, M64n88k16, M64n96k16, M64n104k16, M64n112k16, M64n120k16, M64n128k16, M64n136k16, M64n144k16,
    M64n152k16, M64n160k16, M64n168k16, M64n176k16, M64n184k16, M64n192k16, M64n200k16, M64n208k16,
    M64n216k16, M64n224k16, M64n232k16, M64n240k16, M64n248k16, M64n256k16,
];
const K32: &[Word] = &[
    M64n8k32, M64n16k32, M64n24k32, M64n32k32, M64n40k32, M64n48k32, M64n56k32, M64n64k32, M64n72k32,
    M64n80k32, M64n88k32, M64n96k32, M64n104k32, M64n112k32, M64n120k32, M64n128k32, M64n136k32, M64n144k32,
    M64n152k32, M64n160k32, M64n168k32, M64n176k32, M64n184k32, M64n192k32, M64n200k32, M64n208k32,
    M64n216k32, M64n224k32, M64n232k32, M64n240k32, M64n248k32, M64n256k32,
];
const K32_INT: &[Word] = &[
    M64n8k32, M64n16k32, M64n24k32, M64n32k32, M64n48k32, M64n64k32, M64n80k32, M64n96k32, M64n112k32,
    M64n128k32, M64n144k32, M64n160k32, M64n176k32, M64n192k32, M64n208k32, M64n224k32, M64n240k32,
    M64n256k32,
];
const K256: &[Word] = &[
    M64n8k256,
    M64n16k256,
    M64n24k256,
    M64n32k256,
    M64n48k256,
    M64n64k256,
    M64n80k256,
    M64n96k256,
    M64n112k256,
    M64n128k256,
    M64n144k256,
    M64n160k256,
    M64n176k256,
    M64n192k256,
    M64n208k256,
    M64n224k256,
    M64n240k256,
    M64n256k256,
];

pub(super) static WGMMA: [[Form; 2]; 9] = [
    wgmma!(
        K16,
        [],
        4,
        &[F32, F16],
        &[F16],
        &[F16],
        [SIGN, SIGN, TRANSPOSE, TRANSPOSE],
        [SIGN, SIGN, TRANSPOSE]
    ),
    wgmma!(K16, [], 4, &[F32], &[Bf16], &[Bf16], [SIGN, SIGN, TRANSPOSE, TRANSPOSE], [SIGN, SIGN, TRANSPOSE]),
    wgmma!(K8, [], 4, &[F32], &[Tf32], &[Tf32], [SIGN, SIGN], [SIGN, SIGN]),
    wgmma!(K32, [], 4, &[F32, F16], FP8, FP8, [SIGN, SIGN], [SIGN, SIGN]),
    wgmma!(K32_INT, [maybe(&[Satfinite])], 5, &[S32], &[S8], &[S8], [], []),
    wgmma!(K32_INT, [maybe(&[Satfinite])], 5, &[S32], &[U8], &[U8], [], []),
    wgmma!((8, 4), K32_INT, [maybe(&[Satfinite])], 5, &[S32], &[S8], &[U8], [], [], []),
    wgmma!((8, 4), K32_INT, [maybe(&[Satfinite])], 5, &[S32], &[U8], &[S8], [], [], []),
    wgmma!((8, 0), K256, [], 4, &[S32], &[B1], &[B1], [one(&[And]), one(&[Word::Popc])], [], []),
];

pub(super) static FORMS: &[Form] = &[
    row(
        O::Ldmatrix,
        &[SYNC, ALIGNED, one(&[M8n8]), one(&[X1, X2, X4]), maybe(&[Trans]), SHARED, of(&[B16])],
        &[operand(Kind::DefVec(Count::Slot(3), Ty::Is(B32))), operand(Kind::Address(Space::Slot(5)))],
    )
    .since(6, 5, 75),
    row(
        O::Stmatrix,
        &[SYNC, ALIGNED, one(&[M8n8]), one(&[X1, X2, X4]), maybe(&[Trans]), SHARED, of(&[B16])],
        &[operand(Kind::Address(Space::Slot(5))), operand(Kind::UseVec(Count::Slot(3), Ty::Is(B32)))],
    )
    .since(7, 8, 90),
    row(O::Movmatrix, &[SYNC, ALIGNED, one(&[M8n8]), one(&[Trans]), of(&[B16])], &[def(B32), read(B32)])
        .since(7, 8, 75),
    // f16, bf16, tf32
    mma!(&[M16n8k8], &[F32], &[F16], &[F16], [], 4 F32, 2, 1 B32).since(6, 5, 75),
    mma!(&[M16n8k8], &[F16], &[F16], &[F16], [], 2 B32, 2, 1 B32).since(6, 5, 75),
    mma!(&[M16n8k16], &[F32], &[F16], &[F16], [], 4 F32, 4, 2 B32).since(7, 0, 80),
    mma!(&[M16n8k16], &[F16], &[F16], &[F16], [], 2 B32, 4, 2 B32).since(7, 0, 80),
    mma!(&[M16n8k8], &[F32], &[Bf16], &[Bf16], [], 4 F32, 2, 1 B32).since(7, 0, 80),
    mma!(&[M16n8k16], &[F32], &[Bf16], &[Bf16], [], 4 F32, 4, 2 B32).since(7, 0, 80),
    mma!(&[M16n8k4], &[F32], &[Tf32], &[Tf32], [], 4 F32, 2, 1 B32).since(7, 0, 80),
    mma!(&[M16n8k8], &[F32], &[Tf32], &[Tf32], [], 4 F32, 4, 2 B32).since(7, 0, 80),
    mma!(&[M16n8k32], &[F32], FP8, FP8, [], 4 F32, 4, 2 B32).since(8, 4, 89),
    mma!(&[M16n8k32], &[F16], FP8, FP8, [], 2 B32, 4, 2 B32).since(8, 7, 89),
    quad!(F32, 8 F32, F32, 8 F32),
    quad!(F32, 8 F32, F16, 4 B32),
    quad!(F16, 4 B32, F16, 4 B32),
    // f64
    mma!(&[M8n8k4], &[F64], &[F64], &[F64], [maybe(&[Rn])], 2 F64, 1, 1 F64).since(7, 0, 80),
    mma!(&[M16n8k4], &[F64], &[F64], &[F64], [maybe(&[Rn])], 4 F64, 2, 1 F64).since(7, 8, 90),
    mma!(&[M16n8k8], &[F64], &[F64], &[F64], [maybe(&[Rn])], 4 F64, 4, 2 F64).since(7, 8, 90),
    mma!(&[M16n8k16], &[F64], &[F64], &[F64], [maybe(&[Rn])], 4 F64, 8, 4 F64).since(7, 8, 90),
    // integers
    mma!(&[M8n8k16], &[S32], INT8, INT8, [maybe(&[Satfinite])], 2 S32, 1, 1 B32).since(6, 5, 75),
    mma!(&[M16n8k16], &[S32], INT8, INT8, [maybe(&[Satfinite])], 4 S32, 2, 1 B32).since(7, 0, 80),
    mma!(&[M16n8k32], &[S32], INT8, INT8, [maybe(&[Satfinite])], 4 S32, 4, 2 B32).since(7, 0, 80),
    mma!(&[M8n8k32], &[S32], INT4, INT4, [maybe(&[Satfinite])], 2 S32, 1, 1 B32).since(6, 5, 75),
    mma!(&[M16n8k32], &[S32], INT4, INT4, [maybe(&[Satfinite])], 4 S32, 2, 1 B32).since(7, 0, 80),
    mma!(&[M16n8k64], &[S32], INT4, INT4, [maybe(&[Satfinite])], 4 S32, 4, 2 B32).since(7, 0, 80),
    // bits
    bits!(&[M8n8k128], 2, 1, 1, Xor).since(7, 0, 75),
    bits!(&[M16n8k128], 4, 2, 1, Xor).since(7, 0, 80),
    bits!(&[M16n8k256], 4, 4, 2, Xor).since(7, 0, 80),
    bits!(&[M8n8k128], 2, 1, 1, And).since(7, 1, 80),
    bits!(&[M16n8k128], 4, 2, 1, And).since(7, 1, 80),
    bits!(&[M16n8k256], 4, 4, 2, And).since(7, 1, 80),
    // warpgroups
    row(O::Wgmma, &[one(&[Word::Fence]), SYNC, ALIGNED], &[]).since(8, 0, 90).specific(),
    row(O::Wgmma, &[one(&[CommitGroup]), SYNC, ALIGNED], &[]).since(8, 0, 90).specific(),
    row(O::Wgmma, &[one(&[WaitGroup]), SYNC, ALIGNED], &[CONSTANT]).since(8, 0, 90).specific(),
];
