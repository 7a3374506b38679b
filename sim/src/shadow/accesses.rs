//! Sets of accesses to the same bytes, as many as nothing orders among themselves.

use std::iter;

use super::Stamp;
use super::clock::Past;
use crate::lanes::WARP;

/// Accesses of lanes of a warp by one instruction, counted by one clock; none with clock 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accesses {
    pub(super) clock: u32,
    source: u32,
    /// The component of the clocks.
    pub(super) warp: u32,
    pub(super) lanes: u32,
}

impl From<Stamp> for Accesses {
    #[inline]
    fn from(Stamp { clock, source, thread }: Stamp) -> Self {
        Accesses { clock, source, warp: thread / WARP as u32, lanes: 1 << (thread % WARP as u32) }
    }
}

impl Accesses {
    /// The first of these lanes' accesses.
    #[inline]
    pub(super) fn first(&self, lanes: u32) -> Option<Stamp> {
        let thread = self.warp * WARP as u32 + lanes.trailing_zeros();
        (lanes != 0).then_some(Stamp { clock: self.clock, source: self.source, thread })
    }

    /// Adds lanes that do the same; whether they do.
    #[inline]
    pub(super) fn merge(&mut self, new: &Accesses) -> bool {
        let same = (self.clock, self.source, self.warp) == (new.clock, new.source, new.warp);
        if same {
            self.lanes |= new.lanes;
        }
        same
    }
}

/// Sets of accesses, each a chain of links that its owner knows the first of; 0 is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    links: Vec<Link>,
    /// The first of those that are in no set.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    accesses: Accesses,
    next: u32,
}

impl Chains {
    pub(super) fn clear(&mut self) {
        self.links.clear();
        self.free = 0;
    }

    fn link(&self, at: u32) -> Option<&Link> {
        self.links.get(at.checked_sub(1)? as usize)
    }

    fn link_mut(&mut self, at: u32) -> Option<&mut Link> {
        self.links.get_mut(at.checked_sub(1)? as usize)
    }

    /// The accesses of a set.
    pub(super) fn of(&self, first: u32) -> impl Iterator<Item = &Accesses> {
        iter::successors(self.link(first), |link| self.link(link.next)).map(|link| &link.accesses)
    }

    /// Finds one to change, and says whether there was any.
    fn any(&mut self, first: u32, mut change: impl FnMut(&mut Accesses) -> bool) -> bool {
        let mut at = first;
        while let Some(link) = self.link_mut(at) {
            if change(&mut link.accesses) {
                return true;
            }
            at = link.next;
        }
        false
    }

    /// Adds accesses to a set, in the place of some that are not needed any more, as they come before it.
    pub(super) fn add(&mut self, first: &mut u32, new: Accesses, before: impl Fn(&Accesses) -> bool) {
        let take = |accesses: &mut Accesses| {
            let free = before(accesses);
            if free {
                *accesses = new;
            }
            free
        };
        if self.any(*first, |accesses| accesses.merge(&new)) || self.any(*first, take) {
            return;
        }
        let (link, at) = (Link { accesses: new, next: *first }, self.free);
        *first = match self.link_mut(at) {
            Some(free) => {
                let next = std::mem::replace(free, link).next;
                self.free = next;
                at
            }
            None => {
                self.links.push(link);
                self.links.len() as u32
            }
        };
    }

    /// Whether all of a set come before something.
    #[cold]
    pub(super) fn all_in(&self, first: u32, past: Past<'_>) -> bool {
        self.of(first).all(|accesses| past.missing(accesses) == 0)
    }

    /// A set is no longer needed.
    #[cold]
    pub(super) fn drop(&mut self, first: u32) {
        let mut last = first;
        while let Some(link) = self.link(last).filter(|link| link.next != 0) {
            last = link.next;
        }
        let free = self.free;
        if let Some(link) = self.link_mut(last) {
            link.next = free;
            self.free = first;
        }
    }
}
