//! A placement without a search: every tile row-major over the block.

use std::collections::BTreeMap;

use girih_codegen::plan::Dist;

use super::Plan;
use super::assemble::assemble;
use super::rule::extents;
use super::wgmma::Products;
use crate::ir::{Dims, Func, Kind, OpId};

/// Places every tile row by row over the block, in vectors of 16 bytes if tiles of its shape are loaded or stored. `threads` is a power of two, 32 or
/// more.
pub fn naive(func: &Func, threads: u32) -> Plan {
    let mut vectors: BTreeMap<Dims, i64> = BTreeMap::new();
    func.walk(func.body(), &mut |_, op| {
        let value = match op.kind {
            Kind::Load(_) => op.results.first(),
            Kind::Store(_) => op.operands.first(),
            _ => None,
        };
        if let Some(&value) = value {
            let ty = func.ty(value);
            let vector = vectors.entry(ty.dims).or_insert(1);
            *vector = (*vector).max(128 / i64::from(ty.dtype.bits().max(8)));
        }
    });
    let blocked = |dims: &Dims, vector: Option<i64>| {
        let extents = extents(dims);
        let mut vector = vector.or_else(|| vectors.get(dims).copied()).unwrap_or(4);
        let last = extents.last().copied().unwrap_or(1).max(1);
        while vector > 1 && (last % vector != 0 || dims.size() as i64 / vector < i64::from(threads)) {
            vector /= 2;
        }
        let order: Vec<usize> = (0..extents.len()).rev().collect();
        Dist::blocked(&extents, &order, vector, i64::from(threads))
    };
    let plan = assemble(func, threads, Products::default(), |id: OpId, at| {
        let op = func.op(id);
        let of = |value: crate::ir::Value| func.ty(value).dims;
        match &op.kind {
            Kind::Permute(_) | Kind::Store(_) | Kind::Reduce { .. } | Kind::Scatter(_) => None,
            Kind::Atomic { .. } => {
                let dims = of(op.operands[0]);
                let dist = blocked(&dims, None);
                Some(if dims.rank() == 0 { dist } else { dist.distinct(0) })
            }
            Kind::Sort { axis, .. } => {
                let dims = of(op.results[0]);
                let axis = usize::from(*axis);
                Some(blocked(&dims.with(axis, dims[axis].next_power_of_two()), None))
            }
            _ => op.results.get(at).map(|&result| blocked(&of(result), None)),
        }
    });
    debug_assert_eq!(plan.verify(), Ok(()));
    plan
}
