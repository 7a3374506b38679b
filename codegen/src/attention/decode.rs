//! Decode attention: a few queries of each sequence against a long KV cache (Flash-Decoding).
//!
//! Decode is bound by memory, so K and V are read once. A tile has a row for each query and each of the query heads that share a head of K and V
//! (GQA). If a tile has few rows, the warps of a block share the keys of a KV tile, and combine their accumulators at the end. `cp.async` loads KV
//! tiles through a ring in shared memory, from a contiguous or a paged cache. Keys after a sequence's length are not read.
//!
//! The keys of a sequence are split among blocks, so that a small batch fills a GPU too. A block stores its normalised rows, their maxima and
//! their sums of exponentials to a workspace. A second kernel ([`generate_sum`]) does the split-KV combine.
//! If a sequence has one split, its block stores O. The lengths of sequences are in memory, so that a
//! launch serves all lengths up to the capacity of the cache.

mod block;
mod cache;
mod config;
mod fragments;
mod interface;
mod result;
mod rows;
mod share;
mod sum;
mod tensors;
mod weights;

pub use config::{DecodeConfig, DecodeFeatures};
pub use interface::{Arguments, DecodeKernel, MAX_PAGE_STRIDE, MAX_PAGES};
pub use share::{KEYS, MAX_PARTS, MAX_TILES};

use crate::builder::Builder;
use crate::error::AttentionError;
use crate::{Error, Kernel};
use interface::{Interface, Pass};

/// The most keys of a sequence: index arithmetic stays in 32 bits.
pub const MAX_KEYS: i64 = 1 << 28;
/// Threads of a block of both kernels.
pub const THREADS: u32 = 128;

/// Generates the kernel that attends to the keys, for a grid of splits, heads of K and V, and tiles of rows of all batches: the number of
/// a tile is that of its heads, plus the number of tiles of heads times that of its queries; the tiles of a batch follow each other.
///
/// # Errors
/// [`Error::Attention`] for a configuration that cannot be built.
///
/// # Examples
/// ```
/// use girih_codegen::attention::decode::{DecodeConfig, DecodeFeatures, generate};
/// use girih_tensor::DType;
///
/// // Eight query heads share K and V, which lie in pages of 16 keys.
/// let config = DecodeConfig {
///     name: "decode",
///     dtype: DType::Bf16,
///     cache: DType::Bf16,
///     head_dim: 128,
///     rows: [8, 2],
///     page: Some(16),
///     stages: 3,
///     min_blocks: 2,
///     features: DecodeFeatures::default(),
/// };
/// let text = generate(&config)?.kernel.module().to_string();
/// assert!(text.contains("cp.async.cg.shared.global") && text.contains("mma.sync"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn generate(config: &DecodeConfig) -> Result<DecodeKernel, Error> {
    build(config, config.name, Pass::Attend, block::emit)
}

/// Generates the kernel `name` that adds up the splits, for a grid of queries, heads of Q, and batches.
///
/// # Errors
/// [`Error::Attention`] for a configuration without splits, or one that cannot be built.
pub fn generate_sum(config: &DecodeConfig, name: &'static str) -> Result<DecodeKernel, Error> {
    if !config.features.parts {
        return Err(AttentionError::NoSplits {}.into());
    }
    build(config, name, Pass::Sum, sum::emit)
}

fn build(
    config: &DecodeConfig,
    name: &'static str,
    pass: Pass,
    emit: impl FnOnce(&mut Builder, &mut Interface<'_>) -> Result<(), Error>,
) -> Result<DecodeKernel, Error> {
    config.check()?;
    let mut b = Builder::new(name, config.sm(), THREADS);
    if pass == Pass::Attend {
        b.min_blocks(config.min_blocks);
    }
    let mut interface = Interface::new(&mut b, config, pass)?;
    emit(&mut b, &mut interface)?;
    let kernel: Kernel = b.finish()?;
    Ok(interface.into_kernel(kernel))
}
