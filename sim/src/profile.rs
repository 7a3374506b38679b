//! Counts what each instruction of a kernel does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use girih_ptx::{Opcode, Type};

use crate::{Kernel, Origin, Report};

/// Kinds of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Integer arithmetic, logic and shifts.
    Integer,
    /// Floating-point arithmetic, including approximations.
    Float,
    /// Conversions.
    Convert,
    /// Moves, comparisons and selections.
    Move,
    /// Exchange among the lanes of a warp.
    Exchange,
    /// `mma`, `wgmma` and `wmma`, and the loads and stores of their fragments.
    Matrix,
    /// Loads and stores, and asynchronous copies by threads or in bulk.
    Memory,
    /// `atom`, `red`.
    Atomic,
    /// Barriers, fences, mbarriers, and waits for copies.
    Barrier,
    /// Branches, calls, exits.
    Control,
    /// All other instructions.
    Other,
}

impl Class {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Class::Integer => "integer",
            Class::Float => "float",
            Class::Convert => "convert",
            Class::Move => "move",
            Class::Exchange => "exchange",
            Class::Matrix => "matrix",
            Class::Memory => "memory",
            Class::Atomic => "atomic",
            Class::Barrier => "barrier",
            Class::Control => "control",
            Class::Other => "other",
        }
    }

    /// The class of an instruction, from its text.
    fn of(text: &str) -> Class {
        use Opcode as O;
        let words = opcode_of(text);
        let Some(opcode) = words.split('.').next().and_then(Opcode::parse) else { return Class::Other };
        let ty = words.rsplit('.').find_map(Type::parse);
        let float = ty.is_some_and(|ty| !ty.is_int() && !ty.is_bits() && ty.bits() != Some(1));
        match opcode {
            O::Cvt | O::Cvta | O::Mapa => Class::Convert,
            O::Mov | O::Selp | O::Setp | O::Set | O::Slct | O::Testp | O::Isspacep => Class::Move,
            O::Shfl | O::Vote | O::Match | O::Redux | O::Activemask | O::Elect => Class::Exchange,
            O::Cp if words.contains("commit") || words.contains("wait") => Class::Barrier,
            O::Wgmma if !words.contains("mma_async") => Class::Barrier,
            O::Mma | O::Wgmma | O::Wmma | O::Ldmatrix | O::Stmatrix | O::Movmatrix => Class::Matrix,
            O::Ld | O::St | O::Cp | O::Prefetch | O::Prefetchu | O::Discard => Class::Memory,
            O::Atom | O::Red => Class::Atomic,
            O::Bar | O::Barrier | O::Membar | O::Fence | O::Mbarrier => Class::Barrier,
            O::Bra | O::Brx | O::Call | O::Ret | O::Exit | O::Trap => Class::Control,
            O::Nanosleep | O::Setmaxnreg | O::Griddepcontrol | O::Createpolicy => Class::Other,
            _ if float => Class::Float,
            _ => Class::Integer,
        }
    }
}

/// The opcode and the modifiers of an instruction's text: the word between the guard and the operands.
fn opcode_of(text: &str) -> &str {
    let mut words = text.split_whitespace();
    match words.next() {
        Some(guard) if guard.starts_with('@') => words.next().unwrap_or_default(),
        word => word.unwrap_or_default(),
    }
}

/// The multiplications and additions of one warp in an instruction on matrices; for `wgmma`, a quarter of the whole
/// product.
fn flops(text: &str) -> u64 {
    let words = opcode_of(text);
    let asynchronous = words.starts_with("wgmma.mma_async");
    if !words.starts_with("mma.") && !words.starts_with("wmma.mma") && !asynchronous {
        return 0;
    }
    let shape = |word: &str| -> Option<u64> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let [m, n, k]: [u64; 3] = [m.parse().ok()?, n.parse().ok()?, k.parse().ok()?];
        Some(2 * m * n * k / if asynchronous { 4 } else { 1 })
    };
    words.split('.').find_map(shape).unwrap_or(0)
}

/// An instruction, and what it did in all warps together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Line {
    /// The instruction's line in the PTX text, from 1.
    pub line: u32,
    /// The source line that the instruction was compiled from, if the text has `.loc`.
    pub origin: Option<Arc<Origin>>,
    /// The instruction's text.
    pub instruction: Arc<str>,
    /// The class of the instruction.
    pub class: Class,
    /// The counts of the instruction; blocks are not counted.
    pub counts: Report,
    /// Multiplications and additions on matrices by this instruction.
    pub flops: u64,
}

/// Collects what each instruction of a kernel does, over all launches that have the profile in their
/// [`Options::profile`](crate::Options::profile). Clones share the same counts.
///
/// ```
/// # use girih_sim::{Launch, Memory, Options, Profile, Program, run};
/// let text = ".version 8.0 .target sm_80 .address_size 64
///     .visible .entry store(.param .u64 to) {
///       .reg .b32 %r; .reg .b64 %d;
///       mov.u32 %r, %tid.x; ld.param.u64 %d, [to]; mad.wide.u32 %d, %r, 64, %d;
///       st.global.u32 [%d], %r; ret;
///     }";
/// let program = Program::load(&girih_ptx::Module::parse(text)?)?;
/// let (memory, profile) = (Memory::new(), Profile::default());
/// let to = memory.alloc(32 * 64)?;
/// let launch = Launch { grid: [1; 3], block: [32, 1, 1], args: vec![to.to_le_bytes().into()], ..Launch::default() };
/// let options = Options { counts: true, profile: Some(profile.clone()), ..Options::default() };
/// run(program.kernel("store")?, &memory, &launch, &options)?;
/// let lines = profile.lines("store");
/// // 4 bytes in each of 32 sectors: 128 bytes would fit 4.
/// let store = lines.iter().find(|line| line.instruction.starts_with("st.")).unwrap();
/// assert_eq!((store.counts.sectors, store.counts.least_sectors, store.counts.global_bytes), (32, 4, 128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Profile {
    kernels: Arc<Mutex<BTreeMap<Arc<str>, Vec<Line>>>>,
}

impl Profile {
    /// The instructions of a kernel in order; empty if the kernel has not been launched.
    pub fn lines(&self, kernel: &str) -> Vec<Line> {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.get(kernel).cloned().unwrap_or_default()
    }

    /// The number of executed warp instructions of a kernel, by class.
    pub fn classes(&self, kernel: &str) -> BTreeMap<Class, u64> {
        let mut classes = BTreeMap::new();
        for line in self.lines(kernel).iter().filter(|line| line.counts.instructions > 0) {
            *classes.entry(line.class).or_insert(0) += line.counts.instructions;
        }
        classes
    }

    /// Adds what another profile has collected.
    pub(crate) fn absorb(&self, other: &Profile) {
        let from = other.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        for (kernel, lines) in from.iter() {
            let Some(to) = kernels.get_mut(kernel) else {
                kernels.insert(kernel.clone(), lines.clone());
                continue;
            };
            for (to, line) in to.iter_mut().zip(lines) {
                to.counts.add(&line.counts);
                to.flops += line.flops;
            }
        }
    }

    /// Adds what each instruction did in a cluster.
    pub(crate) fn add(&self, kernel: &Kernel, counts: &[Report]) {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = kernels.entry(kernel.name.clone()).or_insert_with(|| {
            let line = |source: &crate::op::Source| Line {
                line: source.line,
                origin: source.origin.clone(),
                instruction: source.text.clone(),
                class: Class::of(&source.text),
                counts: Report::default(),
                flops: 0,
            };
            kernel.code.sources.iter().map(line).collect()
        });
        for (line, counts) in lines.iter_mut().zip(counts) {
            line.counts.add(counts);
            line.flops += counts.instructions * flops(&line.instruction);
        }
    }
}

/// A table of the instructions of every kernel that were executed.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        for (kernel, lines) in kernels.iter() {
            writeln!(f, "{kernel}")?;
            writeln!(
                f,
                "{:>6} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}  instruction",
                "line", "executed", "waits", "wavefronts", "at least", "sectors", "at least"
            )?;
            let mut last = None;
            for Line { line, origin, instruction, counts, .. } in
                lines.iter().filter(|line| line.counts.instructions > 0)
            {
                let Report {
                    instructions, waits, wavefronts, least_wavefronts, sectors, least_sectors, ..
                } = counts;
                if *origin != last {
                    writeln!(f, "{}", origin.as_ref().map_or("?".into(), |origin| origin.to_string()))?;
                    last.clone_from(origin);
                }
                let shown = |count: u64| if count == 0 { "-".into() } else { count.to_string() };
                writeln!(
                    f,
                    "{line:>6} {instructions:>12} {:>12} {:>12} {:>12} {:>12} {:>12}  {instruction}",
                    shown(*waits),
                    shown(*wavefronts),
                    shown(*least_wavefronts),
                    shown(*sectors),
                    shown(*least_sectors)
                )?;
            }
        }
        Ok(())
    }
}

/// Attributes the counts of a cluster to its instructions.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    /// The counts of each instruction.
    pub(crate) counts: Vec<Report>,
    /// The instruction that is being executed.
    source: usize,
    /// The counts of the cluster when that instruction began.
    before: Report,
}

impl Attribution {
    pub(crate) fn new(instructions: usize) -> Attribution {
        Attribution { counts: vec![Report::default(); instructions], ..Attribution::default() }
    }

    /// Begins a cluster.
    pub(crate) fn start(&mut self, report: &Report) {
        self.counts.fill(Report::default());
        (self.source, self.before) = (0, *report);
    }

    /// Attributes what has been counted since the last call to the instruction of that call, and begins the instruction
    /// `source`.
    pub(crate) fn next(&mut self, report: &Report, source: u32) {
        if let Some(counts) = self.counts.get_mut(self.source) {
            counts.add(&report.since(&self.before));
        }
        (self.source, self.before) = (source as usize, *report);
    }
}
