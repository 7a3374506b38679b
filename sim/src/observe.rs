//! Observing the execution of chosen warps, instruction by instruction.

use std::ops::Range;
use std::sync::Arc;

use girih_ptx::Type;

use crate::error::Awaited;
use crate::lanes::{Reg, Regs, WARP};
use crate::program::Code;
use crate::{Kernel, Launch, Origin};

/// An observer sees every instruction of the warps that it chooses. Blocks run in parallel, so that calls for different
/// blocks may come from different threads; the calls for one warp come in the warp's order.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use girih_sim::{Launch, Memory, Moment, Observer, Options, Program, run};
///
/// #[derive(Default)]
/// struct Sums(Mutex<Vec<String>>);
///
/// impl Observer for Sums {
///     fn chooses(&self, block: [u32; 3], warp: u32) -> bool {
///         block == [1, 0, 0] && warp == 0
///     }
///     fn after(&self, moment: &Moment<'_>) {
///         for written in moment.writes().filter(|written| written.name == "%s") {
///             let values: Vec<_> = moment.active_lanes().map(|lane| written.lanes[lane]).collect();
///             self.0.lock().unwrap().push(format!("{}: {values:?}", moment.instruction()));
///         }
///     }
/// }
///
/// let module = girih_ptx::Module::parse(
///     ".version 8.0 .target sm_80 .address_size 64
///      .visible .entry sums() {
///        .reg .u32 %b, %t, %s;
///        mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; add.u32 %s, %b, %t; ret;
///      }",
/// )?;
/// let program = Program::load(&module)?;
/// let sums = Arc::new(Sums::default());
/// let launch = Launch { grid: [2, 1, 1], block: [3, 1, 1], ..Launch::default() };
/// let options = Options { observer: Some(sums.clone()), ..Options::default() };
/// run(program.kernel("sums")?, &Memory::new(), &launch, &options)?;
/// assert_eq!(*sums.0.lock().unwrap(), ["add.u32 %s, %b, %t: [1, 2, 3]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer: Send + Sync {
    /// Whether to observe this warp of this block. Asked when the block begins.
    fn chooses(&self, block: [u32; 3], warp: u32) -> bool;

    /// Lanes of a chosen warp begin an instruction. Called once, even if the lanes wait at the instruction for long.
    fn before(&self, moment: &Moment<'_>) {
        let _ = moment;
    }

    /// The lanes have executed the instruction, or there was a finding at it, as [`Moment::failed`] tells. The
    /// execution may go on after a finding.
    fn after(&self, moment: &Moment<'_>) {
        let _ = moment;
    }
}

/// The state of a warp before or after an instruction.
pub struct Moment<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) launch: &'a Launch,
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) code: &'a Code,
    pub(crate) source: u32,
    pub(crate) active: u32,
    pub(crate) failed: bool,
    pub(crate) step: u64,
    pub(crate) awaited: Option<Awaited>,
    pub(crate) passed: Option<(u64, u64)>,
    pub(crate) inside: &'a dyn Inside,
    pub(crate) regs: &'a Regs,
    /// The lanes in which a register has been written; `None` if that is not known.
    pub(crate) written: &'a dyn Fn(Reg) -> Option<u32>,
    pub(crate) shared: &'a [u8],
}

/// The state of the warp's block at a moment, which is computed only on request.
pub(crate) trait Inside {
    /// The mbarriers of the block, by their places.
    fn mbarriers(&self) -> Vec<Phases>;

    /// The asynchronous operations of the block and of the warp, oldest first.
    fn in_flight(&self) -> Vec<InFlight>;
}

/// The state of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// The shared address of the mbarrier.
    pub address: u64,
    /// Where the mbarrier begins in [`Moment::shared`].
    pub offset: usize,
    /// How many phases have completed. The parity of the current phase is that of this number.
    pub completed: u64,
    /// Arrivals that a phase takes.
    pub expected: u32,
    /// Arrivals that the current phase still takes.
    pub pending: u32,
    /// Bytes that are expected and have not arrived; negative if more have arrived than were expected.
    pub transactions: i64,
}

/// Kinds of asynchronous operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flight {
    /// Copies of threads, by `cp.async`, whose end no mbarrier tells.
    Copy,
    /// Bulk copies and reductions, of plain bytes and of tensors; `st.async`, `red.async`; copies by `cp.async` whose end an mbarrier
    /// tells.
    Bulk,
    /// A `wgmma`.
    Product,
}

/// An asynchronous operation: a copy, a reduction or a `wgmma` that has been issued, and of whose end nobody has been told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InFlight {
    /// The kind.
    pub kind: Flight,
    /// The line of the instruction that has issued the operation. For copies by `cp.async` whose end an mbarrier tells, that is
    /// the instruction that has made them arrive there.
    pub line: u32,
    /// The instruction's text.
    pub instruction: Arc<str>,
    /// `%ctaid` of the block that has issued the operation.
    pub block: [u32; 3],
    /// The number in its block of the warp that has issued the operation.
    pub warp: u32,
    /// The lanes that have issued the operation.
    pub lanes: u32,
    /// The bytes that the operation moves; 0 for a `wgmma`.
    pub bytes: u64,
    /// The bytes of [`Moment::shared`] that the operation reads.
    pub reads: Vec<Range<usize>>,
    /// The bytes of [`Moment::shared`] that the operation writes.
    pub writes: Vec<Range<usize>>,
    /// The shared address of the mbarrier that the operation signals when it has ended.
    pub signals: Option<u64>,
    /// Whether the operation has done what it does and its thread has only not waited for it.
    pub done: bool,
}

impl InFlight {
    /// Ranges in order, of which no two touch.
    pub(crate) fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, kept| {
            let touches = next.start <= kept.end;
            if touches {
                kept.end = kept.end.max(next.end);
            }
            touches
        });
        ranges
    }
}

/// A register of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    /// The name of the register in the program.
    pub name: &'a str,
    /// The type with which the register was declared.
    pub ty: Type,
    /// The bits of each lane, from lane 0 on.
    pub lanes: [u64; WARP],
    /// The lanes in which the register has been written; all if
    /// [`Options::uninitialised`](crate::Options::uninitialised) is off.
    pub written: u32,
}

impl<'a> Moment<'a> {
    /// `%ctaid` of the warp's block.
    pub fn block(&self) -> [u32; 3] {
        self.block
    }

    /// The warp's index in its block.
    pub fn warp(&self) -> u32 {
        self.warp
    }

    /// The instruction's line in the text, from 1.
    pub fn line(&self) -> u32 {
        self.code.sources[self.source as usize].line
    }

    /// The source line that the instruction was compiled from, if the text has `.loc`.
    pub fn origin(&self) -> Option<&'a Origin> {
        self.code.sources[self.source as usize].origin.as_deref()
    }

    /// The instruction's text.
    pub fn instruction(&self) -> &'a str {
        &self.code.sources[self.source as usize].text
    }

    /// The lanes that execute the instruction: those that have reached it and for which its guard is true. Bit 0 is
    /// lane 0.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// The lanes that execute the instruction, as numbers.
    pub fn active_lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..WARP).filter(move |lane| active >> lane & 1 == 1)
    }

    /// The kernel.
    pub fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// The launch.
    pub fn launch(&self) -> &'a Launch {
        self.launch
    }

    /// How many instructions the warps of the block's cluster have begun when this one begins, itself included. Of an instruction
    /// that had to wait, [`Observer::before`] sees the number when it was first tried, and [`Observer::after`] that when
    /// it was executed. The numbers order what all warps of a cluster do.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The event for which the lanes have waited at this instruction, as it was when the wait began; `None` if they did not wait. A wait at a barrier
    /// of the block ends with the begin of the warp's next instruction.
    pub fn awaited(&self) -> Option<Awaited> {
        self.awaited
    }

    /// The shared address of the mbarrier and the number of the phase, from 0, that lanes have found complete at this `test_wait` or
    /// `try_wait`, whether they had to wait or not; none before the instruction has been executed. Where lanes ask for several, it is the
    /// last lane's. The phase before the first, which counts as complete, is none.
    pub fn passed(&self) -> Option<(u64, u64)> {
        self.passed
    }

    /// The mbarriers in the block's shared memory, by address.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use girih_sim::{Launch, Memory, Moment, Observer, Options, Program, run};
    ///
    /// /// The pending arrivals after each instruction.
    /// #[derive(Default)]
    /// struct Pending(Mutex<Vec<Vec<u32>>>);
    ///
    /// impl Observer for Pending {
    ///     fn chooses(&self, _: [u32; 3], _: u32) -> bool {
    ///         true
    ///     }
    ///     fn after(&self, moment: &Moment<'_>) {
    ///         self.0.lock().unwrap().push(moment.mbarriers().iter().map(|of| of.pending).collect());
    ///     }
    /// }
    ///
    /// let module = girih_ptx::Module::parse(
    ///     ".version 8.0 .target sm_90 .address_size 64
    ///      .visible .entry arrive() {
    ///        .shared .align 8 .b64 bar;
    ///        mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 _, [bar]; ret;
    ///      }",
    /// )?;
    /// let program = Program::load(&module)?;
    /// let pending = Arc::new(Pending::default());
    /// let launch = Launch { grid: [1; 3], block: [1, 1, 1], ..Launch::default() };
    /// let options = Options { observer: Some(pending.clone()), ..Options::default() };
    /// run(program.kernel("arrive")?, &Memory::new(), &launch, &options)?;
    /// assert_eq!(*pending.0.lock().unwrap(), [[3], [2], [2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mbarriers(&self) -> Vec<Phases> {
        self.inside.mbarriers()
    }

    /// The asynchronous operations in flight that the block has issued, or that access its shared memory, oldest first. Of copies by
    /// `cp.async` without an mbarrier and of `wgmma` those of this warp alone: the others know theirs. Copies of the lanes of a warp
    /// by one instruction, in one group, are one operation.
    pub fn in_flight(&self) -> Vec<InFlight> {
        self.inside.in_flight()
    }

    /// Whether there was a finding at this instruction.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// The declared registers that the kernel uses, in the order of their first use.
    pub fn registers(&self) -> impl Iterator<Item = Register<'a>> {
        self.code.names.iter().map(|(reg, name, ty)| self.register(*reg, name, *ty))
    }

    /// The registers that the instruction writes. A `wgmma.mma_async` writes its registers later.
    pub fn writes(&self) -> impl Iterator<Item = Register<'a>> {
        let writes = &self.code.sources[self.source as usize].writes;
        let named = self.code.names.iter().filter(|(reg, ..)| writes.contains(reg));
        named.map(|(reg, name, ty)| self.register(*reg, name, *ty))
    }

    /// The shared memory of the block, with the dynamic part. Byte 0 is the first byte of the block's first variable.
    pub fn shared(&self) -> &'a [u8] {
        self.shared
    }

    fn register(&self, reg: Reg, name: &'a str, ty: Type) -> Register<'a> {
        let lanes = std::array::from_fn(|lane| self.regs.get(reg, lane));
        Register { name, ty, lanes, written: (self.written)(reg).unwrap_or(!0) }
    }
}
