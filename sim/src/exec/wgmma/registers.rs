//! Which registers belong to `wgmma`: nothing else may touch them while one is in flight, and a `wgmma.fence` comes
//! between other accesses and the next (PTX ISA, "wgmma.fence", "wgmma.mma_async").

/// What is known of the 32-bit registers of a warp.
#[derive(Debug, Default)]
pub(super) struct Registers {
    uses: Vec<Use>,
    /// Fences so far.
    fences: u32,
}

/// The last accesses of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Fences before the last access by another instruction, plus 1.
    touched: u32,
    /// Fences before the last `wgmma` with it.
    fences: u32,
    role: Role,
    /// Number of the last `wgmma` with it, from 1.
    last: u64,
}

/// What a register is to a `wgmma`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    None,
    /// A fragment of A.
    A,
    /// An accumulator of a shape with this N.
    D(usize),
}

impl Registers {
    /// Forgets everything; `count` registers.
    pub(super) fn start(&mut self, count: usize) {
        self.uses.clear();
        self.uses.resize(count, Use::default());
        self.fences = 0;
    }

    pub(super) fn fence(&mut self) {
        self.fences += 1;
    }

    /// Whether there has been a fence.
    pub(super) fn fenced(&self) -> bool {
        self.fences > 0
    }

    /// Another instruction accesses a register. Tells the `wgmma` that has it, if that is after the `completed` first.
    pub(super) fn touch(&mut self, slot: u32, completed: u64) -> Option<u64> {
        let fences = self.fences;
        let register = self.uses.get_mut(slot as usize)?;
        register.touched = fences + 1;
        (register.last > completed).then_some(register.last)
    }

    /// The `wgmma` of this number, from 1, uses a register. Tells whether other accesses are behind a fence.
    pub(super) fn take(&mut self, slot: u32, role: Role, number: u64) -> bool {
        let fences = self.fences;
        let Some(register) = self.uses.get_mut(slot as usize) else { return true };
        let ordered = register.role == role || register.role == Role::None || register.fences < fences;
        let fine = ordered && register.touched <= fences;
        *register = Use { fences, role, last: number, ..*register };
        fine
    }
}
