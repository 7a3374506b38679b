//! Sets of accesses that come before something, as clocks up to which they do.

use std::collections::BTreeMap;

use super::Stamp;
use super::accesses::Accesses;
use super::maps::Released;
use super::scope::Pools;
use crate::lanes::WARP;

/// All lanes of a warp.
pub(super) const ALL: u32 = u32::MAX;

/// Of each component of the clocks up to which something is known: of a warp's lanes alike, as where they are ordered
/// together, or of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// What all lanes of each component have in common; 0 for those beyond the end.
    common: Vec<u32>,
    /// The clocks of each lane, of the components of which some lanes are known further than others.
    lanes: BTreeMap<u32, Box<[u32; WARP]>>,
}

/// What is known, to be asked often: the common clocks are at hand.
#[derive(Clone, Copy)]
pub(super) struct Frontier<'a> {
    common: &'a [u32],
    known: &'a Known,
}

impl Frontier<'_> {
    /// Whether it has an access.
    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        let component = stamp.thread / WARP as u32;
        stamp.clock <= self.common(component) || !self.known.lanes.is_empty() && self.known.lane_has(stamp)
    }

    /// Those of some accesses that it does not have.
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

    /// Whether it has an access.
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
            crate::exec::lanes(lanes).for_each(|lane| row[lane] = clock.max(row[lane]));
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

    /// What the lanes of a component have in common is not kept for each.
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

/// Makes a component at least `clock`; what it is then.
fn raise(common: &mut Vec<u32>, component: u32, clock: u32) -> u32 {
    let component = component as usize;
    if common.len() <= component {
        common.resize(component + 1, 0);
    }
    common[component] = clock.max(common[component]);
    common[component]
}

/// Memory that proxies see: the cluster's shared memory, by fences of all of it or of their own block's alone, and global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Cluster,
    Cta,
    Global,
}

/// How many windows there are.
pub(super) const WINDOWS: usize = 3;

/// What is known of another cluster: what comes before, and what of it with a proxy fence on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) known: Known,
    pub(super) proxied: Known,
}

/// Of fences that are `.sc`: what comes before those that come before, and before those that are before what has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) before: Pools,
    pub(super) met: Pools,
}

/// What one side of a synchronisation hands to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The cluster that `known` and `proxied` are of, once there is something in them.
    cluster: Option<u32>,
    /// What comes before.
    pub(super) known: Known,
    /// What comes before with a proxy fence of each window on the way: generic accesses that the async proxy sees.
    pub(super) proxied: [Known; WINDOWS],
    /// What comes before of other clusters, by their number.
    pub(super) others: BTreeMap<u32, Other>,
    pub(super) sequence: Option<Box<Sequence>>,
    /// What has been released to those who read tensor maps.
    pub(super) released: Option<Box<Released>>,
}

impl View {
    /// Nothing that comes before a thread of this cluster.
    pub(super) fn of(cluster: u32) -> Self {
        View { cluster: Some(cluster), ..View::default() }
    }

    /// Adds what comes before something else, which may be of another cluster.
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

    /// The async proxy sees what comes before in these windows.
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
