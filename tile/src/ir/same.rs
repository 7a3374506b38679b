//! Equality of programs up to the numbers of their values. Places in the source do not count.

use std::collections::HashMap;

use super::{Array, ArrayId, End, Func, Kind, Op, OpId, RegionId, Value};

impl Kind {
    /// The operation on other arrays.
    pub fn map_arrays(&self, mut f: impl FnMut(ArrayId) -> ArrayId) -> Kind {
        let mut kind = self.clone();
        match &mut kind {
            Kind::Load(view) | Kind::Store(view) => view.array = f(view.array),
            Kind::Gather(at) | Kind::Scatter(at) | Kind::Atomic { at, .. } => at.array = f(at.array),
            Kind::Dim(array, _) => *array = f(*array),
            _ => {}
        }
        kind
    }

    /// The array that the operation names.
    pub(crate) fn names(&self) -> Option<ArrayId> {
        match self {
            Kind::Dim(array, _) => Some(*array),
            other => other.array(),
        }
    }
}

/// Whether two regions of a function do the same, operation by operation, on values that are named relative to the region. Values that
/// are defined outside of the two are the same only if they are one value.
pub fn same_region(func: &Func, a: RegionId, b: RegionId) -> bool {
    Same { left: func, right: func, values: HashMap::new() }.region(a, b)
}

/// Functions are equal if they differ in the numbers of values, operations, regions and parts of arrays alone.
impl PartialEq for Func {
    fn eq(&self, other: &Func) -> bool {
        let params = |func: &Func| -> Vec<Array> {
            func.arrays.iter().filter(|array| matches!(array, Array::Param(_))).cloned().collect()
        };
        self.name == other.name
            && self.scalars == other.scalars
            && self.hints == other.hints
            && params(self) == params(other)
            && Same { left: self, right: other, values: HashMap::new() }.region(self.body, other.body)
    }
}

struct Same<'a> {
    left: &'a Func,
    right: &'a Func,
    /// The counterpart of each value that is defined inside.
    values: HashMap<Value, Value>,
}

impl Same<'_> {
    fn region(&mut self, a: RegionId, b: RegionId) -> bool {
        let (left, right) = (self.left, self.right);
        let (a, b) = (left.region(a), right.region(b));
        self.define(&a.args, &b.args)
            && a.ops.len() == b.ops.len()
            && a.ops.iter().zip(&b.ops).all(|(&x, &y)| self.op(x, y))
            && self.end(&a.end, &b.end)
    }

    fn op(&mut self, a: OpId, b: OpId) -> bool {
        let (left, right) = (self.left, self.right);
        let (a, b): (&Op, &Op) = (left.op(a), right.op(b));
        self.kind(&a.kind, &b.kind)
            && self.values(&a.operands, &b.operands)
            && a.regions.len() == b.regions.len()
            && a.regions.iter().zip(&b.regions).all(|(&x, &y)| self.region(x, y))
            && self.define(&a.results, &b.results)
    }

    fn kind(&self, a: &Kind, b: &Kind) -> bool {
        match (a.names(), b.names()) {
            (Some(x), Some(y)) => self.array(x, y) && *b == a.map_arrays(|_| y),
            _ => a == b,
        }
    }

    fn array(&self, a: ArrayId, b: ArrayId) -> bool {
        match (&self.left.arrays[a.index()], &self.right.arrays[b.index()]) {
            (Array::Param(_), Array::Param(_)) => self.ordinal(self.left, a) == self.ordinal(self.right, b),
            (
                Array::Slice { of, axis, start, stop },
                Array::Slice { of: of_b, axis: axis_b, start: start_b, stop: stop_b },
            ) => {
                axis == axis_b
                    && self.array(*of, *of_b)
                    && self.value(*start, *start_b)
                    && self.value(*stop, *stop_b)
            }
            _ => false,
        }
    }

    /// A parameter's position among the parameters.
    fn ordinal(&self, func: &Func, array: ArrayId) -> usize {
        func.arrays[..array.index()].iter().filter(|array| matches!(array, Array::Param(_))).count()
    }

    fn end(&self, a: &End, b: &End) -> bool {
        let kinds = match (a, b) {
            (End::Yield(_), End::Yield(_)) | (End::Unreachable, End::Unreachable) => true,
            (End::Continue(x, _), End::Continue(y, _)) | (End::Break(x, _), End::Break(y, _)) => x == y,
            _ => false,
        };
        kinds && self.values(a.values(), b.values())
    }

    fn define(&mut self, a: &[Value], b: &[Value]) -> bool {
        let same = a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| self.left.ty(x) == self.right.ty(y));
        self.values.extend(a.iter().copied().zip(b.iter().copied()));
        same
    }

    fn values(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| self.value(x, y))
    }

    fn value(&self, a: Value, b: Value) -> bool {
        match self.values.get(&a) {
            Some(&counterpart) => counterpart == b,
            None => std::ptr::eq(self.left, self.right) && a == b,
        }
    }
}
