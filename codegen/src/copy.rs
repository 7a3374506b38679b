//! Copies of tensors in global memory, from one layout to another, by kernels that follow from the two layouts.
//!
//! A copy has modes; each has an extent and a stride on both sides, so that coordinates correspond. A block copies a tile. Where the
//! tile is laid out alike on both sides, it goes through registers; where not, it goes through shared memory
//! ([`plan::staged_copy`](crate::plan::staged_copy)), so that both sides are accessed in vectors and neighbouring lanes access
//! neighbouring vectors.
//!
//! # Examples
//! ```
//! use girih_codegen::copy::{Caching, CopyConfig, Extent, Mode, Side, Through, Walk, generate};
//! use girih_tensor::DType;
//!
//! // A line of a multiple of 1024 elements, a tile of 1024 for each block, 4 elements for each access of a thread.
//! let side = Side { order: vec![0], run: 1, vector: 4, backwards: Vec::new() };
//! let config = CopyConfig {
//!     name: "copy",
//!     dtype: DType::F32,
//!     modes: vec![Mode { tile: 1024, extent: Extent::Multiple(1024), pad: None }],
//!     gather: None,
//!     dst: side.clone(),
//!     src: side,
//!     threads: 64,
//!     through: Through::Registers,
//!     walk: Walk { band: 1, persistent: false },
//!     caching: Caching::Normal,
//!     programmatic: false,
//! };
//! let text = generate(&config)?.kernel.module().to_string();
//! assert!(text.contains("ld.global") && text.contains(".v4"));
//! // More threads than the tile has vectors for.
//! assert!(generate(&CopyConfig { threads: 512, ..config }).is_err());
//! # Ok::<(), girih_codegen::Error>(())
//! ```

mod bulk;
mod config;
mod gather;
mod interface;
mod registers;
mod shared;
mod walk;

use girih_ptx::Special;

use crate::builder::Builder;
use crate::error::narrow;
use crate::{Error, Expr, Generated};
use interface::Interface;
use shared::Staging;
use walk::Walked;

pub use crate::builder::Caching;
pub use config::{CopyConfig, Extent, Gather, Mode, Side, Through, Walk};
pub use interface::{Arguments, CopyKernel};

/// Generates the kernel of `config`: `dst(c) = src(c)` for all coordinates `c`.
///
/// # Errors
/// [`Error::Copy`] or [`Error::Mismatch`] for a configuration that cannot be built.
pub fn generate(config: &CopyConfig) -> Result<CopyKernel, Error> {
    config.check()?;
    config.check_threads()?;
    let newer = config.programmatic || matches!(config.through, Through::Bulk { .. });
    let sm = if newer { 90 } else { 80 };
    let mut b = Builder::new(config.name, sm, narrow("threads", config.threads)?);
    let interface = Interface::declare(&mut b, config)?;
    let mut partitions = vec![("tile", config.tile_text())];
    let thread = b.special(Special::TidX);
    if config.programmatic {
        b.launch_dependent_grids();
        b.wait_on_dependent_grids();
    }
    b.cached(config.caching, |b| match config.through {
        Through::Registers => {
            let tv = config.partition()?; // (Thr,Val) -> the tile's
            partitions.push(("(Thr,Val)", tv.to_string()));
            let copy = if config.gather.is_some() { gather::copy } else { registers::copy };
            Walked::new(b, config, &interface)?
                .each(b, |b, at| copy(b, config, &interface, at, (&tv, &thread)))
        }
        Through::Shared => {
            let staging = Staging::new(b, config)?;
            staging.describe(&mut partitions);
            Walked::new(b, config, &interface)?
                .each(b, |b, at| staging.copy(b, config, &interface, at, &thread))
        }
        Through::Bulk { stages } => bulk::copy(b, config, &interface, stages),
    })?;
    Ok(Generated { kernel: b.finish()?, params: interface.params, partitions })
}

/// The block's coordinate of each mode, in tiles.
type At = Vec<Expr>;
