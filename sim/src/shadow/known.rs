//! Sets of accesses as vector clocks: a set contains all accesses of each component up to a clock.

use std::collections::BTreeMap;

use super::Stamp;
use super::accesses::Accesses;
use super::maps::Released;
use super::scope::Pools;
use crate::lanes::WARP;

/// All lanes of a warp.
pub(super) const ALL: u32 = u32::MAX;

/// A set of accesses: for each lane of each component, the clock up to which the set has the accesses. Lanes that are
/// ordered together have the same clock, which is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// For each component, the clock up to which the set has the accesses of all lanes; 0 for components beyond the
    /// end.
    common: Vec<u32>,
    /// For components of which the set has more of some lanes than of others: the clock of each lane.
    lanes: BTreeMap<u32, Box<[u32; WARP]>>,
}

/// A [`Known`] with a slice of its common clocks at hand, for many queries in a row.
#[derive(Clone, Copy)]
pub(super) struct Frontier<'a> {
    common: &'a [u32],
    known: &'a Known,
}

impl Frontier<'_> {
    /// Whether the set has an access.
    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        let component = stamp.thread / WARP as u32;
        stamp.clock <= self.common(component) || !self.known.lanes.is_empty() && self.known.lane_has(stamp)
    }

    /// The lanes whose accesses of these the set does not have.
    #[inline]
    pub(super) fn missing(&self, of: &Accesses) -> u32 {
        match of.clock <= self.common(of.warp) {
            true => 0,
            false => of.lanes & !self.known.lanes_with(of),
        }
    }

    #[inline]
    fn common(&self, component: u32) -> u32 {
        self.common.get(component as usize).copied().unwrap_or(0)
    }
}

impl Known {
    #[inline]
    pub(super) fn frontier(&self) -> Frontier<'_> {
        Frontier { common: &self.common, known: self }
    }

    /// Whether the set has an access.
    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        self.frontier().has(stamp)
    }

    #[cold]
    fn lanes_with(&self, of: &Accesses) -> u32 {
        let Some(row) = self.lanes.get(&of.warp) else { return 0 };
        (0..WARP).filter(|&lane| of.clock <= row[lane]).map(|lane| 1 << lane).sum()
    }

    #[cold]
    fn lane_has(&self, stamp: &Stamp) -> bool {
        let row = self.lanes.get(&(stamp.thread / WARP as u32));
        row.is_some_and(|row| stamp.clock <= row[stamp.thread as usize % WARP])
    }

    #[inline]
    fn common(&self, component: u32) -> u32 {
        self.frontier().common(component)
    }

    /// Adds what these lanes of a component did up to a clock.
    pub(super) fn raise(&mut self, component: u32, lanes: u32, clock: u32) {
        let common = self.common(component);
        if clock <= common {
            return;
        }
        if lanes == ALL {
            raise(&mut self.common, component, clock);
        } else {
            let row = self.lanes.entry(component).or_insert_with(|| Box::new([common; WARP]));
            crate::lanes::lanes_of(lanes).for_each(|lane| row[lane] = clock.max(row[lane]));
        }
        self.settle();
    }

    pub(super) fn join(&mut self, from: &Known) {
        if self.common.len() < from.common.len() {
            self.common.resize(from.common.len(), 0);
        }
        self.common.iter_mut().zip(&from.common).for_each(|(to, &from)| *to = from.max(*to));
        for (component, from) in &from.lanes {
            let row = self.lanes.entry(*component).or_insert_with(|| from.clone());
            row.iter_mut().zip(from.iter()).for_each(|(to, &from)| *to = from.max(*to));
        }
        self.settle();
    }

    /// Raises the common clock of a component to what all its lanes have, and drops the lanes' clocks that say no more.
    fn settle(&mut self) {
        let Known { common, lanes } = self;
        lanes.retain(|&component, row| {
            let least = row.iter().copied().min().unwrap_or(0);
            let common = raise(common, component, least);
            row.iter_mut().for_each(|clock| *clock = common.max(*clock));
            row.iter().any(|&clock| clock > common)
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.common.is_empty() && self.lanes.is_empty()
    }
}

/// Raises the clock of a component to at least `clock`, and returns it.
fn raise(common: &mut Vec<u32>, component: u32, clock: u32) -> u32 {
    let component = component as usize;
    if common.len() <= component {
        common.resize(component + 1, 0);
    }
    common[component] = clock.max(common[component]);
    common[component]
}

/// The memory that a `fence.proxy.async` covers. Shared memory has two windows: `.shared::cluster` covers that of the
/// whole cluster, `.shared::cta` that of the fencing thread's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Cluster,
    Cta,
    Global,
}

/// How many windows there are.
pub(super) const WINDOWS: usize = 3;

/// The known accesses of another cluster: those that come before, and those of them that a proxy fence of global memory covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) known: Known,
    pub(super) proxied: Known,
}

/// The state of Fence-SC order. `before` is the past of the `.sc` fences that come before; `met` is the past of the `.sc` fences that precede a write
/// whose value has been read, and joins `before` at the next `.sc` fence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) before: Pools,
    pub(super) met: Pools,
}

/// The accesses that happen before a point: the knowledge of a thread, or of one side of a synchronisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The cluster whose accesses `known` and `proxied` are; none while both are empty.
    cluster: Option<u32>,
    /// The accesses that come before.
    pub(super) known: Known,
    /// For each window, the accesses of the generic proxy that come before and that the async proxy sees, as a proxy
    /// fence of the window came between.
    pub(super) proxied: [Known; WINDOWS],
    /// The accesses of other clusters that come before, by the number of the cluster.
    pub(super) others: BTreeMap<u32, Other>,
    pub(super) sequence: Option<Box<Sequence>>,
    /// The writes that have been released to those who acquire tensor maps.
    pub(super) released: Option<Box<Released>>,
}

impl View {
    /// An empty view of a thread of this cluster.
    pub(super) fn of(cluster: u32) -> Self {
        View { cluster: Some(cluster), ..View::default() }
    }

    /// Adds what another view has; the other may be of another cluster.
    pub(super) fn join(&mut self, from: &View) {
        let Some(source) = from.cluster else { return self.join_sequence(from) };
        let own = *self.cluster.get_or_insert(source);
        if own == source {
            self.known.join(&from.known);
            self.proxied.iter_mut().zip(&from.proxied).for_each(|(to, from)| to.join(from));
        } else {
            let other = self.others.entry(source).or_default();
            other.known.join(&from.known);
            other.proxied.join(&from.proxied[Window::Global as usize]);
        }
        if let Some(from) = &from.released {
            self.released.get_or_insert_default().join(from, own, source);
        }
        for (&cluster, from) in &from.others {
            let (known, proxied) = if cluster == own {
                (&mut self.known, &mut self.proxied[Window::Global as usize])
            } else {
                let other = self.others.entry(cluster).or_default();
                (&mut other.known, &mut other.proxied)
            };
            known.join(&from.known);
            proxied.join(&from.proxied);
        }
        self.join_sequence(from);
    }

    fn join_sequence(&mut self, from: &View) {
        if let Some(from) = &from.sequence {
            let to = self.sequence.get_or_insert_default();
            to.before.join(&from.before);
            to.met.join(&from.met);
        }
    }

    /// The async proxy sees what comes before, in these windows.
    pub(super) fn fence_proxy(&mut self, windows: &[Window]) {
        for &window in windows {
            self.proxied[window as usize].join(&self.known);
        }
        if windows.contains(&Window::Global) {
            self.others.values_mut().for_each(|other| other.proxied.join(&other.known));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.others.is_empty() && self.sequence.is_none()
    }

    pub(super) fn clear(&mut self) {
        *self = View::default();
    }
}
