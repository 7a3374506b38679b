//! What the hardware allows at most.

use girih_tensor::DType;

use crate::rows::{Product, Work};

/// The rates that the vendor states.
#[derive(Clone, Copy, Debug)]
pub struct Roof {
    /// Bytes of memory in a second.
    memory: f64,
}

impl Roof {
    /// The roof of a device by its name, if it is known.
    pub fn of(gpu: &str) -> Option<Roof> {
        gpu.contains("H200").then_some(Roof { memory: 4.8e12 })
    }

    /// Multiplications and additions of a type in a second, without sparsity.
    fn operations(dtype: DType) -> f64 {
        match dtype {
            DType::F64 => 66.9e12,
            DType::F32 => 66.9e12,
            DType::Tf32 => 494.7e12,
            DType::E4m3 | DType::E5m2 | DType::S8 => 1978.9e12,
            _ => 989.4e12,
        }
    }

    /// The least seconds that the work can take: its operations, or the bytes that must be moved.
    pub fn seconds(&self, work: &Work) -> f64 {
        match work {
            Work::Product(product) => self.product(product),
            Work::Movement(movement) => movement.bytes() / self.memory,
        }
    }

    fn product(&self, product: &Product) -> f64 {
        (product.flops() / Roof::operations(product.dtype)).max(product.bytes() / self.memory)
    }
}
