//! The syntax tree: a module of declarations, a kernel of statements, an instruction of opcode, modifiers and operands.
//!
//! The tree is open: any opcode takes any modifiers and operands; which combinations are PTX is the business of
//! [`forms`](crate::forms), one table for the printer's, the parser's and the simulator's users alike.
//!
//! # Examples
//! ```
//! use girih_ptx::{Item, Module, Statement};
//!
//! let module = Module::parse(".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }")?;
//! let Item::Kernel(kernel) = &module.items[0] else { unreachable!("the module has a kernel alone") };
//! assert!(matches!(&kernel.body[..], [Statement::Inst(inst)] if inst.opcode.text() == "ret"));
//! # Ok::<(), girih_ptx::Error>(())
//! ```

use crate::{Modifier, Notes, Opcode, Special, Type};

pub use crate::place::{Name, Span};

/// A PTX module: what one `.ptx` file holds (PTX ISA, "PTX Module Directives").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u8, u8),
    /// `.target`.
    pub target: Target,
    /// Kernels, functions and variables in order.
    pub items: Vec<Item>,
    /// Facts in addition to the text.
    pub notes: Notes,
}

impl AsRef<Module> for Module {
    fn as_ref(&self) -> &Module {
        self
    }
}

/// `.target sm_90a`: the architecture, with its suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// 80 for sm_80.
    pub sm: u32,
    /// `a` (architecture-specific) or `f` (family-specific).
    pub suffix: Option<char>,
}

/// A top-level item of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A kernel: `.entry`.
    Kernel(Kernel),
    /// A device function: `.func`.
    Function(Function),
    /// A module-scope variable, `.extern .shared` among them.
    Variable(Variable),
    /// `.file`: a source file that `.loc` names by its number.
    File(SourceFile),
}

/// `.file 1 "kernel.cu"` (PTX ISA, "Debugging Directives: .file").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The file's number.
    pub index: u32,
    /// The file's name, with its folder.
    pub name: Name,
}

/// `.loc 1 42 5`: the place in a source file that the statements after it come from (PTX ISA, "Debugging Directives:
/// .loc").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// The place; for inlined code, the place in the function that was inlined.
    pub at: SourcePlace,
    /// Where the function was inlined.
    pub inlined: Option<Inlined>,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The number of the `.file`.
    pub file: u32,
    /// Line, from 1; 0 if the compiler knows none.
    pub line: u32,
    /// Column, from 1; 0 if the compiler knows none.
    pub column: u32,
}

/// `function_name f, inlined_at 1 77 3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// The function that was inlined, as the compiler calls it.
    pub function: Name,
    /// Where the function is called. If the call is in inlined code itself, an earlier [`Loc`] of that place says where
    /// that code was inlined.
    pub at: SourcePlace,
}

/// `.visible .entry name(params) directives { body }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// How other modules see the kernel; the host can launch kernels that are visible or weak.
    pub linkage: Linkage,
    /// The kernel's name.
    pub name: Name,
    /// Parameters in order.
    pub params: Vec<Variable>,
    /// Performance directives in order.
    pub directives: Vec<Directive>,
    /// The statements.
    pub body: Vec<Statement>,
    /// Where the name stood.
    pub span: Span,
}

/// `.visible .func (results) name(params) { body }` (PTX ISA, "Kernel and Function Directives: .func").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// How other modules see the function.
    pub linkage: Linkage,
    /// Results in order, in `.param` space.
    pub results: Vec<Variable>,
    /// The function's name.
    pub name: Name,
    /// Parameters in order, in `.param` space.
    pub params: Vec<Variable>,
    /// `.noreturn`: the function never returns.
    pub noreturn: bool,
    /// The statements; a declaration has none.
    pub body: Option<Vec<Statement>>,
    /// Where the name stood.
    pub span: Span,
}

/// How other modules see a kernel, a function or a variable (PTX ISA, "Linking Directives").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Not at all.
    Internal,
    /// `.visible`.
    Visible,
    /// `.extern`: defined in another module.
    External,
    /// `.weak`: visible, and another definition may take its place.
    Weak,
    /// `.common`: the variables of this name in all modules are one variable in global memory.
    Common,
}

/// A kernel's performance-tuning directive (PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `.maxntid x, y, z`: the most threads that a block may be launched with.
    MaxNtid([u32; 3]),
    /// `.reqntid x, y, z`: exactly the threads a block is launched with.
    ReqNtid([u32; 3]),
    /// `.minnctapersm n`: the least number of blocks that must fit an SM together.
    MinNctaPerSm(u32),
    /// `.maxnreg n`: the most registers that a thread may use.
    MaxNreg(u32),
    /// `.explicitcluster`.
    ExplicitCluster,
    /// `.reqnctapercluster x, y, z`.
    ReqNctaPerCluster([u32; 3]),
    /// `.maxclusterrank n`.
    MaxClusterRank(u32),
}

/// A state space that a variable lives in (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarSpace {
    /// Kernel parameter.
    Param,
    /// Shared memory of a block.
    Shared,
    /// Global memory.
    Global,
    /// Constant memory.
    Const,
    /// Per-thread local memory.
    Local,
}

/// A variable or parameter: `.shared .align 16 .b8 tile[32768];`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// How other modules see the variable.
    pub linkage: Linkage,
    /// The variable's state space.
    pub space: VarSpace,
    /// `.align n`, in bytes; `None` is the natural alignment of `ty`.
    pub align: Option<u32>,
    /// Element type.
    pub ty: Type,
    /// The variable's name.
    pub name: Name,
    /// Scalar, `[n]`, or `[]`.
    pub extent: Extent,
    /// Initial values, as in `= {1, 2, 3}`; empty if the declaration has none.
    pub init: Vec<Operand>,
    /// Where the name stood.
    pub span: Span,
}

/// How many elements a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One, no brackets.
    Scalar,
    /// `[n]`.
    Array(u64),
    /// `[]`: size given at launch.
    Unsized,
}

/// A statement of a kernel's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `.reg .f32 %f<40>, x;`
    Reg(RegDecl),
    /// A variable of the kernel's scope.
    Variable(Variable),
    /// `name:`
    Label(Name),
    /// `.branchtargets a, b;`, after the label by which `brx.idx` names the list.
    BranchTargets(Vec<Name>),
    /// `.calltargets f, g;`, after the label by which a call through a register names the list.
    CallTargets(Vec<Name>),
    /// `.callprototype (results) _ (params);`, after the label by which a call through a register names the prototype.
    CallPrototype(Prototype),
    /// An instruction.
    Inst(Inst),
    /// `{ ... }`: a nested scope.
    Block(Vec<Statement>),
    /// `.pragma "nounroll";`
    Pragma(Name),
    /// `.loc 1 42 5`
    Loc(Loc),
    /// A comment line that a generator writes; the parser drops comments, so a parsed tree has none.
    Comment(Name),
}

/// The results and parameters of functions that are called through a register. The names of the variables are `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// Results in order.
    pub results: Vec<Variable>,
    /// Parameters in order.
    pub params: Vec<Variable>,
    /// `.noreturn`: the functions never return.
    pub noreturn: bool,
}

/// A register declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegDecl {
    /// Type of every register declared.
    pub ty: Type,
    /// `x`, or `%r` with a count for `%r<40>` (names `%r0` to `%r39`).
    pub names: Vec<(Name, Option<u32>)>,
    /// Where `.reg` stood.
    pub span: Span,
}

/// An instruction: `@!%p1 ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1+16];`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// The opcode's first word: `ld`, `mma`, `cp`.
    pub opcode: Opcode,
    /// Everything after it, in order: `.global`, `.v4`, `.f32`.
    pub modifiers: Vec<Modifier>,
    /// Operands in order, destination first.
    pub operands: Vec<Operand>,
    /// Where the opcode stood.
    pub span: Span,
}

/// A guard predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: Name,
    /// Whether the guard is `@!p`.
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The name of a register, a variable or a label: the parser cannot distinguish these.
    Name(Name),
    /// `table+16`: the address of a variable plus an offset in bytes.
    Offset(Name, i64),
    /// `generic(table)+16`: in an initial value, the generic address of a variable plus an offset in bytes.
    Generic(Name, i64),
    /// `!p`.
    Not(Name),
    /// `%tid.x`.
    Special(Special),
    /// An integer constant's 64 bits; printed in decimal, with a sign.
    Int(i64),
    /// `0f3F800000`: the bits of an f32.
    F32(u32),
    /// `0d3FF0000000000000`: the bits of an f64.
    F64(u64),
    /// `[base+offset]`, offset in bytes.
    Address(Address),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `(a, b)`: results or arguments of a `call`.
    List(Vec<Operand>),
    /// `p|q`: two destinations; the name `_` stands for a destination that is not wanted.
    Pair(Name, Name),
    /// `_`: a destination that is not wanted.
    Sink,
}

/// A memory operand: `[%rd1+16]`, `[tile]`, `[map, {x, y}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A register or a variable; `None` if the offset is an absolute address.
    pub base: Option<Name>,
    /// Bytes added to the base.
    pub offset: i64,
    /// Tensor coordinates of a TMA copy, innermost first; empty elsewhere.
    pub coordinates: Vec<Operand>,
}
