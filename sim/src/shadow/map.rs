//! Hash maps with numbers for keys: addresses, pages, cells.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers of the checked program. The standard library's hash would take longer than the look-up.
/// It resists keys that are chosen to collide, which is not needed, as the author of a program has nothing to gain from
/// them.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// The hash of one number: a multiplication, whose high and low halves are combined so that all bits of the number
/// matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
