//! Scopes: for which threads a strong operation counts (PTX ISA, "Scope", "Morally strong operations"), and what has
//! been released to the threads of each scope.

use std::collections::BTreeMap;

use super::known::View;

/// The scope of a strong operation or a fence. `.gpu` and `.sys` are one, as all threads are of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    #[default]
    Gpu,
}

/// Every scope, the narrowest first.
pub(super) const SCOPES: [Scope; 3] = [Scope::Cta, Scope::Cluster, Scope::Gpu];

/// The block of a thread: the cluster, and the block's rank in the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Home {
    pub(super) cluster: u32,
    pub(super) rank: u32,
}

impl Home {
    /// The narrowest scope of a thread of this block that includes the threads of another block.
    pub(super) fn scope_of(self, other: Home) -> Scope {
        match (self.cluster == other.cluster, self == other) {
            (_, true) => Scope::Cta,
            (true, false) => Scope::Cluster,
            (false, _) => Scope::Gpu,
        }
    }
}

/// A set of threads to which something can be released: all threads of the launch, those of one cluster, or those of
/// one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Domain {
    pub(super) scope: Scope,
    cluster: u32,
    rank: u32,
}

/// Which domains need to be distinguished in a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Domains {
    /// Whether the kernel names scopes that are narrower than `.gpu`. If it does not, all threads are one domain.
    pub(super) narrow: bool,
    /// Whether clusters have more than one block.
    pub(super) clusters: bool,
}

impl Domains {
    /// The domains that a thread is in, the widest first: for synchronisation in `global` memory, or in the cluster's
    /// shared memory, where the cluster is the widest.
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

/// The released clocks, by the domain whose threads may acquire them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pools(BTreeMap<Domain, View>);

impl Pools {
    pub(super) fn get(&self, domain: Domain) -> Option<&View> {
        self.0.get(&domain)
    }

    /// The clocks that threads of a domain may acquire, to be joined with others.
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
