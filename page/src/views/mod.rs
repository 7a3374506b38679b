//! The views.

#[cfg(feature = "server")]
mod calls;
#[cfg(feature = "server")]
mod cells;
mod colours;
pub(crate) mod kernels;
#[cfg(feature = "server")]
mod layouts;
#[cfg(feature = "server")]
mod partitions;
#[cfg(feature = "server")]
mod tiles;

#[cfg(feature = "server")]
pub use calls::call;
#[cfg(feature = "server")]
pub(crate) use calls::names;
#[cfg(feature = "server")]
use calls::{Call, Nothing, answer, calls};
