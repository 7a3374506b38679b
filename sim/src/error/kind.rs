//! The kinds of errors by name, their severity, and the places and addresses of errors.

use std::iter;

use super::{Awaited, Error, Formal, Severity, Site};
use crate::Space;

impl Error {
    /// The kinds that are wrong by the ISA and seen to do harm on no GPU. They are warnings.
    pub const FORMAL: [&str; 6] = [
        "same-value-race",
        "guard-race",
        "discarded-race",
        "exited-race",
        "mbarrier-unfenced",
        "copy-unfenced",
    ];

    /// The kinds that are warnings: those of [`Error::FORMAL`], and `padding`.
    pub const WARNINGS: [&str; 7] = [
        "same-value-race",
        "guard-race",
        "discarded-race",
        "exited-race",
        "mbarrier-unfenced",
        "copy-unfenced",
        "padding",
    ];

    /// The kind of the error, in a word that stays the same from version to version.
    ///
    /// ```
    /// let error = girih_sim::Memory::new().free(4).unwrap_err();
    /// assert_eq!(error.kind(), "bad-free");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Error::UnknownKernel { .. } => "unknown-kernel",
            Error::Unsupported { .. } => "unsupported",
            Error::Undeclared { .. } => "undeclared",
            Error::Operand { .. } => "operand",
            Error::ArgumentCount { .. } => "argument-count",
            Error::ArgumentSize { .. } => "argument-size",
            Error::LaunchShape { .. } => "launch-shape",
            Error::SharedTooLarge { .. } => "shared-too-large",
            Error::Workers { .. } => "workers",
            Error::OutOfMemory { .. } => "out-of-memory",
            Error::BadFree { .. } => "bad-free",
            Error::HostAccess { .. } => "host-access",
            Error::OutOfBounds { .. } => "out-of-bounds",
            Error::Overrun { .. } => "overrun",
            Error::ForeignLocal { .. } => "other-local",
            Error::Misaligned { .. } => "misaligned",
            Error::UninitialisedRegister { .. } => "uninitialised-register",
            Error::UninitialisedMemory { .. } => "uninitialised-memory",
            Error::AbsentLane { .. } => "absent-lane",
            Error::Padding { .. } => "padding",
            Error::InFlight { .. } => "in-flight",
            Error::Unfenced { .. } => "unfenced",
            Error::CopyUnfenced { .. } => "copy-unfenced",
            Error::MbarrierUnfenced { .. } => "mbarrier-unfenced",
            Error::MapUnfenced { .. } => "tensor-map-unfenced",
            Error::Lockstep { .. } => "lockstep",
            Error::ReadOnly { .. } => "read-only",
            Error::ConstantWrite { .. } => "constant-write",
            Error::NotStarted { .. } => "not-started",
            Error::MbarrierAccess { .. } => "mbarrier-access",
            Error::Mbarrier { .. } => "mbarrier",
            Error::TensorMap { .. } => "tensor-map",
            Error::ExitedBlock { .. } => "exited-block",
            Error::Unfinished { .. } => "unfinished",
            Error::Race { formal, .. } => match formal {
                None => "race",
                Some(Formal::SameValue) => "same-value-race",
                Some(Formal::Guard) => "guard-race",
                Some(Formal::Discarded) => "discarded-race",
                Some(Formal::Exited) => "exited-race",
            },
            Error::Divergent { .. } => "divergent",
            Error::BadValue { .. } => "bad-value",
            Error::VectorInShared { .. } => "vector-in-shared",
            Error::Assertion { .. } => "assertion",
            Error::StackOverflow { .. } => "stack-overflow",
            Error::FalseClaim { .. } => "false-claim",
            Error::Trap { .. } => "trap",
            Error::WgmmaInFlight { .. } => "wgmma-in-flight",
            Error::WgmmaUnfenced { .. } => "wgmma-unfenced",
            Error::Warpgroup { .. } => "warpgroup",
            Error::WarpgroupIncomplete { .. } => "warpgroup-incomplete",
            Error::Deadlock { .. } => "deadlock",
            Error::Spinning { .. } => "livelock",
            Error::NotResident { .. } => "not-resident",
            Error::StepLimit { .. } => "step-limit",
            Error::Stopped { .. } => "stopped",
        }
    }

    /// The severity of the error where nothing is [denied](crate::Deny).
    pub fn severity(&self) -> Severity {
        if Self::WARNINGS.contains(&self.kind()) { Severity::Warning } else { Severity::Error }
    }

    /// Whether the error is formal: wrong by the ISA, and seen to do harm on no GPU.
    pub fn is_formal(&self) -> bool {
        Self::FORMAL.contains(&self.kind())
    }

    /// The instructions and threads that take part in the error; the one at which the error was found is the first.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        let (first, second) = match self {
            Error::InFlight { at, copy: other, .. }
            | Error::Unfenced { at, other, .. }
            | Error::CopyUnfenced { at, other, .. }
            | Error::MbarrierUnfenced { at, other, .. }
            | Error::MapUnfenced { at, other, .. }
            | Error::Lockstep { at, other, .. }
            | Error::Race { at, other, .. } => (Some(at), Some(&other.at)),
            Error::ReadOnly { at, other, .. } => (Some(at), other.as_ref().map(|other| &other.at)),
            Error::WgmmaInFlight { at, wgmma: other, .. } | Error::Warpgroup { at, other, .. } => {
                (Some(at), Some(&**other))
            }
            Error::UninitialisedMemory { at, used: Some(used), .. } | Error::AbsentLane { at, used, .. } => {
                (Some(at), Some(&used.at))
            }
            Error::OutOfBounds { at, .. }
            | Error::Misaligned { at, .. }
            | Error::Overrun { at, .. }
            | Error::ForeignLocal { at, .. }
            | Error::UninitialisedRegister { at, .. }
            | Error::UninitialisedMemory { at, used: None, .. }
            | Error::Padding { at, .. }
            | Error::MbarrierAccess { at, .. }
            | Error::Mbarrier { at, .. }
            | Error::TensorMap { at, .. }
            | Error::ExitedBlock { at, .. }
            | Error::ConstantWrite { at, .. }
            | Error::NotStarted { at, .. }
            | Error::Unfinished { at, .. }
            | Error::Divergent { at, .. }
            | Error::BadValue { at, .. }
            | Error::VectorInShared { at, .. }
            | Error::Assertion { at, .. }
            | Error::StackOverflow { at, .. }
            | Error::FalseClaim { at, .. }
            | Error::Trap { at }
            | Error::WgmmaUnfenced { at, .. }
            | Error::WarpgroupIncomplete { at, .. }
            | Error::Spinning { at, .. }
            | Error::NotResident { at, .. }
            | Error::StepLimit { at, .. } => (Some(at), None),
            _ => (None, None),
        };
        iter::once(first.map(|site| &**site)).chain(iter::once(second)).flatten()
    }

    /// The state space of the error's [address](Error::address).
    pub fn space(&self) -> Option<Space> {
        self.location().map(|(space, _)| space)
    }

    /// The address that the error is about, in its state space.
    pub fn address(&self) -> Option<u64> {
        self.location().map(|(_, address)| address)
    }

    /// The state space and the address that the error is about. Every kind is listed, so that a new one has to say which
    /// space the error's address is in.
    fn location(&self) -> Option<(Space, u64)> {
        match *self {
            Error::OutOfBounds { space, address, .. }
            | Error::Overrun { space, address, .. }
            | Error::Misaligned { space, address, .. }
            | Error::UninitialisedMemory { space, address, .. }
            | Error::Unfenced { space, address, .. }
            | Error::Lockstep { space, address, .. }
            | Error::Race { space, address, .. } => Some((space, address)),
            Error::BadFree { address, .. }
            | Error::HostAccess { address, .. }
            | Error::Padding { address, .. }
            | Error::MapUnfenced { address, .. }
            | Error::ConstantWrite { address, .. }
            | Error::ReadOnly { address, .. } => Some((Space::Global, address)),
            Error::InFlight { address, .. }
            | Error::CopyUnfenced { address, .. }
            | Error::MbarrierUnfenced { address, .. }
            | Error::NotStarted { address, .. }
            | Error::MbarrierAccess { address, .. }
            | Error::Mbarrier { address, .. }
            | Error::ExitedBlock { address, .. }
            | Error::VectorInShared { address, .. } => Some((Space::Shared, address)),
            Error::Spinning { awaited, .. } | Error::NotResident { awaited, .. } => match awaited? {
                Awaited::Value { space, address, .. } => Some((space, address)),
                Awaited::Mbarrier { address, .. } => Some((Space::Shared, address)),
                Awaited::Barrier { .. }
                | Awaited::Cluster { .. }
                | Awaited::Registers { .. }
                | Awaited::Warpgroup { .. } => None,
            },
            Error::UnknownKernel { .. }
            | Error::Unsupported { .. }
            | Error::Undeclared { .. }
            | Error::Operand { .. }
            | Error::ArgumentCount { .. }
            | Error::ArgumentSize { .. }
            | Error::LaunchShape { .. }
            | Error::SharedTooLarge { .. }
            | Error::Workers { .. }
            | Error::OutOfMemory { .. }
            | Error::ForeignLocal { .. }
            | Error::UninitialisedRegister { .. }
            | Error::AbsentLane { .. }
            | Error::TensorMap { .. }
            | Error::Unfinished { .. }
            | Error::Divergent { .. }
            | Error::BadValue { .. }
            | Error::Assertion { .. }
            | Error::StackOverflow { .. }
            | Error::FalseClaim { .. }
            | Error::Trap { .. }
            | Error::WgmmaInFlight { .. }
            | Error::WgmmaUnfenced { .. }
            | Error::Warpgroup { .. }
            | Error::WarpgroupIncomplete { .. }
            | Error::Deadlock { .. }
            | Error::StepLimit { .. }
            | Error::Stopped { .. } => None,
        }
    }
}
