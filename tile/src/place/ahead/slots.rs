//! Shared memory for what is loaded iterations ahead.

use girih_codegen::plan::Exchange;

use super::slice::scalars;
use super::{ALIGN, Ahead, Reader, others, readers, shared, wanted};
use crate::ir::{Func, OpId, RegionId};
use crate::place::Plan;
use crate::place::product::{Way, fragments, rows, way};
use crate::place::scratch::{FIXED, PATTERN};
use crate::place::wgmma::{SharedTile, blocks};

impl Plan {
    /// Gives shared memory to what is loaded iterations ahead, or says why there is none.
    pub(in crate::place) fn with_slots(mut self, sm: u32) -> Result<Plan, String> {
        let mut ahead = self.products.ahead.clone();
        if ahead.loops.is_empty() {
            return Ok(self);
        }
        self.cover(&mut ahead, sm);
        let func = &self.func;
        for (&id, rounds) in &mut ahead.loops {
            let body = func.op(id).regions[0];
            rounds.scalars = scalars(func, body, &rounds.loads)?;
            self.replicated(&rounds.scalars)?;
            rounds.stages = wanted(func, sm, func.op(id), &rounds.loads);
            let of_wgmma = |load| ahead.loads.get(load).is_some_and(|early| early.tile.is_some());
            rounds.align = if rounds.loads.iter().any(of_wgmma) { PATTERN } else { ALIGN };
            for load in &rounds.loads {
                let Some(early) = ahead.loads.get_mut(load) else { continue };
                let dtype = func.ty(func.op(*load).results[0]).dtype;
                let (strides, size) = rows(&early.covered, early.fast, dtype.bytes());
                (early.strides, early.start) = (strides, rounds.bytes);
                let size = early.tile.as_ref().map_or(size, SharedTile::bytes);
                rounds.bytes += (size + rounds.align - 1) / rounds.align * rounds.align;
            }
        }
        let within = ahead.loops.keys().map(|&id| self.most_scratch(func.op(id).regions[0])).max();
        let others = within.unwrap_or(0) + self.counters() + self.products.arena().bytes;
        let room = shared(sm) / blocks(func, sm) - FIXED - others;
        while ahead.bytes(func, func.body()) > room {
            let most = ahead.loops.values_mut().filter(|rounds| rounds.stages > 2);
            match most.max_by_key(|rounds| rounds.bytes * rounds.stages) {
                Some(rounds) => rounds.stages -= 1,
                None => {
                    let taken = ahead.bytes(func, func.body());
                    return Err(format!(
                        "two iterations take {taken} bytes of shared memory: {room} are left"
                    ));
                }
            }
        }
        self.products.ahead = ahead;
        Ok(self)
    }

    /// Says how far products read beyond tiles.
    fn cover(&self, ahead: &mut Ahead, sm: u32) {
        let func = &self.func;
        for (load, readers) in readers(func, &others(func, &self.products)) {
            let Some(early) = ahead.loads.get_mut(&load).filter(|early| !early.computed) else { continue };
            for Reader { product, at, axes } in readers {
                let op = func.op(product);
                let sums = self.dist(op.results[0]);
                if way(func, op, sums, sm) == Way::Fma {
                    continue;
                }
                let reach = fragments(func, op, sums, sm)[at].padded(axes.len());
                for (axis, reach) in axes.iter().zip(reach) {
                    if let Some(axis) = *axis {
                        early.covered[axis] = early.covered[axis].max(reach);
                    }
                }
            }
        }
    }

    /// Whether all threads hold the results of these operations, and need no others for them.
    fn replicated(&self, ops: &[OpId]) -> Result<(), String> {
        for &id in ops {
            for &value in &self.func.op(id).results {
                let exchanged =
                    self.exchanges.get(&value).is_some_and(|by| !matches!(by, Exchange::Rename(_)));
                if exchanged || self.dist(value).bits.iter().any(Option::is_some) {
                    return Err(format!("where it begins depends on %{}, which threads share", value.0));
                }
            }
        }
        Ok(())
    }
}

impl Ahead {
    /// Bytes of the slots of a region's loops, where they take the most: those of loops within one another.
    pub(super) fn bytes(&self, func: &Func, region: RegionId) -> i64 {
        let of = |&id: &OpId| {
            let own = self.loops.get(&id).map_or(0, |rounds| rounds.bytes.saturating_mul(rounds.stages));
            let within = func.op(id).regions.iter().map(|&region| self.bytes(func, region)).max();
            own + within.unwrap_or(0)
        };
        func.region(region).ops.iter().map(of).max().unwrap_or(0)
    }
}
