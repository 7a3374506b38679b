//! `O = softmax(scale Q K^T) V` from layouts: scaled dot-product attention, forward.
//!
//! A block takes the rows of queries of a tile of one head, goes through the keys that these rows see a tile at a time, and keeps a maximum, a sum of
//! powers and the weighted sums of values for each row in registers (FlashAttention). Which tiles a block takes, a table in memory says
//! ([`QueryTile`]), so that one kernel serves all lengths, masks, groups of heads and packed sequences. Sizes and strides are parameters or stand
//! in tensor maps; an [`AttentionConfig`] holds tiles, atoms and facts. [`AttentionKernel::params`] tells what each parameter is.

mod config;
pub mod decode;
mod interface;
mod keys;
mod mask;
mod multistage;
mod ring;
mod scores;
mod softmax;
mod tile;

pub use config::{AttentionConfig, Features, Form};
pub use interface::{AttentionKernel, AttentionParam, Tensor4};
pub use multistage::Multistage;
pub use ring::Ring;
pub use tile::{MAX_LENGTH, QueryTile};

use crate::{Builder, Error};
use interface::Interface;

/// Generates the kernel of `config`.
///
/// # Errors
/// [`Error::Config`] for a configuration that cannot be built.
pub fn generate(config: &AttentionConfig) -> Result<AttentionKernel, Error> {
    config.check()?;
    let mut b = Builder::new(config.name, config.form.sm(), config.form.threads()?);
    let mut interface = Interface::new(&mut b, config)?;
    match &config.form {
        Form::Multistage(multistage) => multistage.emit(&mut b, &mut interface)?,
        Form::Ring(ring) => ring.emit(&mut b, &mut interface)?,
    }
    interface.into_kernel(b.finish()?)
}
