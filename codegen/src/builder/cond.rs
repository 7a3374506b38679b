//! Computes conditions into predicate registers.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{Builder, CLOSED, Reg, Width};
use crate::Error;
use crate::expr::Expr;
use crate::scalar::{Cond, Predicate, Scalar, lower};

impl Builder {
    /// The predicate register of `cond`, computed in the outermost scope that has its operands.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn cond(&mut self, cond: &Cond) -> Result<Reg, Error> {
        self.check_scopes(cond)?;
        if let Cond::Register(predicate) = cond {
            return self.leaf_reg(predicate.0).map(|(reg, _)| reg);
        }
        let depth = self.cond_depth(cond);
        if let Some(reg) = self.scopes[depth].conds.get(cond) {
            return Ok(reg.clone());
        }
        let reg = self.reg_of_cond(cond, depth)?;
        self.keep(&reg);
        self.scopes[depth].conds.insert(cond.clone(), reg.clone());
        Ok(reg)
    }

    /// The condition that a predicate register holds now. Once an instruction writes the register, the condition is refused
    /// ([`Error::Stale`]).
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a register of another type.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Scalar};
    /// use girih_ptx::Type;
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let even = b.reg(Type::Pred);
    /// b.ptx("setp.eq.u32 %0, 1, 2;", &[&even])?;
    /// let even = b.cond_in(&even)?;
    /// let choice = Scalar::new(DType::F32, 1.0).select(&even, 2.0);
    /// b.scalar(&choice)?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn cond_in(&mut self, reg: &Reg) -> Result<Cond, Error> {
        if reg.ty != Type::Pred {
            return Err(Error::Mismatch {
                what: "cond_in",
                layout: format!("a register of .{}", reg.ty),
                with: String::from("a condition"),
                accepted: "a register of .pred",
            });
        }
        let id = self.declare_var(reg, self.depth());
        Ok(Cond::Register(Predicate(id)))
    }

    fn check_scopes(&mut self, cond: &Cond) -> Result<(), Error> {
        match cond {
            Cond::Register(predicate) if predicate.0.home != self.id => {
                Err(Error::OtherBuilder { kernel: self.name.to_string() })
            }
            Cond::Register(predicate) => self.leaf_reg(predicate.0).map(drop),
            Cond::Always | Cond::Never => Ok(()),
            Cond::Less(a, b) => [a, b].into_iter().try_for_each(|e| {
                e.check_fits("a comparison")?;
                self.scope_of(e).map(drop)
            }),
            Cond::Compare(_, a, b) => [a, b].into_iter().try_for_each(|s| self.scalar_operand(s).map(drop)),
            Cond::All(parts) => parts.iter().try_for_each(|p| self.check_scopes(p)),
            Cond::Not(cond) => self.check_scopes(cond),
        }
    }

    /// The outermost scope that has the registers of a condition whose scalars have been computed.
    pub(super) fn cond_depth(&self, cond: &Cond) -> usize {
        match cond {
            Cond::Always | Cond::Never => 0,
            Cond::Less(a, b) => self.expr_depth(a).max(self.expr_depth(b)),
            Cond::Compare(_, a, b) => self.scalar_depth(a).max(self.scalar_depth(b)),
            Cond::All(parts) => parts.iter().map(|p| self.cond_depth(p)).max().unwrap_or(0),
            Cond::Not(cond) => self.cond_depth(cond),
            Cond::Register(predicate) => {
                self.vars.get(predicate.0.index as usize).map_or(CLOSED, |var| var.depth)
            }
        }
    }

    #[track_caller]
    fn reg_of_cond(&mut self, cond: &Cond, depth: usize) -> Result<Reg, Error> {
        match cond {
            Cond::Always | Cond::Never => {
                let reg = self.reg(Type::Pred);
                let holds = i64::from(*cond == Cond::Always);
                let modifiers = [Word::Ne.into(), Type::U32.into()];
                let zero = self.value(&Expr::from(0), Width::W32)?;
                let operands = vec![Operand::from(&reg), Operand::from(&zero), Operand::Int(holds)];
                self.inst_at(depth, Opcode::Setp, &modifiers, operands);
                Ok(reg)
            }
            Cond::Less(a, b) => {
                // Both sides keep their own registers: a difference could leave 32 bits.
                let fits =
                    |e: &Expr| e.range().0 >= i64::from(i32::MIN) && e.range().1 <= i64::from(i32::MAX);
                let width = if fits(a) && fits(b) { Width::W32 } else { Width::W64 };
                let ty = if width == Width::W32 { Type::S32 } else { Type::S64 };
                let a = Operand::from(&self.value(a, width)?);
                let b = self.operand(b, width)?;
                let reg = self.reg(Type::Pred);
                let operands = vec![Operand::from(&reg), a, b];
                self.inst_at(depth, Opcode::Setp, &[Word::Lt.into(), ty.into()], operands);
                Ok(reg)
            }
            Cond::Compare(compare, a, b) => {
                // sm_80 has no comparisons of bf16.
                let wide = |s: &Scalar| if s.dtype() == DType::Bf16 { s.to(DType::F32) } else { s.clone() };
                let (a, b) = (wide(a), wide(b));
                let modifiers = [compare.word(a.dtype()).into(), lower::ty(a.dtype()).into()];
                let operands = [self.scalar_operand(&a)?.0, self.scalar_operand(&b)?.0];
                let reg = self.reg(Type::Pred);
                let operands = [Operand::from(&reg)].into_iter().chain(operands).collect();
                self.inst_at(depth, Opcode::Setp, &modifiers, operands);
                Ok(reg)
            }
            // The register may be written later, so that it is not remembered.
            Cond::Register(predicate) => self.leaf_reg(predicate.0).map(|(reg, _)| reg),
            Cond::Not(cond) => {
                let inner = self.cond(cond)?;
                let reg = self.reg(Type::Pred);
                let operands = vec![Operand::from(&reg), Operand::from(&inner)];
                self.inst_at(depth, Opcode::Not, &[Type::Pred.into()], operands);
                Ok(reg)
            }
            Cond::All(parts) => self.conjunction(parts.clone(), depth),
        }
    }

    /// The conjunction of several conditions, each prefix in the outermost scope that has its registers.
    #[track_caller]
    fn conjunction(&mut self, mut parts: Vec<Cond>, depth: usize) -> Result<Reg, Error> {
        // The parts of outer scopes come first, so that their conjunction is computed outside.
        parts.sort_by_key(|p| self.cond_depth(p));
        let Some(first) = parts.first() else { return self.cond(&Cond::Always) };
        let prefix = |n: usize| Cond::all(parts[..n].iter().cloned());
        let known = (2..parts.len()).rev().find_map(|n| {
            let cond = prefix(n);
            Some((n, self.scopes[self.cond_depth(&cond)].conds.get(&cond)?.clone()))
        });
        let (mut n, mut reg) = match known {
            Some(known) => known,
            None => (1, self.cond(first)?),
        };
        while let Some(next) = parts.get(n) {
            let next = self.cond(next)?;
            n += 1;
            let cond = prefix(n);
            let at = if n == parts.len() { depth } else { self.cond_depth(&cond) };
            let both = self.reg(Type::Pred);
            let operands = vec![Operand::from(&both), Operand::from(&reg), Operand::from(&next)];
            self.inst_at(at, Opcode::And, &[Type::Pred.into()], operands);
            if n < parts.len() {
                self.keep(&both);
                self.scopes[at].conds.insert(cond, both.clone());
            }
            reg = both;
        }
        Ok(reg)
    }

    /// `cond ? value : 0`, in 32 bits.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn select_or_zero(&mut self, cond: &Cond, value: &Expr) -> Result<Operand, Error> {
        match cond {
            Cond::Always => self.operand(value, Width::W32),
            Cond::Never => Ok(Operand::Int(0)),
            cond => {
                let value = self.operand(value, Width::W32)?;
                let cond = self.cond(cond)?;
                let reg = self.reg(Type::B32);
                let operands = vec![Operand::from(&reg), value, Operand::Int(0), Operand::from(&cond)];
                self.inst(Opcode::Selp, &[Type::B32.into()], operands);
                Ok(Operand::from(&reg))
            }
        }
    }
}
