//! Asynchronous copies (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy"): `cp.async`, bulk
//! copies, reductions and groups, `st.async`. Copies of tensors are in `tensor`.

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Space, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const SHARED: &[Word] = &[Shared, SharedCta];
pub(super) const HINT: Slot = maybe(&[L2CacheHint]);
const AHEAD: Slot = maybe(&[L2Prefetch64, L2Prefetch128, L2Prefetch256]);
pub(super) const POLICY: OperandSlot = read(B64);
pub(super) const COMPLETE: Slot = one(&[MbarrierCompleteTxBytes]);
pub(super) const MASK: OperandSlot = read(U16);

pub(super) const fn at(slot: usize) -> OperandSlot {
    operand(Kind::Address(Space::Slot(slot)))
}
pub(super) const fn within(space: Word) -> OperandSlot {
    operand(Kind::Address(Space::Is(space)))
}

const WEAK: Slot = maybe(&[Weak]);
const CLUSTER: Slot = maybe(&[SharedCluster]);
const WORD_TYPES: &[Type] = &[B32, B64, U32, U64, S32, S64, F32, F64];
const BARRIER: OperandSlot = within(SharedCluster);
const LINE: OperandSlot = operand(Kind::Constant(&[16]));
const WORDS: OperandSlot = operand(Kind::Constant(&[4, 8, 16]));

pub(super) static FORMS: &[Form] = &[
    // An optional source size may be less than the copy's size, or a predicate tells to ignore the source; bytes that
    // are not read are zeros.
    row(
        O::Cp,
        &[one(&[Async]), one(&[Ca]), one(SHARED), one(&[Global]), HINT, AHEAD],
        &[at(2), at(3), WORDS, read(U32).optional(), POLICY.with(4)],
    )
    .since(7, 0, 80),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Cg]), one(SHARED), one(&[Global]), HINT, AHEAD],
        &[at(2), at(3), LINE, read(U32).optional(), POLICY.with(4)],
    )
    .since(7, 0, 80),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Ca]), one(SHARED), one(&[Global]), HINT, AHEAD],
        &[at(2), at(3), WORDS, PRED, POLICY.with(4)],
    )
    .since(7, 5, 80),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Cg]), one(SHARED), one(&[Global]), HINT, AHEAD],
        &[at(2), at(3), LINE, PRED, POLICY.with(4)],
    )
    .since(7, 5, 80),
    row(O::Cp, &[one(&[Async]), one(&[CommitGroup])], &[]).since(7, 0, 80),
    row(O::Cp, &[one(&[Async]), one(&[WaitGroup])], &[CONSTANT]).since(7, 0, 80),
    row(O::Cp, &[one(&[Async]), one(&[WaitAll])], &[]).since(7, 0, 80),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Word::Mbarrier]), one(&[Arrive]), maybe(&[Noinc]), maybe(SHARED), of(&[B64])],
        &[at(4)],
    )
    .since(7, 0, 80),
    // without a state space, an address in a register of 32 bits is one in shared memory
    row(
        O::Cp,
        &[one(&[Async]), one(&[Word::Mbarrier]), one(&[Arrive]), maybe(&[Noinc]), of(&[B64])],
        &[within(Shared)],
    )
    .since(7, 0, 80),
    // bulk copies
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[SharedCluster]),
            one(&[Global]),
            COMPLETE,
            maybe(&[MulticastCluster]),
            HINT,
        ],
        &[at(2), at(3), read(U32), within(Shared), MASK.with(5), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Bulk]), one(&[SharedCluster]), one(&[SharedCta]), COMPLETE],
        &[at(2), at(3), read(U32), within(SharedCluster)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Bulk]), one(&[Global]), one(&[SharedCta]), one(&[BulkGroup]), HINT],
        &[at(2), at(3), read(U32), POLICY.with(5)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Bulk]), one(&[Word::Prefetch]), one(&[L2]), one(&[Global]), HINT],
        &[at(4), read(U32), POLICY.with(5)],
    )
    .since(8, 0, 90),
    row(O::Cp, &[one(&[Async]), one(&[Bulk]), one(&[CommitGroup])], &[]).since(8, 0, 90),
    row(O::Cp, &[one(&[Async]), one(&[Bulk]), one(&[WaitGroup]), maybe(&[Read])], &[CONSTANT])
        .since(8, 0, 90),
    row(
        O::Cp,
        &[one(&[Async]), one(&[Bulk]), one(&[SharedCta]), one(&[Global]), COMPLETE, HINT],
        &[at(2), at(3), read(U32), within(Shared), POLICY.with(5)],
    )
    .since(8, 6, 90),
    // bulk reductions
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[BulkGroup]),
            HINT,
            one(&[Add]),
            of(&[F32, F64, U32, S32, U64]),
        ],
        &[at(3), at(4), read(U32), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[BulkGroup]),
            HINT,
            one(&[Add]),
            one(&[Noftz]),
            of(&[F16, Bf16]),
        ],
        &[at(3), at(4), read(U32), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[BulkGroup]),
            HINT,
            one(&[Min, Max]),
            of(&[U32, S32, U64, S64, F16, Bf16]),
        ],
        &[at(3), at(4), read(U32), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[BulkGroup]),
            HINT,
            one(&[And, Or, Xor]),
            of(&[B32, B64]),
        ],
        &[at(3), at(4), read(U32), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[BulkGroup]),
            HINT,
            one(&[Inc, Dec]),
            of(&[U32]),
        ],
        &[at(3), at(4), read(U32), POLICY.with(6)],
    )
    .since(8, 0, 90),
    row(O::St, &[one(&[Async]), WEAK, CLUSTER, COMPLETE, of(WORD_TYPES)], &[at(2), s(4), BARRIER])
        .since(8, 1, 90),
    row(
        O::St,
        &[one(&[Async]), WEAK, CLUSTER, COMPLETE, one(&[V2]), of(WORD_TYPES)],
        &[at(2), operand(Kind::UseVec(Count::Slot(4), Ty::Slot(5))), BARRIER],
    )
    .since(8, 1, 90),
    row(
        O::St,
        &[one(&[Async]), WEAK, CLUSTER, COMPLETE, one(&[V4]), of(&[B32, U32, S32, F32])],
        &[at(2), operand(Kind::UseVec(Count::Slot(4), Ty::Slot(5))), BARRIER],
    )
    .since(8, 1, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[SharedCluster]),
            one(&[SharedCta]),
            COMPLETE,
            one(&[Add]),
            of(&[U32, S32, U64]),
        ],
        &[at(3), at(4), read(U32), within(SharedCluster)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[SharedCluster]),
            one(&[SharedCta]),
            COMPLETE,
            one(&[Min, Max]),
            of(&[U32, S32]),
        ],
        &[at(3), at(4), read(U32), within(SharedCluster)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[SharedCluster]),
            one(&[SharedCta]),
            COMPLETE,
            one(&[Inc, Dec]),
            of(&[U32]),
        ],
        &[at(3), at(4), read(U32), within(SharedCluster)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[SharedCluster]),
            one(&[SharedCta]),
            COMPLETE,
            one(&[And, Or, Xor]),
            of(&[B32]),
        ],
        &[at(3), at(4), read(U32), within(SharedCluster)],
    )
    .since(8, 0, 90),
    row(
        O::Red,
        &[
            one(&[Async]),
            one(&[Relaxed]),
            one(&[Word::Cluster]),
            CLUSTER,
            COMPLETE,
            one(&[Add]),
            of(&[U32, S32, U64]),
        ],
        &[at(3), s(6), BARRIER],
    )
    .since(8, 1, 90),
    row(
        O::Red,
        &[
            one(&[Async]),
            one(&[Relaxed]),
            one(&[Word::Cluster]),
            CLUSTER,
            COMPLETE,
            one(&[Min, Max]),
            of(&[U32, S32]),
        ],
        &[at(3), s(6), BARRIER],
    )
    .since(8, 1, 90),
    row(
        O::Red,
        &[
            one(&[Async]),
            one(&[Relaxed]),
            one(&[Word::Cluster]),
            CLUSTER,
            COMPLETE,
            one(&[Inc, Dec]),
            of(&[U32]),
        ],
        &[at(3), s(6), BARRIER],
    )
    .since(8, 1, 90),
    row(
        O::Red,
        &[
            one(&[Async]),
            one(&[Relaxed]),
            one(&[Word::Cluster]),
            CLUSTER,
            COMPLETE,
            one(&[And, Or, Xor]),
            of(&[B32]),
        ],
        &[at(3), s(6), BARRIER],
    )
    .since(8, 1, 90),
];
