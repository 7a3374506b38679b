//! Executes PTX on the CPU and judges it.
//!
//! ```text
//! girih_ptx::Module --load--> Program --kernel--> Kernel --run(memory, launch, options)----> Report | Error
//!                                                      `--judge(memory, launch, options)--> Verdict
//! ```
//!
//! The simulator knows nothing of layouts or of the generator: what an instruction does is written here from the PTX
//! ISA. A kernel with an instruction that the simulator does not know is an error that names instruction and line; the
//! other kernels of the module run.
//!
//! # Instructions
//! `ld`, `st` (param, shared, global, const, local, generic; vectors of up to 16 bytes), `atom` and `red` in every
//! operation, space and type (including vectors of f32 and 16-bit floats, and `.b128`), `cvta`, `isspacep`, `mapa`,
//! `getctarank`; `cp.async` with its groups and `cp.async.mbarrier.arrive`; `cp.async.bulk` and `cp.reduce.async.bulk`
//! in every direction, of plain bytes and of tensors (`.tile`, `.im2col`; the tensor map is as
//! [`girih_ptx::TensorMap::to_bytes`] encodes it, or made by `tensormap.replace` and `tensormap.cp_fenceproxy`), with
//! multicast; `st.async`, `red.async`; `mbarrier` in every form, `barrier.cluster`; integer (with carry, too), f32,
//! f64, f16, bf16 and packed arithmetic, logic, shifts, bit fields, `lop3`, `prmt`, `fns`, `dp4a`, video instructions
//! of halves and bytes, `setp`, `set`, `selp`, `slct`, `mov`, `cvt` (including 8-bit floats and `.pack`); `bra`, `brx`,
//! `call`, `ret`, `exit`, `trap`, `vprintf`, `__assertfail`; `alloca`, `stacksave`, `stackrestore`; `bar.sync`,
//! `bar.arrive`, `bar.red`, `bar.warp.sync`, fences; `shfl.sync`, `vote.sync`, `redux.sync`, `match.sync`,
//! `elect.sync`, `activemask`; `ldmatrix`, `stmatrix`, `movmatrix`; `wmma.load`, `wmma.mma`, `wmma.store`; `mma.sync`
//! and `mma.sp` of every type and shape of sm_70 to sm_90; `wgmma` of every type and shape, with A in shared memory or
//! in registers, dense or sparse. Cache hints and policies, `nanosleep`, `griddepcontrol`, `pmevent` and `brkpt` have
//! no effect.
//!
//! Variables of the module in global and constant memory get their initial values when the module is loaded. Those in
//! global memory keep what is written to them as long as the program exists. A function is decoded in the place of each
//! call. But a function that calls itself, directly or not, or that is called through a register, has code of its own,
//! and its calls have frames on a stack of 8 KiB for each lane. Functions of other modules cannot be called. `%envreg`
//! registers are 0, except for those by which the blocks of a [cooperative launch](Launch::cooperative) find the memory
//! through which they wait for one another.
//!
//! A vector `red` or `atom` whose generic address is in shared memory is an error: an H200 leaves the memory unchanged.
//!
//! # Execution
//! The 32 lanes of a warp run in lockstep as long as they agree on the next instruction. Lanes that do not agree run in
//! groups, the group with the smallest program counter first, and groups become one where they meet. Every lane
//! executes its own program whatever the control flow. The unit of execution is a cluster of 1 to 16 blocks. The warps
//! of a cluster run in turn, each until it waits, exits, or has had its share of instructions. Clusters run in
//! parallel. A block of rank `r` sees its shared memory from the address `r << 24 | 1024` on, which is also where the
//! cluster's other blocks see it.
//!
//! Asynchronous operations run on their own. A bulk copy, a bulk reduction, `st.async` or `red.async` reads its source
//! at one moment and writes its destination at a later one, and different operations take effect in no particular
//! order. Without a seed each takes effect as late as the ISA allows: when a thread waits for it, or nothing else can
//! happen. A copy by `cp.async` is made when its thread waits for it, or before it arrives at its mbarrier.
//! [`Options::seed`] permutes the order of warps, the lengths of their turns, and the moments at which operations take
//! effect. With a seed, `try_wait` may fail at once, and with one seed in four it does whenever a warp asks for an
//! incomplete phase for the first time. Where nothing can happen any more, waits with a time limit reach the limit; if
//! that changes nothing either, it is a deadlock.
//!
//! As many blocks are resident at a time as fit the simulated device ([`Residency`]), so a grid barrier of more blocks
//! is reported. The size of a block is given by its threads, its shared memory and, where `.maxnreg` or `.minnctapersm`
//! determine them, its registers.
//!
//! A `wgmma` is one operation of the four warps of a warpgroup, which must issue the same one. It takes place once all
//! four have issued it. It reads shared memory when the first of them waits for its group (with a seed perhaps as soon
//! as it may), and the registers of each warp are read and written when that warp waits.
//!
//! `mma.sync` and `wgmma` add exact products to C in f32, from k = 0 up, with rounding to nearest at each sum (and once
//! more at the end for results in f16). Hardware adds in another order and with fewer bits (of 8-bit floats about 14),
//! so the results agree bit for bit where all partial sums are exact on hardware too, as with small integers. NaN
//! results of f32 arithmetic are 0x7fffffff.
//!
//! Where the ISA leaves details of TMA copies open, they are as on an H100 and an H200: the innermost coordinate is
//! a multiple of 16 bytes, rows narrower than the swizzle are padded to it, and stores accept no negative coordinates
//! and write whole units of 16 bytes of a row, even beyond its end.
//!
//! # Findings
//! A finding is an [`Error`], with a stable [`Error::kind`] and a [`Severity`]. [`run`] executes once and ends at the
//! first finding that is an error; [`judge`] executes with several seeds and reports all findings. In the simulator's
//! code, a check after which the execution can go on calls `cx.note(error)?`, which ends the execution only where that
//! is asked for. Otherwise the access is carried out, and recorded in the shadow memory, as if nothing were wrong. A
//! check after which the execution can't go on returns its error.
//!
//! # Checks
//! These are always made: bounds (of the allocation, or of the block's shared memory), alignment, writes to constant
//! memory (through global or generic addresses of its variables), deadlock, mbarriers that do not exist or whose counts
//! are exceeded, accesses to shared memory of blocks that have exited, operations in flight when a block exits whose
//! shared memory they use (except copies by `cp.async` that no mbarrier counts), registers of a `wgmma` (accumulators,
//! A) that other instructions access before its group has been waited for, warps of a warpgroup that disagree or stay
//! away, accesses to other threads' local memory through generic addresses, and accesses to shared and local memory
//! outside of the variable from which their address is computed. Where lanes execute together:
//!
//! - barriers wait for the lanes that have not exited. With `.aligned`, as in `bar.sync`, these must come to the same
//!   instruction; without, they may come from different instructions with the same barrier. All other `.aligned`
//!   instructions, such as `mma.sync`, need all lanes that the warp began with. Thread counts are multiples of 32;
//! - a lane must be in its own member mask, and the lanes in the mask must come with the same mask. To `bar.warp.sync`
//!   they may come from different instructions;
//! - `setmaxnreg` moves registers between the warps and a pool of their block, where `.maxnreg`, or `.minnctapersm` and
//!   a block size, determine how many registers a thread is launched with. Elsewhere it has no effect, as with ptxas.
//!   `.inc` waits for registers that `.dec` has given back. The four warps of a warpgroup must execute the same
//!   `setmaxnreg`, one after another.
//!
//! With [`Options::uninitialised`]: undefined values that decide something, from registers, from shared and local
//! memory, and from global memory of [`Memory::alloc_uninitialised`]. With [`Options::races`]: accesses to shared and
//! global memory that nothing orders. With either: accesses to shared memory that an asynchronous operation is going to
//! write, writes to shared memory that one may still read, ordinary accesses to the bytes of an mbarrier, and a `wgmma`
//! without a `wgmma.fence` after other accesses to its registers.
//!
//! Two accesses of different threads to a common byte, at least one of them a write, are a **race** unless one happens
//! before the other. The following edges order accesses, and nothing else does: neither lockstep within a warp nor
//! shuffles and votes. Each edge is between threads: a wait, a fence or a release of one lane is not one of the other
//! lanes of its warp.
//!
//! - Program order within a thread.
//! - `bar.sync`, `bar.arrive`: what a warp did before it arrived happens before what the waiting warps do after the
//!   barrier has completed. `bar.sync` also orders the lanes of a warp among themselves.
//! - `bar.warp.sync m`: orders what the lanes of `m` did before it and what they do after it.
//! - Strong accesses (`atom`, `red`; `ld` and `st` with `.volatile`, `.relaxed`, `.acquire`, `.release`) do not race
//!   with one another where they are morally strong: the scope of each includes the other's thread, both have elements
//!   of the same size, and both are of the same proxy. Otherwise they race as weak accesses do. A release pattern is a
//!   release, or a fence followed by a strong write of the same thread; an acquire pattern is an acquire, or a strong
//!   read followed by a fence of the same thread. If the acquire pattern reads the value that the release pattern has
//!   written, what came before the release or fence of the one happens before what comes after the acquire or fence of
//!   the other, provided that write and read are morally strong and that the scopes of both releases, acquires or
//!   fences include both threads. Atomics continue a value: each must be morally strong with the one before.
//!   `.volatile` is `.relaxed` in the widest scope, an atomic without a scope is `.gpu`, and `.gpu` and `.sys` are the
//!   same.
//! - A strong write also comes before everything that is ordered after a thread that has read its value, without a
//!   release or an acquire: that write alone, and nothing before it.
//! - `fence.sc`, `membar`: Fence-SC order, where it is the same in all executions. A fence is ordered before another if
//!   it comes before a strong write and the other comes after a strong read of the value; "before" and "after" may go
//!   through barriers and releases to other threads. Then what comes before the one fence happens before what comes
//!   after the other, if the scopes of both include both threads.
//! - `barrier.cluster`: what a thread did before it arrived with `.release`, or before a fence that a `.relaxed`
//!   arrival follows, happens before what the cluster's threads do after they have waited with `.acquire`.
//! - mbarriers: what a thread did before it arrived with `.release`, or before a fence that a `.relaxed` arrival
//!   follows, or before a `cp.async.mbarrier.arrive`, happens before what a thread does after a `test_wait` or
//!   `try_wait` with `.acquire` has told it that the phase is complete. `mbarrier.init` is a write that must come
//!   before every other use. Before an asynchronous operation may signal the mbarrier, a `fence.proxy.async`, or a
//!   `fence.mbarrier_init` of the initialising thread, must come after the initialisation, too. A scope counts where it
//!   is given. Without one, which by the ISA's text is `.cta`, arrivals and waits count as those of the cluster, since
//!   CUTLASS uses them so at other blocks' mbarriers.
//! - Bulk copies and reductions, `st.async`, `red.async`: what such an operation writes to shared memory, and with an
//!   mbarrier what it reads there, comes before what a thread does that knows the operation's phase of the mbarrier to
//!   be complete: the thread has waited for the phase, or is ordered after a thread that has. What the operations of
//!   bulk groups read comes before what their thread does after `wait_group`, with `.read` or without. At its issue an
//!   operation must come after every other access; until its end is known, the bytes are in flight. Only asynchronous
//!   reductions may meet in the same bytes: those by `cp.reduce.async.bulk` whose elements have the same size, and those
//!   by `red.async` whose elements have. Any other access must come before the issue of each of them or after its end.
//!   That is also so for atomics: bulk reductions are of another proxy, and of `red.async` the ISA does not say that it
//!   is morally strong with an `atom`.
//! - `wgmma` reads the memory that its descriptors describe between its issue and the return of the first
//!   `wgmma.wait_group` of its warpgroup that waits for it. All lanes of a warp issue it as one, so it comes after what
//!   any of them did or is ordered after. At its issue it must come after what other threads have written. What it read
//!   comes before what a warp does that has waited for it, or that is ordered after one that has.
//! - Proxies: bulk operations and `wgmma` belong to the async proxy. They may read or overwrite what the generic proxy
//!   wrote only after a `fence.proxy.async`, in whichever thread, that comes after the write and before the operation.
//!   A fence of `.global` covers global memory, one of `.shared::cluster` shared memory, and one of `.shared::cta` what
//!   threads of a block have written to their own block's shared memory. `cp.async`, `st.async` and `red.async` belong
//!   to the generic proxy here. What bulk operations have written can be read without a fence.
//! - Tensor maps: a TMA copy sees what a kernel has written to its map in global memory after a
//!   `fence.proxy.tensormap::generic.release` that comes after the write (`tensormap.cp_fenceproxy` has one for its
//!   copy), and then an `.acquire` that names the map and comes before the copy, in whichever threads. The scopes of
//!   both must include the thread that wrote and the one that acquires. Both are fences as well. A `fence` with
//!   `.sync_restrict`, which has the scope of the cluster, orders accesses to global memory too.
//! - `cp.async`: the copy writes between its issue and the return of the `wait_group` or `wait_all` of the thread that
//!   issued it, and counts as that thread's write at the wait. In between the bytes are in flight: any access to them
//!   is an error, even one of the same thread. At its issue the copy must come after every other thread's access.
//!
//! Asynchronous operations access global memory as late as they may: what they read or write there is ordered before
//! what follows only once their end is known. The end of a bulk copy from global memory is known by the mbarrier, that
//! of bulk stores and reductions by `wait_group` without `.read`, and that of `cp.async` by its waits and by the
//! mbarrier at which it arrives. Reductions are relaxed atomics of the async proxy, of which nobody knows which have
//! seen which: to know the end of one is not to know that of another. What `ld.global.nc` reads must not be written in
//! the same launch, whether the accesses are ordered or not.
//!
//! A `.volatile` read of what another lane of the warp has written by a `.volatile` write, with nothing that orders the
//! two, is no race by the memory model. It is reported all the same, as lanes need not run in lockstep. It is not
//! reported if the value decides whether a loop repeats the read, or if the instruction has read the place before, as
//! it then waits for a value.
//!
//! Shared memory of another block of the cluster may be accessed once that block is known to run: after a wait for
//! `barrier.cluster`, or after anything that the block did.
//!
//! A race between a weak write and an earlier write of the same values is only a warning. It is not reported at all if
//! both writes are of one instruction in one cluster, on which compilers rely where several threads hold the same
//! element. Further races are only warnings, as they do no harm on any GPU ([`Formal`]). It is also only a warning if the
//! async proxy signals an mbarrier that no fence has made known to it.
//!
//! An address is computed from a variable if all instructions that write the register are copies, conversions and sums
//! of that variable's address and numbers. Where the variable may be one of two, or where other instructions take part,
//! nothing is checked.
//!
//! **Undefined** are registers and bytes that nothing has written, and the value that a shuffle takes from a lane that
//! does not execute it. Undefined values may be copied, stored in shared and local memory, exchanged and computed with.
//! A result is undefined as far as it depends on them: bit by bit for moves, logic, shifts, integer conversions, `selp`
//! and products with 0, and by rows and columns for `mma.sync` and `wgmma`. It is an error if an undefined value decides something:
//! an address, a guard, a store or an atomic to global memory, an operand of an atomic, of a barrier or of an exchange
//! that selects lanes, or what a bulk operation reads. The error names the origin of the
//! value. Bytes without a value that are copied to global memory along with neighbours with a value (of the same
//! element, of eight bytes that are copied one by one, or, from global memory, of the same access) may be the padding
//! of a structure, and are a warning.
//!
//! The reads of `ldmatrix` count as those of the lanes that receive the data (with `.trans`, as those of one of the two
//! lanes that receive neighbours). Every race in shared memory of the observed execution is found, whichever access
//! came first in it; a race on a path that this input does not take is not found. Shared memory that is accessed
//! through generic addresses counts as shared. A thread that has waited for its copies by `cp.async` counts as one that
//! knows the phase complete at which they arrive, which includes other threads' copies.
//!
//! Global memory is checked in the same way: the blocks of a launch are ordered only by releases and acquires in global
//! memory, and every other edge passes on what these have passed. An access is compared with the last write, and
//! with all reads and strong accesses since that nothing has ordered, so that of several accesses that race at least
//! two are reported. Where blocks cannot communicate, reads of two clusters stand for those of all, since a
//! writer races with at least one of them. Findings depend on the seed alone and not on the number of workers: where an
//! execution on several workers has found something, it is repeated from the same memory on one.

mod decode;
mod demangle;
mod error;
mod exec;
mod execute;
mod float;
mod grid;
mod lanes;
mod launch;
mod ledger;
mod memory;
mod names;
mod observe;
mod op;
mod options;
mod profile;
mod program;
mod reduce;
mod report;
mod residency;
mod shadow;
mod snapshot;
mod space;
mod tensor;
mod verdict;

pub use demangle::{is_named, plain_name};
pub use error::{
    Awaited, Deny, Error, Formal, MbarrierFault, Origin, Other, Place, Severity, Site, Used, Waiting,
};
pub use execute::run;
pub use launch::Launch;
pub use ledger::Finding;
pub use memory::{Lent, Memory};
pub use observe::{Flight, InFlight, Moment, Observer, Phases, Register};
pub use options::{Options, Print, Progress};
pub use profile::{Class, Line, Profile};
pub use program::{Kernel, Param, Program};
pub use reduce::{Reduced, reduce};
pub use report::Report;
pub use residency::Residency;
pub use space::{Access, Nearest, Space};
pub use verdict::{Verdict, judge};

/// The program in the guide is a test; its kernels are those of `tests/model.rs`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/simulator.md")]
struct Guide;
