//! Functions with stack frames: recursive functions, and those whose address is taken. Their code is stored once, before the kernel's. So lanes in a
//! call have smaller program counters, and run before the lanes that wait for them after the call.

use girih_ptx::{self as ptx, Opcode, Operand, Statement};

use super::scope::{Named, Scope, Scopes, mentions};
use super::{DEPTH, Decoder, align_up, size};
use crate::Error;
use crate::lanes::{File, Reg};
use crate::op::{Invoke, Op, Target};
use crate::program::{FRAME_ALIGN, Function};
use crate::space::CODE_WINDOW;

/// Bytes of each thread's local memory for frames and `alloca`: eight times what a GPU has by default.
const STACK: u64 = 8 << 10;

/// A function with a stack frame, before it is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlined<'a> {
    pub(super) function: &'a ptx::Function,
    body: &'a [Statement],
    /// The number of the label before the function's code.
    label: u32,
}

/// Calls `see` for all statements, those of nested blocks included.
fn each<'s>(body: &'s [Statement], depth: usize, see: &mut dyn FnMut(&'s Statement)) {
    for statement in body {
        see(statement);
        match statement {
            Statement::Block(body) if depth < DEPTH => each(body, depth + 1, see),
            _ => {}
        }
    }
}

/// The name of the function, or of the register, that an instruction calls.
fn callee(inst: &ptx::Inst) -> Option<&ptx::Name> {
    let at = usize::from(matches!(inst.operands.first(), Some(Operand::List(_))));
    match inst.operands.get(at) {
        Some(Operand::Name(name)) if inst.opcode == Opcode::Call => Some(name),
        _ => None,
    }
}

/// Whether statements have an instruction with this opcode.
pub(super) fn uses(body: &[Statement], opcode: Opcode) -> bool {
    let mut found = false;
    each(body, 0, &mut |statement| {
        found |= matches!(statement, Statement::Inst(inst) if inst.opcode == opcode)
    });
    found
}

/// Whether statements take the address of a function, which is to mention its name other than in a call.
fn takes_address(body: &[Statement], name: &str) -> bool {
    let mut found = false;
    each(body, 0, &mut |statement| match statement {
        Statement::Inst(inst) if inst.opcode != Opcode::Call => {
            found |= inst.operands.iter().any(|operand| matches!(operand, Operand::Name(n) if **n == *name));
        }
        Statement::CallTargets(names) => found |= names.iter().any(|n| **n == *name),
        _ => {}
    });
    found
}

impl<'a> Decoder<'a> {
    /// The functions of the module that have bodies.
    fn defined(&self) -> impl Iterator<Item = (&'a ptx::Function, &'a [Statement])> + use<'a> {
        self.functions.iter().filter_map(|function| Some((*function, function.body.as_deref()?)))
    }

    /// Whether a body calls a function through a register.
    fn calls_register(&self, body: &[Statement]) -> bool {
        let mut found = false;
        each(body, 0, &mut |statement| {
            if let Statement::Inst(inst) = statement
                && let Some(name) = callee(inst)
            {
                found |= self.functions.iter().all(|function| function.name != *name);
            }
        });
        found
    }

    /// Whether a variable has the address of this function as an initial value.
    fn is_first_value(&self, name: &str) -> bool {
        let named = |value: &Operand| match value {
            Operand::Name(n) | Operand::Offset(n, _) | Operand::Generic(n, _) => **n == *name,
            _ => false,
        };
        self.variables.iter().any(|variable| variable.init.iter().any(named))
    }

    /// The body of the kernel, and those of the functions that it may call, directly or not.
    pub(super) fn reachable(&self) -> Vec<&'a [Statement]> {
        let mut bodies = vec![&self.kernel.body[..]];
        let mut rest: Vec<_> = self.defined().collect();
        let found = |bodies: &[&[Statement]], name: &str| {
            bodies.iter().any(|body| mentions(body, name))
                || self.is_first_value(name) && bodies.iter().any(|body| self.calls_register(body))
        };
        while let Some(at) = rest.iter().position(|(function, _)| found(&bodies, &function.name)) {
            bodies.push(rest.swap_remove(at).1);
        }
        bodies
    }

    /// Finds the functions that need stack frames, and gives each a label.
    pub(super) fn enlist(&mut self) {
        let bodies = self.reachable();
        let reached: Vec<_> =
            self.defined().filter(|(_, body)| bodies.iter().any(|b| std::ptr::eq(*b, *body))).collect();
        let indirect = bodies.iter().any(|body| self.calls_register(body));
        let needs_stack = bodies.iter().any(|body| {
            uses(body, Opcode::Alloca) || uses(body, Opcode::Stacksave) || uses(body, Opcode::Stackrestore)
        });
        // The functions that each function calls, directly or not.
        let calls = |body: &[Statement]| -> Vec<usize> {
            (0..reached.len()).filter(|&i| mentions(body, &reached[i].0.name)).collect()
        };
        let direct: Vec<Vec<usize>> = reached.iter().map(|(_, body)| calls(body)).collect();
        for (i, &(function, body)) in reached.iter().enumerate() {
            let mut seen = direct[i].clone();
            let mut next = 0;
            while let Some(&at) = seen.get(next) {
                let more: Vec<usize> = direct[at].iter().copied().filter(|j| !seen.contains(j)).collect();
                seen.extend(more);
                next += 1;
            }
            let name = &function.name;
            let taken = indirect
                && (self.is_first_value(name) || bodies.iter().any(|body| takes_address(body, name)));
            if taken || seen.contains(&i) {
                self.outlined.push(Outlined { function, body, label: self.labels.len() as u32 });
                self.labels.push(None);
            }
        }
        if !self.outlined.is_empty() || needs_stack {
            self.code.stack = Some([self.temporary(File::W64), self.temporary(File::W64)]);
        }
    }

    /// Decodes the functions that have frames.
    pub(super) fn outline(&mut self) -> Result<(), Error> {
        let place = self.place.clone();
        for i in 0..self.outlined.len() {
            let Outlined { function, body, label } = self.outlined[i];
            self.place.line = function.span.line;
            self.place.instruction = function.name.clone();
            let mut scope = Scope::default();
            self.module_shared.iter().for_each(|(name, named)| scope.declare(name.clone(), *named));
            self.frame = Some(0);
            let results = self.formal(&mut scope, &function.results)?;
            let params = self.formal(&mut scope, &function.params)?;
            let mut scopes = Scopes::default();
            scopes.enter(scope);
            scopes.enter(Scope::default());
            let outside = std::mem::replace(&mut self.scopes, scopes);
            let before = [self.code.pred, self.code.w32, self.code.w64];
            self.labels[label as usize] = Some(self.code.insts.len() as u32);
            self.block(body, 0)?;
            self.place.instruction = "}".into();
            self.emit(Op::Return);
            self.flush();
            let after = [self.code.pred, self.code.w32, self.code.w64];
            let files = [File::Pred, File::W32, File::W64].into_iter().zip(before.into_iter().zip(after));
            let registers =
                files.flat_map(|(file, (from, to))| (from..to).map(move |slot| Reg { file, slot }));
            let registers = registers.collect();
            self.scopes = outside;
            let bytes =
                align_up(self.frame.take().unwrap_or(0), FRAME_ALIGN).ok_or_else(|| self.too_large())?;
            let address = self.code_address(&function.name).unwrap_or(0);
            let name = function.name.clone();
            self.code.functions.push(Function {
                name,
                entry: label,
                address,
                bytes,
                results,
                params,
                registers,
            });
        }
        self.place = place;
        self.lines = Default::default();
        Ok(())
    }

    /// Places results or parameters in the frame, and returns the offset and the size of each.
    fn formal(&mut self, scope: &mut Scope, variables: &[ptx::Variable]) -> Result<Vec<(u64, u64)>, Error> {
        let mut places = Vec::with_capacity(variables.len());
        for variable in variables {
            self.at_variable(variable);
            let (bytes, align) = self.extent(variable)?;
            let at = self.in_frame(bytes, align)?;
            scope.declare(variable.name.clone(), Named::Stack(at, bytes));
            places.push((at, bytes));
        }
        Ok(places)
    }

    /// The offset of a new place in the frame of the function that is being decoded.
    pub(super) fn in_frame(&mut self, bytes: u64, align: u64) -> Result<u64, Error> {
        let at = align_up(self.frame.unwrap_or(0), align).filter(|_| align <= FRAME_ALIGN);
        let end = at.and_then(|at| at.checked_add(bytes)).filter(|&end| end <= STACK);
        self.frame = Some(end.ok_or_else(|| {
            self.unsupported("variables of over 8 KiB, or aligned to over 16 bytes, of a function that is called by its address or by itself")
        })?);
        Ok(at.unwrap_or(0))
    }

    /// The address of a function or a kernel.
    pub(super) fn code_address(&self, name: &str) -> Option<u64> {
        let number = self.code_names.iter().position(|other| ***other == *name)?;
        Some(CODE_WINDOW + 16 * (number as u64 + 1))
    }

    /// Emits a call of a function that has a stack frame.
    pub(super) fn invoke(
        &mut self,
        target: Target,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<(), Error> {
        let places = |operands: &[Operand]| -> Result<Vec<_>, Error> {
            let place = |(i, operand): (usize, &Operand)| {
                let local = match operand {
                    Operand::Name(name) => self.local_place(name),
                    _ => None,
                };
                local.ok_or_else(|| self.operand(operands, i, "a `.param` variable of the block"))
            };
            operands.iter().enumerate().map(place).collect()
        };
        let (results, arguments) = (places(results)?, places(arguments)?);
        if let Target::Function(number) = target {
            let function = self.outlined[number as usize].function;
            for (formal, given, what) in
                [(&function.results, &results, "results"), (&function.params, &arguments, "arguments")]
            {
                let fits = |(variable, (_, bytes)): (&ptx::Variable, &(_, u64))| {
                    size(variable).is_some_and(|(needs, _)| needs <= *bytes)
                };
                if formal.len() != given.len() || !formal.iter().zip(given).all(fits) {
                    let listed: Vec<String> = formal.iter().map(ToString::to_string).collect();
                    let what =
                        format!("{what} that do not fit those of `{}`: {}", function.name, listed.join(", "));
                    return Err(self.unsupported(&what));
                }
            }
        }
        self.emit(Op::Invoke(Box::new(Invoke { target, results, arguments })));
        Ok(())
    }

    /// Bytes of local memory, with the stack if there is one; `None` if 64 bits do not count the bytes.
    pub(super) fn with_stack(&mut self) -> Option<u64> {
        let Some(registers) = self.code.stack else { return Some(self.local) };
        let base = align_up(self.local, FRAME_ALIGN)?;
        for reg in registers {
            self.code.constants.push((reg, base));
        }
        let fixed = |reg: &Reg| {
            let specials = self.code.specials.iter().map(|(reg, _)| reg);
            let addresses = self.code.shared_addresses.iter().map(|(reg, _)| reg);
            self.code
                .constants
                .iter()
                .map(|(reg, _)| reg)
                .chain(specials)
                .chain(addresses)
                .any(|other| other == reg)
        };
        let kept: Vec<Vec<Reg>> = (self.code.functions.iter())
            .map(|function| function.registers.iter().copied().filter(|reg| !fixed(reg)).collect())
            .collect();
        for (function, registers) in self.code.functions.iter_mut().zip(kept) {
            function.registers = registers;
        }
        base.checked_add(STACK)
    }
}
