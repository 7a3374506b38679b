//! What an operation reads and writes.

use super::{Completion, Effect, Place};
use crate::exec::context::Context;
use crate::op::Update;
use crate::shadow::By;

impl Context<'_> {
    pub(super) fn read_sources(&mut self, i: usize) {
        let operation = &mut self.agents.operations[i];
        for piece in &operation.sources {
            let data = &mut operation.data[piece.at..piece.at + piece.bytes];
            match piece.place {
                Place::Shared(at) => data.copy_from_slice(&self.shared[at..at + piece.bytes]),
                Place::Global(address) => {
                    if let Some((index, offset)) = self.machine.view.find(address, piece.bytes as u64) {
                        self.machine.view.allocations[index].read(offset, data);
                    }
                    if let Effect::Convert(convert) = operation.effect {
                        convert(data);
                    }
                }
            }
        }
    }

    pub(super) fn write_targets(&mut self, i: usize) {
        let operation = &self.agents.operations[i];
        let by = match operation.completion {
            Completion::Transactions { mbarrier, operation, .. }
            | Completion::Arrival { mbarrier, operation } => self
                .mbarriers
                .next_phase(mbarrier)
                .map(|(mbarrier, phase)| By::Phase { mbarrier, phase, operation }),
            Completion::Group(_) => None,
        };
        for piece in &operation.targets {
            let data = &operation.data[piece.at..piece.at + piece.bytes];
            match (piece.place, operation.effect) {
                (Place::Shared(at), Effect::Reduce(bytes, update)) => {
                    reduce(&mut self.shared[at..at + piece.bytes], data, bytes as usize, update);
                }
                (Place::Shared(at), _) => self.shared[at..at + piece.bytes].copy_from_slice(data),
                (Place::Global(address), effect) => {
                    let Some((index, offset)) = self.machine.view.find(address, piece.bytes as u64) else {
                        continue;
                    };
                    let allocation = &self.machine.view.allocations[index];
                    match effect {
                        Effect::Reduce(bytes, update) => {
                            for (i, element) in data.chunks_exact(bytes as usize).enumerate() {
                                let b = word(element);
                                allocation
                                    .update(offset + i * bytes as usize, bytes, |old| update(old, b, 0));
                            }
                        }
                        _ => allocation.write(offset, data),
                    }
                }
            }
        }
        let (Some(shadow), Some(by)) = (&mut self.shadow, by) else { return };
        for piece in &operation.targets {
            let Place::Shared(at) = piece.place else { continue };
            match operation.effect {
                Effect::Reduce(..) => shadow.end_async_reduction(by, at, piece.bytes),
                Effect::Write | Effect::Convert(_) => shadow.end_async_write(by, at, piece.bytes),
            }
        }
        for piece in &operation.sources {
            if let Place::Shared(at) = piece.place {
                shadow.end_async_read(by, at, piece.bytes);
            }
        }
    }
}

/// Combines elements of data with those in shared memory.
fn reduce(to: &mut [u8], data: &[u8], bytes: usize, update: Update) {
    for (to, element) in to.chunks_exact_mut(bytes).zip(data.chunks_exact(bytes)) {
        let new = update(word(to), word(element), 0).to_le_bytes();
        to.copy_from_slice(&new[..bytes]);
    }
}

/// Up to 8 little-endian bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    u64::from_le_bytes(word)
}
