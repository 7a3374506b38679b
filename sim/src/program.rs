//! A loaded module: kernels decoded once, run many times.

use std::sync::Arc;

use crate::Error;

/// A module decoded for execution.
#[derive(Debug)]
pub struct Program {
    kernels: Vec<Kernel>,
}

impl Program {
    /// Decodes every kernel of a module.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Undeclared`] or [`Error::Operand`] for the first statement that cannot be
    /// executed, with its line and text.
    pub fn load(module: &girih_ptx::Module) -> Result<Program, Error> {
        crate::decode::module(module).map(|kernels| Program { kernels })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`] with the names there are.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        self.kernels.iter().find(|k| &*k.name == name).ok_or_else(|| Error::UnknownKernel {
            name: name.into(),
            kernels: self.kernels.iter().map(|k| k.name.to_string()).collect(),
        })
    }

    /// Every kernel, in the module's order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }
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
}

/// A decoded kernel.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) name: Arc<str>,
    pub(crate) params: Vec<Param>,
    pub(crate) static_shared: u32,
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
}
