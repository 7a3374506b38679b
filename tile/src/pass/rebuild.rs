//! Copying a function operation by operation.

use crate::ir::{
    Array, ArrayId, ArrayParam, Build, Combine, End, Func, Kind, Op, OpId, RegionId, Type, Value,
};

/// What a pass does differently from a plain copy.
pub(super) trait Pass {
    /// The results of an operation without regions, whose operands in the copy are given. `None` copies it; an empty list leaves out an
    /// operation whose results nobody reads.
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>>;

    /// What a parameter becomes.
    fn param(&self, param: &ArrayParam) -> ArrayParam {
        param.clone()
    }

    /// What a type becomes.
    fn ty(&self, ty: Type) -> Type {
        ty
    }

    /// Which results of a loop or condition stay, and with them what the regions pass on. A loop's result that goes is what the loop
    /// began with. `None` keeps all; an empty list of a condition, or of a loop, whose results nobody reads leaves all of it out.
    fn keeps(&mut self, _func: &Func, _op: &Op) -> Option<Keep> {
        None
    }

    /// Writes an operation with regions in another way and says what its results have become, or returns false.
    fn rewrites(&mut self, _copy: &mut Copy<'_>, _id: OpId, _operands: &[Value]) -> bool {
        false
    }
}

/// What stays of an operation with regions.
pub(super) enum Keep {
    /// Nothing.
    Nothing,
    /// The results at positions that are true.
    Some(Vec<bool>),
}

/// A copy in the making.
pub(super) struct Copy<'a> {
    pub(super) func: &'a Func,
    pub(super) b: Build,
    /// What each value has become.
    values: Vec<Option<Value>>,
    arrays: Vec<Option<ArrayId>>,
    /// Of each open region below the body: whether it is a loop's, and which values its ends pass on.
    around: Vec<(bool, Vec<bool>)>,
}

/// Copies a function with a pass's differences.
pub(super) fn rebuild(func: &Func, pass: &mut impl Pass) -> Func {
    let mut copy = Copy::new(func, |param| pass.param(param));
    copy.ops(func.body(), pass);
    copy.b.finish()
}

fn kept<T: std::marker::Copy>(list: &[T], keep: &[bool]) -> Vec<T> {
    list.iter().zip(keep).filter(|(_, keep)| **keep).map(|(&item, _)| item).collect()
}

impl<'a> Copy<'a> {
    /// A function without operations, whose parameters become others.
    pub(super) fn new(func: &'a Func, becomes: impl Fn(&ArrayParam) -> ArrayParam) -> Copy<'a> {
        let mut b = Build::new(&func.name);
        b.hints_mut().clone_from(&func.hints);
        let (values, arrays) = (vec![None; func.value_count()], vec![None; func.arrays().len()]);
        let mut copy = Copy { func, b, values, arrays, around: Vec::new() };
        for (array, param) in func.params() {
            copy.arrays[array.index()] = Some(copy.b.array(becomes(param)));
        }
        func.scalars().iter().for_each(|scalar| copy.b.declare_scalar(scalar.clone()));
        copy
    }
}

impl Copy<'_> {
    /// The counterpart of a value. One that nothing has defined stays what it is, for the verifier to find.
    pub(super) fn value(&self, value: Value) -> Value {
        self.values[value.index()].unwrap_or(value)
    }

    fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&value| self.value(value)).collect()
    }

    /// The operation that defines a value of the copy, and the type of the value.
    pub(super) fn definition(&self, value: Value) -> Option<&Op> {
        self.b.func().op_of(value)
    }

    /// The operation's kind on the arrays of the copy.
    pub(super) fn kind(&mut self, op: &Op) -> Kind {
        op.kind.map_arrays(|array| self.array(array))
    }

    fn array(&mut self, array: ArrayId) -> ArrayId {
        match self.func.arrays()[array.index()] {
            Array::Param(_) => self.arrays[array.index()].unwrap_or(array),
            Array::Slice { of, axis, start, stop } => {
                let of = self.array(of);
                let (start, stop) = (self.value(start), self.value(stop));
                self.b.slice(of, axis, start, stop)
            }
        }
    }

    /// How many of the innermost open regions are bodies of loops, directly inside one another.
    pub(super) fn loops(&self) -> usize {
        self.around.iter().rev().take_while(|(is_loop, _)| *is_loop).count()
    }

    /// Copies the operations of a region.
    pub(super) fn ops(&mut self, region: RegionId, pass: &mut impl Pass) {
        let func = self.func;
        self.list(&func.region(region).ops, pass);
    }

    /// Copies operations.
    pub(super) fn list(&mut self, ops: &[OpId], pass: &mut impl Pass) {
        let func = self.func;
        for &id in ops {
            let op = func.op(id);
            self.b.at(op.site);
            let operands = self.all(&op.operands);
            if !op.regions.is_empty() {
                if !pass.rewrites(self, id, &operands) {
                    self.nested(op, &operands, pass);
                }
                continue;
            }
            let results = pass.replace(self, op, &operands).unwrap_or_else(|| {
                let kind = self.kind(op);
                self.b.push(kind, &operands, &new_types(pass, func, &op.results))
            });
            self.define(&op.results, &results);
        }
    }

    /// Says what values have become.
    pub(super) fn define(&mut self, old: &[Value], new: &[Value]) {
        for (&old, &new) in old.iter().zip(new) {
            self.values[old.index()] = Some(new);
            if let Some(pin) = self.func.pins().get(&old) {
                self.b.pin(new, pin.clone());
            }
        }
    }

    fn nested(&mut self, op: &Op, operands: &[Value], pass: &mut impl Pass) {
        let func = self.func;
        let keep = match pass.keeps(func, op) {
            Some(Keep::Nothing) => return,
            Some(Keep::Some(keep)) => keep,
            None => vec![true; op.results.len()],
        };
        let is_loop = matches!(op.kind, Kind::For | Kind::Loop);
        let combines = matches!(
            op.kind,
            Kind::Reduce { combine: Combine::By(()), .. } | Kind::Scan { combine: Combine::By(()), .. }
        );
        let bounds = operands.len() - if is_loop { op.results.len() } else { 0 };
        let mut inputs = operands[..bounds].to_vec();
        if is_loop {
            let carried = &operands[bounds..];
            inputs.extend(kept(carried, &keep));
            // What goes is what the loop began with.
            self.define(&op.results, carried);
        }
        let mut regions = Vec::new();
        for &region in &op.regions {
            let from = func.region(region);
            let own = from.args.len() - if is_loop { op.results.len() } else { 0 };
            let mut stays = vec![true; own];
            if is_loop {
                stays.extend(&keep);
                let carried = self.all(&op.results);
                self.define(&from.args[own..], &carried);
            } else {
                stays.resize(from.args.len(), true);
            }
            let args = kept(&from.args, &stays);
            let (_, new) = self.b.open(&new_types(pass, func, &args));
            self.define(&args, &new);
            let passes = if combines { vec![true; from.end.values().len()] } else { keep.clone() };
            self.around.push((is_loop, passes));
            self.ops(region, pass);
            let end = self.end(&from.end);
            self.around.pop();
            regions.push(self.b.close(end));
        }
        self.b.at(op.site);
        let results = kept(&op.results, &keep);
        let kind = self.kind(op);
        let new = self.b.push_regions(kind, &inputs, &new_types(pass, func, &results), regions);
        self.define(&results, &new);
    }

    fn end(&self, end: &End) -> End {
        let depth = match end {
            End::Continue(depth, _) | End::Break(depth, _) => Some(*depth as usize),
            _ => None,
        };
        let mut around = self.around.iter().rev();
        let target = match depth {
            Some(depth) => around.filter(|(is_loop, _)| *is_loop).nth(depth),
            None => around.next(),
        };
        let values = self.all(end.values());
        let values = target.map_or_else(|| values.clone(), |(_, keep)| kept(&values, keep));
        match end {
            End::Yield(_) => End::Yield(values),
            End::Continue(depth, _) => End::Continue(*depth, values),
            End::Break(depth, _) => End::Break(*depth, values),
            End::Unreachable => End::Unreachable,
        }
    }
}

/// What the types of values become.
fn new_types(pass: &impl Pass, func: &Func, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&value| pass.ty(func.ty(value))).collect()
}

/// The types of values.
pub(super) fn types(func: &Func, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&value| func.ty(value)).collect()
}
