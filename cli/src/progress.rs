//! The progress of long operations, on stderr if that is a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::tell;

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// After which time a [`Notice`] is told.
const LONG: Duration = Duration::from_secs(5);
/// How often what is shown moves.
const TICK: Duration = Duration::from_millis(100);

/// Work whose end can't be foreseen. It is shown from a second after its beginning on, until it is dropped.
pub(crate) struct Busy {
    /// Both are there while something may be shown. Dropping the sender ends the thread.
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Busy {
    /// Work that has begun, in a word or two: "comparing with the reference".
    pub(crate) fn begin(what: impl Into<String>) -> Busy {
        if !std::io::stderr().is_terminal() {
            return Busy { shown: None };
        }
        let (until, ended) = channel();
        let what = what.into();
        Busy { shown: Some((until, std::thread::spawn(move || show(what, &ended)))) }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some((until, thread)) = self.shown.take() {
            drop(until);
            // The line is gone before anything else is printed.
            let _ = thread.join();
        }
    }
}

fn show(what: String, ended: &Receiver<()>) {
    let goes_on = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !goes_on(PATIENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style("{spinner} {msg}, {elapsed}"));
    bar.set_message(what);
    bar.set_elapsed(PATIENCE);
    loop {
        bar.tick();
        if !goes_on(TICK) {
            break bar.finish_and_clear();
        }
    }
}

/// A text that is told once if work takes longer than [`LONG`]; work ends when the value is dropped.
pub(crate) struct Notice(Option<(Sender<()>, JoinHandle<()>)>);

impl Notice {
    /// Work that has begun, and what is told if it takes long.
    pub(crate) fn begin(text: String) -> Notice {
        let (until, ended) = channel();
        let wait = move || {
            if ended.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                tell(&text);
            }
        };
        Notice(Some((until, std::thread::spawn(wait))))
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        if let Some((until, thread)) = self.0.take() {
            drop(until);
            let _ = thread.join();
        }
    }
}

/// Draws how many blocks of all blocks have run.
pub(crate) fn of_blocks(bar: ProgressBar) -> Arc<dyn Fn(u64, u64) + Send + Sync> {
    let (begun, shown) = (Instant::now(), Once::new());
    Arc::new(move |done, all| {
        if begun.elapsed() < PATIENCE {
            return;
        }
        shown.call_once(|| {
            bar.set_style(style("simulating {bar:40} {pos}/{len} blocks, {eta} left"));
            bar.set_length(all);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        });
        bar.set_position(done);
    })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
