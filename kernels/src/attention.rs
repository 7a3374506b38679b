//! `O = softmax(scale Q K^T) V`: the problem, and the reference that results are compared with.

mod array;
pub mod decode;
mod problem;
mod reference;

pub use array::{Array, Tensor4};
pub use problem::{Bias, Diagonal, MAX_HEAD_DIM, MAX_HEADS, MAX_LENGTH, Mask, Order, Problem, Sequence};
pub use reference::{Check, Host, Row, check, row};
