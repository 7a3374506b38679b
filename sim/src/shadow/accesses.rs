//! Sets of reads of the same bytes. A set keeps only reads that are not ordered among themselves.

use std::iter;

use super::Stamp;
use super::clock::Past;
use crate::lanes::WARP;

/// Accesses of several lanes of a warp by one instruction at one clock. Clock 0 means that there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accesses {
    pub(super) clock: u32,
    source: u32,
    /// The component of the clocks that counts the accesses: a warp, or an mbarrier.
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
    /// The access of the first of these lanes.
    #[inline]
    pub(super) fn first(&self, lanes: u32) -> Option<Stamp> {
        let thread = self.warp * WARP as u32 + lanes.trailing_zeros();
        (lanes != 0).then_some(Stamp { clock: self.clock, source: self.source, thread })
    }

    /// Adds the lanes of `new` if it differs in nothing but the lanes. Returns whether it did.
    #[inline]
    pub(super) fn merge(&mut self, new: &Accesses) -> bool {
        let same = (self.clock, self.source, self.warp) == (new.clock, new.source, new.warp);
        if same {
            self.lanes |= new.lanes;
        }
        same
    }
}

/// Sets of accesses, each a linked list. The owner of a set keeps the index of its first link, from 1; 0 is the empty set.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    links: Vec<Link>,
    /// The first link of the free list.
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

    /// The accesses of the set that begins with this link.
    pub(super) fn of(&self, first: u32) -> impl Iterator<Item = &Accesses> {
        iter::successors(self.link(first), |link| self.link(link.next)).map(|link| &link.accesses)
    }

    /// Calls `change` for the accesses of a set until it returns true for one; returns whether it did for any.
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

    /// Adds accesses to a set. They are merged into an entry that differs only in lanes, or replace an entry that is ordered before them, or get a
    /// new link.
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

    /// Whether all accesses of a set are ordered before an event with this past.
    #[cold]
    pub(super) fn all_in(&self, first: u32, past: Past<'_>) -> bool {
        self.of(first).all(|accesses| past.missing(accesses) == 0)
    }

    /// Returns the links of a set to the free list.
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
