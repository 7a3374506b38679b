//! Loads that a loop repeats until it likes what they bring: their thread waits for a value.
//!
//! A loop is looked at if it is one stretch of code that only its end goes back in. What it waits for are the loads, from where
//! it does not change itself, that decide whether it goes on. If nothing else decides, and it stores nothing, it goes on for
//! ever unless somebody else writes.

use std::collections::HashSet;

use crate::Space;
use crate::lanes::{File, Reg};
use crate::op::{Guard, Inst, Op};
use crate::program::Code;

/// The most operations of a loop that waits.
const LONGEST: usize = 256;

/// Marks the loads: volatile ones that are waited for are no exchange in step, and weak ones are where a thread waits.
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

/// Whether all branches of a loop's body leave it.
fn is_straight(body: &[Inst], end: usize) -> bool {
    body.iter().all(|inst| match &inst.op {
        Op::Branch(to) => *to as usize > end,
        Op::BranchTable(..) | Op::Invoke(_) | Op::Return => false,
        _ => true,
    })
}

/// Whether an operation changes what a load may bring, or waits for others.
fn changes(op: &Op) -> bool {
    !matches!(op, Op::Lanes(..) | Op::Load(_) | Op::Branch(_) | Op::Exit | Op::Claim(_) | Op::Nothing)
}

/// The loads of a loop that decide whether it goes on, and whether nothing else that it changes does.
fn decides(code: &Code, begin: usize, end: usize) -> (Vec<usize>, bool) {
    let insts = &code.insts[begin..=end];
    let written: HashSet<Reg> =
        insts.iter().flat_map(|inst| code.sources[inst.source as usize].writes.iter().copied()).collect();
    let (mut needed, mut loads) = (HashSet::new(), Vec::new());
    for (at, inst) in insts.iter().enumerate().rev() {
        let guard = match inst.guard {
            Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
            // The first operation stands for the instruction.
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
