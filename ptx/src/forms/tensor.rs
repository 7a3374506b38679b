//! Tiled and im2col TMA copies (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy").

use super::asynchronous::{COMPLETE, HINT, MASK, POLICY, at, within};
use super::row::*;
use super::{Count, Form, Kind, OperandSlot, Slot, Ty};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::{self, *};

const DIMS: &[Word] = &[Dim1, Dim2, Dim3, Dim4, Dim5];
/// The ranks of im2col tensors: channels, one to three dimensions of pixels, and images.
const SPACED: &[Word] = &[Dim3, Dim4, Dim5];
const TILE: Slot = maybe(&[Tile]);

const fn tensor(dims: usize) -> OperandSlot {
    operand(Kind::Tensor(dims))
}

/// The im2col offsets: the position of a filter's element, one number for each dimension of pixels.
const fn offsets(dims: usize) -> OperandSlot {
    operand(Kind::UseVec(Count::Offsets(dims), Ty::Is(U16)))
}

pub(super) static FORMS: &[Form] = &[
    // tensor copies
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(DIMS),
            one(&[SharedCta]),
            one(&[Global]),
            TILE,
            COMPLETE,
            HINT,
        ],
        &[at(4), tensor(3), within(Shared), POLICY.with(8)],
    )
    .since(8, 6, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(DIMS),
            one(&[SharedCluster]),
            one(&[Global]),
            TILE,
            COMPLETE,
            maybe(&[MulticastCluster]),
            HINT,
        ],
        &[at(4), tensor(3), within(Shared), MASK.with(8), POLICY.with(9)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(DIMS),
            one(&[Global]),
            one(&[SharedCta]),
            TILE,
            one(&[BulkGroup]),
            HINT,
        ],
        &[tensor(3), at(5), POLICY.with(8)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(DIMS),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[Add, Min, Max, Inc, Dec, And, Or, Xor]),
            TILE,
            one(&[BulkGroup]),
            HINT,
        ],
        &[tensor(4), at(6), POLICY.with(10)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Word::Prefetch]),
            one(&[Tensor]),
            one(DIMS),
            one(&[L2]),
            one(&[Global]),
            TILE,
            HINT,
        ],
        &[tensor(4), POLICY.with(8)],
    )
    .since(8, 0, 90),
    // im2col tensor copies
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(SPACED),
            one(&[SharedCta]),
            one(&[Global]),
            one(&[Im2col]),
            COMPLETE,
            HINT,
        ],
        &[at(4), tensor(3), within(Shared), offsets(3), POLICY.with(8)],
    )
    .since(8, 6, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(SPACED),
            one(&[SharedCluster]),
            one(&[Global]),
            one(&[Im2col]),
            COMPLETE,
            maybe(&[MulticastCluster]),
            HINT,
        ],
        &[at(4), tensor(3), within(Shared), offsets(3), MASK.with(8), POLICY.with(9)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(SPACED),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[Im2colNoOffs]),
            one(&[BulkGroup]),
            HINT,
        ],
        &[tensor(3), at(5), POLICY.with(8)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Reduce]),
            one(&[Async]),
            one(&[Bulk]),
            one(&[Tensor]),
            one(SPACED),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[Add, Min, Max, Inc, Dec, And, Or, Xor]),
            one(&[Im2colNoOffs]),
            one(&[BulkGroup]),
            HINT,
        ],
        &[tensor(4), at(6), POLICY.with(10)],
    )
    .since(8, 0, 90),
    row(
        O::Cp,
        &[
            one(&[Async]),
            one(&[Bulk]),
            one(&[Word::Prefetch]),
            one(&[Tensor]),
            one(SPACED),
            one(&[L2]),
            one(&[Global]),
            one(&[Im2col]),
            HINT,
        ],
        &[tensor(4), offsets(4), POLICY.with(8)],
    )
    .since(8, 0, 90),
];
