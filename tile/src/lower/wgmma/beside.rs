//! Conditions that do not wait for MMAs in flight: their branches do not use registers that an MMA writes.

use std::collections::BTreeSet;

use girih_codegen::{Cond, Reg};
use girih_ptx::{Opcode, Type, Word};
use girih_tensor::DType;

use super::super::Lowering;
use super::super::words::{immediate, m, of};
use super::Role;
use crate::error::Error;
use crate::ir::{Def, Kind, OpId, Padding, Value};
use crate::place::wgmma::Source;

impl Lowering<'_> {
    /// Whether an operation is a condition whose sides contain neither loads nor MMAs.
    fn is_beside(&self, id: OpId) -> bool {
        let func = &self.plan.func;
        let op = func.op(id);
        let of_registers = |id: &OpId| {
            let kind = &func.op(*id).kind;
            func.is_pure(kind) && !matches!(kind, Kind::Mma | Kind::Load(_) | Kind::Gather(_))
        };
        let inside = op.regions.iter().flat_map(|&region| &func.region(region).ops);
        op.kind == Kind::If && inside.into_iter().all(of_registers)
    }

    /// Before an operation with regions: waits for the MMAs that are in flight, except at a condition that does not read their accumulators.
    pub(crate) fn settle_around(&mut self, id: OpId) -> Result<(), Error> {
        if !self.is_beside(id) {
            return self.settle_all();
        }
        let func = &self.plan.func;
        let mut read = Vec::new();
        for &region in &func.op(id).regions {
            let data = func.region(region);
            data.ops.iter().for_each(|&id| read.extend(&func.op(id).operands));
            read.extend(data.end.values());
        }
        read.into_iter().try_for_each(|value| self.settle(value))
    }

    /// Before the sides of a condition: returns the argument of [`Lowering::end_beside`].
    pub(crate) fn begin_beside(&mut self, id: OpId) -> bool {
        let beside = self.is_beside(id);
        std::mem::replace(&mut self.products.beside, beside)
    }

    /// After the sides of a condition.
    pub(crate) fn end_beside(&mut self, before: bool) {
        self.products.beside = before;
    }

    /// Whether a loop carries `arg` as an A operand in registers of two elements: it is read by MMAs alone.
    pub(crate) fn is_paired(&self, arg: Value) -> bool {
        let products = &self.plan.products.wgmma;
        let first = |reader: &Option<OpId>| {
            reader.is_some_and(|id| {
                let held = products.get(&id).filter(|product| product.sources[0] == Source::Registers);
                let mut operands = self.plan.func.op(id).operands.iter().enumerate();
                held.is_some_and(|product| {
                    operands.all(|(at, &value)| value != arg || at == product.operands[0])
                })
            })
        };
        let (ty, readers) = (self.plan.func.ty(arg), self.products.uses.readers(arg));
        self.products.role != Role::Producer
            && ty.dtype.bits() == 16
            && self.plan.dist(arg).size().is_multiple_of(2)
            && !readers.is_empty()
            && readers.iter().all(first)
    }

    /// Whether elements of a value may depend on undetermined padding of a load.
    fn may_be_nothing(&self, value: Value) -> bool {
        let func = &self.plan.func;
        let (mut seen, mut work) = (BTreeSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            let Def::Result(id, at) = func.value(value).def else { continue };
            if !seen.insert(value) {
                continue;
            }
            let op = func.op(id);
            // Tiles in shared memory are zero there.
            if let Kind::Load(view) = &op.kind
                && view.padding == Padding::Undetermined
                && !self.plan.products.is_shared(id)
            {
                return true;
            }
            work.extend(&op.operands);
            let ends = op.regions.iter().map(|&region| func.region(region).end.values());
            work.extend(ends.filter_map(|values| values.get(at as usize)));
        }
        false
    }

    /// Multiplies accumulators by a broadcast tile, and skips the multiplication in a warp whose factors are all 1: accumulators that are rescaled
    /// only before an overflow rarely are. A factor of 1 changes no number. Returns whether the operation was emitted so.
    pub(crate) fn scale_where_needed(&mut self, id: OpId) -> Result<bool, Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let stretched = |value: &Value| match plan.func.value(*value).def {
            Def::Result(id, _) => plan.func.op(id).kind == Kind::Broadcast,
            Def::Argument(..) => false,
        };
        let (sums, by) = match op.operands[..] {
            [sums, by] if stretched(&by) => (sums, by),
            [by, sums] if stretched(&by) => (sums, by),
            _ => return Ok(false),
        };
        let is_sum = match plan.func.value(sums).def {
            Def::Result(id, _) => plan.func.op(id).kind == Kind::Mma,
            Def::Argument(..) => true,
        };
        let scaled = self.products.uses.readers(op.results[0]);
        let is_added_to = |reader: &Option<OpId>| match reader {
            Some(id) => {
                plan.products.wgmma.contains_key(id) && plan.func.op(*id).operands[2] == op.results[0]
            }
            None => true,
        };
        let fits = self.has_products() && self.alike && plan.func.ty(by).dtype == DType::F32;
        if !fits
            || self.loops.is_empty()
            || !is_sum
            || !scaled.iter().all(is_added_to)
            || self.may_be_nothing(by)
        {
            return Ok(false);
        }
        let factors = self.regs(by)?;
        let mut different: Vec<Reg> = Vec::new();
        factors.iter().for_each(|reg| {
            if !different.contains(reg) {
                different.push(reg.clone());
            }
        });
        if different.len() * MANY > factors.len() {
            return Ok(false);
        }
        let sums = self.regs(sums)?;
        let mut changes = Vec::new();
        for factor in &different {
            let other = self.setp(Word::Neu, Type::F32, factor, immediate(DType::F32, 1f32.to_bits().into()));
            changes.push(self.b.cond_in(&other)?);
        }
        let any = self.b.vote_any(&Cond::any(changes))?;
        let scaled: Vec<Reg> = sums.iter().map(|reg| self.copy(DType::F32, reg)).collect();
        let around = self.b.open_block();
        self.b.leave(&around, &Cond::not(any), true)?;
        for (sum, factor) in scaled.iter().zip(&factors) {
            self.b.inst(Opcode::Mul, m![Word::Rn, Type::F32], of([sum, sum, factor]));
        }
        self.b.close_block(around)?;
        self.hold_regs(op.results[0], scaled)?;
        Ok(true)
    }
}

/// The number of elements with one factor from which on a vote costs less than the multiplications.
const MANY: usize = 16;
