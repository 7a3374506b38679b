//! Barriers and fences (PTX ISA, "Parallel Synchronization and Communication Instructions"): `bar`, `barrier`,
//! `barrier.cluster`, `membar`, `fence`, `mbarrier`.

use super::row::*;
use super::{Form, Kind, OperandSlot, Slot, Space, Ty};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::{self, *};

const SHARED: Slot = maybe(&[Shared, SharedCta]);
const ANY_SHARED: Slot = maybe(&[Shared, SharedCta, SharedCluster]);
/// One of the 16 barriers of a block.
const ID: OperandSlot = operand(Kind::Barrier);
const THREADS: OperandSlot = read(U32);
const SCOPE: Slot = one(&[Cta, Cluster]);
const ARRIVE: &[Word] = &[Arrive, ArriveDrop];
const TX: &[Word] = &[ExpectTx, CompleteTx];
/// The phase that an arrival returns as an opaque state, or `_`.
const STATE: OperandSlot = operand(Kind::DefOrSink(Ty::Is(B64)));
const SINK: OperandSlot = operand(Kind::Sink);
/// The time to wait, in nanoseconds.
const TIME: OperandSlot = read(U32).optional();

const fn at(slot: usize) -> OperandSlot {
    operand(Kind::Address(Space::Slot(slot)))
}

/// The forms of `mbarrier.arrive` with the memory order `$order` and a scope.
macro_rules! arrivals {
    ($order:ident, $major:literal, $minor:literal, $sm:literal) => {
        [
            row(O::Mbarrier, &[one(ARRIVE), one(&[$order]), SCOPE, SHARED, of(&[B64])], &[STATE, at(3)])
                .since($major, $minor, $sm),
            row(
                O::Mbarrier,
                &[one(ARRIVE), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[STATE, at(3), read(U32)],
            )
            .since($major, $minor, 90),
            row(
                O::Mbarrier,
                &[one(ARRIVE), one(&[$order]), SCOPE, one(&[SharedCluster]), of(&[B64])],
                &[SINK, at(3), read(U32).optional()],
            )
            .since($major, $minor, 90),
            row(
                O::Mbarrier,
                &[one(ARRIVE), one(&[ExpectTx]), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[STATE, at(4), read(U32)],
            )
            .since($major, $minor, 90),
            row(
                O::Mbarrier,
                &[one(ARRIVE), one(&[ExpectTx]), one(&[$order]), SCOPE, one(&[SharedCluster]), of(&[B64])],
                &[SINK, at(4), read(U32)],
            )
            .since($major, $minor, 90),
        ]
    };
}

/// The forms of `mbarrier.test_wait` and `try_wait` with the memory order `$order` and a scope.
macro_rules! waits {
    ($order:ident, $major:literal, $minor:literal, $sm:literal) => {
        [
            row(
                O::Mbarrier,
                &[one(&[TestWait]), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[def(Pred), at(3), read(B64)],
            )
            .since($major, $minor, $sm),
            row(
                O::Mbarrier,
                &[one(&[TestWait]), one(&[Parity]), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[def(Pred), at(4), read(U32)],
            )
            .since($major, $minor, $sm),
            row(
                O::Mbarrier,
                &[one(&[TryWait]), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[def(Pred), at(3), read(B64), TIME],
            )
            .since($major, $minor, 90),
            row(
                O::Mbarrier,
                &[one(&[TryWait]), one(&[Parity]), one(&[$order]), SCOPE, SHARED, of(&[B64])],
                &[def(Pred), at(4), read(U32), TIME],
            )
            .since($major, $minor, 90),
        ]
    };
}

pub(super) static ARRIVALS: [[Form; 5]; 2] = [arrivals!(Release, 8, 0, 80), arrivals!(Relaxed, 8, 6, 90)];
pub(super) static WAITS: [[Form; 4]; 2] = [waits!(Acquire, 8, 0, 80), waits!(Relaxed, 8, 6, 90)];

pub(super) static FORMS: &[Form] = &[
    row(O::Bar, &[one(&[Sync])], &[ID, THREADS.optional()]),
    row(O::Bar, &[one(&[Arrive])], &[ID, THREADS]),
    row(O::Bar, &[one(&[Cta]), one(&[Sync])], &[ID, THREADS.optional()]).since(7, 8, 70),
    row(O::Bar, &[one(&[Cta]), one(&[Arrive])], &[ID, THREADS]).since(7, 8, 70),
    row(O::Bar, &[one(&[Warp]), one(&[Sync])], &[read(B32)]),
    row(O::Bar, &[one(&[Red]), one(&[Popc]), of(&[U32])], &[d(2), ID, THREADS.optional(), PRED]),
    row(O::Bar, &[one(&[Red]), one(&[And, Or]), of(&[Pred])], &[d(2), ID, THREADS.optional(), PRED]),
    row(O::Bar, &[one(&[Cta]), one(&[Red]), one(&[Popc]), of(&[U32])], &[d(3), ID, THREADS.optional(), PRED])
        .since(7, 8, 70),
    row(
        O::Bar,
        &[one(&[Cta]), one(&[Red]), one(&[And, Or]), of(&[Pred])],
        &[d(3), ID, THREADS.optional(), PRED],
    )
    .since(7, 8, 70),
    row(O::Barrier, &[one(&[Sync]), maybe(&[Aligned])], &[ID, THREADS.optional()]),
    row(O::Barrier, &[one(&[Arrive]), maybe(&[Aligned])], &[ID, THREADS]),
    row(O::Barrier, &[one(&[Cta]), one(&[Sync]), maybe(&[Aligned])], &[ID, THREADS.optional()])
        .since(7, 8, 70),
    row(O::Barrier, &[one(&[Cta]), one(&[Arrive]), maybe(&[Aligned])], &[ID, THREADS]).since(7, 8, 70),
    row(
        O::Barrier,
        &[one(&[Red]), one(&[Popc]), maybe(&[Aligned]), of(&[U32])],
        &[d(3), ID, THREADS.optional(), PRED],
    ),
    row(
        O::Barrier,
        &[one(&[Red]), one(&[And, Or]), maybe(&[Aligned]), of(&[Pred])],
        &[d(3), ID, THREADS.optional(), PRED],
    ),
    row(
        O::Barrier,
        &[one(&[Cta]), one(&[Red]), one(&[Popc]), maybe(&[Aligned]), of(&[U32])],
        &[d(4), ID, THREADS.optional(), PRED],
    )
    .since(7, 8, 70),
    row(
        O::Barrier,
        &[one(&[Cta]), one(&[Red]), one(&[And, Or]), maybe(&[Aligned]), of(&[Pred])],
        &[d(4), ID, THREADS.optional(), PRED],
    )
    .since(7, 8, 70),
    row(O::Barrier, &[one(&[Cluster]), one(&[Arrive]), maybe(&[Aligned])], &[]).since(7, 8, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Wait]), maybe(&[Aligned])], &[]).since(7, 8, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Arrive]), one(&[Release, Relaxed]), maybe(&[Aligned])], &[])
        .since(8, 0, 90),
    row(O::Barrier, &[one(&[Cluster]), one(&[Wait]), one(&[Acquire]), maybe(&[Aligned])], &[])
        .since(8, 0, 90),
    // fences
    row(O::Membar, &[one(&[Cta, Gl, Sys])], &[]),
    row(O::Membar, &[one(&[Proxy]), one(&[Alias])], &[]).since(7, 5, 70),
    row(O::Fence, &[maybe(&[Sc, AcqRel, Acquire, Release]), one(&[Cta, Gpu, Sys])], &[]),
    row(O::Fence, &[maybe(&[Sc, AcqRel, Acquire, Release]), one(&[Cluster])], &[]).since(7, 8, 90),
    row(
        O::Fence,
        &[one(&[Proxy]), one(&[TensormapGeneric]), one(&[Release]), one(&[Cta, Cluster, Gpu, Sys])],
        &[],
    )
    .since(8, 3, 90),
    row(
        O::Fence,
        &[one(&[Proxy]), one(&[TensormapGeneric]), one(&[Acquire]), one(&[Cta, Cluster, Gpu, Sys])],
        &[operand(Kind::Address(Space::Generic)), operand(Kind::Constant(&[128]))],
    )
    .since(8, 3, 90),
    row(O::Fence, &[one(&[Proxy]), one(&[Alias])], &[]).since(7, 5, 70),
    row(O::Fence, &[one(&[Proxy]), one(&[Async]), maybe(&[Global, SharedCta, SharedCluster])], &[])
        .since(8, 0, 90),
    row(O::Fence, &[one(&[MbarrierInit]), one(&[Release]), one(&[Cluster])], &[]).since(8, 0, 90),
    // fences that order accesses to shared memory alone
    row(O::Fence, &[one(&[Acquire]), one(&[SyncRestrictCluster]), one(&[Cluster])], &[]).since(8, 6, 90),
    row(O::Fence, &[one(&[Release]), one(&[SyncRestrictCta]), one(&[Cluster])], &[]).since(8, 6, 90),
    row(
        O::Fence,
        &[one(&[Proxy]), one(&[AsyncGeneric]), one(&[Acquire]), one(&[SyncRestrictCluster]), one(&[Cluster])],
        &[],
    )
    .since(8, 6, 90),
    row(
        O::Fence,
        &[one(&[Proxy]), one(&[AsyncGeneric]), one(&[Release]), one(&[SyncRestrictCta]), one(&[Cluster])],
        &[],
    )
    .since(8, 6, 90),
    // mbarrier
    row(O::Mbarrier, &[one(&[Init]), SHARED, of(&[B64])], &[at(1), read(U32)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(&[Inval]), SHARED, of(&[B64])], &[at(1)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(ARRIVE), SHARED, of(&[B64])], &[def(B64), at(1)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(ARRIVE), one(&[NoComplete]), SHARED, of(&[B64])], &[def(B64), at(2), read(U32)])
        .since(7, 0, 80),
    row(
        O::Mbarrier,
        &[one(ARRIVE), one(&[NoComplete]), one(&[Release]), one(&[Cta]), SHARED, of(&[B64])],
        &[def(B64), at(4), read(U32)],
    )
    .since(8, 0, 80),
    row(O::Mbarrier, &[one(ARRIVE), SHARED, of(&[B64])], &[SINK, at(1)]).since(7, 1, 80),
    row(O::Mbarrier, &[one(ARRIVE), SHARED, of(&[B64])], &[STATE, at(1), read(U32)]).since(7, 8, 90),
    row(O::Mbarrier, &[one(ARRIVE), one(&[SharedCluster]), of(&[B64])], &[SINK, at(1), read(U32).optional()])
        .since(8, 0, 90),
    row(O::Mbarrier, &[one(ARRIVE), one(&[ExpectTx]), SHARED, of(&[B64])], &[STATE, at(2), read(U32)])
        .since(8, 0, 90),
    row(
        O::Mbarrier,
        &[one(ARRIVE), one(&[ExpectTx]), one(&[SharedCluster]), of(&[B64])],
        &[SINK, at(2), read(U32)],
    )
    .since(8, 0, 90),
    row(O::Mbarrier, &[one(TX), ANY_SHARED, of(&[B64])], &[at(1), read(U32)]).since(8, 0, 90),
    row(O::Mbarrier, &[one(TX), one(&[Relaxed]), SCOPE, ANY_SHARED, of(&[B64])], &[at(3), read(U32)])
        .since(8, 0, 90),
    row(O::Mbarrier, &[one(&[TestWait]), SHARED, of(&[B64])], &[def(Pred), at(1), read(B64)]).since(7, 0, 80),
    row(O::Mbarrier, &[one(&[TestWait]), one(&[Parity]), SHARED, of(&[B64])], &[def(Pred), at(2), read(U32)])
        .since(7, 1, 80),
    row(O::Mbarrier, &[one(&[TryWait]), SHARED, of(&[B64])], &[def(Pred), at(1), read(B64), TIME])
        .since(7, 8, 90),
    row(
        O::Mbarrier,
        &[one(&[TryWait]), one(&[Parity]), SHARED, of(&[B64])],
        &[def(Pred), at(2), read(U32), TIME],
    )
    .since(7, 8, 90),
    row(O::Mbarrier, &[one(&[PendingCount]), of(&[B64])], &[def(B32), read(B64)]).since(7, 0, 80),
];
