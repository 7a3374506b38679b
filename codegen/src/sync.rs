//! Synchronisation: how threads wait for one another and see what other threads have written, by atomic operations, semaphores,
//! mbarriers, pipelines and sequences of mbarriers, rings of stages, and the ping-pong of warpgroups. Barriers of a block and of a cluster are methods of the [`Builder`](crate::Builder).

mod atomic;
mod mbarrier;
mod order;
mod ping_pong;
mod pipeline;
mod ring;
mod semaphore;
mod sequence;

pub use atomic::{AtomicRef, atomic_words};
pub use mbarrier::{MBARRIER_BYTES, Mbarrier};
pub use order::{MemoryOrder, Scope, atomic_thread_fence};
pub use ping_pong::PingPong;
pub use pipeline::{Pipeline, PipelineState, Stage};
pub use ring::{CpAsyncRing, RingState};
pub use semaphore::Semaphore;
pub use sequence::OrderedSequence;
