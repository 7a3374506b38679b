//! The roofline of a block: cycles of memory, of the tensor cores, and of the issue slots.

use std::collections::BTreeSet;

use girih_codegen::Roof;
use girih_ptx::{Item, Module, Name, Opcode, Operand, Statement};

use super::iterations::{Often, often};
use super::{Rates, Sizes};
use crate::facts::{Index, axes_used};
use crate::ir::{Func, Kind, Op, Value, follow};
use crate::place::Plan;
use crate::place::product::Way;
use crate::resources::Resources;

/// Warps that an SM issues instructions of in a cycle.
const SCHEDULERS: f64 = 4.0;
/// The most instructions of a loop that only waits.
const WAITING: usize = 8;

/// Cycles of an SM for a block: what its memory accesses, its MMAs and its instructions take at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// The SM's share of the memory.
    pub memory: f64,
    /// The tensor cores.
    pub tensor: f64,
    /// The schedulers.
    pub issue: f64,
    /// Whether all this is of one iteration of the loops of which the number of iterations is not known, without what is outside of them.
    pub each: bool,
}

impl Roofline {
    /// The resource that takes the longest.
    pub fn limit(&self) -> &'static str {
        let all = [(self.memory, "memory"), (self.tensor, "tensor cores"), (self.issue, "instructions")];
        all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("memory", |(_, name)| name)
    }
}

/// Bytes of global memory that an operation reads or writes.
pub(super) fn bytes(func: &Func, op: &Op) -> Option<u64> {
    let value = match op.kind {
        Kind::Load(_) | Kind::Gather(_) => op.results.first(),
        Kind::Store(_) | Kind::Scatter(_) => op.operands.first(),
        _ => None,
    };
    let ty = func.ty(*value?);
    Some(ty.dims.size() * u64::from(ty.dtype.bits().max(8)) / 8)
}

pub(super) fn roofline(
    plan: &Plan,
    module: &Module,
    resources: &Resources,
    sizes: &Sizes,
    rates: &Rates,
) -> Roofline {
    let func = &plan.func;
    let (often, open) = often(func, sizes);
    let sms = f64::from(rates.multiprocessors);
    let resident = sms * f64::from(resources.blocks.fit().max(1));
    let used: BTreeSet<u8> =
        (0..3).zip(axes_used(func)).filter(|(_, used)| *used).map(|(axis, _)| axis).collect();
    let (mut memory, mut tensor, mut most): (f64, f64, f64) = (0.0, 0.0, 1.0);
    let each = !open.is_empty()
        && often.iter().any(|(&id, often)| {
            often.open && (bytes(func, func.op(id)).is_some() || func.op(id).kind == Kind::Mma)
        });
    func.walk(func.body(), &mut |id, op| {
        let Often { times, open } = often[&id];
        let times = times as f64;
        most = most.max(times);
        if each && !open {
            return;
        }
        if let Some(bytes) = bytes(func, op) {
            memory += bytes as f64 * times / shared_by(func, op, &used, resident, sizes);
        }
        if op.kind == Kind::Mma && (plan.products.wgmma.contains_key(&id) || plan.way(id) != Way::Fma) {
            tensor += flops(func, op) * times / Roof::H200.operations(func.ty(op.operands[0]).dtype);
        }
    });
    let [outside, inside] = instructions(module, func.is_persistent());
    let warps = f64::from(resources.threads / 32);
    let issued = if each { 0.0 } else { outside as f64 } + inside as f64 * most;
    Roofline {
        memory: memory / rates.memory * rates.clock * sms,
        tensor: tensor * rates.clock * sms,
        issue: issued * warps / SCHEDULERS,
        each,
    }
}

/// Multiplications and additions of an MMA.
fn flops(func: &Func, op: &Op) -> f64 {
    let (a, sums) = (func.ty(op.operands[0]).dims, func.ty(op.results[0]).dims);
    2.0 * sums.size() as f64 * f64::from(a[a.rank() - 1])
}

/// How many of the blocks that run at once read the same: those along axes of the grid on which the place of a load does not depend. They are
/// as many along each axis, where the grid has as many.
fn shared_by(func: &Func, op: &Op, used: &BTreeSet<u8>, resident: f64, sizes: &Sizes) -> f64 {
    let Kind::Load(_) = op.kind else { return 1.0 };
    let own = depends(func, &op.operands);
    let others: Vec<u8> = used.difference(&own).copied().collect();
    if others.is_empty() || own.is_empty() {
        return if own.is_empty() && !used.is_empty() { resident } else { 1.0 };
    }
    let along = resident.powf(others.len() as f64 / used.len() as f64);
    match sizes.grid {
        Some(grid) => {
            others.iter().map(|&axis| f64::from(grid[usize::from(axis)])).product::<f64>().min(along).max(1.0)
        }
        None => along,
    }
}

/// The axes of the grid on which values depend.
fn depends(func: &Func, values: &[Value]) -> BTreeSet<u8> {
    let index = Index::new(func);
    let mut found = BTreeSet::new();
    follow(values.to_vec(), |value, open| {
        let Some(op) = index.source(value).map(|id| func.op(id)) else { return };
        if let Kind::Bid(axis) = op.kind {
            found.insert(axis);
        }
        open.extend(&op.operands);
    });
    found
}

/// Instructions of a module's kernels outside of loops, and in them. A loop that only waits for a barrier is none, and neither is one over the
/// blocks of the grid that a block takes.
fn instructions(module: &Module, persistent: bool) -> [usize; 2] {
    let mut found = [0, 0];
    for item in &module.items {
        let Item::Kernel(kernel) = item else { continue };
        let mut labels: Vec<(&Name, usize)> = Vec::new();
        let (mut count, mut loops) = (0, Vec::<[usize; 2]>::new());
        for statement in &kernel.body {
            match statement {
                Statement::Label(name) => labels.push((name, count)),
                Statement::Inst(inst) => {
                    count += 1;
                    if let (Opcode::Bra, Some(Operand::Name(to))) = (inst.opcode, inst.operands.first())
                        && let Some((_, start)) = labels.iter().find(|(name, _)| *name == to)
                        && count - start > WAITING
                    {
                        loops.push([*start, count]);
                    }
                }
                _ => {}
            }
        }
        if persistent {
            let all = loops.clone();
            loops.retain(|[start, stop]| {
                all.iter().any(|[from, to]| from <= start && to >= stop && [from, to] != [start, stop])
            });
        }
        loops.sort_unstable();
        let (mut inside, mut end) = (0, 0);
        for [start, stop] in loops {
            inside += stop.saturating_sub(start.max(end));
            end = end.max(stop);
        }
        found[0] += count - inside;
        found[1] += inside;
    }
    found
}
