//! Reports about a kernel's registers, as data.

/// A kernel whose threads need more registers than they can have, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Registers that a thread needs, estimated.
    pub registers: u32,
    /// Registers that it can have.
    pub limit: u32,
    /// The line where the most are live, after ` at `; empty where nobody knows.
    pub site: String,
    /// The largest tile that is live where tiles take the most registers: what it is, its type, and where that was written.
    pub tile: String,
    /// The type of the nearest smaller tile to try, where others shrink as much.
    pub smaller: String,
}

/// The report of NVIDIA's assembler on a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// Registers of a thread that it has assigned. Warpgroups that pass registers on begin with them.
    pub registers: u32,
    /// Bytes of a thread's stack frame.
    pub stack: u32,
    /// Bytes that a thread stores and loads because it has too few registers.
    pub spilled: [u32; 2],
    /// Notes of code `C75xx`: that `wgmma` is serialised, or that a limit of registers is ignored.
    pub notes: Vec<String>,
}
