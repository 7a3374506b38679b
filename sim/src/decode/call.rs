//! `call`: the function's statements are decoded in the place of each call, with its parameters standing for the
//! arguments. So there is no stack, and functions that call themselves are refused.

use std::sync::Arc;

use girih_ptx::{self as ptx, Operand, Statement, Word};

use super::scope::{Named, Scope, Scopes, mentions};
use super::words::Words;
use super::{Decoder, size};
use crate::Error;
use crate::op::{Guard, Op, Print};

/// The deepest nesting of calls.
const DEPTH: usize = 32;
/// Operations that a kernel can have with all its calls.
const LIMIT: usize = 1 << 20;

/// A call that is being decoded.
#[derive(Clone, Debug)]
pub(super) struct Call {
    name: Arc<str>,
    /// The number of the label after it, where `ret` goes.
    pub(super) after: u32,
}

impl<'a> Decoder<'a> {
    /// The kernel's body and those of the functions that it calls, or that those call.
    pub(super) fn reachable(&self) -> Vec<&'a [Statement]> {
        let mut bodies = vec![&self.kernel.body[..]];
        let mut rest: Vec<_> =
            self.functions.iter().filter_map(|f| Some((&f.name, f.body.as_deref()?))).collect();
        while let Some(at) = rest.iter().position(|(name, _)| bodies.iter().any(|body| mentions(body, name)))
        {
            bodies.push(rest.swap_remove(at).1);
        }
        bodies
    }

    pub(super) fn call(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        words.take(Word::Uni);
        let (results, at) = match ops.first() {
            Some(Operand::List(results)) => (&results[..], 1),
            _ => (&[][..], 0),
        };
        let Some(Operand::Name(name)) = ops.get(at) else { return Err(self.operand(ops, at, "a function")) };
        if self.any_register(name)?.is_some() {
            return Err(self.unsupported("a call of a function in a register"));
        }
        let arguments = match ops.get(at + 1..).unwrap_or_default() {
            [] => &[][..],
            [Operand::List(arguments)] => &arguments[..],
            _ => return Err(self.operand(ops, at + 1, "arguments in parentheses")),
        };
        let functions = self.functions;
        let function = functions.iter().filter(|f| f.name == *name).max_by_key(|f| f.body.is_some());
        let function = function.ok_or_else(|| self.undeclared(name, "function"))?;
        let Some(body) = function.body.as_deref() else {
            if &**name == "vprintf" {
                return self.vprintf(results, arguments, ops);
            }
            return Err(self.unsupported(&format!("a call of `{name}`, which the module does not define")));
        };
        if self.calls.len() == DEPTH || self.calls.iter().any(|call| call.name == *name) {
            return Err(self.unsupported("functions that call themselves, or calls nested more than 32 deep"));
        }
        let mut scope = Scope::default();
        self.bind(&mut scope, &function.results, results, "results")?;
        self.bind(&mut scope, &function.params, arguments, "arguments")?;
        self.inline(name, scope, body)
    }

    /// `vprintf`, which the machine defines: the format's address and that of the values, and the number of them.
    fn vprintf(&mut self, results: &[Operand], arguments: &[Operand], ops: &[Operand]) -> Result<(), Error> {
        let place = |operand: Option<&Operand>, least: u64| match operand {
            Some(Operand::Name(name)) => match self.scopes.find(name) {
                Some(Named::Local(at, bytes)) if bytes >= least => Some(at),
                _ => None,
            },
            _ => None,
        };
        let places = [place(arguments.first(), 8), place(arguments.get(1), 8), place(results.first(), 4)];
        let [Some(format), Some(values), Some(result)] = places else {
            return Err(self.operand(ops, 0, "a result of .b32 and two arguments of .b64"));
        };
        self.emit(Op::Print(Box::new(Print { format, values, result })));
        Ok(())
    }

    /// Gives a function's parameters the places of what stands for them.
    fn bind(
        &self,
        scope: &mut Scope,
        formal: &[ptx::Variable],
        actual: &[Operand],
        what: &str,
    ) -> Result<(), Error> {
        if formal.len() != actual.len() {
            return Err(self.unsupported(&format!(
                "{} {what} where the function has {}",
                actual.len(),
                formal.len()
            )));
        }
        for (i, (variable, operand)) in formal.iter().zip(actual).enumerate() {
            let place = match operand {
                Operand::Name(name) => self.scopes.find(name),
                _ => None,
            };
            match place {
                Some(Named::Local(at, bytes)) if size(variable).is_some_and(|(needs, _)| needs <= bytes) => {
                    scope.declare(variable.name.clone(), Named::Local(at, bytes));
                }
                _ => {
                    let expected = format!("a `.param` variable of the block that fits `{variable}`");
                    return Err(self.operand(actual, i, &expected));
                }
            }
        }
        Ok(())
    }

    fn inline(&mut self, name: &Arc<str>, mut scope: Scope, body: &'a [Statement]) -> Result<(), Error> {
        let after = self.labels.len() as u32;
        self.labels.push(None);
        // Lanes that the guard keeps away go on after the call.
        let skip = match self.guard {
            Guard::If(p) => Some(Guard::Unless(p)),
            Guard::Unless(p) => Some(Guard::If(p)),
            Guard::Always | Guard::Same => None,
        };
        if let Some(guard) = skip {
            self.guard = guard;
            self.emit(Op::Branch(after));
            self.flush();
        }
        self.module_shared.iter().for_each(|(name, named)| scope.declare(name.clone(), *named));
        let mut scopes = Scopes::default();
        scopes.enter(scope);
        let outside = std::mem::replace(&mut self.scopes, scopes);
        let place = self.place.clone();
        let lines = std::mem::take(&mut self.lines);
        self.place.origin = None;
        self.calls.push(Call { name: name.clone(), after });
        self.scopes.enter(Scope::default());
        self.block(body, 0)?;
        self.calls.pop();
        self.scopes = outside;
        (self.place, self.lines) = (place, lines);
        self.labels[after as usize] = Some(self.code.insts.len() as u32);
        if self.code.insts.len().max(self.labels.len()) > LIMIT {
            return Err(self.unsupported("a kernel of over a million operations with all its calls"));
        }
        Ok(())
    }
}
