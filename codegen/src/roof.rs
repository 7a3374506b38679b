//! The roofline of a GPU: peak rates of memory and arithmetic.

use girih_tensor::DType;

/// The rates that the vendor of a GPU states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    /// Bytes that memory reads or writes in a second.
    pub memory: f64,
}

impl Roof {
    /// Those of an H200.
    pub const H200: Roof = Roof { memory: 4.8e12 };

    /// The rates of a GPU by its name, if they are known.
    pub fn of(gpu: &str) -> Option<Roof> {
        gpu.contains("H200").then_some(Roof::H200)
    }

    /// Multiplications and additions of a type in a second, without sparsity.
    pub fn operations(&self, dtype: DType) -> f64 {
        match dtype {
            DType::F64 => 66.9e12,
            DType::F32 => 66.9e12,
            DType::Tf32 => 494.7e12,
            _ if dtype.bits() == 8 => 1978.9e12,
            _ => 989.4e12,
        }
    }
}
