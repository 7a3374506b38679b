//! Finds two coordinates of a layout that have the same index.
//!
//! Coordinates `a` and `b` of leaves `s_i:d_i` meet exactly if `x = a - b` solves `sum x_i d_i = 0` with `|x_i| < s_i`.
//! The search goes from the greatest stride down and knows at each leaf how far the smaller strides reach and what
//! divides them; for the layouts of real partitions the first test leaves one branch at every leaf.

use std::collections::HashSet;

/// A leaf of a layout: the number of its positions, and their distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) extent: i64,
    pub(super) stride: i64,
    /// Whether two coordinates that differ in this leaf count as a meeting.
    pub(super) counts: bool,
}

/// A search that gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undecided;

/// Branches that a search may take.
const LIMIT: usize = 1 << 20;

struct Search {
    /// The leaves by falling stride, with their places in the caller's order.
    leaves: Vec<(usize, Leaf)>,
    /// How far the leaves from `i` on reach: the sum of their `(s - 1) * d`.
    reach: Vec<i128>,
    /// The greatest common divisor of the strides from `i` on.
    divisor: Vec<i128>,
    difference: Vec<i64>,
    /// The dead ends: the leaf, the sum so far, and whether a difference counts already.
    seen: HashSet<(usize, i128, bool)>,
}

/// The difference of two coordinates that have the same index and differ in a leaf that counts; `None` if there are none.
pub(super) fn meet(leaves: &[Leaf]) -> Result<Option<Vec<i64>>, Undecided> {
    let mut order: Vec<(usize, Leaf)> =
        leaves.iter().copied().enumerate().filter(|(_, l)| l.extent > 1).collect();
    order.sort_by_key(|(_, leaf)| std::cmp::Reverse(leaf.stride.unsigned_abs()));
    let (mut reach, mut divisor) = (vec![0; order.len() + 1], vec![0; order.len() + 1]);
    for (i, (_, leaf)) in order.iter().enumerate().rev() {
        let stride = i128::from(leaf.stride).abs();
        reach[i] = reach[i + 1] + i128::from(leaf.extent - 1) * stride;
        divisor[i] = num_integer::gcd(divisor[i + 1], stride);
    }
    let difference = vec![0; leaves.len()];
    let mut search = Search { leaves: order, reach, divisor, difference, seen: HashSet::new() };
    Ok(search.from(0, 0, false)?.then_some(search.difference))
}

impl Search {
    /// Whether the leaves from `i` on can bring `sum` to 0.
    fn from(&mut self, i: usize, sum: i128, counted: bool) -> Result<bool, Undecided> {
        if sum.abs() > self.reach[i] || (self.divisor[i] != 0 && sum % self.divisor[i] != 0) {
            return Ok(false);
        }
        let Some(&(place, leaf)) = self.leaves.get(i) else { return Ok(counted) };
        if !self.seen.insert((i, sum, counted)) {
            return Ok(false);
        }
        if self.seen.len() > LIMIT {
            return Err(Undecided);
        }
        let (stride, most) = (i128::from(leaf.stride).abs(), i128::from(leaf.extent - 1));
        let rest = self.reach[i + 1];
        let (low, high) = match stride {
            // Every difference meets here, so that the least one that counts is enough.
            0 => (0, 1),
            // |sum + x * stride| <= rest
            d => (-(rest + sum).div_euclid(d), (rest - sum).div_euclid(d)),
        };
        for x in low.max(-most)..=high.min(most) {
            self.difference[place] = if leaf.stride < 0 { -x } else { x } as i64;
            if self.from(i + 1, sum + x * stride, counted || (leaf.counts && x != 0))? {
                return Ok(true);
            }
        }
        self.difference[place] = 0;
        Ok(false)
    }
}
