//! Execution: clusters in parallel, the warps of a cluster in turn, the lanes of a warp together.

mod access;
mod agents;
mod at_once;
mod atomic;
mod block;
mod bulk;
mod calls;
mod claims;
mod cluster;
mod context;
mod copy;
mod counts;
mod finding;
mod format;
mod gate;
mod groups;
mod map;
mod matrix;
mod mbarrier;
mod mma;
mod phase;
mod pool;
mod print;
mod quad;
mod registers;
mod shuffle;
mod special;
mod tensor;
mod together;
mod undefined;
mod warp;
mod watch;
mod wgmma;
mod wmma;

pub(crate) use cluster::{Cluster, Turn};
pub(crate) use context::Machine;
