//! Lists that need no allocation while they are short.

use std::ops::Deref;

/// A list whose first `N` elements need no allocation.
#[derive(Clone, Debug)]
pub(super) struct Few<T, const N: usize> {
    first: Option<[T; N]>,
    len: usize,
    /// All elements, if there are more than `N`.
    all: Vec<T>,
}

impl<T, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Few { first: None, len: 0, all: Vec::new() }
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    pub(super) fn push(&mut self, value: T) {
        if self.len < N {
            // Elements after the list's end are any.
            self.first.get_or_insert([value; N])[self.len] = value;
        } else {
            if self.len == N {
                self.all = self.to_vec();
            }
            self.all.push(value);
        }
        self.len += 1;
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.first {
            _ if self.len > N => &self.all,
            Some(first) => &first[..self.len],
            None => &[],
        }
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut few = Few::default();
        values.into_iter().for_each(|value| few.push(value));
        few
    }
}
