//! Hash maps with a fast hash that does not resist hash flooding.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys no stranger chooses.
pub type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
pub(crate) type QuickSet<K> = HashSet<K, BuildHasherDefault<Quick>>;

/// The hash of rustc's tables: each word is added, then multiplied by an odd number.
#[derive(Default)]
pub struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5).rotate_left(23);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        self.add(rest.iter().fold(rest.len() as u64, |word, &byte| word << 8 | u64::from(byte)));
    }
    fn write_u8(&mut self, word: u8) {
        self.add(word.into());
    }
    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }
    fn write_i64(&mut self, word: i64) {
        self.add(word as u64);
    }
    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }
    fn write_isize(&mut self, word: isize) {
        self.add(word as u64);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
