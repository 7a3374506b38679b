//! Where a branch may judge quotients of many f32 by one ([`quotients`](girih_codegen::algorithm::element::quotients)).

use std::collections::HashSet;

use super::Lowering;
use crate::facts::Bound;
use crate::ir::{Kind, Op, OpId, Padding, Value};

impl Lowering<'_> {
    /// Whether quotients of this value may be judged by a branch: all threads take the same way, and all its elements are determined.
    pub(super) fn is_judged(&mut self, value: Value) -> bool {
        let plan = self.plan;
        if !self.alike || self.is_padded(plan.dist(value), &plan.func.ty(value).dims) {
            return false;
        }
        if self.open.is_none() {
            self.open = Some(self.undetermined());
        }
        self.open.as_ref().is_some_and(|open| !open.contains(&value))
    }

    /// The values of which elements may come from outside of an array.
    fn undetermined(&self) -> HashSet<Value> {
        let func = &self.plan.func;
        let checked = |id: OpId| {
            let bounds = self.bounds.access(id);
            bounds.is_empty() || bounds.iter().any(|of| of.low == Bound::Kernel || of.high == Bound::Kernel)
        };
        let outside = |id: OpId, op: &Op| match &op.kind {
            // What lies outside of a tile that products take from shared memory is zero.
            Kind::Load(_) if self.plan.products.loads.contains_key(&id) => false,
            Kind::Load(view) => view.padding == Padding::Undetermined && view.check && checked(id),
            Kind::Gather(at) => at.check,
            _ => false,
        };
        let mut found: HashSet<Value> = HashSet::new();
        loop {
            let before = found.len();
            func.walk(func.body(), &mut |id, op| {
                let ends = op.regions.iter().flat_map(|&region| func.region(region).end.values());
                if outside(id, op) || op.operands.iter().chain(ends).any(|value| found.contains(value)) {
                    found.extend(&op.results);
                    found.extend(op.regions.iter().flat_map(|&region| &func.region(region).args));
                }
            });
            if found.len() == before {
                return found;
            }
        }
    }
}
