//! Kernels in the tile language: what they do to whole tiles, and nothing of threads.
//!
//! Extents of tiles are constants of a kernel's type, extents of arrays are not: a tile that reaches beyond an array is padded when it is
//! loaded and cut when it is stored. `R` is rows of a tile, `N` its columns.

mod elementwise;
mod indexed;
mod list;
mod norm;
mod permute;
mod random;
mod reduce;
mod rows;
mod scan;

pub use elementwise::{add, rotary_embedding, saxpy};
pub use indexed::{gather_rows, histogram};
pub use list::{ENTRIES, Entry};
pub use norm::{layernorm, layernorm_long, rmsnorm, rmsnorm_long};
pub use permute::transpose;
pub use random::dropout;
pub use reduce::{argmax_rows, column_sum, full_sum, row_sum};
pub use rows::{cross_entropy, softmax, softmax_long};
pub use scan::cumsum;
