//! `O = softmax(scale Q K^T) V` from layouts: scaled dot-product attention, forward.
//!
//! A block has a tile of queries of one head, and iterates over the KV tiles that these queries see. It keeps a maximum, a sum of
//! exponentials and the accumulator of P V for each row in registers (FlashAttention). A table in memory ([`QueryTile`]) assigns query tiles to
//! blocks, so one kernel serves all lengths, masks, grouped-query heads (GQA) and packed sequences (varlen). Sizes and strides are parameters or are
//! in tensor maps. An [`AttentionConfig`] has tiles, atoms and facts. [`Arguments`] has what a launch computes.
//!
//! # Examples
//! A kernel for Hopper: three warpgroups of 64 queries each, two tiles of 128 keys and as many of values in shared memory.
//!
//! ```
//! use girih_codegen::Value;
//! use girih_codegen::attention::{Arguments, AttentionConfig, Features, Form, Ring, Scores, generate};
//! use girih_tensor::DType;
//!
//! let config = AttentionConfig {
//!     name: "attention",
//!     form: Form::Ring(Ring { warpgroups: 3, stages: 2, buffers: 2, registers: [32, 160] }),
//!     dtype: DType::Bf16,
//!     head_dim: 128,
//!     value_dim: None,
//!     tile: [192, 128],
//!     features: Features { right: true, lse: true, ..Features::default() },
//! };
//! let kernel = generate(&config)?;
//! assert!(kernel.kernel.module().to_string().contains("wgmma.mma_async.sync.aligned.m64n128k16"));
//! // Which thread has which score, as a layout.
//! assert!(kernel.partitions.iter().any(|(name, _)| *name == "TV of scores"));
//! // Of Q, K, V and O the kernel takes tensor maps, and everything else follows from the arguments of a launch.
//! let (heads, row) = (16, 16 * 128);
//! let arguments = Arguments {
//!     extents: [[4096, 128, heads, 1]; 4],
//!     strides: [[row, 128, 4096 * row]; 4],
//!     entries: 32,
//!     scores: Scores { scale: 0.125, ..Scores::default() },
//!     ..Arguments::default()
//! };
//! assert!(matches!(&kernel.params.values(&arguments)?[0], Value::Map(name, map) if &**name == "q" && map.dims[1] == 4096));
//! # Ok::<(), girih_codegen::Error>(())
//! ```

mod config;
pub mod decode;
mod interface;
mod keys;
mod mask;
mod multistage;
mod ring;
mod rows;
mod scores;
mod softmax;
mod tile;

pub use config::{AttentionConfig, Features, Form, Scores};
pub use interface::{Arguments, AttentionKernel, Tensor4};
pub use multistage::Multistage;
pub use ring::Ring;
pub use softmax::Softmax;
pub use tile::{MAX_LENGTH, QueryTile};

use crate::{Builder, Error};
use interface::Interface;

/// Generates the kernel of `config`.
///
/// # Errors
/// [`Error::Attention`] for a configuration that cannot be built.
pub fn generate(config: &AttentionConfig) -> Result<AttentionKernel, Error> {
    config.check()?;
    let mut b = Builder::new(config.name, config.form.sm(), config.form.threads()?);
    let mut interface = Interface::new(&mut b, config)?;
    match &config.form {
        Form::Multistage(multistage) => multistage.emit(&mut b, &mut interface)?,
        Form::Ring(ring) => ring.emit(&mut b, &mut interface)?,
    }
    Ok(interface.into_kernel(b.finish()?))
}
