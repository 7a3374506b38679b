//! Comparison and selection (PTX ISA, "Comparison and Selection Instructions", "Half Precision Comparison Instructions").

use super::row::*;
use super::{Form, Slot};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const BITS: &[Type] = &[B16, B32, B64];
const SIGNED: &[Type] = &[S16, S32, S64];
const UNSIGNED: &[Type] = &[U16, U32, U64];
const EQUAL: &[Word] = &[Eq, Ne];
const ORDER: &[Word] = &[Eq, Ne, Lt, Le, Gt, Ge];
const UNSIGNED_ORDER: &[Word] = &[Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs];
const FLOAT_ORDER: &[Word] = &[Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, IsNan];
const LOGIC: &[Word] = &[And, Or, Xor];
const FTZ: Slot = maybe(&[Ftz]);
/// The destination types of `set`.
const SETS: &[Type] = &[U32, S32, F32, F16];
/// The operand types of `slct` and `selp`.
const CHOSEN: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];

/// `setp`, and `setp` whose result is joined with a predicate.
macro_rules! test {
    ($d:expr, $order:expr, $from:expr) => {
        [
            row(O::Setp, &[one($order), of($from)], &[$d, s(1), s(1)]),
            row(O::Setp, &[one($order), one(LOGIC), of($from)], &[$d, s(2), s(2), PRED]),
        ]
    };
    ($d:expr, $order:expr, ftz, $from:expr) => {
        [
            row(O::Setp, &[one($order), FTZ, of($from)], &[$d, s(2), s(2)]),
            row(O::Setp, &[one($order), one(LOGIC), FTZ, of($from)], &[$d, s(3), s(3), PRED]),
        ]
    };
}

/// `set`, and `set` whose comparison is joined with a predicate.
macro_rules! set {
    ($order:expr, $to:expr, $from:expr) => {
        [
            row(O::Set, &[one($order), of($to), of($from)], &[d(1), s(2), s(2)]),
            row(O::Set, &[one($order), one(LOGIC), of($to), of($from)], &[d(2), s(3), s(3), PRED]),
        ]
    };
    ($order:expr, ftz, $to:expr, $from:expr) => {
        [
            row(O::Set, &[one($order), FTZ, of($to), of($from)], &[d(2), s(3), s(3)]),
            row(O::Set, &[one($order), one(LOGIC), FTZ, of($to), of($from)], &[d(3), s(4), s(4), PRED]),
        ]
    };
}

const fn since([plain, joined]: [Form; 2], major: u8, minor: u8, sm: u32) -> [Form; 2] {
    [plain.since(major, minor, sm), joined.since(major, minor, sm)]
}

pub(super) static COMPARISONS: [[Form; 2]; 25] = [
    test!(DEF_PREDS, EQUAL, BITS),
    test!(DEF_PREDS, ORDER, SIGNED),
    test!(DEF_PREDS, UNSIGNED_ORDER, UNSIGNED),
    test!(DEF_PREDS, FLOAT_ORDER, ftz, &[F32]),
    test!(DEF_PREDS, FLOAT_ORDER, &[F64]),
    test!(def(Pred), FLOAT_ORDER, ftz, &[F16]),
    test!(DEF_PREDS, FLOAT_ORDER, ftz, &[F16x2]),
    since(test!(def(Pred), FLOAT_ORDER, &[Bf16]), 7, 8, 90),
    since(test!(DEF_PREDS, FLOAT_ORDER, &[Bf16x2]), 7, 8, 90),
    set!(EQUAL, SETS, BITS),
    set!(ORDER, SETS, SIGNED),
    set!(UNSIGNED_ORDER, SETS, UNSIGNED),
    set!(FLOAT_ORDER, ftz, SETS, &[F32]),
    set!(FLOAT_ORDER, SETS, &[F64]),
    set!(FLOAT_ORDER, ftz, &[F16], &[F16]),
    set!(FLOAT_ORDER, ftz, &[F16x2], &[F16x2]),
    since(set!(FLOAT_ORDER, ftz, &[U16, S16, U32, S32], &[F16]), 6, 5, 70),
    since(set!(FLOAT_ORDER, ftz, &[U32, S32], &[F16x2]), 6, 5, 70),
    since(set!(EQUAL, &[Bf16], BITS), 7, 8, 90),
    since(set!(ORDER, &[Bf16], SIGNED), 7, 8, 90),
    since(set!(UNSIGNED_ORDER, &[Bf16], UNSIGNED), 7, 8, 90),
    since(set!(FLOAT_ORDER, &[Bf16], &[F16, F32, F64]), 7, 8, 90),
    since(set!(FLOAT_ORDER, &[Bf16, U16, S16, U32, S32], &[Bf16]), 7, 8, 90),
    since(set!(FLOAT_ORDER, &[Bf16x2], &[Bf16x2]), 7, 8, 90),
    since(set!(FLOAT_ORDER, &[U32, S32], &[Bf16x2]), 7, 8, 90),
];

pub(super) static FORMS: &[Form] = &[
    row(O::Slct, &[of(CHOSEN), of(&[S32])], &[d(0), s(0), s(0), s(1)]),
    row(O::Slct, &[maybe(&[Ftz]), of(CHOSEN), of(&[F32])], &[d(1), s(1), s(1), s(2)]),
    row(O::Selp, &[of(CHOSEN)], &[d(0), s(0), s(0), PRED]),
];
