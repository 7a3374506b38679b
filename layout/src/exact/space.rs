//! The codomain of a layout point by point.

use crate::arith::scale::carryless;
use crate::{Error, Int, Lay, MAX_LEAVES, Stride, Witness};

/// An index as multiples of a [`Space`]'s units.
pub(crate) type Point = [i64; MAX_LEAVES];

/// The codomain of a layout: its strides as known multiples of a few independent units, which are 1, basis vectors,
/// symbols and one exclusive-or sum. Two indices are equal for all values of the symbols exactly when their multiples
/// are equal.
pub(crate) struct Space {
    units: [Stride; MAX_LEAVES],
    pub(crate) count: usize,
    pub(crate) unit_of: [usize; MAX_LEAVES],
    pub(crate) coefficient: [i64; MAX_LEAVES],
}

impl Space {
    /// The integers.
    pub(crate) const INTEGERS: Space = Space {
        units: [Stride::Int(Int::value(1)); MAX_LEAVES],
        count: 1,
        unit_of: [0; MAX_LEAVES],
        coefficient: [0; MAX_LEAVES],
    };

    /// Indices that join by exclusive or.
    pub(crate) const COLUMNS: Space = Space { units: [Stride::F2(1); MAX_LEAVES], ..Space::INTEGERS };

    /// The units of flat modes.
    pub(crate) const fn of(flat: &Lay) -> Space {
        let mut out = Space::INTEGERS;
        out.count = 0;
        let mut i = 0;
        while i < flat.leaf_count() {
            let (coefficient, unit) = split(flat.step(i));
            let mut k = 0;
            while k < out.count && !out.units[k].same(unit) {
                k += 1;
            }
            if k == out.count {
                out.units[k] = unit;
                out.count += 1;
            }
            (out.unit_of[i], out.coefficient[i]) = (k, coefficient);
            i += 1;
        }
        out
    }

    pub(crate) const fn is_exclusive(&self, unit: usize) -> bool {
        matches!(self.units[unit], Stride::F2(_))
    }

    /// Whether `base` and `k` steps lead to `to`.
    pub(crate) const fn reaches(&self, base: &Point, step: &Point, k: i64, to: &Point) -> bool {
        let mut u = 0;
        while u < self.count {
            let same = if self.is_exclusive(u) {
                matches!(carryless(k, step[u] as u64), Ok(x) if x as i64 ^ base[u] == to[u])
            } else {
                base[u] as i128 + step[u] as i128 * k as i128 == to[u] as i128
            };
            if !same {
                return false;
            }
            u += 1;
        }
        true
    }

    /// A step as the stride of one leaf, if it goes along one unit.
    pub(crate) const fn stride(&self, step: &Point) -> Result<Stride, Error> {
        let (mut stride, mut u) = (Stride::Int(Int::value(0)), 0);
        while u < self.count {
            if step[u] != 0 {
                if !stride.is_zero() {
                    return Err(Error::Unsupported {
                        op: "composition",
                        what: "a stride along several basis vectors or symbols",
                    });
                }
                stride = match self.units[u] {
                    Stride::F2(_) => Stride::F2(step[u] as u64),
                    unit => tri!(unit.scaled(Int::value(step[u]))),
                };
            }
            u += 1;
        }
        Ok(stride)
    }

    /// The refusal, with a witness if indices are integers.
    pub(crate) const fn refusal(
        &self,
        coord: i64,
        to: &Point,
        base: &Point,
        step: &Point,
        k: i64,
    ) -> Refusal {
        if self.count > 1 || !self.units[0].same(Stride::Int(Int::ONE)) {
            return Refusal { witness: None };
        }
        let obtained = base[0].saturating_add(step[0].saturating_mul(k));
        Refusal { witness: Some(Witness { coord, expected: to[0], obtained }) }
    }
}

/// Multiple and unit of a stride.
const fn split(stride: Stride) -> (i64, Stride) {
    const fn of(int: Int) -> (i64, Int) {
        match int.get() {
            Some(value) => (value, Int::value(1)),
            None => (int.coef, Int { coef: 1, ..int }),
        }
    }
    match stride {
        Stride::Int(int) => {
            let (coefficient, unit) = of(int);
            (coefficient, Stride::Int(unit))
        }
        Stride::Basis { scale, mode } => {
            let (coefficient, scale) = of(scale);
            (coefficient, Stride::Basis { scale, mode })
        }
        Stride::F2(column) => (column as i64, Stride::F2(1)),
    }
}

/// The refusal of a function that has no layout, with a coordinate at which that shows, if indices are integers.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) witness: Option<Witness>,
}
