//! The grid that follows from a kernel's stores.

use super::bounds::single_bid;
use super::index::Index;
use crate::fit;
use crate::ir::{Array, ArrayId, Func, Kind};

/// One axis of a grid: a block for each tile of an array along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridAxis {
    /// The array parameter.
    pub array: ArrayId,
    /// Its axis.
    pub along: u8,
    /// Distance of neighbouring tiles.
    pub step: u32,
}

/// The grid that has a block for each tile that is stored, if the index of a store is a permutation of block indices. It may also contain numbers
/// that are the same in all blocks.
///
/// # Errors
/// Why the stores do not say it.
pub fn infer(func: &Func) -> Result<[Option<GridAxis>; 3], String> {
    let index = Index::new(func);
    let used = super::check::axes_used(func);
    let mut found: Option<[Option<GridAxis>; 3]> = None;
    let mut why = String::from("nothing is stored by tiles");
    func.walk(func.body(), &mut |_, op| {
        let Kind::Store(view) = &op.kind else { return };
        let Array::Param(param) = &func.arrays()[view.array.index()] else {
            why = String::from("only a part of an array is stored to");
            return;
        };
        let mut axes = [None; 3];
        for (along, &value) in op.operands[1..].iter().enumerate() {
            if let Some(axis) = single_bid(&index.poly(value)) {
                let (along, step) = (fit::axis(along), view.steps[along]);
                axes[usize::from(axis)] = Some(GridAxis { array: view.array, along, step });
            }
        }
        if (0..3).any(|axis| used[axis] && axes[axis].is_none()) {
            why = format!("a store to `{}` is not indexed by every block number", param.name);
        } else if found.is_none() {
            found = Some(axes);
        }
    });
    found.ok_or(why)
}
