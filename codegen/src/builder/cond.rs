//! Conditions become predicates.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::{Builder, Reg, Width};
use crate::Error;
use crate::expr::Expr;

/// A condition over expressions, decided where their ranges decide it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cond {
    /// True.
    Always,
    /// False.
    Never,
    /// `a < b`; made by [`Cond::less`].
    Less(Expr, Expr),
    /// All of them; made by [`Cond::all`].
    All(Vec<Cond>),
}

impl Cond {
    /// `a < b`.
    pub fn less(a: &Expr, b: &Expr) -> Cond {
        let difference = (a - b).range();
        if difference.1 < 0 {
            Cond::Always
        } else if difference.0 >= 0 {
            Cond::Never
        } else {
            Cond::Less(a.clone(), b.clone())
        }
    }

    /// The conjunction.
    pub fn all(conds: impl IntoIterator<Item = Cond>) -> Cond {
        let mut parts = Vec::new();
        for cond in conds {
            match cond {
                Cond::Always => {}
                Cond::Never => return Cond::Never,
                Cond::All(more) => parts.extend(more),
                less => parts.push(less),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        match parts.len() {
            0 => Cond::Always,
            1 => parts.remove(0),
            _ => Cond::All(parts),
        }
    }
}

impl Builder {
    /// The predicate register of `cond`, computed in the outermost scope that has its operands.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn cond(&mut self, cond: &Cond) -> Result<Reg, Error> {
        self.check_scopes(cond)?;
        let depth = self.cond_depth(cond);
        if let Some(reg) = self.scopes[depth].conds.get(cond) {
            return Ok(reg.clone());
        }
        let reg = self.reg_of_cond(cond, depth)?;
        self.scopes[depth].conds.insert(cond.clone(), reg.clone());
        Ok(reg)
    }

    fn check_scopes(&self, cond: &Cond) -> Result<(), Error> {
        match cond {
            Cond::Always | Cond::Never => Ok(()),
            Cond::Less(a, b) => [a, b].into_iter().try_for_each(|e| {
                e.check_fits("a comparison")?;
                self.scope_of(e).map(drop)
            }),
            Cond::All(parts) => parts.iter().try_for_each(|p| self.check_scopes(p)),
        }
    }

    fn cond_depth(&self, cond: &Cond) -> usize {
        match cond {
            Cond::Always | Cond::Never => 0,
            Cond::Less(a, b) => self.expr_depth(a).max(self.expr_depth(b)),
            Cond::All(parts) => parts.iter().map(|p| self.cond_depth(p)).max().unwrap_or(0),
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
            Cond::All(parts) => {
                // Outer parts first, so that their conjunction is computed outside.
                let mut parts = parts.clone();
                parts.sort_by_key(|p| self.cond_depth(p));
                let Some(last) = parts.pop() else { return self.cond(&Cond::Always) };
                let rest = self.cond(&Cond::all(parts))?;
                let last = self.cond(&last)?;
                let reg = self.reg(Type::Pred);
                let operands = vec![Operand::from(&reg), Operand::from(&rest), Operand::from(&last)];
                self.inst_at(depth, Opcode::And, &[Type::Pred.into()], operands);
                Ok(reg)
            }
        }
    }

    /// `cond ? value : 0`, 32 bits.
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
