//! Equality of programs up to the numbering of their values. Positions in the source do not count.

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
    difference(func, a, b).is_none()
}

/// The first difference of two regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// The arguments of the regions.
    Arguments,
    /// An operation and its counterpart, if both regions have one.
    Operation(Option<OpId>, Option<OpId>),
    /// The operands of an operation.
    Operands(OpId),
    /// How the regions end.
    End,
}

impl Difference {
    /// The differing operation of one region and of the other, in these functions, as text.
    pub(crate) fn told(self, first: &Func, second: &Func) -> String {
        let name =
            |func: &Func, op: Option<OpId>| op.map_or_else(|| "nothing".into(), |op| func.described(op));
        match self {
            Difference::Arguments => "other arguments".into(),
            Difference::Operands(op) => format!("{} of one value and then of another", first.described(op)),
            Difference::Operation(a, b) => format!("{} and then {}", name(first, a), name(second, b)),
            Difference::End => "one value at its end and then another".into(),
        }
    }
}

/// The first difference of two regions of which [`same_region`] does not hold.
pub(crate) fn difference(func: &Func, a: RegionId, b: RegionId) -> Option<Difference> {
    Same { left: func, right: func, values: HashMap::new() }.region(a, b).err()
}

impl Func {
    /// An operation with its type and its place, for messages.
    fn described(&self, id: OpId) -> String {
        let op = self.op(id);
        let ty = op.results.first().map(|&value| format!(" : {}", self.ty(value))).unwrap_or_default();
        let site = op.site.map(|site| format!(" at {site}")).unwrap_or_default();
        format!("`{}{ty}`{site}", op.kind.word())
    }

    /// The first difference of the bodies of two functions.
    pub(crate) fn difference(&self, other: &Func) -> Option<Difference> {
        Same { left: self, right: other, values: HashMap::new() }.region(self.body, other.body).err()
    }
}

/// Functions are equal if they differ in the numbers of values, operations, regions and parts of arrays alone.
impl PartialEq for Func {
    fn eq(&self, other: &Func) -> bool {
        self.name == other.name
            && self.scalars == other.scalars
            && self.hints == other.hints
            && self.params().map(|(_, param)| param).eq(other.params().map(|(_, param)| param))
            && self.difference(other).is_none()
    }
}

struct Same<'a> {
    left: &'a Func,
    right: &'a Func,
    /// The counterpart of each value that is defined inside.
    values: HashMap<Value, Value>,
}

impl Same<'_> {
    fn region(&mut self, a: RegionId, b: RegionId) -> Result<(), Difference> {
        let ensure = |holds, or| if holds { Ok(()) } else { Err(or) };
        let (left, right) = (self.left.region(a), self.right.region(b));
        ensure(self.define(&left.args, &right.args), Difference::Arguments)?;
        for at in 0..left.ops.len().max(right.ops.len()) {
            let pair = (left.ops.get(at).copied(), right.ops.get(at).copied());
            let differ = Difference::Operation(pair.0, pair.1);
            let (Some(x), Some(y)) = pair else { return Err(differ) };
            let (p, q): (&Op, &Op) = (self.left.op(x), self.right.op(y));
            ensure(self.kind(&p.kind, &q.kind), differ)?;
            ensure(self.values(&p.operands, &q.operands), Difference::Operands(x))?;
            ensure(p.regions.len() == q.regions.len(), differ)?;
            p.regions.iter().zip(&q.regions).try_for_each(|(&x, &y)| self.region(x, y))?;
            ensure(self.define(&p.results, &q.results), differ)?;
        }
        ensure(self.end(&left.end, &right.end), Difference::End)
    }

    fn kind(&self, a: &Kind, b: &Kind) -> bool {
        match (a.names(), b.names()) {
            (Some(x), Some(y)) => self.array(x, y) && *b == a.map_arrays(|_| y),
            _ => a == b,
        }
    }

    fn array(&self, a: ArrayId, b: ArrayId) -> bool {
        // A parameter's position among the parameters.
        let ordinal = |func: &Func, array| func.params().position(|(id, _)| id == array);
        match (&self.left.arrays[a.index()], &self.right.arrays[b.index()]) {
            (Array::Param(_), Array::Param(_)) => ordinal(self.left, a) == ordinal(self.right, b),
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
