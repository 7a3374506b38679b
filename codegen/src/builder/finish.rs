//! Finishes a builder: makes its module.

use girih_ptx::{
    Extent, Item, LaunchNotes, Linkage, Module, Name, Notes, Opcode, RegDecl, Span, Statement, Type,
    VarSpace, Variable,
};

use super::body::Body;
use super::debug::with_lines;
use super::shared::SHARED_NAME;
use super::{Builder, SHARED_ALIGN};
use crate::Error;
use crate::error::narrow;
use crate::kernel::Kernel;

impl Builder {
    /// Finishes the kernel. The claims about its registers are notes to its text, where the simulator checks them, so that a wrong claim is
    /// an error with the line of the program that made the claim. A device checks the facts of the parameters at the launch.
    ///
    /// # Errors
    /// [`Error::Written`] for inline PTX or instructions of the caller's that do not verify, with the line that wrote them;
    /// [`Error::Builder`] for a name or a number of threads that PTX does not have, [`Error::Overwritten`] for registers that change in
    /// a loop; [`Error::Ptx`] for a fault of the generator.
    #[track_caller]
    pub fn finish(mut self) -> Result<Kernel, Error> {
        self.told()?;
        self.inst(Opcode::Ret, &[], Vec::new());
        let name = self.name.clone();
        let mut whole = Body::default();
        for (prefix, (ty, count)) in &self.registers {
            let names = vec![(Name::from(*prefix), Some(*count))];
            whole.push(Statement::Reg(RegDecl { ty: *ty, names, span: Span::default() }), None);
        }
        for scope in self.scopes {
            whole.extend(scope.body);
        }
        let mut items = Vec::new();
        if self.lines {
            (whole, items) = with_lines(whole);
        }
        items.extend(self.items);
        let (body, known) = whole.into_parts();
        let launch = LaunchNotes {
            kernel: name.clone(),
            block: [self.threads, 1, 1],
            dynamic_shared_bytes: narrow("shared memory", self.shared.bytes())?,
            facts: self.facts,
        };
        if self.shared.is_used() {
            items.push(Item::Variable(Variable {
                linkage: Linkage::External,
                space: VarSpace::Shared,
                align: Some(SHARED_ALIGN as u32),
                ty: Type::B8,
                name: Name::from(SHARED_NAME),
                extent: Extent::Unsized,
                init: Vec::new(),
                span: Span::default(),
            }));
        }
        items.push(Item::Kernel(girih_ptx::Kernel {
            linkage: Linkage::Visible,
            name: self.name,
            params: self.params,
            directives: self.directives,
            body,
            span: Span::default(),
        }));
        let mut module = Module { version: (7, 0), target: self.target, items, notes: Notes::default() };
        if let Err(error) = needs(&mut module) {
            let notes = known.by_lines(&module, &name);
            return Err(blamed(error, &module, &notes));
        }
        module.notes = known.by_lines(&module, &name).with_launches(vec![launch]);
        let info = module.kernels_as_noted().pop().ok_or(Error::Generator("a module without its kernel"))?;
        Ok(Kernel::new(module, info))
    }
}

/// Gives the module the target and the version that its instructions need, and verifies it.
fn needs(module: &mut Module) -> Result<(), girih_ptx::Error> {
    let needs = module.needs()?;
    // Some instructions exist on one architecture alone, such as wgmma.
    if needs.specific && needs.sm == module.target.sm {
        module.target = needs.target();
    }
    module.version = needs.version.max(module.target.version());
    // All else has been verified.
    if needs.met_by(module.target) { Ok(()) } else { module.verify() }
}

/// The error with the line of the program that wrote the wrong instruction.
fn blamed(error: girih_ptx::Error, module: &Module, notes: &Notes) -> Error {
    // A module that was parsed from a text knows the lines of its statements.
    let error = match Module::parse(&module.to_string()) {
        Err(error) => error,
        Ok(mut parsed) => needs(&mut parsed).err().unwrap_or(error),
    };
    match notes.site(error.span().line) {
        Some(site) => Error::Written { site: site.clone(), error },
        None => Error::Ptx(error),
    }
}
