//! The kernel builder: typed registers, structured control flow, and expressions that are materialised once.
//!
//! A builder holds a stack of scopes: the kernel's body and the loops being written. Instructions go to the innermost
//! scope in the order in which they are asked for. Expressions are different: [`Builder::value`] computes an [`Expr`]
//! in the outermost scope that has all its registers, and remembers it there. Address arithmetic thus leaves the
//! loops by itself.

mod access;
mod barrier;
mod cond;
mod control;
mod inline;
mod value;

use girih_layout::Symbol;
use girih_ptx::{
    Address, Directive, Extent, Inst, Item, Kernel, Linkage, Modifier, Module, Name, Opcode, Operand,
    RegDecl, Span, Special, Statement, Target, Type, VarSpace, Variable, Word,
};
use std::collections::{BTreeMap, HashMap};

use crate::Error;
use crate::expr::{Expr, VarId};
pub use cond::Cond;
pub use value::Width;

/// A register: its name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reg {
    name: Name,
    ty: Type,
}

impl Reg {
    /// The register's type as declared.
    pub fn ty(&self) -> Type {
        self.ty
    }
}

impl From<&Reg> for Operand {
    fn from(reg: &Reg) -> Operand {
        Operand::Name(reg.name.clone())
    }
}

/// What the builder knows of an expression's register.
struct Var {
    reg: Reg,
    /// The scope that it is written in; [`CLOSED`] after that scope's end.
    depth: usize,
}

/// Deeper than any scope.
const CLOSED: usize = usize::MAX;

#[derive(Default)]
struct Scope {
    body: Vec<Statement>,
    values: HashMap<(Expr, Width), Reg>,
    conds: HashMap<Cond, Reg>,
}

/// Writes one kernel.
pub struct Builder {
    name: Name,
    target: Target,
    params: Vec<Variable>,
    directives: Vec<Directive>,
    symbols: BTreeMap<u8, Reg>,
    vars: Vec<Var>,
    registers: BTreeMap<&'static str, (Type, u32)>,
    scopes: Vec<Scope>,
    specials: HashMap<Special, Expr>,
    shared: Option<Expr>,
    labels: u32,
}

/// The alignment in bytes of a kernel's dynamic shared memory: the period of the widest swizzle.
pub const SHARED_ALIGN: u32 = 1024;
const SHARED_NAME: &str = "smem";

/// Registers of one class share a prefix.
fn class(ty: Type) -> (&'static str, Type) {
    match ty {
        Type::Pred => ("%p", Type::Pred),
        Type::F32 => ("%f", Type::F32),
        Type::F64 => ("%d", Type::F64),
        _ => match ty.bytes() {
            Some(8) => ("%rd", Type::B64),
            Some(4) => ("%r", Type::B32),
            _ => ("%h", Type::B16),
        },
    }
}

impl Builder {
    /// A kernel `name` for `.target sm_<sm>`, launched with `threads` threads a block.
    pub fn new(name: &str, sm: u32, threads: u32) -> Builder {
        Builder {
            name: Name::from(name),
            target: Target { sm, suffix: None },
            params: Vec::new(),
            directives: vec![Directive::MaxNtid([threads, 1, 1])],
            symbols: BTreeMap::new(),
            vars: Vec::new(),
            registers: BTreeMap::new(),
            scopes: vec![Scope::default()],
            specials: HashMap::new(),
            shared: None,
            labels: 0,
        }
    }

    /// Asks for at least `blocks` resident blocks on a multiprocessor (`.minnctapersm`).
    pub fn min_blocks(&mut self, blocks: u32) {
        self.directives.push(Directive::MinNctaPerSm(blocks));
    }

    /// A new register of type `ty`.
    pub fn reg(&mut self, ty: Type) -> Reg {
        let (prefix, class_ty) = class(ty);
        let entry = self.registers.entry(prefix).or_insert((class_ty, 0));
        let name = format!("{prefix}{}", entry.1);
        entry.1 += 1;
        Reg { name: Name::from(name), ty }
    }

    /// `count` new registers of type `ty`.
    pub fn regs(&mut self, ty: Type, count: usize) -> Vec<Reg> {
        (0..count).map(|_| self.reg(ty)).collect()
    }

    fn depth(&self) -> usize {
        self.scopes.len() - 1
    }

    fn push(&mut self, statement: Statement) {
        let depth = self.depth();
        self.scopes[depth].body.push(statement);
    }

    /// A comment line in the generated text.
    pub fn comment(&mut self, text: &str) {
        self.push(Statement::Comment(Name::from(text)));
    }

    /// Appends an instruction to the innermost scope.
    pub fn inst(&mut self, opcode: Opcode, modifiers: &[Modifier], operands: Vec<Operand>) {
        self.push(Statement::Inst(instruction(None, opcode, modifiers, operands)));
    }

    /// Appends an instruction that runs where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::value`].
    pub fn inst_if(
        &mut self,
        cond: &Cond,
        opcode: Opcode,
        modifiers: &[Modifier],
        operands: Vec<Operand>,
    ) -> Result<(), Error> {
        let guard = match cond {
            Cond::Always => None,
            Cond::Never => return Ok(()),
            cond => Some(girih_ptx::Guard { reg: self.cond(cond)?.name, negated: false }),
        };
        self.push(Statement::Inst(instruction(guard, opcode, modifiers, operands)));
        Ok(())
    }

    /// Appends an instruction to the scope at `depth`.
    fn inst_at(&mut self, depth: usize, opcode: Opcode, modifiers: &[Modifier], operands: Vec<Operand>) {
        self.scopes[depth].body.push(Statement::Inst(instruction(None, opcode, modifiers, operands)));
    }

    /// Declares `reg` as an expression's variable with values in `lower..=upper`, all multiples of `multiple`.
    pub fn var(&mut self, reg: &Reg, lower: i64, upper: i64, multiple: i64) -> Expr {
        let depth = self.depth();
        self.var_at(reg, depth, lower, upper, multiple)
    }

    fn var_at(&mut self, reg: &Reg, depth: usize, lower: i64, upper: i64, multiple: i64) -> Expr {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(Var { reg: reg.clone(), depth });
        Expr::var(id, lower, upper, multiple)
    }

    fn declare(&mut self, name: &str, ty: Type, extent: Extent, align: Option<u32>) {
        self.params.push(Variable {
            linkage: Linkage::Internal,
            space: VarSpace::Param,
            align,
            ty,
            name: Name::from(name),
            extent,
            init: Vec::new(),
            span: Span::default(),
        });
    }

    fn parameter(&mut self, name: &str, ty: Type) -> Reg {
        self.declare(name, ty, Extent::Scalar, None);
        let reg = self.reg(ty);
        let source = Address { base: Some(Name::from(name)), offset: 0, coordinates: Vec::new() };
        let operands = vec![Operand::from(&reg), Operand::Address(source)];
        self.inst_at(0, Opcode::Ld, &[Word::Param.into(), ty.into()], operands);
        reg
    }

    /// A parameter of 128 bytes that holds a tensor map: its generic address.
    pub fn tensor_map(&mut self, name: &str) -> Expr {
        self.declare(name, Type::B8, Extent::Array(girih_ptx::TENSOR_MAP_BYTES as u64), Some(64));
        let [local, generic] = [(); 2].map(|()| self.reg(Type::U64));
        let source = vec![Operand::from(&local), Operand::Name(Name::from(name))];
        self.inst_at(0, Opcode::Mov, &[Type::U64.into()], source);
        let operands = vec![Operand::from(&generic), Operand::from(&local)];
        self.inst_at(0, Opcode::Cvta, &[Word::Param.into(), Type::U64.into()], operands);
        self.var_at(&generic, 0, 0, 1 << 60, 64)
    }

    /// A 64-bit parameter: the global address of an array whose elements stand at multiples of `align` bytes.
    pub fn pointer(&mut self, name: &str, align: i64) -> Expr {
        let generic = self.parameter(name, Type::U64);
        let global = self.reg(Type::U64);
        let operands = vec![Operand::from(&global), Operand::from(&generic)];
        self.inst_at(0, Opcode::Cvta, &[Word::To.into(), Word::Global.into(), Type::U64.into()], operands);
        self.var_at(&global, 0, 0, 1 << 60, align)
    }

    /// A 32-bit parameter that stands for `symbol` in layouts.
    pub fn symbol(&mut self, name: &str, symbol: Symbol) -> Expr {
        let reg = self.parameter(name, Type::U32);
        self.symbols.insert(symbol.id(), reg);
        Expr::from_int(&girih_layout::Int::symbol(symbol))
    }

    /// A 32-bit parameter with values in `0..=upper`.
    pub fn number(&mut self, name: &str, upper: i64) -> Expr {
        let reg = self.parameter(name, Type::U32);
        self.var_at(&reg, 0, 0, upper, 1)
    }

    /// A special register with values in `0..count`.
    pub fn special(&mut self, special: Special, count: i64) -> Expr {
        if let Some(known) = self.specials.get(&special) {
            return known.clone();
        }
        let reg = self.reg(Type::U32);
        self.inst_at(
            0,
            Opcode::Mov,
            &[Type::U32.into()],
            vec![Operand::from(&reg), Operand::Special(special)],
        );
        let expr = self.var_at(&reg, 0, 0, count - 1, 1);
        self.specials.insert(special, expr.clone());
        expr
    }

    /// The address in bytes of the kernel's dynamic shared memory, aligned to [`SHARED_ALIGN`].
    pub fn shared(&mut self) -> Expr {
        if let Some(base) = &self.shared {
            return base.clone();
        }
        let reg = self.reg(Type::U32);
        let operands = vec![Operand::from(&reg), Operand::Name(Name::from(SHARED_NAME))];
        self.inst_at(0, Opcode::Mov, &[Type::U32.into()], operands);
        let base = self.var_at(&reg, 0, 0, 1 << 18, i64::from(SHARED_ALIGN));
        self.shared = Some(base.clone());
        base
    }

    /// Finishes the kernel and returns a module with it alone.
    ///
    /// # Errors
    /// [`Error::Ptx`] if the module does not verify, which is a fault of the generator.
    pub fn finish(mut self) -> Result<Module, Error> {
        self.inst(Opcode::Ret, &[], Vec::new());
        let mut body: Vec<Statement> = self
            .registers
            .iter()
            .map(|(prefix, (ty, count))| {
                Statement::Reg(RegDecl {
                    ty: *ty,
                    names: vec![(Name::from(*prefix), Some(*count))],
                    span: Span::default(),
                })
            })
            .collect();
        for scope in self.scopes {
            body.extend(scope.body);
        }
        let mut items = Vec::new();
        if self.shared.is_some() {
            items.push(Item::Variable(Variable {
                linkage: Linkage::External,
                space: VarSpace::Shared,
                align: Some(SHARED_ALIGN),
                ty: Type::B8,
                name: Name::from(SHARED_NAME),
                extent: Extent::Unsized,
                init: Vec::new(),
                span: Span::default(),
            }));
        }
        items.push(Item::Kernel(Kernel {
            linkage: Linkage::Visible,
            name: self.name,
            params: self.params,
            directives: self.directives,
            body,
            span: Span::default(),
        }));
        let mut module = Module { version: (7, 0), target: self.target, items };
        // Instructions of one architecture alone, as wgmma.
        let required = module.required_target()?;
        if required.suffix.is_some() && required.sm == module.target.sm {
            module.target = required;
        }
        module.version = module.required_version()?;
        module.verify()?;
        Ok(module)
    }
}

fn instruction(
    guard: Option<girih_ptx::Guard>,
    opcode: Opcode,
    modifiers: &[Modifier],
    operands: Vec<Operand>,
) -> Inst {
    Inst { guard, opcode, modifiers: modifiers.to_vec(), operands, span: Span::default() }
}

/// `[base+offset]` with a register base.
pub(crate) fn address(base: &Reg, offset: i64) -> Operand {
    Operand::Address(Address { base: Some(base.name.clone()), offset, coordinates: Vec::new() })
}

#[cfg(test)]
mod tests;
