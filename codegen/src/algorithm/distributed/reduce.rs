//! Reductions: over a thread's registers, then over lanes by xor shuffles, then over warps through shared memory.

use super::combine::{By, Combine, Rule, Tuple};
use super::through::{Through, batch};
use super::{Group, LANE_BITS, Tile};
use crate::builder::Reg;
use crate::plan::{Digit, Dist};

/// From this number of bits on, lanes share what is to be read of other warps, and combine it by xor shuffles.
const SHARED_READING: usize = 4;

/// Combines the elements of a tile along a mode. Of each result, threads have the registers that the [slice](Dist::slice) along the mode
/// says; those that differ along the mode alone have the same.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch) for a mode that the tile does not have, or a group of other threads;
/// [`AlgorithmError::Operands`](crate::AlgorithmError) for a combination that has no such operands; those of a function and of the group.
///
/// # Examples
/// In [the module's text](super).
pub fn reduce<'f, G: Group>(
    group: &mut G,
    tile: &Tile<'_>,
    mode: usize,
    combine: &Combine<By<'f, G>>,
) -> Result<Vec<Vec<Reg>>, G::Error> {
    tile.check(group, "reduce", Some(mode))?;
    let dtypes = tile.dtypes();
    let [rule, in_a_row] = [Rule::new(combine, &dtypes, false)?, Rule::new(combine, &dtypes, true)?];
    let dist = tile.dist;
    let origin = group.origin(dist, tile.extents.len())?;

    // Where the order matters, values further apart than threads are combined after what lies between them.
    let near = dist.digits(mode).into_iter().map_while(|digit| match digit {
        Digit::Values { extent, .. } => Some(extent),
        Digit::Bit { .. } => None,
    });
    let near: i64 = near.product();
    let mut partial = Vec::new();
    let mut columns = Vec::new();
    for column in dist.columns(mode) {
        let first = partial.len();
        let ordered = |(_, a): &(usize, i64), (_, b): &(usize, i64)| rule.commutes() || a / near == b / near;
        for run in column.chunk_by(ordered) {
            let mut tuples = Vec::new();
            for &(value, offset) in run {
                if offset < tile.extents[mode] {
                    tuples.push(in_a_row.element(group, (tile, mode, &origin), value, true)?);
                }
            }
            if !tuples.is_empty() {
                let tuple = in_a_row.combine_tree(group, tuples)?;
                partial.push(rule.keyed(group, tuple)?);
            }
        }
        columns.push(first..partial.len());
    }

    let bits = dist.digits(mode).into_iter().filter_map(|digit| match digit {
        Digit::Bit { bit, .. } => Some(bit),
        Digit::Values { .. } => None,
    });
    let (lanes, warps): (Vec<usize>, Vec<usize>) = bits.partition(|&bit| bit < LANE_BITS);
    for tuple in &mut partial {
        *tuple = rule.combine_lanes(group, std::mem::take(tuple), &lanes)?;
    }
    if !warps.is_empty() {
        partial = combine_warps(group, &rule, dist, &lanes, &warps, &partial)?;
    }

    let mut results = Vec::new();
    for column in columns {
        let tuple = rule.combine_tree(group, partial[column].to_vec())?;
        results.push(rule.finish(group, &tuple)?);
    }
    Ok(by_operand(&results))
}

/// The registers of each operand, from a tuple for each value.
pub(super) fn by_operand(tuples: &[Tuple]) -> Vec<Vec<Reg>> {
    let operands = tuples.first().map_or(0, Vec::len);
    (0..operands).map(|at| tuples.iter().map(|tuple| tuple[at].clone()).collect()).collect()
}

/// Combines what warps hold whose threads' numbers differ in the bits `warps`, after the lanes `lanes` hold the same.
fn combine_warps<G: Group>(
    group: &mut G,
    rule: &Rule<'_, G>,
    dist: &Dist,
    lanes: &[usize],
    warps: &[usize],
    partial: &[Tuple],
) -> Result<Vec<Tuple>, G::Error> {
    let slots = 1i64 << warps.len();
    let moves = |bit: &usize| dist.bits[*bit].is_some() && !lanes.contains(bit);
    let alone = !(0..LANE_BITS.min(dist.bits.len())).any(|bit| moves(&bit));
    let mut results = Vec::new();
    for batch in partial.chunks(batch(&rule.dtypes, dist)) {
        let through = Through::of_warps(group, &rule.dtypes, dist, [lanes, warps], batch)?;
        for place in 0..batch.len() {
            results.push(if alone && warps.len() >= SHARED_READING {
                let lane = group.thread().rem(slots).map_err(G::Error::from)?;
                let tuple = through.read(group, place, &lane)?;
                rule.combine_lanes(group, tuple, &(0..warps.len()).collect::<Vec<_>>())?
            } else {
                let all = through.read_all(group, place)?;
                rule.combine_tree(group, all)?
            });
        }
    }
    Ok(results)
}
