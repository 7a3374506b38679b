//! Classes of instructions by what they wait for or keep busy, which have a colour each in a timeline.

/// A class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A warp waits.
    Wait,
    /// Asynchronous copies: bulk copies, those of tensors, `cp.async`.
    Copy,
    /// Products of matrices, asynchronous or not.
    Matrix,
    /// Barriers, mbarriers, fences, and waits for what is in flight.
    Barrier,
    /// Loads, stores and atomics.
    Memory,
    /// Everything else: arithmetic, moves, branches.
    Other,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub(super) const ALL: [Class; 6] =
        [Class::Wait, Class::Copy, Class::Matrix, Class::Barrier, Class::Memory, Class::Other];

    /// The name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Wait => "wait",
            Class::Copy => "copy",
            Class::Matrix => "matrix",
            Class::Barrier => "barrier",
            Class::Memory => "memory",
            Class::Other => "other",
        }
    }

    /// What the class is, for a legend.
    pub(super) fn about(self) -> &'static str {
        match self {
            Class::Wait => "waits",
            Class::Copy => "asynchronous copies (TMA, cp.async)",
            Class::Matrix => "products (wgmma, mma)",
            Class::Barrier => "barriers, mbarriers, fences",
            Class::Memory => "loads, stores, atomics",
            Class::Other => "everything else",
        }
    }

    /// The class of an instruction, from its text.
    pub(super) fn of(instruction: &str) -> Class {
        let words = opcode(instruction);
        let starts = |names: &[&str]| names.iter().any(|name| words.starts_with(name));
        if starts(&[
            "cp.async.wait",
            "cp.async.commit",
            "cp.async.bulk.wait",
            "cp.async.bulk.commit",
            "cp.async.mbarrier",
        ]) {
            Class::Barrier
        } else if starts(&["cp.", "st.async", "red.async"]) {
            Class::Copy
        } else if starts(&["wgmma.mma_async", "mma.", "wmma.mma"]) {
            Class::Matrix
        } else if starts(&["bar.", "barrier.", "mbarrier.", "fence", "membar", "wgmma."]) {
            Class::Barrier
        } else if starts(&[
            "ld.", "st.", "atom.", "red.", "ldmatrix", "stmatrix", "wmma.", "ldu.", "prefetch",
        ]) {
            // Parameters are constants.
            if words.starts_with("ld.param") { Class::Other } else { Class::Memory }
        } else {
            Class::Other
        }
    }
}

/// The opcode with its modifiers: the word between the guard and the operands.
pub(super) fn opcode(instruction: &str) -> &str {
    let mut words = instruction.split_whitespace();
    match words.next() {
        Some(guard) if guard.starts_with('@') => words.next().unwrap_or_default(),
        word => word.unwrap_or_default(),
    }
}
