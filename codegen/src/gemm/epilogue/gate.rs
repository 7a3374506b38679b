//! Gated linear units: an epilogue makes one column of C of two neighbouring columns of the product.

use std::fmt;

use girih_layout::{Lay, lay};
use girih_tensor::{Engine, Tensor};

use super::{Epilogue, Node, Step};
use crate::Error;
use crate::error::GemmError;

/// A function of a single value, by which neural networks are not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// [`Epilogue::relu`].
    Relu,
    /// [`Epilogue::gelu`], by the hyperbolic tangent.
    Gelu,
    /// [`Epilogue::gelu_erf`].
    GeluErf,
    /// [`Epilogue::silu`].
    Silu,
}

/// The name as a key has it.
impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::Relu => "relu",
            Activation::Gelu => "gelu",
            Activation::GeluErf => "gelu_erf",
            Activation::Silu => "silu",
        })
    }
}

impl Epilogue {
    /// With a node that makes one column of C of two neighbouring columns of the product: `C[m,j] = activation(P[m,2j]) * P[m,2j+1]`, the
    /// gated linear units SwiGLU ([`Activation::Silu`]) and GeGLU ([`Activation::Gelu`]) (Shazeer, "GLU Variants Improve Transformer").
    /// Columns 2j of B are those of the gate and columns 2j+1 those of the other projection, so that C has half as many columns as B. Nodes
    /// before the gate compute with P, M x N, and read inputs of that shape, such as a bias whose values are laid out as B's columns do; nodes after
    /// it compute with C, M x N/2, and read inputs of C's shape.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{Activation, Epilogue, Input};
    /// use girih_tensor::DType;
    ///
    /// let swiglu = Epilogue::new().plus(Input::row("bias", DType::Bf16)).gated(Activation::Silu);
    /// assert_eq!(swiglu.key(), "plus row(bias: bf16), gated silu");
    /// assert!(swiglu.is_gated());
    /// ```
    #[must_use]
    pub fn gated(self, activation: Activation) -> Epilogue {
        let (key, inputs) = (format!("gated {activation}"), Vec::new());
        self.with(Node { key, inputs, reads_tiles: false, step: Step::Gate(activation) })
    }

    /// Whether C has half as many columns as the product ([`Epilogue::gated`]).
    pub fn is_gated(&self) -> bool {
        self.gate().is_some()
    }

    /// Whether an input is read after the gate, and so has C's shape and not that of the product.
    pub fn is_behind_gate(&self, name: &str) -> bool {
        let Some(gate) = self.gate() else { return false };
        self.nodes[gate..].iter().flat_map(|node| &node.inputs).any(|input| input.name == name)
    }

    /// The place of the gate among the nodes.
    fn gate(&self) -> Option<usize> {
        self.nodes.iter().position(|node| matches!(node.step, Step::Gate(_)))
    }

    /// Checks that there is one gate at most, and that no input is read on both sides of the gate.
    pub(in crate::gemm) fn check_gate(&self) -> Result<(), Error> {
        let Some(gate) = self.gate() else { return Ok(()) };
        let refused = |accepted| Err(GemmError::Gate { epilogue: self.key(), accepted }.into());
        if self.nodes[gate + 1..].iter().any(|node| matches!(node.step, Step::Gate(_))) {
            return refused("one with one gate");
        }
        if self.nodes[..gate]
            .iter()
            .flat_map(|node| &node.inputs)
            .any(|input| self.is_behind_gate(&input.name))
        {
            return refused("one with inputs of different names before and after the gate");
        }
        if self.transposed {
            return refused("a C of contiguous rows");
        }
        if !self.outputs().is_empty() {
            return refused("one without outputs besides C");
        }
        Ok(())
    }
}

/// A tile of C, (TileM,TileN/2), with each column for both columns of its pair, (TileM,(2,TileN/2)).
pub(in crate::gemm) fn for_pairs<E: Engine + Clone>(tile: &Tensor<E>) -> Result<Tensor<E>, Error> {
    let (rows, columns) = (tile.layout().mode(0)?, tile.layout().mode(1)?);
    let pairs = Lay::concat(&[lay!("2:0"), columns])?; // (2,TileN/2)
    Ok(Tensor::new(tile.engine().clone(), Lay::concat(&[rows, pairs])?))
}

/// The values of a thread's part of a tile that [`for_pairs`] made, each once.
pub(super) fn once_for_pairs<E: Engine + Clone>(part: &Tensor<E>) -> Result<Tensor<E>, Error> {
    let layout = part.layout();
    let leaves = (1..layout.leaf_count()).map(|leaf| {
        let (extent, stride) = layout.flat_leaf(leaf);
        Lay::leaf(extent, stride)
    });
    let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
    Ok(Tensor::new(part.engine().clone(), Lay::concat(&leaves)?))
}
