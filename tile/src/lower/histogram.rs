//! Histograms. Where a loop does nothing with histograms but add them up, the counters stay in shared memory until the loop has ended.

use std::collections::{HashMap, HashSet};

use girih_codegen::algorithm::distributed::{Counters, histogram};
use girih_ptx::{Opcode, Type};

use super::Lowering;
use super::words::{m, of};
use crate::error::Result;
use crate::ir::table::Each;
use crate::ir::{End, Func, Kind, Op, OpId, Value};
use crate::pass::uses::readers;

/// Iterations that a loop is expected to have, for the number of its counters.
const ITERATIONS: i64 = 8;

/// A histogram of a loop: the position of the sum among the carried values, the histogram, the addition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) at: usize,
    histogram: OpId,
    sum: OpId,
}

/// The histograms that loops around count, and the additions that there are none of therefore.
#[derive(Clone, Debug, Default)]
pub(super) struct Counting {
    counters: HashMap<OpId, Counters>,
    pub(super) sums: HashSet<OpId>,
}

/// The histograms of a loop: sums that are carried, and that only the addition of a histogram reads or makes.
fn counted(func: &Func, op: &Op) -> Vec<Counted> {
    let readers = readers(func);
    let body = func.region(op.regions[0]);
    let (End::Continue(0, ends) | End::Yield(ends)) = &body.end else { return Vec::new() };
    let made_here = |value: Value| func.maker(value).filter(|id| body.ops.contains(id));
    let find = |(at, &end): (usize, &Value)| {
        let arg = *body.args.get(1 + at)?;
        let sum = made_here(end)?;
        let added = match (&func.op(sum).kind, &func.op(sum).operands[..]) {
            (Kind::Each { op: Each::Add, .. }, &[a, b]) if a == arg => b,
            (Kind::Each { op: Each::Add, .. }, &[a, b]) if b == arg => a,
            _ => return None,
        };
        let histogram = made_here(added).filter(|&id| matches!(func.op(id).kind, Kind::Histogram))?;
        let once = [arg, added, end].iter().all(|value| readers.get(value).is_some_and(|all| all.len() == 1));
        once.then_some(Counted { at, histogram, sum })
    };
    let found: Vec<Counted> = ends.iter().enumerate().filter_map(find).collect();
    if found.is_empty() || func.leaves(op.regions[0]) { Vec::new() } else { found }
}

impl Lowering<'_> {
    /// Lowers a [`Kind::Histogram`].
    pub(super) fn histogram(&mut self, id: OpId, op: &Op) -> Result {
        let (source, result) = (op.operands[0], op.results[0]);
        let tile = self.tile_of(&[source])?;
        if let Some(counters) = self.counting.counters.get(&id).cloned() {
            return counters.count(self, &tile);
        }
        let bins = self.plan.func.ty(result).dims.size() as i64;
        let regs = histogram(self, &tile, bins, self.plan.dist(result))?;
        self.hold_regs(result, regs)
    }

    /// Makes counters for what a loop counts, before the loop.
    pub(super) fn begin_counting(&mut self, op: &Op) -> Result<Vec<Counted>> {
        let func = &self.plan.func;
        let found = counted(func, op);
        if found.is_empty() {
            return Ok(found);
        }
        // Counters of an iteration before, or an exchange, may be in use.
        self.meet_idle();
        for each in &found {
            let op = func.op(each.histogram);
            let size = |value: Value| func.ty(value).dims.size() as i64;
            let counters = self.counters(size(op.results[0]), size(op.operands[0]))?;
            counters.clear(self)?;
            self.counting.counters.insert(each.histogram, counters);
            self.counting.sums.insert(each.sum);
        }
        self.meet_idle();
        Ok(found)
    }

    /// Adds up what a loop has counted, after the loop.
    pub(super) fn end_counting(&mut self, op: &Op, found: &[Counted]) -> Result {
        if !found.is_empty() {
            self.meet_idle();
        }
        for each in found {
            let Some(counters) = self.counting.counters.get(&each.histogram).cloned() else { continue };
            let (initial, result) = (op.operands[3 + each.at], op.results[each.at]);
            let counts = counters.totals(self, self.plan.dist(result))?;
            let mut regs = Vec::new();
            for (before, more) in self.regs(initial)?.iter().zip(&counts) {
                regs.push(self.make(Type::S32, Opcode::Add, m![Type::S32], of([before, more])));
            }
            self.hold_regs(result, regs)?;
        }
        Ok(())
    }

    /// Counters of a loop for this many numbers, in each iteration of which this many elements are counted.
    pub(super) fn counters(&mut self, bins: i64, elements: i64) -> Result<Counters> {
        Counters::new(self, bins, ITERATIONS * elements)
    }
}
