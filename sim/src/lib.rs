//! Executes PTX on the CPU and judges it.
//!
//! ```text
//! girih_ptx::Module --load--> Program --kernel--> Kernel --run(memory, launch, options)--> Report | Error
//! ```
//!
//! The simulator knows nothing of layouts or of the generator: what an instruction does is written here from the
//! PTX ISA. An instruction that it does not know is an error naming instruction and line, at load.

mod decode;
mod error;
mod exec;
mod float;
mod lanes;
mod launch;
mod memory;
mod op;
mod program;
mod shadow;

pub use error::{Error, Other, Place, Site, Waiting};
pub use launch::{Launch, Options, Progress, Report, run};
pub use memory::{Memory, Nearest};
pub use program::{Kernel, Param, Program};

use std::fmt;

/// What a thread does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
        })
    }
}

/// A state space (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Kernel parameters.
    Param,
    /// Shared memory of a block.
    Shared,
    /// Global memory.
    Global,
    /// Local memory of a thread.
    Local,
    /// An address whose window tells the space.
    Generic,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Param => "param",
            Space::Shared => "shared",
            Space::Global => "global",
            Space::Local => "local",
            Space::Generic => "generic",
        })
    }
}
