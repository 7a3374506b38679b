//! Pictures of layouts, of atoms, tiled copies and MMAs, and of the banks of shared memory: tables of coloured cells, as text, SVG
//! or LaTeX. The commands `girih layout`, `girih show` and `girih tile explain --draw` print such pictures; other programs, such as
//! notebooks, call the constructors of [`Sheet`].
//!
//! All pictures have the colours of one [`Palette`]: a hue for each warp and a shade for each thread. Thin lines separate cells, thicker
//! lines the modes of a hierarchy, the thickest lines warps. An SVG is legible by itself in light and in dark surroundings; a page with
//! a theme of its own sets the CSS variables `--girih-paper`, `--girih-ink` and `--girih-faint`.
//!
//! ```
//! use girih_layout::{Shape, lay};
//! use girih_picture::Sheet;
//!
//! // The accumulator of mma.m16n8k16: thread 31 has value 3 in the last row and column.
//! let sheet = Sheet::owners(&lay!("((4,8),(2,2)):((32,1),(16,8))"), &Shape::parse("(16,8)")?)?;
//! assert_eq!(sheet.grids[0].cells[15][7].text(), "T31V3");
//! assert!(sheet.svg().starts_with("<svg ") && sheet.svg().contains(">T31V3</text>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]
#![forbid(unsafe_code)]

mod atoms;
mod banks;
mod error;
mod latex;
mod layouts;
mod limits;
mod palette;
mod sheet;
mod svg;

pub use error::Error;
pub use layouts::{By, levels, without_identity};
pub use limits::CELLS;
pub use palette::Palette;
pub use sheet::{Cell, Grid, Key, Sheet};
