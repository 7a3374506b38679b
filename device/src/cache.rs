//! The modules that a device has loaded, so that the same text is compiled once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use girih_ptx as ptx;

use crate::{Assembled, Error, Optimization, backend::Backend, source::Source, stream::Loaded};

/// The loaded modules whose sources have the same hash.
type Slot = Arc<Mutex<Vec<Weak<Loaded>>>>;

/// The modules that a device has loaded, by the hashes of their sources, and the code that it was provided with, by text. The cache keeps no
/// module loaded.
#[derive(Default)]
pub(crate) struct Cache {
    slots: Mutex<HashMap<u64, Slot>>,
    provided: Mutex<HashMap<String, Arc<Assembled>>>,
}

impl Cache {
    /// The code of a module. Code that was loaded from the same source and is still used is returned again; otherwise the code is
    /// loaded now. When several threads ask for the same source at the same time, one of them loads it and the others wait.
    pub(crate) fn load(
        &self,
        backend: &dyn Backend,
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
        let built = self.provided(&source);
        let loaded = Arc::new(Loaded::load(backend, module, source, built.as_deref())?);
        known.retain(|loaded| loaded.strong_count() > 0);
        known.push(Arc::downgrade(&loaded));
        Ok(loaded)
    }

    /// Keeps code that was built ahead of time of modules with this text.
    pub(crate) fn provide(&self, text: &str, built: &Arc<Assembled>) {
        lock(&self.provided).insert(text.to_string(), built.clone());
    }

    fn provided(&self, source: &Source) -> Option<Arc<Assembled>> {
        let optimized = source.optimization() == Optimization::Full;
        lock(&self.provided).get(source.text()).filter(|_| optimized).cloned()
    }

    fn slot(&self, hash: u64) -> Slot {
        let mut slots = lock(&self.slots);
        // A thread that loads holds the slot of its source. While the map is locked no thread can get a slot from it, so a slot that
        // only the map holds is not being filled.
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
