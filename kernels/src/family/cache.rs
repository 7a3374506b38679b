//! Values that are made once for each key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by their keys. Threads that ask for different keys do not wait for each other. If several ask for one key, one of them makes the value, and the others
/// wait for it.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    /// The lock of the map is not held while a value is made.
    cells: Mutex<HashMap<K, Cell<V>>>,
    /// The most values that are kept.
    most: usize,
}

/// The value, once it is made. The thread that makes it holds the lock.
type Cell<V> = Arc<Mutex<Option<V>>>;

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache, which forgets its values before it has more than `most`.
    pub(crate) fn new(most: usize) -> Cache<K, V> {
        Cache { cells: Mutex::default(), most }
    }

    /// The value of a key, which `make` makes if it is not known. Of an error nothing is kept.
    pub(crate) fn get<E>(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let cell = self.cell(key);
        let mut value = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*value {
            return Ok(known.clone());
        }
        let made = make()?;
        *value = Some(made.clone());
        Ok(made)
    }

    fn cell(&self, key: &K) -> Cell<V> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cells.get(key) {
            return known.clone();
        }
        if cells.len() >= self.most {
            cells.clear();
        }
        cells.entry(key.clone()).or_default().clone()
    }

    /// How many values are kept. One that is being made does not count.
    pub(crate) fn len(&self) -> usize {
        let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.values().filter(|cell| cell.try_lock().is_ok_and(|value| value.is_some())).count()
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Default for Cache<K, V> {
    fn default() -> Cache<K, V> {
        Cache::new(usize::MAX)
    }
}
