//! `C = A * B^T` from layouts, as a mainloop, a schedule and an epilogue.
//!
//! A is M x K, B is N x K, C is M x N with contiguous rows (a column-major C is the transposed problem). A kernel is put together
//! from three parts, which know nothing of each other:
//!
//! - The [`Mainloop`] brings tiles of A and B to the threads that multiply and leaves the sums of a tile of C in their registers.
//! - The [`Schedule`] says which block computes which tiles of C, and in which order.
//! - The [`Epilogue`] says what becomes of the sums: a value of its own, made of nodes that may have inputs of their own, as a
//!   bias or a residual. [`Store`] says by which way the results go to C.
//!
//! [`generate`] puts them together; a kernel with other parameters can contain a mainloop of its own ([`Multistage::mainloop`],
//! [`WarpSpecialized::mainloop`]). Sizes and pitches are parameters of the kernel: a [`GemmConfig`] holds nothing but tiles, atoms
//! and facts. What each parameter is, [`GemmKernel::params`] tells, so that one binder serves all kernels.

mod config;
mod emit;
mod epilogue;
mod interface;
mod mainloop;
mod schedule;

pub use crate::atom::Major;
pub use config::{GemmConfig, Store};
pub use epilogue::{Element, Epilogue, Input, InputKind};
pub use interface::{GemmKernel, MAX_EXTENT, Param};
pub use mainloop::{
    Consumer, Feed, Mainloop, Multistage, MultistageMainloop, Producer, SharedTile, Source, Sums,
    WarpSpecialized, WarpSpecializedMainloop, k_tiles,
};
pub use schedule::{MAX_TILES, Schedule, hilbert};

use crate::{Builder, Error};
use interface::Interface;

/// Generates the kernel of `config` with `epilogue`.
///
/// # Errors
/// [`Error::Config`] for a configuration that cannot be built, or inputs of the epilogue that share a name;
/// [`Error::Mismatch`] where tiles and atoms do not fit; what the epilogue's functions return.
pub fn generate(config: &GemmConfig, epilogue: &Epilogue) -> Result<GemmKernel, Error> {
    config.check()?;
    let mut b = Builder::new(config.name, config.sm(), config.threads()?);
    let mut interface = Interface::new(&mut b, config, epilogue)?;
    let partitions = match &config.mainloop {
        Mainloop::Multistage(multistage) => emit::multistage(&mut b, &interface, multistage)?,
        Mainloop::WarpSpecialized(parts) => emit::warp_specialized(&mut b, &mut interface, parts)?,
    };
    interface.into_kernel(b.finish()?, partitions)
}
