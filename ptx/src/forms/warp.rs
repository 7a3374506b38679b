//! Exchange among the threads of a warp (PTX ISA, "Data Movement: shfl.sync", "Parallel Synchronization: vote.sync,
//! match.sync, redux.sync, activemask, elect.sync").

use super::row::*;
use super::{Form, Kind, Slot, Ty};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::*;

const SYNC: Slot = one(&[Sync]);
const MASK: super::OperandSlot = read(B32);

pub(super) static FORMS: &[Form] = &[
    row(
        O::Shfl,
        &[SYNC, one(&[Up, Down, Bfly, Idx]), of(&[B32])],
        &[operand(Kind::DefWithPred { ty: Ty::Slot(2), both: false }), s(2), read(U32), read(U32), MASK],
    ),
    row(O::Vote, &[SYNC, one(&[All, Any, Uni]), of(&[Pred])], &[d(2), PRED, MASK]),
    row(O::Vote, &[SYNC, one(&[Ballot]), of(&[B32])], &[d(2), PRED, MASK]),
    row(O::Match, &[one(&[Any]), SYNC, of(&[B32, B64])], &[def(B32), s(2), MASK]),
    row(
        O::Match,
        &[one(&[All]), SYNC, of(&[B32, B64])],
        &[operand(Kind::DefWithPred { ty: Ty::Is(B32), both: false }), s(2), MASK],
    ),
    row(O::Redux, &[SYNC, one(&[Add, Min, Max]), of(&[U32, S32])], &[d(2), s(2), MASK]).since(7, 0, 80),
    row(O::Redux, &[SYNC, one(&[And, Or, Xor]), of(&[B32])], &[d(2), s(2), MASK]).since(7, 0, 80),
    row(O::Activemask, &[of(&[B32])], &[d(0)]).since(6, 2, 70),
    row(O::Elect, &[SYNC], &[operand(Kind::DefWithPred { ty: Ty::Is(B32), both: true }), MASK])
        .since(8, 0, 90),
];
