//! Decode attention: a few queries of each sequence against a long KV cache.
//!
//! ```text
//! DecodeProblem --choose (pure)--> DecodePlan --generate--> ptx::Module --load--> Decode --run--> O
//! ```
//!
//! The lengths of sequences are in device memory. So one [`Decode`] serves every step up to the capacity of the cache, and can be captured
//! in a graph. It allocates its workspace once.

mod plan;
mod problem;
mod reasons;
mod run;

pub use girih_codegen::attention::decode::{DecodeConfig, DecodeFeatures};
pub use plan::{Costs, DecodePlan, choose};
pub use problem::{CacheOrder, DecodeProblem, MAX_QUERIES, Pages, ScalesOf};
pub use reasons::reasons;
pub use run::{Decode, DecodeArgs};
