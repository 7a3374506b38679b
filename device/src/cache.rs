//! The modules that a device has loaded, so that the same text is compiled once.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use girih_ptx as ptx;

use crate::{Device, Error, Optimization, module::Loaded};

/// The source of loaded code: a text, the notes on it, and how far the compiler optimises.
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

    /// Whether the code of this source is also the code of another source, whose module is `module`.
    fn serves(&self, other: &Source, module: &ptx::Module) -> bool {
        self.optimization == other.optimization
            && self.text == other.text
            && same_notes(&self.notes, &other.notes, module, &self.text)
    }
}

/// Whether two notes say the same of a module. Notes matter to loaded code: the simulator checks the claims and reports the lines
/// of Rust, and a launch checks the facts about its parameters.
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
