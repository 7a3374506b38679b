//! Executes PTX on the CPU and judges it.
//!
//! ```text
//! girih_ptx::Module --load--> Program --kernel--> Kernel --run(memory, launch, options)----> Report | Error
//!                                                     `--judge(memory, launch, options)--> Verdict
//! ```
//!
//! The simulator knows nothing of layouts or of the generator: what an instruction does is written here from the
//! PTX ISA. A kernel with an instruction that it does not know is an error naming instruction and line; the module's other
//! kernels run.
//!
//! # Instructions
//! `ld`, `st` (param, shared, global, const, local, generic; vectors of up to 16 bytes), `atom` and `red` in every
//! operation, space and type (vectors of f32 and 16-bit floats too, `.b128`), `cvta`, `isspacep`, `mapa`, `getctarank`,
//! `cp.async` with its groups and `cp.async.mbarrier.arrive`; `cp.async.bulk` and `cp.reduce.async.bulk` in every
//! direction, of plain bytes and of tensors (`.tile`, `.im2col`; the map as [`girih_ptx::TensorMap::to_bytes`] encodes it, or made by
//! `tensormap.replace` and `tensormap.cp_fenceproxy`), with multicast, `st.async`, `red.async`; `mbarrier` in every form, `barrier.cluster`;
//! integer (sums with carry too), f32, f64, f16, bf16 and packed arithmetic, logic, shifts, bit fields, `lop3`, `prmt`,
//! `fns`, `dp4a`, video instructions of halves and bytes, `setp`, `set`, `selp`, `slct`, `mov`, `cvt` (8-bit floats too, and
//! `.pack`); `bra`, `brx`, `call`, `ret`, `exit`, `trap`, `vprintf`, `__assertfail`; `alloca` and its like;
//! `bar.sync`, `bar.arrive`, `bar.red`, `bar.warp.sync`, fences; `shfl.sync`, `vote.sync`, `redux.sync`, `match.sync`,
//! `elect.sync`, `activemask`; `ldmatrix`, `stmatrix`, `movmatrix`; `wmma.load`, `wmma.mma`, `wmma.store`; `mma.sync` of
//! every type and shape of sm_70 to sm_90, `mma.sp` too; `wgmma` of every type and shape, A in shared memory or in
//! registers, whole or sparse. Cache hints and policies, `nanosleep`,
//! `griddepcontrol`, `pmevent` and `brkpt` do nothing here.
//!
//! Variables of the module in global and constant memory have their first values when it is loaded and keep what is
//! written to them as long as the program. `call` decodes the function in its place; but functions that call themselves, by
//! whatever way, and functions that are called through registers have code of their own, and frames of 8 KiB in all on the stack
//! of a lane. There is no call of a function of another module. `%envreg` registers are 0, but for those by which the blocks
//! of a [cooperative launch](Launch::cooperative) find what they wait with.
//!
//! A vector `red` or `atom` whose generic address is one of shared memory is an error: an H200 leaves the memory as it is.
//!
//! # Execution
//! A warp's 32 lanes run in lockstep as long as they agree on the next instruction; lanes that do not agree run in
//! groups, the one with the smallest program counter first, and join where they meet. Every lane executes its own
//! program whatever the control flow. The unit that runs is a cluster of 1 to 16 blocks: its warps run in turn, each
//! until it waits, exits, or has had its share of instructions. Clusters run in parallel. A block of rank `r` sees its
//! shared memory from the address `r << 24 | 1024` on, which is also where its cluster sees it.
//!
//! Asynchronous operations are agents of their own. Bulk copies and reductions, `st.async` and `red.async` read their
//! source at one moment and write their destination at another, in no order among themselves; without a seed as late as
//! the ISA allows, which is when their thread waits for them or nothing else can happen. Copies by `cp.async` read
//! and write when their thread waits for them, or before the mbarrier that they arrive at is told.
//! [`Options::seed`] permutes the order of warps, how long each runs, and when operations take effect; `try_wait` may
//! then fail at once, and with one seed in four does whenever a warp first asks for a phase that is not complete. Where nothing can happen any more, waits with a time limit reach it; if that changes nothing, it
//! is a deadlock.
//!
//! As many blocks have begun and not ended as fit the device that is simulated ([`Residency`]): a grid barrier of more is told.
//! A block counts with its threads, its shared memory and, where `.maxnreg` or `.minnctapersm` tell them, its registers.
//!
//! A `wgmma` is one operation of the four warps of its warpgroup, which must issue the same: it takes place once all have,
//! and reads shared memory when the first of them waits for its group (with a seed perhaps as soon as it may); each warp's
//! registers are read and written when that warp waits.
//!
//! `mma.sync` and `wgmma` add exact products to C in f32, from k = 0 up, rounding to nearest at each sum (results in f16
//! once more at the end). Hardware adds in another order and with fewer bits (of 8-bit floats about 14), so the two agree
//! bit for bit where all partial sums are exact in that too, as with small integers. NaN results of f32 arithmetic are
//! 0x7fffffff.
//!
//! What of tensor copies the ISA's text leaves open is as an H100 and an H200 do it: the innermost coordinate is a multiple
//! of 16 bytes, rows narrower than the swizzle are padded to it, stores take no negative coordinates and write whole 16
//! bytes of a row, also behind its end.
//!
//! # Findings
//! What a check finds is an [`Error`], with a stable [`Error::kind`] and a [`Severity`]. [`run`] executes once and ends at
//! the first that is an error; [`judge`] executes for several seeds and tells all findings. In the simulator's code a check
//! after which the execution can go on is `cx.note(error)?`, which ends it only where that is asked for; the access is
//! then carried out as if nothing were wrong, in the shadow too. A check after which it can't returns its error.
//!
//! # Checks
//! Always: bounds (of the allocation, of the block's shared memory), alignment, deadlock, mbarriers used where there is none or beyond their counts, the shared memory of blocks that have
//! exited, operations that are in flight when a block exits whose shared memory they use, registers of a `wgmma` (the
//! accumulators, A) that other instructions touch before its group has been waited for, warps of a warpgroup that
//! disagree or stay away, other threads' local memory through generic addresses, accesses to shared and local memory
//! outside the variable that their address is made from. Where lanes execute together:
//!
//! - `bar.sync` and whatever else is `.aligned` needs all lanes that the warp began with: lanes that have exited do not
//!   count as there. `barrier.sync` without `.aligned` takes the lanes of a warp from any instructions with the same
//!   barrier, and waits for those that have not exited. Thread counts are multiples of 32;
//! - a lane is in its own member mask, and the lanes that it names come with the same mask, to `bar.warp.sync` from
//!   wherever they are;
//! - `setmaxnreg` moves registers between the warps and a pool of their block, where `.maxnreg`, or a block size with
//!   `.minnctapersm`, tell what a thread is launched with; elsewhere it has no effect, as with ptxas. `.inc` waits for
//!   registers that `.dec` has given back. The four warps of a warpgroup execute the same, one after another.
//!
//! With [`Options::uninitialised`]: undefined values of registers, of shared and local memory, and
//! of global memory from [`Memory::alloc_uninitialised`], where they decide something. With [`Options::races`]: accesses to shared and global memory that nothing orders. With either:
//! accesses to shared memory that an asynchronous operation is about to write, writes to what one may still read,
//! ordinary accesses to the bytes of an mbarrier, a `wgmma` without a `wgmma.fence` after other accesses of its
//! registers.
//!
//! Two accesses of different threads to a common byte, at least one of them a write, are a **race** unless one happens
//! before the other. These edges order accesses; nothing else does, lockstep within a warp, shuffles and votes included.
//! Each is one of threads: what a lane has waited for, fenced or released is not what its warp has.
//!
//! - program order within a thread;
//! - `bar.sync`, `bar.arrive`: what a warp did before it arrived happens before what the waiting warps do after the
//!   barrier completes; `bar.sync` orders the lanes of a warp among themselves too;
//! - `bar.warp.sync m`: orders what the lanes of `m` did before it and what they do after it;
//! - strong accesses (`atom`, `red`; `ld` and `st` with `.volatile`, `.relaxed`, `.acquire`, `.release`) do not race with
//!   one another where they are morally strong: each one's scope holds the other's thread, both have elements of one size, and
//!   both are of one proxy. Otherwise they race as weak ones do. What a thread did before a release, or before a fence of its
//!   own that a strong write follows, happens before what another does after it has read that value by an acquire, or
//!   strongly and then fenced, if read and write are morally strong, and the scopes of the release, or the fence, and of the
//!   acquire, or the fence, hold both threads. A value goes on through atomics that are morally strong each with the one before.
//!   `.volatile` is `.relaxed` in the widest scope, an atomic without a scope is `.gpu`, and `.gpu` and `.sys` are one;
//! - what a strong write wrote comes before what is ordered after somebody who has read it, without a release or an acquire:
//!   that write, and nothing before it;
//! - `fence.sc`, `membar`: Fence-SC order, where it is the same in all executions. A fence before a strong write and a fence after
//!   a strong read of its value, each in whichever thread that barriers and releases order so, are in that order, and what comes
//!   before the one happens before what comes after the other, if the scopes of both fences hold both threads;
//! - `barrier.cluster`: what a thread did before it arrived with `.release`, or before a fence that a `.relaxed` arrival
//!   follows, happens before what the cluster's threads do after they have waited with `.acquire`;
//! - mbarrier: what a thread did before it arrived with `.release`, or before a fence that a `.relaxed` arrival follows,
//!   happens before what a thread does after `test_wait` or `try_wait` with `.acquire` has told it that the phase is
//!   complete. So does what it did before a `cp.async.mbarrier.arrive`. `mbarrier.init` is a write, which must come before
//!   every other use; an asynchronous operation may signal the mbarrier after a `fence.proxy.async`, or a
//!   `fence.mbarrier_init` of the thread that initialised it, too. Scopes count where they are named; without one, which by
//!   the ISA's text is `.cta`, arrivals and waits count as those of the cluster, as CUTLASS uses them at other blocks' mbarriers;
//! - bulk copies and reductions, `st.async`, `red.async`: what they write to shared memory, and with an mbarrier what
//!   they read there, comes before what a thread does that knows the phase of the mbarrier complete that they belong to:
//!   it has waited for it, or is ordered after a thread that has. What bulk groups read comes before what their thread
//!   does after `wait_group`, with `.read` or without. At its issue an operation must come after every other access;
//!   until its end is known the bytes are in flight. Reductions into shared memory do not race with one another;
//! - `wgmma` reads what its descriptors name between its issue and the return of the first `wgmma.wait_group` of its
//!   warpgroup that waits for it. All lanes of a warp issue it as one, so it comes after what any of them did or is ordered
//!   after. At its issue it must come after what the other threads have written; what it read comes before what a warp does
//!   that has waited for it, or is ordered after one that has;
//! - proxies: bulk operations and `wgmma` belong to the async proxy. What the generic proxy wrote they may read or overwrite
//!   after a `fence.proxy.async` that comes after the write and before the operation, in whichever thread. One of `.global` is
//!   good for global memory, of `.shared::cluster` for shared memory, and of `.shared::cta` for what threads of a block
//!   have written to shared memory of their own. `cp.async`, `st.async` and `red.async` belong to the generic proxy here. What bulk operations have written needs
//!   no fence to be read;
//! - tensor maps: what a kernel writes to a map in global memory, its tensor copies see after a
//!   `fence.proxy.tensormap::generic.release` (`tensormap.cp_fenceproxy` has one for its copy) that comes after the write, and
//!   then an `.acquire` that names the map and comes before the copy, in whichever threads, if the scopes of both hold the
//!   thread that wrote and the one that acquires. Both are fences too. `fence` with `.sync_restrict`, in the scope of the
//!   cluster, orders accesses to global memory too;
//! - `cp.async`: the copy writes between its issue and the return of the `wait_group` or `wait_all` of the thread
//!   that issued it, and counts as that thread's write at the wait. In between the bytes are in flight: any access to
//!   them, the thread's own included, is an error. At its issue it must come after every other thread's access.
//!
//! Asynchronous operations access global memory as late as they may: what they read or write there is in order with what
//! follows only once it is known to be over. Of bulk copies from global memory the mbarrier tells that, of bulk stores and
//! reductions `wait_group` without `.read`, of `cp.async` its waits and the mbarrier that it arrives at. Reductions are
//! relaxed atomics of the async proxy. What `ld.global.nc` reads must not be written in the same launch, in order or not.
//!
//! A `.volatile` read of what another lane of the warp has written by `.volatile`, with nothing in between that orders them, is
//! no race by the model. It is reported all the same, as lanes are not in step; but not of a read whose value decides whether its
//! loop repeats it, or that has read the place before: these wait for a value.
//!
//! Shared memory of another block of the cluster may be accessed once that block is known to run: after a wait for
//! `barrier.cluster`, or something that the block did.
//!
//! A weak write of the bytes that are there already races with the write that put them there as a warning; and not at all if
//! both are of one instruction in one cluster, which compilers rely on where several threads have the same element. That
//! the async proxy signals an mbarrier which no fence has made known to it is a warning too.
//!
//! An address is made from a variable if all that writes its register are copies, conversions and sums of that variable's
//! address and numbers; where it may be made from two, or numbers that are not added, nothing is checked.
//!
//! **Undefined** are registers and bytes that nothing has written, and what a shuffle takes from a lane that does not execute
//! it. They may be copied, stored in shared and local memory, exchanged and computed with; a result is undefined as far as it
//! depends on them, bit by bit for moves, logic, shifts, integer conversions, `selp` and products with 0, of `mma.sync` by rows
//! and columns. It is an error to let them decide something: an address, a guard, a store or an atomic to global memory, an
//! operand of an atomic, a barrier or an exchange, the operands of a `wgmma`, what a bulk operation reads. It names where they
//! come from. Bytes without a value that are copied to global memory along with neighbours of one element, of eight bytes
//! that are copied one by one, or from global memory of one access, may be the padding of a structure and are a warning.
//!
//! The reads of `ldmatrix` are those of the lanes that receive the data (with `.trans`, of one of the two lanes that
//! receive neighbours). Every race in shared memory of the execution that was observed is found, whichever access came first
//! in it; a race on a path that this input does not take is not. Shared memory through generic addresses counts as shared. A thread that has
//! waited for its copies by `cp.async` counts as one that knows the phase that they arrive at complete, other threads' copies
//! included.
//!
//! Global memory is looked at in the same way: the blocks of a launch are unordered but by releases and acquires there,
//! and what these hand over is handed on by every other edge. An access is compared with the last write, and with all reads
//! and strong accesses since that nothing has ordered, so that of the accesses that race at least two are told. Where blocks
//! cannot communicate, reads of two clusters stand for those of all: who writes races with one of them. Findings depend on the seed alone, not on the number of workers: where an execution
//! on several has found something, it is repeated from the same memory on one.

mod decode;
mod error;
mod exec;
mod execute;
mod float;
mod grid;
mod lanes;
mod launch;
mod memory;
mod names;
mod observe;
mod op;
mod profile;
mod program;
mod reduce;
mod residency;
mod shadow;
mod snapshot;
mod tensor;
mod verdict;

pub use error::{Awaited, Error, MbarrierFault, Origin, Other, Place, Site, Used, Waiting};
pub use launch::{Launch, Options, Print, Progress, Report, run};
pub use memory::{Memory, Nearest};
pub use observe::{Moment, Observer, Register};
pub use profile::{Class, Line, Profile};
pub use program::{Kernel, Param, Program};
pub use reduce::{Reduced, reduce};
pub use residency::Residency;
pub use verdict::{Deny, Finding, Severity, Verdict, judge};

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
    /// Shared memory of the blocks of a cluster.
    Cluster,
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
            Space::Cluster => "shared::cluster",
            Space::Global => "global",
            Space::Local => "local",
            Space::Generic => "generic",
        })
    }
}
