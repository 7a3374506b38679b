//! Placement: which thread holds which element of each tile.
//!
//! A [`Plan`] is a function whose values all have a [`Dist`], such that each operation can be lowered by itself. What the distributions
//! of an operation's operands and results must be to each other:
//!
//! | operation | rule |
//! |---|---|
//! | `Full`, `Dense`, `Iota`, `Load`, `Histogram` (result) | any |
//! | `Each`, `Cast`, `Bitcast` | operands and result are equal, values in the same order |
//! | `Broadcast` | the operand's is the result's, [`sliced`](Dist::slice) along the stretched modes |
//! | `Permute` | the result's is the operand's, [permuted](Dist::permute) |
//! | `Reduce` | operands are equal; the results' are the operands', sliced along the axis |
//! | `Scan` | operands and results are equal; along the axis by rising scale: values, then bits by rising number, then values |
//! | `Sort` | as `Scan`, and what covers the axis is a power of two |
//! | `Store`, `Print`, `Assert`, `Histogram` (operand) | any |
//! | `Gather`, `Scatter` | operands and result are equal |
//! | `Atomic` | operands and result are equal; of tiles (rank 1 and more) no bit moves nowhere: no thread holds a copy |
//! | `Reshape`, `Extract`, `Insert`, `Cat`, `Flip`, `Pack`, `Unpack`, `Convert` | any: elements are renamed where threads have them, else they go by shuffles or through shared memory |
//! | `For`, `Loop`, `If` | initial values, region arguments, what an end passes on, and results are equal |
//!
//! Every distribution [covers](Dist::covers) its value: along each mode a leaf's scale is the product of the extents of the leaves below.
//! Scalars are replicated: every thread holds them; so are the values of the region of a combination. Padding, which is what a
//! distribution covers beyond a tile's extents, holds anything; whoever combines elements masks it. Where bits move nowhere, threads hold
//! copies: an effect (`Store`, `Scatter`, `Print`, a scalar's `Atomic`) is the part of the threads whose such bits are 0, a histogram
//! counts their elements alone.
//!
//! [`Plan::verify`] checks this.

pub mod access;
mod assemble;
pub mod exchange;
mod naive;
mod rule;
mod verify;

use girih_codegen::plan::Dist;

use crate::error::Error;
use crate::ir::{Func, Value};

pub use naive::naive;

/// A function with the distribution of each value.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The function, in which placement has added [`Convert`](crate::ir::Kind::Convert) operations.
    pub func: Func,
    /// The distribution of each value, by its number.
    pub dists: Vec<Dist>,
    /// Threads of a block: a power of two, 32 or more.
    pub threads: u32,
}

impl Plan {
    /// A value's distribution.
    pub fn dist(&self, value: Value) -> &Dist {
        &self.dists[value.index()]
    }
}

/// Places a function for a device of this compute capability, such as 90: a pure function, the same of the same.
///
/// # Errors
/// [`Error::Place`] where no placement fits.
pub fn place(func: &Func, sm: u32) -> Result<Plan, Error> {
    let asked = func.hints.by_arch.get(&sm).and_then(|hints| hints.num_worker_warps);
    let warps = asked.or(func.hints.all.num_worker_warps).unwrap_or(4);
    Ok(naive(func, warps * 32))
}
