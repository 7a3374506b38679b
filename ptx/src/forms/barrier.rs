//! Barriers and fences (PTX ISA, "Parallel Synchronization and Communication Instructions"): `bar`, `barrier`,
//! `barrier.cluster`, `membar`, `fence`, `mbarrier`.

use super::row::*;
use super::{Form, Kind, OperandSlot, Slot, Space};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::{self, *};

const SHARED: Slot = maybe(&[Shared, SharedCta]);
const ID: OperandSlot = read(U32);
const THREADS: OperandSlot = read(U32);
const SCOPE: Slot = maybe(&[Cta, Cluster]);
const STATE: OperandSlot = def(B64);

const fn at(slot: usize) -> OperandSlot {
    operand(Kind::Address(Space::Slot(slot)))
}
/// The state that an arrival returns, if wanted.
const ARRIVAL: OperandSlot = operand(Kind::DefOrSink(super::Ty::Is(B64)));
const ARRIVED: Slot = maybe(&[Release, Relaxed]);

pub(super) static FORMS: &[Form] = &[
    row(O::Bar, &[one(&[Sync])], &[ID, THREADS.optional()]),
    row(O::Bar, &[one(&[Arrive])], &[ID, THREADS]),
    row(O::Bar, &[one(&[Word::Cta]), one(&[Sync])], &[ID, THREADS.optional()]).since(7, 8, 70),
    row(O::Bar, &[one(&[Word::Cta]), one(&[Arrive])], &[ID, THREADS]).since(7, 8, 70),
    row(O::Bar, &[one(&[Warp]), one(&[Sync])], &[read(B32)]),
    row(O::Bar, &[one(&[Red]), one(&[Popc]), of(&[U32])], &[d(2), ID, PRED]),
    row(O::Bar, &[one(&[Red]), one(&[And, Or]), of(&[Pred])], &[d(2), ID, PRED]),
    row(O::Bar, &[one(&[Red]), one(&[Popc]), of(&[U32])], &[d(2), ID, THREADS, PRED]),
    row(O::Bar, &[one(&[Red]), one(&[And, Or]), of(&[Pred])], &[d(2), ID, THREADS, PRED]),
    row(O::Barrier, &[one(&[Sync]), maybe(&[Aligned])], &[ID, THREADS.optional()]),
    row(O::Barrier, &[one(&[Arrive]), maybe(&[Aligned])], &[ID, THREADS]),
    row(O::Barrier, &[one(&[Cta]), one(&[Sync]), maybe(&[Aligned])], &[ID, THREADS.optional()])
        .since(7, 8, 70),
    row(O::Barrier, &[one(&[Cta]), one(&[Arrive]), maybe(&[Aligned])], &[ID, THREADS]).since(7, 8, 70),
    row(O::Barrier, &[one(&[Cluster]), one(&[Arrive]), maybe(&[Aligned])], &[]).since(7, 8, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Wait]), maybe(&[Aligned])], &[]).since(7, 8, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Arrive]), one(&[Release, Relaxed]), maybe(&[Aligned])], &[])
        .since(8, 0, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Wait]), one(&[Acquire]), maybe(&[Aligned])], &[])
        .since(8, 0, 90),
    // fences
    row(O::Membar, &[one(&[Cta, Gl, Sys])], &[]),
    row(O::Fence, &[maybe(&[Sc, AcqRel]), one(&[Cta, Gpu, Sys])], &[]),
    row(O::Fence, &[maybe(&[Sc, AcqRel]), one(&[Cluster])], &[]).since(7, 8, 90),
    row(O::Fence, &[one(&[Proxy]), one(&[Alias])], &[]).since(7, 5, 70),
    row(O::Fence, &[one(&[Proxy]), one(&[Async]), maybe(&[Global, Shared, SharedCta, SharedCluster])], &[])
        .since(8, 0, 90),
    row(O::Fence, &[one(&[MbarrierInit]), one(&[Release]), one(&[Cluster])], &[]).since(8, 0, 90),
    // mbarrier
    row(O::Mbarrier, &[one(&[Init]), SHARED, of(&[B64])], &[at(1), read(U32)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(&[Inval]), SHARED, of(&[B64])], &[at(1)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(&[Arrive, ArriveDrop]), SHARED, of(&[B64])], &[STATE, at(1)]).since(7, 0, 80),
    row(
        O::Mbarrier,
        &[one(&[Arrive, ArriveDrop]), SHARED, of(&[B64])],
        &[ARRIVAL, at(1), read(U32).optional()],
    )
    .since(7, 8, 80),
    row(
        O::Mbarrier,
        &[one(&[Arrive, ArriveDrop]), ARRIVED, SCOPE, maybe(&[Shared, SharedCta]), of(&[B64])],
        &[ARRIVAL, at(3), read(U32).optional()],
    )
    .since(8, 0, 90),
    row(
        O::Mbarrier,
        &[one(&[Arrive, ArriveDrop]), ARRIVED, SCOPE, one(&[SharedCluster]), of(&[B64])],
        &[operand(Kind::DefOrSink(super::Ty::Is(B64))), at(3), read(U32).optional()],
    )
    .since(8, 0, 90),
    row(
        O::Mbarrier,
        &[
            one(&[Arrive, ArriveDrop]),
            one(&[ExpectTx]),
            ARRIVED,
            SCOPE,
            maybe(&[Shared, SharedCta, SharedCluster]),
            of(&[B64]),
        ],
        &[ARRIVAL, at(4), read(U32)],
    )
    .since(8, 0, 90),
    row(
        O::Mbarrier,
        &[
            one(&[ExpectTx, CompleteTx]),
            maybe(&[Relaxed]),
            SCOPE,
            maybe(&[Shared, SharedCta, SharedCluster]),
            of(&[B64]),
        ],
        &[at(3), read(U32)],
    )
    .since(8, 0, 90),
    row(O::Mbarrier, &[one(&[TestWait]), SHARED, of(&[B64])], &[def(Pred), at(1), read(B64)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(&[TestWait]), one(&[Parity]), SHARED, of(&[B64])], &[def(Pred), at(2), read(U32)])
        .since(7, 1, 80),
    row(
        O::Mbarrier,
        &[one(&[TryWait]), maybe(&[Acquire]), SCOPE, SHARED, of(&[B64])],
        &[def(Pred), at(3), read(B64), read(U32).optional()],
    )
    .since(7, 8, 90),
    row(
        O::Mbarrier,
        &[one(&[TryWait]), one(&[Parity]), maybe(&[Acquire]), SCOPE, SHARED, of(&[B64])],
        &[def(Pred), at(4), read(U32), read(U32).optional()],
    )
    .since(7, 8, 90),
    row(O::Mbarrier, &[one(&[PendingCount]), of(&[B64])], &[def(B32), read(B64)]).since(7, 0, 80),
];
