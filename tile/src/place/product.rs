//! Products whose sums are in registers: which way each goes, and what its threads need of the operands.
//!
//! The distribution of the sums says which elements of the result a thread computes. What it needs of an operand is the operand's *fragment*. An
//! operand that is in the fragment's distribution is taken from its registers; any other is staged in shared memory by the product, and read
//! from there as it is needed.

use girih_codegen::plan::{Dist, Leaf, primes};
use girih_tensor::DType;

use super::access::{WIDEST, run};
use super::cost::SHARED;
use super::exchange::{ROUND_TRIP, bytes, rename};
use crate::ir::{Dims, Func, Op};

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each thread multiplies and adds.
    Fma,
}

/// Registers of a fragment that stays in registers around a loop.
const KEPT: f64 = 64.0;

/// The way of a product whose sums have a distribution.
pub(crate) fn way(_func: &Func, _op: &Op, _sums: &Dist) -> Way {
    Way::Fma
}

/// The distribution of what threads need of the operands for sums of a distribution.
pub(crate) fn fragments(func: &Func, op: &Op, sums: &Dist) -> [Dist; 2] {
    let a = func.ty(op.operands[0]).dims;
    let (row, column) = (a.rank() - 2, a.rank() - 1);
    let k = i64::from(a[column]);
    [whole(sums.slice(column), column, k), whole(sums.slice(row), row, k)]
}

/// A distribution with all of a further mode's elements in each thread, behind the others.
pub(crate) fn whole(mut dist: Dist, mode: usize, n: i64) -> Dist {
    let mut scale = 1;
    for extent in primes(n) {
        dist.vals.push(Leaf { extent, mode, scale });
        scale *= extent;
    }
    dist
}

/// The number of a value of a distribution among those of its [slice](Dist::slice) along a mode.
pub(crate) fn sliced(dist: &Dist, mode: usize, mut value: usize) -> usize {
    let (mut at, mut below) = (0, 1);
    for leaf in &dist.vals {
        let n = leaf.extent as usize;
        if leaf.mode != mode {
            at += value % n * below;
            below *= n;
        }
        value /= n;
    }
    at
}

/// What an operand needs that is staged in shared memory, in issue slots of a warp.
pub(crate) fn staging(dims: &Dims, dtype: DType, from: &Dist) -> f64 {
    let widest = WIDEST / bytes(dtype);
    let vector = (0..dims.rank()).map(|mode| run(from, mode).min(widest)).max().unwrap_or(1);
    ROUND_TRIP / 2.0 + SHARED * from.size() as f64 / vector as f64
}

/// Whether an operand that is in the distribution `from` is taken from registers. `around` says that it was computed outside of a loop that
/// the product is in.
pub(crate) fn in_registers(dims: &Dims, dtype: DType, from: &Dist, fragment: &Dist, around: bool) -> bool {
    let words = fragment.size() as f64 * f64::from(dtype.bits().max(16)) / 32.0;
    rename(dims, from, fragment).is_some() || around && words <= KEPT
}

/// Issue slots of a warp for a product's instructions and what they read.
pub(crate) fn cost(func: &Func, op: &Op, sums: &Dist) -> f64 {
    let dtype = func.ty(op.operands[0]).dtype;
    let k = f64::from(func.ty(op.operands[0]).dims[func.ty(op.operands[0]).dims.rank() - 1]);
    let each = match dtype {
        DType::F64 => 2.0,
        _ => 1.0,
    };
    let read: f64 = fragments(func, op, sums).iter().map(|fragment| fragment.size() as f64).sum();
    k * sums.size() as f64 * each + SHARED * read / 4.0
}
