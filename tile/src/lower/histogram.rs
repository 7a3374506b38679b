//! Histograms: counters in shared memory, several for each number. Lanes that count the same number, or numbers whose counters are in one
//! bank, count in different ones.
//!
//! Where a loop does nothing with histograms but add them up, the counters stay in shared memory until the loop has ended.

use std::collections::{HashMap, HashSet};

use girih_codegen::plan::Dist;
use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::Lowering;
use super::words::{immediate, integer, m, of};
use crate::dtype::is_signed;
use crate::error::Result;
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{End, Func, Kind, Op, OpId, Value};
use crate::pass::uses::readers;

/// Bytes of counters up to which there are several for a number.
const MOST: i64 = 32 << 10;
/// Banks of shared memory, and lanes of a warp.
const BANKS: i64 = 32;

/// Counters in shared memory.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    base: Expr,
    bins: i64,
    /// Neighbouring counters of one number: a lane counts in that of its number modulo this, a power of two.
    copies: i64,
}

impl Counters {
    fn bytes(bins: i64, copies: i64) -> i64 {
        bins * copies * DType::S32.bytes()
    }
}

/// The greatest power of two of counters for each of `bins` numbers, `words` of them in all, or one: it takes as long to add counters up as
/// to count in them.
fn copies(bins: i64, words: i64) -> i64 {
    let most = (words.min(MOST / DType::S32.bytes()) / bins).clamp(1, BANKS);
    1 << most.ilog2()
}

/// Iterations that a loop is expected to have, for the number of its counters.
const ITERATIONS: i64 = 8;

/// What a loop counts: the position of the sum among what it carries, the histogram, the addition.
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

/// What a loop of numbers counts: sums that are carried, and that nothing but the addition of a histogram reads or makes.
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
        if let Some(counters) = self.counting.counters.get(&id).cloned() {
            return self.count(&counters, source);
        }
        let (elements, bins) =
            (self.plan.func.ty(source).dims.size() as i64, self.plan.func.ty(result).dims.size() as i64);
        let copies = copies(bins, elements / 4);
        let base = self.scratch(Counters::bytes(bins, copies), 16)?;
        let counters = Counters { base, bins, copies };
        self.clear(&counters)?;
        self.meet();
        self.count(&counters, source)?;
        self.meet();
        let regs = self.totals(&counters, self.plan.dist(result))?;
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
            self.clear(&counters)?;
            self.counting.counters.insert(each.histogram, counters);
            self.counting.sums.insert(each.sum);
        }
        self.meet_idle();
        Ok(found)
    }

    /// Adds up what a loop has counted, behind the loop.
    pub(super) fn end_counting(&mut self, op: &Op, found: &[Counted]) -> Result {
        if !found.is_empty() {
            self.meet_idle();
        }
        for each in found {
            let Some(counters) = self.counting.counters.get(&each.histogram).cloned() else { continue };
            let (initial, result) = (op.operands[3 + each.at], op.results[each.at]);
            let counts = self.totals(&counters, self.plan.dist(result))?;
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
        let copies = copies(bins, ITERATIONS * elements);
        let base = self.b.alloc_shared(Counters::bytes(bins, copies), 16)?;
        Ok(Counters { base, bins, copies })
    }

    /// Sets counters to 0.
    pub(super) fn clear(&mut self, counters: &Counters) -> Result {
        let words = counters.bins * counters.copies;
        let vector = [4, 2, 1].into_iter().find(|n| words % n == 0).unwrap_or(1);
        let zero = self.bits(DType::S32, 0)?;
        let zeros = vec![zero; fit::size(vector)];
        for first in (0..words).step_by(fit::size(i64::from(self.plan.threads) * vector)) {
            let at = &(&self.thread * vector) + first;
            let cond = Cond::less(&at, &Expr::from(words));
            self.put(DType::S32, &(&counters.base + &(&at * DType::S32.bytes())), &zeros, &cond)?;
        }
        Ok(())
    }

    /// Counts the numbers of a tile.
    fn count(&mut self, counters: &Counters, source: Value) -> Result {
        let (ty, dist) = (self.plan.func.ty(source), self.plan.dist(source));
        let alone = dist.owner(&self.thread)?;
        let wide = matches!(integer(ty.dtype), Type::S64 | Type::U64);
        let all = !is_signed(ty.dtype) && !wide && (1i64 << ty.dtype.bits()) <= counters.bins;
        for (value, reg) in self.regs(source)?.iter().enumerate() {
            let inside = self.inside(dist, value, &ty.dims)?;
            let counted = Cond::all([alone.clone(), inside]);
            if counted == Cond::Never {
                continue;
            }
            let cond = if all {
                counted
            } else {
                // As an unsigned number, a negative one is beyond all bins.
                let unsigned = if wide { Type::U64 } else { Type::U32 };
                let known =
                    self.setp(Word::Lt, unsigned, reg, immediate(DType::S64, counters.bins.cast_unsigned()));
                Cond::all([counted, self.b.cond_in(&known)?])
            };
            let bin = match wide {
                true => self.make(Type::U32, Opcode::Cvt, m![Type::U32, Type::U64], vec![Operand::from(reg)]),
                false => reg.clone(),
            };
            self.count_one(counters, &bin, Operand::Int(1), &cond)?;
        }
        Ok(())
    }

    /// Adds to the counter of a number, which is one of the counters' where `cond` holds.
    pub(super) fn count_one(&mut self, counters: &Counters, bin: &Reg, more: Operand, cond: &Cond) -> Result {
        let own = &self.thread.rem(counters.copies)? * DType::S32.bytes();
        let start = self.b.value(&(&counters.base + &own), Width::W32)?;
        let stride = Operand::Int(counters.copies * DType::S32.bytes());
        let scaled = vec![Operand::from(bin), stride, Operand::from(&start)];
        let address = self.make(Type::U32, Opcode::Mad, m![Word::Lo, Type::U32], scaled);
        let to = Operand::Address(girih_ptx::Address {
            base: Some(address.to_string().into()),
            offset: 0,
            coordinates: Vec::new(),
        });
        Ok(self.b.inst_if(cond, Opcode::Red, m![Word::Shared, Word::Add, Type::U32], vec![to, more])?)
    }

    /// The sums of the counters of each number, in a distribution.
    fn totals(&mut self, counters: &Counters, to: &Dist) -> Result<Vec<Reg>> {
        let origin = self.origin(to, 1)?;
        let mut regs = Vec::new();
        for value in 0..to.size() {
            let bin = &origin[0] + to.offset(value, 1)[0];
            let cond = Cond::less(&bin, &Expr::from(counters.bins));
            regs.push(self.total(counters, &bin, &cond)?);
        }
        Ok(regs)
    }

    /// The sum of the counters of a number, where `cond` holds. Lanes begin with different ones, which are in different banks.
    pub(super) fn total(&mut self, counters: &Counters, bin: &Expr, cond: &Cond) -> Result<Reg> {
        let size = DType::S32.bytes();
        let first = &counters.base + &(bin * (counters.copies * size));
        let mut sum: Option<Reg> = None;
        for copy in 0..counters.copies {
            let at = &first + &(&(&self.thread + copy).rem(counters.copies)? * size);
            let count = self.take(DType::S32, &at, 1, cond)?.swap_remove(0);
            sum = Some(match sum {
                None => count,
                Some(sum) => self.make(Type::S32, Opcode::Add, m![Type::S32], of([&sum, &count])),
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.bits(DType::S32, 0),
        }
    }
}
