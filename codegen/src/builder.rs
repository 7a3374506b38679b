//! The kernel builder: typed registers, structured control flow, and expressions that are materialised once.
//!
//! A builder holds a stack of scopes: the kernel's body and the loops being written. Instructions go to the innermost
//! scope in the order in which they are asked for. Expressions are different: [`Builder::value`] computes an [`Expr`]
//! in the outermost scope that has all its registers, and remembers it there. Address arithmetic thus leaves the
//! loops by itself.

mod access;
mod barrier;
mod body;
mod carry;
mod cond;
mod control;
mod debug;
mod division;
mod finish;
mod inline;
mod packed;
mod parameter;
mod print;
mod scalar;
mod shared;
mod shuffle;
mod special;
mod value;
mod vote;

use girih_layout::Symbol;
use girih_ptx::{
    Address, Claim, Directive, Fact, Inst, Item, Modifier, Name, Opcode, Operand, Site, Span, Special,
    Statement, Target, Type, Variable,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::expr::{Expr, VarId};
pub use crate::scalar::Cond;
use crate::scalar::Scalar;
use body::Body;
use shared::Shared;
pub use shared::{MAX_SHARED, SHARED_ALIGN};
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

/// Its name: what [`ptx!`](crate::ptx) captures.
impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
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
const CLOSED: usize = usize::MAX - 1;

#[derive(Default)]
struct Scope {
    body: Body,
    values: HashMap<(Expr, Width), Reg>,
    conds: HashMap<Cond, Reg>,
    scalars: HashMap<Scalar, Reg>,
    pairs: HashMap<(Scalar, Scalar), Reg>,
    /// Of a loop, when it was opened.
    repeats: Option<u64>,
}

/// Writes one kernel.
pub struct Builder {
    /// Tells its scalars from those of others.
    id: u64,
    name: Name,
    target: Target,
    params: Vec<Variable>,
    directives: Vec<Directive>,
    symbols: BTreeMap<u8, (Symbol, Option<Reg>)>,
    vars: Vec<Var>,
    /// The variables that stand for what a register holds now.
    named: HashMap<Name, Vec<VarId>>,
    /// The registers of what has been computed, which nothing else writes.
    computed: HashSet<Name>,
    registers: BTreeMap<&'static str, (Type, u32)>,
    scopes: Vec<Scope>,
    specials: HashMap<Special, Expr>,
    /// What is known of parameters.
    facts: Vec<(Name, Fact)>,
    shared: Shared,
    labels: u32,
    /// Counts what is asked for and opened.
    clock: u64,
    /// On whose behalf instructions are written.
    site: Option<&'static Location<'static>>,
    threads: u32,
    cluster: Option<[u32; 3]>,
    /// What the module has beside the kernel, first.
    items: Vec<Item>,
    /// Whether false claims trap, and lines are written.
    traps: bool,
    lines: bool,
    /// The first mistake in a call that returns no error; the next one that does tells it.
    fault: Option<Error>,
}

/// Most threads of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MAX_THREADS: u32 = 1024;

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

/// The number of the next builder.
static NEXT: AtomicU64 = AtomicU64::new(0);

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
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: Name::from(name),
            target: Target { sm, suffix: None },
            params: Vec::new(),
            directives: vec![Directive::MaxNtid([threads, 1, 1])],
            symbols: BTreeMap::new(),
            vars: Vec::new(),
            named: HashMap::new(),
            computed: HashSet::new(),
            registers: BTreeMap::new(),
            scopes: vec![Scope::default()],
            specials: HashMap::new(),
            facts: Vec::new(),
            shared: Shared::default(),
            labels: 0,
            clock: 0,
            site: None,
            threads: threads.clamp(1, MAX_THREADS),
            cluster: None,
            items: Vec::new(),
            traps: false,
            lines: false,
            fault,
        };
        builder.check_name("name of a kernel", name);
        builder
    }

    /// The architecture that the kernel is for: 80 of `.target sm_80`.
    pub fn sm(&self) -> u32 {
        self.target.sm
    }

    /// The threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Remembers the first mistake.
    fn fail(&mut self, error: Error) {
        self.fault.get_or_insert(error);
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
        if inst.operands.is_empty() {
            return;
        }
        for name in inst.written() {
            if self.computed.contains(name) {
                let register = name.to_string();
                self.fail(Error::Computed { register, instruction: inst.to_string() });
            }
            let Some(vars) = self.named.remove(name) else { continue };
            for var in vars.into_iter().map(|id| id.index as usize) {
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

    /// Nothing else may write a register that holds what has been computed.
    fn keep(&mut self, reg: &Reg) {
        if !self.named.contains_key(&reg.name) {
            self.computed.insert(reg.name.clone());
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

    /// On whose behalf the caller's caller writes.
    #[track_caller]
    fn site(&self) -> Site {
        Site::from(self.site.unwrap_or(Location::caller()))
    }

    /// Leaves word of what the caller's caller says of a register.
    #[track_caller]
    fn claim(&mut self, depth: usize, reg: &Reg, (lower, upper, multiple): (i64, i64, i64)) {
        let site = self.site();
        let fact = Fact { lower, upper, multiple, site };
        let claim = Claim { line: 0, register: reg.name.clone(), fact };
        self.scopes[depth].body.claim(claim);
        if self.traps {
            self.trap_unless(depth, reg, (lower, upper, multiple));
        }
    }

    fn var_at(&mut self, reg: &Reg, depth: usize, lower: i64, upper: i64, multiple: i64) -> Expr {
        Expr::var(self.declare_var(reg, depth), lower, upper, multiple)
    }

    /// A variable for what a register holds now.
    fn declare_var(&mut self, reg: &Reg, depth: usize) -> VarId {
        let id = VarId { index: self.vars.len() as u32, home: self.id };
        self.vars.push(Var { reg: reg.clone(), depth, stale: false, used: 0 });
        self.named.entry(reg.name.clone()).or_default().push(id);
        id
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
