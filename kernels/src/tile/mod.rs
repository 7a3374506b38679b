//! Kernels in the tile language: what they do to whole tiles, and nothing of threads.
//!
//! Extents of tiles are constants of a kernel's type, extents of arrays are not: a tile that reaches beyond an array is padded when it is
//! loaded and cut when it is stored. `R` is rows of a tile, `N` its columns.

mod elementwise;
mod indexed;
mod norm;
mod permute;
mod reduce;
mod rows;
mod scan;

pub use elementwise::{add, rotary_embedding, saxpy};
pub use indexed::{gather_rows, histogram};
pub use norm::{layernorm, rmsnorm};
pub use permute::transpose;
pub use reduce::{argmax_rows, column_sum, full_sum, row_sum};
pub use rows::{cross_entropy, softmax};
pub use scan::cumsum;
