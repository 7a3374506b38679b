//! Launches of tile kernels on devices.
//!
//! A [`Launch`] is safe: bounds are proved or checked, stores of different blocks are proved disjoint or are under a waiver, and arrays
//! that a kernel writes overlap neither themselves nor other arguments.
//!
//! ```text
//! Launch --words of the call--> Entry of an equal call (memo.rs) --------------------------------------+
//!    \-- none: Program (cache.rs) --Uses: facts--> Ready --checks (check.rs)--> template (entry.rs) ---+--> run
//! ```
//!
//! The checks of a launch depend on the program, extents, strides, alignment and grid, on the values of scalars, and on addresses.
//! A launch with the program, extents, strides, alignment and grid of an earlier one reuses the result of its checks, and its prepared launch.
//! Only addresses are checked again, and scalars if a proof depends on them.

mod any;
mod array;
mod beyond;
mod cache;
mod check;
mod entry;
mod few;
mod go;
mod memo;
mod passed;
mod place;
mod prepared;
mod request;
pub mod run;
mod told;
#[doc(hidden)]
pub mod words;

pub use crate::error::{LaunchError, Warning, Warnings};
pub use any::AnyArray;
pub use array::{DeviceArray, HostElement};
pub(crate) use passed::Written;
pub(crate) use place::is_injective;
pub use prepared::Prepared;
pub use request::{Launch, ScalarArgument};
pub(crate) use words::stable_hash;
