//! Errors of [`sync`](crate::sync).

use girih_tensor::{DType, Space};

use super::family;

crate::errors! {
    /// An operation of [`sync`](crate::sync) that PTX does not have.
    SyncError {
        /// The scope of a cluster on an architecture without clusters.
        #[error("the scope Cluster for sm_{sm}: Cta, Gpu and Sys are accepted, and Cluster for sm_90 and newer")]
        Scope { sm: u32 = "The kernel's architecture." }
        /// Warpgroups that have no barriers to alternate by.
        #[error(
            "ping-pong of {warpgroups} warpgroups by barriers {first} and up: 2 warpgroups or more are accepted, each with a barrier of its \
             own in 1 to 15"
        )]
        PingPong { warpgroups: i64 = "The warpgroups.", first: i64 = "The first barrier." }
        /// Memory that is no semaphore.
        #[error("a semaphore of {dtype} in {space:?}: a u32 in global memory is accepted")]
        Semaphore { dtype: DType = "The dtype.", space: Space = "The memory." }
        /// A pipeline or a ring with too few stages, or with more than shared memory has room for.
        #[error("{stages} stages: {least} to {most} are accepted")]
        Stages { stages: i64 = "The stages.", least: i64 = "The least.", most: i64 = "The most." }
        /// A sequence without groups, or with more than shared memory has barriers for.
        #[error("a sequence of {groups} groups: 1 to {most} are accepted")]
        Groups { groups: i64 = "The groups.", most: i64 = "The most." }
        /// An atomic operation that does not exist for a dtype.
        #[error("{what} on an element of {dtype}: {} are accepted", family::names(accepted))]
        AtomicDType {
            what: &'static str = "The operation.", dtype: DType = "The dtype of the element.", accepted: &'static [DType] = "The dtypes that it has.",
        }
        /// An order that loads do not have.
        #[error("a load in the order {order}: Relaxed, Acquire and SeqCst are accepted")]
        LoadOrder { order: String = "The order." }
        /// An order that stores do not have.
        #[error("a store in the order {order}: Relaxed, Release and SeqCst are accepted")]
        StoreOrder { order: String = "The order." }
        /// A phase of an mbarrier that waits for no arrivals, or for too many.
        #[error("a phase of an mbarrier with {arrivals} arrivals: 1 to {most} are accepted")]
        Arrivals { arrivals: i64 = "The arrivals.", most: i64 = "The most." }
        /// A phase of an mbarrier that waits for a negative number of bytes, or for too many.
        #[error("a phase of an mbarrier with {bytes} bytes: 0 to {most} are accepted")]
        Bytes { bytes: i64 = "The bytes.", most: i64 = "The most." }
    }
}
