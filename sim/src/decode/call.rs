//! `call`: the function's statements are decoded in the place of each call, with its parameters bound to the arguments.
//! A function that calls itself, directly or not, or that is called through a register, is decoded only once instead.

use girih_ptx::{self as ptx, Opcode, Operand, Statement, Word};

use super::function::uses;
use super::scope::{Named, Scope, Scopes};
use super::words::Words;
use super::{Decoder, File, size};
use crate::Error;
use crate::lanes::lanes;
use crate::op::{Address, Assert, Guard, Op, Print, Target};

/// The deepest nesting of calls.
const DEPTH: usize = 32;
/// The most operations of a kernel, with the functions decoded in the place of calls.
const LIMIT: usize = 1 << 20;

/// A call that is being decoded.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The number of the label after the call, to which `ret` branches.
    pub(super) after: u32,
}

impl<'a> Decoder<'a> {
    pub(super) fn call(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        words.take(Word::Uni);
        let (results, at) = match ops.first() {
            Some(Operand::List(results)) => (&results[..], 1),
            _ => (&[][..], 0),
        };
        let Some(Operand::Name(name)) = ops.get(at) else { return Err(self.operand(ops, at, "a function")) };
        let (arguments, rest) = match ops.get(at + 1..).unwrap_or_default() {
            [Operand::List(arguments), rest @ ..] => (&arguments[..], rest),
            rest => (&[][..], rest),
        };
        if let Some(reg) = self.any_register(name)? {
            let among = self.among(ops, rest)?;
            self.reads.push(reg);
            return self.invoke(Target::Register(reg, among), results, arguments);
        }
        if !rest.is_empty() {
            return Err(self.operand(ops, at + 1, "arguments in parentheses"));
        }
        if let Some(number) = self.outlined.iter().position(|outlined| outlined.function.name == *name) {
            return self.invoke(Target::Function(number as u32), results, arguments);
        }
        let functions = self.functions;
        let function = functions.iter().filter(|f| f.name == *name).max_by_key(|f| f.body.is_some());
        let function = function.ok_or_else(|| self.undeclared(name, "function"))?;
        let Some(body) = function.body.as_deref() else {
            return match &**name {
                "vprintf" => self.vprintf(results, arguments, ops),
                "__assertfail" => self.assertion(results, arguments, ops),
                "malloc" | "free" => Err(self.unsupported(&format!(
                    "`{name}`, the heap of the device; allocate memory on the host and pass its address"
                ))),
                device
                    if device.starts_with("cudaLaunchDevice")
                        || device.starts_with("cudaGetParameterBuffer") =>
                {
                    Err(self.unsupported(&format!(
                        "`{name}`, a launch from the device; launch the kernel on the host"
                    )))
                }
                _ => Err(self.unsupported(&format!("a call of `{name}`, which the module does not define"))),
            };
        };
        if self.calls.len() == DEPTH {
            return Err(self.unsupported("calls nested more than 32 deep"));
        }
        let mut scope = Scope::default();
        self.bind(&mut scope, &function.results, results, "results")?;
        self.bind(&mut scope, &function.params, arguments, "arguments")?;
        self.inline(scope, body)
    }

    /// The functions that a call through a register may call, if a `.calltargets` lists them.
    fn among(&self, ops: &[Operand], rest: &[Operand]) -> Result<Option<Vec<u32>>, Error> {
        let label = match rest {
            [Operand::Name(label)] => self.scopes.find(label),
            _ => None,
        };
        let Some(Named::Label(label)) = label else {
            return Err(self.operand(
                ops,
                ops.len() - 1,
                "the label of a `.callprototype` or a `.calltargets`",
            ));
        };
        let Some(names) = self.tables.get(&label) else { return Ok(None) };
        let numbers = (self.outlined.iter().zip(0..))
            .filter(|(outlined, _)| names.contains(&outlined.function.name))
            .map(|(_, number)| number);
        Ok(Some(numbers.collect()))
    }

    /// The place of a variable in local memory that has at least `least` bytes.
    fn place(&self, operand: Option<&Operand>, least: u64) -> Option<Address> {
        let Some(Operand::Name(name)) = operand else { return None };
        self.local_place(name).filter(|(_, bytes)| *bytes >= least).map(|(place, _)| place)
    }

    /// `vprintf`, which the simulator provides: the addresses of the format and of the packed values; the result is the
    /// number of values.
    fn vprintf(&mut self, results: &[Operand], arguments: &[Operand], ops: &[Operand]) -> Result<(), Error> {
        let [format, values] = [0, 1].map(|i| self.place(arguments.get(i), 8));
        let (Some(format), Some(values), Some(result)) = (format, values, self.place(results.first(), 4))
        else {
            return Err(self.operand(ops, 0, "a result of .b32 and two arguments of .b64"));
        };
        self.emit(Op::Print(Box::new(Print { format, values, result })));
        Ok(())
    }

    /// `__assertfail`, which the simulator provides: the assertion, the file, the line, the function, and the bytes of
    /// a character.
    fn assertion(
        &mut self,
        results: &[Operand],
        arguments: &[Operand],
        ops: &[Operand],
    ) -> Result<(), Error> {
        let place = |i: usize, least| self.place(arguments.get(i), least);
        let (Some(message), Some(file), Some(line), Some(function), Some(_), []) =
            (place(0, 8), place(1, 8), place(2, 4), place(3, 8), place(4, 8), results)
        else {
            return Err(self.operand(ops, 0, "no result and arguments of .b64, .b64, .b32, .b64 and .b64"));
        };
        self.emit(Op::Assert(Box::new(Assert { message, file, line, function })));
        Ok(())
    }

    /// Binds a function's parameters to the places of the arguments, and its results to those of the call's results.
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
                Some(named @ (Named::Local(_, bytes) | Named::Stack(_, bytes)))
                    if size(variable).is_some_and(|(needs, _)| needs <= bytes) =>
                {
                    scope.declare(variable.name.clone(), named);
                }
                _ => {
                    let expected = format!("a `.param` variable of the block that fits `{variable}`");
                    return Err(self.operand(actual, i, &expected));
                }
            }
        }
        Ok(())
    }

    fn inline(&mut self, mut scope: Scope, body: &'a [Statement]) -> Result<(), Error> {
        let after = self.labels.len() as u32;
        self.labels.push(None);
        // Lanes for which the guard is false go on after the call.
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
        // A function that uses `alloca` gives the memory back when it returns.
        let top = self.code.stack.map(|[_, top]| top).filter(|_| uses(body, Opcode::Alloca));
        let kept = top.map(|top| self.through(File::W64, lanes!(u64: |a: u64| a), top));
        self.flush();
        self.calls.push(Call { after });
        self.scopes.enter(Scope::default());
        self.block(body, 0)?;
        self.calls.pop();
        self.scopes = outside;
        (self.place, self.lines) = (place, lines);
        self.labels[after as usize] = Some(self.code.insts.len() as u32);
        if let (Some(top), Some(kept)) = (top, kept) {
            self.lanes(lanes!(u64: |a: u64| a), top, &[kept]);
        }
        if self.code.insts.len().max(self.labels.len()) > LIMIT {
            return Err(self.unsupported("a kernel of over a million operations with all its calls"));
        }
        Ok(())
    }
}
