//! Atomic operations on elements of arrays.

use girih_codegen::sync::atomic_words;
use girih_codegen::{Cond, Reg};
use girih_ptx::{Opcode, Operand, Word};
use girih_tensor::DType;

use super::memory::{Touch, global};
use super::words::{immediate, m, moved};
use super::{Lowering, register};
use crate::error::{Fault, Result};
use crate::ir::{Indexed, Op, OpId, Order, Rmw, Value};
use crate::pass::uses::readers;

/// The operation's word.
fn word(rmw: Rmw) -> Word {
    match rmw {
        Rmw::Add => Word::Add,
        Rmw::Min => Word::Min,
        Rmw::Max => Word::Max,
        Rmw::And => Word::And,
        Rmw::Or => Word::Or,
        Rmw::Xor => Word::Xor,
        Rmw::Xchg => Word::Exch,
        Rmw::Cas => Word::Cas,
    }
}

impl Lowering<'_> {
    /// Whether anything reads a value.
    pub(super) fn is_used(&self, value: Value) -> bool {
        readers(&self.plan.func).contains_key(&value)
    }

    /// Whether the kernel accesses memory that it writes besides by an operation, for which the operation's order could be.
    pub(super) fn has_other_accesses(&self, besides: OpId) -> bool {
        let func = &self.plan.func;
        let mut found = false;
        func.walk(func.body(), &mut |id, op| {
            found |= id != besides && op.kind.array().is_some_and(|array| func.param_of(array).1.mutable);
        });
        found
    }

    /// Lowers [`Kind::Atomic`](crate::ir::Kind::Atomic): of copies of an element the first thread's counts, and tells the others what stood there.
    pub(crate) fn atomic(&mut self, id: OpId, op: &Op, rmw: Rmw, at: &Indexed) -> Result {
        let root = self.plan.func.param_of(at.array).0;
        if self.bins.contains_key(&root) {
            let (places, _) = self.places(at, &op.operands[1..])?;
            return self.add_to_bins(&places, root, op.operands[0]);
        }
        let ordered = self.has_other_accesses(id);
        if ordered && matches!(at.order, Order::Release | Order::AcqRel) {
            self.meet_idle();
        }
        let count = if rmw == Rmw::Cas { 2 } else { 1 };
        let mut values = Vec::new();
        for &value in &op.operands[..count] {
            values.push(self.regs(value)?);
        }
        let (places, _) = self.places(at, &op.operands[count..])?;
        self.touch(at.array, true, Touch::Any);
        let dtype = places.array.dtype;
        if rmw == Rmw::Add && dtype == DType::Bf16 && self.b.sm() < 90 {
            return Err(self.refused(id, Fault::AtomicSum { dtype, sm: self.b.sm() }));
        }
        let result = op.results.first().copied().filter(|&value| self.is_used(value));
        let (own, dist) = (places.dist.owner(&self.thread)?, places.dist);
        // A reduction gives nothing back, and has no order that acquires.
        let reduces = result.is_none()
            && !matches!(rmw, Rmw::Xchg | Rmw::Cas)
            && (matches!(at.order, Order::Relaxed | Order::Release) || !ordered);
        let order = match at.order {
            Order::Acquire if reduces => Order::Relaxed,
            Order::AcqRel if reduces => Order::Release,
            order => order,
        };
        let mut modifiers = global(order, at.scope).words;
        modifiers.extend(atomic_words(word(rmw), dtype));
        let mut olds: Vec<Reg> = Vec::new();
        for value in 0..dist.size() {
            let (address, cond) = self.place(&places, None, value)?;
            let cond = Cond::all([own.clone(), cond]);
            let address = self.b.address(&address, girih_codegen::Width::W64)?;
            let mut inputs = vec![address];
            inputs.extend(values.iter().map(|regs| Operand::from(&regs[value])));
            if reduces {
                self.b.inst_if(&cond, Opcode::Red, &modifiers, inputs)?;
                continue;
            }
            // Where nothing happens, the result is the expected value, or 0.
            let old = self.b.reg(register(dtype));
            let initial =
                if rmw == Rmw::Cas { Operand::from(&values[0][value]) } else { immediate(dtype, 0) };
            self.b.inst(Opcode::Mov, m![moved(dtype)], vec![Operand::from(&old), initial]);
            inputs.insert(0, Operand::from(&old));
            self.b.inst_if(&cond, Opcode::Atom, &modifiers, inputs)?;
            olds.push(old);
        }
        if ordered && matches!(at.order, Order::Acquire | Order::AcqRel) {
            self.meet_idle();
        }
        if let Some(result) = result {
            if dist.is_replicated() {
                olds = self.spread(dtype, dist, &places.dims, &olds)?;
            }
            self.hold_regs(result, olds)?;
        }
        Ok(())
    }
}
