//! The kernel builder: typed registers, structured control flow, and expressions that are materialised once.
//!
//! A builder holds a stack of scopes: the kernel's body and the loops being written. Instructions go to the innermost
//! scope in the order in which they are asked for. Expressions are different: [`Builder::value`] computes an [`Expr`]
//! in the outermost scope that has all registers of the expression, and remembers the result there. Address arithmetic
//! thus leaves the loops by itself.

mod access;
mod barrier;
mod block;
mod body;
mod caching;
mod carry;
mod cond;
mod control;
mod debug;
mod depth;
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
mod variable;
mod vote;

use girih_layout::Symbol;
use girih_ptx::{
    Address, Directive, Fact, Inst, Item, Modifier, Name, Opcode, Operand, Site, Span, Special, Statement,
    Target, Type, Variable,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::error::BuilderError;
use crate::expr::{Expr, VarId};
use crate::quick::{QuickMap, QuickSet};
pub use crate::scalar::Cond;
use crate::scalar::Scalar;
pub use access::Access;
pub(crate) use access::vector;
pub(crate) use barrier::{BARRIERS, WARPGROUP};
pub use block::Block;
use body::Body;
pub use body::Line;
pub use caching::Caching;
use shared::Shared;
pub use shared::{MAX_SHARED, SHARED_ALIGN, SharedScope};
pub use value::Width;
use variable::Var;

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

/// Writes the register's name, so that [`ptx!`](crate::ptx) can capture registers.
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

/// The depth of a scope that has ended, deeper than any open scope.
const CLOSED: usize = usize::MAX - 1;

#[derive(Default)]
struct Scope {
    body: Body,
    values: QuickMap<(Expr, Width), Reg>,
    conds: QuickMap<Cond, Reg>,
    scalars: QuickMap<Scalar, Reg>,
    pairs: QuickMap<(Scalar, Scalar), Reg>,
    /// The time at which the scope was opened, if it is a loop's.
    repeats: Option<u64>,
}

/// Writes one kernel.
pub struct Builder {
    /// Distinguishes the scalars of this builder from those of other builders.
    id: u64,
    name: Name,
    target: Target,
    params: Vec<Variable>,
    directives: Vec<Directive>,
    symbols: BTreeMap<u8, (Symbol, Option<Reg>)>,
    vars: Vec<Var>,
    /// The depths of the scopes that have the registers of expressions, by the numbers of the expressions; emptied when a depth may change.
    depths: RefCell<QuickMap<u64, usize>>,
    /// For each register, the variables that stand for the value that it holds now.
    named: QuickMap<Name, Vec<VarId>>,
    /// The registers of computed values, which no other instruction may write.
    computed: QuickSet<Name>,
    registers: BTreeMap<&'static str, (Type, u32)>,
    scopes: Vec<Scope>,
    specials: HashMap<Special, Expr>,
    /// The facts of the parameters.
    facts: Vec<(Name, Fact)>,
    shared: Shared,
    labels: u32,
    /// The time, counted in requests for registers and opened loops.
    clock: u64,
    /// The line of the caller's program on whose behalf instructions are written.
    site: Option<Line>,
    /// What the code is that may only compute, while such code is written.
    computes: Option<&'static str>,
    threads: u32,
    cluster: Option<[u32; 3]>,
    /// The items of the module that are before the kernel.
    items: Vec<Item>,
    /// What caches keep of accesses of global memory.
    kept: caching::Kept,
    /// Whether false claims trap.
    traps: bool,
    /// Whether `.loc` directives are written.
    lines: bool,
    /// The first mistake in a call that returns no error; the next call that returns errors returns this one.
    fault: Option<Error>,
}

/// The most threads of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
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
        let fault = (!(1..=MAX_THREADS).contains(&threads))
            .then(|| Error::from(BuilderError::Threads { threads, most: MAX_THREADS }));
        let mut builder = Builder {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: Name::from(name),
            target: Target { sm, suffix: None },
            params: Vec::new(),
            directives: vec![Directive::MaxNtid([threads, 1, 1])],
            symbols: BTreeMap::new(),
            vars: Vec::new(),
            depths: RefCell::default(),
            named: QuickMap::default(),
            computed: QuickSet::default(),
            registers: BTreeMap::new(),
            scopes: vec![Scope::default()],
            specials: HashMap::new(),
            facts: Vec::new(),
            shared: Shared::default(),
            labels: 0,
            clock: 0,
            site: None,
            computes: None,
            threads: threads.clamp(1, MAX_THREADS),
            cluster: None,
            items: Vec::new(),
            kept: caching::Kept::default(),
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
    fn fail(&mut self, error: impl Into<Error>) {
        self.fault.get_or_insert_with(|| error.into());
    }

    fn told(&self) -> Result<(), Error> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Asks for at least `blocks` resident blocks on an SM (`.minnctapersm`).
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
        if let Some(what) = self.computes
            && accesses_memory(&statement)
        {
            self.fail(BuilderError::MemoryAccess { what, instruction: statement.to_string() });
        }
        let site = self.site.unwrap_or(Location::caller().into());
        let site = matches!(statement, Statement::Inst(_) | Statement::Block(_)).then_some(site);
        self.scopes[depth].body.push(statement, site);
    }

    /// Runs `write`, which may compute but not access memory: what it writes runs in kernels whose launch is safe. An access is an error
    /// of [`Builder::finish`], which calls the code `what`.
    pub(crate) fn computing<R>(&mut self, what: &'static str, write: impl FnOnce(&mut Builder) -> R) -> R {
        let outer = self.computes.replace(what);
        let written = write(self);
        self.computes = outer;
        written
    }

    /// Runs `write` and attributes what it writes to `site`, in errors and in the findings of the simulator; inside of another call of
    /// `on_behalf`, the site of the outer call stays. This is for functions that write instructions on behalf of their caller.
    ///
    /// # Examples
    /// ```
    /// use std::panic::Location;
    /// use girih_codegen::Builder;
    ///
    /// /// Findings name the line that calls this function, not a line inside of it.
    /// #[track_caller]
    /// fn two_barriers(b: &mut Builder) {
    ///     b.on_behalf(Location::caller(), |b| {
    ///         b.barrier();
    ///         b.barrier();
    ///     })
    /// }
    /// two_barriers(&mut Builder::new("k", 80, 32));
    /// ```
    pub fn on_behalf<R>(&mut self, site: impl Into<Line>, write: impl FnOnce(&mut Builder) -> R) -> R {
        let outer = self.site;
        self.site = outer.or(Some(site.into()));
        let written = write(self);
        self.site = outer;
        written
    }

    /// Attributes what is written from here on to a line of another program, in errors and in the findings of the simulator, and returns
    /// the line that counted before. This is for a compiler that writes a user's operations one after the other; without a line, the
    /// lines that call the builder count.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Line};
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let outer = b.attribute(Some(Line { file: "user.rs", line: 7, column: 5 }));
    /// b.barrier();
    /// b.attribute(outer);
    /// let kernel = b.finish()?;
    /// let lines = kernel.module().to_string().lines().count() as u32;
    /// assert!((1..=lines).any(|line| kernel.module().notes.site(line).is_some_and(|site| &*site.file == "user.rs")));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn attribute(&mut self, line: Option<Line>) -> Option<Line> {
        std::mem::replace(&mut self.site, line)
    }

    /// Writes a comment line into the generated text.
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

    /// The line of the program on whose behalf instructions are written.
    #[track_caller]
    fn site(&self) -> Site {
        self.site.unwrap_or(Location::caller().into()).into()
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

/// Whether a statement may access memory: by an address, or by what it calls.
fn accesses_memory(statement: &Statement) -> bool {
    match statement {
        Statement::Inst(inst) => {
            inst.opcode == Opcode::Call
                || inst.operands.iter().any(|operand| matches!(operand, Operand::Address(_)))
        }
        Statement::Block(body) => body.iter().any(accesses_memory),
        _ => false,
    }
}
