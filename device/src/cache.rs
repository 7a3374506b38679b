//! The modules that a device has loaded, so that the same text is compiled once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use girih_ptx as ptx;

use crate::{Error, Optimization, backend::Backend, source::Source, stream::Loaded};

/// The loaded modules whose sources have the same hash.
type Slot = Arc<Mutex<Vec<Weak<Loaded>>>>;

/// The modules that a device has loaded, by the hashes of their sources. The cache keeps no module loaded.
#[derive(Default)]
pub(crate) struct Cache {
    slots: Mutex<HashMap<u64, Slot>>,
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
        let loaded = Arc::new(Loaded::load(backend, module, source)?);
        known.retain(|loaded| loaded.strong_count() > 0);
        known.push(Arc::downgrade(&loaded));
        Ok(loaded)
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
