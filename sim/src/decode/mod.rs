//! Decoding: a kernel's statements into flat code with numbered registers and resolved labels.

mod control;
mod convert;
mod float;
mod integer;
mod matrix;
mod memory;
mod scope;
mod select;
mod words;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use girih_ptx::{
    self as ptx, Directive, Extent, Inst as Tree, Item, Opcode, Operand, Special, Statement, Type,
};

use crate::lanes::{Args, File, LaneFn, Reg, lanes};
use crate::op::{Guard, Inst, Op, Source};
use crate::program::{Code, Kernel, Param};
use crate::{Error, Place};
use scope::{Named, Scope, Scopes, SharedLayout, file};
use words::Words;

/// The deepest nesting of `{ }`.
const DEPTH: usize = 256;

/// Decodes every kernel of a module.
pub(crate) fn module(module: &ptx::Module) -> Result<Vec<Kernel>, Error> {
    let variables: Vec<&ptx::Variable> = (module.items.iter())
        .filter_map(|item| match item {
            Item::Variable(variable) => Some(variable),
            Item::Kernel(_) => None,
        })
        .collect();
    let kernels = module.items.iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some(Decoder::kernel(kernel, &variables)),
        Item::Variable(_) => None,
    });
    kernels.collect()
}

/// The state of decoding one kernel.
struct Decoder<'a> {
    kernel: &'a ptx::Kernel,
    /// Module-scope variables that have no address yet; they get one when they are used.
    variables: &'a [&'a ptx::Variable],
    scopes: Scopes,
    code: Code,
    shared: SharedLayout,
    local: u64,
    /// Addresses of the body's static shared variables, in order, not yet declared.
    static_addresses: VecDeque<u64>,
    constants: HashMap<(File, u64), Reg>,
    specials: HashMap<(File, Special), Reg>,
    /// Where each label stands in the code, by the number its scope gave it.
    labels: Vec<Option<u32>>,
    /// The instruction being decoded: its place, guard, registers.
    place: Place,
    guard: Guard,
    reads: Vec<Reg>,
    writes: Vec<Reg>,
}

impl<'a> Decoder<'a> {
    fn kernel(kernel: &'a ptx::Kernel, variables: &'a [&'a ptx::Variable]) -> Result<Kernel, Error> {
        let mut decoder = Decoder {
            kernel,
            variables,
            scopes: Scopes::default(),
            code: Code { granule: 4, ..Code::default() },
            shared: SharedLayout::default(),
            local: 0,
            static_addresses: VecDeque::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            labels: Vec::new(),
            place: Place {
                kernel: kernel.name.clone(),
                line: kernel.span.line,
                instruction: kernel.name.clone(),
            },
            guard: Guard::Always,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        decoder.scopes.enter(Scope::default());
        let params = decoder.params()?;
        // The static part must be known before a use of the dynamic part has an address.
        decoder.place_static(&kernel.body, 0)?;
        decoder.shared.start_dynamic(&kernel.body, variables);
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
            params.push(Param { name: variable.name.clone(), bytes, offset: at });
        }
        Ok(params)
    }

    fn too_large(&self) -> Error {
        self.unsupported("variables of this size")
    }

    fn finish(mut self, params: Vec<Param>) -> Result<Kernel, Error> {
        // Falling off the end of the body is a return.
        self.place.instruction = "}".into();
        self.emit(Op::Exit);
        self.flush();
        for inst in &mut self.code.insts {
            if let Op::Branch(label) = &mut inst.op {
                let target = self.labels.get(*label as usize).copied().flatten();
                *label = target.ok_or_else(|| Error::Undeclared {
                    place: Box::new(self.place.clone()),
                    name: format!("label {label}"),
                    expected: "label",
                })?;
            }
        }
        let dim = |wanted: fn(&Directive) -> Option<[u32; 3]>| self.kernel.directives.iter().find_map(wanted);
        let max_threads = dim(|d| if let Directive::MaxNtid(n) = d { Some(*n) } else { None });
        let required_threads = dim(|d| if let Directive::ReqNtid(n) = d { Some(*n) } else { None });
        Ok(Kernel {
            name: self.kernel.name.clone(),
            params,
            static_shared: self.shared.static_bytes(),
            dynamic_offset: self.shared.dynamic_offset(),
            local: u32::try_from(self.local).unwrap_or(u32::MAX),
            max_threads,
            required_threads,
            code: self.code,
        })
    }

    /// Statements of a scope that has been entered.
    fn block(&mut self, body: &'a [Statement], depth: usize) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(self.unsupported("blocks nested more than 256 deep"));
        }
        for statement in body {
            if let Statement::Label(name) = statement {
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
                Statement::Inst(inst) => self.inst(inst)?,
                Statement::Block(body) => {
                    self.scopes.enter(Scope::default());
                    self.block(body, depth + 1)?;
                    self.scopes.leave();
                }
                Statement::Pragma(_) | Statement::Comment(_) => {}
                #[allow(unreachable_patterns, reason = "statements that the tree may come to have")]
                _ => {}
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: &'a Tree) -> Result<(), Error> {
        self.place.line = inst.span.line;
        self.place.instruction = inst.to_string().into();
        self.guard = match &inst.guard {
            None => Guard::Always,
            Some(guard) => {
                let reg = self.register(&guard.reg, File::Pred)?;
                if guard.negated { Guard::Unless(reg.slot) } else { Guard::If(reg.slot) }
            }
        };
        let mut words = Words::new(&inst.modifiers);
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
            O::Ld | O::St | O::Cp | O::Ldmatrix | O::Cvta | O::Prefetch => {
                self.memory(inst.opcode, words, ops)
            }
            O::Mma => self.mma(words, ops),
            O::Bra
            | O::Exit
            | O::Ret
            | O::Bar
            | O::Barrier
            | O::Membar
            | O::Fence
            | O::Trap
            | O::Nanosleep => self.control(inst.opcode, words, ops),
            O::Cvt => self.cvt(words, ops),
            O::Mov | O::Selp | O::Setp => self.select(inst.opcode, words, ops),
            O::And | O::Or | O::Xor | O::Not | O::Shl | O::Shr => self.logic(inst.opcode, words, ops),
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
            other => Err(self.unsupported(&format!("instruction `{other}`"))),
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

    /// Appends an operation of the current instruction.
    fn emit(&mut self, op: Op) {
        let source = self.code.sources.len() as u32;
        let guard = std::mem::replace(&mut self.guard, Guard::Same);
        self.code.insts.push(Inst { op, source, guard });
    }

    /// Ends the current instruction: records what messages and checks need.
    fn flush(&mut self) {
        self.code.sources.push(Source {
            line: self.place.line,
            text: self.place.instruction.clone(),
            reads: std::mem::take(&mut self.reads),
            writes: std::mem::take(&mut self.writes),
        });
        self.guard = Guard::Always;
    }

    /// Emits a lane function.
    fn lanes(&mut self, run: LaneFn, d: Reg, sources: &[Reg]) {
        let slot = |i: usize| sources.get(i).map_or(0, |r| r.slot);
        self.emit(Op::Lanes(run, Args { d: d.slot, a: slot(0), b: slot(1), c: slot(2), e: slot(3) }));
    }

    /// `d = f(sources)` where operand 0 is the destination and the others are sources of these types.
    fn simple(&mut self, run: LaneFn, ops: &[Operand], d: Type, types: &[Type]) -> Result<(), Error> {
        self.arity(ops, types.len() + 1..=types.len() + 1)?;
        let mut sources = Vec::with_capacity(types.len());
        for (i, &ty) in types.iter().enumerate() {
            sources.push(self.source(ops, i + 1, ty)?);
        }
        let d = self.destination(ops, 0, d)?;
        self.lanes(run, d, &sources);
        Ok(())
    }

    fn arity(&self, ops: &[Operand], accepted: std::ops::RangeInclusive<usize>) -> Result<(), Error> {
        if accepted.contains(&ops.len()) {
            return Ok(());
        }
        let (low, high) = accepted.into_inner();
        let expected =
            if low == high { format!("{low} operands") } else { format!("{low} to {high} operands") };
        Err(Error::Operand {
            place: Box::new(self.place.clone()),
            index: ops.len(),
            expected: format!("one of {expected}"),
            found: format!("{} operands", ops.len()),
        })
    }

    /// A register that only this instruction's operations use.
    fn temporary(&mut self, file: File) -> Reg {
        let next = match file {
            File::Pred => &mut self.code.pred,
            File::W32 => &mut self.code.w32,
            File::W64 => &mut self.code.w64,
        };
        *next += 1;
        Reg { file, slot: *next - 1 }
    }

    /// The register that holds a constant.
    fn constant(&mut self, file: File, value: u64) -> Reg {
        let value = match file {
            File::Pred => value & 1,
            File::W32 => value & 0xffff_ffff,
            File::W64 => value,
        };
        if let Some(&reg) = self.constants.get(&(file, value)) {
            return reg;
        }
        let reg = self.temporary(file);
        self.constants.insert((file, value), reg);
        self.code.constants.push((reg, value));
        reg
    }

    fn special(&mut self, special: Special, file: File) -> Result<Reg, Error> {
        use Special as S;
        match special {
            S::Clock | S::Clock64 | S::Globaltimer | S::GlobaltimerLo => {
                let reg = self.temporary(file);
                self.emit(Op::Clock(reg));
                return Ok(reg);
            }
            S::TidX
            | S::TidY
            | S::TidZ
            | S::NtidX
            | S::NtidY
            | S::NtidZ
            | S::CtaidX
            | S::CtaidY
            | S::CtaidZ
            | S::NctaidX
            | S::NctaidY
            | S::NctaidZ
            | S::Laneid
            | S::Warpid
            | S::Nwarpid
            | S::Smid
            | S::Nsmid
            | S::Gridid
            | S::LanemaskEq
            | S::LanemaskLe
            | S::LanemaskLt
            | S::LanemaskGe
            | S::LanemaskGt
            | S::DynamicSmemSize
            | S::TotalSmemSize
            | S::WarpSize => {}
            _ => return Err(self.unsupported(&format!("special register `{special}`"))),
        }
        if let Some(&reg) = self.specials.get(&(file, special)) {
            return Ok(reg);
        }
        let reg = self.temporary(file);
        self.specials.insert((file, special), reg);
        self.code.specials.push((reg, special));
        Ok(reg)
    }

    /// A declared register of this file.
    fn register(&mut self, name: &Arc<str>, wanted: File) -> Result<Reg, Error> {
        match self.any_register(name)? {
            Some(reg) if reg.file == wanted => Ok(reg),
            Some(reg) => Err(self.wrong(name, &file_text(wanted), &file_text(reg.file))),
            None => Err(self.undeclared(name, "register")),
        }
    }

    /// A declared register, numbered at its first use; `None` if the name is not a register's.
    fn any_register(&mut self, name: &Arc<str>) -> Result<Option<Reg>, Error> {
        let ty = match self.scopes.find(name) {
            Some(Named::Register(reg)) => return Ok(Some(reg)),
            Some(Named::Declared(ty)) => ty,
            Some(_) => return Ok(None),
            None => return Ok(None),
        };
        let Some(file) = file(ty) else {
            return Err(self.unsupported(&format!("registers of type .{ty}")));
        };
        let reg = self.temporary(file);
        self.scopes.number(name.clone(), reg);
        self.code.names.push((reg, name.clone()));
        Ok(Some(reg))
    }

    /// The register that operand `index`, a source of this type, is read from.
    fn source(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        let wanted = file(ty).ok_or_else(|| self.unsupported(&format!("type .{ty}")))?;
        let Some(operand) = ops.get(index) else {
            return Err(self.operand(ops, index, &file_text(wanted)));
        };
        match operand {
            Operand::Name(name) => {
                if let Some(reg) = self.any_register(name)? {
                    if reg.file != wanted {
                        return Err(self.operand(ops, index, &file_text(wanted)));
                    }
                    self.reads.push(reg);
                    return Ok(reg);
                }
                let address = self.address_of(name)?;
                Ok(self.constant(wanted, address))
            }
            Operand::Not(name) if wanted == File::Pred => {
                let reg = self.register(name, File::Pred)?;
                self.reads.push(reg);
                let negated = self.temporary(File::Pred);
                self.lanes(lanes!(bool: |a: bool| !a), negated, &[reg]);
                Ok(negated)
            }
            Operand::Special(special) => self.special(*special, wanted),
            &Operand::Int(value) => Ok(self.constant(wanted, value as u64)),
            &Operand::F32(bits) => {
                let value =
                    if ty == Type::F64 { f64::from(f32::from_bits(bits)).to_bits() } else { bits.into() };
                Ok(self.constant(wanted, value))
            }
            &Operand::F64(bits) => {
                let narrow = wanted == File::W32;
                let value = if narrow { (f64::from_bits(bits) as f32).to_bits().into() } else { bits };
                Ok(self.constant(wanted, value))
            }
            _ => Err(self.operand(ops, index, &file_text(wanted))),
        }
    }

    /// The register that operand `index`, a destination of this type, is written to.
    fn destination(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        let wanted = file(ty).ok_or_else(|| self.unsupported(&format!("type .{ty}")))?;
        match ops.get(index) {
            Some(Operand::Name(name)) => self.destination_name(name, wanted),
            Some(Operand::Sink) => Ok(self.temporary(wanted)),
            _ => Err(self.operand(ops, index, &file_text(wanted))),
        }
    }

    fn destination_name(&mut self, name: &Arc<str>, wanted: File) -> Result<Reg, Error> {
        if &**name == "_" {
            return Ok(self.temporary(wanted));
        }
        let reg = self.register(name, wanted)?;
        self.writes.push(reg);
        Ok(reg)
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { place: Box::new(self.place.clone()), what: what.into() }
    }

    fn undeclared(&self, name: &str, expected: &'static str) -> Error {
        Error::Undeclared { place: Box::new(self.place.clone()), name: name.into(), expected }
    }

    fn wrong(&self, name: &str, expected: &str, found: &str) -> Error {
        Error::Operand {
            place: Box::new(self.place.clone()),
            index: 0,
            expected: format!("`{name}` as {expected}"),
            found: found.into(),
        }
    }

    fn operand(&self, ops: &[Operand], index: usize, expected: &str) -> Error {
        let found = ops.get(index).map_or_else(|| "nothing".into(), |operand| format!("`{operand}`"));
        Error::Operand { place: Box::new(self.place.clone()), index, expected: expected.into(), found }
    }
}

fn file_text(file: File) -> String {
    match file {
        File::Pred => "a predicate",
        File::W32 => "a register of at most 32 bits",
        File::W64 => "a 64-bit register",
    }
    .into()
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
        Extent::Unsized => 0,
    };
    let align = variable.align.map_or(element, u64::from);
    align.is_power_of_two().then_some((element.checked_mul(count)?, align))
}
