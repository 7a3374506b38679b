//! Errors of attention configurations.

use girih_tensor::DType;

use super::family;

crate::errors! {
    /// An attention kernel that [`attention`](crate::attention) does not build.
    AttentionError {
        /// A dtype that the kernel does not multiply.
        #[error("dtype = {dtype}: {} are accepted", family::names(accepted))]
        DType { dtype: DType = "The dtype.", accepted: &'static [DType] = "The dtypes that it multiplies." }
        /// A cache of a dtype that is not converted to that of the queries.
        #[error("cache = {cache} with queries of {dtype}: {dtype}, e4m3 and e5m2 are accepted")]
        Cache { cache: DType = "The dtype of keys and values.", dtype: DType = "The dtype of the queries." }
        /// A head dim that the kernel does not have.
        #[error("head dim = {head_dim}: {accepted} are accepted")]
        HeadDim { head_dim: i64 = "The columns of Q and K.", accepted: String = "The head dims that fit." }
        /// Columns of V that the kernel does not have.
        #[error("value dim = {value_dim}: {accepted} are accepted")]
        ValueDim { value_dim: i64 = "The columns of V and O.", accepted: String = "The value dims that fit." }
        /// Too few or too many warps.
        #[error("warps = {warps}: 1, 2, 4, 8 and 16 are accepted")]
        Warps { warps: i64 = "The warps of a block." }
        /// Too few or too many warpgroups.
        #[error("warpgroups = {warpgroups}: 2 to 4 are accepted")]
        Warpgroups { warpgroups: i64 = "The warpgroups that multiply." }
        /// A tile of queries that the warps or warpgroups do not divide.
        #[error("a tile of {queries} queries: {accepted} are accepted")]
        Queries { queries: i64 = "The queries of a tile.", accepted: String = "The numbers that fit." }
        /// A tile of keys that the MMAs do not divide, or a large one.
        #[error("a tile of {keys} keys: {accepted} from 16 to 256 are accepted")]
        Keys { keys: i64 = "The keys of a tile.", accepted: &'static str = "The numbers that fit." }
        /// Rows of queries and heads that do not fill an MMA.
        #[error("rows = {rows:?}: powers of two are accepted, whose product is 16 or 64")]
        Rows { rows: [i64; 2] = "The rows of a tile: heads of a group and queries." }
        /// Pages of a size that tiles do not divide.
        #[error("pages of {page} keys: powers of two from 16 to 256 are accepted")]
        Page { page: i64 = "The keys of a page." }
        /// Too few or too many buffers of Q.
        #[error("buffers = {buffers} of Q: 1 and 2 are accepted")]
        Buffers { buffers: i64 = "The buffers." }
        /// Too few or too many stages.
        #[error("stages = {stages}: {least} to {most} are accepted")]
        Stages { stages: i64 = "The stages of keys and values.", least: i64 = "The least.", most: i64 = "The most." }
        /// A ring without stages.
        #[error("stages = {stages} of keys and values: 1 or more are accepted")]
        NoStages { stages: i64 = "The stages." }
        /// A vector that no instruction copies.
        #[error("vectors of {vector} elements of {dtype}: a power of two of 1 to 16 bytes is accepted")]
        Vector { vector: i64 = "The elements of a vector.", dtype: DType = "The dtype." }
        /// A tile whose scores and accumulators do not fit in the threads' registers.
        #[error(
            "a tile of {queries} queries, {keys} keys and head dim {head_dim} for {threads} threads: at most {most} scores and accumulators of a \
             thread are accepted"
        )]
        Accumulators {
            queries: i64 = "The queries of a tile.", keys: i64 = "The keys of a tile.", head_dim: i64 = "The columns.",
            threads: i64 = "The threads.", most: i64 = "The most of a thread.",
        }
        /// More registers than a block has.
        #[error(
            "registers = {producer} for the producer and {consumer} for each of {warpgroups} warpgroups: at most {most} are accepted for a thread \
             of each warpgroup together"
        )]
        Registers {
            producer: u32 = "The registers of a producer's thread.", consumer: u32 = "Those of a thread that multiplies.",
            warpgroups: i64 = "The warpgroups that multiply.", most: i64 = "The most together.",
        }
        /// More shared memory than a block has.
        #[error("{bytes} bytes of shared memory for tiles and barriers: at most {most} are accepted")]
        SharedMemory { bytes: i64 = "The bytes.", most: i64 = "The most." }
        /// A combine kernel for a configuration without splits.
        #[error("a combine kernel for a configuration without splits: features.parts = true is accepted")]
        NoSplits {}
    }
}
