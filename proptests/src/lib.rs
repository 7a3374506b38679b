//! Strategies, an oracle, and the laws that the crates are tested against (see `tests/`).
//!
//! The strategies are public: they serve whoever wants to test a layout computation of their own.

pub mod binding;
pub mod differential;
pub mod numeric;
pub mod oracle;
pub mod soak;
pub mod strategies;

/// The examples of `docs/layout-algebra.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/layout-algebra.md")]
mod layout_algebra {}

/// The examples of `docs/cute-phrasebook.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cute-phrasebook.md")]
mod cute_phrasebook {}
