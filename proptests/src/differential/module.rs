//! The text of a program: a kernel that loads the inputs, runs the steps and stores their results.

use girih_ptx::{
    Directive, Extent, Item, Kernel, Linkage, Module, Name, Opcode, Operand, RegDecl, Span, Special,
    Statement, Target, Type, VarSpace, Variable, Word,
};

use super::memory::ROW;
use super::syntax::{at, inst, modifiers, name};
use super::value::{Class, Value};
use super::{BLOCK, LANES, Program};

/// The kernel's name.
pub(super) const KERNEL: &str = "program";
/// Bytes of an input or a result in each thread.
pub(super) const SLOT: usize = 8;
/// Bytes of the kernel's last parameter, and of its constants.
pub(super) const PARAMETER: usize = 16;

impl Program {
    /// The program as PTX for sm_90: a kernel of one-dimensional blocks, with the addresses of inputs, results and rows
    /// as parameters, and 16 bytes to load.
    pub fn module(&self) -> Module {
        let mut items = vec![Item::Variable(Variable {
            init: (0..PARAMETER as i64).map(|i| Operand::Int(i * 37 % 256)).collect(),
            ..variable(VarSpace::Const, "constants", PARAMETER)
        })];
        let registers = self.registers();
        for step in &self.steps {
            items.extend(step.functions.iter().map(|function| {
                let mut function = function.clone();
                if let Some(body) = &mut function.body {
                    body.splice(0..0, registers.iter().cloned());
                }
                Item::Function(function)
            }));
        }
        items.push(Item::Kernel(Kernel {
            linkage: Linkage::Visible,
            name: KERNEL.into(),
            params: parameters(),
            directives: vec![Directive::ReqNtid([BLOCK as u32, 1, 1])],
            body: self.body(registers),
            span: Span::default(),
        }));
        Module { version: (8, 7), target: Target { sm: 90, suffix: None }, items, notes: Default::default() }
    }

    /// Declarations of all registers with numbers.
    fn registers(&self) -> Vec<Statement> {
        // A name's number says how many there are up to it.
        let number = |name: &Name, class: Class| name.strip_prefix(class.prefix())?.parse::<u32>().ok();
        let mut most = [0; 4];
        let mut see = |operand: &Name| {
            for class in Class::ALL {
                if let Some(number) = number(operand, class) {
                    most[class as usize] = most[class as usize].max(number + 1);
                }
            }
        };
        self.inputs.iter().for_each(|input| see(&input.value.name));
        for step in &self.steps {
            each_name(&step.statements, &mut see);
            step.functions
                .iter()
                .filter_map(|f| f.body.as_deref())
                .for_each(|body| each_name(body, &mut see));
        }
        Class::ALL
            .into_iter()
            .map(|class| reg(class.ty(), vec![(class.prefix().into(), Some(most[class as usize].max(1)))]))
            .collect()
    }

    fn body(&self, registers: Vec<Statement>) -> Vec<Statement> {
        let mut body = registers;
        body.extend(prologue());
        for (i, input) in self.inputs.iter().enumerate() {
            body.extend(load(&input.value, (i * LANES * SLOT) as i64));
        }
        let mut slot = 0;
        for step in &self.steps {
            body.push(Statement::Comment(step.instruction.as_str().into()));
            body.extend(step.statements.iter().cloned());
            for (value, _) in &step.writes {
                body.extend(store(value, (slot * LANES * SLOT) as i64));
                slot += 1;
            }
        }
        body.push(Statement::Inst(inst(Opcode::Ret, Vec::new(), Vec::new())));
        body
    }
}

/// Tells `see` every register that statements name.
fn each_name(statements: &[Statement], see: &mut impl FnMut(&Name)) {
    for statement in statements {
        match statement {
            Statement::Block(inner) => each_name(inner, see),
            Statement::Inst(inst) => {
                inst.guard.iter().for_each(|guard| see(&guard.reg));
                inst.operands.iter().for_each(|operand| each_register(operand, see));
            }
            _ => {}
        }
    }
}

fn each_register(operand: &Operand, see: &mut impl FnMut(&Name)) {
    match operand {
        Operand::Name(name) | Operand::Not(name) => see(name),
        Operand::Pair(first, second) => [first, second].into_iter().for_each(see),
        Operand::Address(address) => address.base.iter().for_each(see),
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| each_register(part, see))
        }
        _ => {}
    }
}

fn reg(ty: Type, names: Vec<(Name, Option<u32>)>) -> Statement {
    Statement::Reg(RegDecl { ty, names, span: Span::default() })
}

/// `.align 16 .b8 name[bytes]`
fn variable(space: VarSpace, name: &str, bytes: usize) -> Variable {
    Variable {
        linkage: Linkage::Internal,
        space,
        align: Some(16),
        ty: Type::B8,
        name: name.into(),
        extent: Extent::Array(bytes as u64),
        init: Vec::new(),
        span: Span::default(),
    }
}

fn parameters() -> Vec<Variable> {
    let address = |name: &str| Variable {
        align: None,
        ty: Type::U64,
        extent: Extent::Scalar,
        ..variable(VarSpace::Param, name, 0)
    };
    let mut parameters: Vec<_> = ["inputs", "results", "rows"].map(address).to_vec();
    parameters.push(variable(VarSpace::Param, "parameter", PARAMETER));
    parameters
}

/// The thread's index, its places in the inputs and results, its rows.
fn prologue() -> Vec<Statement> {
    use Opcode as O;
    use Type as T;
    use Word as W;
    let int = |value: usize| Operand::Int(value as i64);
    let wide = || modifiers![W::Wide, T::U32];
    let lo = || modifiers![W::Lo, T::U32];
    let param = || modifiers![W::Param, T::U64];
    let narrow = ["thread", "global_thread", "block", "shared_rows", "shared_row"];
    let long = ["input_row", "input", "result", "global_rows", "global_row", "local_row"];
    let plain = |names: &[&str]| names.iter().map(|&name| (Name::from(name), None)).collect();
    let mut body = vec![
        reg(T::B32, plain(&narrow)),
        reg(T::B64, plain(&long)),
        Statement::Variable(variable(VarSpace::Shared, "shared_memory", BLOCK * ROW)),
        Statement::Variable(variable(VarSpace::Local, "local_memory", ROW)),
    ];
    let mut add = |opcode, modifiers, operands| body.push(Statement::Inst(inst(opcode, modifiers, operands)));
    let u32_ = || modifiers![T::U32];
    add(O::Mov, u32_(), vec![name("thread"), Operand::Special(Special::TidX)]);
    add(O::Mov, u32_(), vec![name("block"), Operand::Special(Special::CtaidX)]);
    add(O::Mad, lo(), vec![name("global_thread"), name("block"), int(BLOCK), name("thread")]);
    add(O::Mov, u32_(), vec![name("shared_rows"), name("shared_memory")]);
    add(O::Mad, lo(), vec![name("shared_row"), name("thread"), int(ROW), name("shared_rows")]);
    add(O::Mov, modifiers![T::U64], vec![name("local_row"), name("local_memory")]);
    add(O::Ld, param(), vec![name("input"), at("inputs", 0)]);
    add(O::Mad, wide(), vec![name("input"), name("global_thread"), int(SLOT), name("input")]);
    add(O::And, modifiers![T::B64], vec![name("input_row"), name("input"), Operand::Int(-16)]);
    add(O::Ld, param(), vec![name("result"), at("results", 0)]);
    add(O::Mad, wide(), vec![name("result"), name("global_thread"), int(SLOT), name("result")]);
    add(O::Ld, param(), vec![name("global_rows"), at("rows", 0)]);
    add(O::Mad, wide(), vec![name("global_rows"), name("block"), int(BLOCK * ROW), name("global_rows")]);
    add(O::Mad, wide(), vec![name("global_row"), name("thread"), int(ROW), name("global_rows")]);
    body
}

/// A register for a predicate's way through memory.
fn whole(value: &Value) -> Value {
    Value { name: format!("whole_{}", &value.name[1..]).into(), class: Class::B32, ty: Type::B32 }
}

fn load(value: &Value, offset: i64) -> Vec<Statement> {
    let memory = |value: &Value| {
        Statement::Inst(inst(
            Opcode::Ld,
            modifiers![Word::Global, value.class.ty()],
            vec![value.operand(), at("input", offset)],
        ))
    };
    if value.class != Class::Pred {
        return vec![memory(value)];
    }
    let bits = whole(value);
    let operands = vec![value.operand(), bits.operand(), Operand::Int(0)];
    vec![
        reg(Type::B32, vec![(bits.name.clone(), None)]),
        memory(&bits),
        Statement::Inst(inst(Opcode::Setp, modifiers![Word::Ne, Type::U32], operands)),
    ]
}

fn store(value: &Value, offset: i64) -> Vec<Statement> {
    let memory = |value: &Value| {
        Statement::Inst(inst(
            Opcode::St,
            modifiers![Word::Global, value.class.ty()],
            vec![at("result", offset), value.operand()],
        ))
    };
    if value.class != Class::Pred {
        return vec![memory(value)];
    }
    let bits = whole(value);
    let operands = vec![bits.operand(), Operand::Int(1), Operand::Int(0), value.operand()];
    vec![
        reg(Type::B32, vec![(bits.name.clone(), None)]),
        Statement::Inst(inst(Opcode::Selp, modifiers![Type::B32], operands)),
        memory(&bits),
    ]
}
