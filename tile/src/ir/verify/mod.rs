//! Whether a function keeps the rules that all passes rely on.

mod types;

use std::collections::HashSet;

use super::text::op_text;
use super::{Array, Def, End, Func, Kind, Op, OpId, RegionId, Type, Value};
use crate::error::{Error, Result};
use crate::fit;

/// Checks a function: types by each operation's rule and the row of its table, values defined before they are used in a region around,
/// regions entered and left with what they take, accesses of the rank of their array, effects where they are allowed.
///
/// # Errors
/// [`Error::Verify`] with the first operation that breaks a rule, and the rule.
pub fn verify(func: &Func) -> Result {
    let mut check =
        Check { func, seen: HashSet::new(), defined: vec![false; func.value_count()], around: Vec::new() };
    check.arrays()?;
    check.region(func.body, &[])?;
    match &func.region(func.body).end {
        End::Yield(values) if values.is_empty() => Ok(()),
        end => broken(format!("the body ends with {end:?}; it yields nothing")),
    }
}

fn broken<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::Verify(why.into()))
}

/// What a region belongs to.
#[derive(Clone, Debug)]
enum Around {
    /// A loop that carries values of these types.
    Loop(Vec<Type>),
    /// A side of a condition with results of these types.
    Side(Vec<Type>),
    /// A combination of scalars of these types.
    Combination(Vec<Type>),
}

struct Check<'a> {
    func: &'a Func,
    seen: HashSet<OpId>,
    /// Whether a value is in scope.
    defined: Vec<bool>,
    around: Vec<Around>,
}

impl Check<'_> {
    fn refuse<T>(&self, op: &Op, why: impl AsRef<str>) -> Result<T> {
        let site = op.site.map(|site| format!("{site}: ")).unwrap_or_default();
        broken(format!("{site}`{}`: {}", op_text(self.func, op), why.as_ref()))
    }

    fn arrays(&self) -> Result {
        let mut parts = false;
        for (i, array) in self.func.arrays.iter().enumerate() {
            match array {
                Array::Param(param) if parts => {
                    return broken(format!("the parameter `{}` stands after a part of an array", param.name));
                }
                Array::Param(param) if param.extents.len() != param.strides.len() => {
                    let (n, m) = (param.extents.len(), param.strides.len());
                    return broken(format!("`{}` has {n} extents and {m} strides", param.name));
                }
                Array::Param(param) => types::pairs_of_array(param).map_err(Error::Verify)?,
                Array::Slice { of, .. } => {
                    parts = true;
                    if of.index() >= i {
                        return broken("a part of an array that is not declared before it");
                    }
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, value: Value, def: Def) -> Result {
        if self.func.value(value).def != def || self.defined[value.index()] {
            return broken(format!("%{} is defined twice, or not where it says", value.0));
        }
        self.defined[value.index()] = true;
        Ok(())
    }

    fn region(&mut self, id: RegionId, args: &[Type]) -> Result {
        let func = self.func;
        let region = func.region(id);
        let types: Vec<Type> = region.args.iter().map(|&arg| func.ty(arg)).collect();
        if types != args {
            let (types, args) = (list(&types), list(args));
            return broken(format!("a region with arguments {types} is entered with {args}"));
        }
        for (i, &arg) in region.args.iter().enumerate() {
            self.define(arg, Def::Argument(id, fit::item(i)))?;
        }
        for &op in &region.ops {
            self.op(op)?;
        }
        self.end(&region.end)?;
        for &op in &region.ops {
            func.op(op).results.iter().for_each(|value| self.defined[value.index()] = false);
        }
        region.args.iter().for_each(|arg| self.defined[arg.index()] = false);
        Ok(())
    }

    fn in_scope(&self, values: &[Value]) -> Option<Value> {
        values.iter().copied().find(|value| !self.defined.get(value.index()).copied().unwrap_or(false))
    }

    fn op(&mut self, id: OpId) -> Result {
        let func = self.func;
        let op = func.op(id);
        if !self.seen.insert(id) {
            return self.refuse(op, "stands in two places");
        }
        if let Some(value) = self.in_scope(&op.operands) {
            return self.refuse(op, format!("%{} is not defined here", value.0));
        }
        let mut array = op.kind.names();
        while let Some(at) = array {
            array = self.part(op, at)?;
        }
        if self.around.iter().any(|around| matches!(around, Around::Combination(_)))
            && has_effect(func, &op.kind)
        {
            return self.refuse(op, "has an effect, or waits for one, inside of a combination");
        }
        if let Err(why) = types::check(func, op) {
            return self.refuse(op, why);
        }
        self.regions(op)?;
        for (i, &value) in op.results.iter().enumerate() {
            self.define(value, Def::Result(id, fit::item(i)))?;
        }
        Ok(())
    }

    /// Checks an array that an operation names, and returns the one that it is a part of.
    fn part(&self, op: &Op, array: super::ArrayId) -> Result<Option<super::ArrayId>> {
        let func = self.func;
        match func.arrays.get(array.index()) {
            None => self.refuse(op, "names an array that does not exist"),
            Some(Array::Param(_)) => Ok(None),
            Some(&Array::Slice { of, axis, start, stop }) => {
                if let Some(value) = self.in_scope(&[start, stop]) {
                    return self.refuse(op, format!("%{}, an end of the part, is not defined here", value.0));
                }
                if usize::from(axis) >= func.param_of(of).1.extents.len() {
                    return self
                        .refuse(op, format!("a part along axis {axis}, which the array does not have"));
                }
                let param = func.param_of(of).1;
                if param.dtype.bits() < 8 && usize::from(axis) + 1 == param.extents.len() {
                    return self
                        .refuse(op, format!("{}, and parts along other axes are accepted", types::SHARED));
                }
                if ![start, stop].iter().all(|&value| types::is_index(func.ty(value))) {
                    return self.refuse(op, "the ends of a part are integer scalars");
                }
                Ok(Some(of))
            }
        }
    }

    fn regions(&mut self, op: &Op) -> Result {
        let func = self.func;
        let types = |values: &[Value]| values.iter().map(|&value| func.ty(value)).collect::<Vec<Type>>();
        let (around, args, count) = match &op.kind {
            Kind::For => {
                let carried = types(&op.results);
                let args = types(&op.operands[..1]).into_iter().chain(carried.clone()).collect();
                (Around::Loop(carried), args, 1)
            }
            Kind::Loop => (Around::Loop(types(&op.results)), types(&op.results), 1),
            Kind::If => (Around::Side(types(&op.results)), Vec::new(), 2),
            Kind::Reduce { combine: super::Combine::By(()), .. }
            | Kind::Scan { combine: super::Combine::By(()), .. } => {
                let scalars: Vec<Type> =
                    types(&op.operands).iter().map(|ty| Type::scalar(ty.dtype)).collect();
                (Around::Combination(scalars.clone()), scalars.repeat(2), 1)
            }
            _ if op.regions.is_empty() => return Ok(()),
            _ => return self.refuse(op, "has a region, and takes none"),
        };
        if op.regions.len() != count {
            return self.refuse(op, format!("has {} regions, and takes {count}", op.regions.len()));
        }
        self.around.push(around);
        op.regions.iter().try_for_each(|&region| self.region(region, &args))?;
        self.around.pop();
        Ok(())
    }

    fn end(&self, end: &End) -> Result {
        let refuse = |why: String| broken(format!("a region ends with {end:?}: {why}"));
        if let Some(value) = self.in_scope(end.values()) {
            return refuse(format!("%{} is not defined here", value.0));
        }
        let expected = match (end, self.around.last()) {
            (End::Unreachable, _) => return Ok(()),
            (End::Yield(_), None) => &Vec::new(),
            (End::Yield(_), Some(Around::Side(types) | Around::Combination(types))) => types,
            (End::Continue(depth, _) | End::Break(depth, _), _) => {
                let inner =
                    self.around.iter().rev().take_while(|around| !matches!(around, Around::Combination(_)));
                let mut loops = inner.filter_map(|around| match around {
                    Around::Loop(types) => Some(types),
                    _ => None,
                });
                match loops.nth(*depth as usize) {
                    Some(types) => types,
                    None => return refuse(format!("there are not {} loops around", depth + 1)),
                }
            }
            (End::Yield(_), Some(Around::Loop(_))) => {
                return refuse("a loop's body continues or breaks".into());
            }
        };
        let types: Vec<Type> = end.values().iter().map(|&value| self.func.ty(value)).collect();
        if types == *expected {
            Ok(())
        } else {
            refuse(format!("passes on {}; {} is taken", list(&types), list(expected)))
        }
    }
}

fn has_effect(func: &Func, kind: &Kind) -> bool {
    !func.is_pure(kind) && !matches!(kind, Kind::For | Kind::Loop | Kind::If)
}

fn list(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}
