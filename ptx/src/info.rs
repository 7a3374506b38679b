//! The interface of a kernel for a launcher.

use std::collections::HashSet;

use crate::ast::*;
use crate::{Fact, LaunchNotes, Opcode, Type, VarSpace, Word};

/// A kernel's signature and the resources that its text states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The kernel's name.
    pub name: Name,
    /// The kernel's parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the shared variables that the kernel declares, and of the module's shared variables that it uses, with
    /// the padding that their alignment takes.
    pub static_shared_bytes: u64,
    /// Whether the kernel uses a `.shared` variable `name[]`, whose size is given at launch.
    pub dynamic_shared: bool,
    /// Bytes of dynamic shared memory, where the module's [`Notes`](crate::Notes) know them; 0 if the kernel does not
    /// use dynamic shared memory.
    pub dynamic_shared_bytes: Option<u32>,
    /// Most threads a block may have: the product of `.maxntid` or `.reqntid`.
    pub max_threads: Option<u64>,
    /// The extents of a block in x, y, z with which the kernel must be launched: `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// The extents of a block that the kernel is made for: `.reqntid`, or what the module's [`Notes`](crate::Notes)
    /// say.
    pub block: Option<[u32; 3]>,
    /// The extents of a cluster, in blocks along x, y, z, with which the kernel must be launched: `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// Whether the kernel, or a function that it calls, waits for the kernels before it (`griddepcontrol.wait`), so that it may be
    /// launched before they have ended.
    pub waits_for_grids: bool,
    /// The number of instructions in the kernel's text and in the functions that it calls.
    pub instructions: usize,
    /// The module's target.
    pub target: Target,
    /// The module's `.version`.
    pub version: (u8, u8),
}

/// A parameter, and where it is in the parameter buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// The parameter's name.
    pub name: Name,
    /// The type of the parameter, or of its elements if it is an array.
    pub ty: Type,
    /// The parameter's size in bytes.
    pub bytes: u64,
    /// The parameter's alignment in bytes.
    pub align: u32,
    /// Bytes from the start of the parameter buffer to the parameter.
    pub offset: u64,
    /// The kernel's assumption about the parameter's value, if the module's [`Notes`](crate::Notes) contain it.
    pub fact: Option<Fact>,
}

impl Module {
    /// The kernels, in order.
    ///
    /// ```
    /// # use girih_ptx::Module;
    /// let module = Module::parse(
    ///     ".version 8.0 .target sm_80 .address_size 64
    ///      .visible .entry scale(.param .u32 n, .param .u64 data) .maxntid 128 { ret; }",
    /// )?;
    /// let kernels = module.kernels();
    /// assert_eq!((kernels[0].params[1].offset, kernels[0].max_threads), (8, Some(128)));
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn kernels(&self) -> Vec<KernelInfo> {
        let noted = !self.notes.is_empty() && self.notes.are_of(&self.to_string());
        self.kernels_noted(noted)
    }

    /// As [`Module::kernels`] of a module whose notes are about its text, as they are when they have just been made.
    pub fn kernels_as_noted(&self) -> Vec<KernelInfo> {
        self.kernels_noted(true)
    }

    fn kernels_noted(&self, noted: bool) -> Vec<KernelInfo> {
        let kernels = self.items.iter().filter_map(|item| match item {
            Item::Kernel(kernel) => Some(kernel),
            Item::Variable(_) | Item::Function(_) | Item::File(_) => None,
        });
        let launch = |kernel: &Kernel| self.notes.launch(&kernel.name).filter(|_| noted);
        kernels.map(|kernel| self.info(kernel, launch(kernel))).collect()
    }

    fn info(&self, kernel: &Kernel, launch: Option<&LaunchNotes>) -> KernelInfo {
        let mut body = Body::default();
        body.read(&kernel.body);
        self.read_called(&mut body);
        let module_scope = self.items.iter().filter_map(|item| match item {
            Item::Variable(variable) if body.names.contains(&variable.name) => Some(variable),
            _ => None,
        });
        let shared: Vec<&Variable> = module_scope
            .chain(body.variables.iter().copied())
            .filter(|variable| variable.space == VarSpace::Shared)
            .collect();
        let mut info = KernelInfo {
            name: kernel.name.clone(),
            params: params(&kernel.params),
            static_shared_bytes: shared.iter().fold(0, |end, variable| place(end, variable).1),
            dynamic_shared: shared.iter().any(|variable| variable.extent == Extent::Unsized),
            dynamic_shared_bytes: launch.map(|launch| launch.dynamic_shared_bytes),
            max_threads: None,
            required_threads: None,
            block: launch.map(|launch| launch.block),
            required_cluster: None,
            waits_for_grids: body.waits_for_grids,
            instructions: body.instructions,
            target: self.target,
            version: self.version,
        };
        for directive in &kernel.directives {
            match *directive {
                Directive::MaxNtid(extents) => info.max_threads = Some(product(extents)),
                Directive::ReqNtid(extents) => {
                    info.max_threads = Some(product(extents));
                    info.required_threads = Some(extents);
                    info.block = Some(extents);
                }
                Directive::ReqNctaPerCluster(extents) => info.required_cluster = Some(extents),
                _ => {}
            }
        }
        if !info.dynamic_shared {
            info.dynamic_shared_bytes = Some(0);
        }
        let facts = launch.map(|launch| &launch.facts[..]).unwrap_or_default();
        for (name, fact) in facts {
            let param = info.params.iter_mut().find(|param| param.name == *name);
            param.into_iter().for_each(|param| param.fact = Some(fact.clone()));
        }
        info
    }
}

impl Module {
    /// Adds the contents of the functions that the statements call, directly or through other functions.
    fn read_called<'k>(&'k self, body: &mut Body<'k>) {
        let mut rest: Vec<&Function> = (self.items.iter())
            .filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None })
            .collect();
        while let Some(at) = rest.iter().position(|function| body.names.contains(&function.name)) {
            body.read(rest.swap_remove(at).body.as_deref().unwrap_or_default());
        }
    }
}

/// The variables, the names and the number of instructions in a kernel's statements.
#[derive(Default)]
struct Body<'k> {
    variables: Vec<&'k Variable>,
    names: HashSet<&'k Name>,
    waits_for_grids: bool,
    instructions: usize,
}

impl<'k> Body<'k> {
    fn read(&mut self, statements: &'k [Statement]) {
        for statement in statements {
            match statement {
                Statement::Variable(variable) => self.variables.push(variable),
                Statement::Block(body) => self.read(body),
                Statement::Inst(inst) => {
                    self.instructions += 1;
                    self.waits_for_grids |=
                        inst.opcode == Opcode::Griddepcontrol && inst.modifiers.contains(&Word::Wait.into());
                    inst.for_each_name(|name| _ = self.names.insert(name));
                }
                _ => {}
            }
        }
    }
}

fn params(params: &[Variable]) -> Vec<ParamInfo> {
    let mut end = 0;
    let info = |param: &Variable| {
        let (offset, next) = place(end, param);
        end = next;
        let align = param.alignment();
        ParamInfo { name: param.name.clone(), ty: param.ty, bytes: next - offset, align, offset, fact: None }
    };
    params.iter().map(info).collect()
}

/// Where `variable` starts and ends if the one before it ends at `end`, in bytes. What 64 bits do not count saturates: no device has
/// room for as much, so that a launch is refused in any case.
fn place(end: u64, variable: &Variable) -> (u64, u64) {
    let start = end.checked_next_multiple_of(variable.alignment().into()).unwrap_or(u64::MAX);
    (start, start.saturating_add(variable.bytes().unwrap_or(0)))
}

fn product(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1, |product, &extent| product.saturating_mul(extent.into()))
}

impl Variable {
    /// The variable's alignment in bytes: as declared, or else natural.
    pub fn alignment(&self) -> u32 {
        self.align.or(self.ty.bytes()).unwrap_or(1).max(1)
    }

    /// The variable's size in bytes; `None` if the size is given at launch.
    pub fn bytes(&self) -> Option<u64> {
        let elements = match self.extent {
            Extent::Scalar => 1,
            Extent::Array(n) => n,
            Extent::Unsized if self.init.is_empty() => return None,
            Extent::Unsized => self.init.len() as u64,
        };
        Some(elements.saturating_mul(self.ty.bytes().unwrap_or(0).into()))
    }
}
