//! The values of one basic block, and the registers that they take in two orders.

use std::collections::{BTreeSet, HashMap};

use super::Peak;
use super::step::{Effect, Step};

/// An instruction that is no copy, with the numbers of its values.
struct Node {
    /// The instruction's place in the block.
    at: usize,
    written: Vec<usize>,
    read: Vec<usize>,
    effect: Effect,
}

/// A block whose instructions write a value each time that they write a register.
pub(super) struct Block {
    nodes: Vec<Node>,
    /// Registers of 16 bits that each value takes.
    halves: Vec<u32>,
    /// Values that are live after the block.
    out: Vec<bool>,
}

impl Block {
    pub(super) fn new(steps: &[Step<'_>], registers: &[u32], out: &BTreeSet<usize>) -> Block {
        let (mut values, mut halves): (HashMap<usize, usize>, Vec<u32>) = (HashMap::new(), Vec::new());
        let mut nodes = Vec::new();
        fn fresh(halves: &mut Vec<u32>, count: u32) -> usize {
            halves.push(count);
            halves.len() - 1
        }
        for (at, step) in steps.iter().enumerate() {
            let mut value = |register: usize| {
                *values.entry(register).or_insert_with(|| fresh(&mut halves, registers[register]))
            };
            let mut read: Vec<usize> = step.read.iter().map(|&register| value(register)).collect();
            if let Some(from) = step.copied()
                && registers[from] == registers[step.written[0]]
            {
                values.insert(step.written[0], read[0]);
                continue;
            }
            read.sort_unstable();
            read.dedup();
            let written = step.written.iter().map(|&register| {
                let value = fresh(&mut halves, registers[register]);
                values.insert(register, value);
                value
            });
            nodes.push(Node { at, written: written.collect(), read, effect: step.effect });
        }
        let out: Vec<usize> = out
            .iter()
            .map(|&register| {
                *values.entry(register).or_insert_with(|| fresh(&mut halves, registers[register]))
            })
            .collect();
        let mut live = vec![false; halves.len()];
        out.into_iter().for_each(|value| live[value] = true);
        Block { nodes, halves, out: live }
    }

    pub(super) fn peak(&self) -> Peak {
        let as_written: Vec<usize> = (0..self.nodes.len()).collect();
        let (written, at) = self.most(&as_written);
        let (least, _) = self.most(&self.on_demand());
        Peak { written, least: least.min(written), at }
    }

    /// The most registers that are live in an order, and the instruction where they are.
    fn most(&self, order: &[usize]) -> (u32, usize) {
        let mut live = self.out.clone();
        let mut now: u32 =
            live.iter().zip(&self.halves).map(|(&live, &halves)| if live { halves } else { 0 }).sum();
        let mut most = (now, self.nodes.last().map_or(0, |node| node.at));
        for &number in order.iter().rev() {
            let node = &self.nodes[number];
            let unread = node.written.iter().filter(|&&value| !live[value]);
            let with = now + unread.map(|&value| self.halves[value]).sum::<u32>();
            for &value in &node.written {
                if std::mem::take(&mut live[value]) {
                    now -= self.halves[value];
                }
            }
            for &value in &node.read {
                if !std::mem::replace(&mut live[value], true) {
                    now += self.halves[value];
                }
            }
            if with.max(now) > most.0 {
                most = (with.max(now), node.at);
            }
        }
        most
    }

    /// The order in which effects and what leaves the block stay, and every other instruction comes right before the first of them that needs it.
    fn on_demand(&self) -> Vec<usize> {
        let needs = self.needs();
        let (mut done, mut order) = (vec![false; self.nodes.len()], Vec::new());
        for (number, node) in self.nodes.iter().enumerate() {
            let wanted = node.effect == Effect::Write || node.written.iter().any(|&value| self.out[value]);
            if !wanted || done[number] {
                continue;
            }
            done[number] = true;
            let mut open = vec![(number, 0)];
            while let Some((number, next)) = open.last_mut() {
                match needs[*number].get(*next) {
                    Some(&need) => {
                        *next += 1;
                        if !std::mem::replace(&mut done[need], true) {
                            open.push((need, 0));
                        }
                    }
                    None => {
                        order.push(*number);
                        open.pop();
                    }
                }
            }
        }
        order
    }

    /// The instructions that come before each instruction in any order.
    fn needs(&self) -> Vec<Vec<usize>> {
        let mut writers = vec![None; self.halves.len()];
        let (mut last, mut reads): (Option<usize>, Vec<usize>) = (None, Vec::new());
        let mut needs = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            // Operands come first, those that have been computed last in front: they are at the end of the longest chains.
            let mut before: Vec<usize> = node.read.iter().filter_map(|&value| writers[value]).collect();
            before.sort_unstable_by(|a, b| b.cmp(a));
            match node.effect {
                Effect::None => {}
                Effect::Read => {
                    before.extend(last);
                    reads.push(number);
                }
                Effect::Write => {
                    before.extend(last);
                    before.append(&mut reads);
                    last = Some(number);
                }
            }
            node.written.iter().for_each(|&value| writers[value] = Some(number));
            needs.push(before);
        }
        needs
    }
}
