//! CuTe's algorithms on a kernel's tensors. A builder writes their instructions, which follow from the tensors' spaces and
//! the atom (CuTe guide, "Algorithms").

mod asynchronous;
mod congruent;
mod convert;
mod copy;
mod copy_with;
mod data;
pub mod distributed;
pub mod element;
mod elements;
mod fence;
mod fill;
mod gemm;
pub mod math;
mod predicates;
mod registers;
mod scalars;
mod together;
mod transform;
mod vectors;
mod warp;

pub(crate) use convert::convert_finite;
pub use convert::{byte_to_f16, convert, f32_to_byte, f32_to_tf32};
pub use copy::{copy, copy_if, prefetch};
pub use copy_with::{CacheHint, CopyWith};
pub use data::{Data, Site};
pub use elements::{load_elements, pack, store_elements, unpack};
pub use fence::{
    cp_async_fence, cp_async_wait, cp_async_wait_all, fence_barrier_init, fence_proxy_async,
    prefetch_tma_descriptor, tma_store_arrive, tma_store_complete, tma_store_wait, warpgroup_arrive,
    warpgroup_commit_batch, warpgroup_wait,
};
pub use fill::{clear, fill, fill_outside, pattern};
pub use gemm::{MmaOperand, MmaWith, gemm};
pub use predicates::Predicates;
pub(crate) use scalars::{one, read_once};
pub use scalars::{read, write};
pub use together::{block_reduce, block_scan, cluster_reduce, lane_reduce, warp_reduce, warp_scan};
pub use transform::{axpby, reduce, transform};
