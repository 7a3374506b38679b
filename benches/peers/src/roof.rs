//! The least time that the work of a row can take.

use girih_kernels::Roof;

use crate::rows::Work;

/// The least seconds that the work can take: its operations, or the bytes that must be moved.
pub fn seconds(roof: &Roof, work: &Work) -> f64 {
    match work {
        Work::Product(product) => {
            (product.flops() / roof.operations(product.dtype)).max(product.bytes() / roof.memory)
        }
        Work::Movement(movement) => movement.bytes() / roof.memory,
    }
}
