//! `C = A * B^T` from layouts, as a mainloop, a schedule and an epilogue.
//!
//! A is M x K, B is N x K, C is M x N with contiguous rows (a column-major C is the transposed problem). A kernel consists
//! of three parts:
//!
//! - The [`Mainloop`] loads tiles of A and B and leaves the accumulators of a tile of C in registers. It does not depend on the other parts.
//! - The [`Schedule`] assigns tiles of C to blocks, in an order.
//! - The [`Epilogue`] computes C from the accumulators. It is a value made of nodes, and a node may have inputs, such as a
//!   bias or a residual. [`Store`] is the path of the results to C.
//!
//! [`generate`] combines the parts. A kernel with other parameters can contain a mainloop ([`Multistage::mainloop`],
//! [`WarpSpecialized::mainloop`]). Sizes and pitches are parameters of the kernel: a [`GemmConfig`] has only tiles, atoms
//! and facts. [`Arguments`] has what a launch computes, from which the argument of each parameter follows.

mod batch;
mod config;
mod emit;
mod epilogue;
mod interface;
mod kernel;
mod mainloop;
mod repitch;
mod scales;
mod schedule;

pub use crate::atom::Major;
pub use crate::params::{MAX_EXTENT, MAX_STRIDE};
pub use batch::{Batch, MAX_BATCHES};
pub use config::{GemmConfig, Store, outputs};
pub use epilogue::{Activation, Element, Epilogue, Input, InputKind, Output, Reduction};
pub use kernel::{Arguments, GemmKernel};
pub use mainloop::{
    BlockScales, Consumer, Feed, Mainloop, MixedInput, Multistage, MultistageMainloop, Producer, SharedTile,
    Source, Stages, Sums, WarpSpecialized, WarpSpecializedMainloop, k_tiles,
};
pub use repitch::{Repitch, RepitchConfig, Rows, repitch};
pub use schedule::{Handed, MAX_GROUPS, MAX_TILES, Piece, Pieces, Schedule, hilbert};

use crate::{Builder, Error};
use interface::Interface;

/// Generates the kernel of `config` with `epilogue`.
///
/// # Errors
/// [`Error::Gemm`] for a configuration that cannot be built, or inputs of the epilogue that share a name;
/// [`Error::Mismatch`] where tiles and atoms do not fit; the errors of the epilogue's functions.
pub fn generate(config: &GemmConfig, epilogue: &Epilogue) -> Result<GemmKernel, Error> {
    config.takes(epilogue)?;
    let mut b = Builder::new(config.name, config.sm(), config.threads()?);
    let mut interface = Interface::new(&mut b, config, epilogue)?;
    let partitions = match &config.mainloop {
        Mainloop::Multistage(multistage) => emit::multistage(&mut b, &mut interface, multistage)?,
        Mainloop::WarpSpecialized(parts) => emit::warp_specialized(&mut b, &mut interface, parts)?,
    };
    Ok(interface.into_kernel(b.finish()?, partitions))
}
