//! Distributions: the normal form of a TV layout, by which a block's threads hold a tile in registers, in coordinates.
//!
//! A thread's index is taken bit by bit, each moving along one mode of the tile by a scale, or along none: then threads that differ in
//! it alone hold the same elements. A thread's values are prime leaves, in the order of its registers. Extents are covered by rounding
//! up: leaves may reach beyond a tile, and what is there is padding.

use std::fmt;

use girih_layout::{Int, Lay, Stride};

use crate::sizes::ONE;
use crate::{Cond, Error, Expr};

/// Bits of a thread's index that number the lanes of a warp.
pub const LANE_BITS: usize = 5;

/// A mode with a prime extent of a thread's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Leaf {
    /// Number of values.
    pub extent: i64,
    /// The tile's mode that they are along.
    pub mode: usize,
    /// The distance of neighbours along the mode, in elements.
    pub scale: i64,
}

/// The mode and the scale that a bit of a thread's index moves by, or none.
type Moves = Option<(usize, i64)>;

/// How a tile is laid out in the registers of a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dist {
    /// For each bit of a thread's index, the lowest first: the mode and the scale that it moves by, or none.
    pub bits: Vec<Option<(usize, i64)>>,
    /// A thread's values, the fastest first.
    pub vals: Vec<Leaf>,
}

/// The prime factors of a number, the smallest first.
pub fn primes(mut n: i64) -> Vec<i64> {
    let (mut found, mut p) = (Vec::new(), 2);
    while n > 1 {
        while n % p == 0 {
            found.push(p);
            n /= p;
        }
        p += 1;
    }
    found
}

impl Dist {
    /// Every thread holds the one element of a scalar. `threads` is a power of two.
    pub fn scalar(threads: i64) -> Dist {
        Dist { bits: vec![None; threads.ilog2() as usize], vals: Vec::new() }
    }

    /// Threads over a tile whose `order` lists the modes from the fastest in memory: vectors of `vector` elements along the first mode, then
    /// lanes and warps, then the rest as values. Extents are padded to what is covered: threads take powers of two, values the rest.
    pub fn blocked(extents: &[i64], order: &[usize], vector: i64, threads: i64) -> Dist {
        let mut left = extents.to_vec();
        let mut scale = vec![1; extents.len()];
        let mut vals = Vec::new();
        let take = |vals: &mut Vec<Leaf>, scale: &mut [i64], mode: usize, n: i64| {
            for extent in primes(n) {
                vals.push(Leaf { extent, mode, scale: scale[mode] });
                scale[mode] *= extent;
            }
        };
        if let Some(&first) = order.first() {
            take(&mut vals, &mut scale, first, vector);
            left[first] = (left[first] + vector - 1) / vector;
        }
        let mut bits = Vec::new();
        for &mode in order {
            while left[mode] > 1 && (1i64 << bits.len()) < threads {
                bits.push(Some((mode, scale[mode])));
                scale[mode] *= 2;
                left[mode] = (left[mode] + 1) / 2;
            }
        }
        bits.resize(threads.ilog2() as usize, None);
        for &mode in order {
            take(&mut vals, &mut scale, mode, left[mode]);
        }
        Dist { bits, vals }
    }

    /// From a layout `(Thr,Val) -> colexicographic index` in a tile; `None` if a leaf of it crosses modes or threads are no power of two.
    pub fn of(tv: &Lay, extents: &[i64]) -> Option<Dist> {
        let part = |which: usize| -> Option<Vec<Leaf>> {
            let lay = tv.mode(which).ok()?.flatten();
            let mut leaves = Vec::new();
            for i in 0..lay.leaf_count() {
                let (extent, Stride::Int(stride)) = lay.flat_leaf(i) else { return None };
                let (extent, mut stride) = (extent.get()?, stride.get()?);
                for p in primes(extent) {
                    let (mut mode, mut below) = (0, 1);
                    while mode + 1 < extents.len() && stride >= below * extents[mode] {
                        below *= extents[mode];
                        mode += 1;
                    }
                    if stride % below != 0 {
                        return None;
                    }
                    leaves.push(Leaf { extent: p, mode, scale: stride / below });
                    stride *= p;
                }
            }
            Some(leaves)
        };
        let bit =
            |leaf: Leaf| (leaf.extent == 2).then_some((leaf.scale != 0).then_some((leaf.mode, leaf.scale)));
        let bits = part(0)?.into_iter().map(bit).collect::<Option<Vec<_>>>()?;
        Some(Dist { bits, vals: part(1)?.into_iter().filter(|leaf| leaf.scale != 0).collect() })
    }

    /// As a layout `(Thr,Val) -> colexicographic index` in a tile with these extents, which are at least what is [covered](Dist::padded).
    ///
    /// # Errors
    /// Those of [`Lay::concat`], for more leaves than a layout has.
    ///
    /// ```
    /// use girih_codegen::plan::{Dist, exactly_once};
    /// use girih_layout::Shape;
    ///
    /// let rows = Dist::blocked(&[8, 64], &[1, 0], 4, 32);
    /// let lay = rows.lay(&[8, 64])?;
    /// exactly_once(&lay, &Shape::parse("(8,64)")?)?;
    /// assert_eq!(Dist::of(&lay, &[8, 64]), Some(rows));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lay(&self, extents: &[i64]) -> Result<Lay, girih_layout::Error> {
        let leaf = |extent: i64, moves: Option<(usize, i64)>| {
            let stride = moves.map_or(0, |(mode, scale)| scale * extents[..mode].iter().product::<i64>());
            Lay::leaf(Int::fixed(extent), Stride::Int(Int::fixed(stride)))
        };
        // Neighbouring leaves that go on are one.
        let append = |all: Lay, leaf: Result<Lay, girih_layout::Error>| {
            Ok::<_, girih_layout::Error>(Lay::concat(&[all, leaf?])?.coalesce())
        };
        let threads = self.bits.iter().map(|&bit| leaf(2, bit)).try_fold(ONE, append)?;
        let mut values = self.vals.iter().map(|val| leaf(val.extent, Some((val.mode, val.scale))));
        Lay::concat(&[threads, values.try_fold(ONE, append)?])
    }

    /// Number of threads.
    pub fn threads(&self) -> i64 {
        1 << self.bits.len()
    }

    /// Number of values of a thread.
    pub fn size(&self) -> usize {
        self.vals.iter().map(|leaf| leaf.extent as usize).product()
    }

    /// The extents that a tile of this rank is padded to.
    pub fn padded(&self, rank: usize) -> Vec<i64> {
        let mut reach = vec![1; rank];
        self.bits.iter().flatten().for_each(|&(mode, scale)| reach[mode] += scale);
        self.vals.iter().for_each(|leaf| reach[leaf.mode] += (leaf.extent - 1) * leaf.scale);
        reach
    }

    /// The coordinate of a thread's value relative to the thread's own, by mode.
    pub fn offset(&self, mut value: usize, rank: usize) -> Vec<i64> {
        let mut at = vec![0; rank];
        for leaf in &self.vals {
            at[leaf.mode] += (value as i64 % leaf.extent) * leaf.scale;
            value /= leaf.extent as usize;
        }
        at
    }

    /// The coordinate of a thread's first value, by mode.
    pub fn origin(&self, thread: i64, rank: usize) -> Vec<i64> {
        let mut at = vec![0; rank];
        for (bit, moves) in self.bits.iter().enumerate() {
            if let Some((mode, scale)) = moves {
                at[*mode] += (thread >> bit & 1) * scale;
            }
        }
        at
    }

    /// [`Dist::origin`] of the thread with the number `thread`, as expressions.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] for a number that may be negative.
    pub fn coordinate(&self, thread: &Expr, rank: usize) -> Result<Vec<Expr>, Error> {
        let mut at = vec![Expr::from(0); rank];
        for (number, moves) in self.numbers(thread)? {
            if let Some((mode, scale)) = moves {
                at[mode] = &at[mode] + &(&number * scale);
            }
        }
        Ok(at)
    }

    /// The condition that of all threads with copies of the same elements the thread with the number `thread` is the first, which stores them.
    ///
    /// # Errors
    /// As [`Dist::coordinate`].
    pub fn owner(&self, thread: &Expr) -> Result<Cond, Error> {
        let copies = self.numbers(thread)?.into_iter().filter(|(_, moves)| moves.is_none());
        Ok(Cond::all(copies.map(|(number, _)| Cond::less(&number, &Expr::from(1)))))
    }

    /// The numbers that neighbouring bits of a thread's index are whose scales double, or which move nowhere; with what they move by.
    fn numbers(&self, thread: &Expr) -> Result<Vec<(Expr, Moves)>, Error> {
        let (mut numbers, mut first) = (Vec::new(), 0);
        while first < self.bits.len() {
            let moves = self.bits[first];
            let goes_on = |&bit: &usize| {
                self.bits.get(bit) == Some(&moves.map(|(mode, scale)| (mode, scale << (bit - first))))
            };
            let count = (first..).take_while(goes_on).count();
            let high = thread.div(1 << first)?;
            let whole = first + count == self.bits.len();
            numbers.push((if whole { high } else { high.rem(1 << count)? }, moves));
            first += count;
        }
        Ok(numbers)
    }

    /// The distribution of a tile with one element along a mode: what a broadcast reads, and what a reduction leaves.
    pub fn slice(&self, mode: usize) -> Dist {
        Dist {
            bits: self.bits.iter().map(|bit| bit.filter(|(at, _)| *at != mode)).collect(),
            vals: self.vals.iter().copied().filter(|leaf| leaf.mode != mode).collect(),
        }
    }

    /// Mode `i` of the result is mode `axes[i]`.
    pub fn permute(&self, axes: &[usize]) -> Dist {
        let to = |mode: usize| axes.iter().position(|&axis| axis == mode).unwrap_or(mode);
        Dist {
            bits: self.bits.iter().map(|bit| bit.map(|(mode, scale)| (to(mode), scale))).collect(),
            vals: self.vals.iter().map(|leaf| Leaf { mode: to(leaf.mode), ..*leaf }).collect(),
        }
    }

    /// The distribution after a row-major reshape, where every thread keeps its elements and every leaf stays in one mode; else `None`.
    pub fn reshape(&self, from: &[i64], to: &[i64]) -> Option<Dist> {
        let weights = |extents: &[i64]| -> Vec<i64> {
            let mut below = 1;
            let mut out: Vec<i64> = extents
                .iter()
                .rev()
                .map(|n| {
                    let at = below;
                    below *= n;
                    at
                })
                .collect();
            out.reverse();
            out
        };
        let (old, new) = (weights(from), weights(to));
        let padded = self.padded(from.len());
        let moved = |mode: usize, scale: i64, extent: i64| -> Option<(usize, i64)> {
            let same = (0..to.len()).find(|&m| from[mode] > 1 && to[m] == from[mode] && new[m] == old[mode]);
            if let Some(mode) = same {
                return Some((mode, scale));
            }
            let flat = scale * old[mode];
            let at = (0..to.len()).find(|&m| to[m] > 1 && new[m] <= flat && flat < new[m] * to[m])?;
            let whole =
                padded[mode] == from[mode] && flat % new[at] == 0 && flat / new[at] * extent <= to[at];
            whole.then_some((at, flat / new[at]))
        };
        let bit = |bit: &Option<(usize, i64)>| match *bit {
            Some((mode, scale)) => moved(mode, scale, 2).map(Some),
            None => Some(None),
        };
        let val = |leaf: &Leaf| {
            let (mode, scale) = moved(leaf.mode, leaf.scale, leaf.extent)?;
            Some(Leaf { mode, scale, ..*leaf })
        };
        let bits = self.bits.iter().map(bit).collect::<Option<Vec<_>>>()?;
        let vals = self.vals.iter().map(val).collect::<Option<Vec<_>>>()?;
        let dist = Dist { bits, vals };
        dist.covers(to).then_some(dist)
    }

    /// The leaves along a mode by rising scale: each with the number of its bit, or `None` for values.
    pub fn along(&self, mode: usize) -> Vec<(Leaf, Option<usize>)> {
        let bit = |(i, bit): (usize, &Option<(usize, i64)>)| {
            bit.filter(|(at, _)| *at == mode).map(|(_, scale)| (Leaf { extent: 2, mode, scale }, Some(i)))
        };
        let vals = self.vals.iter().filter(|leaf| leaf.mode == mode).map(|leaf| (*leaf, None));
        let mut leaves: Vec<_> = self.bits.iter().enumerate().filter_map(bit).chain(vals).collect();
        leaves.sort_by_key(|(leaf, bit)| (leaf.scale, *bit));
        leaves
    }

    /// Whether a thread holds each element of a tile with these extents, and no thread two of them as one: along every mode each scale
    /// is the product of the smaller leaves' extents, and all together reach the end.
    pub fn covers(&self, extents: &[i64]) -> bool {
        let inside = |mode: usize| mode < extents.len();
        self.bits.iter().flatten().all(|&(mode, _)| inside(mode))
            && self.vals.iter().all(|leaf| inside(leaf.mode))
            && extents.iter().enumerate().all(|(mode, &extent)| {
                let reach = self
                    .along(mode)
                    .iter()
                    .try_fold(1, |reach, (leaf, _)| (leaf.scale == reach).then_some(reach * leaf.extent));
                reach.is_some_and(|reach| reach >= extent)
            })
    }

    /// The distribution without copies: bits that move nowhere move beyond the tile along `mode`, so that threads which would hold a
    /// copy hold padding.
    pub fn distinct(&self, mode: usize) -> Dist {
        let mut reach: i64 = self.along(mode).iter().map(|(leaf, _)| leaf.extent).product();
        let mut next = || {
            reach *= 2;
            Some((mode, reach / 2))
        };
        Dist { bits: self.bits.iter().map(|bit| bit.or_else(&mut next)).collect(), vals: self.vals.clone() }
    }

    /// Whether some bit moves nowhere, so that threads hold copies.
    pub fn is_replicated(&self) -> bool {
        self.bits.iter().any(Option::is_none)
    }
}

impl fmt::Display for Dist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = |f: &mut fmt::Formatter<'_>, bits: &[Option<(usize, i64)>]| {
            bits.iter().enumerate().try_for_each(|(i, bit)| {
                f.write_str(if i == 0 { "" } else { " " })?;
                match bit {
                    Some((mode, scale)) => write!(f, "{scale}@{mode}"),
                    None => f.write_str("0"),
                }
            })
        };
        let (lanes, warps) = self.bits.split_at(self.bits.len().min(LANE_BITS));
        f.write_str("lanes[")?;
        bits(f, lanes)?;
        f.write_str("] warps[")?;
        bits(f, warps)?;
        f.write_str("] vals[")?;
        for (i, leaf) in self.vals.iter().enumerate() {
            write!(f, "{}{}:{}@{}", if i == 0 { "" } else { " " }, leaf.extent, leaf.scale, leaf.mode)?;
        }
        f.write_str("]")
    }
}
