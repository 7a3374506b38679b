//! Checks a plan against the rules of [`place`](super).

use girih_codegen::plan::Dist;

use super::Plan;
use super::rule::{Work, accepts, extents, give, need, work};
use crate::ir::{OpId, RegionId, Value};

impl Plan {
    /// Checks that the function keeps the rules of [`verify`](crate::ir::verify), and that the distributions of every operation's operands
    /// and results are to each other what the rules say.
    ///
    /// # Errors
    /// The first operation that breaks a rule: its number, its kind, and the distributions.
    pub fn verify(&self) -> Result<(), String> {
        if !self.threads.is_power_of_two() || self.threads < 32 {
            return Err(format!("{} threads: a power of two, 32 or more, is accepted", self.threads));
        }
        if self.dists.len() != self.func.value_count() {
            return Err(format!("{} distributions of {} values", self.dists.len(), self.func.value_count()));
        }
        crate::ir::verify(&self.func).map_err(|error| error.to_string())?;
        self.region(self.func.body(), &mut Vec::new())
    }

    fn value(&self, value: Value) -> Result<(), String> {
        let (dims, dist) = (self.func.ty(value).dims, self.dist(value));
        if dist.threads() != i64::from(self.threads) {
            return Err(format!("%{}: {dist} has {} threads of {}", value.0, dist.threads(), self.threads));
        }
        if dims.rank() == 0 && *dist != Dist::scalar(dist.threads()) {
            return Err(format!("%{}: a scalar with {dist}: every thread holds it", value.0));
        }
        if !dist.covers(&extents(&dims)) {
            return Err(format!("%{}: {dist} does not cover {dims}", value.0));
        }
        Ok(())
    }

    fn same(&self, what: &str, value: Value, dist: &Dist) -> Result<(), String> {
        if self.dist(value) == dist {
            return Ok(());
        }
        Err(format!("{what}: %{} has {}, {dist} is accepted", value.0, self.dist(value)))
    }

    fn region(&self, region: RegionId, loops: &mut Vec<Vec<Dist>>) -> Result<(), String> {
        self.func.region(region).args.iter().try_for_each(|&arg| self.value(arg))?;
        self.func.region(region).ops.iter().try_for_each(|&id| self.op(id, loops))
    }

    fn op(&self, id: OpId, loops: &mut Vec<Vec<Dist>>) -> Result<(), String> {
        let op = self.func.op(id);
        let what = format!("operation {} ({:?})", id.0, op.kind);
        op.results.iter().try_for_each(|&result| self.value(result))?;
        let of = match work(&self.func, op) {
            Work::None => return Ok(()),
            Work::Each => return self.control(&what, id, loops),
            Work::Result => op.results[0],
            Work::Operand => op.operands[0],
        };
        let dist = self.dist(of);
        for (at, &operand) in op.operands.iter().enumerate() {
            let own = self.products.need(&self.func, id, at, self.threads.into());
            if let Some(need) = own.unwrap_or_else(|| need(&self.func, op, at, dist)) {
                self.same(&what, operand, &need)?;
            }
        }
        if self.products.sums(&self.func, id, self.threads.into()).is_some_and(|sums| sums != *dist) {
            return Err(format!("{what}: {dist}: the distribution of the instruction's sums is accepted"));
        }
        let give = give(op, dist);
        op.results.iter().try_for_each(|&result| self.same(&what, result, &give))?;
        accepts(&self.func, op, dist).map_err(|why| format!("{what}: {why}"))
    }

    fn control(&self, what: &str, id: OpId, loops: &mut Vec<Vec<Dist>>) -> Result<(), String> {
        let op = self.func.op(id);
        let all = |values: &[Value], dists: &[Dist]| {
            values.iter().zip(dists).try_for_each(|(&value, dist)| self.same(what, value, dist))
        };
        let carried: Vec<Dist> = op.results.iter().map(|&result| self.dist(result).clone()).collect();
        let first = op.kind.bounds();
        if let Some(first) = first {
            all(op.operands.get(first..).unwrap_or_default(), &carried)?;
            loops.push(carried.clone());
        }
        for &region in &op.regions {
            let args = &self.func.region(region).args;
            all(args.get(args.len().saturating_sub(carried.len())..).unwrap_or_default(), &carried)?;
            self.region(region, loops)?;
            let end = &self.func.region(region).end;
            end.target(&carried, loops).map_or(Ok(()), |to| all(end.values(), to))?;
        }
        if first.is_some() {
            loops.pop();
        }
        Ok(())
    }
}
