//! An oracle, and the laws that the crates are tested against (see `tests/`), over the strategies of girih-layout's feature
//! `proptest`.

pub mod binding;
pub mod differential;
pub mod numeric;
pub mod oracle;
pub mod soak;
pub mod tile_records;

pub use girih_layout::strategies;

/// The examples of `docs/layout-algebra.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/layout-algebra.md")]
mod layout_algebra {}

/// The examples of `docs/cute-phrasebook.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cute-phrasebook.md")]
mod cute_phrasebook {}
