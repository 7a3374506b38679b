//! MMAs with the accumulator in registers: the instruction of each, and the fragments that its threads need.
//!
//! The distribution of the accumulator decides which elements of the result a thread computes, and so which elements of an operand it needs: the
//! operand's *fragment*. An operand that already has the fragment's distribution stays in registers. The MMA stages any other operand in shared
//! memory, and reads fragments from there.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn product(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
//!     let mut sums = zeros::<f32>([128, 128]);
//!     for k in 0..cdiv(a.dim(1), 64) {
//!         let left = a.tiles([128, 64]).padding(Padding::Zero).load((bid(0), k));
//!         let right = b.tiles([64, 128]).padding(Padding::Zero).load((k, bid(1)));
//!         sums = mma(left, right, sums);
//!     }
//!     c.tiles_mut([128, 128]).store((bid(0), bid(1)), sums);
//! }
//!
//! use girih_tile::{ir::Kind, place::{place, product::Way}};
//!
//! let plan = place(&product::ir()?, 80)?;
//! let mut ways = Vec::new();
//! plan.func.walk(plan.func.body(), &mut |id, op| {
//!     if op.kind == Kind::Mma {
//!         ways.push(plan.way(id));
//!     }
//! });
//! assert!(matches!(&ways[..], [Way::Sync(atom)] if atom.shape_mnk == [16, 8, 16]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use girih_codegen::atom::MmaAtom;
use girih_codegen::plan::{Dist, LANE_BITS, Leaf, ROUND_TRIP, WIDEST, fastest, primes, rename, run};
use girih_layout::Lay;
use girih_tensor::DType;

use super::cost::SHARED;
use super::rule::wish;
use super::wgmma::Products;
use crate::fit;
use crate::ir::{Dims, Func, Kind, Op, OpId};

/// How an MMA is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// Each thread multiplies and adds.
    Fma,
    /// The warps multiply by `mma.sync`, whose C is the distribution of the accumulators.
    Sync(Box<MmaAtom>),
}

/// Registers of a fragment that stays in registers around a loop.
const KEPT: f64 = 64.0;

/// One of an atom's operands in the coordinates of a tile.
fn operand(layout: &Lay, extents: [i64; 2], modes: [usize; 2]) -> Option<Dist> {
    let dist = Dist::of(layout, &extents)?;
    let bits = dist.bits.iter().map(|bit| bit.map(|(mode, scale)| (modes[mode], scale))).collect();
    let vals = dist.vals.iter().map(|leaf| Leaf { mode: modes[leaf.mode], ..*leaf }).collect();
    Some(Dist { bits, vals })
}

/// An atom's C in the last two modes of a tile.
pub(crate) fn sums_of(atom: &MmaAtom, rank: usize) -> Option<Dist> {
    let [m, n, _] = atom.shape_mnk;
    operand(&atom.c, [m, n], [rank - 2, rank - 1])
}

/// An atom's A in the last two modes of a tile, or its B, whose K comes before N.
pub(crate) fn factor_of(atom: &MmaAtom, which: usize, rank: usize) -> Option<Dist> {
    let [m, n, k] = atom.shape_mnk;
    match which {
        0 => operand(&atom.a, [m, k], [rank - 2, rank - 1]),
        _ => operand(&atom.b, [n, k], [rank - 1, rank - 2]),
    }
}

/// The atoms that an MMA could have, the one that wastes the least of K first, of these the largest.
fn atoms(func: &Func, op: &Op, sm: u32) -> Vec<MmaAtom> {
    let [a, b, c] = [0, 1, 2].map(|at| func.ty(op.operands[at]));
    let k = i64::from(a.dims[a.dims.rank() - 1]);
    let mut atoms = MmaAtom::of_warps([c.dtype, a.dtype, b.dtype], sm);
    atoms.sort_by_key(|atom| {
        let [m, _, deep] = atom.shape_mnk;
        ((k + deep - 1) / deep * deep, -m * deep)
    });
    atoms
}

/// The way of an MMA whose accumulators have a distribution, on an architecture.
pub(crate) fn way(func: &Func, op: &Op, sums: &Dist, sm: u32) -> Way {
    let rank = func.ty(op.operands[2]).dims.rank();
    let fits = |atom: &MmaAtom| {
        sums_of(atom, rank).is_some_and(|c| {
            sums.bits.starts_with(&c.bits) && c.vals.iter().all(|leaf| sums.vals.contains(leaf))
        })
    };
    atoms(func, op, sm).into_iter().find(fits).map_or(Way::Fma, |atom| Way::Sync(Box::new(atom)))
}

/// The distribution of what threads need of the operands for accumulators of a distribution.
pub(crate) fn fragments(func: &Func, op: &Op, sums: &Dist, sm: u32) -> [Dist; 2] {
    let a = func.ty(op.operands[0]).dims;
    let (row, column) = (a.rank() - 2, a.rank() - 1);
    let k = i64::from(a[column]);
    let plain = [whole(sums.slice(column), column, 1, k), whole(sums.slice(row), row, 1, k)];
    let Way::Sync(atom) = way(func, op, sums, sm) else { return plain };
    let Some(c) = sums_of(&atom, a.rank()) else { return plain };
    let deep = atom.shape_mnk[2];
    [0, 1].map(|which| {
        let along = [column, row][which];
        let Some(mut dist) = factor_of(&atom, which, a.rank()) else { return plain[which].clone() };
        let others = sums.slice(along);
        dist.bits.extend_from_slice(&others.bits[LANE_BITS..]);
        dist.vals.extend(others.vals.iter().filter(|leaf| !c.vals.contains(leaf)));
        whole(dist, along, deep, (k + deep - 1) / deep)
    })
}

/// The distributions of accumulators by `mma.sync`, those that read the least first: the warps over batches, then in every way over rows and columns.
pub(crate) fn of_warps(func: &Func, op: &Op, threads: usize, sm: u32) -> Vec<Dist> {
    let dims = func.ty(op.operands[2]).dims;
    let (row, column) = (dims.rank() - 2, dims.rank() - 1);
    let mut found: Vec<Dist> = Vec::new();
    for atom in atoms(func, op, sm) {
        let Some(c) = sums_of(&atom, dims.rank()).filter(|c| c.bits.len() == LANE_BITS) else { continue };
        for over_rows in 0..=threads.saturating_sub(LANE_BITS) {
            let mut deal = c.clone();
            let mut scale: Vec<i64> = vec![1; dims.rank()];
            [scale[row], scale[column]] = [atom.shape_mnk[0], atom.shape_mnk[1]];
            let mut bits = |deal: &mut Dist, mode: usize, most: usize| {
                let mut count = 0;
                while count < most && deal.bits.len() < threads && scale[mode] < i64::from(dims[mode]) {
                    deal.bits.push(Some((mode, scale[mode])));
                    scale[mode] *= 2;
                    count += 1;
                }
                count
            };
            for mode in 0..row {
                bits(&mut deal, mode, threads);
            }
            if bits(&mut deal, row, over_rows) < over_rows {
                break;
            }
            bits(&mut deal, column, threads);
            deal.bits.resize(threads, None);
            for mode in [column, row].into_iter().chain(0..row) {
                let left = (i64::from(dims[mode]) + scale[mode] - 1) / scale[mode];
                deal = whole(deal, mode, scale[mode], left);
            }
            if !found.contains(&deal) {
                found.push(deal);
            }
        }
    }
    found.sort_by(|x, y| cost(func, op, x, sm).total_cmp(&cost(func, op, y, sm)));
    found
}

/// A distribution with `n` more values in each thread along a mode, which are `scale` apart, after the others.
pub(crate) fn whole(mut dist: Dist, mode: usize, mut scale: i64, n: i64) -> Dist {
    for extent in primes(n) {
        dist.vals.push(Leaf { extent, mode, scale });
        scale *= extent;
    }
    dist
}

/// The number of a value of a distribution among those of its [slice](Dist::slice) along a mode.
pub(crate) fn sliced(dist: &Dist, mode: usize, value: usize) -> usize {
    sliced_along(dist, |other| other == mode, value)
}

/// As [`sliced`] along several modes.
pub(crate) fn sliced_along(dist: &Dist, along: impl Fn(usize) -> bool, mut value: usize) -> usize {
    let (mut at, mut below) = (0, 1);
    for leaf in &dist.vals {
        let n = fit::size(leaf.extent);
        if !along(leaf.mode) {
            at += value % n * below;
            below *= n;
        }
        value /= n;
    }
    at
}

/// The modes along which the elements of an operand may be in a row in shared memory, that of K first: of 8 bits, where `ldmatrix` exchanges
/// no rows and columns, along K alone.
pub(crate) fn row_modes(dtype: DType, which: usize, rank: usize) -> Vec<usize> {
    let [along, other] = [[rank - 1, rank - 2], [rank - 2, rank - 1]][which];
    if dtype.bits() == 8 { vec![along] } else { vec![along, other] }
}

/// The strides of an operand in shared memory, and its size in bytes: elements of `size` bytes are in rows along an axis, which begin at multiples of 16 bytes and
/// differ in the banks they begin in.
pub(crate) fn rows(extents: &[i64], fast: usize, size: i64) -> (Vec<i64>, i64) {
    let (rank, widest) = (extents.len(), WIDEST / size);
    let (mut strides, mut end) = (vec![1; rank], 1);
    for (i, &mode) in fastest(fast, rank).iter().enumerate() {
        strides[mode] = end;
        end *= match i {
            // An odd number of vectors.
            0 => (((extents[mode] + widest - 1) / widest) | 1) * widest,
            _ => extents[mode],
        };
    }
    (strides, (end * size + WIDEST - 1) / WIDEST * WIDEST)
}

/// The cost of an operand that is staged in shared memory, in issue slots of a warp.
///
/// Elements are in a row along one of `rows`.
pub(crate) fn staging(dtype: DType, from: &Dist, rows: &[usize]) -> f64 {
    let widest = WIDEST / dtype.bytes();
    let vector = rows.iter().map(|&mode| run(from, mode).min(widest)).max().unwrap_or(1);
    ROUND_TRIP / 2.0 + SHARED * from.size() as f64 / vector as f64
}

/// Whether an operand that is in the distribution `from` is taken from registers. `around` says that it was computed outside of a loop that
/// the MMA is in.
pub(crate) fn in_registers(dims: &Dims, dtype: DType, from: &Dist, fragment: &Dist, around: bool) -> bool {
    let words = fragment.size() as f64 * f64::from(dtype.bits().max(16)) / 32.0;
    rename(dims, from, fragment).is_some() || around && words <= KEPT
}

/// Registers of 32 bits that a thread needs of operands in shared memory at a time. `held` says which are in registers, all of them.
pub(crate) fn working(func: &Func, op: &Op, sums: &Dist, sm: u32, held: [bool; 2]) -> f64 {
    let way = way(func, op, sums, sm);
    let deep = match &way {
        Way::Fma => 4.0,
        Way::Sync(atom) => atom.shape_mnk[2] as f64,
    };
    let ty = func.ty(op.operands[0]);
    let k = f64::from(ty.dims[ty.dims.rank() - 1]);
    // Elements of 8 and 16 bits are converted before they are multiplied one by one.
    let bits = f64::from(ty.dtype.bits()).max(if way == Way::Fma { 32.0 } else { 0.0 });
    let part = |fragment: &Dist| fragment.size() as f64 * (deep / k).min(1.0) * bits / 32.0;
    fragments(func, op, sums, sm).iter().zip(held).filter(|(_, held)| !held).map(|(dist, _)| part(dist)).sum()
}

/// Slots of an instruction of a warp that multiplies 16 by 8 by 32 bytes; of f64 it is slower.
const TENSOR: f64 = 8.0;

/// Issue slots of a warp for an MMA's instructions and what they read.
pub(crate) fn cost(func: &Func, op: &Op, sums: &Dist, sm: u32) -> f64 {
    let a = func.ty(op.operands[0]);
    let k = f64::from(a.dims[a.dims.rank() - 1]);
    let double = if a.dtype == DType::F64 { 4.0 } else { 1.0 };
    let read: f64 = fragments(func, op, sums, sm).iter().map(|fragment| fragment.size() as f64).sum();
    match way(func, op, sums, sm) {
        Way::Fma => k * sums.size() as f64 * double + SHARED * read / 4.0,
        Way::Sync(atom) => {
            let [m, n, deep] = atom.shape_mnk.map(|extent| extent as f64);
            let bits = f64::from(a.dtype.bits());
            let each = TENSOR * double * (m * n * deep * bits) / (16.0 * 8.0 * 256.0);
            let tiles = sums.size() as f64 * 32.0 / (m * n);
            tiles * (k / deep).ceil() * each + read * bits / 32.0
        }
    }
}

impl Products {
    /// The distribution that an operand had best have: that in which nothing moves, or the one that the rules ask for.
    pub(crate) fn wish(&self, func: &Func, id: OpId, at: usize, work: &Dist) -> Option<Dist> {
        let op = func.op(id);
        match (self.need(func, id, at, work.threads()), &op.kind) {
            (Some(own), _) => own,
            (None, Kind::Mma) if at < 2 => Some(fragments(func, op, work, self.sm)[at].clone()),
            _ => wish(func, op, at, work),
        }
    }
}
