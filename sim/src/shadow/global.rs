//! Accesses to global memory, which all clusters of a launch share.
//!
//! Clusters run side by side and each has clocks of its own. An access of another cluster comes before only if a
//! release and an acquire in global memory say so: what they hand over has the clocks of every cluster that the
//! releasing one knew of.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::{Known, View};
use super::{Kind, Order, Shadow, Stamp, Who};
use crate::Access;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// log2 of the bytes of a cell, until a narrower access comes.
const WORD: u32 = 2;
const SHARDS: usize = 64;

/// An access remembered, and the cluster whose clock counts it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    pub(crate) cluster: u32,
    stamp: Stamp,
}

impl Mark {
    /// The instruction and the thread of the cluster.
    pub(crate) fn origin(&self) -> (u32, u32) {
        (self.stamp.source, self.stamp.thread)
    }
}

/// The last write, and reads since by two threads.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Mark,
    reads: [Mark; 2],
}

/// Strong accesses since the last weak write, of two threads each.
#[derive(Clone, Copy, Debug, Default)]
struct Strong {
    writes: [Mark; 2],
    reads: [Mark; 2],
}

#[derive(Debug)]
struct Page {
    /// log2 of the bytes of a cell.
    granule: u32,
    cells: Vec<Cell>,
    /// Of the cells that have had any.
    strong: HashMap<usize, Strong>,
}

impl Default for Page {
    fn default() -> Self {
        let cells = vec![Cell::default(); (PAGE >> WORD) as usize];
        Page { granule: WORD, cells, strong: HashMap::new() }
    }
}

impl Page {
    /// The cells of a range of bytes, which are made small enough.
    fn cells_of(&mut self, at: u64, bytes: u64) -> std::ops::Range<usize> {
        let fit = (at | bytes).trailing_zeros();
        if fit < self.granule {
            let more = 1 << (self.granule - fit);
            self.cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, more)).collect();
            let strong = std::mem::take(&mut self.strong);
            self.strong = strong
                .into_iter()
                .flat_map(|(i, s)| (i * more..(i + 1) * more).map(move |i| (i, s)))
                .collect();
            self.granule = fit;
        }
        (at >> self.granule) as usize..((at + bytes) >> self.granule) as usize
    }
}

/// What a release in global memory has published: of each cluster up to which clocks, and with a proxy fence on the way.
type Published = BTreeMap<u32, [Known; 2]>;

#[derive(Debug, Default)]
struct Shard {
    pages: HashMap<u64, Page>,
    /// By address.
    published: HashMap<u64, Published>,
}

/// The accesses to global memory of a launch.
#[derive(Debug)]
pub(crate) struct Global {
    shards: Vec<Mutex<Shard>>,
}

impl Default for Global {
    fn default() -> Self {
        Global { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Global {
    fn shard(&self, page: u64) -> MutexGuard<'_, Shard> {
        let at = (page ^ page >> 6 ^ page >> 12) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write {
        /// Whether the bytes are there already, which does no harm to the write before.
        same: bool,
    },
    Strong(Kind, Order),
}

impl Touch {
    fn reads_only(self) -> bool {
        matches!(self, Touch::Read | Touch::Strong(Kind::Read, _))
    }
}

/// Keeps an access in the place of one that comes before it. Where there is none, accesses of two clusters are kept if there
/// were any: whether clusters that nothing orders race does then not depend on which of them is the first.
fn remember(slots: &mut [Mark; 2], new: Mark, before: impl Fn(&Mark) -> bool) {
    let [a, b] = &slots;
    let first = before(a) || !before(b) && a.cluster != b.cluster && a.cluster == new.cluster;
    slots[usize::from(!first)] = new;
}

/// An access to global memory that an earlier one races with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) address: u64,
    pub(crate) access: Access,
    pub(crate) other: Mark,
    /// Whether both write, and the same values.
    pub(crate) same: bool,
}

impl Shadow {
    /// An access to global memory. What a strong one publishes must be there before its value, and what it learns be
    /// looked for after it: `publish` and `learn`.
    pub(crate) fn global(
        &mut self,
        global: &Global,
        who: Who,
        address: u64,
        bytes: u64,
        touch: Touch,
    ) -> Result<(), Conflict> {
        let (mut at, end, mut found) = (address, address + bytes, Ok(()));
        while at < end {
            let page = at / PAGE;
            let upto = end.min((page + 1) * PAGE);
            let mut shard = global.shard(page);
            let page = shard.pages.entry(page).or_default();
            found = found.and(self.touch(page, who, at, upto - at, touch));
            at = upto;
        }
        found
    }

    fn touch(
        &mut self,
        page: &mut Page,
        who: Who,
        address: u64,
        bytes: u64,
        touch: Touch,
    ) -> Result<(), Conflict> {
        let new = Mark { cluster: self.cluster_number, stamp: self.stamp(who) };
        let weak = !matches!(touch, Touch::Strong(..));
        let same = touch == Touch::Write { same: true };
        let clock = &self.clocks[who.warp as usize];
        let past = clock.past(who);
        let before = |mark: &Mark| match mark.stamp.clock == 0 || mark.cluster == self.cluster_number {
            true => past.has(&mark.stamp),
            false => clock.other(who.lane, mark.cluster).is_some_and(|known| known.has(&mark.stamp)),
        };
        let mut found: Option<Conflict> = None;
        for i in page.cells_of(address % PAGE, bytes) {
            let cell = &mut page.cells[i];
            let address = address / PAGE * PAGE + ((i as u64) << page.granule);
            let mut conflict = |access, other: &Mark| {
                let same = same && access == Access::Write;
                // Compilers let threads of a block that have the same element all write it.
                let alike = same && (other.cluster, other.stamp.source) == (new.cluster, new.stamp.source);
                if !alike && found.is_none_or(|found| found.same && !same) {
                    found = Some(Conflict { address, access, other: *other, same });
                }
            };
            if !before(&cell.write) {
                conflict(Access::Write, &cell.write);
            }
            if let Some(read) = cell.reads.iter().find(|read| !touch.reads_only() && !before(read)) {
                conflict(Access::Read, read);
            }
            if weak && let Some(strong) = page.strong.get(&i) {
                if let Some(write) = strong.writes.iter().find(|write| !before(write)) {
                    conflict(Access::Write, write);
                }
                if let Some(read) = strong.reads.iter().find(|read| !touch.reads_only() && !before(read)) {
                    conflict(Access::Read, read);
                }
            }
            match touch {
                Touch::Read => remember(&mut cell.reads, new, before),
                Touch::Write { .. } => {
                    *cell = Cell { write: new, reads: [Mark::default(); 2] };
                    page.strong.remove(&i);
                }
                Touch::Strong(kind, _) => {
                    let strong = page.strong.entry(i).or_default();
                    let slots = if kind == Kind::Read { &mut strong.reads } else { &mut strong.writes };
                    remember(slots, new, before);
                }
            }
        }
        found.map_or(Ok(()), Err)
    }

    /// What a strong write publishes; before the value is there.
    pub(crate) fn publish(&mut self, global: &Global, who: Who, address: u64, kind: Kind, order: Order) {
        let mut shard = global.shard(address / PAGE);
        let published = shard.published.entry(address).or_default();
        // An atomic continues what the writes before it released; a store begins anew.
        if kind == Kind::Write {
            published.clear();
        }
        let mut view = View::default();
        self.clocks[who.warp as usize].publish(1 << who.lane, order.release, &mut view);
        let View { known, proxied, others } = view;
        let [to, to_proxied] = published.entry(self.cluster_number).or_default();
        to.join(&known);
        to_proxied.join(&proxied);
        for (cluster, known) in &others {
            published.entry(*cluster).or_default()[0].join(known);
        }
    }

    /// What a strong read learns; after it has the value.
    pub(crate) fn learn(&mut self, global: &Global, who: Who, address: u64, order: Order) {
        let shard = global.shard(address / PAGE);
        let Some(published) = shard.published.get(&address) else { return };
        let mut view = View::default();
        for (cluster, [known, proxied]) in published {
            if *cluster == self.cluster_number {
                view.known.join(known);
                view.proxied.join(proxied);
            } else {
                view.others.insert(*cluster, known.clone());
            }
        }
        self.clocks[who.warp as usize].observe(1 << who.lane, order.acquire, &view);
    }
}
