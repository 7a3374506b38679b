//! One mode of a distribution: digits of coordinates, columns of registers, and values that are the same element in
//! another distribution.

use std::collections::HashMap;

use super::dist::Dist;

/// A digit of the coordinate along a mode, by what holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digit {
    /// A leaf of a thread's values.
    Values {
        /// Which leaf.
        leaf: usize,
        /// How many values it has.
        extent: i64,
        /// The distance of neighbours, in elements.
        scale: i64,
    },
    /// A bit of a thread's index; those below 5 are lanes.
    Bit {
        /// Which bit.
        bit: usize,
        /// The distance of the two, in elements.
        scale: i64,
    },
}

impl Digit {
    /// The distance of neighbours, in elements.
    pub fn scale(&self) -> i64 {
        match self {
            Digit::Values { scale, .. } | Digit::Bit { scale, .. } => *scale,
        }
    }
}

/// Where the elements of a tile are in a line of numbers, one number an element: `base + sum of strides * coordinates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The tile's extents.
    pub extents: Vec<i64>,
    /// The number of the first element.
    pub base: i64,
    /// By mode.
    pub strides: Vec<i64>,
}

impl Line {
    /// The line of a tile's elements in row-major order.
    pub fn row_major(extents: &[i64]) -> Line {
        let mut strides = vec![1; extents.len()];
        for mode in (1..extents.len()).rev() {
            strides[mode - 1] = strides[mode] * extents[mode];
        }
        Line { extents: extents.to_vec(), base: 0, strides }
    }

    /// The number at a coordinate.
    pub fn at(&self, coordinate: &[i64]) -> i64 {
        self.base + coordinate.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum::<i64>()
    }

    /// Whether a coordinate is the tile's, not padding.
    pub fn has(&self, coordinate: &[i64]) -> bool {
        coordinate.iter().zip(&self.extents).all(|(at, extent)| at < extent)
    }
}

impl Dist {
    /// The digits of the coordinate along a mode, the smallest scale first.
    pub fn digits(&self, mode: usize) -> Vec<Digit> {
        let vals = self.vals.iter().enumerate().filter(|(_, leaf)| leaf.mode == mode && leaf.extent > 1);
        let mut found: Vec<Digit> = vals
            .map(|(at, leaf)| Digit::Values { leaf: at, extent: leaf.extent, scale: leaf.scale })
            .collect();
        for (bit, moves) in self.bits.iter().enumerate() {
            if let Some((at, scale)) = *moves
                && at == mode
            {
                found.push(Digit::Bit { bit, scale });
            }
        }
        found.sort_by_key(Digit::scale);
        found
    }

    /// The distance in a thread's values of neighbours in a leaf.
    pub fn stride(&self, leaf: usize) -> usize {
        self.vals[..leaf].iter().map(|leaf| leaf.extent as usize).product()
    }

    /// For each value of the [slice](Dist::slice) along a mode, in its order, the values that are along the mode: number and coordinate
    /// relative to the thread's own, by rising coordinate.
    pub fn columns(&self, mode: usize) -> Vec<Vec<(usize, i64)>> {
        let mut columns = vec![Vec::new(); self.slice(mode).size()];
        for value in 0..self.size() {
            let (mut rest, mut column, mut below, mut offset) = (value as i64, 0, 1, 0);
            for leaf in &self.vals {
                let digit = rest % leaf.extent;
                rest /= leaf.extent;
                if leaf.mode == mode {
                    offset += digit * leaf.scale;
                } else {
                    column += digit * below;
                    below *= leaf.extent;
                }
            }
            columns[column as usize].push((value, offset));
        }
        columns.iter_mut().for_each(|column| column.sort_by_key(|(_, offset)| *offset));
        columns
    }

    /// The bits of a thread's index that move nowhere: threads that differ in them alone hold copies.
    pub fn copies(&self) -> i64 {
        self.bits.iter().enumerate().filter(|(_, bit)| bit.is_none()).map(|(i, _)| 1 << i).sum()
    }

    /// The greatest coordinate of a thread's first value along a mode.
    pub fn reach(&self, mode: usize) -> i64 {
        self.bits.iter().flatten().filter(|(at, _)| *at == mode).map(|(_, scale)| scale).sum()
    }

    /// How a bit of a thread's index moves along a line, for each bit, and where the thread's values are from its first.
    fn on(&self, line: &Line) -> (Vec<i64>, Vec<i64>) {
        let bits = self.bits.iter().map(|bit| bit.map_or(0, |(mode, scale)| scale * line.strides[mode]));
        let rank = line.strides.len();
        let values = (0..self.size()).map(|value| line.at(&self.offset(value, rank)) - line.base);
        (bits.collect(), values.collect())
    }

    /// For each value of this distribution, the operand and its value that are the element of the same number in every thread; `None` if
    /// some thread holds an element that it needs nowhere.
    pub fn renamed(&self, line: &Line, operands: &[(&Dist, &Line)]) -> Option<Vec<(usize, usize)>> {
        let (bits, values) = self.on(line);
        let all: Vec<_> = operands.iter().map(|(dist, line)| dist.on(line)).collect();
        let number = |bits: &[i64], thread: i64| -> i64 {
            bits.iter().enumerate().map(|(i, scale)| (thread >> i & 1) * scale).sum()
        };
        let at = |dist: &Dist, line: &Line, thread: i64, value: usize| -> bool {
            let rank = line.extents.len();
            let offset = dist.offset(value, rank);
            let origin = dist.origin(thread, rank);
            let coordinate: Vec<i64> = origin.iter().zip(&offset).map(|(a, b)| a + b).collect();
            line.has(&coordinate)
        };
        let exact = |dist: &Dist, line: &Line| dist.padded(line.extents.len()) == line.extents;
        let whole = exact(self, line);
        let wholes: Vec<bool> = operands.iter().map(|(dist, line)| exact(dist, line)).collect();
        let mut known: Vec<HashMap<i64, Vec<usize>>> = Vec::new();
        for (_, values) in &all {
            let mut map: HashMap<i64, Vec<usize>> = HashMap::new();
            values.iter().enumerate().for_each(|(value, at)| map.entry(*at).or_default().push(value));
            known.push(map);
        }
        let mut found = Vec::new();
        for (value, offset) in values.iter().enumerate() {
            let mut holder: Option<(usize, usize)> = None;
            for thread in 0..self.threads() {
                if !whole && !at(self, line, thread, value) {
                    continue;
                }
                let id = line.base + number(&bits, thread) + offset;
                let (which, own) = match holder {
                    Some(holder) => holder,
                    None => {
                        let candidates = operands.iter().enumerate().flat_map(|(which, (dist, from))| {
                            let start = from.base + number(&all[which].0, thread);
                            let values = known[which].get(&(id - start)).into_iter().flatten();
                            let held = |own: &&usize| wholes[which] || at(dist, from, thread, **own);
                            values.filter(held).map(move |&own| (which, own)).collect::<Vec<_>>()
                        });
                        *holder.insert(candidates.into_iter().next()?)
                    }
                };
                let (dist, from) = operands[which];
                let held = from.base + number(&all[which].0, thread) + all[which].1[own];
                if held != id || !wholes[which] && !at(dist, from, thread, own) {
                    return None;
                }
            }
            // A value that is padding in every thread may be anything.
            found.push(holder.unwrap_or((0, 0)));
        }
        Some(found)
    }
}
