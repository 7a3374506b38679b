//! Launches of tile kernels on devices.
//!
//! A [`Launch`] is safe: bounds are proved or checked, stores of different blocks are proved disjoint or stand under a waiver, and arrays
//! that a kernel writes overlap neither themselves nor other arguments.

mod array;
mod cache;
mod go;
mod request;
pub mod run;

pub use crate::error::LaunchError;
pub(crate) use array::is_injective;
pub use array::{DeviceArray, HostElement};
pub use request::{Launch, ScalarArgument};
