//! A loaded module, whose kernels are decoded once and run many times.

use std::sync::Arc;

use girih_ptx::{Special, Type};

use crate::lanes::Reg;
use crate::memory::Allocation;
use crate::op::{Inst, Source};
use crate::{Error, Origin, Place, Space};

/// A module decoded for execution, with its variables. What a kernel writes to variables in `.global` memory stays
/// there for later launches.
///
/// ```
/// let text = ".version 8.0 .target sm_80 .address_size 64 .visible .entry nothing() { ret; }";
/// let module = girih_ptx::Module::parse(text)?;
/// let program = girih_sim::Program::load(&module)?;
/// assert_eq!(program.kernel("nothing")?.name(), "nothing");
/// assert!(program.kernel("something").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Program {
    pub(crate) kernels: Vec<Kernel>,
    /// The kernels that can't be executed, and the reason for each.
    pub(crate) refused: Vec<(Arc<str>, Error)>,
}

impl Program {
    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`] with the names of all kernels, or the reason why the kernel can't be executed.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        if let Some((_, error)) = self.refused.iter().find(|(refused, _)| &**refused == name) {
            return Err(error.clone());
        }
        self.kernels.iter().find(|k| &*k.name == name).ok_or_else(|| Error::UnknownKernel {
            name: name.into(),
            kernels: self.names().map(str::to_string).collect(),
        })
    }

    /// The names of all kernels: those that can be executed, then those that cannot.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let kernels = self.kernels.iter().map(|kernel| &*kernel.name);
        kernels.chain(self.refused.iter().map(|(name, _)| &**name))
    }

    /// Every kernel that can be executed, in the module's order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The parameter's name.
    pub name: Arc<str>,
    /// The parameter's size in bytes.
    pub bytes: u64,
    /// The parameter's offset in the parameter space, in bytes.
    pub offset: u64,
    /// The parameter's declaration, such as `.u32 n` or `.align 64 .b8 map[128]`.
    pub declaration: Arc<str>,
}

/// A decoded kernel.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) name: Arc<str>,
    pub(crate) params: Vec<Param>,
    /// Bytes of static shared memory.
    pub(crate) static_shared: u32,
    /// Bytes from the start of shared memory to the dynamic part.
    pub(crate) dynamic_offset: u32,
    /// Bytes of local memory of each thread.
    pub(crate) local: u32,
    /// `.maxntid`, `.reqntid`.
    pub(crate) max_threads: Option<[u32; 3]>,
    pub(crate) required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`, `.maxclusterrank`.
    pub(crate) required_cluster: Option<[u32; 3]>,
    pub(crate) max_cluster: Option<u32>,
    /// Whether the kernel runs in clusters even if the launch names none: `.explicitcluster`, or `.reqnctapercluster`.
    pub(crate) explicit_cluster: bool,
    /// Registers of each thread at the launch, if `setmaxnreg` has an effect.
    pub(crate) registers: Option<u32>,
    pub(crate) code: Code,
    /// The variables, as messages name them.
    pub(crate) named: Vec<Variable>,
    /// The module's variables in global and constant memory, by address.
    pub(crate) variables: Vec<Arc<Allocation>>,
}

/// A variable, as messages name it.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    /// The state space: shared, global or local.
    pub(crate) space: Space,
    pub(crate) at: u64,
    /// The size in bytes; `None` for a dynamic variable, whose size depends on the launch.
    pub(crate) bytes: Option<u64>,
    /// Bytes of an element.
    pub(crate) element: u64,
}

/// A variable of a kernel in shared or local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) name: Arc<str>,
    pub(crate) space: Space,
    /// The variable's address, or its offset in the stack frame of its function.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) framed: bool,
}

/// The instructions of a kernel, and the registers that they use.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    pub(crate) sources: Vec<Source>,
    /// The number of registers in each file.
    pub(crate) w32: u32,
    pub(crate) w64: u32,
    pub(crate) pred: u32,
    /// The registers that hold constants, with their values.
    pub(crate) constants: Vec<(Reg, u64)>,
    /// The registers that hold special registers.
    pub(crate) specials: Vec<(Reg, Special)>,
    /// The registers that hold addresses of shared variables, to which each block adds its rank.
    pub(crate) shared_addresses: Vec<(Reg, u64)>,
    /// The operation with which the kernel itself begins; the code of its functions comes before.
    pub(crate) entry: u32,
    /// The functions that have stack frames.
    pub(crate) functions: Vec<Function>,
    /// The registers that hold the begin of a lane's stack frame and the end of its stack, in local memory.
    pub(crate) stack: Option<[Reg; 2]>,
    /// The registers that the program declares and uses, in the order of their first use.
    pub(crate) names: Vec<(Reg, Arc<str>, Type)>,
    /// The register that holds the generic address of a thread's local memory, if an instruction uses it.
    pub(crate) local_window: Option<Reg>,
    /// The variables whose addresses the kernel uses.
    pub(crate) variables: Vec<Whole>,
    /// The registers that some path reads before it writes them.
    pub(crate) open: Vec<Reg>,
    /// log2 of the bytes of the narrowest access to shared memory, at most 4.
    pub(crate) granule: u32,
    /// Whether the kernel names scopes that are narrower than `.gpu`.
    pub(crate) narrow: bool,
    /// Whether the kernel has a `wgmma`.
    pub(crate) wgmma: bool,
    /// Whether blocks can learn through global memory in which order they run: by strong accesses, by atomics that
    /// return a value, or by atomics whose result depends on their order.
    pub(crate) communicates: bool,
}

/// The largest alignment of a variable in a frame; the size of a frame is a multiple of it.
pub(crate) const FRAME_ALIGN: u64 = 16;

/// A function that has a stack frame, which holds its variables, and registers that are saved while a call of it runs.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    /// The operation with which the function begins.
    pub(crate) entry: u32,
    /// The function's address, for calls through a register.
    pub(crate) address: u64,
    /// Bytes of the function's stack frame.
    pub(crate) bytes: u64,
    /// The places and sizes of the results in the frame, in bytes.
    pub(crate) results: Vec<(u64, u64)>,
    /// The places and sizes of the parameters in the frame, in bytes.
    pub(crate) params: Vec<(u64, u64)>,
    /// The registers that are saved at a call.
    pub(crate) registers: Vec<Reg>,
}

impl Kernel {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Bytes of static shared memory, without the dynamic part that a launch adds.
    pub fn static_shared(&self) -> u32 {
        self.static_shared
    }

    /// Bytes of shared memory of a block with `dynamic` bytes of dynamic shared memory, including what alignment takes.
    pub fn shared(&self, dynamic: u32) -> u64 {
        u64::from(self.dynamic_offset.max(self.static_shared)) + u64::from(dynamic)
    }

    /// The lines of the kernel's instructions in the PTX text, in order.
    pub fn lines(&self) -> impl Iterator<Item = u32> {
        self.code.sources.iter().map(|source| source.line)
    }

    /// The lines of the kernel's instructions in the PTX text, each with the source line that it was compiled from, if
    /// the text has `.loc`.
    pub fn origins(&self) -> impl Iterator<Item = (u32, Option<&Origin>)> {
        self.code.sources.iter().map(|source| (source.line, source.origin.as_deref()))
    }

    /// The place of an instruction, given by its index in `sources`.
    pub(crate) fn place(&self, source: u32) -> Place {
        let source = &self.code.sources[source as usize];
        let Source { line, text, origin, .. } = source;
        Place { kernel: self.name.clone(), line: *line, instruction: text.clone(), origin: origin.clone() }
    }
}

impl Code {
    /// The name that the program gave a register.
    pub(crate) fn name(&self, reg: Reg) -> String {
        let named = self.names.iter().find(|(r, ..)| *r == reg);
        named.map_or_else(|| format!("{:?} {}", reg.file, reg.slot), |(_, name, _)| name.to_string())
    }
}
