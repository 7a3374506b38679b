//! What the benches share: a GPU or a line that says there is none, contests in turns, records, and the peer that girih is measured
//! beside.

pub mod contest;
pub mod cublas;
mod data;
mod gpu;
pub mod record;

pub use data::normal;
pub use gpu::gpu;
