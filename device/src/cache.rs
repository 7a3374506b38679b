//! The modules that a device has loaded, so that the same text is compiled once.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use girih_ptx as ptx;

use crate::{Device, Error, Optimization, module::Loaded};

/// What code is loaded from: a text, what is known beside it, and how far the compiler goes.
pub(crate) struct Source {
    text: String,
    notes: ptx::Notes,
    optimization: Optimization,
}

impl Source {
    fn new(module: &ptx::Module, optimization: Optimization) -> Source {
        Source { text: module.to_string(), notes: module.notes.clone(), optimization }
    }

    pub(crate) fn optimization(&self) -> Optimization {
        self.optimization
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.text, self.optimization).hash(&mut hasher);
        hasher.finish()
    }

    /// Whether code loaded from this source serves for the other one, whose module is `module`, as well.
    fn serves(&self, other: &Source, module: &ptx::Module) -> bool {
        self.optimization == other.optimization
            && self.text == other.text
            && same_notes(&self.notes, &other.notes, module, &self.text)
    }
}

/// Whether two notes say the same of a module: the simulator checks the claims and tells of the sites, a launch checks the facts.
fn same_notes(a: &ptx::Notes, b: &ptx::Notes, module: &ptx::Module, text: &str) -> bool {
    let launches = |item: &ptx::Item| match item {
        ptx::Item::Kernel(kernel) => a.launch(&kernel.name) == b.launch(&kernel.name),
        _ => true,
    };
    let lines = 1..=u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    a.is_empty() == b.is_empty()
        && a.are_of(text) == b.are_of(text)
        && a.claims() == b.claims()
        && module.items.iter().all(launches)
        && lines.into_iter().all(|line| a.site(line) == b.site(line))
}

/// The loaded modules of one hash that are still used.
type Slot = Arc<Mutex<Vec<Weak<Loaded>>>>;

/// The loaded modules of a device by their sources. It keeps none of them loaded.
#[derive(Default)]
pub(crate) struct Cache {
    slots: Mutex<HashMap<u64, Slot>>,
}

impl Cache {
    /// The code of a module: what was loaded from the same source before, if that is still used, or what is loaded now. Threads
    /// that ask for the same source at a time wait for one of them to load it.
    pub(crate) fn load(
        &self,
        device: &Device,
        module: &ptx::Module,
        optimization: Optimization,
    ) -> Result<Arc<Loaded>, Error> {
        let source = Source::new(module, optimization);
        let slot = self.slot(source.hash());
        let mut known = lock(&slot);
        if let Some(loaded) =
            known.iter().filter_map(Weak::upgrade).find(|loaded| loaded.source().serves(&source, module))
        {
            return Ok(loaded);
        }
        let loaded = Arc::new(Loaded::load(device, module, source)?);
        known.retain(|loaded| loaded.strong_count() > 0);
        known.push(Arc::downgrade(&loaded));
        Ok(loaded)
    }

    fn slot(&self, hash: u64) -> Slot {
        let mut slots = lock(&self.slots);
        // Nobody else can take a slot out of the map now, so one that only the map has is not being filled.
        slots.retain(|&other, slot| {
            other == hash
                || Arc::strong_count(slot) > 1
                || lock(slot).iter().any(|loaded| loaded.strong_count() > 0)
        });
        slots.entry(hash).or_default().clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod tests;
