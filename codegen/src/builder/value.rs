//! Computes expressions into registers.

use std::panic::Location;
use std::rc::Rc;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};

use super::{Builder, CLOSED, Reg, Var, address};
use crate::Error;
use crate::expr::{Atom, Expr, Term};

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

/// The depth of a register that has been written since; deeper than any scope but a closed one.
const STALE: usize = CLOSED - 1;
/// The depth of an expression over registers that belong to another builder, greater than all other depths.
const FOREIGN: usize = CLOSED + 1;

/// A value that is being computed.
struct Work {
    value: (Expr, Width),
    /// The depth of the scope that it is computed in.
    depth: usize,
    plan: Plan,
    /// The registers of the first operands.
    regs: Vec<Reg>,
}

/// How a value is computed.
struct Plan {
    operands: Vec<(Expr, Width)>,
    write: Write,
}

impl Plan {
    fn of<const N: usize>(operands: [(Expr, Width); N], write: Write) -> Plan {
        Plan { operands: operands.into(), write }
    }
}

/// The instructions of a value whose operands are in registers.
enum Write {
    Constant(i64),
    AddConstant(i64),
    Add,
    /// The sum of 64 bits and of 32 bits.
    AddWidened,
    Widened {
        unsigned: bool,
    },
    Mul,
    /// The product in 64 bits of two values of 32 bits.
    MulWide,
    Scale(i64),
    /// The multiple in 64 bits of a value of 32 bits.
    ScaleWide(i64),
    /// An atom, computed in a width of its own.
    Atom(Atom, Width),
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

    /// The outermost scope that has the expression's registers.
    pub(super) fn scope_of(&self, expr: &Expr) -> Result<usize, Error> {
        if let Some(error) = expr.refusal() {
            return Err(error.clone());
        }
        let depth = self.expr_depth(expr);
        if depth == FOREIGN {
            return Err(Error::OtherBuilder { kernel: self.name.to_string() });
        }
        if depth == STALE {
            return Err(Error::Stale { expr: expr.to_string() });
        }
        if depth > self.depth() {
            return Err(Error::OutOfScope { expr: expr.to_string() });
        }
        Ok(depth)
    }

    /// The depth of the outermost scope that has the expression's registers. What is found of operands is kept until a register is
    /// written or a scope ends.
    pub(super) fn expr_depth(&self, expr: &Expr) -> usize {
        if let Some(depth) = self.known_depth(expr) {
            return depth;
        }
        let mut open = vec![expr];
        while let Some(&last) = open.last() {
            let before = open.len();
            open.extend(last.operands().filter(|operand| self.known_depth(operand).is_none()));
            if open.len() == before {
                open.pop();
                if self.known_depth(last).is_none() {
                    let depth = self.terms_depth(last);
                    self.depths.borrow_mut().insert(last.id(), depth);
                }
            }
        }
        self.known_depth(expr).unwrap_or(FOREIGN)
    }

    fn known_depth(&self, expr: &Expr) -> Option<usize> {
        if expr.is_flat() {
            Some(self.terms_depth(expr))
        } else {
            self.depths.borrow().get(&expr.id()).copied()
        }
    }

    fn terms_depth(&self, expr: &Expr) -> usize {
        expr.terms().iter().map(|t| self.term_depth(t)).max().unwrap_or(0)
    }

    fn term_depth(&self, term: &Term) -> usize {
        term.atoms.iter().map(|a| self.atom_depth(a)).max().unwrap_or(0)
    }

    fn atom_depth(&self, atom: &Atom) -> usize {
        match atom {
            Atom::Var { id, .. } if id.home != self.id => FOREIGN,
            Atom::Var { id, .. } => match &self.vars[id.index as usize] {
                Var { stale: true, depth, .. } if *depth != CLOSED => STALE,
                var => var.depth,
            },
            Atom::Symbol { .. } | Atom::Refused(_) => 0,
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => self.expr_depth(x),
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => self.expr_depth(a).max(self.expr_depth(b)),
        }
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

    /// Sums the terms from the outermost scope inwards, each prefix in the scope that has its registers.
    fn plan(&self, expr: &Expr, width: Width, depth: usize) -> Result<Plan, Error> {
        let terms = expr.terms();
        if terms.is_empty() {
            return Ok(Plan::of([], Write::Constant(expr.constant())));
        }
        if expr.constant() != 0 {
            let variable = (expr.variable_part(), width);
            return Ok(Plan::of([variable], Write::AddConstant(expr.constant())));
        }
        if let [term] = terms {
            return self.term(term, width);
        }
        let (outer, inner): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|t| self.term_depth(t) < depth);
        if !outer.is_empty() {
            let parts = [outer, inner].map(|part| (Expr::from_terms(&part, 0), width));
            return Ok(Plan::of(parts, Write::Add));
        }
        if width == Width::W64 {
            // Terms that fit 32 bits are added in 32 bits, and their sum is widened once.
            let narrow: Vec<&Term> = terms.iter().filter(|t| Width::of(t.range()) == Width::W32).collect();
            let sum = Expr::from_terms(&narrow, 0);
            let fits = Width::of(sum.range()) == Width::W32;
            if narrow.len() > 1 && narrow.len() < terms.len() && fits {
                let wide: Vec<&Term> = terms.iter().filter(|t| Width::of(t.range()) == Width::W64).collect();
                let parts = [(Expr::from_terms(&wide, 0), width), (sum, Width::W32)];
                return Ok(Plan::of(parts, Write::AddWidened));
            }
            if narrow.len() == terms.len() && fits {
                return Ok(Plan::of([(sum, Width::W32)], Write::Widened { unsigned: false }));
            }
        }
        let (prefix, last) = terms.split_at(terms.len() - 1);
        let parts = [prefix, last].map(|part| (Expr::from_terms(&part.iter().collect::<Vec<_>>(), 0), width));
        Ok(Plan::of(parts, Write::Add))
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

    /// `coefficient * atoms`, the outermost atoms multiplied first.
    fn term(&self, term: &Term, width: Width) -> Result<Plan, Error> {
        let narrow = |t: &Term| Width::of(t.range()) == Width::W32;
        let value = |t: &Term, width: Width| (Expr::from_terms(&[t], 0), width);
        if term.coefficient != 1 {
            let product = Term { atoms: term.atoms.clone(), coefficient: 1 };
            if width == Width::W64
                && narrow(&product)
                && !narrow(term)
                && i32::try_from(term.coefficient).is_ok()
            {
                return Ok(Plan::of([value(&product, Width::W32)], Write::ScaleWide(term.coefficient)));
            }
            if width == Width::W64 && narrow(term) {
                return Ok(Plan::of([value(term, Width::W32)], Write::Widened { unsigned: false }));
            }
            return Ok(Plan::of([value(&product, width)], Write::Scale(term.coefficient)));
        }
        let mut atoms = term.atoms.to_vec();
        atoms.sort_by_key(|a| self.atom_depth(a));
        let Some(last) = atoms.pop() else { return Ok(Plan::of([], Write::Constant(1))) };
        if atoms.is_empty() {
            return self.atom(last, width);
        }
        let parts = [atoms.into(), [last].into()].map(|atoms: Rc<[Atom]>| Term { atoms, coefficient: 1 });
        if width == Width::W64 && parts.iter().all(narrow) {
            return Ok(Plan::of(parts.map(|part| value(&part, Width::W32)), Write::MulWide));
        }
        Ok(Plan::of(parts.map(|part| value(&part, width)), Write::Mul))
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

    fn atom(&self, atom: Atom, width: Width) -> Result<Plan, Error> {
        let of_two = |a: &Expr, b: &Expr| {
            if Width::of(a.range()) == Width::W32 { Width::of(b.range()) } else { Width::W64 }
        };
        let own = match &atom {
            Atom::Var { id, .. } => match self.vars[id.index as usize].reg.ty.bytes() {
                Some(8) => Width::W64,
                _ => Width::W32,
            },
            Atom::Symbol { den: 1, .. } => Width::W32,
            // ceil(s/den) = (s + den - 1) / den, and the register has to hold the sum.
            Atom::Symbol { den, upper, .. } => Width::of((0, upper.saturating_mul(*den))),
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => Width::of(x.range()),
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => of_two(a, b),
            Atom::Refused(error) => return Err((**error).clone()),
        };
        if own == Width::W32 && width == Width::W64 {
            let unsigned = Width::of(atom.range()) == Width::W64;
            return Ok(Plan::of([(Expr::atom(atom), own)], Write::Widened { unsigned }));
        }
        let mut operands: Vec<(Expr, Width)> = atom.operands().map(|x| (x.clone(), own)).collect();
        if let [a, b] = &mut operands[..] {
            [&*a, &*b].into_iter().try_for_each(|(e, _)| e.check_fits("a comparison"))?;
            // A constant is the second operand, as an immediate.
            if a.0.as_constant().is_some() {
                std::mem::swap(a, b);
            }
            if b.0.as_constant().is_some() {
                operands.truncate(1);
            }
        }
        Ok(Plan { operands, write: Write::Atom(atom, own) })
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
