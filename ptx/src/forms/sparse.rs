//! Products of a sparse A (PTX ISA, "mma.sp", "wgmma.mma_async.sp"): half of A's elements are stored, and metadata
//! tells which.

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const SPARSE: Slot = one(&[Sp, SpOrdered]);
const FP8: &[Type] = &[E4m3, E5m2];
const INT8: &[Type] = &[U8, S8];
const INT4: &[Type] = &[U4, S4];
const METADATA: OperandSlot = read(B32);
/// The sparsity selector: which threads of each four supply the metadata. It names one thread, a pair, or all.
const ONE: OperandSlot = operand(Kind::Constant(&[0, 1, 2, 3]));
const PAIR: OperandSlot = operand(Kind::Constant(&[0, 1]));
const ALL: OperandSlot = operand(Kind::Constant(&[0]));

/// `mma.sp.sync.aligned.SHAPE.row.col.D.A.B.C` with the number and type of D's registers, `$n` registers each of A and
/// B, and the selector; C is like D.
macro_rules! sparse {
    ($shape:ident, $d:ident, $a:expr, $b:expr, [$($extra:expr),*], $nd:literal $td:ident, $n:literal, $selector:ident) => {
        row(
            O::Mma,
            &[
                SPARSE,
                one(&[Sync]),
                one(&[Aligned]),
                one(&[$shape]),
                one(&[Row]),
                one(&[Col]),
                $($extra,)*
                of(&[$d]),
                of($a),
                of($b),
                of(&[$d]),
            ],
            &[defs($nd, $td), reads($n, B32), reads($n, B32), reads($nd, $td), METADATA, $selector],
        )
    };
}

pub(super) static FORMS: &[Form] = &[
    sparse!(M16n8k16, F32, &[F16], &[F16], [], 4 F32, 2, ONE).since(7, 1, 80),
    sparse!(M16n8k16, F16, &[F16], &[F16], [], 2 B32, 2, ONE).since(7, 1, 80),
    sparse!(M16n8k32, F32, &[F16], &[F16], [], 4 F32, 4, PAIR).since(7, 1, 80),
    sparse!(M16n8k32, F16, &[F16], &[F16], [], 2 B32, 4, PAIR).since(7, 1, 80),
    sparse!(M16n8k16, F32, &[Bf16], &[Bf16], [], 4 F32, 2, ONE).since(7, 1, 80),
    sparse!(M16n8k32, F32, &[Bf16], &[Bf16], [], 4 F32, 4, PAIR).since(7, 1, 80),
    sparse!(M16n8k8, F32, &[Tf32], &[Tf32], [], 4 F32, 2, ONE).since(7, 1, 80),
    sparse!(M16n8k16, F32, &[Tf32], &[Tf32], [], 4 F32, 4, PAIR).since(7, 1, 80),
    sparse!(M16n8k64, F32, FP8, FP8, [], 4 F32, 4, ALL).since(8, 4, 89),
    sparse!(M16n8k32, S32, INT8, INT8, [maybe(&[Satfinite])], 4 S32, 2, PAIR).since(7, 1, 80),
    sparse!(M16n8k64, S32, INT8, INT8, [maybe(&[Satfinite])], 4 S32, 4, ALL).since(7, 1, 80),
    sparse!(M16n8k64, S32, INT4, INT4, [maybe(&[Satfinite])], 4 S32, 2, PAIR).since(7, 1, 80),
    sparse!(M16n8k128, S32, INT4, INT4, [maybe(&[Satfinite])], 4 S32, 4, ALL).since(7, 1, 80),
];

/// The accumulators of a `wgmma`: its shape is in slot 4, their type in slot `ty`.
const fn accumulators(ty: usize) -> OperandSlot {
    operand(Kind::DefVec(Count::Accumulators { shape: 4, ty }, Ty::Packed(ty)))
}
const DESCRIPTOR: OperandSlot = operand(Kind::UseReg(Ty::Is(B64)));
const FRAGMENT: OperandSlot = reads(4, B32);
const SIGN: OperandSlot = operand(Kind::Constant(&[-1, 1]));
const TRANSPOSE: OperandSlot = operand(Kind::Constant(&[0, 1]));

/// `wgmma.mma_async.sp.sync.aligned.SHAPE.D.A.B`, A from shared memory and from registers.
macro_rules! wgmma {
    ($shapes:expr, [$($extra:expr),*], $d_slot:literal, $d:expr, $a:expr, $b:expr, $selector:ident,
     [$($tail:expr),*], [$($reg_tail:expr),*]) => {
        [
            wgmma!(DESCRIPTOR, $shapes, [$($extra),*], $d_slot, $d, $a, $b, $selector, [$($tail),*]),
            wgmma!(FRAGMENT, $shapes, [$($extra),*], $d_slot, $d, $a, $b, $selector, [$($reg_tail),*]),
        ]
    };
    ($left:ident, $shapes:expr, [$($extra:expr),*], $d_slot:literal, $d:expr, $a:expr, $b:expr, $selector:ident,
     [$($tail:expr),*]) => {
        row(
            O::Wgmma,
            &[
                one(&[MmaAsync]),
                one(&[Sp]),
                one(&[Sync]),
                one(&[Aligned]),
                one($shapes),
                $($extra,)*
                of($d),
                of($a),
                of($b),
            ],
            &[accumulators($d_slot), $left, DESCRIPTOR, METADATA, $selector, PRED $(, $tail)*],
        )
        .since(8, 2, 90)
        .specific()
    };
}

/// Products of a signed and an unsigned matrix, which PTX 8.4 introduced.
const fn mixed([shared, registers]: [Form; 2]) -> [Form; 2] {
    [shared.since(8, 4, 90), registers.since(8, 4, 90)]
}

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
const K64: &[Word] = &[
    M64n8k64, M64n16k64, M64n24k64, M64n32k64, M64n40k64, M64n48k64, M64n56k64, M64n64k64, M64n72k64,
    M64n80k64, M64n88k64, M64n96k64, M64n104k64, M64n112k64, M64n120k64, M64n128k64, M64n136k64, M64n144k64,
    M64n152k64, M64n160k64, M64n168k64, M64n176k64, M64n184k64, M64n192k64, M64n200k64, M64n208k64,
    M64n216k64, M64n224k64, M64n232k64, M64n240k64, M64n248k64, M64n256k64,
];
const K64_INT: &[Word] = &[
    M64n8k64, M64n16k64, M64n24k64, M64n32k64, M64n48k64, M64n64k64, M64n80k64, M64n96k64, M64n112k64,
    M64n128k64, M64n144k64, M64n160k64, M64n176k64, M64n192k64, M64n208k64, M64n224k64, M64n240k64,
    M64n256k64,
];

pub(super) static WGMMA: [[Form; 2]; 8] = [
    wgmma!(
        K32,
        [],
        5,
        &[F32, F16],
        &[F16],
        &[F16],
        PAIR,
        [SIGN, SIGN, TRANSPOSE, TRANSPOSE],
        [SIGN, SIGN, TRANSPOSE]
    ),
    wgmma!(
        K32,
        [],
        5,
        &[F32],
        &[Bf16],
        &[Bf16],
        PAIR,
        [SIGN, SIGN, TRANSPOSE, TRANSPOSE],
        [SIGN, SIGN, TRANSPOSE]
    ),
    wgmma!(K16, [], 5, &[F32], &[Tf32], &[Tf32], PAIR, [SIGN, SIGN], [SIGN, SIGN]),
    wgmma!(K64, [], 5, &[F32, F16], FP8, FP8, ALL, [SIGN, SIGN], [SIGN, SIGN]),
    wgmma!(K64_INT, [maybe(&[Satfinite])], 6, &[S32], &[S8], &[S8], ALL, [], []),
    wgmma!(K64_INT, [maybe(&[Satfinite])], 6, &[S32], &[U8], &[U8], ALL, [], []),
    mixed(wgmma!(K64_INT, [maybe(&[Satfinite])], 6, &[S32], &[S8], &[U8], ALL, [], [])),
    mixed(wgmma!(K64_INT, [maybe(&[Satfinite])], 6, &[S32], &[U8], &[S8], ALL, [], [])),
];
