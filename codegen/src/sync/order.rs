//! The orders and the scopes of PTX's memory model, by the names of C++.

use girih_ptx::{Modifier, Opcode, Word};

use crate::error::SyncError;
use crate::{Builder, Error};

/// How an operation is ordered with the other accesses of its thread (C++'s `std::memory_order`; PTX ISA, "Memory Consistency
/// Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// The operation is atomic, and orders nothing else.
    Relaxed,
    /// The thread's later accesses see what was done before the release whose value the operation reads.
    Acquire,
    /// The thread's earlier accesses are visible to a thread that acquires the value that the operation writes.
    Release,
    /// [`MemoryOrder::Acquire`] and [`MemoryOrder::Release`].
    AcqRel,
    /// [`MemoryOrder::AcqRel`], and all such operations have one order: `fence.sc` is before the operation.
    SeqCst,
}

/// The threads among which an operation is atomic and ordered (PTX ISA, "Scope").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the block.
    Cta,
    /// The threads of the cluster, on sm_90 and newer.
    Cluster,
    /// The threads of all kernels on the same GPU.
    Gpu,
    /// The threads of all GPUs and of the host.
    Sys,
}

impl Scope {
    pub(super) fn word(self) -> Modifier {
        let word = match self {
            Scope::Cta => Word::Cta,
            Scope::Cluster => Word::Cluster,
            Scope::Gpu => Word::Gpu,
            Scope::Sys => Word::Sys,
        };
        word.into()
    }

    pub(super) fn check(self, b: &Builder) -> Result<(), Error> {
        if self == Scope::Cluster && b.sm() < 90 {
            return Err(SyncError::Scope { sm: b.sm() }.into());
        }
        Ok(())
    }
}

/// Writes a fence, which orders the accesses of the thread before it with the accesses after it, among the threads of `scope` (C++'s
/// `std::atomic_thread_fence`; PTX ISA, "membar / fence"). [`MemoryOrder::Relaxed`] orders nothing and writes nothing.
///
/// # Errors
/// [`SyncError::Scope`] for [`Scope::Cluster`] below sm_90.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::sync::{MemoryOrder, Scope, atomic_thread_fence};
///
/// let mut b = Builder::new("k", 80, 32);
/// atomic_thread_fence(&mut b, MemoryOrder::Release, Scope::Gpu)?;
/// assert!(b.finish()?.module().to_string().contains("fence.acq_rel.gpu;"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn atomic_thread_fence(b: &mut Builder, order: MemoryOrder, scope: Scope) -> Result<(), Error> {
    scope.check(b)?;
    let word = match order {
        MemoryOrder::Relaxed => return Ok(()),
        MemoryOrder::SeqCst => Word::Sc,
        _ => Word::AcqRel,
    };
    b.inst(Opcode::Fence, &[word.into(), scope.word()], Vec::new());
    Ok(())
}
