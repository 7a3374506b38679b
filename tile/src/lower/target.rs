//! The target of a lowering.

/// The target of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The architecture, such as 90 for sm_90.
    pub sm: u32,
    /// Whether the kernel may begin while the one before it in its stream still runs, and so waits for that one before it touches memory
    /// (`griddepcontrol.wait`, sm_90); it also lets the next one begin.
    pub programmatic: bool,
}

impl From<u32> for Target {
    fn from(sm: u32) -> Target {
        Target { sm, programmatic: false }
    }
}
