//! Decoding: makes of a kernel's statements flat code, with numbered registers and resolved labels.

mod atomic;
mod bits;
mod bulk;
mod call;
mod carry;
mod claims;
mod cluster;
mod compare;
mod control;
mod convert;
mod defined;
mod float;
mod function;
mod integer;
mod map;
mod matrix;
mod mbarrier;
mod memory;
mod operands;
mod origin;
mod polls;
mod provenance;
mod scope;
mod select;
mod shuffle;
mod tensor;
mod variable;
mod video;
mod wgmma;
mod wmma;
mod words;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use girih_ptx::{
    self as ptx, Directive, Extent, Inst as Tree, Item, Opcode, Operand, Special, Statement, Type,
};

use crate::lanes::{File, Reg};
use crate::op::{Flow, Guard, Inst, Op, Source};
use crate::program::{Code, Kernel, Param};
use crate::{Error, Origin, Place};
use call::Call;
pub(crate) use function::FRAME_ALIGN;
use function::Outlined;
use origin::{Files, Lines};
use provenance::Step;
use scope::{Named, Scope, Scopes, SharedLayout, file};
use variable::Globals;
use words::Words;

/// The deepest nesting of `{ }`.
const DEPTH: usize = 256;

/// Bytes of static shared memory that a kernel can have.
const STATIC_LIMIT: u32 = 48 << 10;

/// A kernel's name, and the kernel or the reason why it can't be executed.
type Decoded = (Arc<str>, Result<Kernel, Error>);

/// The parts of a module that its kernels refer to.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    variables: &'a [&'a ptx::Variable],
    functions: &'a [&'a ptx::Function],
    code_names: &'a [&'a ptx::Name],
    globals: &'a Globals,
    files: &'a Files,
    notes: &'a ptx::Notes,
}

/// Decodes every kernel of a module.
pub(crate) fn module(module: &ptx::Module) -> Result<Vec<Decoded>, Error> {
    let variables: Vec<&ptx::Variable> = (module.items.iter())
        .filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            Item::Kernel(_) | Item::Function(_) | Item::File(_) => None,
        })
        .collect();
    let functions: Vec<&ptx::Function> = (module.items.iter())
        .filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None })
        .collect();
    let mut code_names: Vec<&ptx::Name> = Vec::new();
    for item in &module.items {
        match item {
            Item::Kernel(ptx::Kernel { name, .. }) | Item::Function(ptx::Function { name, .. })
                if !code_names.contains(&name) =>
            {
                code_names.push(name);
            }
            _ => {}
        }
    }
    let (globals, files) = (Globals::place(&variables, &code_names)?, Files::of(module));
    let context = Surroundings {
        variables: &variables,
        functions: &functions,
        code_names: &code_names,
        globals: &globals,
        files: &files,
        notes: &module.notes,
    };
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some((kernel.name.clone(), Decoder::kernel(kernel, context))),
        Item::Variable(_) | Item::Function(_) | Item::File(_) => None,
    });
    Ok(kernels.collect())
}

/// The state of decoding one kernel.
struct Decoder<'a> {
    kernel: &'a ptx::Kernel,
    /// The variables of the module. Those in shared memory get an address only if the kernel uses them.
    variables: &'a [&'a ptx::Variable],
    functions: &'a [&'a ptx::Function],
    /// The names of all functions and kernels, whose addresses follow from their place in this list.
    code_names: &'a [&'a ptx::Name],
    /// The functions that are decoded once, with stack frames, and not in the place of each call.
    outlined: Vec<Outlined<'a>>,
    /// Bytes of the frame of the function that is being decoded, if it has one.
    frame: Option<u64>,
    /// The calls around the statement being decoded, the innermost last.
    calls: Vec<Call>,
    /// The module's shared variables that the kernel uses.
    module_shared: Vec<(Arc<str>, Named)>,
    /// The module's variables in global and constant memory.
    globals: &'a Globals,
    files: &'a Files,
    notes: &'a ptx::Notes,
    /// The claims of registers whose lines have not been decoded yet.
    claims: &'a [ptx::Claim],
    /// The source lines of the body being decoded.
    lines: Lines,
    scopes: Scopes,
    /// The variables, as messages name them.
    named: Vec<crate::names::Variable>,
    code: Code,
    shared: SharedLayout,
    local: u64,
    /// The addresses of the body's static shared variables whose declarations have not been decoded yet, in order.
    static_addresses: VecDeque<u64>,
    constants: HashMap<(File, u64), Reg>,
    specials: HashMap<(File, Special), Reg>,
    shared_addresses: HashMap<(File, u64), Reg>,
    /// The register of the carry flag, if an instruction uses the flag.
    carry: Option<Reg>,
    /// Where each label stands in the code, by the number of the label.
    labels: Vec<Option<u32>>,
    /// The names that a `.branchtargets` or `.calltargets` lists, by the number of the label before it.
    tables: HashMap<u32, &'a [ptx::Name]>,
    /// The place, guard and registers of the instruction that is being decoded.
    place: Place,
    guard: Guard,
    takes_special: bool,
    flow: Flow,
    /// What the instruction does with addresses.
    step: Step,
    /// The numbers of the variables that the instruction mentions.
    mentioned: Vec<u32>,
    /// The step and the mentioned variables of all instructions decoded before.
    steps: Vec<(Step, Vec<u32>)>,
    reads: Vec<Reg>,
    writes: Vec<Reg>,
}

impl<'a> Decoder<'a> {
    fn kernel(kernel: &'a ptx::Kernel, module: Surroundings<'a>) -> Result<Kernel, Error> {
        let Surroundings { variables, functions, code_names, globals, files, notes } = module;
        let claims = notes.claims();
        let mut decoder = Decoder {
            kernel,
            variables,
            functions,
            code_names,
            outlined: Vec::new(),
            frame: None,
            calls: Vec::new(),
            module_shared: Vec::new(),
            globals,
            files,
            notes,
            claims: &claims[claims.partition_point(|claim| claim.line < kernel.span.line)..],
            lines: Lines::default(),
            scopes: Scopes::default(),
            named: globals.named(variables),
            code: Code { granule: 4, ..Code::default() },
            shared: SharedLayout::default(),
            local: 0,
            static_addresses: VecDeque::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            shared_addresses: HashMap::new(),
            carry: None,
            labels: Vec::new(),
            tables: HashMap::new(),
            place: Place {
                kernel: kernel.name.clone(),
                line: kernel.span.line,
                instruction: kernel.name.clone(),
                origin: None,
            },
            guard: Guard::Always,
            takes_special: false,
            flow: Flow::Any,
            step: Step::Numbers,
            mentioned: Vec::new(),
            steps: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        decoder.scopes.enter(Scope::default());
        let params = decoder.params()?;
        // The static part must have its size before the dynamic part, which follows it, can have an address.
        decoder.place_static(&kernel.body, 0)?;
        if decoder.shared.static_bytes() > STATIC_LIMIT {
            return Err(decoder.unsupported("over 48 KiB of static shared memory; dynamic may be 227 KiB"));
        }
        decoder.shared.start_dynamic(&kernel.body, variables);
        decoder.name_dynamic();
        decoder.enlist();
        decoder.outline()?;
        decoder.code.entry = decoder.code.insts.len() as u32;
        decoder.block(&kernel.body, 0)?;
        decoder.finish(params)
    }

    fn params(&mut self) -> Result<Vec<Param>, Error> {
        let mut params: Vec<Param> = Vec::new();
        let mut offset = 0;
        for variable in &self.kernel.params {
            self.at_variable(variable);
            let (bytes, align) = self.extent(variable)?;
            offset = align_up(offset, align).ok_or_else(|| self.too_large())?;
            let at = offset;
            offset = offset.checked_add(bytes).filter(|&end| end <= 32764).ok_or_else(|| self.too_large())?;
            self.scopes.declare(variable.name.clone(), Named::Param(at));
            let declaration = variable.to_string().trim_start_matches(".param ").into();
            params.push(Param { name: variable.name.clone(), bytes, offset: at, declaration });
        }
        Ok(params)
    }

    fn too_large(&self) -> Error {
        self.unsupported("variables of this size")
    }

    fn finish(mut self, params: Vec<Param>) -> Result<Kernel, Error> {
        // Falling off the end of the body ends the thread.
        self.place.instruction = "}".into();
        self.emit(Op::Exit);
        self.flush();
        for inst in &mut self.code.insts {
            let branches = match &mut inst.op {
                Op::Branch(label) => std::slice::from_mut(label),
                Op::BranchTable(_, labels) => &mut labels[..],
                _ => &mut [],
            };
            for label in branches {
                let target = self.labels.get(*label as usize).copied().flatten();
                *label = target.ok_or_else(|| Error::Undeclared {
                    place: Box::new(self.place.clone()),
                    name: format!("label {label}"),
                    expected: "label",
                })?;
            }
        }
        for function in &mut self.code.functions {
            function.entry = self.labels.get(function.entry as usize).copied().flatten().unwrap_or_default();
        }
        let local = self.with_stack();
        defined::mark(&mut self.code);
        provenance::mark(&mut self.code, &self.steps);
        polls::mark(&mut self.code);
        let dim = |wanted: fn(&Directive) -> Option<[u32; 3]>| self.kernel.directives.iter().find_map(wanted);
        let max_threads = dim(|d| if let Directive::MaxNtid(n) = d { Some(*n) } else { None });
        let required_threads = dim(|d| if let Directive::ReqNtid(n) = d { Some(*n) } else { None });
        let required_cluster = dim(|d| if let Directive::ReqNctaPerCluster(n) = d { Some(*n) } else { None });
        let max_cluster = (self.kernel.directives.iter())
            .find_map(|d| if let Directive::MaxClusterRank(n) = d { Some(*n) } else { None });
        let explicit_cluster =
            required_cluster.is_some() || self.kernel.directives.contains(&Directive::ExplicitCluster);
        Ok(Kernel {
            name: self.kernel.name.clone(),
            params,
            static_shared: self.shared.static_bytes(),
            dynamic_offset: self.shared.dynamic_offset(),
            local: u32::try_from(local).unwrap_or(u32::MAX),
            max_threads,
            required_threads,
            required_cluster,
            max_cluster,
            explicit_cluster,
            registers: registers(&self.kernel.directives),
            code: self.code,
            named: self.named,
            variables: self.globals.allocations().to_vec(),
        })
    }

    /// Decodes the statements of a scope that has been entered.
    fn block(&mut self, body: &'a [Statement], depth: usize) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(self.unsupported("blocks nested more than 256 deep"));
        }
        for (i, statement) in body.iter().enumerate() {
            if let Statement::Label(name) = statement {
                if let Some(Statement::BranchTargets(names) | Statement::CallTargets(names)) = body.get(i + 1)
                {
                    self.tables.insert(self.labels.len() as u32, names);
                }
                self.scopes.declare(name.clone(), Named::Label(self.labels.len() as u32));
                self.labels.push(None);
            }
        }
        for statement in body {
            match statement {
                Statement::Reg(decl) => {
                    for (name, count) in &decl.names {
                        self.scopes.declare_registers(name.clone(), *count, decl.ty);
                    }
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Label(name) => {
                    if let Some(Named::Label(label)) = self.scopes.find(name) {
                        self.labels[label as usize] = Some(self.code.insts.len() as u32);
                    }
                }
                Statement::Inst(inst) => {
                    // Claims about the lines before the instruction, such as the line of a label, come before the
                    // instruction.
                    self.claimed(inst.span.line.saturating_sub(1))?;
                    self.inst(inst)?;
                    self.claimed(inst.span.line)?;
                }
                Statement::Block(body) => {
                    self.scopes.enter(Scope::default());
                    self.block(body, depth + 1)?;
                    self.scopes.leave();
                }
                // A call looks these statements up by the label before them.
                Statement::CallTargets(_) | Statement::CallPrototype(_) => {}
                Statement::Loc(loc) => self.place.origin = self.lines.origin(self.files, loc),
                Statement::BranchTargets(_) | Statement::Pragma(_) | Statement::Comment(_) => {}
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: &'a Tree) -> Result<(), Error> {
        self.place.line = inst.span.line;
        if let Some(ptx::Site { file, line, column }) = self.notes.site(inst.span.line) {
            let origin = Origin { file: file.clone(), line: *line, column: *column, inlined: None };
            self.place.origin = Some(Arc::new(origin));
        }
        self.place.instruction = brief(&inst.to_string()).into();
        self.guard = match &inst.guard {
            None => Guard::Always,
            Some(guard) => {
                let reg = self.register(&guard.reg, File::Pred)?;
                if guard.negated { Guard::Unless(reg.slot) } else { Guard::If(reg.slot) }
            }
        };
        self.flow = defined::flow(inst);
        self.step = provenance::step(inst.opcode, &inst.modifiers);
        self.takes_special = matches!(inst.opcode, Opcode::Mov | Opcode::Cvt);
        let modifiers = ptx::forms::ordered(inst.opcode, &inst.modifiers);
        let mut words = Words::new(&modifiers);
        self.dispatch(inst, &mut words)?;
        if let Some(rest) = words.rest() {
            return Err(self.unsupported(&format!("modifier `.{rest}`")));
        }
        self.flush();
        Ok(())
    }

    fn dispatch(&mut self, inst: &'a Tree, words: &mut Words<'_>) -> Result<(), Error> {
        use Opcode as O;
        let ops = &inst.operands[..];
        match inst.opcode {
            O::Mbarrier => self.mbarrier(words, ops),
            O::Mapa | O::Getctarank => self.cluster(inst.opcode, words, ops),
            O::Ld
            | O::St
            | O::Cp
            | O::Cvta
            | O::Createpolicy
            | O::Prefetch
            | O::Prefetchu
            | O::Discard
            | O::Applypriority => self.memory(inst.opcode, words, ops),
            O::Tensormap => self.tensormap(words, ops),
            O::Ldmatrix | O::Stmatrix => self.matrices(inst.opcode == O::Ldmatrix, words, ops),
            O::Movmatrix => self.movmatrix(words, ops),
            O::Atom | O::Red => self.atomic(inst.opcode == O::Atom, words, ops),
            O::Call => self.call(words, ops),
            O::Mma => self.mma(words, ops),
            O::Wgmma => self.wgmma(words, ops),
            O::Wmma => self.wmma(words, ops),
            O::Shfl | O::Vote | O::Activemask | O::Redux | O::Match | O::Elect => {
                self.shuffle(inst.opcode, words, ops)
            }
            O::Bra
            | O::Brx
            | O::Exit
            | O::Ret
            | O::Bar
            | O::Barrier
            | O::Membar
            | O::Fence
            | O::Trap
            | O::Brkpt
            | O::Alloca
            | O::Stacksave
            | O::Stackrestore
            | O::Pmevent
            | O::Nanosleep
            | O::Setmaxnreg
            | O::Griddepcontrol => self.control(inst.opcode, words, ops),
            O::Cvt => self.cvt(words, ops),
            O::Set | O::Slct | O::Testp | O::Copysign | O::Isspacep => self.compare(inst.opcode, words, ops),
            O::Addc | O::Subc => self.carry(inst.opcode, false, words, ops),
            O::Madc => self.carry_product(true, words, ops),
            O::Mov | O::Selp | O::Setp => self.select(inst.opcode, words, ops),
            O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Shl | O::Shr => {
                self.logic(inst.opcode, words, ops)
            }
            O::Add
            | O::Sub
            | O::Mul
            | O::Mad
            | O::Fma
            | O::Div
            | O::Rem
            | O::Min
            | O::Max
            | O::Abs
            | O::Neg
            | O::Rcp
            | O::Sqrt
            | O::Rsqrt
            | O::Ex2
            | O::Lg2
            | O::Sin
            | O::Cos
            | O::Tanh => self.arithmetic(inst.opcode, words, ops),
            O::Vadd2
            | O::Vadd4
            | O::Vsub2
            | O::Vsub4
            | O::Vavrg2
            | O::Vavrg4
            | O::Vabsdiff2
            | O::Vabsdiff4
            | O::Vmin2
            | O::Vmin4
            | O::Vmax2
            | O::Vmax4
            | O::Vset2
            | O::Vset4 => self.video(inst.opcode, words, ops),
            other => self.bits(other, words, ops),
        }
    }

    fn arithmetic(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        match words.last_type() {
            Some(Type::F32 | Type::F64 | Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => {
                self.float(opcode, words, ops)
            }
            Some(_) => self.integer(opcode, words, ops),
            None => Err(self.unsupported("an instruction without a type")),
        }
    }

    /// Appends an operation of the instruction that is being decoded.
    fn emit(&mut self, op: Op) {
        let source = self.code.sources.len() as u32;
        let guard = std::mem::replace(&mut self.guard, Guard::Same);
        self.code.insts.push(Inst { op, source, guard, careful: false, stretch: 0 });
    }

    /// Ends the instruction that is being decoded: stores what messages and checks need to know of it.
    fn flush(&mut self) {
        let number = self.code.sources.len() as u32;
        let mut ops = self.code.insts.iter().rev().take_while(|inst| inst.source == number);
        let all = self.reads.len();
        let exchanged = |a: Reg| usize::from(self.reads.first() == Some(&a));
        let but = |base: Option<Reg>| all - usize::from(base.is_some() && self.reads.last().copied() == base);
        let passes = match self.code.insts.last().map(|inst| &inst.op) {
            // The value that is exchanged may be undefined; the operands that select the lanes to read from may not.
            Some(Op::Shuffle(shuffle)) => exchanged(shuffle.a),
            Some(&(Op::Vote { a, .. } | Op::Redux { a, .. } | Op::Match { a, .. })) => exchanged(a),
            Some(Op::Mma(_) | Op::QuadMma(_) | Op::WmmaMma(_) | Op::Movmatrix(..)) => all,
            Some(Op::Store(store)) if store.strong.is_none() => but(store.address.base),
            Some(Op::Stmatrix(store)) => but(store.address.base),
            _ if ops.all(|inst| matches!(inst.op, Op::Lanes(..))) => all,
            _ => 0,
        };
        self.steps.push((std::mem::take(&mut self.step), std::mem::take(&mut self.mentioned)));
        self.code.sources.push(Source {
            line: self.place.line,
            text: self.place.instruction.clone(),
            origin: self.place.origin.clone(),
            reads: std::mem::take(&mut self.reads),
            writes: std::mem::take(&mut self.writes),
            passes,
            flow: std::mem::replace(&mut self.flow, Flow::Any),
        });
        self.guard = Guard::Always;
    }
}

/// The registers of each thread at the launch, for `setmaxnreg`. The instruction has an effect only where directives
/// determine their number: `.maxnreg`, or `.minnctapersm` with a block size. For the latter, ptxas 13.0 gives a thread
/// as many registers as fit, rounded down to a multiple of 8: the register file has 65536, and its four parts hold the
/// same number of warps each.
fn registers(directives: &[Directive]) -> Option<u32> {
    let find = |wanted: fn(&Directive) -> Option<u32>| directives.iter().find_map(wanted);
    if let Some(most) = find(|d| if let Directive::MaxNreg(n) = d { Some(*n) } else { None }) {
        return Some(most.next_multiple_of(8).min(256));
    }
    let blocks = find(|d| if let Directive::MinNctaPerSm(n) = d { Some(*n) } else { None })?.max(1);
    let threads = find(|d| match d {
        Directive::MaxNtid([x, y, z]) | Directive::ReqNtid([x, y, z]) => {
            Some(x.saturating_mul(*y).saturating_mul(*z))
        }
        _ => None,
    })?;
    let warps = u64::from(threads.div_ceil(32)) * u64::from(blocks);
    let each = 65536 / (32 * warps.next_multiple_of(4).max(4));
    Some((each as u32 / 8 * 8).min(256))
}

/// The text of an instruction for messages. Of a list of a hundred registers only both ends are shown.
fn brief(text: &str) -> String {
    const ENDS: (usize, usize) = (90, 40);
    let count = text.chars().count();
    if count <= ENDS.0 + ENDS.1 + 20 {
        return text.into();
    }
    let (head, tail) = (text.chars().take(ENDS.0), text.chars().skip(count - ENDS.1));
    head.chain(" ... ".chars()).chain(tail).collect()
}

fn align_up(value: u64, align: u64) -> Option<u64> {
    value.checked_next_multiple_of(align)
}

/// Bytes and alignment of a variable.
fn size(variable: &ptx::Variable) -> Option<(u64, u64)> {
    let element = u64::from(variable.ty.bytes()?);
    let count = match variable.extent {
        Extent::Scalar => 1,
        Extent::Array(n) => n,
        // An array without a size has as many elements as initial values.
        Extent::Unsized => variable.init.len() as u64,
    };
    let align = variable.align.map_or(element, u64::from);
    align.is_power_of_two().then_some((element.checked_mul(count)?, align))
}
