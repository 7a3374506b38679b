//! Outputs of an epilogue in addition to C.

use std::fmt;

use girih_tensor::DType;

use super::{Epilogue, InputKind, Node, Step};
use crate::Scalar;

/// How the values of several elements become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// The largest of their absolute values, NaN if one of them is NaN.
    AbsMax,
}

/// A number or a vector that a node of an epilogue writes ([`Epilogue::reduce`]): the values of all elements, or of those of a row or a
/// column of C, reduced to one (CUTLASS's `Sm90ScalarReduction`, `Sm90RowReduction` and `Sm90ColReduction`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The parameter's name. In a batch there is one more parameter, `batch_` before the name.
    pub name: String,
    /// The elements of C that are reduced to one value: all but [`InputKind::Matrix`] is accepted.
    pub kind: InputKind,
    /// How they are reduced.
    pub reduction: Reduction,
    /// The element type: that in which the nodes compute, f32, or f64 where the accumulators are f64.
    pub dtype: DType,
}

impl Reduction {
    /// The value as which an element takes part.
    pub(super) fn of(self, value: &Scalar) -> Scalar {
        match self {
            Reduction::Sum => value.clone(),
            Reduction::AbsMax => value.abs(),
        }
    }

    /// Two values that become one. 0 changes no value.
    pub(super) fn combine(self, x: &Scalar, y: &Scalar) -> Scalar {
        match self {
            Reduction::Sum => x + y,
            Reduction::AbsMax => x.maximum(y),
        }
    }
}

impl Output {
    /// One f32 for all elements.
    pub fn scalar(name: impl Into<String>, reduction: Reduction) -> Output {
        Output { name: name.into(), kind: InputKind::Scalar, reduction, dtype: DType::F32 }
    }

    /// A vector of N f32 values, one for each column of C.
    pub fn row(name: impl Into<String>, reduction: Reduction) -> Output {
        Output { name: name.into(), kind: InputKind::Row, reduction, dtype: DType::F32 }
    }

    /// A vector of M f32 values, one for each row of C.
    pub fn column(name: impl Into<String>, reduction: Reduction) -> Output {
        Output { name: name.into(), kind: InputKind::Column, reduction, dtype: DType::F32 }
    }

    /// The name of the distance of the output's vectors or numbers in a batch.
    pub fn batch_stride_name(&self) -> String {
        format!("batch_{}", self.name)
    }
}

/// Writes `reduction to kind(name: dtype)`, as in keys.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reduction = match self.reduction {
            Reduction::Sum => "sum",
            Reduction::AbsMax => "amax",
        };
        write!(f, "{reduction} to {}({}: {})", self.kind, self.name, self.dtype)
    }
}

impl Epilogue {
    /// With a node that reduces the values before it to `output`, and passes them on. The values are those of the accumulators' dtype or of f32,
    /// which C's dtype rounds after the last node. A launch gives the output by its name, in memory that nothing else of the launch uses,
    /// and the kernel writes all of it, whatever it held.
    ///
    /// Values are combined in an order that follows from the configuration alone: in a tile by its threads, then tile by tile, for which
    /// the tiles leave what they have in a workspace, and the last one combines it. So the same launch gives the same bits each time.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{Epilogue, Input, Output, Reduction};
    /// use girih_tensor::DType;
    ///
    /// // The sums of the columns of A * B^T, and the largest |gelu(...)|.
    /// let sums = Output::row("sums", Reduction::Sum);
    /// let epilogue = Epilogue::new().reduce(sums).gelu().amax("amax");
    /// assert_eq!(epilogue.key(), "sum to row(sums: f32), gelu, amax to scalar(amax: f32)");
    /// ```
    #[must_use]
    pub fn reduce(self, output: Output) -> Epilogue {
        let (key, inputs) = (output.to_string(), Vec::new());
        self.with(Node { key, inputs, reads_tiles: true, step: Step::Reduce(output) })
    }

    /// With a node that writes the largest absolute value before it to an f32, from which the scale of a narrow C can be made (cuBLASLt's
    /// `CUBLASLT_MATMUL_DESC_AMAX_D_POINTER`). [`Epilogue::reduce`] says more.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{Epilogue, Output, Reduction};
    ///
    /// let amax = Epilogue::new().amax("amax").scale("scale");
    /// assert_eq!(amax.outputs(), [Output::scalar("amax", Reduction::AbsMax)]);
    /// ```
    #[must_use]
    pub fn amax(self, name: impl Into<String>) -> Epilogue {
        self.reduce(Output::scalar(name, Reduction::AbsMax))
    }

    /// The epilogue's outputs other than C, in the order of the nodes that write them.
    pub fn outputs(&self) -> Vec<Output> {
        let outputs = self.nodes.iter().filter_map(|node| match &node.step {
            Step::Reduce(output) => Some(output.clone()),
            Step::Map(_) | Step::Gate(_) => None,
        });
        outputs.collect()
    }
}
