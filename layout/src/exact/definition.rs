//! Functions point by point: questions that the symbolic rules can't settle are settled here by the definition.
//!
//! A function has a layout of a given shape exactly when every leaf's line `j -> f(j)` has one and the lines add up.
//! The first stride of a line's layout is `f(1)`, and its first extent is the length of the straight run from 0. The
//! line has a layout exactly when every block of that length looks like the first, and the line of the blocks' origins
//! has a layout too.

use crate::arith::scale::carryless;
use crate::exact::space::{Point, Refusal, Space};
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, MAX_LEAVES, Shape, Swizzle};

const OP: &str = "composition";

/// A function on 1-D coordinates, with value 0 at 0.
#[derive(Clone, Copy)]
pub(crate) enum Function<'a> {
    Values(&'a [i64]),
    /// `j -> left(step * j)`, where `left` has flat modes, the last of them without an end.
    Extended {
        left: &'a Lay,
        step: i64,
    },
    Composition {
        left: &'a Lay,
        right: &'a Lay,
        node: Node,
    },
    /// `left(right(c))` of layouts that have integer indices, whatever their strides; `left` goes on past its end.
    Joined {
        left: &'a Lay,
        right: &'a Lay,
    },
    /// `swizzle(offset + layout) - swizzle(offset)`.
    Swizzled {
        swizzle: Swizzle,
        offset: i64,
        layout: &'a Lay,
    },
}

impl Function<'_> {
    const fn at(&self, space: &Space, coord: i64) -> Result<Point, Error> {
        let mut out = [0; MAX_LEAVES];
        match self {
            Function::Values(values) => out[0] = values[coord as usize],
            Function::Extended { left, step } => match coord.checked_mul(*step) {
                Some(index) => return extended(left, space, index),
                None => return Err(Error::Overflow { op: OP }),
            },
            Function::Composition { left, right, node } => {
                return extended(left, space, tri!(flat_index(right, *node, coord)));
            }
            Function::Joined { left, right } => out[0] = tri!(left.at_extended(tri!(right.at(coord)))),
            Function::Swizzled { swizzle, offset, layout } => {
                let Some(index) = tri!(flat_index(layout, layout.root(), coord)).checked_add(*offset) else {
                    return Err(Error::Overflow { op: "an index" });
                };
                out[0] = match swizzle.apply(index).checked_sub(swizzle.apply(*offset)) {
                    Some(index) => index,
                    None => return Err(Error::Overflow { op: "an index" }),
                };
            }
        }
        Ok(out)
    }

    /// Writes the modes of `j -> self(begin*j)`, `j < s`, flat, if the function has a layout.
    pub(crate) const fn line(
        &self,
        space: &Space,
        begin: i64,
        s: i64,
        out: &mut Lay,
    ) -> Result<Result<(), Refusal>, Error> {
        const ORIGIN: Point = [0; MAX_LEAVES];
        let (mut s, mut p) = (s, begin);
        while s > 1 {
            let step = tri!(self.at(space, p));
            let mut run = 1;
            while run < s {
                let to = tri!(self.at(space, run * p));
                if !space.reaches(&ORIGIN, &step, run, &to) {
                    if s % run != 0 {
                        return Ok(Err(space.refusal(run * p, &to, &ORIGIN, &step, run)));
                    }
                    break;
                }
                run += 1;
            }
            let (mut block, mut j) = (ORIGIN, run);
            while j < s {
                let to = tri!(self.at(space, j * p));
                if j % run == 0 {
                    block = to;
                } else if !space.reaches(&block, &step, j % run, &to) {
                    return Ok(Err(space.refusal(j * p, &to, &block, &step, j % run)));
                }
                j += 1;
            }
            tri!(out.push(Int::value(run), tri!(space.stride(&step))));
            s /= run;
            p = p.saturating_mul(run);
        }
        Ok(Ok(()))
    }

    /// Whether the lines of the leaves add up to the function.
    pub(crate) const fn adds_up(
        &self,
        space: &Space,
        shape: &Shape,
        node: Node,
    ) -> Result<Result<(), Refusal>, Error> {
        let (mut size, mut i) = (1i64, node.begin);
        while i < node.end {
            let Some(extent) = shape.at_leaf(i).get() else {
                return Err(Error::NotKnown { op: OP, value: shape.at_leaf(i).quoted() });
            };
            size = size.saturating_mul(extent);
            i += 1;
        }
        let mut coord = 0;
        while coord < size {
            let (mut sum, mut rest, mut p, mut i) = ([0; MAX_LEAVES], coord, 1, node.begin);
            while i < node.end && rest > 0 {
                let extent = shape.at_leaf(i).coef;
                let term = tri!(self.at(space, rest % extent * p));
                let mut u = 0;
                while u < space.count {
                    let Some(next) = (if space.is_exclusive(u) {
                        Some(sum[u] ^ term[u])
                    } else {
                        term[u].checked_add(sum[u])
                    }) else {
                        return Err(Error::Overflow { op: OP });
                    };
                    sum[u] = next;
                    u += 1;
                }
                (rest, p, i) = (rest / extent, p * extent, i + 1);
            }
            let to = tri!(self.at(space, coord));
            if !space.reaches(&sum, &[0; MAX_LEAVES], 0, &to) {
                return Ok(Err(space.refusal(coord, &to, &sum, &[0; MAX_LEAVES], 0)));
            }
            coord += 1;
        }
        Ok(Ok(()))
    }

    /// Writes the layout of the function over a shape that refines a subtree of `shape`, if there is one.
    pub(crate) const fn lay_out(
        &self,
        space: &Space,
        shape: &Shape,
        node: Node,
        out: &mut Lay,
    ) -> Result<Result<(), Refusal>, Error> {
        let (mut p, mut i) = (1i64, node.begin);
        while i < node.end {
            let (opens, closes) = shape.profile.parens(node, i);
            tri!(out.shape.profile.open_many(opens));
            let Some(extent) = shape.at_leaf(i).get() else {
                return Err(Error::NotKnown { op: OP, value: shape.at_leaf(i).quoted() });
            };
            let begin = out.leaf_count();
            if let Err(refusal) = tri!(self.line(space, p, extent, out)) {
                return Ok(Err(refusal));
            }
            tri!(out.wrap_from(begin));
            out.shape.profile.close_many(closes);
            p = p.saturating_mul(extent);
            i += 1;
        }
        self.adds_up(space, shape, node)
    }
}

/// The index of flat modes whose extents, but for the last, are known; the last mode goes on without an end.
const fn extended(flat: &Lay, space: &Space, index: i64) -> Result<Point, Error> {
    let (mut rest, mut out, mut i) = (index, [0; MAX_LEAVES], 0);
    while i < flat.leaf_count() {
        let mut digit = rest;
        if i + 1 < flat.leaf_count() {
            let Some(extent) = flat.extent(i).get() else {
                return Err(Error::NotKnown { op: OP, value: flat.extent(i).quoted() });
            };
            (digit, rest) = (rest % extent, rest / extent);
        }
        let u = space.unit_of[i];
        if space.is_exclusive(u) {
            out[u] ^= tri!(carryless(digit, space.coefficient[i] as u64)) as i64;
        } else {
            let next = match digit.checked_mul(space.coefficient[i]) {
                Some(reach) => reach.checked_add(out[u]),
                None => None,
            };
            let Some(next) = next else { return Err(Error::Overflow { op: OP }) };
            out[u] = next;
        }
        i += 1;
    }
    Ok(out)
}

/// The index of a 1-D coordinate of a subtree of known integers.
const fn flat_index(lay: &Lay, node: Node, coord: i64) -> Result<i64, Error> {
    let (mut rest, mut sum, mut i) = (coord, 0i64, node.begin);
    while i < node.end && rest > 0 {
        let stride = tri!(lay.step(i).require_known(OP));
        let Some(extent) = lay.extent(i).get() else {
            return Err(Error::NotKnown { op: OP, value: lay.extent(i).quoted() });
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
