//! Verification of a module: names, types, forms, and what the module needs.

mod call;

use std::collections::HashMap;

use crate::ast::*;
use crate::forms::{self, Names, Needs, Symbol, resolve};
use crate::{Error, Opcode, Refused, Type};

impl Module {
    /// Checks that the module is PTX: every instruction has a form, every name is declared once in its scope and is
    /// of a type that fits, branch targets and parameters exist, and `.version` and `.target` are high enough.
    ///
    /// # Errors
    /// The first thing that is wrong, and what would be accepted.
    pub fn verify(&self) -> Result<(), Error> {
        let version = self.target.version();
        if self.version < version {
            return Err(self.too_old(Span::default(), self.target.to_string(), version));
        }
        self.visit(&mut |at, what, needs| self.check_needs(at, what, needs))
    }

    fn check_needs(&self, at: Span, what: &dyn Fn() -> String, needs: Needs) -> Result<(), Error> {
        if self.version < needs.version {
            return Err(self.too_old(at, what(), needs.version));
        }
        match needs.met_by(self.target) {
            true => Ok(()),
            false => Err(Error::Target {
                at,
                what: what(),
                needs: needs.target().to_string(),
                found: self.target.to_string(),
            }),
        }
    }

    /// Takes out the items that do not verify, and adds them to `refused`.
    pub(crate) fn retain_verified(&mut self, refused: &mut Vec<Refused>) -> Result<(), Error> {
        let version = self.target.version();
        if self.version < version {
            return Err(self.too_old(Span::default(), self.target.to_string(), version));
        }
        let mut scopes = Scopes { stack: vec![Scope::default()] };
        let (mut kept, items) = (Vec::new(), std::mem::take(&mut self.items));
        for item in items {
            let mut report = |at, what: &dyn Fn() -> String, needs| self.check_needs(at, what, needs);
            let Err(error) = visit_item(&item, &mut scopes, &mut report) else {
                kept.push(item);
                continue;
            };
            scopes.stack.truncate(1);
            let (name, kernel) = match item {
                Item::Kernel(kernel) => (kernel.name, true),
                Item::Function(function) => (function.name, false),
                Item::Variable(variable) => (variable.name, false),
                Item::File(_) => continue,
            };
            scopes.stack.iter_mut().for_each(|scope| _ = scope.names.remove(&name));
            // An item that names a refused item is refused with that item's error.
            let reason = match &error {
                Error::Undeclared { name, .. } => refused.iter().find(|other| *other.name == **name),
                _ => None,
            };
            let error = reason.map_or(error, |other| other.error.clone());
            refused.push(Refused { name, kernel, error });
        }
        self.items = kept;
        Ok(())
    }

    fn too_old(&self, at: Span, what: String, needs: (u8, u8)) -> Error {
        let show = |(major, minor): (u8, u8)| format!("{major}.{minor}");
        Error::Version { at, what, needs: show(needs), found: show(self.version) }
    }

    /// The lowest `.version` that the module's instructions, directives and target need.
    ///
    /// # Errors
    /// As [`Module::verify`], the module's own `.version` and `.target` apart.
    pub fn required_version(&self) -> Result<(u8, u8), Error> {
        Ok(self.needs()?.version.max(self.target.version()))
    }

    /// The lowest target that has everything the module uses, sm_70 at least.
    ///
    /// # Errors
    /// As [`Module::verify`], the module's own `.version` and `.target` apart.
    pub fn required_target(&self) -> Result<Target, Error> {
        Ok(self.needs()?.target())
    }

    /// The `.version` and `.target` that the module's instructions and directives need, without those that the target itself needs.
    ///
    /// # Errors
    /// As [`Module::verify`], the module's own `.version` and `.target` apart.
    pub fn needs(&self) -> Result<Needs, Error> {
        let mut all = Needs::LEAST;
        self.visit(&mut |_, _, needs| {
            all = all.and(needs);
            Ok(())
        })?;
        Ok(all)
    }

    /// Checks everything but `.version` and `.target`, and reports what each thing needs.
    fn visit(&self, report: Report<'_>) -> Result<(), Error> {
        let mut scopes = Scopes { stack: vec![Scope::default()] };
        self.items.iter().try_for_each(|item| visit_item(item, &mut scopes, report))
    }
}

/// A function that is told the place of a construct, its text and its needs.
type Report<'r> = &'r mut dyn FnMut(Span, &dyn Fn() -> String, Needs) -> Result<(), Error>;

fn visit_item(item: &Item, scopes: &mut Scopes, report: Report<'_>) -> Result<(), Error> {
    match item {
        Item::Variable(variable) => scopes.declare_variable(variable),
        Item::File(_) => Ok(()),
        Item::Function(function) => call::visit_function(function, scopes, report),
        Item::Kernel(kernel) => {
            scopes.declare(&kernel.name, Symbol::Kernel, kernel.span)?;
            visit_kernel(kernel, scopes, report)
        }
    }
}

fn visit_kernel(kernel: &Kernel, scopes: &mut Scopes, report: Report<'_>) -> Result<(), Error> {
    for directive in &kernel.directives {
        report(kernel.span, &|| directive.to_string(), directive.needs())?;
    }
    scopes.stack.push(Scope::default());
    kernel.params.iter().try_for_each(|param| scopes.declare_variable(param))?;
    visit_body(&kernel.body, kernel.span, scopes, report)?;
    scopes.stack.pop();
    Ok(())
}

fn visit_body(body: &[Statement], at: Span, scopes: &mut Scopes, report: Report<'_>) -> Result<(), Error> {
    scopes.stack.push(Scope::default());
    // A label is visible in its whole block, before its place too.
    for statement in body {
        if let Statement::Label(name) = statement {
            scopes.declare(name, Symbol::Label, at)?;
        }
    }
    for statement in body {
        match statement {
            Statement::Reg(decl) => scopes.declare_registers(decl)?,
            Statement::Variable(variable) => scopes.declare_variable(variable)?,
            Statement::Block(body) => visit_body(body, at, scopes, report)?,
            Statement::Inst(inst) => visit_inst(inst, scopes, report)?,
            Statement::BranchTargets(labels) => {
                if let Some(label) = labels.iter().find(|name| scopes.symbol(name) != Some(Symbol::Label)) {
                    let inst = ".branchtargets".into();
                    return Err(Error::Undeclared { at, inst, name: label.to_string() });
                }
            }
            Statement::CallTargets(functions) => {
                let is_function = |name: &&Name| matches!(scopes.symbol(name), Some(Symbol::Function { .. }));
                if let Some(name) = functions.iter().find(|name| !is_function(name)) {
                    let inst = ".calltargets".into();
                    return Err(Error::Undeclared { at, inst, name: name.to_string() });
                }
            }
            Statement::CallPrototype(_) => {}
            Statement::Label(_) | Statement::Pragma(_) | Statement::Loc(_) | Statement::Comment(_) => {}
        }
    }
    scopes.stack.pop();
    Ok(())
}

fn visit_inst(inst: &Inst, scopes: &Scopes, report: Report<'_>) -> Result<(), Error> {
    if let Some(name) = inst.name_that(&mut |name| scopes.symbol(name).is_none()) {
        return Err(Error::Undeclared { at: inst.span, inst: inst.brief(), name: name.to_string() });
    }
    if let Some(guard) = &inst.guard
        && scopes.symbol(&guard.reg) != Some(Symbol::Register(Type::Pred))
    {
        return Err(Error::Guard { at: inst.span, inst: inst.brief(), name: guard.reg.to_string() });
    }
    if inst.opcode == Opcode::Call {
        return call::visit_call(inst, scopes, report);
    }
    let (form, _) = resolve(inst, Some(scopes))?;
    let modifiers = inst.modifiers.iter().map(|modifier| modifier.needs());
    let specials = inst.operands.iter().filter_map(|operand| match operand {
        Operand::Special(special) => Some(special.needs()),
        _ => None,
    });
    let needs = modifiers.chain(specials).fold(form.needs(), forms::Needs::and);
    report(inst.span, &|| inst.brief(), needs)
}

impl Inst {
    /// The first name that `is` accepts: the guard's and the operands', sinks apart.
    fn name_that<'i>(&'i self, is: &mut dyn FnMut(&'i Name) -> bool) -> Option<&'i Name> {
        let mut is = |name: &'i Name| &**name != "_" && is(name);
        let guard = self.guard.iter().map(|guard| &guard.reg).find(|name| is(name));
        guard.or_else(|| self.operands.iter().find_map(|operand| operand.name_that(&mut is)))
    }

    /// Calls `each` with every name in the instruction, sinks apart.
    pub(crate) fn for_each_name<'i>(&'i self, mut each: impl FnMut(&'i Name)) {
        self.name_that(&mut |name| {
            each(name);
            false
        });
    }
}

impl Operand {
    /// Every name in the operand, sinks too.
    pub(crate) fn names<'o>(&'o self, names: &mut Vec<&'o Name>) {
        self.name_that(&mut |name| {
            names.push(name);
            false
        });
    }

    fn name_that<'o>(&'o self, is: &mut dyn FnMut(&'o Name) -> bool) -> Option<&'o Name> {
        match self {
            Operand::Name(name)
            | Operand::Offset(name, _)
            | Operand::Generic(name, _)
            | Operand::Not(name) => Some(name).filter(|name| is(name)),
            Operand::Pair(first, second) => [first, second].into_iter().find(|name| is(name)),
            Operand::Address(address) => {
                let base = address.base.iter().find(|name| is(name));
                base.or_else(|| address.coordinates.iter().find_map(|part| part.name_that(is)))
            }
            Operand::Vector(parts) | Operand::List(parts) => parts.iter().find_map(|part| part.name_that(is)),
            Operand::Special(_) | Operand::Int(_) | Operand::F32(_) | Operand::F64(_) | Operand::Sink => None,
        }
    }
}

/// The scopes that are open, the innermost last.
struct Scopes {
    stack: Vec<Scope>,
}

#[derive(Default)]
struct Scope {
    names: HashMap<Name, Symbol>,
    /// Ranges such as `%r<40>`, with their prefix `%r`: the names are not spelled out, as there may be billions. They are few.
    ranges: Vec<(Name, u32, Type)>,
}

impl Names for Scopes {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        self.stack.iter().rev().find_map(|scope| scope.symbol(name))
    }
}

impl Scope {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        let of_range = self.ranges.iter().find(|(prefix, count, _)| is_of_range(name, prefix, *count));
        let range = of_range.map(|&(_, _, ty)| Symbol::Register(ty));
        range.or_else(|| if self.names.is_empty() { None } else { self.names.get(name).copied() })
    }
}

/// Whether `prefix<count>` declares the name: the prefix with a number below `count` after it, without leading zeros.
fn is_of_range(name: &str, prefix: &str, count: u32) -> bool {
    let Some(digits) = name.strip_prefix(prefix) else { return false };
    let canonical = digits.len() == 1 || !digits.starts_with('0');
    let number = || digits.parse::<u32>().is_ok_and(|number| number < count);
    canonical && digits.bytes().all(|digit| digit.is_ascii_digit()) && number()
}

impl Scopes {
    fn declare(&mut self, name: &Name, symbol: Symbol, at: Span) -> Result<(), Error> {
        if !is_identifier(name) {
            return Err(Error::Name { at, name: name.to_string() });
        }
        let Some(scope) = self.stack.last_mut() else { return Ok(()) };
        if scope.symbol(name).is_some() {
            return Err(Error::Redeclared { at, name: name.to_string() });
        }
        scope.names.insert(name.clone(), symbol);
        Ok(())
    }

    fn declare_registers(&mut self, decl: &RegDecl) -> Result<(), Error> {
        let at = decl.span;
        if !decl.ty.is_register() {
            return Err(Error::Declaration {
                at,
                text: decl.to_string(),
                expected: "a fundamental type: bf16, tf32 and the 8-bit floats are held in .b16 and .b32"
                    .into(),
            });
        }
        for (name, count) in &decl.names {
            match count {
                None => self.declare(name, Symbol::Register(decl.ty), at)?,
                Some(count) => self.declare_range(name, *count, decl.ty, at)?,
            }
        }
        Ok(())
    }

    fn declare_range(&mut self, prefix: &Name, count: u32, ty: Type, at: Span) -> Result<(), Error> {
        if !is_identifier(prefix) {
            return Err(Error::Name { at, name: prefix.to_string() });
        }
        let Some(scope) = self.stack.last_mut() else { return Ok(()) };
        let within = |name: &str| is_of_range(name, prefix, count);
        // Another range overlaps if its first name, `other0`, is in this range, or if the first name of this range is
        // declared.
        let overlap = |other: &str, others: u32| {
            others > 0 && within(&format!("{other}0"))
                || count > 0 && scope.symbol(&format!("{prefix}0")).is_some()
        };
        let taken = scope.names.keys().filter(|name| within(name)).min().map(|name| name.to_string());
        let taken = taken.or_else(|| {
            let overlapping = scope.ranges.iter().filter(|(other, others, _)| overlap(other, *others));
            overlapping.map(|(other, ..)| format!("{other}<...>")).min()
        });
        let again = || scope.ranges.iter().any(|(other, ..)| other == prefix);
        if let Some(name) = taken.or_else(|| again().then(|| format!("{prefix}<...>"))) {
            return Err(Error::Redeclared { at, name });
        }
        scope.ranges.push((prefix.clone(), count, ty));
        Ok(())
    }

    fn declare_variable(&mut self, variable: &Variable) -> Result<(), Error> {
        let at = variable.span;
        let wrong = |expected: &str| {
            Err(Error::Declaration { at, text: variable.to_string(), expected: expected.into() })
        };
        if variable.align.is_some_and(|align| !align.is_power_of_two()) {
            return wrong("an alignment that is a power of two");
        }
        if !variable.ty.is_register() || variable.ty == Type::Pred {
            return wrong("a fundamental type other than .pred");
        }
        let elements = match variable.extent {
            Extent::Scalar => 1,
            Extent::Array(n) => n,
            Extent::Unsized if variable.linkage == Linkage::External => u64::MAX,
            Extent::Unsized if !variable.init.is_empty() => u64::MAX,
            Extent::Unsized => {
                return wrong(
                    "a number of elements: only a variable with initial values or an `.extern` one goes without",
                );
            }
        };
        if variable.init.len() as u64 > elements {
            return wrong("no more initial values than elements");
        }
        if !variable.init.is_empty() && !matches!(variable.space, VarSpace::Global | VarSpace::Const) {
            return wrong("no initial values: only variables in .global and .const have some");
        }
        if variable.linkage == Linkage::Common && variable.space != VarSpace::Global {
            return wrong("`.common` for a variable in .global alone");
        }
        for value in &variable.init {
            if let Operand::Name(name) | Operand::Offset(name, _) | Operand::Generic(name, _) = value
                && !matches!(self.symbol(name), Some(Symbol::Variable(_) | Symbol::Function { .. }))
            {
                return Err(Error::Undeclared { at, inst: variable.to_string(), name: name.to_string() });
            }
        }
        self.declare(&variable.name, Symbol::Variable(variable.space), at)
    }
}

/// Whether PTX takes `name` as an identifier (PTX ISA, "Identifiers").
fn is_identifier(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut chars = name.chars();
    match chars.next() {
        Some(c) if c.is_ascii_alphabetic() => chars.all(rest),
        Some('_' | '$' | '%') => name.len() > 1 && chars.all(rest),
        _ => false,
    }
}
