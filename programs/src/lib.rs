//! Kernels in the tile language: what they do to whole tiles, and nothing of threads.
//!
//! Extents of tiles are constants of a kernel's type, extents of arrays are not: a tile that reaches beyond an array is padded when it is
//! loaded and cut when it is stored. `R` is rows of a tile, `N` its columns.

mod activate;
mod attend;
mod convolution;
mod elementwise;
mod grouped;
mod indexed;
mod list;
mod mlp;
mod norm;
mod permute;
mod product;
mod quantized;
mod random;
mod recurrent;
mod reduce;
mod rows;
mod sampling;
mod scan;
mod segmented;
mod split_k;

pub use attend::{attention, attention_varlen};
pub use convolution::{conv2d, conv2d_gather};
pub use elementwise::{add, rotary_embedding, saxpy};
pub use grouped::gemm_grouped;
pub use indexed::{gather_rows, histogram};
pub use list::{Arguments, ENTRIES, Entry, Fill, Role, Sample, Size, Source};
pub use mlp::gated_mlp;
pub use norm::{layernorm, layernorm_long, rmsnorm, rmsnorm_long};
pub use permute::transpose;
pub use product::{gemm, gemm_batched, gemm_gelu, gemm_persistent};
pub use quantized::{gemm_fp8, gemm_fp8_blocks, gemm_int8, gemm_weights};
pub use random::dropout;
pub use recurrent::chunk_scan;
pub use reduce::{argmax_all, argmax_rows, column_sum, full_sum, row_sum, sum_all};
pub use rows::{cross_entropy, softmax, softmax_long};
pub use sampling::sample_top_k;
pub use scan::{cumsum, cumsum_all};
pub use segmented::segment_sum;
pub use split_k::{gemm_split_k, sum_parts};
