//! Tensors: an engine (the memory of the values) and a layout (which value a coordinate selects).
//!
//! A [`Tensor`] is a view: slicing and tiling it gives another view of the same values. Each engine has its own kind of
//! offsets: integers on the [host], register expressions in a generated kernel. So [`Tensor::local_tile`],
//! [`Tensor::local_partition`] and [`Tensor::tv_partition`] are written once for all engines.
//!
//! Tensors under layouts that are types, and tensors of the host that are written, are in `girih-typed`.

mod counting;
mod dtype;
mod error;
pub mod host;
mod parse;
mod part;
mod slice;
mod tensor;

pub use counting::Counting;
pub use dtype::{DType, Element, F4E2M1, F8E8M0, Float, Format, Numbers, Round, S4, Tf32, U4};
pub use error::Error;
/// The element types of 8 and 16 bits: [`DType::E4m3`], [`DType::E5m2`], [`DType::F16`] and [`DType::Bf16`] in memory.
pub use float8::{F8E4M3, F8E5M2};
pub use half::{bf16, f16};
pub use part::Part;
pub use slice::{Index, Slice};
pub use tensor::{Engine, Space, Tensor};
