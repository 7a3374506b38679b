//! Whether bounded multiples of some strides have a given sum, the question of overlap and of preimages.
//!
//! In general that is a knapsack, and has no fast answer. The strides of layouts build on one another, so that three
//! things decide nearly all of them at once: modes that fill one another's gaps are one mode; a digit must leave a rest
//! that the other modes can reach and that their common divisor divides; and of the digits that do, those that leave a
//! rest near enough to a multiple of the next stride are found by a computation as short as Euclid's.

use crate::{Error, MAX_LEAVES};

/// The most modes of an equation: those of two layouts.
pub(crate) const MODES: usize = 2 * MAX_LEAVES;

/// The most steps of a search; only many modes with unrelated strides need more.
const STEPS: u32 = 1 << 20;

/// `sum of stride[i] * x[i] = rest` with `0 <= x[i] < extent[i]`.
pub(crate) struct Equation {
    op: &'static str,
    count: usize,
    extent: [i128; MODES],
    /// At least 0: a digit of a negative stride is counted from the other end.
    stride: [i128; MODES],
    mirrored: [bool; MODES],
    rest: i128,
    /// The greatest sum.
    reach: i128,
}

/// Mode `mode`, of `extent` digits, has become part of mode `into`: a step of it is `quotient` steps there.
#[derive(Clone, Copy)]
struct Merge {
    mode: usize,
    extent: i128,
    into: usize,
    quotient: i128,
}

/// The modes that are left, by ascending stride; and of the first `k` of these what they can reach.
struct Search {
    op: &'static str,
    steps: u32,
    count: usize,
    mode: [usize; MODES],
    extent: [i128; MODES],
    stride: [i128; MODES],
    /// The greatest sum and the common divisor of the first `k` modes.
    reach: [i128; MODES + 1],
    divisor: [i128; MODES + 1],
    /// The inverse of `stride[k]` modulo `divisor[k]`, both divided by `divisor[k + 1]`.
    inverse: [i128; MODES],
    digits: [i128; MODES],
}

impl Equation {
    pub(crate) const fn new(op: &'static str, sum: i128) -> Equation {
        Equation {
            op,
            count: 0,
            extent: [1; MODES],
            stride: [0; MODES],
            mirrored: [false; MODES],
            rest: sum,
            reach: 0,
        }
    }

    /// Adds a mode. A solution has the digits in the order in which the modes were added.
    ///
    /// # Errors
    /// [`Error::Overflow`] where the greatest sum does not fit 128 bits.
    pub(crate) const fn push(&mut self, extent: i128, stride: i128) -> Result<(), Error> {
        let overflow = Err(Error::Overflow { op: self.op });
        let step = stride.abs();
        let Some(reach) = (extent - 1).checked_mul(step) else { return overflow };
        let Some(all) = self.reach.checked_add(reach) else { return overflow };
        let Some(rest) = self.rest.checked_add(if stride < 0 { reach } else { 0 }) else { return overflow };
        if self.count == MODES {
            return Err(Error::Capacity { op: self.op });
        }
        (self.extent[self.count], self.stride[self.count]) = (extent, step);
        self.mirrored[self.count] = stride < 0;
        (self.reach, self.rest, self.count) = (all, rest, self.count + 1);
        Ok(())
    }

    /// The digits of a solution, if there is one.
    ///
    /// # Errors
    /// [`Error::Undecided`].
    pub(crate) const fn solve(&self) -> Result<Option<[i128; MODES]>, Error> {
        const NONE: Merge = Merge { mode: 0, extent: 1, into: 0, quotient: 1 };
        let (mut merges, mut merged) = ([NONE; MODES], 0);
        let mut search = Search::new(self, &mut merges, &mut merged);
        if !tri!(search.descend(search.count, self.rest)) {
            return Ok(None);
        }
        let (mut digits, mut k) = ([0; MODES], 0);
        while k < search.count {
            digits[search.mode[k]] = search.digits[k];
            k += 1;
        }
        while merged > 0 {
            merged -= 1;
            let Merge { mode, extent, into, quotient } = merges[merged];
            let whole = digits[into] / quotient;
            digits[mode] = if whole < extent { whole } else { extent - 1 };
            digits[into] -= digits[mode] * quotient;
        }
        let mut i = 0;
        while i < self.count {
            if self.mirrored[i] {
                digits[i] = self.extent[i] - 1 - digits[i];
            }
            i += 1;
        }
        Ok(Some(digits))
    }
}

impl Search {
    const fn new(of: &Equation, merges: &mut [Merge; MODES], merged: &mut usize) -> Search {
        let mut out = Search {
            op: of.op,
            steps: 0,
            count: 0,
            mode: [0; MODES],
            extent: [1; MODES],
            stride: [0; MODES],
            reach: [0; MODES + 1],
            divisor: [0; MODES + 1],
            inverse: [0; MODES],
            digits: [0; MODES],
        };
        let (mut i, mut sorted) = (0, 0);
        while i < of.count {
            if of.extent[i] > 1 && of.stride[i] > 0 {
                let mut k = sorted;
                while k > 0 && of.stride[out.mode[k - 1]] > of.stride[i] {
                    out.mode[k] = out.mode[k - 1];
                    k -= 1;
                }
                out.mode[k] = i;
                sorted += 1;
            }
            i += 1;
        }
        // A mode grows by strides that are at least as long as all before, so what it can't take now it never can.
        let mut s = 0;
        while s < sorted {
            let mode = out.mode[s];
            let (extent, stride) = (of.extent[mode], of.stride[mode]);
            let mut k = 0;
            while k < out.count && !(stride % out.stride[k] == 0 && stride / out.stride[k] <= out.extent[k]) {
                k += 1;
            }
            if k < out.count {
                let quotient = stride / out.stride[k];
                out.extent[k] += quotient * (extent - 1);
                merges[*merged] = Merge { mode, extent, into: out.mode[k], quotient };
                *merged += 1;
            } else {
                (out.mode[k], out.extent[k], out.stride[k]) = (mode, extent, stride);
                out.count += 1;
            }
            s += 1;
        }
        let mut k = 0;
        while k < out.count {
            let stride = out.stride[k];
            let (divisor, inverse) = bezout(stride, out.divisor[k]);
            (out.divisor[k + 1], out.inverse[k]) = (divisor, inverse);
            out.reach[k + 1] = out.reach[k] + (out.extent[k] - 1) * stride;
            k += 1;
        }
        out
    }

    /// Whether the first `k` modes have the sum `rest`; if so, `digits` has their digits.
    const fn descend(&mut self, k: usize, rest: i128) -> Result<bool, Error> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Error::Undecided { op: self.op, steps: STEPS });
        }
        if rest < 0 || rest > self.reach[k] {
            return Ok(false);
        }
        if k == 0 {
            return Ok(true);
        }
        let (top, divisor) = (k - 1, self.divisor[k]);
        if rest % divisor != 0 {
            return Ok(false);
        }
        let stride = self.stride[top];
        if top == 0 {
            self.digits[0] = rest / stride;
            return Ok(true);
        }
        // The least digit that leaves a rest within the reach of the other modes, and that their divisor divides.
        let over = rest - self.reach[top];
        let low = if over > 0 { (over - 1) / stride + 1 } else { 0 };
        let common = self.divisor[top];
        let period = common / divisor;
        let first = rest / divisor % period * self.inverse[top] % period;
        let mut digit = low + (first - low).rem_euclid(period);
        // With the common divisor divided out, a digit must leave at most `near` above a multiple of the next stride.
        let next = self.stride[top - 1] / common;
        let near = self.reach[top - 1] / common;
        let back = (-stride / divisor).rem_euclid(next);
        let most = rest / stride;
        let last = if most < self.extent[top] { most } else { self.extent[top] - 1 };
        while digit <= last {
            if near < next - 1 {
                let above = (rest - digit * stride) / common % next;
                if above > near {
                    let Some(steps) = first_within(back, next, next - above, next - above + near) else {
                        return Ok(false);
                    };
                    digit += steps * period;
                    if digit > last {
                        return Ok(false);
                    }
                }
            }
            self.digits[top] = digit;
            if tri!(self.descend(top, rest - digit * stride)) {
                return Ok(true);
            }
            digit += period;
        }
        Ok(false)
    }
}

/// The greatest common divisor `g` of `a > 0` and `m >= 0`, and the inverse of `a / g` modulo `m / g` (0 for `m` = 0).
const fn bezout(a: i128, m: i128) -> (i128, i128) {
    let (mut g, mut rest) = (a, m);
    let (mut x, mut next) = (1, 0);
    while rest != 0 {
        let quotient = g / rest;
        (g, rest) = (rest, g % rest);
        (x, next) = (next, x - quotient * next);
    }
    (g, if m == 0 { 0 } else { x.rem_euclid(m / g) })
}

/// The least `j >= 0` with `low <= a * j mod m <= high`, for `0 <= a < m` and `0 <= low <= high < m`.
const fn first_within(a: i128, m: i128, low: i128, high: i128) -> Option<i128> {
    if low == 0 {
        return Some(0);
    }
    if a == 0 {
        return None;
    }
    if 2 * a > m {
        return first_within(m - a, m, m - high, m - low);
    }
    let up = (low - 1) / a + 1;
    if a * up <= high {
        return Some(up);
    }
    // No multiple of `a` is in the range. `a * j = m * k + v` with a `v` that is: the least `k` gives the least `j`.
    match first_within((-m).rem_euclid(a), a, low % a, high % a) {
        Some(k) => Some((low + m * k - 1) / a + 1),
        None => None,
    }
}
