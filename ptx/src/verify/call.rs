//! `call` and functions (PTX ISA, "Control Flow Instructions: call").

use super::{Report, Scope, Scopes, visit_body};
use crate::ast::*;
use crate::forms::{Names, Needs, Symbol};
use crate::{Error, Modifier, Word};

/// Declares a function, which may have been declared without a body before, and checks its body.
pub(super) fn visit_function(
    function: &Function,
    scopes: &mut Scopes,
    report: Report<'_>,
) -> Result<(), Error> {
    let symbol = Symbol::Function { results: function.results.len(), params: function.params.len() };
    if scopes.symbol(&function.name) != Some(symbol) {
        scopes.declare(&function.name, symbol, function.span)?;
    }
    scopes.stack.push(Scope::default());
    let mut variables = function.results.iter().chain(&function.params);
    variables.try_for_each(|variable| scopes.declare_variable(variable))?;
    if let Some(body) = &function.body {
        visit_body(body, function.span, scopes, report)?;
    }
    scopes.stack.pop();
    Ok(())
}

/// Checks `call{.uni} (results), function, (arguments)`: their numbers, and that each is a register, a constant or a
/// variable in `.param`.
pub(super) fn visit_call(inst: &Inst, scopes: &Scopes, report: Report<'_>) -> Result<(), Error> {
    let wrong = |number: usize, expected: String, found: String| {
        Err(Error::Operand { at: inst.span, inst: inst.brief(), number, expected, found })
    };
    if !matches!(inst.modifiers[..], [] | [Modifier::Word(Word::Uni)]) {
        return wrong(0, "no modifier but `.uni`".into(), inst.brief());
    }
    let (results, at) = match inst.operands.first() {
        Some(Operand::List(results)) => (&results[..], 1),
        _ => (&[][..], 0),
    };
    let Some(Operand::Name(name)) = inst.operands.get(at) else {
        return wrong(at + 1, "a function's name".into(), shown(inst.operands.get(at)));
    };
    let (arguments, rest) = match &inst.operands[at + 1..] {
        [Operand::List(arguments), rest @ ..] => (&arguments[..], rest),
        rest => (&[][..], rest),
    };
    let (returned, params) = match (scopes.symbol(name), rest) {
        (Some(Symbol::Function { results, params }), []) => (results, params),
        (Some(Symbol::Function { .. }), [other, ..]) => {
            return wrong(at + 2, "arguments in parentheses".into(), format!("`{other}`"));
        }
        // The prototype says what a function in a register takes; the call is not compared with it.
        (Some(Symbol::Register(ty)), [Operand::Name(label)])
            if ty.bits() == Some(64) && scopes.symbol(label) == Some(Symbol::Label) =>
        {
            (results.len(), arguments.len())
        }
        (Some(Symbol::Register(_)), _) => {
            let expected = "the label of a `.callprototype` or `.calltargets` after a 64-bit register".into();
            return wrong(inst.operands.len(), expected, shown(inst.operands.last()));
        }
        _ => return wrong(at + 1, "a function".into(), format!("`{name}`")),
    };
    for (number, given, takes, what) in
        [(1, results, returned, "results"), (at + 2, arguments, params, "arguments")]
    {
        if given.len() != takes {
            return wrong(number, format!("{takes} {what}"), given.len().to_string());
        }
        let fits = |operand: &&Operand| match operand {
            Operand::Name(name) => {
                matches!(scopes.symbol(name), Some(Symbol::Register(_) | Symbol::Variable(VarSpace::Param)))
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => what == "arguments",
            _ => false,
        };
        if let Some(other) = given.iter().find(|operand| !fits(operand)) {
            return wrong(number, "registers and variables in .param".into(), format!("`{other}`"));
        }
    }
    report(inst.span, &|| inst.brief(), Needs::LEAST)
}

fn shown(operand: Option<&Operand>) -> String {
    operand.map_or("nothing".into(), |operand| format!("`{operand}`"))
}
