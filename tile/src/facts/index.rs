//! Values of a program as index expressions.

use std::collections::HashMap;
use std::sync::Arc;

use girih_tensor::DType;

use super::poly::{Atom, Poly};
use crate::dtype::holds;
use crate::ir::table::Each;
use crate::ir::{Array, Def, End, Func, Kind, Known, Op, OpId, RegionId, Value, follow};

/// A function with what index expressions are read off: where loops begin and how what they carry goes on.
pub(crate) struct Index<'a> {
    /// The function.
    pub(crate) func: &'a Func,
    /// The operation that a region belongs to.
    owner: HashMap<RegionId, OpId>,
    /// For each loop, what its iterations pass on.
    iterations: HashMap<OpId, Vec<Vec<Value>>>,
    polys: std::cell::RefCell<HashMap<Value, Poly>>,
}

/// A function of two integers; none where it has no value, or is not known.
pub(crate) fn arithmetic(each: Each, x: i64, y: i64) -> Option<i64> {
    let by = |of: fn(i64, i64) -> i64, x: i64| (y > 0).then(|| of(x, y));
    Some(match each {
        Each::Add => x.checked_add(y)?,
        Each::Sub => x.checked_sub(y)?,
        Each::Mul => x.checked_mul(y)?,
        Each::FloorDiv => by(i64::div_euclid, x)?,
        Each::CeilDiv => -by(i64::div_euclid, -x)?,
        Each::Mod => by(i64::rem_euclid, x)?,
        Each::Min => x.min(y),
        Each::Max => x.max(y),
        Each::And => x & y,
        Each::Or => x | y,
        Each::Less => i64::from(x < y),
        Each::LessEqual => i64::from(x <= y),
        Each::Greater => i64::from(x > y),
        Each::GreaterEqual => i64::from(x >= y),
        Each::Equal => i64::from(x == y),
        Each::NotEqual => i64::from(x != y),
        _ => return None,
    })
}

impl<'a> Index<'a> {
    /// Reads a function.
    pub(crate) fn new(func: &'a Func) -> Index<'a> {
        let mut index =
            Index { func, owner: HashMap::new(), iterations: HashMap::new(), polys: Default::default() };
        index.read(func.body(), &mut Vec::new());
        index
    }

    fn read(&mut self, region: RegionId, loops: &mut Vec<OpId>) {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            let is_loop = matches!(op.kind, Kind::For | Kind::Loop);
            if is_loop {
                loops.push(id);
            }
            for &inner in &op.regions {
                self.owner.insert(inner, id);
                self.read(inner, loops);
            }
            if is_loop {
                loops.pop();
            }
        }
        if let End::Continue(depth, values) = &func.region(region).end
            && let Some(at) = loops.len().checked_sub(1 + *depth as usize)
        {
            self.iterations.entry(loops[at]).or_default().push(values.clone());
        }
    }

    /// The operation whose region has the value as an argument, and the position.
    pub(crate) fn argument(&self, value: Value) -> Option<(&'a Op, OpId, usize)> {
        match self.func.value(value).def {
            Def::Argument(region, at) => {
                let id = *self.owner.get(&region)?;
                Some((self.func.op(id), id, at as usize))
            }
            Def::Result(..) => None,
        }
    }

    /// The operation that makes a value, or whose region has it as an argument.
    pub(crate) fn source(&self, value: Value) -> Option<OpId> {
        self.func.maker(value).or_else(|| self.argument(value).map(|(_, id, _)| id))
    }

    /// The operation that makes a value.
    pub(crate) fn op_of(&self, value: Value) -> Option<&'a Op> {
        self.func.op_of(value)
    }

    /// The conditions that hold where a region runs: values, and whether they are true.
    pub(crate) fn conditions(&self, region: RegionId) -> Vec<(Value, bool)> {
        let around = self.around(region).map(|(inner, id)| (inner, self.func.op(id)));
        let branches = around.filter(|(_, op)| op.kind == Kind::If);
        branches.map(|(inner, op)| (op.operands[0], op.regions.first() == Some(&inner))).collect()
    }

    /// The operations around a region, the innermost first, each with its region.
    fn around(&self, region: RegionId) -> impl Iterator<Item = (RegionId, OpId)> {
        let outer = |region: RegionId| Some((region, *self.owner.get(&region)?));
        std::iter::successors(outer(region), move |&(_, id)| outer(self.region_of(id)?))
    }

    /// The value as a polynomial. What it says holds if no integer on the way leaves its dtype.
    pub(crate) fn poly(&self, value: Value) -> Poly {
        if let Some(found) = self.polys.borrow().get(&value) {
            return found.clone();
        }
        // A number that its dtype does not hold has wrapped.
        let dtype = self.func.ty(value).dtype;
        let is_held = |poly: &Poly| poly.as_number().is_none_or(|n| holds(dtype, n.into()));
        let poly = self.follow(value).filter(is_held).unwrap_or_else(|| self.opaque(value));
        self.polys.borrow_mut().insert(value, poly.clone());
        poly
    }

    /// Whether an integer is converted to one of fewer bits, or of other signs, on the way to a scalar: what [`Index::poly`] says is then
    /// another number than the scalar where it does not fit.
    pub(crate) fn narrows(&self, value: Value) -> bool {
        let mut narrows = false;
        follow(vec![value], |value, open| {
            let Some(op) = self.op_of(value) else { return };
            let is_narrow = |&operand: &Value| {
                let [from, to] = [operand, value].map(|value| self.func.ty(value).dtype);
                to.bits() < from.bits() || to.bits() == from.bits() && to.is_signed() != from.is_signed()
            };
            narrows |= matches!(op.kind, Kind::Cast(_)) && op.operands.iter().any(is_narrow);
            open.extend(&op.operands);
        });
        narrows
    }

    /// A value that is not followed: the same in all blocks if what it is computed from is.
    fn opaque(&self, value: Value) -> Poly {
        let uniform = self.func.ty(value).dims.size() == 1
            && self.is_pure_of(value, &mut |operand| self.poly(operand).is_uniform());
        Poly::atom(if uniform { Atom::Uniform(value) } else { Atom::Free(value) })
    }

    /// Whether a tile is the same in all blocks: all that it is computed from is.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        let mut uniform = true;
        follow(vec![value], |value, open| {
            let mut note = |operand| {
                open.push(operand);
                true
            };
            uniform &= self.is_pure_of(value, &mut note);
        });
        uniform
    }

    /// Whether a value is computed by an operation without an effect, from operands, and from a part of an array, of which `is` holds.
    fn is_pure_of(&self, value: Value, is: &mut dyn FnMut(Value) -> bool) -> bool {
        let Some(op) = self.op_of(value) else { return false };
        if !self.func.is_pure(&op.kind) || !op.regions.is_empty() || matches!(op.kind, Kind::Bid(_)) {
            return false;
        }
        self.func.reads(op).all(is)
    }

    fn follow(&self, value: Value) -> Option<Poly> {
        let ty = self.func.ty(value);
        if let Some((op, id, at)) = self.argument(value) {
            return self.carried(value, op, id, at);
        }
        let op = self.op_of(value)?;
        let operand = |at: usize| self.poly(op.operands[at]);
        let given =
            |known: Known| known.number().map_or_else(|| Poly::atom(Atom::Uniform(value)), Poly::number);
        match &op.kind {
            Kind::Full(_) => self.func.number(value).map(Poly::number),
            Kind::Bid(axis) => Some(Poly::atom(Atom::Bid(*axis))),
            Kind::NumBlocks(axis) => Some(Poly::atom(Atom::Blocks(*axis))),
            Kind::Dim(array, axis) => match &self.func.arrays()[array.index()] {
                Array::Param(param) => Some(given(param.extents[usize::from(*axis)])),
                Array::Slice { .. } => None,
            },
            Kind::Param(at) => Some(given(self.func.scalars()[usize::from(*at)].known)),
            Kind::Iota => Some(Poly::atom(Atom::Lane(value, value))),
            Kind::Broadcast => Some(operand(0)),
            Kind::Reshape => {
                // In another shape an element has another position, and what is not followed is another element.
                let inner = operand(0);
                let scalar = |value: &Value| self.func.ty(*value).dims.size() == 1;
                inner.all(&mut |atom| !matches!(atom, Atom::Free(value) if !scalar(value))).then(|| {
                    inner.map(&mut |atom| match atom {
                        Atom::Lane(count, _) => Poly::atom(Atom::Lane(*count, value)),
                        other => Poly::atom(other.clone()),
                    })
                })?
            }
            Kind::Cast(_) if ty.dtype.is_integer() && self.func.ty(op.operands[0]).dtype.is_integer() => {
                Some(operand(0))
            }
            Kind::Each { op: each, .. } if ty.dtype.is_integer() => self.arithmetic(value, *each, op),
            _ => None,
        }
    }

    /// The most that a tile's element counts to.
    pub(super) fn lanes(&self, value: Value) -> i64 {
        i64::try_from(self.func.ty(value).dims.size()).unwrap_or(i64::MAX)
    }

    fn arithmetic(&self, value: Value, each: Each, op: &Op) -> Option<Poly> {
        let x = self.poly(op.operands[0]);
        if each == Each::Neg {
            return Poly::default().plus(&x, -1);
        }
        let y = self.poly(*op.operands.get(1)?);
        let known = y.as_number();
        let power = |n: i64| u32::try_from(n).ok().and_then(|n| 1i64.checked_shl(n)).filter(|&n| n > 0);
        // Of two numbers a number.
        let both = |make: fn(Arc<Poly>, Arc<Poly>) -> Atom, of: fn(i64, i64) -> i64, x: Poly, y: Poly| match (
            x.as_number(),
            y.as_number(),
        ) {
            (Some(x), Some(y)) => Poly::number(of(x, y)),
            _ => Poly::atom(make(Arc::new(x), Arc::new(y))),
        };
        let quotient = |x: Poly, y: Poly| match y.as_number() {
            Some(1) => Some(x),
            n => n.is_none_or(|n| n > 0).then(|| both(Atom::Div, i64::div_euclid, x, y)),
        };
        let remainder = |x: Poly, y: Poly| match y.as_number() {
            Some(1) => Some(Poly::default()),
            n => n.is_none_or(|n| n > 0).then(|| both(Atom::Mod, i64::rem_euclid, x, y)),
        };
        let linear = matches!(each, Each::Add | Each::Sub | Each::Mul | Each::Shl);
        if !linear && x.is_uniform() && y.is_uniform() && (x.as_number().is_none() || known.is_none()) {
            // What is the same for all blocks is one number, which a launch knows.
            return Some(Poly::atom(Atom::Uniform(value)));
        }
        match each {
            Each::Add => x.plus(&y, 1),
            Each::Sub => x.plus(&y, -1),
            Each::Mul => x.times(&y),
            Each::Shl => x.times(&Poly::number(power(known?)?)),
            Each::Shr => quotient(x, Poly::number(power(known?)?)),
            Each::FloorDiv => quotient(x, y),
            Each::CeilDiv => quotient(x.plus(&y, 1)?.plus(&Poly::number(1), -1)?, y),
            Each::Mod => remainder(x, y),
            Each::And => {
                let modulus = known?.checked_add(1)?;
                (modulus > 0 && modulus & (modulus - 1) == 0).then(|| remainder(x, Poly::number(modulus)))?
            }
            Each::Min => Some(both(Atom::Min, i64::min, x, y)),
            Each::Max => Some(both(Atom::Max, i64::max, x, y)),
            _ => None,
        }
    }

    /// The number of a loop, or something that a loop carries and adds the same to in every iteration: where it began, and the iterations so far.
    fn carried(&self, value: Value, op: &Op, id: OpId, at: usize) -> Option<Poly> {
        let iteration = Poly::atom(Atom::Iteration(value));
        if op.kind == Kind::For && at == 0 {
            let (start, step) = (self.poly(op.operands[0]), self.poly(op.operands[2]));
            return start.plus(&step.times(&iteration)?, 1);
        }
        let (init, passed) = match op.kind {
            Kind::For => (*op.operands.get(3 + at - 1)?, at - 1),
            Kind::Loop => (*op.operands.get(at)?, at),
            _ => return None,
        };
        if !self.func.ty(value).dtype.is_integer() || self.func.ty(value).dims.rank() != 0 {
            return None;
        }
        let mut step: Option<Poly> = None;
        for values in self.iterations.get(&id)? {
            let next = *values.get(passed)?;
            if next == value {
                return None;
            }
            let add = self.op_of(next)?;
            let Kind::Each { op: Each::Add, .. } = add.kind else { return None };
            let by = match (add.operands[0] == value, add.operands[1] == value) {
                (true, false) => add.operands[1],
                (false, true) => add.operands[0],
                _ => return None,
            };
            let by = self.poly(by);
            if !by.is_uniform() || step.as_ref().is_some_and(|step| *step != by) {
                return None;
            }
            step = Some(by);
        }
        self.poly(init).plus(&step?.times(&iteration)?, 1)
    }

    /// Exclusive upper bounds of an atom that is not negative, and what must be 1 or more for them to hold.
    pub(super) fn extents(&self, atom: &Atom) -> Vec<(Poly, Vec<Poly>)> {
        match atom {
            Atom::Bid(axis) => vec![(Poly::atom(Atom::Blocks(*axis)), Vec::new())],
            Atom::Lane(count, _) => vec![(Poly::number(self.lanes(*count)), Vec::new())],
            Atom::Iteration(value) => {
                let Some((op, _, 0)) = self.argument(*value) else { return Vec::new() };
                if op.kind != Kind::For {
                    return Vec::new();
                }
                let polys: Vec<Poly> = op.operands[..3].iter().map(|&value| self.poly(value)).collect();
                let Some(length) = polys[1].plus(&polys[0], -1) else { return Vec::new() };
                match polys[2].as_number() {
                    Some(1) => vec![(length, Vec::new())],
                    Some(step) if step > 1 => match length.as_number() {
                        Some(n) => vec![(Poly::number((n + step - 1).div_euclid(step)), Vec::new())],
                        // The range itself bounds its iterations too.
                        None => vec![(length, Vec::new())],
                    },
                    _ => vec![(length, vec![polys[2].clone()])],
                }
            }
            Atom::Mod(_, m) => {
                let mut found = vec![((**m).clone(), vec![(**m).clone()])];
                for (atoms, factor) in m.terms() {
                    if let ([Atom::Min(a, b)], 1) = (atoms, factor)
                        && m.terms().count() == 1
                    {
                        found.push(((**a).clone(), vec![(**m).clone()]));
                        found.push(((**b).clone(), vec![(**m).clone()]));
                    }
                }
                found
            }
            _ => Vec::new(),
        }
    }

    /// The region that an operation is in.
    pub(crate) fn region_of(&self, op: OpId) -> Option<RegionId> {
        let regions = std::iter::once(self.func.body()).chain(self.owner.keys().copied());
        regions.into_iter().find(|&region| self.func.region(region).ops.contains(&op))
    }

    /// A value's name for messages: a parameter's, or what it is computed from.
    pub(crate) fn name(&self, value: Value) -> String {
        self.name_within(value, 8)
    }

    /// The name, with functions of functions to some depth.
    fn name_within(&self, value: Value, depth: usize) -> String {
        let func = self.func;
        let Some(op) = self.op_of(value) else { return format!("%{}", value.0) };
        match &op.kind {
            Kind::Dim(array, axis) => match &func.arrays()[array.index()] {
                Array::Param(param) => format!("{}.dim({axis})", param.name),
                Array::Slice { .. } => format!("%{}", value.0),
            },
            Kind::Param(at) => func.scalars()[usize::from(*at)].name.clone(),
            Kind::Full(_) => func.number(value).map_or_else(|| format!("%{}", value.0), |n| n.to_string()),
            Kind::Bid(axis) => format!("bid({axis})"),
            Kind::NumBlocks(axis) => format!("num_blocks({axis})"),
            Kind::Each { op: each, .. } if depth > 0 => {
                let name = |&value: &Value| self.name_within(value, depth - 1);
                let operands: Vec<String> = op.operands.iter().map(name).collect();
                format!("{}({})", each.row().name, operands.join(", "))
            }
            _ => format!("%{}", value.0),
        }
    }

    /// The loops around a region, the innermost first.
    pub(crate) fn loops(&self, region: RegionId) -> Vec<OpId> {
        let is_loop = |id: &OpId| matches!(self.func.op(*id).kind, Kind::For | Kind::Loop);
        self.around(region).map(|(_, id)| id).filter(is_loop).collect()
    }

    /// The numbers that a dtype has.
    pub(crate) fn range(dtype: DType) -> (i128, i128) {
        dtype.range().unwrap_or((0, 1))
    }
}
