//! The key of a launch, as numbers.

use std::fmt::{self, Debug, Write as _};
use std::hash::{Hash, Hasher};

use super::few::Few;

/// Numbers that are equal for equal values. As a [`Hasher`] it keeps what it is told instead of mixing it.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(Few<u64, 80>);

impl Words {
    pub(super) fn push(&mut self, word: u64) {
        self.0.push(word);
    }

    pub(super) fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// Appends others, after their number.
    pub(super) fn extend(&mut self, words: &[u64]) {
        self.push(words.len() as u64);
        words.iter().for_each(|&word| self.push(word));
    }
}

/// A number that differs for most lists.
pub(super) fn hash(words: &[u64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    words.iter().fold(words.len() as u64, |hash, &word| (hash.rotate_left(29) ^ word).wrapping_mul(ODD))
}

/// A number that differs for most texts, and is the same in each process.
pub(crate) fn stable_hash(text: &str) -> u64 {
    let mut words = Words::default();
    words.write(text.as_bytes());
    words.finish()
}

/// Each number as a word.
macro_rules! write_words {
    ($($name:ident $ty:ty),*) => { $(
        fn $name(&mut self, n: $ty) {
            self.push(n as u64);
        }
    )* };
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        self.push(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.push(u64::from_le_bytes(word));
        }
    }

    write_words! { write_u8 u8, write_u16 u16, write_u32 u32, write_u64 u64, write_usize usize }

    fn finish(&self) -> u64 {
        hash(self.as_slice())
    }
}

impl fmt::Write for Words {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

/// The build-time values of a kernel, by which its programs are distinguished.
#[derive(Clone, Debug, Default)]
pub struct Constants(pub(super) Few<u64, 12>);

impl Constants {
    fn take(&mut self, words: &Words) {
        words.as_slice().iter().for_each(|&word| self.0.push(word));
    }
}

/// A build-time value on its way to [`Constants`]: by its [`Hash`], which says all that [`Eq`] compares; a float by its bits; and what has
/// neither by its [`Debug`] text.
#[derive(Debug)]
pub struct Constant<'a, T>(pub &'a T);

/// Values that are distinguished by [`Hash`].
pub trait ByHash {
    /// Adds the value.
    fn add(&self, to: &mut Constants);
}

/// Floats.
pub trait ByBits {
    /// Adds the value.
    fn add(&self, to: &mut Constants);
}

/// Values that are distinguished by [`Debug`].
pub trait ByDebug {
    /// Adds the value.
    fn add(&self, to: &mut Constants);
}

impl<T: Hash> ByHash for &&Constant<'_, T> {
    fn add(&self, to: &mut Constants) {
        let mut words = Words::default();
        self.0.hash(&mut words);
        to.take(&words);
    }
}

impl<T: Copy + Into<f64>> ByBits for &Constant<'_, T> {
    fn add(&self, to: &mut Constants) {
        to.0.push((*self.0).into().to_bits());
    }
}

impl<T: Debug> ByDebug for Constant<'_, T> {
    fn add(&self, to: &mut Constants) {
        let mut words = Words::default();
        // If the write fails, the words before it are the key.
        let _ = write!(words, "{:?}", self.0);
        to.take(&words);
    }
}
