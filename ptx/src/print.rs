//! The printer: the only place where PTX text is made. The same tree gives the same bytes.
//!
//! One statement a line, two blanks a level, labels one level out, integers in decimal, floats by their bits.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Formatter, Result, Write};

use crate::ast::*;

mod debug;

impl Module {
    /// The text, and for each statement of kernel `name` the line of the text on which the statement ends, counted from 1. In front of them
    /// is the line on which the kernel's statements are opened.
    pub fn text_with_lines(&self, name: &str) -> (String, Vec<u32>) {
        let (breaks, lines) = (Cell::new(0), RefCell::new(Vec::new()));
        let behind = |kernel: &Kernel| {
            if *kernel.name == *name {
                lines.borrow_mut().push(breaks.get());
            }
        };
        let mut text = Counted { text: String::new(), breaks: &breaks };
        // A string takes every text.
        let _ = write!(text, "{}", Watched { module: self, behind: &behind });
        (text.text, lines.into_inner())
    }

    /// Calls `behind` when the statements of a kernel are opened, and after each of them.
    fn print(&self, f: &mut Formatter<'_>, behind: &dyn Fn(&Kernel)) -> Result {
        let (major, minor) = self.version;
        write!(f, ".version {major}.{minor}\n.target {}\n.address_size 64\n", self.target)?;
        let mut after_kernel = true;
        for item in &self.items {
            let kernel = matches!(item, Item::Kernel(_) | Item::Function(_));
            if kernel || after_kernel {
                writeln!(f)?;
            }
            after_kernel = kernel;
            match item {
                Item::Kernel(kernel) => kernel.print(f, behind)?,
                Item::Function(function) => write!(f, "{function}")?,
                Item::Variable(variable) => writeln!(f, "{variable};")?,
                Item::File(SourceFile { index, name }) => writeln!(f, ".file {index} \"{name}\"")?,
            }
        }
        debug::strings(f, &self.items)
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.print(f, &|_| ())
    }
}

/// A module that is printed with calls of `behind`.
struct Watched<'a> {
    module: &'a Module,
    behind: &'a dyn Fn(&Kernel),
}

impl Display for Watched<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.module.print(f, self.behind)
    }
}

/// A text, and the number of line breaks in it.
struct Counted<'a> {
    text: String,
    breaks: &'a Cell<u32>,
}

impl Write for Counted<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.text.push_str(part);
        let more = part.bytes().filter(|&byte| byte == b'\n').count();
        self.breaks.set(self.breaks.get() + more as u32);
        Ok(())
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "sm_{}", self.sm)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.print(f, &|_| ())
    }
}

impl Kernel {
    fn print(&self, f: &mut Formatter<'_>, behind: &dyn Fn(&Kernel)) -> Result {
        write!(f, "{}.entry {}(", self.linkage, self.name)?;
        params(f, &self.params)?;
        writeln!(f, ")")?;
        for directive in &self.directives {
            writeln!(f, "{directive}")?;
        }
        writeln!(f, "{{")?;
        behind(self);
        for item in &self.body {
            statement(f, item, 1)?;
            behind(self);
        }
        writeln!(f, "}}")
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}.func ", self.linkage)?;
        if !self.results.is_empty() {
            f.write_str("(")?;
            list(f, &self.results)?;
            f.write_str(") ")?;
        }
        write!(f, "{}(", self.name)?;
        params(f, &self.params)?;
        f.write_str(")")?;
        if self.noreturn {
            f.write_str(" .noreturn")?;
        }
        let Some(body) = &self.body else { return writeln!(f, ";") };
        writeln!(f, "\n{{")?;
        statements(f, body, 1)?;
        writeln!(f, "}}")
    }
}

/// The directive with a blank after it, or nothing for internal linkage.
impl Display for Linkage {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Linkage::Internal => "",
            Linkage::Visible => ".visible ",
            Linkage::External => ".extern ",
            Linkage::Weak => ".weak ",
            Linkage::Common => ".common ",
        })
    }
}

/// Writes the parameters, one to a line.
fn params(f: &mut Formatter<'_>, params: &[Variable]) -> Result {
    for (i, param) in params.iter().enumerate() {
        write!(f, "{}\n  {param}", if i == 0 { "" } else { "," })?;
    }
    if params.is_empty() { Ok(()) } else { writeln!(f) }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Directive::MaxNtid([x, y, z]) => write!(f, ".maxntid {x}, {y}, {z}"),
            Directive::ReqNtid([x, y, z]) => write!(f, ".reqntid {x}, {y}, {z}"),
            Directive::MinNctaPerSm(n) => write!(f, ".minnctapersm {n}"),
            Directive::MaxNreg(n) => write!(f, ".maxnreg {n}"),
            Directive::ExplicitCluster => f.write_str(".explicitcluster"),
            Directive::ReqNctaPerCluster([x, y, z]) => write!(f, ".reqnctapercluster {x}, {y}, {z}"),
            Directive::MaxClusterRank(n) => write!(f, ".maxclusterrank {n}"),
        }
    }
}

impl Display for VarSpace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            VarSpace::Param => ".param",
            VarSpace::Shared => ".shared",
            VarSpace::Global => ".global",
            VarSpace::Const => ".const",
            VarSpace::Local => ".local",
        })
    }
}

/// The declaration without a semicolon, as in a parameter list.
impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{} ", self.linkage, self.space)?;
        if let Some(align) = self.align {
            write!(f, ".align {align} ")?;
        }
        write!(f, ".{} {}{}", self.ty, self.name, self.extent)?;
        match (&self.init[..], self.extent) {
            ([], _) => Ok(()),
            ([value], Extent::Scalar) => write!(f, " = {value}"),
            (values, _) => {
                f.write_str(" = {")?;
                list(f, values)?;
                f.write_str("}")
            }
        }
    }
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Extent::Scalar => Ok(()),
            Extent::Array(n) => write!(f, "[{n}]"),
            Extent::Unsized => f.write_str("[]"),
        }
    }
}

/// The statement with its line end; a nested block takes several lines.
impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        statement(f, self, 0)
    }
}

impl Display for RegDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".reg .{}", self.ty)?;
        for (i, (name, count)) in self.names.iter().enumerate() {
            write!(f, "{}{name}", if i == 0 { " " } else { ", " })?;
            if let Some(count) = count {
                write!(f, "<{count}>")?;
            }
        }
        Ok(())
    }
}

/// The instruction without a semicolon.
impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(guard) = &self.guard {
            write!(f, "{guard} ")?;
        }
        f.write_str(self.opcode.text())?;
        for modifier in &self.modifiers {
            f.write_str(".")?;
            f.write_str(modifier.text())?;
        }
        if !self.operands.is_empty() {
            f.write_str(" ")?;
        }
        list(f, &self.operands)
    }
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "@{}{}", if self.negated { "!" } else { "" }, self.reg)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Operand::Name(name) => f.write_str(name),
            Operand::Offset(name, offset) => write!(f, "{name}+{offset}"),
            Operand::Generic(name, 0) => write!(f, "generic({name})"),
            Operand::Generic(name, offset) => write!(f, "generic({name})+{offset}"),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Special(special) => write!(f, "{special}"),
            Operand::Int(value) => value.fmt(f),
            Operand::F32(bits) => write!(f, "0f{bits:08X}"),
            Operand::F64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Address(address) => address.fmt(f),
            Operand::Vector(parts) => {
                f.write_str("{")?;
                list(f, parts)?;
                f.write_str("}")
            }
            Operand::List(parts) => {
                f.write_str("(")?;
                list(f, parts)?;
                f.write_str(")")
            }
            Operand::Pair(first, second) => write!(f, "{first}|{second}"),
            Operand::Sink => f.write_str("_"),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (&self.base, self.offset) {
            (Some(base), 0) => {
                f.write_str("[")?;
                f.write_str(base)?;
            }
            // PTX has no subtraction in an address: a negative offset is added.
            (Some(base), offset) => write!(f, "[{base}+{offset}")?,
            (None, offset) => write!(f, "[{offset}")?,
        }
        if !self.coordinates.is_empty() {
            f.write_str(", {")?;
            list(f, &self.coordinates)?;
            f.write_str("}")?;
        }
        f.write_str("]")
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

fn statements(f: &mut Formatter<'_>, body: &[Statement], level: usize) -> Result {
    body.iter().try_for_each(|item| statement(f, item, level))
}

fn statement(f: &mut Formatter<'_>, item: &Statement, level: usize) -> Result {
    let outer = if matches!(item, Statement::Label(_)) { level.saturating_sub(1) } else { level };
    let indent = 2 * outer;
    if let Statement::Comment(text) = item {
        // The text after a line break in a comment must not become code.
        return text.lines().try_for_each(|line| writeln!(f, "{:indent$}// {line}", ""));
    }
    for _ in 0..outer {
        f.write_str("  ")?;
    }
    match item {
        Statement::Reg(decl) => writeln!(f, "{decl};"),
        Statement::Variable(variable) => writeln!(f, "{variable};"),
        Statement::Label(name) => writeln!(f, "{name}:"),
        Statement::BranchTargets(labels) => {
            f.write_str(".branchtargets ")?;
            list(f, labels)?;
            writeln!(f, ";")
        }
        Statement::CallTargets(functions) => {
            f.write_str(".calltargets ")?;
            list(f, functions)?;
            writeln!(f, ";")
        }
        Statement::CallPrototype(Prototype { results, params, noreturn }) => {
            f.write_str(".callprototype (")?;
            list(f, results)?;
            f.write_str(") _ (")?;
            list(f, params)?;
            writeln!(f, "){};", if *noreturn { " .noreturn" } else { "" })
        }
        Statement::Inst(inst) => {
            inst.fmt(f)?;
            f.write_str(";\n")
        }
        Statement::Pragma(text) => writeln!(f, ".pragma \"{text}\";"),
        Statement::Loc(loc) => writeln!(f, "{loc}"),
        Statement::Comment(_) => Ok(()),
        Statement::Block(body) => {
            writeln!(f, "{{")?;
            statements(f, body, level + 1)?;
            writeln!(f, "{:indent$}}}", "")
        }
    }
}
