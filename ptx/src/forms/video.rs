//! Arithmetic on the halves and bytes of registers, the lanes (PTX ISA, "SIMD Video Instructions"), and on whole registers
//! ("Scalar Video Instructions"). Every form works on all lanes in order: masks and selectors have no form.

use super::Form;
use super::row::*;
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{Add, Clamp, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Sat, Wrap};

const TYPES: &[Type] = &[U32, S32];

/// The result lane by lane, saturated or not, or the sum of `c` and the results of all lanes.
macro_rules! lanes {
    ($op:ident) => {
        [
            row(O::$op, &[of(TYPES), of(TYPES), of(TYPES), maybe(&[Sat])], &[d(0), s(1), s(2), s(0)]),
            row(O::$op, &[of(TYPES), of(TYPES), of(TYPES), one(&[Add])], &[d(0), s(1), s(2), s(0)]),
        ]
    };
}

/// 1 in the lanes where the comparison holds, or the sum of `c` and the number of these lanes.
macro_rules! compare {
    ($op:ident) => {
        [
            row(
                O::$op,
                &[of(TYPES), of(TYPES), one(&[Eq, Ne, Lt, Le, Gt, Ge])],
                &[def(U32), s(0), s(1), read(U32)],
            ),
            row(
                O::$op,
                &[of(TYPES), of(TYPES), one(&[Eq, Ne, Lt, Le, Gt, Ge]), one(&[Add])],
                &[def(U32), s(0), s(1), read(U32)],
            ),
        ]
    };
}

/// The result, saturated or not, or what a second operation makes of it and of `c`. `$mode` is how shifts by more than 31 are read.
macro_rules! whole {
    ($op:ident, [$($mode:expr),*], $b:expr) => {
        [
            row(O::$op, &[of(TYPES), of(TYPES), of($b), maybe(&[Sat]) $(, $mode)*], &[d(0), s(1), s(2)]),
            row(
                O::$op,
                &[of(TYPES), of(TYPES), of($b), maybe(&[Sat]) $(, $mode)*, one(&[Add, Min, Max])],
                &[d(0), s(1), s(2), s(0)],
            ),
        ]
    };
}

/// 1 where the comparison holds and else 0, or what a second operation makes of it and of `c`.
const COMPARED: [Form; 2] = [
    row(O::Vset, &[of(TYPES), of(TYPES), one(&[Eq, Ne, Lt, Le, Gt, Ge])], &[def(U32), s(0), s(1)]),
    row(
        O::Vset,
        &[of(TYPES), of(TYPES), one(&[Eq, Ne, Lt, Le, Gt, Ge]), one(&[Add, Min, Max])],
        &[def(U32), s(0), s(1), read(U32)],
    ),
];

pub(super) static FORMS: [[Form; 2]; 22] = [
    lanes!(Vadd2),
    lanes!(Vadd4),
    lanes!(Vsub2),
    lanes!(Vsub4),
    lanes!(Vavrg2),
    lanes!(Vavrg4),
    lanes!(Vabsdiff2),
    lanes!(Vabsdiff4),
    lanes!(Vmin2),
    lanes!(Vmin4),
    lanes!(Vmax2),
    lanes!(Vmax4),
    compare!(Vset2),
    compare!(Vset4),
    whole!(Vadd, [], TYPES),
    whole!(Vsub, [], TYPES),
    whole!(Vabsdiff, [], TYPES),
    whole!(Vmin, [], TYPES),
    whole!(Vmax, [], TYPES),
    whole!(Vshl, [one(&[Clamp, Wrap])], &[U32]),
    whole!(Vshr, [one(&[Clamp, Wrap])], &[U32]),
    COMPARED,
];
