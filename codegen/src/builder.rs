//! The kernel builder: typed registers, structured control flow, and expressions that are materialised once.
//!
//! A builder holds a stack of scopes: the kernel's body and the loops being written. Instructions go to the innermost
//! scope in the order in which they are asked for. Expressions are different: [`Builder::value`] computes an [`Expr`]
//! in the outermost scope that has all its registers, and remembers it there. Address arithmetic thus leaves the
//! loops by itself.

mod access;
mod barrier;
mod body;
mod cond;
mod control;
mod inline;
mod value;

use girih_layout::Symbol;
use girih_ptx::{
    Address, Claim, Directive, Extent, Inst, Item, Kernel, Linkage, Modifier, Module, Name, Notes, Opcode,
    Operand, RegDecl, Site, Span, Special, Statement, Target, Type, VarSpace, Variable, Word,
};
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;

use crate::Error;
use crate::expr::{Expr, VarId};
use body::Body;
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
    /// Whether the register has been written since.
    stale: bool,
    /// When the register itself was last asked for.
    used: u64,
}

/// Deeper than any scope.
const CLOSED: usize = usize::MAX;

#[derive(Default)]
struct Scope {
    body: Body,
    values: HashMap<(Expr, Width), Reg>,
    conds: HashMap<Cond, Reg>,
    /// Of a loop, when it was opened.
    repeats: Option<u64>,
}

/// Writes one kernel.
pub struct Builder {
    name: Name,
    target: Target,
    params: Vec<Variable>,
    directives: Vec<Directive>,
    symbols: BTreeMap<u8, (Symbol, Option<Reg>)>,
    vars: Vec<Var>,
    /// The variables that stand for what a register holds now.
    named: HashMap<Name, Vec<VarId>>,
    registers: BTreeMap<&'static str, (Type, u32)>,
    scopes: Vec<Scope>,
    specials: HashMap<Special, Expr>,
    shared: Option<Expr>,
    labels: u32,
    /// Counts what is asked for and opened.
    clock: u64,
    /// On whose behalf instructions are written.
    site: Option<&'static Location<'static>>,
    threads: u32,
    /// The first mistake in a call that returns no error; the next one that does tells it.
    fault: Option<Error>,
}

/// The alignment in bytes of a kernel's dynamic shared memory: the period of the widest swizzle.
pub const SHARED_ALIGN: u32 = 1024;
const SHARED_NAME: &str = "smem";
/// Most threads of a block, blocks of a grid along x and along y and z, and blocks of a cluster (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const MAX_THREADS: u32 = 1024;
const MAX_GRID: [i64; 2] = [(1 << 31) - 1, (1 << 16) - 1];
const MAX_CLUSTER: i64 = 16;
/// Beyond any address.
const MAX_ADDRESS: i64 = 1 << 60;

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
    /// A kernel `name` for `.target sm_<sm>`, launched with `threads` threads a block, 1 to 1024: [`Builder::finish`] refuses
    /// any other number.
    pub fn new(name: &str, sm: u32, threads: u32) -> Builder {
        let fault = (!(1..=MAX_THREADS).contains(&threads)).then(|| Error::Config {
            what: "threads of a block",
            value: threads.to_string(),
            accepted: format!("1 to {MAX_THREADS}"),
        });
        let mut builder = Builder {
            name: Name::from(name),
            target: Target { sm, suffix: None },
            params: Vec::new(),
            directives: vec![Directive::MaxNtid([threads, 1, 1])],
            symbols: BTreeMap::new(),
            vars: Vec::new(),
            named: HashMap::new(),
            registers: BTreeMap::new(),
            scopes: vec![Scope::default()],
            specials: HashMap::new(),
            shared: None,
            labels: 0,
            clock: 0,
            site: None,
            threads: threads.clamp(1, MAX_THREADS),
            fault,
        };
        builder.check_name("name of a kernel", name);
        builder
    }

    /// The threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Remembers the first mistake.
    fn fail(&mut self, error: Error) {
        self.fault.get_or_insert(error);
    }

    fn check_name(&mut self, what: &'static str, name: &str) {
        if !is_identifier(name) {
            let accepted = String::from("letters, digits, _ and $, no digit first");
            self.fail(Error::Config { what, value: format!("{name:?}"), accepted });
        }
    }

    fn told(&self) -> Result<(), Error> {
        self.fault.clone().map_or(Ok(()), Err)
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

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    #[track_caller]
    fn push(&mut self, statement: Statement) {
        self.push_at(self.depth(), statement);
    }

    #[track_caller]
    fn push_at(&mut self, depth: usize, statement: Statement) {
        self.note_writes(&statement);
        let site = self.site.unwrap_or(Location::caller());
        let site = matches!(statement, Statement::Inst(_) | Statement::Block(_)).then_some(site);
        self.scopes[depth].body.push(statement, site);
    }

    /// What `write` writes counts as written at `site`, in the findings of the simulator too, unless what is around it has such a place
    /// already: for functions that write instructions on behalf of their caller.
    ///
    /// # Examples
    /// ```
    /// use std::panic::Location;
    /// use girih_codegen::Builder;
    ///
    /// /// Findings name the line that calls it, not this one.
    /// #[track_caller]
    /// fn two_barriers(b: &mut Builder) {
    ///     b.on_behalf(Location::caller(), |b| {
    ///         b.barrier();
    ///         b.barrier();
    ///     })
    /// }
    /// two_barriers(&mut Builder::new("k", 80, 32));
    /// ```
    pub fn on_behalf<R>(
        &mut self,
        site: &'static Location<'static>,
        write: impl FnOnce(&mut Builder) -> R,
    ) -> R {
        let outer = self.site;
        self.site = outer.or(Some(site));
        let written = write(self);
        self.site = outer;
        written
    }

    /// Expressions that name a register by what it held before `statement` are stale.
    fn note_writes(&mut self, statement: &Statement) {
        let inst = match statement {
            Statement::Inst(inst) => inst,
            Statement::Block(body) => return body.iter().for_each(|inner| self.note_writes(inner)),
            _ => return,
        };
        if self.named.is_empty() || inst.operands.is_empty() {
            return;
        }
        for name in inst.written() {
            let Some(vars) = self.named.remove(name) else { continue };
            for var in vars.into_iter().map(|id| id.0 as usize) {
                self.vars[var].stale = true;
                let Var { ref reg, depth, used, .. } = self.vars[var];
                // The next time round, what was computed with it in the loop is computed with what is written here.
                let mut inside =
                    self.scopes.iter().skip(depth.saturating_add(1)).filter_map(|scope| scope.repeats);
                if inside.any(|opened| used > opened) {
                    let register = reg.name.to_string();
                    self.fail(Error::Overwritten { register, instruction: inst.to_string() });
                }
            }
        }
    }

    /// A comment line in the generated text.
    #[track_caller]
    pub fn comment(&mut self, text: &str) {
        self.push(Statement::Comment(Name::from(text)));
    }

    /// Appends an instruction to the innermost scope.
    #[track_caller]
    pub fn inst(&mut self, opcode: Opcode, modifiers: &[Modifier], operands: Vec<Operand>) {
        self.push(Statement::Inst(instruction(None, opcode, modifiers, operands)));
    }

    /// Appends an instruction that runs where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
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
    #[track_caller]
    fn inst_at(&mut self, depth: usize, opcode: Opcode, modifiers: &[Modifier], operands: Vec<Operand>) {
        self.push_at(depth, Statement::Inst(instruction(None, opcode, modifiers, operands)));
    }

    /// Declares `reg` as an expression's variable with values in `lower..=upper`, all multiples of `multiple`: what it holds
    /// now. Once an instruction writes the register, the expression is refused ([`Error::Stale`]), and another call declares
    /// what it holds then. The simulator checks this claim.
    #[track_caller]
    pub fn var(&mut self, reg: &Reg, lower: i64, upper: i64, multiple: i64) -> Expr {
        let depth = self.depth();
        self.claim(depth, reg, (lower, upper, multiple));
        self.var_at(reg, depth, lower, upper, multiple)
    }

    /// Leaves word of what the caller's caller says of a register.
    #[track_caller]
    fn claim(&mut self, depth: usize, reg: &Reg, (lower, upper, multiple): (i64, i64, i64)) {
        let site = Site::from(self.site.unwrap_or(Location::caller()));
        let claim = Claim { line: 0, register: reg.name.clone(), lower, upper, multiple, site };
        self.scopes[depth].body.claim(claim);
    }

    fn var_at(&mut self, reg: &Reg, depth: usize, lower: i64, upper: i64, multiple: i64) -> Expr {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(Var { reg: reg.clone(), depth, stale: false, used: 0 });
        self.named.entry(reg.name.clone()).or_default().push(id);
        Expr::var(id, lower, upper, multiple)
    }

    fn declare(&mut self, name: &str, ty: Type, extent: Extent, align: Option<u32>) {
        self.check_name("name of a parameter", name);
        if name == SHARED_NAME || self.params.iter().any(|param| &*param.name == name) {
            let accepted = format!("a name of its own, other than {SHARED_NAME}, which is shared memory's");
            self.fail(Error::Config { what: "name of a parameter", value: name.into(), accepted });
        }
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

    #[track_caller]
    fn parameter(&mut self, name: &str, ty: Type) -> Reg {
        self.declare(name, ty, Extent::Scalar, None);
        let reg = self.reg(ty);
        let source = Address { base: Some(Name::from(name)), offset: 0, coordinates: Vec::new() };
        let operands = vec![Operand::from(&reg), Operand::Address(source)];
        self.inst_at(0, Opcode::Ld, &[Word::Param.into(), ty.into()], operands);
        reg
    }

    /// A parameter of 128 bytes that holds a tensor map: its generic address.
    #[track_caller]
    pub fn tensor_map(&mut self, name: &str) -> Expr {
        self.declare(name, Type::B8, Extent::Array(girih_ptx::TENSOR_MAP_BYTES as u64), Some(64));
        let [local, generic] = [(); 2].map(|()| self.reg(Type::U64));
        let source = vec![Operand::from(&local), Operand::Name(Name::from(name))];
        self.inst_at(0, Opcode::Mov, &[Type::U64.into()], source);
        let operands = vec![Operand::from(&generic), Operand::from(&local)];
        self.inst_at(0, Opcode::Cvta, &[Word::Param.into(), Type::U64.into()], operands);
        self.var_at(&generic, 0, 0, MAX_ADDRESS, 64)
    }

    /// A 64-bit parameter: the global address of an array whose elements stand at multiples of `align` bytes.
    #[track_caller]
    pub fn pointer(&mut self, name: &str, align: i64) -> Expr {
        let generic = self.parameter(name, Type::U64);
        let global = self.reg(Type::U64);
        let operands = vec![Operand::from(&global), Operand::from(&generic)];
        self.inst_at(0, Opcode::Cvta, &[Word::To.into(), Word::Global.into(), Type::U64.into()], operands);
        self.claim(0, &global, (0, MAX_ADDRESS, align));
        self.var_at(&global, 0, 0, MAX_ADDRESS, align)
    }

    /// A 32-bit parameter that layouts have as a symbol of its own, with the facts that `facts` adds to what any such
    /// parameter has: not negative, below 2^32.
    ///
    /// # Errors
    /// [`Error::Config`] if the kernel has 256 symbols already.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Expr};
    /// use girih_layout::{Int, Lay};
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let ld = b.symbol("ld", |ld| ld.at_least(1).divisible_by(8))?;
    /// let matrix = Lay::strided([Int::fixed(128), Int::fixed(64)], [Int::symbol(ld), Int::fixed(1)])?;
    /// assert_eq!(Expr::from_int(&Int::symbol(ld)).multiple(), 8);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn symbol(&mut self, name: &str, facts: impl FnOnce(Symbol) -> Symbol) -> Result<Symbol, Error> {
        let symbol = self.unbound_symbol(facts)?;
        self.bind(name, symbol);
        Ok(symbol)
    }

    /// A symbol of its own that is no parameter: what the host binds, as the extents and pitches of a tensor map.
    ///
    /// # Errors
    /// As [`Builder::symbol`].
    pub fn unbound_symbol(&mut self, facts: impl FnOnce(Symbol) -> Symbol) -> Result<Symbol, Error> {
        let free = (0..=u8::MAX).find(|id| !self.symbols.contains_key(id));
        let Some(id) = free else {
            let accepted = String::from("256 symbols");
            return Err(Error::Config { what: "symbols of a kernel", value: "257".into(), accepted });
        };
        let symbol = facts(Symbol::new(id));
        if symbol.id() != id {
            let value = format!("s{}", symbol.id());
            let accepted = format!("s{id}, the symbol that was handed out, with more facts");
            return Err(Error::Config { what: "facts of a symbol", value, accepted });
        }
        self.symbols.insert(id, (symbol, None));
        Ok(symbol)
    }

    /// A 32-bit parameter for a symbol.
    #[track_caller]
    pub(crate) fn bind(&mut self, name: &str, symbol: Symbol) {
        let reg = self.parameter(name, Type::U32);
        let most = symbol.upper().unwrap_or(i64::from(u32::MAX));
        self.claim(0, &reg, (symbol.lower(), most, symbol.divisor()));
        self.symbols.insert(symbol.id(), (symbol, Some(reg)));
    }

    /// A 32-bit parameter with values in `0..=upper`.
    #[track_caller]
    pub fn number(&mut self, name: &str, upper: i64) -> Expr {
        let reg = self.parameter(name, Type::U32);
        self.claim(0, &reg, (0, upper, 1));
        self.var_at(&reg, 0, 0, upper, 1)
    }

    /// A special register, with the values that it can have in this kernel: there are as many threads in a block as the
    /// kernel has, and as many blocks in a grid and a cluster as the hardware takes (PTX ISA, "Special Registers"). It is read
    /// at the kernel's start; what changes meanwhile, as a clock does, is read here.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 80, 96);
    /// assert_eq!(b.special(Special::TidX).range(), (0, 95));
    /// assert_eq!(b.special(Special::Laneid).range(), (0, 31));
    /// assert_eq!(b.special(Special::WarpSize).as_constant(), Some(32));
    /// ```
    #[track_caller]
    pub fn special(&mut self, special: Special) -> Expr {
        if let Some(known) = self.specials.get(&special) {
            return known.clone();
        }
        let (lower, upper) = self.range_of(special);
        if lower == upper {
            return Expr::from(lower);
        }
        let changes = matches!(
            special,
            Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::Globaltimer
                | Special::GlobaltimerLo
                | Special::GlobaltimerHi
                | Special::Smid
                | Special::Warpid
        );
        let depth = if changes { self.depth() } else { 0 };
        let ty = special.ty();
        let reg = self.reg(ty);
        self.inst_at(depth, Opcode::Mov, &[ty.into()], vec![Operand::from(&reg), Operand::Special(special)]);
        let expr = self.var_at(&reg, depth, lower, upper, 1);
        if !changes {
            self.specials.insert(special, expr.clone());
        }
        expr
    }

    fn range_of(&self, special: Special) -> (i64, i64) {
        use Special as S;
        let threads = i64::from(self.threads);
        match special {
            S::TidX | S::TidY | S::TidZ => (0, threads - 1),
            S::NtidX | S::NtidY | S::NtidZ => (1, threads),
            S::Laneid => (0, 31),
            S::WarpSize => (32, 32),
            S::CtaidX => (0, MAX_GRID[0] - 1),
            S::CtaidY | S::CtaidZ => (0, MAX_GRID[1] - 1),
            S::NctaidX => (1, MAX_GRID[0]),
            S::NctaidY | S::NctaidZ => (1, MAX_GRID[1]),
            S::ClusterCtaidX | S::ClusterCtaidY | S::ClusterCtaidZ | S::ClusterCtarank => {
                (0, MAX_CLUSTER - 1)
            }
            S::ClusterNctaidX | S::ClusterNctaidY | S::ClusterNctaidZ | S::ClusterNctarank => {
                (1, MAX_CLUSTER)
            }
            _ if special.ty() == Type::U64 => (0, i64::MAX),
            _ => (0, i64::from(u32::MAX)),
        }
    }

    /// The address in bytes of the kernel's dynamic shared memory, aligned to [`SHARED_ALIGN`].
    #[track_caller]
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

    /// Finishes the kernel and returns a module with it alone, and with what was claimed of its registers: the simulator
    /// checks that, so that a wrong claim is an error with the line of the program that made it.
    ///
    /// # Errors
    /// [`Error::Written`] for inline PTX or instructions of the caller's that do not verify, with the line that wrote them;
    /// [`Error::Config`] for a name or a number of threads that PTX does not take, [`Error::Overwritten`] for registers that change in
    /// a loop; [`Error::Ptx`] for a fault of the generator.
    #[track_caller]
    pub fn finish(mut self) -> Result<Module, Error> {
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
        let (body, known) = whole.into_parts();
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
        let mut module = Module { version: (7, 0), target: self.target, items, notes: Notes::default() };
        if let Err(error) = needs(&mut module) {
            let notes = known.by_lines(&module, &name);
            return Err(blamed(error, &module, &notes));
        }
        module.notes = known.by_lines(&module, &name);
        Ok(module)
    }
}

/// Gives the module the target and the version that its instructions need, and verifies it.
fn needs(module: &mut Module) -> Result<(), girih_ptx::Error> {
    // Instructions of one architecture alone, as wgmma.
    let required = module.required_target()?;
    if required.suffix.is_some() && required.sm == module.target.sm {
        module.target = required;
    }
    module.version = module.required_version()?;
    module.verify()
}

/// The error with the line of the program that wrote what is wrong.
fn blamed(error: girih_ptx::Error, module: &Module, notes: &Notes) -> Error {
    // Read from its text, a module has lines.
    let error = match Module::parse(&module.to_string()) {
        Err(error) => error,
        Ok(mut parsed) => needs(&mut parsed).err().unwrap_or(error),
    };
    match notes.site(error.span().line) {
        Some(site) => Error::Written { site: site.clone(), error },
        None => Error::Ptx(error),
    }
}

/// Whether PTX takes it as an identifier (PTX ISA, "Identifiers").
fn is_identifier(name: &str) -> bool {
    let follows = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut rest = name.chars();
    match rest.next() {
        Some(first) if first.is_ascii_alphabetic() => rest.all(follows),
        Some('_' | '$' | '%') => !rest.as_str().is_empty() && rest.all(follows),
        _ => false,
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
