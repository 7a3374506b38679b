//! Observing the execution of chosen warps, instruction by instruction.

use girih_ptx::Type;

use crate::Origin;
use crate::lanes::{Reg, Regs, WARP};
use crate::program::Code;

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
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) code: &'a Code,
    pub(crate) source: u32,
    pub(crate) active: u32,
    pub(crate) failed: bool,
    pub(crate) regs: &'a Regs,
    /// The lanes in which a register has been written; none if that is not known.
    pub(crate) written: &'a dyn Fn(Reg) -> Option<u32>,
    pub(crate) shared: &'a [u8],
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

    /// The warp's number in its block.
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

    /// The lanes that execute the instruction: those that have come to it and for which its guard is true. Bit 0 is
    /// lane 0.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// The lanes that execute the instruction, as numbers.
    pub fn active_lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..WARP).filter(move |lane| active >> lane & 1 == 1)
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
