//! Tensor maps in global memory that the kernel itself has written (PTX ISA, "fence.proxy.tensormap", "Proxy-preserved
//! base causality order").
//!
//! TMA copies read the maps through a proxy of its own. The proxy sees a write that is first released, by a fence of
//! the thread that wrote or of a thread that is ordered after it, and then acquired, by a fence that names the map and
//! comes before the copy. The scopes of both fences must include the thread that wrote and the thread that acquires.

use std::collections::BTreeMap;

use super::known::{Known, View};
use super::page::{Mark, PAGE};
use super::scope::{SCOPES, Scope};
use super::{Global, Shadow, Stamp, Who};

/// Bytes of a tensor map.
const BYTES: u64 = 128;

/// The writes that have been released to the proxy that reads tensor maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Released {
    /// The writes of this cluster, by scope: those that a release of the scope or of a wider one has released.
    own: [Known; SCOPES.len()],
    /// The writes of other clusters, which only a release of the widest scope can hand over.
    others: BTreeMap<u32, Known>,
}

/// An acquire of a tensor map by a thread.
#[derive(Clone, Debug)]
pub(super) struct Acquired {
    cluster: u32,
    stamp: Stamp,
    /// The last writes to the map's bytes at that time.
    writes: Vec<Mark>,
    /// Whether all of these writes had been released to the acquiring thread.
    released: bool,
}

/// The fence that is missing before a copy that reads a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    Release,
    Acquire,
}

impl Released {
    pub(super) fn join(&mut self, from: &Released, own: u32, source: u32) {
        if own == source {
            self.own.iter_mut().zip(&from.own).for_each(|(to, from)| to.join(from));
        } else {
            self.others.entry(source).or_default().join(&from.own[Scope::Gpu as usize]);
        }
        for (&cluster, from) in &from.others {
            match cluster == own {
                true => self.own[Scope::Gpu as usize].join(from),
                false => self.others.entry(cluster).or_default().join(from),
            }
        }
    }
}

impl View {
    /// Releases all that comes before, and what these lanes of a warp did up to a clock, in a scope.
    pub(super) fn release_maps(&mut self, scope: Scope, (warp, lanes, clock): (u32, u32, u32)) {
        let mut released = self.released.take().unwrap_or_default();
        for to in &mut released.own[..=scope as usize] {
            to.join(&self.known);
            to.raise(warp, lanes, clock);
        }
        if scope == Scope::Gpu {
            for (&cluster, other) in &self.others {
                released.others.entry(cluster).or_default().join(&other.known);
            }
        }
        self.released = Some(released);
    }
}

impl Shadow {
    /// `fence.proxy.tensormap::generic.release` of these lanes.
    pub(crate) fn release_maps(&mut self, warp: usize, lanes: u32, scope: Scope) {
        self.clocks[warp].release_maps(lanes, scope);
    }

    /// `fence.proxy.tensormap::generic.acquire` of a thread, for the map at this address.
    pub(crate) fn acquire_map(&mut self, global: &Global, who: Who, address: u64, scope: Scope) {
        let writes = self.writes(global, address);
        if writes.is_empty() {
            return;
        }
        let released = writes.iter().all(|write| self.is_released(who, write, scope));
        let acquired = Acquired { cluster: self.cluster_number, stamp: self.stamp(who), writes, released };
        let mut shard = global.shard(address / PAGE);
        let all = shard.acquired.entry(address).or_default();
        all.retain(|old| (old.cluster, old.stamp.thread) != (acquired.cluster, acquired.stamp.thread));
        all.push(acquired);
    }

    /// Checks that a thread's TMA copy sees the last writes to the map at this address; otherwise returns the fence
    /// that is missing, and one of the writes.
    pub(crate) fn check_map(&self, global: &Global, who: Who, address: u64) -> Result<(), (Lack, Mark)> {
        let writes = self.writes(global, address);
        let Some(&first) = writes.first() else { return Ok(()) };
        let past = self.clocks[who.warp as usize].past(who);
        let shard = global.shard(address / PAGE);
        let mut lack = Lack::Acquire;
        for acquired in shard.acquired.get(&address).into_iter().flatten() {
            let before = match acquired.cluster == self.cluster_number {
                true => past.has(&acquired.stamp),
                false => past.has_of(acquired.cluster, &acquired.stamp),
            };
            if !before || acquired.writes != writes {
                continue;
            }
            if acquired.released {
                return Ok(());
            }
            lack = Lack::Release;
        }
        Err((lack, first))
    }

    /// The last writes to a map's bytes: the last weak write of each cell, and the strong writes since.
    fn writes(&self, global: &Global, address: u64) -> Vec<Mark> {
        let mut writes = Vec::new();
        let mut shard = global.shard(address / PAGE);
        // A map is aligned to its size, so that it is in one page.
        let Some(page) = shard.pages.get_mut(&(address / PAGE)) else { return writes };
        for i in page.cells_of(address % PAGE, BYTES) {
            let strong = page.strong.get(&i).into_iter().flat_map(|strong| strong.generic_writes());
            let strong = strong.map(|(cluster, stamp, by)| Mark { cluster, stamp, by, bulk: false });
            let all = std::iter::once(page.write(i)).filter(|write| write.stamp.clock != 0).chain(strong);
            for write in all {
                if !writes.contains(&write) {
                    writes.push(write);
                }
            }
        }
        writes
    }

    fn is_released(&self, who: Who, write: &Mark, scope: Scope) -> bool {
        let view = self.clocks[who.warp as usize].view(who);
        let Some(released) = &view.released else { return false };
        if write.cluster != self.cluster_number {
            let other = released.others.get(&write.cluster);
            return scope == Scope::Gpu && other.is_some_and(|known| known.has(&write.stamp));
        }
        let needed = self.home(who.thread()).scope_of(self.home(write.by));
        scope >= needed && released.own[needed as usize].has(&write.stamp)
    }
}
