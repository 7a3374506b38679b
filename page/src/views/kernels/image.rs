//! The shared memory of a block at every step.

use std::ops::Range;

/// Bytes of a word.
const WORD: usize = 4;

/// Bytes that have changed.
#[derive(Clone, Debug)]
struct Delta {
    /// The step after which they are these.
    step: u32,
    at: u32,
    bytes: u32,
    /// Where they are in `Shared::data`.
    data: u32,
    /// The warp whose instruction has written them; none for an asynchronous operation.
    by: Option<u32>,
}

/// The number of a delta, the memory before it, and what has happened to its words.
type Key = (usize, Vec<u8>, Vec<Cell>);

/// The shared memory of a block: how it has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// As it is after the last step.
    now: Vec<u8>,
    deltas: Vec<Delta>,
    data: Vec<u8>,
    /// What has happened to each word.
    words: Vec<Cell>,
    /// The whole memory before a delta, and what has happened to its words, every now and then.
    keys: Vec<Key>,
    since: usize,
}

/// What has happened to a part of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    /// The warp that has changed it last: 0 for none yet, 1 for an asynchronous operation, 2 for warp 0 and so on.
    pub(super) by: u32,
    /// The step of the last change.
    pub(super) step: u32,
}

impl Shared {
    /// A memory of this many bytes, all 0.
    pub(super) fn new(bytes: usize) -> Shared {
        Shared {
            now: vec![0; bytes],
            words: vec![Cell::default(); bytes.div_ceil(WORD)],
            ..Shared::default()
        }
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> usize {
        self.now.len()
    }

    /// Bytes that the record takes.
    pub(super) fn bytes(&self) -> usize {
        let key = self.now.len() + self.words.len() * size_of::<Cell>();
        self.data.len() + self.deltas.len() * size_of::<Delta>() + self.keys.len() * key
    }

    /// Notes what the memory is after a step.
    pub(super) fn put(&mut self, step: u32, by: Option<u32>, new: &[u8]) {
        if self.now == new || self.now.len() != new.len() {
            return;
        }
        if self.since > 4 * self.now.len().max(1 << 15) {
            self.keys.push((self.deltas.len(), self.now.clone(), self.words.clone()));
            self.since = 0;
        }
        let mut ranges = Vec::new();
        differing(&self.now, new, 0, &mut ranges);
        for range in ranges {
            let data = self.data.len() as u32;
            self.data.extend_from_slice(&new[range.clone()]);
            self.now[range.clone()].copy_from_slice(&new[range.clone()]);
            self.since += range.len() + size_of::<Delta>();
            let (at, bytes) = (range.start as u32, range.len() as u32);
            let delta = Delta { step, at, bytes, data, by };
            delta.tell(&mut self.words);
            self.deltas.push(delta);
        }
    }

    /// What makes the memory after a step: the last key before, if there is one, and the deltas from it on.
    fn upto(&self, step: u32) -> (Option<&Key>, &[Delta]) {
        let end = self.deltas.partition_point(|delta| delta.step <= step);
        let keys = self.keys.partition_point(|(before, ..)| *before <= end);
        let key = keys.checked_sub(1).map(|i| &self.keys[i]);
        (key, &self.deltas[key.map_or(0, |(before, ..)| *before)..end])
    }

    /// The bytes after a step.
    pub(super) fn at(&self, step: u32) -> Vec<u8> {
        let (key, deltas) = self.upto(step);
        let mut memory = key.map_or_else(|| vec![0; self.now.len()], |(_, memory, _)| memory.clone());
        for delta in deltas {
            let (at, data, bytes) = (delta.at as usize, delta.data as usize, delta.bytes as usize);
            memory[at..at + bytes].copy_from_slice(&self.data[data..data + bytes]);
        }
        memory
    }

    /// What has happened to each `unit` bytes, a multiple of a word's, up to a step.
    pub(super) fn cells(&self, step: u32, unit: usize) -> Vec<Cell> {
        let (key, deltas) = self.upto(step);
        let mut words =
            key.map_or_else(|| vec![Cell::default(); self.words.len()], |(.., words)| words.clone());
        deltas.iter().for_each(|delta| delta.tell(&mut words));
        // Of words that have changed in one step, an asynchronous operation's or a warp's, the last one is told.
        let latest =
            |words: &[Cell]| words.iter().copied().max_by_key(|of| (of.by != 0, of.step)).unwrap_or_default();
        words.chunks(unit / WORD).map(latest).collect()
    }
}

impl Delta {
    /// Notes in what has happened to words that these bytes have changed.
    fn tell(&self, words: &mut [Cell]) {
        let (first, last) = (self.at as usize / WORD, (self.at + self.bytes - 1) as usize / WORD);
        words[first..=last].fill(Cell { by: self.by.map_or(1, |warp| warp + 2), step: self.step });
    }
}

/// The ranges in which two memories of one size differ, in words of 4 bytes; neighbours are one.
fn differing(old: &[u8], new: &[u8], base: usize, ranges: &mut Vec<Range<usize>>) {
    if old == new {
        return;
    }
    if old.len() <= 4 {
        match ranges.last_mut() {
            Some(last) if last.end == base => last.end = base + old.len(),
            _ => ranges.push(base..base + old.len()),
        }
        return;
    }
    let half = (old.len() / 2).next_multiple_of(4);
    differing(&old[..half], &new[..half], base, ranges);
    differing(&old[half..], &new[half..], base + half, ranges);
}
