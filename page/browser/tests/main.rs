//! The page as people have it: in a browser, by mouse and keyboard, light and dark, in small and in large windows.
//!
//! What a person waits for is measured and printed: run with `--nocapture`. Pictures of all views are stored in the folder that
//! `GIRIH_PICTURES` names.

mod frame;
mod kernels;
mod layouts;
mod partitions;
mod people;
mod recording;
mod tiles;

use std::env;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use girih_page_browser::{Browser, Server};

/// A view in a browser.
pub(crate) struct Session {
    pub(crate) browser: Browser,
    server: Server,
    /// One browser at a time, since they measure.
    _turn: MutexGuard<'static, ()>,
}

/// The windows in which views are looked at.
pub(crate) const WINDOWS: [(u32, u32); 3] = [(390, 844), (768, 1024), (1280, 800)];

static TURN: Mutex<()> = Mutex::new(());

impl Session {
    /// Starts a browser at a view, which is the fragment of the address.
    pub(crate) fn at(fragment: &str) -> Session {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut session = Session { browser: Browser::start(), server: Server::start(), _turn: turn };
        session.browser.looks(1600, 1000, 1, false);
        session.open(fragment);
        session
    }

    pub(crate) fn open(&mut self, fragment: &str) {
        self.browser.open(&format!("{}#{fragment}", self.server.address));
        self.browser.until("document.querySelector('[role=tab]')");
    }

    /// Pictures of what is shown: light and dark, on a telephone, a tablet and a desk, on coarse and on fine screens. Nothing may be cut off at
    /// the right.
    pub(crate) fn pictures(&mut self, name: &str, ready: &str) {
        for (width, height) in WINDOWS {
            for (ratio, dark) in [(1, false), (1, true), (2, false), (2, true)] {
                self.browser.looks(width, height, ratio, dark);
                self.browser.until(ready);
                // A view draws again when the window has kept its size for a moment.
                self.browser.value("new Promise((done) => setTimeout(() => done(1), 200))");
                let wide = self.browser.number("document.documentElement.scrollWidth");
                assert!(wide <= f64::from(width), "{name} is {wide} pixels wide in a window of {width}");
                let file = format!("{name}-{width}-{ratio}x-{}.png", if dark { "dark" } else { "light" });
                self.browser.shoot(&pictures().join(file));
            }
        }
        self.browser.looks(1600, 1000, 1, false);
    }

    /// Sets a field as a person's typing does, and gives the milliseconds until `ready` holds and the frame after it is drawn. Measured five
    /// times with the values in turn; the median.
    pub(crate) fn edit(&mut self, field: &str, values: [&str; 2], ready: &str) -> f64 {
        let mut times: Vec<f64> = (0..6)
            .map(|turn| {
                let value = values[turn % 2];
                self.browser.number(&format!(
                    "new Promise((done) => {{
                        const field = {field};
                        const value = {value:?};
                        const start = performance.now();
                        field.value = value;
                        field.dispatchEvent(new Event('input', {{ bubbles: true }}));
                        const look = () => {ready} ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))) : setTimeout(look, 0);
                        look();
                    }})"
                ))
            })
            .skip(1)
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    /// Ends the session: the page has run into no error, and has asked nobody but its own program.
    pub(crate) fn end(mut self, expected: &[&str]) {
        let errors = self.browser.errors();
        let unexpected: Vec<_> =
            errors.iter().filter(|error| !expected.iter().any(|known| error.contains(known))).collect();
        assert!(unexpected.is_empty(), "{unexpected:?}");
        for address in self.browser.asked() {
            let own = address.starts_with(&self.server.address) || address.starts_with("data:");
            assert!(own || address == "about:blank", "the page asks {address}");
        }
    }
}

fn pictures() -> PathBuf {
    env::var_os("GIRIH_PICTURES").map_or_else(|| env::temp_dir().join("girih-page"), PathBuf::from)
}

/// Prints a figure, and refuses one that is too large.
pub(crate) fn within(what: &str, milliseconds: f64, most: f64) {
    println!("{what}: {milliseconds:.1} ms (at most {most} ms)");
    assert!(milliseconds <= most, "{what} takes {milliseconds:.1} ms, more than {most} ms");
}
