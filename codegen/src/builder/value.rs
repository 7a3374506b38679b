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
/// The depth of an expression over registers of another builder, greater than all other depths.
const FOREIGN: usize = CLOSED + 1;

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

    fn materialised(&mut self, expr: &Expr, width: Width) -> Result<Reg, Error> {
        let depth = self.scope_of(expr)?;
        let key = (expr.clone(), width);
        if let Some(reg) = self.scopes[depth].values.get(&key) {
            let reg = reg.clone();
            // The register of a variable may be written later; a computed register may not.
            if let [Term { atoms, .. }] = expr.terms()
                && let [Atom::Var { id, .. }] = atoms[..]
                && self.vars[id.index as usize].reg.name == reg.name
            {
                self.vars[id.index as usize].used = self.tick();
            }
            return Ok(reg);
        }
        let reg = self.sum(expr, width, depth)?;
        self.keep(&reg);
        self.scopes[depth].values.insert(key, reg.clone());
        Ok(reg)
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

    /// `expr` as a variable of its own, which the caller claims to lie in `0..=upper` although the terms of `expr` do not show
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
        if expr.is_beyond() {
            return Err(Error::Beyond { expr: expr.to_string() });
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

    pub(super) fn expr_depth(&self, expr: &Expr) -> usize {
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
            Atom::Symbol { .. } | Atom::Beyond(_) => 0,
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
    fn sum(&mut self, expr: &Expr, width: Width, depth: usize) -> Result<Reg, Error> {
        let terms = expr.terms();
        if terms.is_empty() {
            let ty = width.bits();
            return Ok(self.emit(
                depth,
                Opcode::Mov,
                &[ty.into()],
                ty,
                vec![width.immediate(expr.constant())],
            ));
        }
        if expr.constant() != 0 {
            let variable = self.value(&expr.variable_part(), width)?;
            return Ok(self.add(depth, width, &variable, width.immediate(expr.constant())));
        }
        if let [term] = terms {
            return self.term(term, width, depth);
        }
        let (outer, inner): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|t| self.term_depth(t) < depth);
        if !outer.is_empty() {
            let outer = self.value(&Expr::from_terms(&outer, 0), width)?;
            let inner = self.value(&Expr::from_terms(&inner, 0), width)?;
            return Ok(self.add(depth, width, &outer, Operand::from(&inner)));
        }
        if width == Width::W64 {
            // Terms that fit 32 bits are added in 32 bits, and their sum is widened once.
            let narrow: Vec<&Term> = terms.iter().filter(|t| Width::of(t.range()) == Width::W32).collect();
            let sum = Expr::from_terms(&narrow, 0);
            if narrow.len() > 1 && narrow.len() < terms.len() && Width::of(sum.range()) == Width::W32 {
                let wide: Vec<&Term> = terms.iter().filter(|t| Width::of(t.range()) == Width::W64).collect();
                let wide = self.value(&Expr::from_terms(&wide, 0), width)?;
                let narrow = self.value(&sum, Width::W32)?;
                let narrow = self.widen(depth, &narrow);
                return Ok(self.add(depth, width, &wide, Operand::from(&narrow)));
            }
            if narrow.len() == terms.len() && Width::of(sum.range()) == Width::W32 {
                let narrow = self.value(&sum, Width::W32)?;
                return Ok(self.widen(depth, &narrow));
            }
        }
        let (prefix, last) = terms.split_at(terms.len() - 1);
        let sum = self.value(&Expr::from_terms(&prefix.iter().collect::<Vec<_>>(), 0), width)?;
        let next = self.value(&Expr::from_terms(&last.iter().collect::<Vec<_>>(), 0), width)?;
        Ok(self.add(depth, width, &sum, Operand::from(&next)))
    }

    fn add(&mut self, depth: usize, width: Width, a: &Reg, b: Operand) -> Reg {
        let ty = width.signed();
        self.emit(depth, Opcode::Add, &[ty.into()], ty, vec![Operand::from(a), b])
    }

    fn widen(&mut self, depth: usize, reg: &Reg) -> Reg {
        let modifiers = [Type::S64.into(), Type::S32.into()];
        self.emit(depth, Opcode::Cvt, &modifiers, Type::S64, vec![Operand::from(reg)])
    }

    /// As [`Builder::widen`], for a register whose range needs its 32nd bit.
    fn widen_unsigned(&mut self, depth: usize, reg: &Reg) -> Reg {
        let modifiers = [Type::U64.into(), Type::U32.into()];
        self.emit(depth, Opcode::Cvt, &modifiers, Type::U64, vec![Operand::from(reg)])
    }

    /// `coefficient * atoms`, the outermost atoms multiplied first.
    fn term(&mut self, term: &Term, width: Width, depth: usize) -> Result<Reg, Error> {
        if term.coefficient != 1 {
            let product = Term { atoms: term.atoms.clone(), coefficient: 1 };
            let narrow = Width::of(product.range());
            if width == Width::W64 && narrow == Width::W32 && Width::of(term.range()) == Width::W64 {
                let product = self.value(&Expr::from_terms(&[&product], 0), Width::W32)?;
                let inputs = vec![Operand::from(&product), Operand::Int(term.coefficient)];
                if i32::try_from(term.coefficient).is_ok() {
                    let modifiers = [Word::Wide.into(), Type::S32.into()];
                    return Ok(self.emit(depth, Opcode::Mul, &modifiers, Type::S64, inputs));
                }
            }
            if width == Width::W64 && Width::of(term.range()) == Width::W32 {
                let narrow = self.value(&Expr::from_terms(&[term], 0), Width::W32)?;
                return Ok(self.widen(depth, &narrow));
            }
            let product = self.value(&Expr::from_terms(&[&product], 0), width)?;
            return Ok(self.scale(depth, width, &product, term.coefficient));
        }
        let mut atoms = term.atoms.to_vec();
        atoms.sort_by_key(|a| self.atom_depth(a));
        let Some(last) = atoms.pop() else {
            return Ok(self.emit(
                depth,
                Opcode::Mov,
                &[width.bits().into()],
                width.bits(),
                vec![Operand::Int(1)],
            ));
        };
        if atoms.is_empty() {
            return self.atom(&last, width, depth);
        }
        let [left, right] =
            [atoms.into(), [last].into()].map(|atoms: Rc<[Atom]>| Term { atoms, coefficient: 1 });
        let narrow = |t: &Term| Width::of(t.range()) == Width::W32;
        if width == Width::W64 && narrow(&left) && narrow(&right) {
            let a = self.value(&Expr::from_terms(&[&left], 0), Width::W32)?;
            let b = self.value(&Expr::from_terms(&[&right], 0), Width::W32)?;
            let modifiers = [Word::Wide.into(), Type::S32.into()];
            let inputs = vec![Operand::from(&a), Operand::from(&b)];
            return Ok(self.emit(depth, Opcode::Mul, &modifiers, Type::S64, inputs));
        }
        let a = self.value(&Expr::from_terms(&[&left], 0), width)?;
        let b = self.value(&Expr::from_terms(&[&right], 0), width)?;
        let modifiers = [Word::Lo.into(), width.signed().into()];
        Ok(self.emit(
            depth,
            Opcode::Mul,
            &modifiers,
            width.signed(),
            vec![Operand::from(&a), Operand::from(&b)],
        ))
    }

    fn scale(&mut self, depth: usize, width: Width, reg: &Reg, by: i64) -> Reg {
        if let Some(shift) = power_of_two(by) {
            let ty = width.bits();
            return self.emit(
                depth,
                Opcode::Shl,
                &[ty.into()],
                ty,
                vec![Operand::from(reg), Operand::Int(shift)],
            );
        }
        let ty = width.signed();
        let inputs = vec![Operand::from(reg), width.immediate(by)];
        self.emit(depth, Opcode::Mul, &[Word::Lo.into(), ty.into()], ty, inputs)
    }

    fn atom(&mut self, atom: &Atom, width: Width, depth: usize) -> Result<Reg, Error> {
        let own = match atom {
            Atom::Var { id, .. } => match self.vars[id.index as usize].reg.ty.bytes() {
                Some(8) => Width::W64,
                _ => Width::W32,
            },
            Atom::Symbol { den: 1, .. } | Atom::Beyond(_) => Width::W32,
            // ceil(s/den) = (s + den - 1) / den, and the register has to hold the sum.
            Atom::Symbol { den, upper, .. } => Width::of((0, upper.saturating_mul(*den))),
            Atom::Div(x, _) | Atom::Rem(x, _) | Atom::And(x, _) => Width::of(x.range()),
            Atom::Xor(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
                if Width::of(a.range()) == Width::W32 {
                    Width::of(b.range())
                } else {
                    Width::W64
                }
            }
        };
        if own == Width::W32 && width == Width::W64 {
            let narrow = self.value(&Expr::atom(atom.clone()), own)?;
            let unsigned = Width::of(atom.range()) == Width::W64;
            return Ok(if unsigned {
                self.widen_unsigned(depth, &narrow)
            } else {
                self.widen(depth, &narrow)
            });
        }
        let reg = self.atom_own(atom, own, depth)?;
        if own == Width::W64 && width == Width::W32 {
            let modifiers = [Type::U32.into(), Type::U64.into()];
            return Ok(self.emit(depth, Opcode::Cvt, &modifiers, Type::U32, vec![Operand::from(&reg)]));
        }
        Ok(reg)
    }

    fn atom_own(&mut self, atom: &Atom, width: Width, depth: usize) -> Result<Reg, Error> {
        let (unsigned, bits) = (width.unsigned(), width.bits());
        match atom {
            Atom::Var { id, .. } => {
                let now = self.tick();
                let var = &mut self.vars[id.index as usize];
                var.used = now;
                Ok(var.reg.clone())
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
                let s = if width == Width::W64 { self.widen_unsigned(depth, &reg) } else { reg };
                let sum = self.add(depth, width, &s, Operand::Int(den - 1));
                Ok(self.divide_by(depth, width, &sum, *den))
            }
            Atom::Div(x, c) => {
                let x = self.value(x, width)?;
                Ok(self.divide_by(depth, width, &x, *c))
            }
            Atom::Rem(x, c) => {
                let x = Operand::from(&self.value(x, width)?);
                Ok(match power_of_two(*c) {
                    Some(_) => {
                        self.emit(depth, Opcode::And, &[bits.into()], bits, vec![x, Operand::Int(c - 1)])
                    }
                    None => {
                        self.emit(depth, Opcode::Rem, &[unsigned.into()], unsigned, vec![x, Operand::Int(*c)])
                    }
                })
            }
            Atom::And(x, mask) => {
                let x = Operand::from(&self.value(x, width)?);
                Ok(self.emit(depth, Opcode::And, &[bits.into()], bits, vec![x, Operand::Int(*mask)]))
            }
            Atom::Xor(a, b) => self.binary(depth, Opcode::Xor, bits, width, a, b),
            Atom::Beyond(_) => Err(Error::Beyond { expr: atom.to_string() }),
            Atom::Min(a, b) => self.binary(depth, Opcode::Min, width.signed(), width, a, b),
            Atom::Max(a, b) => self.binary(depth, Opcode::Max, width.signed(), width, a, b),
        }
    }

    fn binary(
        &mut self,
        depth: usize,
        opcode: Opcode,
        ty: Type,
        width: Width,
        a: &Expr,
        b: &Expr,
    ) -> Result<Reg, Error> {
        [a, b].into_iter().try_for_each(|e| e.check_fits("a comparison"))?;
        // A constant can stand only as the second operand.
        let (a, b) = if a.as_constant().is_some() { (b, a) } else { (a, b) };
        let a = Operand::from(&self.value(a, width)?);
        let b = self.operand(b, width)?;
        Ok(self.emit(depth, opcode, &[ty.into()], ty, vec![a, b]))
    }

    fn divide_by(&mut self, depth: usize, width: Width, x: &Reg, by: i64) -> Reg {
        let ty = width.unsigned();
        let x = Operand::from(x);
        match power_of_two(by) {
            Some(shift) => self.emit(depth, Opcode::Shr, &[ty.into()], ty, vec![x, Operand::Int(shift)]),
            None => self.emit(depth, Opcode::Div, &[ty.into()], ty, vec![x, Operand::Int(by)]),
        }
    }
}
