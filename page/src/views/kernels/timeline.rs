//! The timeline of a block's warps.

use serde::Serialize;

use super::class::Class;
use super::record::{Record, Step};

/// A stretch of time in which a warp does things of one class: begin, end, the number of the class in [`Class::ALL`], and the first of the
/// warp's steps in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Stretch(pub(super) u64, pub(super) u64, pub(super) usize, pub(super) usize);

/// The stretches of every warp: as if the warps ran beside each other, or one instruction after another in the simulator's order.
pub(super) fn timeline(record: &Record, beside: bool) -> Vec<Vec<Stretch>> {
    (0..record.warps.len()).map(|warp| of_warp(record, warp, beside)).collect()
}

fn of_warp(record: &Record, warp: usize, beside: bool) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    let mut add = |from: u64, to: u64, class: Class, nth: usize| {
        if from >= to {
            return;
        }
        let number = Class::ALL.iter().position(|other| *other == class).unwrap_or(0);
        match all.last_mut() {
            Some(last) if last.1 == from && last.2 == number => last.1 = to,
            _ => all.push(Stretch(from, to, number, nth)),
        }
    };
    let mut last: Option<&Step> = None;
    for (nth, &number) in record.warps[warp].iter().enumerate() {
        let step = &record.steps[number as usize];
        let class = record.sources[step.source as usize].class;
        let [came, on, end] = match beside {
            true => step.times,
            // The count is that of the instruction itself.
            false => [step.order[0] - 1, step.order[1] - 1, step.order[1]],
        };
        if !beside && let Some(last) = last.filter(|last| is_barrier(record, last)) {
            add(last.order[1], came, Class::Wait, nth);
        }
        add(came, on, Class::Wait, nth);
        add(on, end, if step.done { class } else { Class::Wait }, nth);
        last = Some(step);
    }
    all
}

/// Whether a warp waits after a step: at a barrier of the block.
fn is_barrier(record: &Record, step: &Step) -> bool {
    let words = super::class::opcode(&record.sources[step.source as usize].text);
    (words.starts_with("bar.") || words.starts_with("barrier."))
        && !words.contains("arrive")
        && !words.contains("warp")
}
