//! MMAs at the end of an iteration that stay in flight while the next iteration begins, so that the tensor cores do not wait.

use girih_codegen::algorithm::warpgroup_wait;
use girih_codegen::atom::MmaKind;
use girih_codegen::{Cond, Expr, Mbarrier, Reg};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::super::words::{m, of};
use super::super::{Lowering, unfit};
use super::{Flight, Role};
use crate::error::Error;
use crate::ir::{Def, End, Kind, Op, OpId, RegionId, Value};
use crate::place::wgmma::{Source, WARPGROUP};

/// The products that the iterations of a loop leave under way.
#[derive(Debug)]
pub(crate) struct Late {
    body: RegionId,
    products: Vec<OpId>,
    /// The loads that they are the last to read, and for each the address of the mbarrier that frees the slot that the iteration before has read:
    /// 0 before there was one.
    past: Vec<(OpId, Reg)>,
}

/// The greatest address of an mbarrier, as a multiple of its size.
const FAR: i64 = (1 << 31) - 8;

impl Lowering<'_> {
    /// The products that iterations of a loop with this body may leave under way, in their order.
    fn late(&self, body: RegionId) -> Vec<OpId> {
        let plan = self.plan;
        let (func, products) = (&plan.func, &plan.products);
        let data = func.region(body);
        let End::Continue(0, passed) = &data.end else { return Vec::new() };
        let sums = |id: OpId| {
            let product = products.wgmma.get(&id)?;
            let loaded = product.sources.iter().all(|source| matches!(source, Source::Loaded(_)));
            let at = self.products.uses.carried(func, id)?;
            let arg = data.args[data.args.len() - passed.len() + at];
            let plain = product.atom.kind == MmaKind::WgmmaSs && product.atom.c_type != DType::F16 && loaded;
            // The iteration before has to have slots of its own.
            let frees = products.pipeline.last.get(&id).into_iter().flatten();
            let apart = frees.filter_map(|load| products.pipeline.loads.get(load));
            let apart =
                apart.map(|&ring| products.pipeline.rings[ring].iterations).all(|iterations| iterations > 1);
            (plain && apart && func.op(id).operands[2] == arg && self.products.uses.is_last(func, arg, id))
                .then_some(())
        };
        let is_product = |value: Value| match func.value(value).def {
            Def::Result(from, _) => func.op(from).kind == Kind::Mma,
            Def::Argument(..) => false,
        };
        let carried = |value: Value| matches!(func.value(value).def, Def::Argument(of, _) if of == body && func.ty(value).dims.rank() > 0);
        let reads = |id: OpId| func.op(id).operands.iter().any(|&value| is_product(value) || carried(value));
        // Until a product is waited for, no accumulator may be touched.
        let waits = |id: OpId| {
            let op = func.op(id);
            let factors = if op.kind == Kind::Mma { &op.operands[..2] } else { &op.operands[..] };
            !op.regions.is_empty() || factors.iter().any(|&value| is_product(value))
        };
        let changes = plan.of_accumulators(&data.ops);
        if data.ops.iter().take_while(|&&id| !waits(id)).any(|&id| changes.contains(&id) && reads(id)) {
            return Vec::new();
        }
        let mut late = Vec::new();
        for &id in data.ops.iter().rev() {
            let op = func.op(id);
            if sums(id).is_some() {
                late.push(id);
                continue;
            }
            let of_threads = products.loads.get(&id).is_some_and(|tile| tile.produced.is_err());
            if op.kind == Kind::Mma
                || !op.regions.is_empty()
                || !func.is_pure(&op.kind)
                || of_threads
                || reads(id)
            {
                break;
            }
        }
        late.reverse();
        late
    }

    /// Before a loop: takes note of the products that its iterations leave under way.
    pub(crate) fn begin_late(&mut self, body: RegionId) -> Result<bool, Error> {
        if self.products.role == Role::Producer || !self.has_products() {
            return Ok(false);
        }
        let products = self.late(body);
        if products.is_empty() {
            return Ok(false);
        }
        let mut past = Vec::new();
        if self.products.role == Role::Consumer {
            for id in &products {
                for &load in self.plan.products.pipeline.last.get(id).into_iter().flatten() {
                    let none = self.make(Type::U32, Opcode::Mov, m![Type::B32], vec![Operand::Int(0)]);
                    past.push((load, none));
                }
            }
        }
        self.products.late.push(Late { body, products, past });
        Ok(true)
    }

    /// At the beginning of an iteration: the products of the iteration before are under way.
    pub(crate) fn enter_late(&mut self) -> Result<(), Error> {
        let plan = self.plan;
        let Some(late) = self.products.late.last() else { return Ok(()) };
        let mut flights = Vec::new();
        for (at, &id) in late.products.iter().enumerate() {
            let past = if at + 1 == late.products.len() {
                late.past.iter().map(|(_, reg)| reg.clone()).collect()
            } else {
                Vec::new()
            };
            flights.push(Flight { result: plan.func.op(id).operands[2], frees: Vec::new(), past });
        }
        self.products.flight.extend(flights);
        Ok(())
    }

    /// At the end of a region: waits for products, but for those that an iteration leaves under way if it is the body of such a loop.
    pub(crate) fn settle_turn(&mut self, region: RegionId) -> Result<(), Error> {
        if self.products.beside {
            return Ok(());
        }
        let Some(late) = self.products.late.last().filter(|late| late.body == region) else {
            return self.settle_all();
        };
        let (count, past) = (late.products.len(), late.past.clone());
        let before =
            self.products.flight.len().checked_sub(count).ok_or_else(|| unfit("a product is missing"))?;
        self.settle_first(before)?;
        for (load, reg) in past {
            let address = self.freeing(load)?;
            self.b.inst(Opcode::Mov, m![Type::B32], of([&reg, &address]));
        }
        self.products.flight.clear();
        Ok(())
    }

    /// After the loop: waits for the products of the last iteration.
    pub(crate) fn leave_late(&mut self) -> Result<(), Error> {
        let Some(late) = self.products.late.pop() else { return Ok(()) };
        warpgroup_wait(&mut self.b, 0);
        late.past.iter().try_for_each(|(_, reg)| self.free_past(reg))
    }

    /// Frees a slot that an iteration before has read, if there was one.
    pub(super) fn free_past(&mut self, address: &Reg) -> Result<(), Error> {
        let address = self.b.var(address, 0, FAR, 8);
        let leader = self.leader(true)?;
        let any = Cond::less(&Expr::from(0), &address);
        Ok(Mbarrier::new(&address)?.arrive(&mut self.b, &Cond::all([leader, any]))?)
    }

    /// The accumulators that a loop carries from zeros on, and to which a product of each iteration adds in place: that of the first one sets them. That
    /// pays in a persistent kernel, and takes registers: until then they seem to hold what was there before.
    pub(crate) fn set_by_products(&self, around: &Op) -> Vec<Value> {
        let (func, products) = (&self.plan.func, &self.plan.products.wgmma);
        if self.plan.products.clears || !func.is_persistent() {
            return Vec::new();
        }
        let body = func.region(around.regions[0]);
        let sums = body.ops.iter().filter_map(|id| {
            let product = products.get(id).filter(|product| product.atom.c_type == DType::F32)?;
            let (sum, at) = (func.op(*id).operands[2], self.products.uses.carried(func, *id)?);
            let zeros = func.op_of(around.operands[3 + at]).is_some_and(|op| op.kind == Kind::Full(0));
            let whole = product.warpgroups * i64::from(WARPGROUP) == i64::from(self.plan.threads);
            let in_place = body.args[1 + at] == sum && self.products.uses.is_last(func, sum, *id);
            (zeros && whole && in_place).then_some(sum)
        });
        sums.collect()
    }

    /// Takes note of accumulators that the iteration that is being written sets if it is no later one.
    pub(crate) fn set_in_first(&mut self, sums: &[Value], later: &Cond) {
        self.products.first.extend(sums.iter().map(|&sum| (sum, later.clone())));
    }

    /// Behind a loop over `first..end`: clears the accumulators that no product has set, if there was no iteration. Before the wait for products, the assembler
    /// would serialise all.
    pub(crate) fn clear_unset(
        &mut self,
        sums: &[Reg],
        ty: Type,
        [first, end]: [&Reg; 2],
    ) -> Result<(), Error> {
        if sums.is_empty() {
            return Ok(());
        }
        let some = self.b.open_block();
        let any = self.setp(Word::Lt, ty, first, Operand::from(end));
        let any = self.b.cond_in(&any)?;
        self.b.leave(&some, &any, self.alike)?;
        let zero = self.bits(DType::F32, 0)?;
        self.b.move_all(sums, &vec![zero; sums.len()])?;
        Ok(self.b.close_block(some)?)
    }
}
