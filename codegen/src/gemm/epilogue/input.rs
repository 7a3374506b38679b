//! What an epilogue reads besides the accumulator.

use std::fmt;

use girih_tensor::DType;

use crate::Error;
use crate::engine::element_bytes;
use crate::error::GemmError;
use crate::gemm::GemmConfig;
use crate::tiled::mma::Operand;

/// A tensor or a number that an epilogue reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The parameter's name. A matrix has a second parameter, `ld` before its name: its pitch in elements. In a batch, each
    /// tensor has one more, `batch_` before its name, unless the matrices are at addresses of their own.
    pub name: String,
    /// The elements of C that share a value of the input.
    pub kind: InputKind,
    /// The input's element type.
    pub dtype: DType,
    /// A number of elements that divides a matrix's pitch, and whose bytes divide the address of a matrix or a row, so that as many
    /// elements are read together; at most 16 bytes. By default, as many as divide C's pitch.
    pub vector: Option<i64>,
}

/// The shape of an epilogue's input, or of an output besides C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// One value for each element: an M x N matrix that is laid out like C, with contiguous rows where C has contiguous rows.
    Matrix,
    /// One value for each column: a vector of N, such as a bias of features.
    Row,
    /// One value for each row: a vector of M.
    Column,
    /// One value for all elements.
    Scalar,
}

impl Input {
    /// An M x N matrix, which is laid out like C.
    pub fn matrix(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Matrix, dtype, vector: None }
    }

    /// A vector of N values, one for each column of C.
    pub fn row(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Row, dtype, vector: None }
    }

    /// A vector of M values, one for each row of C.
    pub fn column(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Column, dtype, vector: None }
    }

    /// A number that the launch gives.
    pub fn scalar(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Scalar, dtype, vector: None }
    }

    /// The input with any alignment: with any pitch, and in memory that begins at any element. It is read element by element.
    #[must_use]
    pub fn unaligned(self) -> Input {
        Input { vector: Some(1), ..self }
    }

    /// The number of elements that divides a matrix's pitch in a kernel of this configuration, and whose bytes divide the address of a matrix.
    ///
    /// # Errors
    /// [`GemmError::InputVector`] for vectors of more than 16 bytes, or of a number of elements that is no power of two.
    pub fn aligned(&self, config: &GemmConfig) -> Result<i64, Error> {
        let bytes = element_bytes("input of an epilogue", self.dtype)?;
        let vector = self.vector.unwrap_or(config.aligned(Operand::C)?.min(16 / bytes));
        if vector < 1 || vector.count_ones() != 1 || vector * bytes > 16 {
            return Err(GemmError::InputVector { input: self.to_string(), most: 16 / bytes }.into());
        }
        Ok(vector)
    }

    /// The name of a matrix's pitch.
    pub fn pitch_name(&self) -> String {
        format!("ld{}", self.name)
    }

    /// The name of the distance of the input's tensors in a batch.
    pub fn batch_stride_name(&self) -> String {
        format!("batch_{}", self.name)
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputKind::Matrix => "matrix",
            InputKind::Row => "row",
            InputKind::Column => "column",
            InputKind::Scalar => "scalar",
        })
    }
}

/// The scalar of f32 with this name.
impl From<&str> for Input {
    fn from(name: &str) -> Input {
        Input::scalar(name, DType::F32)
    }
}

/// Writes `kind(name: dtype)`, as in keys.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}: {}", self.kind, self.name, self.dtype)?;
        self.vector.map_or(Ok(()), |vector| write!(f, " in vectors of {vector}"))?;
        f.write_str(")")
    }
}
