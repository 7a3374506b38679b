//! Control flow and miscellaneous instructions (PTX ISA, "Control Flow Instructions", "Miscellaneous Instructions",
//! "Dependent launch").

use super::row::*;
use super::{Form, Kind};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::*;

pub(super) static FORMS: &[Form] = &[
    row(O::Bra, &[maybe(&[Uni])], &[operand(Kind::Label)]),
    row(O::Brx, &[one(&[Idx]), maybe(&[Uni])], &[read(U32), operand(Kind::Table)]),
    row(O::Ret, &[maybe(&[Uni])], &[]),
    row(O::Exit, &[], &[]),
    row(O::Trap, &[], &[]),
    row(O::Brkpt, &[], &[]),
    row(O::Alloca, &[of(&[U32, U64])], &[d(0), s(0), CONSTANT.optional()]).since(7, 3, 70),
    row(O::Stacksave, &[of(&[U32, U64])], &[d(0)]).since(7, 3, 70),
    row(O::Stackrestore, &[of(&[U32, U64])], &[operand(Kind::UseReg(super::Ty::Slot(0)))]).since(7, 3, 70),
    row(O::Pmevent, &[], &[CONSTANT]),
    row(O::Pmevent, &[one(&[Mask])], &[CONSTANT]),
    row(O::Nanosleep, &[of(&[U32])], &[s(0)]).since(6, 3, 70),
    row(O::Griddepcontrol, &[one(&[LaunchDependents, Wait])], &[]).since(7, 8, 90),
    row(
        O::Setmaxnreg,
        &[one(&[Inc, Dec]), one(&[Sync]), one(&[Aligned]), of(&[U32])],
        &[operand(Kind::Constant(REGISTERS))],
    )
    .since(8, 0, 90)
    .specific(),
];

/// The numbers of registers of a thread that `setmaxnreg` accepts: multiples of 8.
const REGISTERS: &[i64] = &[
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200,
    208, 216, 224, 232, 240, 248, 256,
];
