//! Control flow: branches that diverge, loops whose lanes leave at different times, tables, calls.

use girih_ptx::{
    Extent, Function, Linkage, Name, Opcode, Operand, Span, Statement, Type, VarSpace, Variable, Word,
};
use rand::RngExt;

use super::Reach;
use super::agree::Agree;
use super::draft::Draft;
use super::lane::instruction;
use super::syntax::{at, guarded, inst, label, modifiers, name};
use super::value::{Class, Value};

/// Writes statements that give the value.
type Shape = fn(&mut Draft<'_>, &Value);

/// Shapes of control flow, by the instruction that makes them.
const SHAPES: [(&str, Shape); 4] =
    [("bra", choice), ("bra (loop)", repeat), ("brx.idx", table), ("call", call)];

/// A step of control flow around instructions on 32-bit registers.
pub(super) fn step(draft: &mut Draft<'_>) {
    let (name, shape) = draft.pick(&SHAPES);
    let d = draft.register(Class::B32, Type::B32);
    shape(draft, &d);
    draft.take_writes();
    draft.writes(&d, Agree::Bits);
    draft.step(name.into(), Reach::Lane, true);
}

/// One instruction of the words, and its result in `d`.
fn word(draft: &mut Draft<'_>, d: &Value) {
    let cards = draft.words;
    let card = draft.pick(cards);
    if let Some(instruction) = instruction(draft, &card, true, None) {
        let result = instruction.operands[0].clone();
        draft.inst(instruction);
        draft.inst(inst(Opcode::Mov, modifiers![Type::B32], vec![d.operand(), result]));
    }
}

/// One or two words; or within a branch, another branch.
fn body(draft: &mut Draft<'_>, d: &Value, nested: bool) {
    for _ in 0..draft.rng.random_range(1..=2) {
        match nested && draft.chance(3) {
            true => branches(draft, d, false),
            false => word(draft, d),
        }
    }
}

fn jump(draft: &mut Draft<'_>, to: &Name) {
    draft.inst(inst(Opcode::Bra, Vec::new(), vec![Operand::Name(to.clone())]));
}

fn choice(draft: &mut Draft<'_>, d: &Value) {
    branches(draft, d, true);
}

/// `if p { ... } else { ... }`
fn branches(draft: &mut Draft<'_>, d: &Value, nested: bool) {
    let p = draft.source(Class::Pred, Type::Pred).name;
    let (other, end) = (draft.label(), draft.label());
    let negated = draft.chance(2);
    draft.inst(guarded(inst(Opcode::Bra, Vec::new(), vec![Operand::Name(other.clone())]), &p, negated));
    body(draft, d, nested);
    jump(draft, &end);
    draft.push(label(&other));
    body(draft, d, nested);
    draft.push(label(&end));
}

/// A loop of 0 to 7 iterations in each lane.
fn repeat(draft: &mut Draft<'_>, d: &Value) {
    let (count, stop) = (draft.register(Class::B32, Type::U32), draft.register(Class::Pred, Type::Pred));
    let (again, end) = (draft.label(), draft.label());
    let start = draft.read(Class::B32, Type::B32);
    let rounds = draft.read(Class::B32, Type::U32);
    draft.inst(inst(Opcode::Mov, modifiers![Type::B32], vec![d.operand(), start]));
    draft.inst(inst(Opcode::And, modifiers![Type::B32], vec![count.operand(), rounds, Operand::Int(7)]));
    draft.push(label(&again));
    let zero = vec![stop.operand(), count.operand(), Operand::Int(0)];
    draft.inst(inst(Opcode::Setp, modifiers![Word::Eq, Type::U32], zero));
    draft.inst(guarded(inst(Opcode::Bra, Vec::new(), vec![Operand::Name(end.clone())]), &stop.name, false));
    let result = draft.register(Class::B32, Type::B32);
    body(draft, &result, true);
    let sum = vec![d.operand(), d.operand(), Operand::Int(3), result.operand()];
    draft.inst(inst(Opcode::Mad, modifiers![Word::Lo, Type::U32], sum));
    let less = vec![count.operand(), count.operand(), Operand::Int(1)];
    draft.inst(inst(Opcode::Sub, modifiers![Type::U32], less));
    jump(draft, &again);
    draft.push(label(&end));
}

/// A branch by a table of four, each of which ends at the same place.
fn table(draft: &mut Draft<'_>, d: &Value) {
    let index = draft.register(Class::B32, Type::U32);
    let from = draft.read(Class::B32, Type::U32);
    draft.inst(inst(Opcode::And, modifiers![Type::B32], vec![index.operand(), from, Operand::Int(3)]));
    let targets: Vec<Name> = (0..4).map(|_| draft.label()).collect();
    let (list, end) = (draft.label(), draft.label());
    draft.push(label(&list));
    draft.push(Statement::BranchTargets(targets.clone()));
    draft.inst(inst(Opcode::Brx, modifiers![Word::Idx], vec![index.operand(), Operand::Name(list)]));
    for target in &targets {
        draft.push(label(target));
        body(draft, d, false);
        jump(draft, &end);
    }
    draft.push(label(&end));
}

fn parameter(name: Name) -> Variable {
    Variable {
        linkage: Linkage::Internal,
        space: VarSpace::Param,
        align: None,
        ty: Type::B32,
        name,
        extent: Extent::Scalar,
        init: Vec::new(),
        span: Span::default(),
    }
}

/// A call of a function of two parameters.
fn call(draft: &mut Draft<'_>, d: &Value) {
    let number = draft.label();
    let function: Name = format!("{number}_function").into();
    let (statements, ()) = draft.aside(function_body);
    let params = ["x", "y"].map(|name| parameter(name.into()));
    draft.function(Function {
        linkage: Linkage::Internal,
        results: vec![parameter("result".into())],
        name: function.clone(),
        params: params.to_vec(),
        noreturn: false,
        body: Some(statements),
        span: Span::default(),
    });
    let arguments = [draft.read(Class::B32, Type::B32), draft.read(Class::B32, Type::B32)];
    let ld_st = || modifiers![Word::Param, Type::B32];
    let (inner, ()) = draft.aside(|draft| {
        for name in ["x", "y", "result"] {
            draft.push(Statement::Variable(parameter(name.into())));
        }
        for (name, argument) in ["x", "y"].into_iter().zip(arguments) {
            draft.inst(inst(Opcode::St, ld_st(), vec![at(name, 0), argument]));
        }
        let (results, given) = (vec![name("result")], vec![name("x"), name("y")]);
        let operands = vec![Operand::List(results), Operand::Name(function), Operand::List(given)];
        draft.inst(inst(Opcode::Call, Vec::new(), operands));
        draft.inst(inst(Opcode::Ld, ld_st(), vec![d.operand(), at("result", 0)]));
    });
    draft.push(Statement::Block(inner));
}

/// `result = f(x, y)`: two words, of the parameters alone.
fn function_body(draft: &mut Draft<'_>) {
    let parameters = [draft.register(Class::B32, Type::B32), draft.register(Class::B32, Type::B32)];
    for (value, name) in parameters.iter().zip(["x", "y"]) {
        draft.inst(inst(Opcode::Ld, modifiers![Word::Param, Type::B32], vec![value.operand(), at(name, 0)]));
    }
    draft.closed = Some(parameters.to_vec());
    let d = draft.register(Class::B32, Type::B32);
    word(draft, &d);
    draft.closed = Some(vec![parameters[0].clone(), parameters[1].clone(), d.clone()]);
    word(draft, &d);
    draft.closed = None;
    draft.inst(inst(Opcode::St, modifiers![Word::Param, Type::B32], vec![at("result", 0), d.operand()]));
    draft.inst(inst(Opcode::Ret, Vec::new(), Vec::new()));
}
