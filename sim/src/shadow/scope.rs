//! Scopes: which threads an operation goes together with (PTX ISA, "Scope", "Morally strong operations"), and what is handed
//! over by those that do.

use std::collections::BTreeMap;

use super::known::View;

/// The threads that a strong operation or a fence names. `.gpu` and `.sys` are one: all threads are of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    #[default]
    Gpu,
}

/// Every scope, the narrowest first.
pub(super) const SCOPES: [Scope; 3] = [Scope::Cta, Scope::Cluster, Scope::Gpu];

/// The block of a thread: its cluster, and its rank there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Home {
    pub(super) cluster: u32,
    pub(super) rank: u32,
}

impl Home {
    /// The narrowest scope of a thread here that holds the threads of another block.
    pub(super) fn scope_of(self, other: Home) -> Scope {
        match (self.cluster == other.cluster, self == other) {
            (_, true) => Scope::Cta,
            (true, false) => Scope::Cluster,
            (false, _) => Scope::Gpu,
        }
    }
}

/// The threads that a release with a scope meets: of everybody, of a cluster, of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Domain {
    pub(super) scope: Scope,
    cluster: u32,
    rank: u32,
}

/// Which domains a kernel has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Domains {
    /// Whether it names scopes that are narrower than the device; without them all are one domain.
    pub(super) narrow: bool,
    /// Whether clusters have several blocks.
    pub(super) clusters: bool,
}

impl Domains {
    /// The domains that a thread is in, the widest first: of global memory, or of the cluster's.
    pub(super) fn of(self, home: Home, global: bool) -> impl Iterator<Item = Domain> {
        let widest = match (global, self.clusters) {
            (true, _) => Scope::Gpu,
            (false, true) => Scope::Cluster,
            (false, false) => Scope::Cta,
        };
        let of = move |scope| Domain {
            scope,
            cluster: if scope == Scope::Gpu { 0 } else { home.cluster },
            rank: if scope == Scope::Cta { home.rank } else { 0 },
        };
        let has = move |scope| match scope {
            _ if scope == widest => true,
            Scope::Cluster => self.narrow && self.clusters && scope < widest,
            _ => self.narrow && scope < widest,
        };
        SCOPES.into_iter().rev().filter(move |&scope| has(scope)).map(of)
    }
}

/// What has been released, by the domain of those who may acquire it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pools(BTreeMap<Domain, View>);

impl Pools {
    pub(super) fn get(&self, domain: Domain) -> Option<&View> {
        self.0.get(&domain)
    }

    /// What those of a domain may acquire, to be added to.
    pub(super) fn of(&mut self, domain: Domain) -> &mut View {
        self.0.entry(domain).or_default()
    }

    pub(super) fn join(&mut self, from: &Pools) {
        for (domain, view) in &from.0 {
            self.of(*domain).join(view);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Pools::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
