//! Layouts of known integers point by point: what the symbolic rules can't settle is settled here.

use crate::{Error, Int, Lay, Stride};

const OP: &str = "composition";

impl Lay {
    /// Whether every extent is known and every stride a known integer.
    pub(crate) const fn has_known_integers(&self) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            let known = match self.stride[i] {
                Stride::Int(d) => d.get().is_some(),
                _ => false,
            };
            if !known || self.shape.leaves[i].get().is_none() {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// Writes the layout of `j -> a(d*j)`, `j < s`, if there is one.
///
/// The first stride is the value at 1, the first extent the length of the straight run; then every block of that length must look like the
/// first, and the blocks' origins are laid out in the same way.
pub(crate) const fn recognise(a: &Lay, s: i64, d: i64, out: &mut Lay) -> Result<bool, Error> {
    let (mut s, mut d) = (s, d);
    while s > 1 {
        let step = tri!(extended(a, d));
        let mut run = 2;
        while run < s && tri!(sampled(a, run, d)) == step as i128 * run as i128 {
            run += 1;
        }
        if s % run != 0 {
            return Ok(false);
        }
        let mut j = run;
        while j < s {
            let split = tri!(sampled(a, j - j % run, d)) + step as i128 * (j % run) as i128;
            if tri!(sampled(a, j, d)) != split {
                return Ok(false);
            }
            j += 1;
        }
        tri!(out.push(Int::value(run), Stride::Int(Int::value(step))));
        s /= run;
        d = match d.checked_mul(run) {
            Some(d) => d,
            None => return Err(Error::Overflow { op: OP }),
        };
    }
    Ok(true)
}

const fn sampled(a: &Lay, j: i64, d: i64) -> Result<i128, Error> {
    match j.checked_mul(d) {
        Some(index) => Ok(tri!(extended(a, index)) as i128),
        None => Err(Error::Overflow { op: OP }),
    }
}

/// The value of flat known modes, the last one without an end.
pub(crate) const fn extended(a: &Lay, index: i64) -> Result<i64, Error> {
    let (mut rest, mut sum, mut i) = (index, 0i64, 0);
    while i < a.leaf_count() {
        let stride = tri!(a.stride[i].require_known(OP));
        let mut digit = rest;
        if i + 1 < a.leaf_count()
            && let Some(m) = a.shape.leaves[i].get()
        {
            digit = rest % m;
            rest /= m;
        }
        let next = match digit.checked_mul(stride) {
            Some(reach) => sum.checked_add(reach),
            None => None,
        };
        sum = match next {
            Some(sum) => sum,
            None => return Err(Error::Overflow { op: OP }),
        };
        i += 1;
    }
    Ok(sum)
}

/// The index of a 1-D coordinate over the leaves `begin..end`.
pub(crate) const fn flat_index(lay: &Lay, begin: usize, end: usize, coord: i64) -> Result<i64, Error> {
    let (mut rest, mut sum, mut i) = (coord, 0i64, begin);
    while i < end {
        let stride = tri!(lay.stride[i].require_known(OP));
        let Some(extent) = lay.shape.leaves[i].get() else {
            return Err(Error::NotKnown { op: OP, value: lay.shape.leaves[i] });
        };
        let next = match (rest % extent).checked_mul(stride) {
            Some(reach) => sum.checked_add(reach),
            None => None,
        };
        sum = match next {
            Some(sum) => sum,
            None => return Err(Error::Overflow { op: OP }),
        };
        rest /= extent;
        i += 1;
    }
    Ok(sum)
}
