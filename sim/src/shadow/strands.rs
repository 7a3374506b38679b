//! Values of a warp's lanes that are mostly the same.

use crate::exec::lanes;
use crate::lanes::WARP;

use super::known::ALL;

/// A value of each lane of a warp, kept once for all lanes that have the same: one as long as they do everything
/// together, up to 32.
#[derive(Clone, Debug)]
pub(super) struct Strands<T> {
    /// The lanes that have each value; every lane has one.
    values: Vec<(u32, T)>,
    /// The place of each lane's.
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

    /// The different values of these lanes, and who of them has each.
    #[inline]
    pub(super) fn of(&self, mask: u32) -> impl Iterator<Item = (u32, &T)> {
        self.values.iter().map(move |(of, value)| (of & mask, value)).filter(|(of, _)| *of != 0)
    }

    /// Changes the value of these lanes.
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
            lanes(*part).for_each(|lane| self.of[lane] = at as u8);
        }
    }
}
