//! The reads of shared memory by `wgmma`, and their records in the shadow.

use std::ops::Range;
use std::sync::Arc;

use crate::op::{Left, Major, MmaType, Wgmma};
use crate::shadow::{By, Who};
use crate::{Access, Error};

use super::super::context::Context;
use super::group::{WARPS, Warpgroup};
use super::product::{self, Chunk, ROWS, Shape};

/// Tells the shadow what an operation will read for a warp, at its issue.
pub(super) fn begin_reads(cx: &mut Context<'_>, ranges: &[Range<usize>], who: Who) -> Result<(), Error> {
    for range in ranges {
        let Some(shadow) = &mut cx.shadow else { break };
        let found = shadow.begin_async_read((who, u32::MAX), range.start, range.len(), false);
        cx.checked(who, Access::Read, range.start, range.len(), found)?;
    }
    Ok(())
}

/// A warp has waited for an operation. If it is the first to do so, tells the shadow that the reads for all four warps
/// are over.
pub(super) fn complete(cx: &mut Context<'_>, group: usize, number: u64) {
    let Warpgroup { completed, .. } = cx.warpgroups[group];
    if completed > number {
        return;
    }
    cx.warpgroups[group].completed = number + 1;
    let Some(shadow) = &mut cx.shadow else { return };
    let counter = *cx.warpgroups[group].counter.get_or_insert_with(|| shadow.counter());
    let Some(operation) = cx.warpgroups[group].operation(number) else { return };
    let by = By::Phase { mbarrier: counter, phase: number as u32 + 1, operation: operation.shadow };
    for range in operation.ranges.iter() {
        (0..WARPS).for_each(|_| shadow.end_async_read(by, range.start, range.len()));
    }
}

/// The chunks `(i, j)` of a matrix with this many rows of A or columns of B; of one that is twice as long along K if it
/// is `wide`.
pub(super) fn chunks(major: Major, rows: usize, wide: bool) -> impl Iterator<Item = (usize, usize)> {
    // MN-major elements have 16 bits, of which there are 16 along K.
    let (outer, inner) = if major == Major::K { (rows, 2) } else { (rows / 8, 16) };
    let inner = if wide { 2 * inner } else { inner };
    (0..outer).flat_map(move |i| (0..inner).map(move |j| (i, j)))
}

/// The bytes of chunks as few ranges.
pub(super) fn merged(chunks: &[usize]) -> Vec<Range<usize>> {
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in sorted {
        match ranges.last_mut() {
            Some(last) if last.end == at => last.end = at + 16,
            _ => ranges.push(at..at + 16),
        }
    }
    ranges
}

/// Reads the matrices of an operation from shared memory, unless that has happened.
pub(super) fn read(cx: &mut Context<'_>, group: usize, op: &Wgmma, number: u64) {
    let Some(operation) = cx.warpgroups[group].operation(number) else { return };
    if operation.matrices.is_some() {
        return;
    }
    let places = operation.chunks.clone();
    let has_a = matches!(op.a, Left::Descriptor(_));
    let (of_a, of_b) = places.split_at(if has_a { 2 * WARPS * ROWS } else { 0 });
    let shared = &cx.shared;
    let gather = |ty: MmaType, major, shape: Shape, places: &[usize]| {
        let bytes = |&at: &usize| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&shared[at..at + 16]);
            bytes
        };
        let chunks: Vec<Chunk> =
            chunks(major, shape.rows, shape.wide).zip(places).map(|((i, j), at)| (i, j, bytes(at))).collect();
        product::gather(ty, major, shape, &chunks)
    };
    let a = Shape { rows: WARPS * ROWS, by_columns: false, wide: false, negate: op.negate_a };
    let b = Shape { rows: op.n, by_columns: true, wide: op.sparse.is_some(), negate: op.negate_b };
    let a = has_a.then(|| gather(op.a_ty, op.a_major, a, of_a));
    let matrices = (a, gather(op.b_ty, op.b_major, b, of_b));
    if let Some(operation) = cx.warpgroups[group].operation(number) {
        operation.matrices = Some(Arc::new(matrices));
    }
}
