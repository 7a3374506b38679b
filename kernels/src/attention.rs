//! `O = softmax(scale Q K^T) V`: the problem, the choice of a configuration, and the run.

mod array;
mod bind;
pub mod choose;
pub mod decode;
mod few;
mod loading;
mod problem;
mod reference;
mod run;
mod table;

pub use array::Array;
pub use choose::{Hardware, KernelKind, choose};
pub use few::few_queries;
pub use girih_codegen::attention::{AttentionConfig, Features, Form, MAX_LENGTH, QueryTile, Tensor4};
pub use loading::Attentions;
pub use problem::{Bias, Diagonal, MAX_HEAD_DIM, MAX_HEADS, MAX_VALUE_DIM, Mask, Order, Problem, Sequence};
pub use reference::{Check, Host, Row, Verdict, check, row};
pub use run::Attention;
pub use table::Table;

pub use crate::family::Prepared;
