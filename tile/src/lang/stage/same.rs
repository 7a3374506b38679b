//! Whether two regions say the same: what a loop's body is when it is built, and when it is built again.

use std::collections::HashMap;

use crate::ir::{Array, ArrayId, End, Func, Kind, OpId, RegionId, Value};

/// What differs first, as one operation and the other; `None` if the regions are the same but for the numbers of their own values.
pub(super) fn difference(func: &Func, a: RegionId, b: RegionId) -> Option<String> {
    Same { func, values: HashMap::new() }.region(a, b).err()
}

struct Same<'a> {
    func: &'a Func,
    /// Values of the second region by those of the first.
    values: HashMap<Value, Value>,
}

impl Same<'_> {
    fn list(&mut self, a: &[Value], b: &[Value]) {
        self.values.extend(a.iter().copied().zip(b.iter().copied()));
    }

    fn value(&self, a: Value, b: Value) -> bool {
        self.values.get(&a).map_or(a == b, |&mapped| mapped == b)
    }

    fn all(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.value(a, b))
    }

    fn array(&self, a: ArrayId, b: ArrayId) -> bool {
        a == b
            || match (&self.func.arrays()[a.index()], &self.func.arrays()[b.index()]) {
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

    fn kind(&self, a: &Kind, b: &Kind) -> bool {
        match (a.names(), b.names()) {
            (Some(x), Some(y)) => self.array(x, y) && *b == a.map_arrays(|_| y),
            _ => a == b,
        }
    }

    fn describe(&self, op: OpId) -> String {
        let op = self.func.op(op);
        let kind = match &op.kind {
            Kind::Each { op, .. } => op.row().name.to_string(),
            other => format!("{other:?}").split([' ', '(', '{']).next().unwrap_or_default().to_lowercase(),
        };
        let ty = op.results.first().map(|&value| format!(" : {}", self.func.ty(value))).unwrap_or_default();
        let site = op.site.map(|site| format!(" at {site}")).unwrap_or_default();
        format!("`{kind}{ty}`{site}")
    }

    fn region(&mut self, a: RegionId, b: RegionId) -> Result<(), String> {
        let (x, y) = (self.func.region(a), self.func.region(b));
        self.list(&x.args, &y.args);
        for (&i, &j) in x.ops.iter().zip(&y.ops) {
            let (p, q) = (self.func.op(i), self.func.op(j));
            let types =
                |values: &[Value]| values.iter().map(|&value| self.func.ty(value)).collect::<Vec<_>>();
            if self.kind(&p.kind, &q.kind) && !self.all(&p.operands, &q.operands) {
                return Err(format!("{} of one value and then of another", self.describe(i)));
            }
            if !self.kind(&p.kind, &q.kind)
                || types(&p.results) != types(&q.results)
                || p.regions.len() != q.regions.len()
            {
                return Err(format!("{} and then {}", self.describe(i), self.describe(j)));
            }
            for (&i, &j) in p.regions.iter().zip(&q.regions) {
                self.region(i, j)?;
            }
            self.list(&p.results, &q.results);
        }
        if let Some(&more) = x.ops.get(y.ops.len()) {
            return Err(format!("{} and then nothing", self.describe(more)));
        }
        if let Some(&more) = y.ops.get(x.ops.len()) {
            return Err(format!("nothing and then {}", self.describe(more)));
        }
        let ends = match (&x.end, &y.end) {
            (End::Yield(v), End::Yield(w)) => self.all(v, w),
            (End::Continue(m, v), End::Continue(n, w)) | (End::Break(m, v), End::Break(n, w)) => {
                m == n && self.all(v, w)
            }
            (End::Unreachable, End::Unreachable) => true,
            _ => false,
        };
        if ends { Ok(()) } else { Err("one value at its end and then another".into()) }
    }
}
