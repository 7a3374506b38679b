//! How threads wait for one another and see what others have written: atomic operations, semaphores, mbarriers and pipelines
//! of them. Barriers of a block and of a cluster are the [`Builder`](crate::Builder)'s.

mod atomic;
mod mbarrier;
mod order;
mod pipeline;
mod semaphore;

pub use atomic::AtomicRef;
pub use mbarrier::{MBARRIER_BYTES, Mbarrier};
pub use order::{MemoryOrder, Scope, atomic_thread_fence};
pub use pipeline::{Pipeline, PipelineState, Stage};
pub use semaphore::Semaphore;
