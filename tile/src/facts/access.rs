//! The accesses of arrays that a kernel may write, by the coordinates of the elements that they touch.

use super::index::Index;
use super::poly::{Atom, Poly};
use crate::error::Site;
use crate::ir::{ArrayId, Kind, OpId, Order, RegionId, Rmw, Value};

/// An access of an array that the kernel may write. Without an order it conflicts with every other access to the element, unless both load.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The operation.
    pub(super) op: OpId,
    /// The region that it is in.
    pub(super) region: RegionId,
    /// Where the user wrote it.
    pub(super) site: Option<Site>,
    /// Whether it stores.
    pub(super) stores: bool,
    /// Whether it has an order, so that it does not conflict with others that have one.
    pub(super) ordered: bool,
    /// The parameter.
    pub(super) array: ArrayId,
    /// The first element of the tile, or the element of each lane, by the axes of the parameter.
    pub(super) origin: Vec<Poly>,
    /// Extents of the tile; 1 for lanes.
    pub(super) tile: Vec<i64>,
    /// The values that the coordinates are computed from.
    pub(super) values: Vec<Value>,
}

/// All accesses of arrays that may be written, in the order of the program.
pub(super) fn accesses(index: &Index<'_>) -> Vec<Access> {
    let mut found = Vec::new();
    collect(index, index.func.body(), &mut found);
    found
}

fn collect(index: &Index<'_>, region: RegionId, found: &mut Vec<Access>) {
    let func = index.func;
    for &id in &func.region(region).ops {
        let op = func.op(id);
        let (stores, order, skip) = match &op.kind {
            Kind::Load(view) => (false, view.order, 0),
            Kind::Store(view) => (true, view.order, 1),
            Kind::Gather(at) => (false, at.order, 0),
            Kind::Scatter(at) => (true, at.order, 1),
            Kind::Atomic { rmw: Rmw::Cas, at } => (true, at.order, 2),
            Kind::Atomic { at, .. } => (true, at.order, 1),
            _ => {
                op.regions.iter().for_each(|&inner| collect(index, inner, found));
                continue;
            }
        };
        let Some(accessed) = op.kind.array() else { continue };
        let (array, param) = func.param_of(accessed);
        if !param.mutable {
            continue;
        }
        let rank = param.extents.len();
        let mut values: Vec<Value> = op.operands[skip..skip + rank].to_vec();
        let mut origin: Vec<Poly> = values.iter().map(|&value| index.poly(value)).collect();
        let mut tile = vec![1; rank];
        if let Kind::Load(view) | Kind::Store(view) = &op.kind {
            for axis in 0..rank {
                let step = Poly::number(view.steps[axis].into());
                origin[axis] = origin[axis].times(&step).unwrap_or_else(|| free(values[axis]));
                tile[axis] = view.tile[axis].into();
            }
        }
        for (axis, [start, _]) in func.slices(accessed) {
            let sum = origin[axis].plus(&index.poly(start), 1);
            origin[axis] = sum.unwrap_or_else(|| free(start));
            values.push(start);
        }
        found.push(Access {
            op: id,
            region,
            site: op.site,
            stores,
            ordered: order != Order::Weak,
            array,
            origin,
            tile,
            values,
        });
    }
}

fn free(value: Value) -> Poly {
    Poly::atom(Atom::Free(value))
}
