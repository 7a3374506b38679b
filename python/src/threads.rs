//! The threads that the simulator works on.

use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyOSError;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// The process that has imported the module.
static IMPORTER: OnceLock<u32> = OnceLock::new();
/// The threads of a process that was forked from it.
static FORKED: Mutex<Option<(u32, Arc<Threads>)>> = Mutex::new(None);

struct Threads {
    pool: ThreadPool,
    /// Functions alternate: a thread of the pool that waits for a part of one would begin the next one, and wait for what the first one has locked.
    turn: Mutex<()>,
}

/// Notes which process imports the module.
pub(crate) fn register() {
    IMPORTER.get_or_init(process::id);
}

/// Runs a function that works on rayon's threads. A forked process has rayon's pool, but none of the pool's threads: it makes a pool of its
/// own.
pub(crate) fn on_threads<R: Send>(f: impl FnOnce() -> R + Send) -> Result<R> {
    let own = process::id();
    if IMPORTER.get() == Some(&own) {
        return Ok(f());
    }
    let threads = {
        let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*forked {
            Some((process, threads)) if *process == own => threads.clone(),
            _ => {
                let made = ThreadPoolBuilder::new().build();
                let pool = made.map_err(|error| Error::from(PyOSError::new_err(error.to_string())))?;
                let threads = Arc::new(Threads { pool, turn: Mutex::new(()) });
                // The threads of a pool that the parent made are not there to be ended.
                std::mem::forget(forked.replace((own, threads.clone())));
                threads
            }
        }
    };
    let _turn = threads.turn.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(threads.pool.install(f))
}
