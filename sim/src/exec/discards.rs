//! Races of an update in place with reads of other lanes: compilers let all lanes load and compute common values, and let one of them store the
//! result. The loaded values of the other lanes are discarded, unless they store them too.

use std::collections::{HashMap, HashSet};

use crate::error::Formal;
use crate::lanes::lanes_of;
use crate::shadow::Who;
use crate::{Access, Error};

use super::context::Context;

/// The loads of a cluster whose values have so far gone to stores alone. A load is identified by its thread and its instruction.
#[derive(Debug, Default)]
pub(super) struct Discards {
    /// The loads whose values have been stored.
    used: HashSet<(u32, u32)>,
    /// The races of the loads whose values have not been stored.
    races: HashMap<(u32, u32), Error>,
}

impl Discards {
    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.races.clear();
    }
}

impl Context<'_> {
    /// Keeps the race of a read and a write back, if the read value has not been used so far and the write is a store of such a value by another
    /// thread of the block. Otherwise returns the race.
    pub(super) fn defer(&self, who: Who, access: Access, other: (u32, u32), race: Error) -> Option<Error> {
        let sources = &self.machine.kernel.code.sources;
        let own = (who.source, who.thread());
        let ((load, thread), (store, writer)) =
            if access == Access::Read { (own, other) } else { (other, own) };
        let per_block = self.machine.warps() * crate::lanes::WARP as u32;
        let updates = sources[store as usize].updates.contains(&load);
        let mut discards = self.discards.borrow_mut();
        if !updates || thread / per_block != writer / per_block || discards.used.contains(&(thread, load)) {
            return Some(race);
        }
        discards.races.entry((thread, load)).or_insert(race);
        None
    }

    /// Lanes of a warp are about to store values of these loads.
    #[cold]
    pub(super) fn use_loaded(&self, warp: u32, lanes: u32, loads: &[u32]) -> Result<(), Error> {
        for lane in lanes_of(lanes) {
            let thread = Who { warp, lane: lane as u32, source: 0 }.thread();
            for &load in loads {
                let race = {
                    let mut discards = self.discards.borrow_mut();
                    discards.used.insert((thread, load));
                    discards.races.remove(&(thread, load))
                };
                race.map_or(Ok(()), |race| self.note(race))?;
            }
        }
        Ok(())
    }

    /// At the end of the cluster: the values of the remaining reads have been discarded.
    pub(super) fn tell_discarded(&self) -> Result<(), Error> {
        let mut races: Vec<_> = self.discards.borrow_mut().races.drain().collect();
        races.sort_unstable_by_key(|(load, _)| *load);
        for (_, mut race) in races {
            if let Error::Race { formal, .. } = &mut race {
                *formal = Some(Formal::Discarded);
            }
            self.note(race)?;
        }
        Ok(())
    }
}
