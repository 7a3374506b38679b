//! Where a finding is, which accesses take part in it, and what a warp waits for.

use std::fmt;
use std::sync::Arc;

use super::Origin;
use crate::{Access, Space, plain_name};

/// The place in a kernel's text to which an error belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Kernel name.
    pub kernel: Arc<str>,
    /// Line of the PTX text, from 1; 0 if the module was not parsed from text.
    pub line: u32,
    /// The instruction or declaration, as text.
    pub instruction: Arc<str>,
    /// The source line that the instruction was compiled from, if the text has `.loc`.
    pub origin: Option<Arc<Origin>>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { kernel, line, instruction, origin } = self;
        let kernel = plain_name(kernel);
        match origin {
            Some(origin) => write!(f, "{kernel}, {origin} (PTX line {line}): `{instruction}`"),
            None => write!(f, "{kernel}, line {line}: `{instruction}`"),
        }
    }
}

/// Where in an execution an error happened: an instruction and the thread that executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The instruction.
    pub place: Place,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid`.
    pub thread: [u32; 3],
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(f, "{}, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})", self.place)
    }
}

/// Where a value that is undefined, or that depends on an undefined one, decides something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The register that holds the value there.
    pub register: String,
    /// The instruction and the thread.
    pub at: Site,
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value that depends on this is used as `{}` at {}", self.register, self.at)
    }
}

/// The other access of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Read or write.
    pub access: Access,
    /// The instruction and thread of the access.
    pub at: Site,
}

/// The event that a warp waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A barrier of the warp's block.
    Barrier {
        /// The number of the barrier, 0 to 15.
        barrier: u32,
        /// Threads that have arrived.
        arrived: u32,
        /// The number of threads that the barrier is for.
        expected: u32,
    },
    /// A phase of an mbarrier.
    Mbarrier {
        /// The shared address of the mbarrier.
        address: u64,
        /// Parity of the phase that is waited for.
        parity: u32,
        /// Arrivals that the current phase still takes.
        pending: u32,
        /// Arrivals that a phase takes.
        expected: u32,
        /// Bytes that are expected and have not arrived; negative if more have arrived than were expected.
        transactions: i64,
    },
    /// The barrier of the cluster.
    Cluster {
        /// Threads that have arrived.
        arrived: u32,
        /// Threads that have not exited.
        expected: u32,
    },
    /// Registers of the block's pool, for a `setmaxnreg.inc`.
    Registers {
        /// Registers of each thread that the instruction asks for.
        count: u32,
        /// Registers that the warp needs for that in addition to those it has.
        needed: u32,
        /// Registers that are in the pool: those that `setmaxnreg.dec` has given back and no warp has taken.
        free: u32,
    },
    /// A change of the value at an address.
    Value {
        /// State space.
        space: Space,
        /// Address.
        address: u64,
        /// The value that was found last at the address, its first 8 bytes.
        value: u64,
    },
    /// The issue of a `wgmma`, for which the warp waits, by the other warps of its warpgroup.
    Warpgroup {
        /// The first warp that has not issued the `wgmma`, by index in its block.
        warp: u32,
    },
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Barrier { barrier, arrived, expected } => {
                write!(f, "barrier {barrier} ({arrived} of {expected} threads arrived)")
            }
            Awaited::Mbarrier { address, parity, pending, expected, transactions } => write!(
                f,
                "the phase of parity {parity} of the mbarrier at {address:#x} ({pending} of {expected} arrivals \
                 pending, {transactions} bytes outstanding)"
            ),
            Awaited::Value { space, address, value } => {
                write!(f, "another value than {value} at {space} address {address:#x}")
            }
            Awaited::Warpgroup { warp } => write!(f, "the same wgmma in warp {warp} of its warpgroup"),
            Awaited::Registers { count, needed, free } => write!(
                f,
                "{count} registers a thread by setmaxnreg: {needed} more for the warp, of which the block's register \
                 pool has {free}"
            ),
            Awaited::Cluster { arrived, expected } => {
                write!(f, "the barrier of the cluster ({arrived} of {expected} threads arrived)")
            }
        }
    }
}

/// A warp that waits for something that can no longer happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// `%ctaid` of the warp's block.
    pub block: [u32; 3],
    /// The warp's index in its block.
    pub warp: u32,
    /// Line of the instruction that waits.
    pub line: u32,
    /// The source line that the instruction was compiled from, if the text has `.loc`.
    pub origin: Option<Arc<Origin>>,
    /// The event that the warp waits for.
    pub awaited: Awaited,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block: [x, y, z], warp, line, origin, awaited } = self;
        write!(f, "block ({x}, {y}, {z}), warp {warp} at ")?;
        match origin {
            Some(origin) => write!(f, "{origin} (PTX line {line}) for {awaited}"),
            None => write!(f, "line {line} for {awaited}"),
        }
    }
}

/// The error in a use of an mbarrier (PTX ISA, "mbarrier").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierFault {
    /// There is no mbarrier at the address.
    Absent,
    /// There is an mbarrier already in the bytes where another is initialised, or in some of them.
    Present,
    /// A count out of range.
    Count {
        /// The count.
        count: u64,
    },
    /// More arrivals than the phase takes.
    Arrivals {
        /// How many arrive.
        count: u32,
        /// How many are pending.
        pending: u32,
        /// How many a phase takes.
        expected: u32,
    },
    /// A transaction count out of range.
    Transactions {
        /// The value that the count would have.
        bytes: i64,
    },
    /// An arrival with `.noComplete` that completes the phase.
    Completes,
    /// A parity that is not 0 or 1.
    Parity {
        /// The value.
        parity: u64,
    },
    /// A state that belongs to neither the current phase nor the one before.
    State {
        /// The value.
        state: u64,
    },
}

impl fmt::Display for MbarrierFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is no mbarrier; mbarrier.init makes one"),
            Self::Present => f.write_str("there is an mbarrier already; mbarrier.inval must end it first"),
            Self::Count { count } => write!(f, "the count is {count}, must be 1 to 1048575"),
            Self::Arrivals { count, pending, expected } => {
                write!(f, "{count} arrivals where {pending} of {expected} are pending")
            }
            Self::Transactions { bytes } => {
                write!(f, "the transaction count would be {bytes}, must be -1048575 to 1048575")
            }
            Self::Completes => f.write_str("an arrival with .noComplete would complete the phase"),
            Self::Parity { parity } => write!(f, "the parity is {parity}, must be 0 or 1"),
            Self::State { state } => {
                write!(f, "the state {state:#x} is not of the current phase or the one before")
            }
        }
    }
}
