//! Coverage: elements of outputs that no store of a launch reaches.

use super::access::accesses;
use super::index::Index;
use super::interval::{Concrete, Intervals};
use crate::fit;
use crate::ir::{ArrayId, Func, Kind};

/// Elements along an axis of an array that no store of a launch reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    /// The array.
    pub(crate) array: ArrayId,
    /// Its axis.
    pub(crate) axis: u8,
    /// Stores reach the elements below this one.
    pub(crate) covered: i64,
    /// The extent.
    pub(crate) extent: i64,
}

/// The axes of arrays, stored to by tiles alone, along which the stores of a launch surely do not reach the end.
pub(crate) fn short(func: &Func, with: &Concrete) -> Vec<Short> {
    let index = Index::new(func);
    let all = accesses(&index);
    let mut found = Vec::new();
    for (array, param) in func.params() {
        let stores: Vec<_> = all.iter().filter(|access| access.array == array && access.stores).collect();
        let by_tiles = stores.iter().all(|access| {
            !access.ordered && matches!(func.op(access.op).kind, Kind::Store(_) | Kind::Scatter(_))
        });
        if stores.is_empty() || !by_tiles {
            continue;
        }
        for axis in 0..param.extents.len() {
            let reach = |access: &&super::access::Access| {
                let conditions = index.conditions(access.region);
                let origin = Intervals::new(&index, with, &conditions).poly(&access.origin[axis])?;
                Some(origin.1 + i128::from(access.tile[axis]))
            };
            let reach: Option<Vec<i128>> = stores.iter().map(reach).collect();
            let Some(extent) = with.extent(array, fit::axis(axis)) else { continue };
            let covered = reach.and_then(|reach| reach.into_iter().max()).unwrap_or(i128::MAX).max(0);
            // Only a cover below the extent is reported.
            if let Some(covered) = i64::try_from(covered).ok().filter(|&covered| covered < extent) {
                found.push(Short { array, axis: fit::axis(axis), covered, extent });
            }
        }
    }
    found
}
