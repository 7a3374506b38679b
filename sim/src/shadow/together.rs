//! Weak accesses of several lanes at once, the fast path without findings.

use super::accesses::Accesses;
use super::cell::{Cell, Stamp};
use super::clock::Past;
use super::states::{SPECIAL, WRITTEN, are_written, over};
use super::{Shadow, Who};
use crate::lanes::WARP;

impl Shadow {
    /// Takes weak accesses of several lanes, all by `who`'s instruction, the quick way: performs them in the order of
    /// lanes up to the first of which there may be something to tell. Returns the lanes whose accesses have been
    /// recorded; the others need [`Shadow::read`] or [`Shadow::write`]. The lane of `who` does not matter.
    pub(crate) fn together(
        &mut self,
        who: Who,
        mask: u32,
        places: &[usize; WARP],
        bytes: usize,
        reads: bool,
    ) -> u32 {
        if !self.strong.is_empty() {
            return 0;
        }
        if reads && some_meet(places) && self.clocks[who.warp as usize].are_alike(mask) {
            self.groups::<true>(who, mask, places, bytes, reads)
        } else {
            self.groups::<false>(who, mask, places, bytes, reads)
        }
    }

    /// The body of [`Shadow::together`]. With `TOGETHER`, neighbouring lanes at the same place are taken as one access.
    #[inline]
    fn groups<const TOGETHER: bool>(
        &mut self,
        who: Who,
        mask: u32,
        places: &[usize; WARP],
        bytes: usize,
        reads: bool,
    ) -> u32 {
        let (mut served, wanted) = (0, if reads && self.uninitialised { WRITTEN } else { 0 });
        let clock = &self.clocks[who.warp as usize];
        let one = clock.one_view();
        while let Some((lane, group)) = next_group(mask & !served, places, TOGETHER) {
            let (who, at) = (Who { lane: lane as u32, ..who }, places[lane]);
            let states = &mut self.states[at..at + bytes];
            let written = are_written(states);
            if !written {
                let (all, any) = over(states);
                if any & SPECIAL != 0 || all & wanted != wanted {
                    break;
                }
            }
            let past = Past::of(one.unwrap_or_else(|| clock.view(who)), who, group);
            let stamp = Stamp { clock: clock.next(who.lane), source: who.source, thread: who.thread() };
            let cells = self.cells.range_mut(at >> self.granule..(at + bytes).div_ceil(1 << self.granule));
            let none = |of: &Accesses| past.missing(of) == 0;
            let quiet = |cell: &Cell| {
                let more = || cell.more == 0 || self.chains.all_in(cell.more, past);
                past.has(&cell.write) && (reads || cell.reads.iter().all(none) && more())
            };
            if self.races && !cells.iter().all(quiet) {
                break;
            }
            if !reads {
                if !written {
                    states.fill(WRITTEN);
                }
                for cell in cells {
                    if cell.more != 0 {
                        self.chains.drop(cell.more);
                    }
                    *cell = Cell { write: stamp, ..Cell::default() };
                }
            } else if self.races {
                let mut new = Accesses::from(stamp);
                new.lanes = group;
                cells.iter_mut().for_each(|cell| cell.read(new, &mut self.chains, none));
            }
            served |= group;
        }
        served
    }
}

/// The first of these lanes and, with `together`, the lanes directly after it that are at the same place.
#[inline(always)]
pub(super) fn next_group(lanes: u32, places: &[usize; WARP], together: bool) -> Option<(usize, u32)> {
    if lanes == 0 {
        return None;
    }
    let first = lanes.trailing_zeros() as usize;
    if !together {
        return Some((first, 1 << first));
    }
    let mut rest = lanes & (lanes - 1);
    while rest != 0 && places[rest.trailing_zeros() as usize] == places[first] {
        rest &= rest - 1;
    }
    Some((first, lanes & !rest))
}

/// Whether some lane is at the same place as the lane before it.
#[inline]
pub(super) fn some_meet(places: &[usize; WARP]) -> bool {
    places.iter().zip(&places[1..]).fold(false, |some, (one, next)| some | (one == next))
}
