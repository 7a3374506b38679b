//! A region of memory at every step: shared memory, or an array in global memory.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Bytes that have changed.
#[derive(Clone, Debug)]
struct Delta {
    /// The step after which they are these.
    step: u32,
    at: u32,
    bytes: u32,
    /// Where they are in `Image::data`.
    data: u32,
    /// The warp whose instruction has written them; none for an asynchronous operation, and for another block.
    by: Option<u32>,
}

/// A region of memory: how it began, and how it has changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    /// What it is, for people.
    pub(super) name: String,
    /// The address of its first byte.
    pub(super) base: u64,
    /// The type of the first access, as the instruction has it.
    pub(super) ty: Option<Box<str>>,
    begin: Vec<u8>,
    /// As it is after the last step.
    now: Vec<u8>,
    deltas: Vec<Delta>,
    data: Vec<u8>,
}

impl Image {
    /// A region that begins with these bytes.
    pub(super) fn new(name: String, base: u64, begin: Vec<u8>) -> Image {
        Image { name, base, now: begin.clone(), begin, ..Image::default() }
    }

    /// Bytes that the record takes.
    pub(super) fn bytes(&self) -> usize {
        2 * self.now.len() + self.data.len() + self.deltas.len() * size_of::<Delta>()
    }

    /// The part of the region that an access touches, as offsets.
    pub(super) fn part(&self, address: u64, bytes: u32) -> Option<Range<usize>> {
        let from = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let to = from.checked_add(bytes as usize)?;
        (to <= self.now.len()).then_some(from..to)
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> usize {
        self.now.len()
    }

    /// Notes what the bytes from `at` on are after a step.
    pub(super) fn put(&mut self, step: u32, by: Option<u32>, at: usize, new: &[u8]) {
        let Some(old) = self.now.get(at..at + new.len()) else { return };
        let mut ranges = Vec::new();
        differing(old, new, at, &mut ranges);
        for range in ranges {
            let bytes = &new[range.start - at..range.end - at];
            let data = self.data.len() as u32;
            self.data.extend_from_slice(bytes);
            self.now[range.clone()].copy_from_slice(bytes);
            let (at, bytes) = (range.start as u32, range.len() as u32);
            self.deltas.push(Delta { step, at, bytes, data, by });
        }
    }
}

/// The region as the page takes it: bytes in hexadecimal, zeros at the end left out. A change has the step after which it holds, its offset,
/// who has made it (1 for an asynchronous operation or another block, 2 for warp 0, 3 for warp 1 and so on), and the bytes.
impl Serialize for Image {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let end = self.begin.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let bytes = |of: &Delta| &self.data[of.data as usize..(of.data + of.bytes) as usize];
        let changes: Vec<(u32, u32, u32, String)> = self
            .deltas
            .iter()
            .map(|of| (of.step, of.at, of.by.map_or(1, |warp| warp + 2), hexadecimal(bytes(of))))
            .collect();
        let mut to = serializer.serialize_struct("Image", 6)?;
        to.serialize_field("name", &self.name)?;
        to.serialize_field("base", &self.base)?;
        to.serialize_field("bytes", &self.now.len())?;
        to.serialize_field("type", &self.ty)?;
        to.serialize_field("begin", &hexadecimal(&self.begin[..end]))?;
        to.serialize_field("changes", &changes)?;
        to.end()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
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
