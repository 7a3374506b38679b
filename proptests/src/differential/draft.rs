//! Making a program: registers, inputs, and the step that is being written.

use girih_ptx::forms::{Filled, Form};
use girih_ptx::{Function, Inst, Name, Opcode, Operand, RegDecl, Span, Statement, Type};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::agree::Agree;
use super::syntax::{inst, modifiers};
use super::value::{Class, Flavour, Value};
use super::{Input, LANES, Reach, Step};

/// A form of an instruction with its modifiers.
pub(super) type Card = (&'static Form, Filled);

/// A program that is being made.
pub(super) struct Draft<'a> {
    pub(super) rng: StdRng,
    /// Instructions from 32-bit registers to a 32-bit register, for the bodies of branches and functions.
    pub(super) words: &'a [Card],
    pub(super) inputs: Vec<Input>,
    pub(super) steps: Vec<Step>,
    /// Of each input; none for those that are not to be read again.
    flavours: Vec<Option<Flavour>>,
    /// Results that are the same on every machine.
    results: Vec<Value>,
    /// In a function: nothing but its parameters can be read.
    pub(super) closed: Option<Vec<Value>>,
    registers: [u32; 4],
    labels: u32,
    /// Registers of 128 bits that the next instruction writes.
    wide: Vec<Operand>,
    // the step
    statements: Vec<Statement>,
    functions: Vec<Function>,
    reads: Vec<Value>,
    writes: Vec<(Value, Agree)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(seed: u64, words: &'a [Card]) -> Draft<'a> {
        Draft {
            rng: StdRng::seed_from_u64(seed),
            words,
            inputs: Vec::new(),
            steps: Vec::new(),
            flavours: Vec::new(),
            results: Vec::new(),
            closed: None,
            registers: [0; 4],
            labels: 0,
            wide: Vec::new(),
            statements: Vec::new(),
            functions: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// One in `n`?
    pub(super) fn chance(&mut self, n: u32) -> bool {
        self.rng.random_range(0..n) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())].clone()
    }

    pub(super) fn label(&mut self) -> Name {
        self.labels += 1;
        format!("L{}", self.labels).into()
    }

    /// A register that nothing has written.
    pub(super) fn register(&mut self, class: Class, ty: Type) -> Value {
        let number = &mut self.registers[class as usize];
        *number += 1;
        Value { name: format!("{}{number}", class.prefix()).into(), class, ty }
    }

    pub(super) fn push(&mut self, statement: impl Into<Statement>) {
        self.statements.push(statement.into());
    }

    pub(super) fn inst(&mut self, inst: Inst) {
        self.statements.push(Statement::Inst(inst));
    }

    /// A register of 128 bits.
    fn wide_register(&mut self) -> Operand {
        self.labels += 1;
        let name: Name = format!("%q{}", self.labels).into();
        let declared = RegDecl { ty: Type::B128, names: vec![(name.clone(), None)], span: Span::default() };
        self.push(Statement::Reg(declared));
        Operand::Name(name)
    }

    /// A register of 128 bits with these halves.
    pub(super) fn packed(&mut self, halves: [Operand; 2]) -> Operand {
        let wide = self.wide_register();
        let halves = Operand::Vector(halves.into());
        self.inst(inst(Opcode::Mov, modifiers![Type::B128], vec![wide.clone(), halves]));
        wide
    }

    /// A register of 128 bits that the next instruction writes.
    pub(super) fn wide_result(&mut self) -> Operand {
        let wide = self.wide_register();
        self.wide.push(wide.clone());
        wide
    }

    pub(super) fn writes_wide(&self) -> bool {
        !self.wide.is_empty()
    }

    /// The instruction that has these operands; the halves of the wide registers that it writes are results.
    pub(super) fn inst_with_halves(&mut self, instruction: Inst) {
        self.inst(instruction);
        for wide in std::mem::take(&mut self.wide) {
            let halves = [(); 2].map(|()| self.result(Class::B64, Type::B64, Agree::Bits).operand());
            let operands = vec![Operand::Vector(halves.into()), wide];
            self.inst(inst(Opcode::Mov, modifiers![Type::B128], operands));
        }
    }

    pub(super) fn function(&mut self, function: Function) {
        self.functions.push(function);
    }

    /// The statements written since, to go elsewhere.
    pub(super) fn aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (Vec<Statement>, T) {
        let before = std::mem::take(&mut self.statements);
        let result = write(self);
        (std::mem::replace(&mut self.statements, before), result)
    }

    /// Tells the step that it reads this.
    pub(super) fn reads(&mut self, value: &Value) {
        if self.closed.is_none() && !self.reads.contains(value) {
            self.reads.push(value.clone());
        }
    }

    /// An input of this flavour: one that there is already, or another.
    pub(super) fn input(&mut self, class: Class, flavour: Flavour) -> Value {
        let same: Vec<usize> = (0..self.inputs.len())
            .filter(|&i| self.flavours[i] == Some(flavour) && self.inputs[i].value.class == class)
            .collect();
        if same.len() > 6 || !same.is_empty() && self.chance(3) {
            let chosen = self.pick(&same);
            let value = self.inputs[chosen].value.clone();
            self.reads(&value);
            return value;
        }
        let value = self.own_input(class, flavour);
        if let Some(last) = self.flavours.last_mut() {
            *last = Some(flavour);
        }
        value
    }

    /// An input of this flavour that nothing else reads.
    pub(super) fn own_input(&mut self, class: Class, flavour: Flavour) -> Value {
        let ty = if let Flavour::Of(ty) = flavour { ty } else { class.ty() };
        let value = self.register(class, ty);
        let lanes = (0..LANES).map(|_| flavour.draw(&mut self.rng) & class.mask()).collect();
        self.inputs.push(Input { value: value.clone(), lanes });
        self.flavours.push(None);
        self.reads(&value);
        value
    }

    /// A value to read as `ty` from a register of this class.
    pub(super) fn source(&mut self, class: Class, ty: Type) -> Value {
        let results = self.closed.as_ref().unwrap_or(&self.results);
        let mut fitting: Vec<&Value> = results.iter().filter(|value| value.class == class).collect();
        // Those that were made as this type are more telling than other bits, but not always.
        if fitting.iter().any(|value| value.ty == ty) && self.rng.random_range(0..5) > 0 {
            fitting.retain(|value| value.ty == ty);
        }
        let fitting: Vec<Value> = fitting.into_iter().cloned().collect();
        if !fitting.is_empty() && (self.closed.is_some() || self.chance(2)) {
            let value = self.pick(&fitting);
            self.reads(&value);
            return value;
        }
        let flavour = if self.chance(8) { Flavour::Of(class.ty()) } else { Flavour::Of(ty) };
        self.input(class, flavour)
    }

    /// A source's operand.
    pub(super) fn read(&mut self, class: Class, ty: Type) -> Operand {
        self.source(class, ty).operand()
    }

    /// Tells the step that it writes this, for the host to see.
    pub(super) fn writes(&mut self, value: &Value, agree: Agree) {
        if self.closed.is_none() {
            self.writes.push((value.clone(), agree));
        }
    }

    /// A new register that the step writes.
    pub(super) fn result(&mut self, class: Class, ty: Type, agree: Agree) -> Value {
        let value = self.register(class, ty);
        self.writes(&value, agree);
        value
    }

    /// Whether a result of the step is in a register that is wider than its type.
    pub(super) fn widened(&self) -> bool {
        self.writes.iter().any(|(value, _)| value.ty.bits() < value.class.ty().bits())
    }

    /// What the step has written so far, taken from it.
    pub(super) fn take_writes(&mut self) -> Vec<(Value, Agree)> {
        std::mem::take(&mut self.writes)
    }

    /// Ends the step. Its results can be read by later ones if `chained` and if they are the same on every machine.
    pub(super) fn step(&mut self, instruction: String, reach: Reach, chained: bool) {
        let writes = std::mem::take(&mut self.writes);
        if chained {
            let exact = writes.iter().filter(|(_, agree)| *agree == Agree::Bits);
            self.results.extend(exact.map(|(value, _)| value.clone()));
        }
        self.steps.push(Step {
            instruction,
            reach,
            statements: std::mem::take(&mut self.statements),
            functions: std::mem::take(&mut self.functions),
            reads: std::mem::take(&mut self.reads),
            writes,
        });
    }

    /// Forgets what was written of a step.
    pub(super) fn abandon(&mut self) {
        self.wide.clear();
        self.statements.clear();
        self.functions.clear();
        self.reads.clear();
        self.writes.clear();
    }
}
