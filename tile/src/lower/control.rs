//! Loops and conditions. What a loop carries has registers of its own, which are written all at once at the end of an iteration.

use girih_codegen::builder::Block;
use girih_codegen::{Cond, Expr, Reg};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;
use num_integer::gcd;

use super::histogram::Counted;
use super::memory::Touched;
use super::shared::Scratch;
use super::wgmma::Role;
use super::words::{integer, m, of};
use super::{Held, Lowering, register, unfit};
use crate::error::Result;
use crate::ir::{End, Op, OpId, RegionId, Value};

/// A loop that is being written.
pub(crate) struct Frame {
    /// Left to end the loop.
    around: Option<Block>,
    /// Left to end an iteration.
    iteration: Option<Block>,
    /// What is carried, in the order of the results; nothing of a sum that is counted in shared memory.
    carried: Vec<Vec<Reg>>,
    /// Whether registers of what is carried have two elements of 16 bits.
    paired: Vec<bool>,
    /// Whether iterations end at the end of the body alone.
    whole: bool,
    /// What may have been accessed since the last barrier wherever an iteration begins or ends.
    state: (Scratch, Touched),
}

impl Frame {
    /// The registers of what is carried in one place, if iterations end at the end of the body alone: what the body begins with is in them.
    pub(crate) fn carried(&self, at: usize) -> Option<Vec<Reg>> {
        self.carried.get(at).filter(|regs| self.whole && !regs.is_empty()).cloned()
    }
}

impl Lowering<'_> {
    /// Lowers the operations of a region and what its end does to loops around. What the end yields stays where it is.
    pub(crate) fn region(&mut self, region: RegionId) -> Result {
        let data = self.plan.func.region(region);
        for &id in &data.ops {
            if self.takes_part(id) {
                self.op(id)?;
                self.free_after(id)?;
            }
        }
        self.settle_turn(region)?;
        self.end_turn_ahead(region)?;
        match &data.end {
            End::Yield(_) | End::Unreachable => Ok(()),
            End::Continue(depth, values) => self.pass(*depth, values, true),
            End::Break(depth, values) => self.pass(*depth, values, false),
        }
    }

    /// Ends an iteration of a loop around, or the loop, with these values.
    fn pass(&mut self, depth: u32, values: &[Value], iteration: bool) -> Result {
        let missing = || unfit(format!("no loop at depth {depth}"));
        let at = self.loops.len().checked_sub(1 + depth as usize).ok_or_else(missing)?;
        let (mut targets, mut sources) = (Vec::new(), Vec::new());
        for (i, &value) in values.iter().enumerate() {
            if self.loops[at].carried[i].is_empty() {
                continue;
            }
            targets.extend(self.loops[at].carried[i].iter().cloned());
            let regs = self.regs(value)?;
            let paired = self.loops[at].paired[i];
            sources.extend(if paired { self.pairs(&regs) } else { regs });
        }
        self.b.move_all(&targets, &sources)?;
        let frame = &self.loops[at];
        let block = if iteration { &frame.iteration } else { &frame.around };
        match block {
            Some(block) => Ok(self.b.leave(block, &Cond::Always, self.alike)?),
            None => Err(missing()),
        }
    }

    /// Opens the iterations of a loop.
    fn open_iteration(&mut self, frame: Frame) -> Block {
        let again = self.b.open_repeat();
        let iteration = Some(self.b.open_block());
        self.loops.push(Frame { iteration, ..frame });
        again
    }

    /// Lowers the body of a loop up to where an iteration ends.
    fn iteration(&mut self, body: RegionId) -> Result {
        self.region(body)?;
        let iteration = self.loops.last_mut().and_then(|frame| frame.iteration.take());
        iteration.map_or(Ok(()), |block| Ok(self.b.close_block(block)?))
    }

    /// New registers for values of a type and distribution as that of `value`.
    pub(super) fn fresh(&mut self, value: Value) -> Vec<Reg> {
        let ty = register(self.plan.func.ty(value).dtype);
        let size = self.plan.dist(value).size();
        self.b.regs(ty, size)
    }

    /// Registers for what a loop carries, with the initial values.
    fn carry(
        &mut self,
        initial: &[Value],
        (args, paired): (&[Value], &[bool]),
        counted: &[Counted],
        unset: &[Value],
    ) -> Result<Vec<Vec<Reg>>> {
        let mut carried = Vec::new();
        for (at, &value) in initial.iter().enumerate() {
            if unset.contains(&args[at]) {
                carried.push(self.fresh(value));
                continue;
            }
            if counted.iter().any(|counted| counted.at == at) || !self.knows(args[at]) {
                carried.push(Vec::new());
                continue;
            }
            let regs = match paired[at] {
                true => self.b.regs(Type::B32, self.plan.dist(value).size() / 2),
                false => self.fresh(value),
            };
            let values = self.regs(value)?;
            let values = if paired[at] { self.pairs(&values) } else { values };
            self.b.move_all(&regs, &values)?;
            carried.push(regs);
        }
        Ok(carried)
    }

    /// Enters an iteration: the region's arguments are copies of what is carried, since an iteration that ends early writes that while the rest of
    /// the iteration is still to be written.
    fn enter(&mut self, args: &[Value]) -> Result {
        let (carried, paired) =
            self.loops.last().map(|frame| (frame.carried.clone(), frame.paired.clone())).unwrap_or_default();
        let whole = self.loops.last().is_some_and(|frame| frame.whole) && self.has_products();
        for ((&arg, regs), paired) in args.iter().zip(carried).zip(paired) {
            let ty = self.plan.func.ty(arg);
            if paired {
                let halves = self.halves(&regs);
                self.hold_regs(arg, halves)?;
                continue;
            }
            if whole && ty.dims.rank() > 0 {
                // Products write what is carried in place, when the iteration needs it no more.
                self.hold_regs(arg, regs)?;
                continue;
            }
            let dtype = ty.dtype;
            let copies = regs.iter().map(|reg| self.copy(dtype, reg)).collect();
            self.hold_regs(arg, copies)?;
        }
        Ok(())
    }

    fn leave_loop(&mut self, results: &[Value]) -> Result {
        let Some(frame) = self.loops.pop() else { return Ok(()) };
        if let Some(around) = frame.around {
            self.b.close_block(around)?;
        }
        self.set_state(frame.state);
        for ((&result, regs), paired) in results.iter().zip(frame.carried).zip(frame.paired) {
            let regs = if paired { self.halves(&regs) } else { regs };
            self.hold_regs(result, regs)?;
        }
        Ok(())
    }

    /// `for i in start..stop` by steps.
    pub(crate) fn for_loop(&mut self, id: OpId, op: &Op) -> Result {
        let dtype = self.plan.func.ty(op.operands[0]).dtype;
        let body = op.regions[0];
        let args = &self.plan.func.region(body).args;
        let produces = self.products.role == Role::Producer;
        let bins = if produces { Vec::new() } else { self.begin_bins(body)? };
        let counted = if produces { Vec::new() } else { self.begin_counting(op)? };
        let whole = !self.plan.func.leaves(body);
        let paired: Vec<bool> = args[1..].iter().map(|&arg| whole && self.is_paired(arg)).collect();
        let unset = if whole && !produces { self.set_by_products(op) } else { Vec::new() };
        let carried = self.carry(&op.operands[3..], (&args[1..], &paired), &counted, &unset)?;
        let [start, stop, step] = [0, 1, 2].map(|i| op.operands[i]);
        let ranges = self.ranges(dtype, [start, stop, step])?;
        let (counter, ty) = (self.b.reg(register(dtype)), integer(dtype));
        let [first, end, by] = [self.reg(start)?, self.reg(stop)?, self.reg(step)?];
        if !produces && !self.is_positive(step) {
            // A loop that does not come closer to its end never ends.
            let more = self.setp(Word::Gt, ty, &by, Operand::Int(0));
            let more = self.b.cond_in(&more)?;
            self.trap_unless(&more, None)?;
        }
        self.b.move_all(std::slice::from_ref(&counter), std::slice::from_ref(&first))?;
        self.touch_loop(body);
        let state = self.state();
        let late = whole && self.begin_late(body)?;
        let takes_turns = whole && self.begin_turns(body)?;

        let around = self.b.open_block();
        let none = self.setp(Word::Ge, ty, &counter, &end);
        let none = self.b.cond_in(&none)?;
        self.b.leave(&around, &none, self.alike)?;
        let sums = args[1..].iter().zip(&carried).filter(|(arg, _)| unset.contains(arg));
        let sums: Vec<Reg> = sums.flat_map(|(_, regs)| regs.clone()).collect();
        let ahead = self.begin_ahead(id, [&counter, &end, &by], ranges)?;
        let again = self.open_iteration(Frame {
            around: Some(around),
            iteration: None,
            carried,
            paired,
            whole,
            state,
        });
        let number = self.copy(dtype, &counter);
        if !unset.is_empty() {
            let later = self.setp(Word::Ne, ty, &number, Operand::from(&first));
            let later = self.b.cond_in(&later)?;
            self.set_in_first(&unset, &later);
        }
        self.hold_number_of_loop(args[0], number, ranges)?;
        self.enter(&args[1..])?;
        if late {
            self.enter_late()?;
        }
        if ahead.is_some() {
            self.enter_ahead(id)?;
        }
        self.iteration(body)?;
        let more = self.goes_on(dtype, [&counter, &end, &by]);
        let sum = vec![Operand::from(&counter), Operand::from(&counter), Operand::from(&by)];
        self.b.inst(Opcode::Add, m![ty], sum);
        let more = self.b.cond_in(&more)?;
        self.b.again(&again, &more, self.alike)?;
        self.b.close_block(again)?;
        self.leave_loop(&op.results)?;
        if late {
            self.leave_late()?;
        }
        self.clear_unset(&sums, ty, [&first, &end])?;
        if takes_turns {
            self.end_turns();
        }
        if let Some(scope) = ahead {
            self.leave_ahead(scope);
        }
        self.end_counting(op, &counted)?;
        self.end_bins(bins)
    }

    /// Whether a loop goes on after the iteration of a number. What is left of the range is compared to the step, for the sum of number and step
    /// might leave the dtype.
    pub(super) fn goes_on(&mut self, dtype: DType, [number, end, by]: [&Reg; 3]) -> Reg {
        let left = self.make(register(dtype), Opcode::Sub, m![integer(dtype)], of([end, number]));
        self.setp(Word::Gt, if dtype.bits() == 64 { Type::U64 } else { Type::U32 }, &left, by)
    }

    /// Holds the number of a loop's iteration, of which the range and the divisor are known, or nothing.
    pub(super) fn hold_number_of_loop(
        &mut self,
        value: Value,
        number: Reg,
        ranges: Option<(i64, i64, i64)>,
    ) -> Result {
        let Some((lower, upper, multiple)) = ranges else { return self.hold_regs(value, vec![number]) };
        let number = self.b.var(&number, lower, upper, multiple);
        self.hold(value, Held::Index(number));
        Ok(())
    }

    /// Whether an integer scalar is known to be 1 or more.
    fn is_positive(&self, value: Value) -> bool {
        let known = self.held[value.index()].as_ref();
        crate::facts::is_positive(&self.plan.func, value)
            || matches!(known, Some(Held::Index(expr)) if expr.range().0 >= 1)
    }

    /// What is known of a loop's number: its range and divisor.
    fn ranges(&mut self, dtype: DType, bounds: [Value; 3]) -> Result<Option<(i64, i64, i64)>> {
        if dtype.bits() == 64
            && !bounds.iter().all(|&value| matches!(self.held[value.index()], Some(Held::Index(_))))
        {
            return Ok(None);
        }
        let mut exprs: Vec<Expr> = Vec::new();
        for value in bounds {
            exprs.push(self.index(value)?);
        }
        let divisor = |expr: &Expr| if expr.as_constant() == Some(0) { 0 } else { expr.multiple() };
        let lower = exprs[0].range().0;
        let upper = exprs[1].range().1.saturating_sub(1).max(lower);
        let multiple = gcd(divisor(&exprs[0]), divisor(&exprs[2])).max(1);
        Ok(Some((lower, upper - (upper - lower).rem_euclid(multiple), multiple)))
    }

    /// `loop`, which only a break leaves.
    pub(crate) fn endless(&mut self, op: &Op) -> Result {
        let body = op.regions[0];
        let paired = vec![false; op.operands.len()];
        let carried = self.carry(&op.operands, (&self.plan.func.region(body).args, &paired), &[], &[])?;
        self.touch_loop(body);
        let state = self.state();
        let around = self.b.open_block();
        let frame = Frame { around: Some(around), iteration: None, carried, paired, whole: false, state };
        let again = self.open_iteration(frame);
        self.enter(&self.plan.func.region(body).args)?;
        self.iteration(body)?;
        self.b.again(&again, &Cond::Always, self.alike)?;
        self.b.close_block(again)?;
        self.leave_loop(&op.results)
    }

    /// Lowers a region of scalars, such as the combination of a reduction, on registers; returns those of what it yields.
    pub(crate) fn inlined(&mut self, region: RegionId, args: &[Reg]) -> Result<Vec<Reg>> {
        // Scalars of an element are of one thread.
        let alike = std::mem::replace(&mut self.alike, false);
        for (&arg, reg) in self.plan.func.region(region).args.iter().zip(args) {
            self.hold_regs(arg, vec![reg.clone()])?;
        }
        self.region(region)?;
        self.alike = alike;
        let values = self.plan.func.region(region).end.values().to_vec();
        values.into_iter().map(|value| self.reg(value)).collect()
    }
}
