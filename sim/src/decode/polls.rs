//! Loads that a loop repeats until they return a certain value: their thread waits for that value.
//!
//! A loop is considered if it is one stretch of code to which only the branch at its end goes back. It waits for the
//! values of those loads, from addresses that the loop does not change, that decide whether it is repeated. If nothing
//! else decides that, and the loop stores nothing, it ends only if another thread writes.

use std::collections::HashSet;

use crate::Space;
use crate::lanes::{File, Reg};
use crate::op::{Guard, Inst, Op};
use crate::program::Code;

/// The most operations of a loop that is considered.
const LONGEST: usize = 256;

/// Marks these loads. A volatile load counts as an ordinary relaxed one, as its thread does not rely on lockstep with
/// the writing lane. A weak load is marked as one that waits, if nothing else decides and the loop changes nothing.
pub(super) fn mark(code: &mut Code) {
    let mut volatile: Vec<usize> = Vec::new();
    let mut weak = Vec::new();
    for (end, inst) in code.insts.iter().enumerate() {
        let Op::Branch(begin) = inst.op else { continue };
        let begin = begin as usize;
        if begin > end || end - begin > LONGEST || !is_straight(&code.insts[begin..end], end) {
            continue;
        }
        let (loads, alone) = decides(code, begin, end);
        volatile.extend(&loads);
        if alone && !code.insts[begin..end].iter().any(|inst| changes(&inst.op)) {
            weak.extend(loads);
        }
    }
    let load = |inst: &mut Inst, change: fn(&mut crate::op::Transfer)| {
        if let Op::Load(transfer) = &mut inst.op {
            change(transfer);
        }
    };
    for at in volatile {
        load(&mut code.insts[at], |transfer| {
            if let Some(order) = &mut transfer.strong {
                order.manner.volatile = false;
            }
        });
    }
    for at in weak {
        load(&mut code.insts[at], |transfer| {
            transfer.waits = transfer.strong.is_none()
                && matches!(transfer.space, Space::Global | Space::Generic | Space::Shared | Space::Cluster);
        });
    }
}

/// Whether all branches inside a loop's body leave the loop forwards.
fn is_straight(body: &[Inst], end: usize) -> bool {
    body.iter().all(|inst| match &inst.op {
        Op::Branch(to) => *to as usize > end,
        Op::BranchTable(..) | Op::Invoke(_) | Op::Return => false,
        _ => true,
    })
}

/// Whether an operation changes memory that a load of the loop may read, or waits for others.
fn changes(op: &Op) -> bool {
    !matches!(
        op,
        Op::Lanes(..)
            | Op::Load(_)
            | Op::Branch(_)
            | Op::Exit
            | Op::Claim(_)
            | Op::Undefined(_)
            | Op::Nothing
    )
}

/// The loads of a loop that decide whether the loop is repeated, and whether no other value that the loop changes takes
/// part in that.
fn decides(code: &Code, begin: usize, end: usize) -> (Vec<usize>, bool) {
    let insts = &code.insts[begin..=end];
    let written: HashSet<Reg> =
        insts.iter().flat_map(|inst| code.sources[inst.source as usize].writes.iter().copied()).collect();
    let (mut needed, mut loads) = (HashSet::new(), Vec::new());
    for (at, inst) in insts.iter().enumerate().rev() {
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            // The first operation of an instruction stands for all of them.
            Guard::Same => continue,
            Guard::Always => None,
        };
        let source = &code.sources[inst.source as usize];
        if matches!(inst.op, Op::Branch(_) | Op::Exit) {
            needed.extend(guard);
        } else if source.writes.iter().any(|reg| needed.contains(reg)) {
            if guard.is_none() {
                needed.retain(|reg| !source.writes.contains(reg));
            }
            needed.extend(source.reads.iter().copied().chain(guard));
            if let Op::Load(transfer) = &inst.op
                && transfer.address.base.is_none_or(|base| !written.contains(&base))
            {
                loads.push(begin + at);
            }
        }
    }
    (loads, needed.is_disjoint(&written))
}
