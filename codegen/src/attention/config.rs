//! The configuration of an attention kernel.

use std::f64::consts::LOG2_E;

use girih_tensor::DType;

use super::{Multistage, Ring, Tensor4};
use crate::Error;

/// An attention kernel's configuration and facts. A kernel serves every length, every stride and every number of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttentionConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// How a tile is computed.
    pub form: Form,
    /// The dtype of Q, K, V and O.
    pub dtype: DType,
    /// The columns of the tiles of Q and K, and of V and O, in elements. Tensors of fewer columns are padded with zeros by the loads.
    pub head_dim: i64,
    /// The columns of the tiles of V and O, if they are fewer. Blocks share the columns of V and O along the second axis of the grid.
    pub value_dim: Option<i64>,
    /// The rows of a tile of Q, and those of a tile of K and V.
    pub tile: [i64; 2],
    /// The features of the kernel in addition to plain attention.
    pub features: Features,
}

/// The most columns of V that blocks share.
pub(super) const MAX_COLUMNS: i64 = 512;

/// How a tile is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Multistage: all threads copy and compute, with KV tiles in flight, for sm_80 and later and for any strides.
    Multistage(Multistage),
    /// Warp-specialised, with warpgroups that ping-pong on the tensor cores, for sm_90.
    Ring(Ring),
}

/// The features of a kernel in addition to attention of all queries to all keys. A kernel with fewer features is faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    /// Whether a query may not see all keys before the diagonal: query `i` sees key `j` if `j >= i + diagonal - left` ([`super::Arguments::window`]).
    pub left: bool,
    /// Whether a query may not see all keys after the diagonal: query `i` sees key `j` if `j <= i + diagonal + right` ([`super::Arguments::window`]).
    pub right: bool,
    /// Whether sequences follow each other in the tensors' rows, so that what is after the rows of one is another's: a tile does not read it
    /// as values, and does not write there.
    pub packed: bool,
    /// Whether scores go through `cap * tanh(score / cap)`.
    pub softcap: bool,
    /// The dtype of what is added to the scores, if something is.
    pub bias: Option<DType>,
    /// Whether the logsumexps are written.
    pub lse: bool,
    /// Whether a logit of each query head joins the sum of exponentials of each row, without a value.
    pub sinks: bool,
}

/// How scores become exponents of two. Kernels compute `2^(exponent * score)`, or with a cap `2^(exponent * tanh)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scores {
    /// The factor of the scores.
    pub scale: f32,
    /// The cap of scaled scores, which become `cap * tanh(score / cap)`.
    pub softcap: Option<f32>,
}

impl Scores {
    /// The factor after the tanh: the cap. Without a cap, the factor of the score: the scale.
    pub(super) fn outer(&self) -> f32 {
        self.softcap.unwrap_or(self.scale)
    }

    /// The factor that makes an exponent of the tanh, or without a cap of the score. With a bias, which is added to scaled scores, it is log2(e).
    pub(super) fn exponent(&self, has_bias: bool) -> f32 {
        let outer = if has_bias { 1.0 } else { self.outer() };
        (f64::from(outer) * LOG2_E) as f32
    }

    /// With a cap, what the score is multiplied by to be the exponent of the tanh, `1 - 2 / (1 + 2^(inner * score))`.
    pub(super) fn inner(&self) -> f32 {
        (f64::from(2.0 * (self.scale / self.outer())) * LOG2_E) as f32
    }

    fn bits(&self) -> (u32, Option<u32>) {
        (self.scale.to_bits(), self.softcap.map(f32::to_bits))
    }
}

/// Compares bits.
impl PartialEq for Scores {
    fn eq(&self, other: &Scores) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Scores {}

impl std::hash::Hash for Scores {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl Form {
    /// The architecture for which the kernel is written.
    pub fn sm(&self) -> u32 {
        match self {
            Form::Multistage(_) => 80,
            Form::Ring(_) => 90,
        }
    }

    /// Threads of a block.
    ///
    /// # Errors
    /// [`Error::Wide`] for more than 32 bits hold.
    pub fn threads(&self) -> Result<u32, Error> {
        match self {
            Form::Multistage(multistage) => multistage.threads(),
            Form::Ring(ring) => ring.threads(),
        }
    }
}

impl AttentionConfig {
    /// The columns of the tiles of a tensor in elements.
    pub fn columns(&self, tensor: Tensor4) -> i64 {
        match tensor {
            Tensor4::Q | Tensor4::K => self.head_dim,
            Tensor4::V | Tensor4::O => self.value_dim.unwrap_or(self.head_dim),
        }
    }

    /// The most columns of a tensor: those of its tiles, unless blocks share them.
    pub(super) fn most_columns(&self, tensor: Tensor4) -> i64 {
        match (tensor, self.value_dim) {
            (Tensor4::V | Tensor4::O, Some(_)) => MAX_COLUMNS,
            _ => self.head_dim,
        }
    }

    /// Whether the kernel takes a tensor by its tensor map, and not by its address. TMA would write after the end of a packed sequence.
    pub fn is_mapped(&self, tensor: Tensor4) -> bool {
        match self.form {
            Form::Multistage(_) => false,
            Form::Ring(_) => tensor != Tensor4::O || !self.features.packed,
        }
    }

    /// Of how many elements the addresses, strides and columns of the tensors are multiples.
    pub fn vector(&self) -> i64 {
        match self.form {
            Form::Multistage(multistage) => multistage.vector,
            Form::Ring(_) => 128 / i64::from(self.dtype.bits()),
        }
    }

    /// Checks what the kernel relies on.
    pub(super) fn check(&self) -> Result<(), Error> {
        match &self.form {
            Form::Multistage(multistage) => multistage.check(self),
            Form::Ring(ring) => ring.check(self),
        }
    }
}
