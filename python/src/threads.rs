//! The threads that the simulator works on.

use std::panic::resume_unwind;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError::Timeout, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
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

/// How often a simulation is interrupted to see whether there is a signal.
const TICK: Duration = Duration::from_millis(50);

/// Runs a simulation without the GIL. If a signal comes meanwhile, Python's function for it is called, as that of Ctrl-C, and where it raises an
/// exception, `stop` is set, on which the simulation ends.
pub(crate) fn simulate<R: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    f: impl FnOnce() -> Result<R> + Send,
) -> Result<R> {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, ended) = channel::<()>();
            let work = scope.spawn(|| {
                // Dropped at the end, also where that is a panic.
                let _done = done;
                on_threads(f)
            });
            let mut raised = None;
            while ended.recv_timeout(TICK) == Err(Timeout) {
                if raised.is_none() {
                    raised = Python::attach(|py| py.check_signals()).err();
                    stop.store(raised.is_some(), Relaxed);
                }
            }
            let result = work.join().unwrap_or_else(|panic| resume_unwind(panic));
            stop.store(false, Relaxed);
            raised.map_or(result, |raised| Err(raised.into()))
        })
    })
}

/// Runs a function that works on rayon's threads. A forked process has rayon's pool, but none of the pool's threads: it makes a pool of its
/// own.
fn on_threads<R: Send>(f: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let own = process::id();
    if IMPORTER.get() == Some(&own) {
        return f();
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
    threads.pool.install(f)
}
