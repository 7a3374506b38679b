//! What the benches share: a GPU or a line that says there is none, the rows that are measured, contests in turns, records, and the peer
//! that girih is measured beside.

pub mod contest;
pub mod cublas;
mod data;
mod fields;
mod gpu;
pub mod measure;
mod movement;
pub mod operands;
mod ours;
mod product;
pub mod record;
pub mod roof;
pub mod rows;
pub mod summary;
mod sweep;
pub mod table;
mod theirs;
mod tiles;
pub mod tuned;

pub use data::normal;
pub use gpu::gpu;
