//! Fences of asynchronous instructions, and waits for these instructions, by CuTe's names.

use girih_ptx::{Opcode, Operand as Ptx, Word};

use crate::builder::{Builder, Width};
use crate::{Error, Expr};

/// `cp.async.commit_group`: makes the thread's `cp.async` since the last group a group (PTX ISA, "cp.async.commit_group").
#[track_caller]
pub fn cp_async_fence(b: &mut Builder) {
    b.inst(Opcode::Cp, &[Word::Async.into(), Word::CommitGroup.into()], Vec::new());
}

/// `cp.async.wait_group`: waits until at most `pending` of the thread's groups are in flight. Other threads see the copied values
/// after a barrier.
#[track_caller]
pub fn cp_async_wait(b: &mut Builder, pending: u32) {
    let modifiers = [Word::Async.into(), Word::WaitGroup.into()];
    b.inst(Opcode::Cp, &modifiers, vec![Ptx::Int(i64::from(pending))]);
}

/// `cp.async.wait_all`: waits for all of the thread's `cp.async`, whether in a group or not.
#[track_caller]
pub fn cp_async_wait_all(b: &mut Builder) {
    b.inst(Opcode::Cp, &[Word::Async.into(), Word::WaitAll.into()], Vec::new());
}

/// `cp.async.bulk.commit_group`: makes the thread's bulk stores and reductions since the last group a group.
#[track_caller]
pub fn tma_store_arrive(b: &mut Builder) {
    b.inst(Opcode::Cp, &[Word::Async.into(), Word::Bulk.into(), Word::CommitGroup.into()], Vec::new());
}

/// `cp.async.bulk.wait_group.read`: waits until at most `pending` of the thread's groups still read their source. The sources of the
/// other groups may then be written again.
#[track_caller]
pub fn tma_store_wait(b: &mut Builder, pending: u32) {
    let modifiers = [Word::Async.into(), Word::Bulk.into(), Word::WaitGroup.into(), Word::Read.into()];
    b.inst(Opcode::Cp, &modifiers, vec![Ptx::Int(i64::from(pending))]);
}

/// `cp.async.bulk.wait_group`: waits until at most `pending` of the thread's groups are in flight. What the other groups write to global
/// memory is written before what the thread does next.
#[track_caller]
pub fn tma_store_complete(b: &mut Builder, pending: u32) {
    let modifiers = [Word::Async.into(), Word::Bulk.into(), Word::WaitGroup.into()];
    b.inst(Opcode::Cp, &modifiers, vec![Ptx::Int(i64::from(pending))]);
}

/// `prefetch.tensormap`: prefetches the tensor map at `map` ([`Builder::tensor_map`]), before the first copy that needs it.
///
/// # Errors
/// As [`Builder::value`].
#[track_caller]
pub fn prefetch_tma_descriptor(b: &mut Builder, map: &Expr) -> Result<(), Error> {
    let address = b.address(map, Width::W64)?;
    b.inst(Opcode::Prefetch, &[Word::Tensormap.into()], vec![address]);
    Ok(())
}

/// `wgmma.fence`: registers that were written before are ready for the warpgroup's instructions that follow.
#[track_caller]
pub fn warpgroup_arrive(b: &mut Builder) {
    b.inst(Opcode::Wgmma, &[Word::Fence.into(), Word::Sync.into(), Word::Aligned.into()], Vec::new());
}

/// `wgmma.commit_group`: makes the instructions since the last batch a batch.
#[track_caller]
pub fn warpgroup_commit_batch(b: &mut Builder) {
    b.inst(Opcode::Wgmma, &[Word::CommitGroup.into(), Word::Sync.into(), Word::Aligned.into()], Vec::new());
}

/// `wgmma.wait_group`: waits until at most `pending` batches are in flight; the registers of the other batches may then be read.
#[track_caller]
pub fn warpgroup_wait(b: &mut Builder, pending: u32) {
    let modifiers = [Word::WaitGroup.into(), Word::Sync.into(), Word::Aligned.into()];
    b.inst(Opcode::Wgmma, &modifiers, vec![Ptx::Int(i64::from(pending))]);
}

/// `fence.proxy.async.shared::cta`: makes what threads wrote to shared memory before visible to `wgmma` and to bulk copies
/// (CuTe's `tma_store_fence`). The fence names shared memory, because without a space it would order global memory too.
#[track_caller]
pub fn fence_proxy_async(b: &mut Builder) {
    let modifiers = [Word::Proxy.into(), Word::Async.into(), Word::SharedCta.into()];
    b.inst(Opcode::Fence, &modifiers, Vec::new());
}

/// `fence.mbarrier_init.release.cluster`: mbarriers that the thread has initialised may be used by asynchronous copies, and
/// by other threads after a barrier (CUTLASS's `fence_barrier_init`).
#[track_caller]
pub fn fence_barrier_init(b: &mut Builder) {
    let modifiers = [Word::MbarrierInit.into(), Word::Release.into(), Word::Cluster.into()];
    b.inst(Opcode::Fence, &modifiers, Vec::new());
}
