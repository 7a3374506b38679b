//! Interval analysis of a program's values, for one grid and concrete arguments.

use std::cell::RefCell;
use std::collections::HashMap;

use super::index::Index;
use super::poly::{Atom, Poly};
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Kind, Value};

/// A grid and what is known of the arguments.
#[derive(Clone, Debug, Default)]
pub struct Concrete {
    /// Blocks along each axis.
    pub grid: [i64; 3],
    /// Extents of the array parameters.
    pub extents: Vec<Vec<i64>>,
    /// The scalar parameters, where they are integers.
    pub scalars: Vec<Option<i64>>,
}

impl Concrete {
    /// An array parameter's extent.
    pub(super) fn extent(&self, array: ArrayId, axis: u8) -> Option<i64> {
        self.extents.get(array.index())?.get(usize::from(axis)).copied()
    }
}

/// A range of numbers, both ends included.
pub(crate) type Range = (i128, i128);

/// The most that bounds are followed to; beyond it, nothing is known.
const FAR: i128 = 1 << 100;

/// Ranges of a function's values.
pub(crate) struct Intervals<'a> {
    index: &'a Index<'a>,
    with: &'a Concrete,
    /// What is known of values besides: conditions that hold.
    narrowed: Vec<(Value, Range)>,
    found: RefCell<HashMap<Value, Option<Range>>>,
}

impl<'a> Intervals<'a> {
    /// Ranges for a grid and arguments, where these conditions hold.
    pub(crate) fn new(
        index: &'a Index<'a>,
        with: &'a Concrete,
        conditions: &[(Value, bool)],
    ) -> Intervals<'a> {
        let mut all = Intervals { index, with, narrowed: Vec::new(), found: RefCell::default() };
        for &(value, holds) in conditions {
            all.narrow(value, holds);
        }
        all
    }

    fn narrow(&mut self, cond: Value, holds: bool) {
        let Some(op) = self.index.op_of(cond) else { return };
        let Kind::Each { op: each, .. } = op.kind else { return };
        if each == Each::And && holds {
            self.narrow(op.operands[0], true);
            self.narrow(op.operands[1], true);
            return;
        }
        if each == Each::Not {
            self.narrow(op.operands[0], !holds);
            return;
        }
        let [a, b] = op.operands[..] else { return };
        let compare = match (each, holds) {
            (Each::Less, true) | (Each::GreaterEqual, false) => Each::Less,
            (Each::LessEqual, true) | (Each::Greater, false) => Each::LessEqual,
            (Each::Greater, true) | (Each::LessEqual, false) => Each::Greater,
            (Each::GreaterEqual, true) | (Each::Less, false) => Each::GreaterEqual,
            (Each::Equal, true) | (Each::NotEqual, false) => Each::Equal,
            _ => return,
        };
        let (Some(x), Some(y)) = (self.value(a), self.value(b)) else { return };
        let (of_a, of_b) = match compare {
            Each::Less => ((-FAR, y.1 - 1), (x.0 + 1, FAR)),
            Each::LessEqual => ((-FAR, y.1), (x.0, FAR)),
            Each::Greater => ((y.0 + 1, FAR), (-FAR, x.1 - 1)),
            Each::GreaterEqual => ((y.0, FAR), (-FAR, x.1)),
            _ => (y, x),
        };
        self.narrowed.push((a, of_a));
        self.narrowed.push((b, of_b));
        self.found.borrow_mut().clear();
    }

    /// The range of an integer value: `None` if an integer on the way may leave its dtype, so that nothing is known.
    pub(crate) fn value(&self, value: Value) -> Option<Range> {
        if let Some(&found) = self.found.borrow().get(&value) {
            return found;
        }
        let dtype = Index::range(self.index.func.ty(value).dtype);
        let mut range = self.compute(value);
        for (narrowed, by) in &self.narrowed {
            if *narrowed == value {
                let own = range.unwrap_or(dtype);
                range = Some((own.0.max(by.0), own.1.min(by.1)));
            }
        }
        let range = range.filter(|range| range.0 >= dtype.0 && range.1 <= dtype.1);
        self.found.borrow_mut().insert(value, range);
        range
    }

    /// The range of a value's dtype, which holds whatever the value is.
    fn any(&self, value: Value) -> Range {
        Index::range(self.index.func.ty(value).dtype)
    }

    fn compute(&self, value: Value) -> Option<Range> {
        let func = self.index.func;
        let ty = func.ty(value);
        if let Some((op, _, at)) = self.index.argument(value) {
            if op.kind == Kind::For && at == 0 {
                let (start, stop) = (self.value(op.operands[0])?, self.value(op.operands[1])?);
                return Some((start.0, (stop.1 - 1).max(start.0)));
            }
            return Some(self.any(value));
        }
        let op = self.index.op_of(value)?;
        let operand = |at: usize| self.value(op.operands[at]);
        match &op.kind {
            Kind::Full(_) => func.number(value).map(|n| (n.into(), n.into())),
            Kind::Bid(axis) => self.atom(&Atom::Bid(*axis)),
            Kind::NumBlocks(axis) => self.atom(&Atom::Blocks(*axis)),
            Kind::Dim(array, axis) => match &func.arrays()[array.index()] {
                Array::Param(_) => self.with.extent(*array, *axis).map(|n| (n.into(), n.into())),
                Array::Slice { .. } => Some(self.any(value)),
            },
            Kind::Param(at) => {
                let known = func.scalars()[usize::from(*at)].known.number();
                let known = known.or_else(|| *self.with.scalars.get(usize::from(*at))?);
                Some(known.map_or(self.any(value), |n| (n.into(), n.into())))
            }
            Kind::Iota => Some((0, i128::from(ty.dims.size()) - 1)),
            Kind::Reshape | Kind::Broadcast => operand(0),
            Kind::Cast(_) if func.ty(op.operands[0]).dtype.is_integer() => operand(0),
            Kind::Each { op: each, .. } => {
                let x = operand(0);
                if *each == Each::Neg {
                    return x.map(|x| (-x.1, -x.0));
                }
                let y = op.operands.get(1).and_then(|&value| self.value(value));
                match each {
                    Each::Select => {
                        let (y, z) = (y?, operand(2)?);
                        Some((y.0.min(z.0), y.1.max(z.1)))
                    }
                    Each::And => match (x, y) {
                        (x, Some(y)) if y.0 >= 0 => {
                            Some((0, x.filter(|x| x.0 >= 0).map_or(y.1, |x| x.1.min(y.1))))
                        }
                        _ => Some(self.any(value)),
                    },
                    Each::Mod if y.is_some_and(|y| y.0 >= 1) => {
                        let top = y.map_or(0, |y| y.1 - 1);
                        Some(x.filter(|x| x.0 >= 0).map_or((0, top), |x| (0, top.min(x.1))))
                    }
                    _ => binary(*each, x?, y?).or(Some(self.any(value))),
                }
            }
            _ => Some(self.any(value)),
        }
    }

    /// The range of a polynomial; `None` if nothing bounds it.
    pub(super) fn poly(&self, poly: &Poly) -> Option<Range> {
        let terms = poly.of(|n| (n.into(), n.into()), |atom| self.atom(atom), binary);
        match (terms, self.counted(poly)) {
            (Some(x), Some(y)) => Some((x.0.max(y.0), x.1.min(y.1))),
            (x, y) => x.or(y),
        }
    }

    /// The range of a polynomial with what a loop counts in it, which stays before the loop's end: the sum of where the loop begins and of its
    /// steps may be beyond it.
    fn counted(&self, poly: &Poly) -> Option<Range> {
        let atoms = poly.atoms();
        let (iteration, value) = atoms.into_iter().find_map(|atom| match atom {
            Atom::Iteration(value) => Some((atom, *value)),
            _ => None,
        })?;
        let count = self.index.poly(value);
        let (step, factor) = count.terms().find(|(atoms, _)| atoms.contains(iteration))?;
        let own = poly.terms().find(|(atoms, _)| *atoms == step)?.1;
        let times = own.checked_div(factor).filter(|times| times * factor == own)?;
        let rest = poly.plus(&count, -times)?;
        if rest.atoms().contains(iteration) {
            return None;
        }
        let times = (i128::from(times), i128::from(times));
        binary(Each::Add, binary(Each::Mul, self.value(value)?, times)?, self.poly(&rest)?)
    }

    fn atom(&self, atom: &Atom) -> Option<Range> {
        match atom {
            Atom::Bid(axis) => Some((0, (self.with.grid[usize::from(*axis)] - 1).max(0).into())),
            Atom::Blocks(axis) => {
                let n = self.with.grid[usize::from(*axis)].into();
                Some((n, n))
            }
            Atom::Uniform(value) | Atom::Free(value) => self.value(*value).or(Some(self.any(*value))),
            Atom::Div(a, b) => binary(Each::FloorDiv, self.poly(a)?, self.poly(b)?),
            Atom::Mod(a, b) => {
                let (x, m) = (self.poly(a), self.poly(b)?);
                (m.0 >= 1).then(|| (0, x.filter(|x| x.0 >= 0).map_or(m.1 - 1, |x| x.1.min(m.1 - 1))))
            }
            Atom::Min(a, b) => binary(Each::Min, self.poly(a)?, self.poly(b)?),
            Atom::Max(a, b) => binary(Each::Max, self.poly(a)?, self.poly(b)?),
            Atom::Iteration(_) | Atom::Lane(..) => {
                let tops = self.index.extents(atom).into_iter().filter_map(|(poly, _)| self.poly(&poly));
                tops.map(|range| (0, (range.1 - 1).max(0))).min_by_key(|range| range.1)
            }
            Atom::Element(_) | Atom::Which(_) => None,
        }
    }
}

/// The range of a function of two integers; `None` if it is not one that is known, or may be anything.
fn binary(each: Each, x: Range, y: Range) -> Option<Range> {
    let corners = |f: fn(i128, i128) -> Option<i128>| -> Option<Range> {
        let all = [f(x.0, y.0)?, f(x.0, y.1)?, f(x.1, y.0)?, f(x.1, y.1)?];
        Some((all.into_iter().min()?, all.into_iter().max()?))
    };
    let range = match each {
        Each::Add => (x.0.checked_add(y.0)?, x.1.checked_add(y.1)?),
        Each::Sub => (x.0.checked_sub(y.1)?, x.1.checked_sub(y.0)?),
        Each::Mul => corners(i128::checked_mul)?,
        Each::FloorDiv if y.0 >= 1 => corners(|a, b| Some(a.div_euclid(b)))?,
        Each::CeilDiv if y.0 >= 1 => corners(|a, b| Some(-(-a).div_euclid(b)))?,
        Each::Min => (x.0.min(y.0), x.1.min(y.1)),
        Each::Max => (x.0.max(y.0), x.1.max(y.1)),
        Each::Shl if y.0 >= 0 && y.1 < 64 => corners(|a, b| a.checked_mul(1 << b))?,
        Each::Shr if y.0 >= 0 && y.1 < 64 => corners(|a, b| Some(a >> b))?,
        _ => return None,
    };
    (range.0 >= -FAR && range.1 <= FAR).then_some(range)
}
