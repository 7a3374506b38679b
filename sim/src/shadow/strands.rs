//! Values of a warp's lanes that are mostly the same for all lanes.

use crate::lanes::{WARP, lanes_of};

use super::known::ALL;

/// A value for each lane of a warp, stored once for all lanes that have the same. There is one value as long as the
/// lanes do everything together, and there are up to 32.
#[derive(Clone, Debug)]
pub(super) struct Strands<T> {
    /// The different values, each with its lanes, as bits; every lane has one value.
    values: Vec<(u32, T)>,
    /// For each lane, the index of its value in `values`.
    of: [u8; WARP],
}

impl<T: Clone + Default + PartialEq> Default for Strands<T> {
    fn default() -> Self {
        Strands { values: vec![(ALL, T::default())], of: [0; WARP] }
    }
}

impl<T: Clone + Default + PartialEq> Strands<T> {
    /// A lane's value.
    #[inline]
    pub(super) fn get(&self, lane: u32) -> &T {
        &self.values[usize::from(self.of[lane as usize % WARP])].1
    }

    /// The value of all lanes, if they have the same.
    pub(super) fn one(&self) -> Option<&T> {
        if let [(_, value)] = &self.values[..] { Some(value) } else { None }
    }

    /// The different values of these lanes, each with those of the lanes that have it.
    #[inline]
    pub(super) fn of(&self, mask: u32) -> impl Iterator<Item = (u32, &T)> {
        self.values.iter().map(move |(of, value)| (of & mask, value)).filter(|(of, _)| *of != 0)
    }

    /// Changes the values of these lanes; each different value is changed once.
    pub(super) fn change(&mut self, mask: u32, mut change: impl FnMut(&mut T)) {
        if let ([(_, value)], ALL) = (&mut self.values[..], mask) {
            return change(value);
        }
        let mut changed = Vec::new();
        self.values.retain_mut(|(of, value)| {
            let part = *of & mask;
            *of &= !mask;
            if part != 0 {
                let whole = *of == 0;
                changed.push((part, if whole { std::mem::take(value) } else { value.clone() }));
            }
            *of != 0
        });
        for (part, mut value) in changed {
            change(&mut value);
            match self.values.iter_mut().find(|(_, other)| *other == value) {
                Some((of, _)) => *of |= part,
                None => self.values.push((part, value)),
            }
        }
        for (at, (part, _)) in self.values.iter().enumerate() {
            lanes_of(*part).for_each(|lane| self.of[lane] = at as u8);
        }
    }
}
