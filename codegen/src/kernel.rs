//! A generated kernel: its module, and the data that its launch needs.

use girih_ptx::{KernelInfo, Module, ParamInfo};

/// A kernel that [`Builder::finish`](crate::Builder::finish) returns: its module, the parameters with the facts that the kernel relies
/// on, the block and the shared memory.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
///
/// let mut b = Builder::new("k", 80, 64);
/// b.pointer("x", 16);
/// b.symbol("rows", |rows| rows.at_least(1).at_most(1 << 20).divisible_by(4))?;
/// let kernel = b.finish()?;
/// assert_eq!((kernel.name(), kernel.threads(), kernel.shared_bytes()), ("k", 64, 0));
/// let rows = kernel.params()[1].fact.as_ref().map(|fact| fact.accepted());
/// assert_eq!(rows.as_deref(), Some("multiples of 4 from 4 to 1048576"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    module: Module,
    info: KernelInfo,
}

impl Kernel {
    /// The one kernel of a module.
    pub(crate) fn new(module: Module, info: KernelInfo) -> Kernel {
        Kernel { module, info }
    }

    /// The module with this kernel alone.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module by value.
    pub fn into_module(self) -> Module {
        self.module
    }

    /// The kernel in which instructions come right before what needs them, as [`Module::on_demand`] has it.
    #[must_use]
    pub fn on_demand(self) -> Kernel {
        Kernel { module: self.module.on_demand(&self.info.name), info: self.info }
    }

    /// The kernel's name in the module.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// The kernel's parameters in order.
    pub fn params(&self) -> &[ParamInfo] {
        &self.info.params
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.info.block.map_or(0, |block| block.iter().product())
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.info.dynamic_shared_bytes.unwrap_or(0)
    }

    /// All that a launcher needs to know.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }
}

impl AsRef<Module> for Kernel {
    fn as_ref(&self) -> &Module {
        &self.module
    }
}
