//! The resources of an SM that a kernel uses: registers, shared memory, and the number of blocks that fit.

use std::fmt;

use girih_codegen::Kernel;
#[cfg(feature = "launch")]
use girih_device::{Assembler, Optimization};
use girih_ptx::{Directive, Item, Opcode, Operand, Site, Statement, Word};

pub use crate::figures::{Assembled, Spill};
use crate::fit;
use crate::ir::Func;
use crate::place::Plan;
use crate::place::ahead::shared;

/// Registers of an SM, and the most registers of a thread.
const REGISTERS: u32 = 65536;
const NAMED: u32 = 255;
/// Threads, and blocks, that an SM runs at once.
const THREADS: u32 = 2048;
const BLOCKS: u32 = 32;
/// Registers of a thread are assigned in multiples of this.
const GRANULE: u32 = 8;
/// The error margin of an estimate, in registers of a thread.
pub(crate) const MARGIN: u32 = 8;
/// Shared memory in bytes that each block reserves in addition to its own. One block can have all of an SM's but these.
const RESERVED: u32 = 1024;

/// The resources of an SM that a kernel uses. Registers are 32 bits.
///
/// # Examples
/// ```
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
///     let block = bid(0);
///     y.tiles_mut([1024]).store((block,), x.tiles([1024]).load((block,)) * 2.0);
/// }
///
/// let resources = girih_tile::compile(&double::ir()?, 90)?.resources;
/// assert!(resources.registers < resources.limit && !resources.spills());
/// assert_eq!(resources.blocks.by_threads, 2048 / resources.threads);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Threads of a block.
    pub threads: u32,
    /// Registers that a thread needs, [estimated](girih_ptx::Pressure) from the kernel's text.
    pub registers: u32,
    /// The most registers that a thread can have: by the encoding, by its share of an SM, or by its warpgroup's `setmaxnreg`.
    pub limit: u32,
    /// The place in the program at which the most registers are live, if it is known.
    pub site: Option<Site>,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Blocks of an SM.
    pub blocks: Blocks,
    /// Registers that are live at once in the order of the text.
    pub(crate) written: u32,
    /// The number of blocks per SM that the assembler is told, if it would spill to make room for one more.
    pub(crate) told: Option<u32>,
}

/// The number of blocks that fit an SM, by each resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// By registers.
    pub by_registers: u32,
    /// By shared memory.
    pub by_shared: u32,
    /// By threads.
    pub by_threads: u32,
}

impl Blocks {
    /// The least of them.
    pub fn fit(&self) -> u32 {
        self.by_registers.min(self.by_shared).min(self.by_threads)
    }
}

impl Resources {
    /// The resources of a kernel for an architecture, such as 90.
    pub fn of(kernel: &Kernel, sm: u32) -> Resources {
        let module = kernel.module();
        let threads = kernel.threads().max(1);
        let (mut told, mut asked) = (None, None);
        for item in &module.items {
            let Item::Kernel(of) = item else { continue };
            for directive in &of.directives {
                if let Directive::MinNctaPerSm(blocks) = directive {
                    told = Some((*blocks).max(1));
                }
            }
            asked = asked.or(of.body.iter().find_map(raised));
        }
        let share = share_of(threads, told.unwrap_or(1));
        let pressure = module.pressure(kernel.name());
        let (written, least) =
            pressure.as_ref().map_or((0, 0), |pressure| (pressure.written, pressure.least));
        let (registers, site) = pressure.map_or((0, None), |pressure| (pressure.registers, pressure.site));
        // Warpgroups that pass registers on begin with their whole share; a kernel that spills has no more than its limit.
        let given = if asked.is_some() { share } else { registers.clamp(1, share).next_multiple_of(GRANULE) };
        let shared_bytes = kernel.shared_bytes();
        let blocks = Blocks {
            by_registers: (REGISTERS / (given * threads)).min(BLOCKS),
            by_shared: ((fit::word(shared(sm)) + RESERVED) / (shared_bytes + RESERVED)).min(BLOCKS),
            by_threads: (THREADS / threads).min(BLOCKS),
        };
        // ptxas 13.0 spills a few registers if that makes room for one more block after two or more, unless it is told how many there are.
        let more = (blocks.by_registers < blocks.by_shared.min(blocks.by_threads))
            .then(|| share_of(threads, blocks.by_registers + 1));
        let crowded = more.is_some_and(|more| 8 * least > 9 * more) && told.is_none() && asked.is_none();
        let enough = registers + MARGIN.max(registers / 5);
        let room = REGISTERS / (enough.next_multiple_of(GRANULE) * threads);
        let told = (crowded && room > 1).then_some(room);
        let limit = asked.unwrap_or(share);
        Resources { threads, registers, limit, site, shared: shared_bytes, blocks, written, told }
    }

    /// Removes a site that is not in the program, such as one in girih's own source for a program that was read from text.
    pub(crate) fn of_program(mut self, func: &Func) -> Resources {
        self.site = self.site.filter(|place| {
            let mut found = false;
            func.walk(func.body(), &mut |_, op| {
                found |= op.site.is_some_and(|site| site.is(place));
            });
            found
        });
        self
    }

    /// Whether a thread needs more registers than it can have, so that some of its values are kept in memory.
    pub fn spills(&self) -> bool {
        self.over() > 0
    }

    /// Whether the order of the text needs a fifth more registers than there are: the assembler does not find another one then.
    pub(crate) fn is_far_over(&self) -> bool {
        5 * self.written > 6 * self.limit
    }

    /// How many more registers a thread needs than it can have.
    pub(crate) fn over(&self) -> i64 {
        i64::from(self.registers) - i64::from(self.limit)
    }
}

/// The registers that each thread can have where an SM has this many blocks.
fn share_of(threads: u32, blocks: u32) -> u32 {
    (REGISTERS / (threads * blocks) / GRANULE * GRANULE).min(NAMED)
}

/// The registers that a warpgroup requests.
fn raised(statement: &Statement) -> Option<u32> {
    match statement {
        Statement::Inst(inst)
            if inst.opcode == Opcode::Setmaxnreg && inst.modifiers.contains(&Word::Inc.into()) =>
        {
            match inst.operands.first() {
                Some(&Operand::Int(count)) => u32::try_from(count).ok(),
                _ => None,
            }
        }
        Statement::Block(body) => body.iter().find_map(raised),
        _ => None,
    }
}

impl Spill {
    /// The spill of a placed function's kernel, if it spills.
    pub fn of(plan: &Plan, resources: &Resources) -> Option<Spill> {
        let &Resources { registers, limit, ref site, .. } = resources;
        if registers <= limit {
            return None;
        }
        let site = site.as_ref().map(|site| format!(" at {site}")).unwrap_or_default();
        let (tile, smaller) = plan.smaller(registers, limit)?;
        Some(Spill { registers, limit, site, tile, smaller: smaller.to_string() })
    }
}

impl fmt::Display for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spill { registers, limit, site, tile, smaller } = self;
        write!(
            f,
            "a thread needs about {registers} registers{site}, and can have {limit}: the others are spilled to memory; the largest tile is \
             {tile}: try {smaller}"
        )
    }
}

impl Assembled {
    /// Reads the log of `ptxas --verbose`.
    ///
    /// # Examples
    /// ```
    /// use girih_tile::resources::Assembled;
    ///
    /// let log = "ptxas info    : Function properties for k
    ///     0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
    /// ptxas info    : Used 168 registers, used 1 barriers";
    /// let assembled = Assembled::parse(log);
    /// assert_eq!((assembled.registers, assembled.spilled), (168, [8, 12]));
    /// assert!(!assembled.is_clean());
    /// ```
    pub fn parse(log: &str) -> Assembled {
        let mut found = Assembled::default();
        for line in log.lines() {
            let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            for window in words.windows(4) {
                let number = |at: usize| window[at].parse::<u32>().ok();
                match *window {
                    ["Used", _, "registers", ..] => found.registers = number(1).unwrap_or(0),
                    [_, "bytes", "stack", "frame"] => found.stack = number(0).unwrap_or(0),
                    [_, "bytes", "spill", "stores"] => found.spilled[0] = number(0).unwrap_or(0),
                    [_, "bytes", "spill", "loads"] => found.spilled[1] = number(0).unwrap_or(0),
                    _ => {}
                }
            }
            if let Some((_, note)) = line.split_once("(C75") {
                found.notes.push(format!("(C75{}", note.trim_end()));
            }
        }
        found
    }

    /// The report on a kernel of the assembler that the environment variable `GIRIH_PTXAS` names; `None` without the variable.
    ///
    /// # Errors
    /// Those of the assembler: there is no such program, or it refuses the kernel.
    #[cfg(feature = "launch")]
    pub fn from_env(kernel: &Kernel, sm: u32) -> Result<Option<Assembled>, girih_device::Error> {
        let Some(assembler) = Assembler::from_env()? else { return Ok(None) };
        let assembled = assembler.assemble(kernel, sm, Optimization::Full)?;
        Ok(Some(Assembled::parse(&assembled.log)))
    }

    /// Whether nothing is spilled, and there are no notes.
    pub fn is_clean(&self) -> bool {
        *self == Assembled { registers: self.registers, ..Assembled::default() }
    }
}

impl fmt::Display for Assembled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assembled { registers, stack, spilled: [stored, loaded], notes } = self;
        write!(
            f,
            "{registers} registers, {stored} bytes of spill stores, {loaded} of spill loads, {stack} of stack"
        )?;
        notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}
