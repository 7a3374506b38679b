//! Names: registers, variables and labels by scope, and the addresses of variables.

use std::collections::HashMap;
use std::sync::Arc;

use girih_ptx::{self as ptx, Extent, Linkage, Operand, Statement, Type, VarSpace, Word};

use super::variable::named;
use super::{DEPTH, Decoder, align_up, size};
use crate::lanes::{File, Reg};
use crate::program::Whole;
use crate::space::SHARED_BASE;
use crate::{Error, Space};

/// The most bytes of local memory that a thread can have: it is allocated for all threads of a block, of which there
/// are up to 1024.
const LOCAL_LIMIT: u64 = 64 << 10;

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    /// A register that an instruction has used, and that has a number.
    Register(Reg),
    /// A 128-bit register that an instruction has used: its halves, the low one first.
    Wide([Reg; 2]),
    /// A register that no instruction has used yet.
    Declared(Type),
    Label(u32),
    /// A parameter: its offset in bytes.
    Param(u64),
    /// A shared variable: its address and size in bytes.
    Shared(u64, u64),
    /// An `.extern .shared` variable. All of them begin where the dynamic part begins.
    Dynamic,
    /// A local variable, or an argument of a call: its offset in local memory and its size in bytes.
    Local(u64, u64),
    /// A local variable or an argument in a function with a stack frame: its offset in the frame and its size in bytes.
    Stack(u64, u64),
}

/// The address of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) at: u64,
    pub(super) from: From,
    /// The number of a variable in shared or local memory, from 1; 0 for other variables.
    pub(super) variable: u32,
}

/// To what an offset is relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The start of its space.
    Zero,
    /// The begin of shared memory, to which every block adds its rank in the cluster.
    Shared,
    /// The begin of the lane's stack frame.
    Frame,
}

impl Placed {
    fn at(at: u64) -> Placed {
        Placed { at, from: From::Zero, variable: 0 }
    }

    fn shared(at: u64) -> Placed {
        Placed { at, from: From::Shared, variable: 0 }
    }
}

/// The names of one `{ }`.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: HashMap<Arc<str>, Named>,
    /// Registers declared as `%r<40>`: the prefix, the count, and the type.
    ranges: Vec<(Arc<str>, u32, Type)>,
}

/// The scopes around a statement, innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes(Vec<Scope>);

impl Scopes {
    pub(super) fn enter(&mut self, scope: Scope) {
        self.0.push(scope);
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    pub(super) fn declare(&mut self, name: Arc<str>, named: Named) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, named);
        }
    }

    pub(super) fn declare_registers(&mut self, name: Arc<str>, count: Option<u32>, ty: Type) {
        match (count, self.0.last_mut()) {
            (Some(count), Some(scope)) => scope.ranges.push((name, count, ty)),
            _ => self.declare(name, Named::Declared(ty)),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Named> {
        self.0.iter().rev().find_map(|scope| scope.find(name))
    }

    /// Gives a declared register its number, in the scope that declares the register.
    pub(super) fn number(&mut self, name: Arc<str>, named: Named) {
        if let Some(scope) = self.0.iter_mut().rev().find(|scope| scope.find(&name).is_some()) {
            scope.names.insert(name, named);
        }
    }
}

impl Scope {
    pub(super) fn declare(&mut self, name: Arc<str>, named: Named) {
        self.names.insert(name, named);
    }

    fn find(&self, name: &str) -> Option<Named> {
        self.names.get(name).copied().or_else(|| {
            let in_range = |(prefix, count, _): &&(Arc<str>, u32, Type)| {
                let Some(digits) = name.strip_prefix(&**prefix) else { return false };
                let canonical = digits.len() == 1 || !digits.starts_with(['0', '+']);
                canonical && digits.parse::<u32>().is_ok_and(|i| i < *count)
            };
            self.ranges.iter().find(in_range).map(|&(_, _, ty)| Named::Declared(ty))
        })
    }
}

/// The register file of a type; `None` for types that no register has.
pub(super) fn file(ty: Type) -> Option<File> {
    match ty {
        Type::Pred => Some(File::Pred),
        _ => match ty.bytes()? {
            1 | 2 | 4 => Some(File::W32),
            8 => Some(File::W64),
            _ => None,
        },
    }
}

/// Addresses of shared variables: static ones in the order of declaration, then the dynamic part.
#[derive(Debug)]
pub(super) struct SharedLayout {
    next: u64,
    dynamic: u64,
}

impl Default for SharedLayout {
    fn default() -> Self {
        SharedLayout { next: SHARED_BASE, dynamic: SHARED_BASE }
    }
}

impl SharedLayout {
    fn place(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let at = align_up(self.next, align)?;
        self.next = at.checked_add(bytes).filter(|&end| end <= u64::from(u32::MAX) / 2)?;
        Some(at)
    }

    /// Places the dynamic part after the static one, aligned for every `.extern` variable.
    pub(super) fn start_dynamic(&mut self, body: &[Statement], variables: &[&ptx::Variable]) {
        let inner = body.iter().filter_map(|s| if let Statement::Variable(v) = s { Some(v) } else { None });
        let dynamic = inner.chain(variables.iter().copied()).filter(|v| is_dynamic(v));
        let align = dynamic.filter_map(size).map(|(_, align)| align).fold(16, u64::max);
        self.dynamic = align_up(self.next, align).unwrap_or(self.next);
    }

    // `place` keeps the static part below 2^31 bytes, and an alignment is at most 2^31, so that 32 bits hold both numbers.

    pub(super) fn static_bytes(&self) -> u32 {
        (self.next - SHARED_BASE) as u32
    }

    pub(super) fn dynamic_offset(&self) -> u32 {
        (self.dynamic - SHARED_BASE) as u32
    }
}

fn is_dynamic(variable: &ptx::Variable) -> bool {
    variable.space == VarSpace::Shared
        && (variable.linkage == Linkage::External || variable.extent == Extent::Unsized)
}

fn is_static(variable: &ptx::Variable) -> bool {
    variable.space == VarSpace::Shared && !is_dynamic(variable)
}

/// Whether statements mention a name. A kernel has only those of the module's variables that it mentions. Statements
/// nested more than [`DEPTH`] deep are not looked at, as they are refused later.
pub(super) fn mentions(body: &[Statement], name: &str) -> bool {
    fn operand(operand: &Operand, name: &str) -> bool {
        match operand {
            Operand::Name(n) | Operand::Offset(n, _) => **n == *name,
            Operand::Address(address) => address.base.as_deref() == Some(name),
            _ => false,
        }
    }
    fn within(body: &[Statement], name: &str, depth: usize) -> bool {
        depth <= DEPTH
            && body.iter().any(|statement| match statement {
                Statement::Inst(inst) => inst.operands.iter().any(|o| operand(o, name)),
                Statement::Block(body) => within(body, name, depth + 1),
                _ => false,
            })
    }
    within(body, name, 0)
}

impl Decoder<'_> {
    pub(super) fn at_variable(&mut self, variable: &ptx::Variable) {
        self.place.line = variable.span.line;
        self.place.instruction = variable.to_string().into();
    }

    pub(super) fn extent(&self, variable: &ptx::Variable) -> Result<(u64, u64), Error> {
        size(variable).ok_or_else(|| self.unsupported("a variable of this type, size or alignment"))
    }

    /// Places every static shared variable: the module's, then the kernel's, nested scopes included.
    pub(super) fn place_static(&mut self, body: &[Statement], depth: usize) -> Result<(), Error> {
        if depth == 0 {
            let variables = self.variables;
            let bodies = self.reachable();
            let used = |name: &str| bodies.iter().any(|body| mentions(body, name));
            for variable in variables.iter().filter(|v| is_static(v) && used(&v.name)) {
                self.at_variable(variable);
                let (bytes, align) = self.extent(variable)?;
                let at = self
                    .shared
                    .place(bytes, align)
                    .ok_or_else(|| self.unsupported("so much shared memory"))?;
                self.named.push(named(variable, Space::Shared, at));
                self.scopes.declare(variable.name.clone(), Named::Shared(at, bytes));
                self.module_shared.push((variable.name.clone(), Named::Shared(at, bytes)));
            }
        }
        if depth > DEPTH {
            return Err(self.unsupported("blocks nested more than 256 deep"));
        }
        for statement in body {
            match statement {
                Statement::Variable(v) if is_static(v) => {
                    self.at_variable(v);
                    let (bytes, align) = self.extent(v)?;
                    let at = self
                        .shared
                        .place(bytes, align)
                        .ok_or_else(|| self.unsupported("so much shared memory"))?;
                    self.named.push(named(v, Space::Shared, at));
                    self.static_addresses.push_back(at);
                }
                Statement::Block(body) => self.place_static(body, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Declares a variable of the kernel's body.
    pub(super) fn variable(&mut self, variable: &ptx::Variable) -> Result<(), Error> {
        self.at_variable(variable);
        if !variable.init.is_empty() {
            return Err(self.unsupported("an initial value"));
        }
        let (bytes, align) = self.extent(variable)?;
        let place = match variable.space {
            VarSpace::Shared if is_dynamic(variable) => Named::Dynamic,
            VarSpace::Shared if !self.calls.is_empty() || self.frame.is_some() => {
                return Err(self.unsupported("a shared variable of a function; one of the module is"));
            }
            VarSpace::Shared => {
                Named::Shared(self.static_addresses.pop_front().unwrap_or(SHARED_BASE), bytes)
            }
            // Arguments and results of calls are variables in local memory.
            VarSpace::Local | VarSpace::Param if self.frame.is_some() => {
                Named::Stack(self.in_frame(bytes, align)?, bytes)
            }
            VarSpace::Local | VarSpace::Param => {
                let at = align_up(self.local, align);
                let end = at.and_then(|at| at.checked_add(bytes)).filter(|&end| end <= LOCAL_LIMIT);
                self.local =
                    end.ok_or_else(|| self.unsupported("more than 64 KiB of local memory a thread"))?;
                Named::Local(at.unwrap_or(0), bytes)
            }
            space => return Err(self.unsupported(&format!("a {space} variable in a kernel"))),
        };
        match place {
            Named::Local(at, _) => self.named.push(named(variable, Space::Local, at)),
            Named::Dynamic => self.named.push(named(variable, Space::Shared, self.shared.dynamic)),
            _ => {}
        }
        self.scopes.declare(variable.name.clone(), place);
        Ok(())
    }

    /// Records the module's dynamic shared variables that the kernel uses, for messages.
    pub(super) fn name_dynamic(&mut self) {
        let bodies = self.reachable();
        for variable in self.variables.iter().filter(|variable| is_dynamic(variable)) {
            if bodies.iter().any(|body| mentions(body, &variable.name)) {
                self.named.push(named(variable, Space::Shared, self.shared.dynamic));
            }
        }
    }

    /// The state space of the variable `name`, if it is one.
    pub(super) fn space_of(&self, name: &str) -> Option<Word> {
        match self.scopes.find(name) {
            Some(Named::Local(..) | Named::Stack(..)) => Some(Word::Local),
            Some(Named::Shared(..) | Named::Dynamic) => Some(Word::Shared),
            Some(_) => None,
            None => match self.variables.iter().find(|v| *v.name == *name)?.space {
                VarSpace::Shared => Some(Word::Shared),
                VarSpace::Global => Some(Word::Global),
                VarSpace::Const => Some(Word::Const),
                VarSpace::Local | VarSpace::Param => None,
            },
        }
    }

    /// The address of a variable in its space, as `mov` gives it.
    pub(super) fn address_of(&mut self, name: &Arc<str>) -> Result<Placed, Error> {
        let whole = |space, at, bytes, framed| Whole { name: name.clone(), space, at, bytes, framed };
        match self.scopes.find(name) {
            Some(Named::Param(at)) => Ok(Placed::at(at)),
            Some(Named::Local(at, bytes)) => {
                let variable = self.mention(whole(Space::Local, at, bytes, false));
                Ok(Placed { variable, ..Placed::at(at) })
            }
            Some(Named::Stack(at, bytes)) => {
                let variable = self.mention(whole(Space::Local, at, bytes, true));
                Ok(Placed { at, from: From::Frame, variable })
            }
            Some(Named::Shared(at, bytes)) => {
                let variable = self.mention(whole(Space::Shared, at, bytes, false));
                Ok(Placed { variable, ..Placed::shared(at) })
            }
            Some(Named::Dynamic) => Ok(Placed::shared(self.shared.dynamic)),
            Some(Named::Label(_)) => Err(self.unsupported("the address of a label")),
            Some(Named::Register(_) | Named::Wide(_) | Named::Declared(_)) => {
                Err(self.undeclared(name, "variable"))
            }
            None => match self.variables.iter().find(|v| v.name == *name) {
                Some(v) if is_dynamic(v) => Ok(Placed::shared(self.shared.dynamic)),
                Some(v) if self.globals.address(&v.name).is_some() => {
                    Ok(Placed::at(self.globals.address(&v.name).unwrap_or_default()))
                }
                Some(v) => Err(self.unsupported(&format!("`{name}`, a {} variable of the module", v.space))),
                None => (self.code_address(name).map(Placed::at))
                    .ok_or_else(|| self.undeclared(name, "register or variable")),
            },
        }
    }
}
