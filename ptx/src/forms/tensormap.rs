//! Tensor maps made by a kernel (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").

use super::row::*;
use super::{Form, Kind, OperandSlot, Slot, Space};
use crate::Opcode as O;
use crate::Type::*;
use crate::Word::{self, *};

const REPLACE: Slot = one(&[Replace]);
const SPACE: Slot = maybe(&[Global, SharedCta]);
const MAP: OperandSlot = operand(Kind::Address(Space::Slot(3)));
/// The number of a dimension, 0 being the innermost, or of a stride, 0 being the stride of dimension 1.
const ORDINAL: OperandSlot = operand(Kind::Constant(&[0, 1, 2, 3, 4]));

/// A field that takes one of the numbers `$accepted`.
macro_rules! choice {
    ($field:ident, $accepted:expr) => {
        row(
            O::Tensormap,
            &[REPLACE, one(&[Tile]), one(&[$field]), SPACE, one(&[B1024]), of(&[B32])],
            &[MAP, operand(Kind::Constant($accepted))],
        )
    };
}

pub(super) static FORMS: &[Form] = &[
    row(
        O::Tensormap,
        &[REPLACE, one(&[Tile]), one(&[GlobalAddress]), SPACE, one(&[B1024]), of(&[B64])],
        &[MAP, read(B64)],
    )
    .since(8, 3, 90)
    .specific(),
    row(
        O::Tensormap,
        &[REPLACE, one(&[Tile]), one(&[Rank]), SPACE, one(&[B1024]), of(&[B32])],
        &[MAP, read(B32)],
    )
    .since(8, 3, 90)
    .specific(),
    row(
        O::Tensormap,
        &[REPLACE, one(&[Tile]), one(&[BoxDim, GlobalDim, ElementStride]), SPACE, one(&[B1024]), of(&[B32])],
        &[MAP, ORDINAL, read(B32)],
    )
    .since(8, 3, 90)
    .specific(),
    row(
        O::Tensormap,
        &[REPLACE, one(&[Tile]), one(&[GlobalStride]), SPACE, one(&[B1024]), of(&[B64])],
        &[MAP, ORDINAL, read(B64)],
    )
    .since(8, 3, 90)
    .specific(),
    choice!(Elemtype, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]).since(8, 3, 90).specific(),
    choice!(InterleaveLayout, &[0, 1, 2]).since(8, 3, 90).specific(),
    choice!(SwizzleMode, &[0, 1, 2, 3]).since(8, 3, 90).specific(),
    choice!(FillMode, &[0, 1]).since(8, 3, 90).specific(),
    // Copies a tensor map from shared to global memory and releases it to the threads that acquire it.
    row(
        O::Tensormap,
        &[
            one(&[CpFenceproxy]),
            one(&[Global]),
            one(&[SharedCta]),
            one(&[TensormapGeneric]),
            one(&[Release]),
            one(&[Cta, Word::Cluster, Gpu, Sys]),
            one(&[Sync]),
            one(&[Aligned]),
        ],
        &[
            operand(Kind::Address(Space::Slot(1))),
            operand(Kind::Address(Space::Slot(2))),
            operand(Kind::Constant(&[128])),
        ],
    )
    .since(8, 3, 90),
];
