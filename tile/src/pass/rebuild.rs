//! Copying a function operation by operation.

use crate::ir::{Array, ArrayId, Build, End, Func, Op, RegionId, Type, Value};

/// A copy in the making.
pub(super) struct Rebuild<'a> {
    pub(super) func: &'a Func,
    pub(super) b: Build,
    /// What each value has become.
    values: Vec<Option<Value>>,
    arrays: Vec<Option<ArrayId>>,
}

/// Copies a function. `replace` is asked about each operation without regions, given its operands in the copy; what it returns are the
/// results, `None` copies the operation.
pub(super) fn rebuild(
    func: &Func,
    mut replace: impl FnMut(&mut Rebuild<'_>, &Op, &[Value]) -> Option<Vec<Value>>,
) -> Func {
    let mut b = Build::new(&func.name);
    b.hints_mut().clone_from(&func.hints);
    let mut copy =
        Rebuild { func, b, values: vec![None; func.value_count()], arrays: vec![None; func.arrays().len()] };
    for (i, array) in func.arrays().iter().enumerate() {
        if let Array::Param(param) = array {
            copy.arrays[i] = Some(copy.b.array(param.clone()));
        }
    }
    func.scalars().iter().for_each(|scalar| copy.b.declare_scalar(scalar.clone()));
    copy.ops(func.body(), &mut replace);
    copy.b.finish()
}

impl Rebuild<'_> {
    /// The counterpart of a value. An operand that nothing defines stays what it is, for the verifier to find.
    pub(super) fn value(&self, value: Value) -> Value {
        self.values[value.index()].unwrap_or(value)
    }

    fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&value| self.value(value)).collect()
    }

    /// The counterpart of an array.
    pub(super) fn array(&mut self, array: ArrayId) -> ArrayId {
        if let (Some(found), Array::Param(_)) =
            (self.arrays[array.index()], &self.func.arrays()[array.index()])
        {
            return found;
        }
        match &self.func.arrays()[array.index()] {
            Array::Param(_) => array,
            &Array::Slice { of, axis, start, stop } => {
                let of = self.array(of);
                let (start, stop) = (self.value(start), self.value(stop));
                self.b.slice(of, axis, start, stop)
            }
        }
    }

    fn ops(
        &mut self,
        region: RegionId,
        replace: &mut impl FnMut(&mut Rebuild<'_>, &Op, &[Value]) -> Option<Vec<Value>>,
    ) {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            self.b.at(op.site);
            let operands = self.all(&op.operands);
            let replaced = if op.regions.is_empty() { replace(self, op, &operands) } else { None };
            let results = replaced.unwrap_or_else(|| {
                let types: Vec<Type> = op.results.iter().map(|&value| func.ty(value)).collect();
                let kind = op.kind.map_arrays(|array| self.array(array));
                if op.regions.is_empty() {
                    return self.b.push(kind, &operands, &types);
                }
                let regions = op.regions.iter().map(|&region| self.region(region, replace)).collect();
                self.b.at(op.site);
                self.b.push_regions(kind, &operands, &types, regions)
            });
            for (&old, &new) in op.results.iter().zip(&results) {
                self.values[old.index()] = Some(new);
            }
        }
    }

    fn region(
        &mut self,
        region: RegionId,
        replace: &mut impl FnMut(&mut Rebuild<'_>, &Op, &[Value]) -> Option<Vec<Value>>,
    ) -> RegionId {
        let func = self.func;
        let from = func.region(region);
        let types: Vec<Type> = from.args.iter().map(|&arg| func.ty(arg)).collect();
        let (_, args) = self.b.open(&types);
        for (&old, &new) in from.args.iter().zip(&args) {
            self.values[old.index()] = Some(new);
        }
        self.ops(region, replace);
        let values = self.all(from.end.values());
        self.b.close(match from.end {
            End::Yield(_) => End::Yield(values),
            End::Continue(depth, _) => End::Continue(depth, values),
            End::Break(depth, _) => End::Break(depth, values),
            End::Unreachable => End::Unreachable,
        })
    }
}
