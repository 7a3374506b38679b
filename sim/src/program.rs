//! A loaded module: kernels decoded once, run many times.

use std::sync::Arc;

use girih_ptx::{Special, Type};

use crate::lanes::Reg;
use crate::memory::Allocation;
use crate::names::Variable;
use crate::op::{Inst, Source};
use crate::{Error, Origin, Place, Space};

/// A module decoded for execution, with its variables: what kernels write to `.global` variables stays there for the
/// next launch.
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
    kernels: Vec<Kernel>,
    /// Those that can't be executed, and why.
    refused: Vec<(Arc<str>, Error)>,
}

impl Program {
    /// Decodes every kernel of a module, each with the functions that it calls, and with what the module's notes claim of
    /// registers, which is checked where kernels run ([`Error::FalseClaim`]). A kernel that cannot be executed does not
    /// keep the others from it: [`Program::kernel`] tells what is wrong with it.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Undeclared`] or [`Error::Operand`] for the first statement that cannot be
    /// executed, with its line and text, if that leaves the module without a kernel; or for a variable of the module.
    pub fn load(module: &girih_ptx::Module) -> Result<Program, Error> {
        let (mut kernels, mut refused) = (Vec::new(), Vec::new());
        let parsed = with_lines(module);
        for (name, kernel) in crate::decode::module(parsed.as_ref().unwrap_or(module))? {
            match kernel {
                Ok(kernel) => kernels.push(kernel),
                Err(error) => refused.push((name, error)),
            }
        }
        match refused.first() {
            Some((_, error)) if kernels.is_empty() => Err(error.clone()),
            _ => Ok(Program { kernels, refused }),
        }
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`] with the names there are, or why the kernel cannot be executed.
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

/// A module that carries notes, read from its text, as the notes are about lines; without them if they are about another text.
fn with_lines(module: &girih_ptx::Module) -> Option<girih_ptx::Module> {
    if module.notes.is_empty() {
        return None;
    }
    let text = module.to_string();
    let mut parsed = girih_ptx::Module::parse(&text).ok()?;
    if module.notes.are_of(&text) {
        parsed.notes = module.notes.clone();
    }
    Some(parsed)
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Arc<str>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its offset in parameter space in bytes.
    pub offset: u64,
    /// Its declaration: `.u32 n`, `.align 64 .b8 map[128]`.
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
    /// Bytes of local memory a thread.
    pub(crate) local: u32,
    /// `.maxntid`, `.reqntid`.
    pub(crate) max_threads: Option<[u32; 3]>,
    pub(crate) required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`, `.maxclusterrank`.
    pub(crate) required_cluster: Option<[u32; 3]>,
    pub(crate) max_cluster: Option<u32>,
    /// Whether it is launched in clusters even if the launch names none: `.explicitcluster`, or `.reqnctapercluster`.
    pub(crate) explicit_cluster: bool,
    /// Registers a thread at launch, where `setmaxnreg` has an effect.
    pub(crate) registers: Option<u32>,
    pub(crate) code: Code,
    /// Variables as messages name them.
    pub(crate) named: Vec<Variable>,
    /// The module's variables in global and constant memory, by address.
    pub(crate) variables: Vec<Arc<Allocation>>,
}

/// A variable of a kernel in shared or local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) name: Arc<str>,
    pub(crate) space: Space,
    /// Its address, or where it is in the frame of its function.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) framed: bool,
}

/// The instructions of a kernel and the registers they use.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    pub(crate) sources: Vec<Source>,
    /// Registers in each file.
    pub(crate) w32: u32,
    pub(crate) w64: u32,
    pub(crate) pred: u32,
    /// Registers that hold constants and special registers.
    pub(crate) constants: Vec<(Reg, u64)>,
    pub(crate) specials: Vec<(Reg, Special)>,
    /// Registers that hold addresses of shared variables, to which each block adds its rank.
    pub(crate) shared_addresses: Vec<(Reg, u64)>,
    /// Where the kernel's own code begins; that of its functions comes before.
    pub(crate) entry: u32,
    /// The functions that have frames.
    pub(crate) functions: Vec<Function>,
    /// Registers that hold where a lane's frame begins, and where its stack ends, in local memory.
    pub(crate) stack: Option<[Reg; 2]>,
    /// Registers that the program declares and uses, in the order of their first use.
    pub(crate) names: Vec<(Reg, Arc<str>, Type)>,
    /// The register that holds the generic address of a thread's local memory, if anything uses it.
    pub(crate) local_window: Option<Reg>,
    /// The variables whose addresses it takes.
    pub(crate) variables: Vec<Whole>,
    /// Registers that are read where some path has not written them.
    pub(crate) open: Vec<Reg>,
    /// log2 of the bytes that every shared access is a multiple of and aligned to.
    pub(crate) granule: u32,
    /// Whether it names scopes narrower than the device.
    pub(crate) narrow: bool,
    /// Whether there is a `wgmma`.
    pub(crate) wgmma: bool,
    /// Whether blocks can learn of one another's order through global memory: by strong accesses, by atomics that tell what
    /// they found, or whose result depends on their order.
    pub(crate) communicates: bool,
}

/// A function that has a frame: variables on the stack of a lane, and registers that are kept while it calls itself.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    /// Where its code begins.
    pub(crate) entry: u32,
    /// What a register holds that it is called through.
    pub(crate) address: u64,
    /// Bytes of its frame.
    pub(crate) bytes: u64,
    /// Places and bytes of what it returns and takes, in its frame.
    pub(crate) results: Vec<(u64, u64)>,
    pub(crate) params: Vec<(u64, u64)>,
    pub(crate) registers: Vec<Reg>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Bytes of static shared memory, without the dynamic part that a launch adds.
    pub fn static_shared(&self) -> u32 {
        self.static_shared
    }

    /// Bytes of shared memory of a block with this many dynamic ones, alignment included.
    pub fn shared(&self, dynamic: u32) -> u64 {
        u64::from(self.dynamic_offset.max(self.static_shared)) + u64::from(dynamic)
    }

    /// The lines of the PTX text at which its instructions stand, in their order.
    pub fn lines(&self) -> impl Iterator<Item = u32> {
        self.code.sources.iter().map(|source| source.line)
    }

    /// The same, each with the source line that it was compiled from, if the text has `.loc`.
    pub fn origins(&self) -> impl Iterator<Item = (u32, Option<&Origin>)> {
        self.code.sources.iter().map(|source| (source.line, source.origin.as_deref()))
    }

    /// Where the instruction of this source index stands.
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
