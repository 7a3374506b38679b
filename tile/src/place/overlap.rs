//! Loops whose MMAs [overlap](crate::pass::overlap) with functions of their accumulators.

use std::collections::BTreeSet;

use super::Plan;
use super::pipeline::Ring;
use super::wgmma::{OF_INSTRUCTION, Products, REGISTERS, Source, WARPGROUP};
use crate::ir::{Def, Func, Kind, OpId, Value};
use crate::pass;

/// The most registers of a thread that accumulators and what they are multiplied with may take.
const MOST: i64 = 240;

/// The fewest elements of a tile of C for which the tensor cores have as much to do as the threads that compute an operand.
const LEAST: u64 = 64 * 128;

impl Plan {
    /// The function that was placed, in which MMAs of the next iteration of a loop are issued before functions of those of an iteration, if there is such
    /// a loop: the tiles that it loads come to shared memory ahead, and threads have registers for what is in flight.
    pub(super) fn overlapped(&self, func: &Func) -> Option<Func> {
        let groups = i64::from(self.threads / WARPGROUP).max(1);
        let blocks = super::wgmma::blocks(func, self.products.sm);
        let each = (REGISTERS / (i64::from(WARPGROUP) * blocks * groups)).min(MOST);
        let may = |first: &[OpId], others: &[OpId]| {
            let sums: i64 = first.iter().chain(others).map(|&id| self.words(id, 2, 0)).sum();
            // Without a first MMA, whose sums the threads compute with, these hold the next iteration's factor too, in f32 first.
            let wide = if first.is_empty() { 32 } else { 0 };
            let factors: i64 =
                others.iter().map(|&id| self.words(id, self.held(id).unwrap_or(0), wide)).sum();
            let size = |id: &OpId| self.func.ty(self.func.op(*id).results[0]).dims.size();
            sums + factors + OF_INSTRUCTION <= each
                && first.iter().all(|&id| self.comes(id, 0) && self.comes(id, 1))
                && others.iter().all(|&id| self.held(id).is_some_and(|held| self.comes(id, 1 - held)))
                && (!first.is_empty() || others.iter().all(|id| size(id) >= LEAST))
        };
        pass::overlap(func, may, |id| self.held(id).unwrap_or(0))
    }

    /// Registers of a thread that an operand of an MMA takes, with this many bits an element more.
    fn words(&self, id: OpId, at: usize, more: u32) -> i64 {
        let value = self.func.op(id).operands[at];
        self.dist(value).size() as i64 * i64::from(self.func.ty(value).dtype.bits() + more) / 32
    }

    /// The operand of an MMA by `wgmma` that threads hold as the instructions take it, if there is one.
    fn held(&self, id: OpId) -> Option<usize> {
        let product = self.products.wgmma.get(&id)?;
        (product.sources[0] == Source::Registers).then_some(product.operands[0])
    }

    /// Whether TMA brings an operand of an MMA by `wgmma`, so that threads need not meet.
    fn comes(&self, id: OpId, at: usize) -> bool {
        let Some(product) = self.products.wgmma.get(&id) else { return false };
        let source = product.sources[product.operands[at]];
        matches!(source, Source::Loaded(load) if self.products.pipeline.loads.contains_key(&load))
    }
}

impl Plan {
    /// The plan in which what accumulators are computed from comes before MMAs that would be in flight by then: the assembler waits for
    /// these before it touches registers of an accumulator.
    pub(super) fn accumulators_first(mut self) -> Plan {
        if !self.products.wgmma.is_empty() {
            for at in 0..self.func.regions.len() {
                self.func.regions[at].ops = self.reordered(&self.func.regions[at].ops);
            }
        }
        self
    }

    fn reordered(&self, ops: &[OpId]) -> Vec<OpId> {
        let (func, wgmma) = (&self.func, &self.products.wgmma);
        let of_accumulators = self.of_accumulators(ops);
        let mut order: Vec<OpId> = Vec::new();
        // The place of the oldest MMA that is in flight, and what comes after it.
        let (mut oldest, mut after): (Option<usize>, BTreeSet<Value>) = (None, BTreeSet::new());
        for &id in ops {
            let (op, mut needs) = (func.op(id), Vec::new());
            pass::needs(func, op, &mut needs);
            if let Some(at) = oldest
                && of_accumulators.contains(&id)
                && !needs.iter().any(|value| after.contains(value))
            {
                order.insert(at, id);
                oldest = Some(at + 1);
                continue;
            }
            let product = wgmma.get(&id);
            // An MMA may add to the accumulator of another that is in flight.
            let read = if product.is_some() { &op.operands[..2] } else { &needs[..] };
            let is_product = |value: &Value| matches!(func.value(*value).def, Def::Result(of, _) if wgmma.contains_key(&of));
            if !op.regions.is_empty()
                || product.is_some_and(|product| product.sources.contains(&Source::Stored))
                || read.iter().any(|value| after.contains(value) && is_product(value))
            {
                (oldest, after) = (None, BTreeSet::new());
            }
            if product.is_some() {
                oldest = oldest.or(Some(order.len()));
            }
            if oldest.is_some() {
                after.extend(&op.results);
            }
            order.push(id);
        }
        order
    }

    /// The operations among these that accumulators are computed from.
    pub(crate) fn of_accumulators(&self, ops: &[OpId]) -> BTreeSet<OpId> {
        let func = &self.func;
        let moves = |id: OpId| {
            let op = func.op(id);
            op.kind != Kind::Mma
                && op.regions.is_empty()
                && func.is_pure(&op.kind)
                && !self.products.is_shared(id)
        };
        let products = ops.iter().filter(|id| self.products.wgmma.contains_key(id));
        let accumulators: Vec<Value> = products.map(|&id| func.op(id).operands[2]).collect();
        pass::sources(func, &accumulators, |id| ops.contains(&id) && moves(id))
    }
}

impl Products {
    /// Whether MMAs are computed in the same ways as others, by as many slots at least.
    pub(super) fn is_like(&self, other: &Products) -> bool {
        let iterations =
            |products: &Products| products.pipeline.rings.iter().map(|ring: &Ring| ring.iterations).max();
        self.refused.is_empty() == other.refused.is_empty()
            && self.wgmma.len() >= other.wgmma.len()
            && iterations(self) == iterations(other)
            && self.ahead.loads.len() >= other.ahead.loads.len()
            && self.loads.values().all(|tile| tile.produced.is_ok())
    }
}
