//! Which registers belong to `wgmma`. No other instruction may access them while an operation is in flight, and there
//! must be a `wgmma.fence` between other accesses and the next `wgmma` (PTX ISA, "wgmma.fence", "wgmma.mma_async").

/// The state of the 32-bit registers of a warp.
#[derive(Debug, Default)]
pub(super) struct Registers {
    uses: Vec<Use>,
    /// The number of fences so far.
    fences: u32,
}

/// The last accesses to a register.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The number of fences before the last access by another instruction, plus 1; 0 without such an access.
    touched: u32,
    /// The number of fences before the last `wgmma` that uses the register.
    fences: u32,
    role: Role,
    /// The number of the last `wgmma` that uses the register, from 1.
    last: u64,
}

/// The role of a register in a `wgmma`.
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
    /// Forgets everything. The warp has `count` registers.
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

    /// Records that another instruction accesses a register. Returns the number of the `wgmma` to which the register
    /// belongs, if that is not among the first `completed`.
    pub(super) fn touch(&mut self, slot: u32, completed: u64) -> Option<u64> {
        let fences = self.fences;
        let register = self.uses.get_mut(slot as usize)?;
        register.touched = fences + 1;
        (register.last > completed).then_some(register.last)
    }

    /// Records that the `wgmma` with this number, from 1, uses a register. Returns whether a fence orders it after all
    /// accesses that need one.
    pub(super) fn take(&mut self, slot: u32, role: Role, number: u64) -> bool {
        let fences = self.fences;
        let Some(register) = self.uses.get_mut(slot as usize) else { return true };
        let ordered = register.role == role || register.role == Role::None || register.fences < fences;
        let fine = ordered && register.touched <= fences;
        *register = Use { fences, role, last: number, ..*register };
        fine
    }
}
