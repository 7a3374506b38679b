//! A local page that shows what girih computes: a server on 127.0.0.1 with one static page, and a JSON interface over the libraries.
//!
//! # How a view is added
//!
//! A view is a tab of the page: a Rust module that answers calls, and a JavaScript module that shows the answers.
//!
//! 1. `src/views/NAME.rs` has functions from a request (`serde::Deserialize`, fields that are unknown are refused) to an answer
//!    (`serde::Serialize`) or a [`Fault`], and lists them: `pub(super) const CALLS: &[Call] = calls! { "evaluate" => evaluate, ... };`.
//!    `src/views/mod.rs` names the module, and the list `VIEWS` of `src/views/calls.rs` has a line for it. The page asks `POST /api/NAME/evaluate`.
//! 2. `static/NAME.js` exports `{ title, mount(root, page) }`. `mount` fills the element `root` once and returns `{ show(params) }`, which is
//!    called with the `URLSearchParams` of the address whenever these change. `page.call("evaluate", body)` gives the answer or throws a
//!    `Fault`, `page.write(params)` puts the state of the view into the address. `static/views.js` has a line for the module, and
//!    `src/files.rs` one for the file.
//! 3. `static/ask.js` asks. `static/grid.js` draws tables of cells with hover, keyboard and a description for screen readers; `static/dom.js` makes elements.
//! 4. Tests of the calls are in `tests/NAME.rs`; those of the view in a browser in `browser/tests/NAME.rs`, which `cargo xtask people` runs.
//!
//! A call computes with girih's libraries and holds nothing that they hold; JavaScript places and colours what calls answer, and computes
//! nothing of layouts. A call answers the same for the same request: what one view remembers, it has in the address or in its own memory.
//!
//! # Recordings
//!
//! A [`Recording`] is the page of one launch as a file: the scripts of the view Kernels, with `recorded.js` in place of `ask.js`, which answers calls
//! from the file. Without the feature `server` there are recordings alone; the command line has no server.
//!
//! `girih-page --static page/static` serves the files of that folder in place of those in the binary, so that a change of theirs shows
//! after a reload.

#![forbid(unsafe_code)]

mod fault;
mod files;
#[cfg(feature = "server")]
mod guard;
#[cfg(feature = "server")]
pub mod server;
mod views;

pub use fault::{Fault, Span};
#[cfg(feature = "server")]
pub use guard::Refusal;
#[cfg(feature = "server")]
pub use views::call;
pub use views::kernels::recording::Recording;
