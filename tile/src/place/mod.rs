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
//! | `Scan`, `Sort` | operands and results are equal; along the axis, [`Plan`] says which orders of leaves are taken |
//! | `Store`, `Print`, `Assert`, `Histogram` (operand) | any |
//! | `Gather`, `Scatter`, `Atomic` | operands and result are equal |
//! | `Reshape`, `Extract`, `Insert`, `Cat`, `Flip`, `Pack`, `Unpack`, `Convert` | any: elements are renamed where threads have them, else they go by shuffles or through shared memory |
//! | `For`, `Loop`, `If` | initial values, region arguments, what an end passes on, and results are equal |
//!
//! Scalars are replicated: every thread holds them. Padding, which is what a distribution covers beyond a tile's extents, holds
//! anything; whoever combines elements masks it.

use girih_codegen::plan::Dist;

use crate::ir::{Func, Value};

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
