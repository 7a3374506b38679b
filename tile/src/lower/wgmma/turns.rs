//! Ping-pong of warpgroups on the tensor cores.
//!
//! An iteration issues MMAs and then computes with their accumulators. If all warpgroups did so at the same time, the tensor cores would be idle
//! half of the time. So they alternate: a warpgroup waits at its own barrier until the previous warpgroup has issued its MMAs, issues its MMAs,
//! and signals the next one. The signal follows the issue of the MMAs, not their completion, since the instructions of warpgroups keep their order.

use girih_codegen::sync::PingPong;
use girih_codegen::{Builder, Cond, Expr, Reg};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::super::Lowering;
use super::super::words::{m, of};
use super::Role;
use crate::error::Error;
use crate::ir::{Def, Kind, OpId, RegionId, Value};
use crate::place::Plan;
use crate::place::wgmma::{Source, WARPGROUP};

/// The barrier of the first warpgroup: that of all threads and that of consumers come before.
const FIRST: i64 = 2;

/// The ping-pong of a loop, or a loop in which threads compute what the next iteration multiplies while MMAs are in flight.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// The first MMAs of an iteration; `None` if warpgroups do not alternate.
    products: Vec<OpId>,
    /// A number that the thread computes while the last MMA is in flight.
    meanwhile: Option<Reg>,
    /// A place in shared memory that nothing is stored at.
    nowhere: Expr,
}

impl Plan {
    /// Whether warpgroups ping-pong on the tensor cores in some loop.
    pub(crate) fn alternates(&self) -> bool {
        let mut any = false;
        self.func.walk(self.func.body(), &mut |_, op| {
            any |= op.kind == Kind::For
                && !self.func.leaves(op.regions[0])
                && self.first_products(op.regions[0]).is_some();
        });
        any && self.threads > WARPGROUP
    }

    /// The MMAs with which an iteration of this body begins, if it then computes with their accumulators.
    fn first_products(&self, body: RegionId) -> Option<Vec<OpId>> {
        let (func, all) = (&self.func, &self.products.wgmma);
        let ops = &func.region(body).ops;
        let is_product = |id: &OpId| all.contains_key(id);
        let [first, last] = [ops.iter().position(is_product)?, ops.iter().rposition(is_product)?];
        let products: Vec<OpId> = ops[first..=last].iter().copied().filter(is_product).collect();
        let sums: Vec<Value> = products.iter().map(|&id| func.op(id).results[0]).collect();
        let reads = |id: &OpId| func.op(*id).operands.iter().any(|value| sums.contains(value));
        let stands = |id: &OpId| match all.get(id) {
            Some(product) => !product.sources.contains(&Source::Stored) && !reads(id),
            None => matches!(func.op(*id).kind, Kind::Full(_)),
        };
        let loops = |id: &OpId| {
            let mut found = false;
            func.op(*id).regions.iter().for_each(|&region| {
                func.walk(region, &mut |_, op| {
                    found |= matches!(op.kind, Kind::Mma | Kind::For | Kind::Loop)
                });
            });
            found
        };
        // To alternate takes barriers: it pays if threads compute much with the accumulators.
        let reduces = |id: &OpId| matches!(func.op(*id).kind, Kind::Reduce { .. });
        let fits = (products.len() > 1 || ops[last + 1..].iter().any(reduces))
            && ops[first..=last].iter().all(stands)
            && ops[last + 1..].iter().any(reads)
            && !ops.iter().any(loops);
        fits.then_some(products)
    }
}

impl Lowering<'_> {
    /// Before the loops: signals the first warpgroup, if warpgroups alternate in a loop. They keep their order from one loop to the
    /// next: a warpgroup that is a loop ahead must not signal more than once.
    pub(super) fn open_turns(&mut self) -> Result<(), Error> {
        let groups = i64::from(self.plan.threads / WARPGROUP);
        let alternates = self.plan.alternates();
        let Some(group) = self.products.group.clone().filter(|_| alternates) else { return Ok(()) };
        let ping_pong = PingPong::new(&mut self.b, &group, groups, FIRST)?;
        self.only(ping_pong.opens(), |b| ping_pong.signal(b))?;
        self.products.ping_pong = Some(ping_pong);
        Ok(())
    }

    /// After the loop: the first warpgroup waits for the last signal of the ping-pong.
    pub(super) fn close_turns(&mut self) -> Result<(), Error> {
        match self.products.ping_pong.take() {
            Some(ping_pong) => self.only(ping_pong.closes(), |b| ping_pong.wait(b)),
            None => Ok(()),
        }
    }

    /// Before a loop: whether its iterations begin with MMAs and then compute with their accumulators, or it computes ahead.
    pub(crate) fn begin_turns(&mut self, body: RegionId) -> Result<bool, Error> {
        if self.products.role != Role::Consumer {
            return Ok(false);
        }
        let ahead = self.computes_ahead(body).then(Vec::new);
        let Some(products) = self.plan.first_products(body).or(ahead) else { return Ok(false) };
        let nowhere = self.b.alloc_shared(4, 4)?;
        self.products.turns = Some(Turns { products, meanwhile: None, nowhere });
        Ok(true)
    }

    /// Whether iterations of a loop with this body multiply what the iteration before has computed.
    fn computes_ahead(&self, body: RegionId) -> bool {
        let (func, all) = (&self.plan.func, &self.plan.products.wgmma);
        func.region(body).ops.iter().any(|id| {
            let held = all.get(id).filter(|product| product.sources[0] == Source::Registers);
            held.is_some_and(|product| {
                let value = func.op(*id).operands[product.operands[0]];
                matches!(func.value(value).def, Def::Argument(of, _) if of == body)
            })
        })
    }

    /// Behind such a loop.
    pub(crate) fn end_turns(&mut self) {
        self.products.turns = None;
    }

    /// Writes what one warpgroup alone does.
    fn only(
        &mut self,
        is_its: Cond,
        what: impl FnOnce(&mut Builder) -> Result<(), girih_codegen::Error>,
    ) -> Result<(), Error> {
        let around = self.b.open_block();
        self.b.leave(&around, &Cond::not(is_its), true)?;
        what(&mut self.b)?;
        Ok(self.b.close_block(around)?)
    }

    /// Before an MMA that is the first of an iteration: waits for the tiles of all its MMAs, and then for the previous warpgroup's signal.
    pub(super) fn take_turn(&mut self, id: OpId) -> Result<(), Error> {
        let Some(turns) = self.products.turns.as_mut().filter(|turns| turns.products.first() == Some(&id))
        else {
            return Ok(());
        };
        turns.meanwhile = None;
        let turns = turns.clone();
        for id in &turns.products {
            for source in self.plan.products.wgmma[id].sources {
                if let Source::Loaded(load) = source {
                    self.await_tile(load)?;
                }
            }
        }
        match &self.products.ping_pong {
            Some(ping_pong) => Ok(ping_pong.wait(&mut self.b)?),
            None => Ok(()),
        }
    }

    /// After an MMA that is the last of those: signals the next warpgroup.
    pub(super) fn hand_on(&mut self, id: OpId) -> Result<(), Error> {
        let turns = self.products.turns.as_ref().filter(|turns| turns.products.last() == Some(&id));
        match (turns, &self.products.ping_pong) {
            (Some(_), Some(ping_pong)) => Ok(ping_pong.signal(&mut self.b)?),
            _ => Ok(()),
        }
    }

    /// A number that threads have computed while MMAs are in flight.
    pub(crate) fn meanwhile(&self) -> Option<Reg> {
        self.products.turns.as_ref().and_then(|turns| turns.meanwhile.clone())
    }

    /// Sets it back to one of before a branch, outside of which those of the branch are unknown.
    pub(crate) fn set_meanwhile(&mut self, reg: Option<Reg>) {
        if let Some(turns) = self.products.turns.as_mut() {
            turns.meanwhile = reg;
        }
    }

    /// Records numbers that threads compute while MMAs are in flight.
    pub(crate) fn compute_meanwhile(&mut self, regs: &[Reg]) {
        let idle = self.products.flight.is_empty();
        if let Some(turns) = self.products.turns.as_mut()
            && regs.len() >= MANY
            && !(idle && turns.products.is_empty())
        {
            turns.meanwhile = regs.get(regs.len() / 2).cloned();
        }
    }

    /// Before the wait for MMAs, of which this may be the last of the first ones, or in flight: keeps the assembler from moving the wait before what threads compute
    /// meanwhile. It does not move waits across stores, and this store, which never happens, needs half of that. No function has this
    /// number for a result: it is none, and not that which instructions give then.
    pub(super) fn wait_behind_functions(&mut self, value: Value) -> Result<(), Error> {
        let Some(turns) = self.products.turns.as_mut() else { return Ok(()) };
        let last = match turns.products.last() {
            Some(&id) => Some(self.plan.func.op(id).results[0]),
            None => self.products.flight.last().map(|flight| flight.result),
        };
        let (true, Some(reg)) = (last == Some(value), turns.meanwhile.take()) else { return Ok(()) };
        let nowhere = turns.nowhere.clone();
        let bits = self.make(Type::U32, Opcode::Mov, m![Type::B32], of([&reg]));
        let never = self.setp(Word::Eq, Type::U32, &bits, Operand::Int(NO_RESULT));
        let never = self.b.cond_in(&never)?;
        self.put(DType::F32, &nowhere, &[reg], &never)
    }
}

/// How many numbers a thread computes at least for a wait to be worth keeping after some.
const MANY: usize = 16;
/// The bits of a number that is none, which no instruction of f32 gives.
const NO_RESULT: i64 = 0x7fc0_0bad;
