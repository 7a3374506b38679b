//! Computes expressions into registers.

mod plan;

use std::panic::Location;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};

use super::{Builder, Reg, address};
use crate::Error;
use crate::expr::{Atom, Expr, Term};
use plan::{Plan, Write};

/// The width of the register that an expression is computed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// A 32-bit register.
    W32,
    /// A 64-bit register.
    W64,
}

impl Width {
    fn of(range: (i64, i64)) -> Width {
        if range.0 >= i64::from(i32::MIN) && range.1 <= i64::from(i32::MAX) { Width::W32 } else { Width::W64 }
    }

    fn signed(self) -> Type {
        if self == Width::W32 { Type::S32 } else { Type::S64 }
    }

    fn unsigned(self) -> Type {
        if self == Width::W32 { Type::U32 } else { Type::U64 }
    }

    /// An immediate of this width: in 32 bits the value modulo 2^32.
    fn immediate(self, value: i64) -> Operand {
        Operand::Int(if self == Width::W32 { i64::from(value as i32) } else { value })
    }

    fn bits(self) -> Type {
        if self == Width::W32 { Type::B32 } else { Type::B64 }
    }
}

/// A value that is being computed.
struct Work {
    value: (Expr, Width),
    /// The depth of the scope that it is computed in.
    depth: usize,
    plan: Plan,
    /// The registers of the first operands.
    regs: Vec<Reg>,
}

fn power_of_two(value: i64) -> Option<i64> {
    (value > 0 && value & (value - 1) == 0).then(|| i64::from(value.trailing_zeros()))
}

impl Builder {
    /// The register that holds `expr`, computed in the outermost scope that has its operands.
    ///
    /// # Errors
    /// [`Error::UnboundSymbol`] if a layout's symbol has no parameter, [`Error::OutOfScope`] if a register belongs to
    /// a loop or a condition that has ended, [`Error::Stale`] if a register has been written since the expression was made.
    #[track_caller]
    pub fn value(&mut self, expr: &Expr, width: Width) -> Result<Reg, Error> {
        self.told()?;
        self.on_behalf(Location::caller(), |b| b.materialised(expr, width))
    }

    /// Computes an expression from its operands, theirs first. What is in work is a list, since it may be longer than the stack.
    fn materialised(&mut self, expr: &Expr, width: Width) -> Result<Reg, Error> {
        let mut work: Vec<Work> = Vec::new();
        let mut next = (expr.clone(), width);
        loop {
            let depth = self.scope_of(&next.0)?;
            let mut reg = self.known(&next, depth);
            if reg.is_none() {
                let plan = self.plan(&next.0, next.1, depth)?;
                work.push(Work { value: next, depth, plan, regs: Vec::new() });
            }
            // Registers complete what waits for them, up to a value that needs another operand.
            next = loop {
                let Some(mut last) = work.pop() else {
                    return reg.ok_or_else(|| Error::Beyond { expr: expr.to_string() });
                };
                last.regs.extend(reg.take());
                if let Some(operand) = last.plan.operands.get(last.regs.len()).cloned() {
                    work.push(last);
                    break operand;
                }
                let written = self.write(&last)?;
                self.keep(&written);
                self.scopes[last.depth].values.insert(last.value, written.clone());
                reg = Some(written);
            };
        }
    }

    /// The register that has the value already.
    fn known(&mut self, value: &(Expr, Width), depth: usize) -> Option<Reg> {
        let reg = self.scopes[depth].values.get(value)?.clone();
        // The register of a variable may be written later; a computed register may not.
        if let [Term { atoms, .. }] = value.0.terms()
            && let [Atom::Var { id, .. }] = atoms[..]
            && self.vars[id.index as usize].reg.name == reg.name
        {
            self.vars[id.index as usize].used = self.tick();
        }
        Some(reg)
    }

    /// An operand for `expr`: an immediate where it is constant.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn operand(&mut self, expr: &Expr, width: Width) -> Result<Operand, Error> {
        match expr.as_constant() {
            Some(value) => Ok(width.immediate(value)),
            None => Ok(Operand::from(&self.value(expr, width)?)),
        }
    }

    /// `[register+immediate]` for the address `expr` in bytes; `width` is 64 bits for global memory, 32 for shared.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn address(&mut self, expr: &Expr, width: Width) -> Result<Operand, Error> {
        let offset = expr.constant();
        if i32::try_from(offset).is_err() {
            return Ok(address(&self.value(expr, width)?, 0));
        }
        // A register of 32 bits does not hold less than 0, as where elements are numbered from the end.
        let below = if width == Width::W32 { (-expr.variable_part().range().0).max(0) } else { 0 };
        let register = &expr.variable_part() + below;
        Ok(address(&self.value(&register, width)?, offset - below))
    }

    /// `a / by` for numbers that are known when the kernel runs, where `a` fits 31 bits. The caller claims that the quotient is at most
    /// `upper`, which the simulator checks.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn divide(&mut self, a: &Expr, by: &Expr, upper: i64) -> Result<Expr, Error> {
        let a = self.operand(a, Width::W32)?;
        let by = self.operand(by, Width::W32)?;
        let quotient = self.reg(Type::U32);
        self.inst(Opcode::Div, &[Type::U32.into()], vec![Operand::from(&quotient), a, by]);
        Ok(self.var(&quotient, 0, upper.max(0), 1))
    }

    /// `expr` as a variable of its own, which the caller claims to be in `0..=upper` although the terms of `expr` do not show
    /// this. The simulator checks the claim.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn bounded(&mut self, expr: &Expr, upper: i64) -> Result<Expr, Error> {
        let reg = self.value(expr, Width::W32)?;
        Ok(self.var(&reg, 0, upper.max(0), 1))
    }

    /// The expression as a variable of its own, with the facts of `expr`, in the outermost scope that has its operands. Expressions over the
    /// variable add to it as a whole, where otherwise their terms would be added in another order.
    ///
    /// # Errors
    /// As [`Builder::value`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Width};
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 80, 64);
    /// let thread = b.special(Special::TidX);
    /// let row = b.hold_index(&(&thread * 12), Width::W32)?;
    /// assert_eq!((row.range(), row.multiple()), ((0, 63 * 12), 12));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn hold_index(&mut self, expr: &Expr, width: Width) -> Result<Expr, Error> {
        if expr.as_constant().is_some() {
            return Ok(expr.clone());
        }
        let depth = self.scope_of(expr)?;
        let reg = self.value(expr, width)?;
        let (lower, upper) = expr.range();
        Ok(self.var_at(&reg, depth, lower, upper, expr.multiple()))
    }

    #[track_caller]
    pub(super) fn emit(
        &mut self,
        depth: usize,
        opcode: Opcode,
        modifiers: &[Modifier],
        ty: Type,
        inputs: Vec<Operand>,
    ) -> Reg {
        let reg = self.reg(ty);
        let mut operands = vec![Operand::from(&reg)];
        operands.extend(inputs);
        self.inst_at(depth, opcode, modifiers, operands);
        reg
    }

    /// Writes the instructions of a value whose operands are in registers.
    fn write(&mut self, work: &Work) -> Result<Reg, Error> {
        let Work { value: (_, width), depth, plan, regs } = work;
        let (width, depth) = (*width, *depth);
        let operand = |i: usize| regs.get(i).map_or(Operand::Int(0), Operand::from);
        let mul = |word: Word, ty: Type| [word.into(), ty.into()];
        let (signed, bits) = (width.signed(), width.bits());
        Ok(match &plan.write {
            Write::Constant(value) => {
                self.emit(depth, Opcode::Mov, &[bits.into()], bits, vec![width.immediate(*value)])
            }
            Write::AddConstant(value) => self.add(depth, width, operand(0), width.immediate(*value)),
            Write::Add => self.add(depth, width, operand(0), operand(1)),
            Write::AddWidened => {
                let narrow = self.widen(depth, operand(1), false);
                self.add(depth, width, operand(0), Operand::from(&narrow))
            }
            Write::Widened { unsigned } => self.widen(depth, operand(0), *unsigned),
            Write::Mul => {
                let operands = vec![operand(0), operand(1)];
                self.emit(depth, Opcode::Mul, &mul(Word::Lo, signed), signed, operands)
            }
            Write::MulWide => {
                let operands = vec![operand(0), operand(1)];
                self.emit(depth, Opcode::Mul, &mul(Word::Wide, Type::S32), Type::S64, operands)
            }
            Write::ScaleWide(by) => {
                let operands = vec![operand(0), Operand::Int(*by)];
                self.emit(depth, Opcode::Mul, &mul(Word::Wide, Type::S32), Type::S64, operands)
            }
            Write::Scale(by) => self.scale(depth, width, operand(0), *by),
            Write::Atom(atom, own) => {
                let reg = self.atom_own(atom, *own, depth, regs)?;
                if *own == Width::W64 && width == Width::W32 {
                    let modifiers = [Type::U32.into(), Type::U64.into()];
                    self.emit(depth, Opcode::Cvt, &modifiers, Type::U32, vec![Operand::from(&reg)])
                } else {
                    reg
                }
            }
        })
    }

    fn add(&mut self, depth: usize, width: Width, a: Operand, b: Operand) -> Reg {
        let ty = width.signed();
        self.emit(depth, Opcode::Add, &[ty.into()], ty, vec![a, b])
    }

    /// 32 bits as 64; `unsigned` where the range of the value needs the 32nd bit.
    fn widen(&mut self, depth: usize, narrow: Operand, unsigned: bool) -> Reg {
        let [to, from] = if unsigned { [Type::U64, Type::U32] } else { [Type::S64, Type::S32] };
        self.emit(depth, Opcode::Cvt, &[to.into(), from.into()], to, vec![narrow])
    }

    fn scale(&mut self, depth: usize, width: Width, value: Operand, by: i64) -> Reg {
        if let Some(shift) = power_of_two(by) {
            let ty = width.bits();
            return self.emit(depth, Opcode::Shl, &[ty.into()], ty, vec![value, Operand::Int(shift)]);
        }
        let ty = width.signed();
        let inputs = vec![value, width.immediate(by)];
        self.emit(depth, Opcode::Mul, &[Word::Lo.into(), ty.into()], ty, inputs)
    }

    /// Writes an atom whose operands are in registers, except for a constant one.
    fn atom_own(&mut self, atom: &Atom, width: Width, depth: usize, regs: &[Reg]) -> Result<Reg, Error> {
        let (unsigned, bits) = (width.unsigned(), width.bits());
        let operand = |i: usize| regs.get(i).map_or(Operand::Int(0), Operand::from);
        let (opcode, ty, second) = match atom {
            Atom::Var { id, .. } => {
                let now = self.tick();
                let var = &mut self.vars[id.index as usize];
                var.used = now;
                return Ok(var.reg.clone());
            }
            Atom::Symbol { id, den, .. } => {
                let Some((symbol, Some(reg))) = self.symbols.get(id).cloned() else {
                    return Err(Error::UnboundSymbol { symbol: *id });
                };
                if *atom != Atom::symbol(symbol, *den) {
                    let (expr, known) = (format!("{atom} in {:?}", atom.range()), symbol.to_string());
                    return Err(Error::OtherSymbol { expr, known });
                }
                if *den == 1 {
                    return Ok(reg);
                }
                let mut s = Operand::from(&reg);
                if width == Width::W64 {
                    s = Operand::from(&self.widen(depth, s, true));
                }
                let sum = self.add(depth, width, s, Operand::Int(den - 1));
                return Ok(self.divide_by(depth, width, Operand::from(&sum), *den));
            }
            Atom::Refused(error) => return Err((**error).clone()),
            Atom::Div(_, c) => return Ok(self.divide_by(depth, width, operand(0), *c)),
            Atom::Rem(_, c) if power_of_two(*c).is_some() => (Opcode::And, bits, Operand::Int(c - 1)),
            Atom::Rem(_, c) => (Opcode::Rem, unsigned, Operand::Int(*c)),
            Atom::And(_, mask) => (Opcode::And, bits, Operand::Int(*mask)),
            Atom::Xor(a, b) => (Opcode::Xor, bits, second(a, b, width, regs)),
            Atom::Min(a, b) => (Opcode::Min, width.signed(), second(a, b, width, regs)),
            Atom::Max(a, b) => (Opcode::Max, width.signed(), second(a, b, width, regs)),
        };
        Ok(self.emit(depth, opcode, &[ty.into()], ty, vec![operand(0), second]))
    }

    fn divide_by(&mut self, depth: usize, width: Width, x: Operand, by: i64) -> Reg {
        let ty = width.unsigned();
        match power_of_two(by) {
            Some(shift) => self.emit(depth, Opcode::Shr, &[ty.into()], ty, vec![x, Operand::Int(shift)]),
            None => self.emit(depth, Opcode::Div, &[ty.into()], ty, vec![x, Operand::Int(by)]),
        }
    }
}

/// The second operand of an operation on `a` and `b`: a register, or the constant one of the two.
fn second(a: &Expr, b: &Expr, width: Width, regs: &[Reg]) -> Operand {
    let constant = a.as_constant().or(b.as_constant()).map(|value| width.immediate(value));
    regs.get(1).map(Operand::from).or(constant).unwrap_or(Operand::Int(0))
}
