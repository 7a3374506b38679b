//! Dead code elimination.

use std::collections::{HashMap, HashSet};

use super::rebuild::{Copy, Keep, Pass, rebuild};
use crate::ir::{Def, End, Func, Kind, Op, OpId, Order, RegionId, Value};

/// Leaves out operations whose results no effect depends on, and what loops carry and conditions yield for nothing.
pub fn dce(func: &Func) -> Func {
    let mut live = Live {
        func,
        owner: HashMap::new(),
        around: HashMap::new(),
        loops: HashMap::new(),
        leaves: HashMap::new(),
        ops: HashSet::new(),
        values: HashSet::new(),
        work: Vec::new(),
    };
    live.index(func.body(), &mut Vec::new());
    func.walk(func.body(), &mut |id, op| {
        if has_effect(op) {
            live.op(id);
        }
    });
    while let Some(value) = live.work.pop() {
        live.defined(value);
    }
    rebuild(func, &mut live)
}

/// Whether an operation has an effect other than its results. Loads with an order wait for others.
fn has_effect(op: &Op) -> bool {
    match &op.kind {
        Kind::Load(view) => view.order != Order::Weak,
        Kind::Gather(at) => at.order != Order::Weak,
        Kind::If | Kind::For | Kind::Loop => false,
        other => !other.is_pure(),
    }
}

struct Live<'a> {
    func: &'a Func,
    /// The operation of a region.
    owner: HashMap<RegionId, OpId>,
    /// The operation that an operation is in.
    around: HashMap<OpId, OpId>,
    /// The ends that pass values on to a loop's results or arguments.
    loops: HashMap<OpId, Vec<&'a End>>,
    /// The conditions in which a loop is left or continued.
    leaves: HashMap<OpId, Vec<OpId>>,
    ops: HashSet<OpId>,
    values: HashSet<Value>,
    work: Vec<Value>,
}

impl<'a> Live<'a> {
    /// Notes what belongs together. `path` are the operations around.
    fn index(&mut self, region: RegionId, path: &mut Vec<OpId>) {
        let func = self.func;
        let from = func.region(region);
        for &id in &from.ops {
            self.around.extend(path.last().map(|&around| (id, around)));
            path.push(id);
            for &inner in &func.op(id).regions {
                self.owner.insert(inner, id);
                self.index(inner, path);
            }
            path.pop();
        }
        if let End::Continue(depth, _) | End::Break(depth, _) = &from.end {
            let is_loop = |id: &OpId| matches!(func.op(*id).kind, Kind::For | Kind::Loop);
            let at = path.iter().enumerate().rev().filter(|(_, id)| is_loop(id)).nth(*depth as usize);
            if let Some((at, &target)) = at {
                self.loops.entry(target).or_default().push(&from.end);
                self.leaves.entry(target).or_default().extend(&path[at + 1..]);
            }
        }
    }

    fn value(&mut self, value: Value) {
        if self.values.insert(value) {
            self.work.push(value);
        }
    }

    /// Takes an operation and whatever it needs to happen. Of loops and conditions, values are taken one by one.
    fn op(&mut self, id: OpId) {
        if !self.ops.insert(id) {
            return;
        }
        let func = self.func;
        let op = func.op(id);
        match op.kind.bounds() {
            Some(bounds) => op.operands[..bounds].iter().for_each(|&value| self.value(value)),
            None => func.reads(op).for_each(|value| self.value(value)),
        }
        if op.kind.bounds().is_none() && op.kind != Kind::If {
            for &region in &op.regions {
                func.region(region).end.values().iter().for_each(|&value| self.value(value));
            }
        }
        self.leaves.get(&id).cloned().unwrap_or_default().into_iter().for_each(|inner| self.op(inner));
        if let Some(&around) = self.around.get(&id) {
            self.op(around);
        }
    }

    fn defined(&mut self, value: Value) {
        let func = self.func;
        let (id, at) = match func.value(value).def {
            Def::Result(id, at) => (id, Some(at as usize)),
            Def::Argument(region, at) => {
                let Some(&id) = self.owner.get(&region) else { return };
                let own = usize::from(func.op(id).kind == Kind::For);
                let is_loop = matches!(func.op(id).kind, Kind::For | Kind::Loop);
                (id, (at as usize).checked_sub(own).filter(|_| is_loop))
            }
        };
        self.op(id);
        let op = func.op(id);
        let Some(at) = at else { return };
        match op.kind {
            Kind::For | Kind::Loop => {
                let first = op.operands.len() - op.results.len();
                self.value(op.operands[first + at]);
                self.value(op.results[at]);
                let region = func.region(op.regions[0]);
                self.value(region.args[region.args.len() - op.results.len() + at]);
                for end in self.loops.get(&id).cloned().unwrap_or_default() {
                    self.value(end.values()[at]);
                }
            }
            Kind::If => {
                for &region in &op.regions {
                    if let End::Yield(values) = &func.region(region).end {
                        self.value(values[at]);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Pass for Live<'_> {
    fn replace(&mut self, _: &mut Copy<'_>, op: &Op, _: &[Value]) -> Option<Vec<Value>> {
        let dead = !has_effect(op) && !op.results.iter().any(|value| self.values.contains(value));
        dead.then(Vec::new)
    }

    fn keeps(&mut self, _: &Func, op: &Op) -> Option<Keep> {
        let id = self.owner.get(op.regions.first()?)?;
        if !self.ops.contains(id) {
            return Some(Keep::Nothing);
        }
        let keep = op.results.iter().map(|value| self.values.contains(value)).collect();
        matches!(op.kind, Kind::For | Kind::Loop | Kind::If).then_some(Keep::Some(keep))
    }
}
