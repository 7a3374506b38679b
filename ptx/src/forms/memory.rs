//! Loads, stores, reductions and atomics, cache hints (PTX ISA, "Data Movement and Conversion Instructions" and
//! "Parallel Synchronization and Communication Instructions": `ld`, `st`, `prefetch`, `discard`, `createpolicy`,
//! `atom`, `red`).

use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Space, Ty};
use crate::Opcode as O;
use crate::Type::{self, *};
use crate::Word::{self, *};

const TYPES: Slot = of(&[B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64]);
const LOADED: &[Word] = &[Const, Global, Local, Param, ParamEntry, Shared, SharedCta, SharedCluster];
const STORED: &[Word] = &[Global, Local, Shared, SharedCta, SharedCluster];
const SHARED: &[Word] = &[Global, Shared, SharedCta, SharedCluster];
const VEC: Slot = maybe(&[V2, V4]);
const L1: Slot = maybe(&[L1EvictNormal, L1EvictUnchanged, L1EvictFirst, L1EvictLast, L1NoAllocate]);
const HINT: Slot = maybe(&[L2CacheHint]);
const AHEAD: Slot = maybe(&[L2Prefetch64, L2Prefetch128, L2Prefetch256]);
const LOAD_CACHE: &[Word] = &[Ca, Cg, Cs, Lu, Cv];
const STORE_CACHE: &[Word] = &[Wb, Cg, Cs, Wt];
const SCOPE: &[Word] = &[Cta, Cluster, Gpu, Sys];
const ORDER: &[Word] = &[Relaxed, Acquire, Release, AcqRel];
const POLICY: OperandSlot = read(B64);

/// What a load writes: scalar or vector.
const fn to(vec: usize, ty: usize) -> OperandSlot {
    operand(Kind::DefVec(Count::Slot(vec), Ty::Wider(ty)))
}
/// What a store reads: scalar or vector.
const fn from(vec: usize, ty: usize) -> OperandSlot {
    operand(Kind::UseVec(Count::Slot(vec), Ty::Wider(ty)))
}
const fn at(slot: usize) -> OperandSlot {
    operand(Kind::Address(Space::Slot(slot)))
}
const fn within(space: Word) -> OperandSlot {
    operand(Kind::Address(Space::Is(space)))
}

const ATOM_INT: &[Type] = &[U32, U64, S32];
const BITWISE: &[Word] = &[And, Or, Xor];
const EXTREMA: &[Type] = &[U32, U64, S32, S64];

pub(super) static FORMS: &[Form] = &[
    row(O::Ld, &[maybe(&[Weak]), maybe(LOADED), VEC, TYPES], &[to(2, 3), at(1)]),
    row(
        O::Ld,
        &[maybe(&[Weak]), maybe(&[Const, Global, Local, Shared, SharedCta]), one(LOAD_CACHE), VEC, TYPES],
        &[to(3, 4), at(1)],
    ),
    row(
        O::Ld,
        &[maybe(&[Weak]), maybe(&[Global]), L1, HINT, AHEAD, VEC, TYPES],
        &[to(5, 6), at(1), POLICY.with(3)],
    ),
    row(
        O::Ld,
        &[one(&[Global]), maybe(&[Ca, Cg, Cs]), one(&[Nc]), HINT, AHEAD, VEC, TYPES],
        &[to(5, 6), within(Global), POLICY.with(3)],
    ),
    row(
        O::Ld,
        &[one(&[Global]), one(&[Nc]), L1, HINT, AHEAD, VEC, TYPES],
        &[to(5, 6), within(Global), POLICY.with(3)],
    ),
    row(
        O::Ld,
        &[one(&[Volatile]), maybe(&[Const, Global, Local, Shared, SharedCta]), VEC, TYPES],
        &[to(2, 3), at(1)],
    ),
    row(O::Ld, &[one(&[Relaxed, Acquire]), one(SCOPE), maybe(SHARED), VEC, TYPES], &[to(3, 4), at(2)]),
    row(
        O::Ld,
        &[one(&[Relaxed, Acquire]), one(SCOPE), maybe(&[Global]), L1, HINT, AHEAD, VEC, TYPES],
        &[to(6, 7), at(2), POLICY.with(4)],
    ),
    row(O::St, &[maybe(&[Weak]), maybe(STORED), VEC, TYPES], &[at(1), from(2, 3)]),
    row(
        O::St,
        &[maybe(&[Weak]), maybe(&[Global, Local, Shared, SharedCta]), one(STORE_CACHE), VEC, TYPES],
        &[at(1), from(3, 4)],
    ),
    row(
        O::St,
        &[maybe(&[Weak]), maybe(&[Global]), L1, HINT, VEC, TYPES],
        &[at(1), from(4, 5), POLICY.with(3)],
    ),
    row(
        O::St,
        &[one(&[Volatile]), maybe(&[Global, Local, Shared, SharedCta]), VEC, TYPES],
        &[at(1), from(2, 3)],
    ),
    row(O::St, &[one(&[Relaxed, Release]), one(SCOPE), maybe(SHARED), VEC, TYPES], &[at(2), from(3, 4)]),
    row(
        O::St,
        &[one(&[Relaxed, Release]), one(SCOPE), maybe(&[Global]), L1, HINT, VEC, TYPES],
        &[at(2), from(5, 6), POLICY.with(4)],
    ),
    // cache hints
    row(O::Prefetch, &[maybe(&[Global, Local]), one(&[Word::L1, L2])], &[at(0)]),
    row(O::Prefetch, &[one(&[Global]), one(&[L2EvictLast, L2EvictNormal])], &[within(Global)])
        .since(7, 4, 80),
    row(O::Prefetch, &[maybe(&[Const, Param]), one(&[Tensormap])], &[at(0)]).since(8, 0, 90),
    row(O::Discard, &[maybe(&[Global]), one(&[L2])], &[at(0), operand(Kind::Constant(&[128]))])
        .since(7, 4, 80),
    row(
        O::Createpolicy,
        &[
            one(&[Fractional]),
            one(&[L2EvictLast, L2EvictNormal, L2EvictFirst, L2EvictUnchanged]),
            maybe(&[L2EvictFirst, L2EvictUnchanged]),
            of(&[B64]),
        ],
        &[d(3), operand(Kind::Fraction).optional()],
    )
    .since(7, 4, 80),
    // reductions and atomics
    row(
        O::Red,
        &[maybe(&[Relaxed, Release]), maybe(SCOPE), maybe(SHARED), one(&[Add]), HINT, of(ATOM_INT)],
        &[at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Red,
        &[maybe(&[Relaxed, Release]), maybe(SCOPE), maybe(SHARED), one(&[Add]), HINT, of(&[F32, F64])],
        &[at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Red,
        &[maybe(&[Relaxed, Release]), maybe(SCOPE), maybe(SHARED), one(&[Min, Max]), HINT, of(EXTREMA)],
        &[at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Red,
        &[maybe(&[Relaxed, Release]), maybe(SCOPE), maybe(SHARED), one(BITWISE), HINT, of(&[B32, B64])],
        &[at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Red,
        &[maybe(&[Relaxed, Release]), maybe(SCOPE), maybe(SHARED), one(&[Inc, Dec]), HINT, of(&[U32])],
        &[at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Red,
        &[
            maybe(&[Relaxed, Release]),
            maybe(SCOPE),
            maybe(&[Global]),
            one(&[Add]),
            HINT,
            one(&[V2, V4]),
            of(&[F32]),
        ],
        &[at(2), operand(Kind::UseVec(Count::Slot(5), Ty::Slot(6))), POLICY.with(4)],
    )
    .since(8, 1, 90),
    row(
        O::Red,
        &[
            maybe(&[Relaxed, Release]),
            maybe(SCOPE),
            maybe(SHARED),
            one(&[Add]),
            one(&[Noftz]),
            HINT,
            of(&[F16, F16x2]),
        ],
        &[at(2), s(6), POLICY.with(5)],
    ),
    row(
        O::Red,
        &[
            maybe(&[Relaxed, Release]),
            maybe(SCOPE),
            maybe(SHARED),
            one(&[Add]),
            one(&[Noftz]),
            HINT,
            of(&[Bf16, Bf16x2]),
        ],
        &[at(2), s(6), POLICY.with(5)],
    )
    .since(7, 8, 90),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[Add]), HINT, of(&[U32, U64, S32, F32, F64])],
        &[operand(Kind::DefOrSink(Ty::Slot(5))), at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[Min, Max]), HINT, of(EXTREMA)],
        &[operand(Kind::DefOrSink(Ty::Slot(5))), at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[And, Or, Xor, Exch]), HINT, of(&[B32, B64])],
        &[operand(Kind::DefOrSink(Ty::Slot(5))), at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[Inc, Dec]), HINT, of(&[U32])],
        &[operand(Kind::DefOrSink(Ty::Slot(5))), at(2), s(5), POLICY.with(4)],
    ),
    row(
        O::Atom,
        &[maybe(ORDER), maybe(SCOPE), maybe(SHARED), one(&[Cas]), HINT, of(&[B16, B32, B64])],
        &[operand(Kind::DefOrSink(Ty::Slot(5))), at(2), s(5), s(5), POLICY.with(4)],
    ),
];
