//! Loads, stores, reductions and atomics, cache hints (PTX ISA, "Data Movement and Conversion Instructions" and
//! "Parallel Synchronization and Communication Instructions": `ld`, `st`, `prefetch`, `discard`, `createpolicy`,
//! `atom`, `red`).

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Space, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

/// The types of scalars and of vectors of two. As a vector has 16 bytes at most, vectors of four have a `SMALL` type.
const TYPES: Slot = of(&[B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64]);
const SMALL: Slot = of(&[B8, B16, B32, U8, U16, U32, S8, S16, S32, F32]);
const LOADED: &[Word] =
    &[Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCta, SharedCluster];
const STORED: &[Word] = &[Global, Local, Param, ParamFunc, Shared, SharedCta, SharedCluster];
const SHARED: &[Word] = &[Global, Shared, SharedCta, SharedCluster];
const L1: Slot = maybe(&[L1EvictNormal, L1EvictUnchanged, L1EvictFirst, L1EvictLast, L1NoAllocate]);
/// The eviction priority in L2, which only accesses of 32 bytes can state.
const L2_EVICT: Slot = maybe(&[L2EvictFirst, L2EvictLast, L2EvictNormal]);
const HINT: Slot = maybe(&[L2CacheHint]);
const AHEAD: Slot = maybe(&[L2Prefetch64, L2Prefetch128, L2Prefetch256]);
const LOAD_CACHE: &[Word] = &[Ca, Cg, Cs, Lu, Cv];
const STORE_CACHE: &[Word] = &[Wb, Cg, Cs, Wt];
const SCOPE: &[Word] = &[Cta, Cluster, Gpu, Sys];
/// The scopes that accesses of 16 bytes had first; `.sys` came later.
const NARROW: &[Word] = &[Cta, Cluster, Gpu];
const ORDER: &[Word] = &[Relaxed, Acquire, Release, AcqRel];
const POLICY: OperandSlot = read(B64);

/// The destination of a load: a scalar or a vector.
const fn to(vec: usize, ty: usize) -> OperandSlot {
    operand(Kind::DefVec(Count::Slot(vec), Ty::Wider(ty)))
}
/// The source of a store: a scalar or a vector.
const fn from(vec: usize, ty: usize) -> OperandSlot {
    operand(Kind::UseVec(Count::Slot(vec), Ty::Wider(ty)))
}
/// The value in memory before an atomic operation, or `_`.
const fn old(ty: usize) -> OperandSlot {
    operand(Kind::DefOrSink(Ty::Slot(ty)))
}
const fn at(slot: usize) -> OperandSlot {
    operand(Kind::Address(Space::Slot(slot)))
}
const fn within(space: Word) -> OperandSlot {
    operand(Kind::Address(Space::Is(space)))
}

const EXTREMA: &[Type] = &[U32, U64, S32, S64];
const FENCED: Slot = maybe(&[Relaxed, Release]);
const OUTSIDE: Slot = maybe(&[Global]);

/// A load with these modifiers before its vector and type: a form for up to two parts and one for four.
macro_rules! load {
    ($count:literal, [$($slot:expr),*], $($operand:expr),*) => {
        [
            row(O::Ld, &[$($slot,)* maybe(&[V2]), TYPES], &[to($count, $count + 1), $($operand),*]),
            row(O::Ld, &[$($slot,)* one(&[V4]), SMALL], &[to($count, $count + 1), $($operand),*]),
        ]
    };
}

/// A store, in the two forms of `load`.
macro_rules! store {
    ($count:literal, $at:expr, [$($slot:expr),*] $(, $operand:expr)*) => {
        [
            row(O::St, &[$($slot,)* maybe(&[V2]), TYPES], &[$at, from($count, $count + 1) $(, $operand)*]),
            row(O::St, &[$($slot,)* one(&[V4]), SMALL], &[$at, from($count, $count + 1) $(, $operand)*]),
        ]
    };
}

/// A reduction, in two forms: in any space without a cache policy, and outside of shared memory with one.
macro_rules! reduction {
    ([$($op:expr),*], $ty:literal, $types:expr) => {
        [
            row(O::Red, &[FENCED, maybe(SCOPE), maybe(SHARED), $($op,)* of($types)], &[at(2), s($ty)]),
            row(
                O::Red,
                &[FENCED, maybe(SCOPE), OUTSIDE, $($op,)* one(&[L2CacheHint]), of($types)],
                &[at(2), s($ty + 1), POLICY],
            ),
        ]
    };
}

/// An atomic that returns the old value, in the two forms of `reduction`.
macro_rules! atomic {
    ([$($op:expr),*], $ty:literal, $types:expr) => {
        [
            row(O::Atom, &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), $($op,)* of($types)], &[old($ty), at(2), s($ty)]),
            row(
                O::Atom,
                &[maybe(ORDER), maybe(SCOPE), OUTSIDE, $($op,)* one(&[L2CacheHint]), of($types)],
                &[old($ty + 1), at(2), s($ty + 1), POLICY],
            ),
        ]
    };
}

/// A reduction and an atomic of a vector of the types `$types`.
macro_rules! vector {
    ([$($op:expr),*], $hint:literal, $counts:expr, $types:expr) => {
        [
            row(
                O::Red,
                &[FENCED, maybe(SCOPE), OUTSIDE, $($op,)* HINT, one($counts), of($types)],
                &[at(2), operand(Kind::UseVec(Count::Slot($hint + 1), Ty::Slot($hint + 2))), POLICY.with($hint)],
            )
            .since(8, 1, 90),
            row(
                O::Atom,
                &[maybe(ORDER), maybe(SCOPE), OUTSIDE, $($op,)* HINT, one($counts), of($types)],
                &[
                    operand(Kind::DefVec(Count::Slot($hint + 1), Ty::Slot($hint + 2))),
                    at(2),
                    operand(Kind::UseVec(Count::Slot($hint + 1), Ty::Slot($hint + 2))),
                    POLICY.with($hint),
                ],
            )
            .since(8, 1, 90),
        ]
    };
}

/// A load and a store of 16 bytes with a cache policy; `$count` is the number of modifiers before the policy.
macro_rules! wide {
    ($count:literal, [$($load:expr),*], $at:literal, [$($store:expr),*], $to:literal) => {
        [
            row(
                O::Ld,
                &[$($load,)* HINT, AHEAD, of(&[B128])],
                &[operand(Kind::Def(Ty::Slot($count + 2))), at($at), POLICY.with($count)],
            )
            .since(8, 3, 70),
            row(O::St, &[$($store,)* HINT, of(&[B128])], &[at($to), s($count + 1), POLICY.with($count)])
                .since(8, 3, 70),
        ]
    };
}

/// A load and a store of 32 bytes.
macro_rules! widest {
    ($count:ident, $types:expr) => {
        [
            row(
                O::Ld,
                &[maybe(&[Weak]), one(&[Global]), L1, L2_EVICT, HINT, AHEAD, one(&[$count]), of($types)],
                &[to(6, 7), at(1), POLICY.with(4)],
            )
            .since(8, 8, 100),
            row(
                O::St,
                &[maybe(&[Weak]), one(&[Global]), L1, L2_EVICT, HINT, one(&[$count]), of($types)],
                &[at(1), from(5, 6), POLICY.with(4)],
            )
            .since(8, 8, 100),
        ]
    };
}

/// An exchange of 16 bytes.
macro_rules! exchange {
    ($scope:expr, $op:ident, [$($source:expr),*]) => {
        row(
            O::Atom,
            &[maybe(ORDER), $scope, maybe(SHARED), one(&[$op]), of(&[B128])],
            &[old(4), at(2), $($source),*],
        )
    };
}

/// Forms with the scope `.sys`, which PTX 8.4 introduced.
const fn systemwide([load, store]: [Form; 2]) -> [Form; 2] {
    [load.since(8, 4, 70), store.since(8, 4, 70)]
}

/// Forms that sm_90 introduced.
const fn modern([any, hinted]: [Form; 2]) -> [Form; 2] {
    [any.since(7, 8, 90), hinted.since(7, 8, 90)]
}

pub(super) static LOADS: [[Form; 2]; 10] = [
    load!(2, [maybe(&[Weak]), maybe(LOADED)], at(1)),
    load!(
        3,
        [maybe(&[Weak]), maybe(&[Const, Global, Local, Shared, SharedCta, SharedCluster]), one(LOAD_CACHE)],
        at(1)
    ),
    load!(5, [maybe(&[Weak]), OUTSIDE, one(LOAD_CACHE), HINT, AHEAD], at(1), POLICY.with(3)),
    load!(5, [maybe(&[Weak]), OUTSIDE, L1, HINT, AHEAD], at(1), POLICY.with(3)),
    load!(5, [one(&[Global]), maybe(&[Ca, Cg, Cs]), one(&[Nc]), HINT, AHEAD], within(Global), POLICY.with(3)),
    load!(5, [one(&[Global]), one(&[Nc]), L1, HINT, AHEAD], within(Global), POLICY.with(3)),
    load!(2, [one(&[Volatile]), maybe(SHARED)], at(1)),
    load!(3, [one(&[Volatile]), OUTSIDE, AHEAD], at(1)),
    load!(3, [one(&[Relaxed, Acquire]), one(SCOPE), maybe(SHARED)], at(2)),
    load!(6, [one(&[Relaxed, Acquire]), one(SCOPE), OUTSIDE, L1, HINT, AHEAD], at(2), POLICY.with(4)),
];

pub(super) static STORES: [[Form; 2]; 7] = [
    store!(2, at(1), [maybe(&[Weak]), maybe(STORED)]),
    store!(3, at(1), [maybe(&[Weak]), maybe(STORED), one(STORE_CACHE)]),
    store!(4, at(1), [maybe(&[Weak]), OUTSIDE, one(STORE_CACHE), HINT], POLICY.with(3)),
    store!(4, at(1), [maybe(&[Weak]), OUTSIDE, L1, HINT], POLICY.with(3)),
    store!(2, at(1), [one(&[Volatile]), maybe(SHARED)]),
    store!(3, at(2), [one(&[Relaxed, Release]), one(SCOPE), maybe(SHARED)]),
    store!(5, at(2), [one(&[Relaxed, Release]), one(SCOPE), OUTSIDE, L1, HINT], POLICY.with(4)),
];

/// Loads and stores of 16 bytes that may have a cache policy, and of 32 bytes.
pub(super) static WIDE: [[Form; 2]; 6] = [
    wide!(3, [maybe(&[Weak]), OUTSIDE, one(LOAD_CACHE)], 1, [maybe(&[Weak]), OUTSIDE, one(STORE_CACHE)], 1),
    wide!(3, [maybe(&[Weak]), OUTSIDE, L1], 1, [maybe(&[Weak]), OUTSIDE, L1], 1),
    wide!(
        4,
        [one(&[Relaxed, Acquire]), one(NARROW), OUTSIDE, L1],
        2,
        [one(&[Relaxed, Release]), one(NARROW), OUTSIDE, L1],
        2
    ),
    systemwide(wide!(
        4,
        [one(&[Relaxed, Acquire]), one(&[Sys]), OUTSIDE, L1],
        2,
        [one(&[Relaxed, Release]), one(&[Sys]), OUTSIDE, L1],
        2
    )),
    widest!(V8, &[B32, U32, S32, F32]),
    widest!(V4, &[B64, U64, S64, F64]),
];

pub(super) static REDUCTIONS: [[Form; 2]; 6] = [
    reduction!([one(&[Add])], 4, &[U32, U64, S32, F32, F64]),
    reduction!([one(&[Min, Max])], 4, EXTREMA),
    reduction!([one(&[And, Or, Xor])], 4, &[B32, B64]),
    reduction!([one(&[Inc, Dec])], 4, &[U32]),
    reduction!([one(&[Add]), one(&[Noftz])], 5, &[F16, F16x2]),
    modern(reduction!([one(&[Add]), one(&[Noftz])], 5, &[Bf16, Bf16x2])),
];

pub(super) static ATOMICS: [[Form; 2]; 6] = [
    atomic!([one(&[Add])], 4, &[U32, U64, S32, F32, F64]),
    atomic!([one(&[Min, Max])], 4, EXTREMA),
    atomic!([one(&[And, Or, Xor, Exch])], 4, &[B32, B64]),
    atomic!([one(&[Inc, Dec])], 4, &[U32]),
    atomic!([one(&[Add]), one(&[Noftz])], 5, &[F16, F16x2]),
    modern(atomic!([one(&[Add]), one(&[Noftz])], 5, &[Bf16, Bf16x2])),
];

pub(super) static VECTORS: [[Form; 2]; 3] = [
    vector!([one(&[Add])], 4, &[V2, V4], &[F32]),
    vector!([one(&[Add, Min, Max]), one(&[Noftz])], 5, &[V2, V4, V8], &[F16, Bf16]),
    vector!([one(&[Add, Min, Max]), one(&[Noftz])], 5, &[V2, V4], &[F16x2, Bf16x2]),
];

pub(super) static FORMS: &[Form] = &[
    row(
        O::Ld,
        &[one(&[Mmio]), one(&[Relaxed]), one(&[Sys]), OUTSIDE, TYPES],
        &[operand(Kind::Def(Ty::Wider(4))), at(3)],
    )
    .since(8, 2, 70),
    row(
        O::St,
        &[one(&[Mmio]), one(&[Relaxed]), one(&[Sys]), OUTSIDE, TYPES],
        &[at(3), operand(Kind::Use(Ty::Wider(4)))],
    )
    .since(8, 2, 70),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[Cas]), of(&[B16, B32, B64])],
        &[old(4), at(2), s(4), s(4)],
    ),
    // 16 bytes
    row(O::Ld, &[maybe(&[Weak]), maybe(LOADED), of(&[B128])], &[operand(Kind::Def(Ty::Slot(2))), at(1)])
        .since(8, 3, 70),
    row(O::Ld, &[one(&[Volatile]), maybe(SHARED), of(&[B128])], &[operand(Kind::Def(Ty::Slot(2))), at(1)])
        .since(8, 3, 70),
    row(
        O::Ld,
        &[one(&[Relaxed, Acquire]), one(NARROW), maybe(SHARED), of(&[B128])],
        &[operand(Kind::Def(Ty::Slot(3))), at(2)],
    )
    .since(8, 3, 70),
    row(
        O::Ld,
        &[one(&[Relaxed, Acquire]), one(&[Sys]), maybe(SHARED), of(&[B128])],
        &[operand(Kind::Def(Ty::Slot(3))), at(2)],
    )
    .since(8, 4, 70),
    row(O::St, &[maybe(&[Weak]), maybe(STORED), of(&[B128])], &[at(1), s(2)]).since(8, 3, 70),
    row(O::St, &[one(&[Volatile]), maybe(SHARED), of(&[B128])], &[at(1), s(2)]).since(8, 3, 70),
    row(O::St, &[one(&[Relaxed, Release]), one(NARROW), maybe(SHARED), of(&[B128])], &[at(2), s(3)])
        .since(8, 3, 70),
    row(O::St, &[one(&[Relaxed, Release]), one(&[Sys]), maybe(SHARED), of(&[B128])], &[at(2), s(3)])
        .since(8, 4, 70),
    exchange!(maybe(NARROW), Exch, [s(4)]).since(8, 3, 90),
    exchange!(one(&[Sys]), Exch, [s(4)]).since(8, 4, 90),
    exchange!(maybe(NARROW), Cas, [s(4), s(4)]).since(8, 3, 90),
    exchange!(one(&[Sys]), Cas, [s(4), s(4)]).since(8, 4, 90),
    row(O::Ld, &[one(&[Mmio]), one(&[Relaxed]), one(&[Sys]), OUTSIDE, of(&[B128])], &[d(4), at(3)])
        .since(8, 4, 70),
    row(O::St, &[one(&[Mmio]), one(&[Relaxed]), one(&[Sys]), OUTSIDE, of(&[B128])], &[at(3), s(4)])
        .since(8, 4, 70),
    row(
        O::Ld,
        &[one(&[Global]), maybe(&[Ca, Cg, Cs]), one(&[Nc]), HINT, AHEAD, of(&[B128])],
        &[d(5), within(Global), POLICY.with(3)],
    )
    .since(8, 3, 70),
    row(
        O::Ld,
        &[one(&[Global]), one(&[Nc]), L1, HINT, AHEAD, of(&[B128])],
        &[d(5), within(Global), POLICY.with(3)],
    )
    .since(8, 3, 70),
    // cache hints
    row(O::Prefetch, &[maybe(&[Global, Local]), one(&[Word::L1, L2])], &[at(0)]),
    row(O::Prefetch, &[one(&[Global]), one(&[L2EvictLast, L2EvictNormal])], &[within(Global)])
        .since(7, 4, 80),
    row(O::Prefetch, &[maybe(&[Const, Param]), one(&[Tensormap])], &[at(0)]).since(8, 0, 90),
    row(O::Prefetchu, &[one(&[Word::L1])], &[operand(Kind::Address(Space::Generic))]),
    row(
        O::Applypriority,
        &[maybe(&[Global]), one(&[L2EvictNormal])],
        &[at(0), operand(Kind::Constant(&[128]))],
    )
    .since(7, 4, 80),
    row(O::Discard, &[maybe(&[Global]), one(&[L2])], &[at(0), operand(Kind::Constant(&[128]))])
        .since(7, 4, 80),
    row(
        O::Createpolicy,
        &[
            one(&[Range]),
            maybe(&[Global]),
            one(&[L2EvictLast, L2EvictNormal, L2EvictFirst, L2EvictUnchanged]),
            maybe(&[L2EvictFirst, L2EvictUnchanged]),
            of(&[B64]),
        ],
        &[d(4), at(1), read(U32), read(U32)],
    )
    .since(7, 4, 80),
    row(O::Createpolicy, &[one(&[Word::Cvt]), one(&[L2]), of(&[B64])], &[d(2), s(2)]).since(7, 4, 80),
    row(
        O::Createpolicy,
        &[
            one(&[Fractional]),
            one(&[L2EvictLast, L2EvictNormal, L2EvictFirst, L2EvictUnchanged]),
            maybe(&[L2EvictFirst, L2EvictUnchanged]),
            of(&[B64]),
        ],
        &[d(3), read(F32).optional()],
    )
    .since(7, 4, 80),
];
