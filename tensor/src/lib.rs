//! Tensors: an engine (where values are) and a layout (which value a coordinate names).
//!
//! A [`Tensor`] is a view: slicing and tiling it gives another view of the same values. What an engine's offsets are
//! made of is the engine's business: integers on the [host], register expressions in a generated kernel. So
//! [`Tensor::local_tile`], [`Tensor::local_partition`] and [`Tensor::tv_partition`] are written once, for all of them.
//!
//! A layout is a run-time one or a [typed one](girih_layout::typed). With the second, the same operations have static results, and what
//! doesn't fit doesn't compile; an [`host::Array`] has its length from it.

pub mod algorithm;
mod counting;
mod dtype;
mod error;
pub mod host;
mod slice;
mod tensor;

pub use counting::Counting;
pub use dtype::{DType, Element, Tf32};
pub use error::Error;
pub use slice::{Index, Slice};
pub use tensor::{
    Arrangement, Engine, InnerPartition, LocalPartition, LocalTile, OuterPartition, Space, Tensor,
    TvPartition,
};
