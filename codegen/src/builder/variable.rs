//! Variables: registers whose values are known as expressions, until an instruction writes them.

use girih_ptx::{Claim, Fact, Statement};

use super::{Builder, Reg};
use crate::Error;
use crate::expr::{Expr, VarId};

/// What the builder knows of an expression's register.
pub(super) struct Var {
    pub(super) reg: Reg,
    /// The depth of the scope that the register is written in; `CLOSED` after that scope's end.
    pub(super) depth: usize,
    /// Whether the register has been written since the variable was declared.
    pub(super) stale: bool,
    /// The time (`Builder::clock`) at which the register was last asked for.
    pub(super) used: u64,
}

impl Builder {
    /// The value that `reg` holds now, as an expression. The caller claims that this value is in `lower..=upper` and is a multiple of
    /// `multiple`, which the simulator checks. Once an instruction writes the register, the expression is refused ([`Error::Stale`]);
    /// another call declares the new value.
    #[track_caller]
    pub fn var(&mut self, reg: &Reg, lower: i64, upper: i64, multiple: i64) -> Expr {
        let depth = self.depth();
        self.claim(depth, reg, (lower, upper, multiple));
        self.var_at(reg, depth, lower, upper, multiple)
    }

    /// Records a claim about a register, with the line of the program that makes the claim.
    #[track_caller]
    pub(super) fn claim(&mut self, depth: usize, reg: &Reg, (lower, upper, multiple): (i64, i64, i64)) {
        let site = self.site();
        let fact = Fact { lower, upper, multiple, site };
        let claim = Claim { line: 0, register: reg.name.clone(), fact };
        self.scopes[depth].body.claim(claim);
        if self.traps {
            self.trap_unless(depth, reg, (lower, upper, multiple));
        }
    }

    pub(super) fn var_at(&mut self, reg: &Reg, depth: usize, lower: i64, upper: i64, multiple: i64) -> Expr {
        Expr::var(self.declare_var(reg, depth), lower, upper, multiple)
    }

    /// Declares a variable for the value that a register holds now.
    pub(super) fn declare_var(&mut self, reg: &Reg, depth: usize) -> VarId {
        let id = VarId { index: self.vars.len() as u32, home: self.id };
        self.vars.push(Var { reg: reg.clone(), depth, stale: false, used: 0 });
        self.named.entry(reg.name.clone()).or_default().push(id);
        id
    }

    /// Marks expressions as stale that stand for what a register held before `statement` writes it.
    pub(super) fn note_writes(&mut self, statement: &Statement) {
        let inst = match statement {
            Statement::Inst(inst) => inst,
            Statement::Block(body) => return body.iter().for_each(|inner| self.note_writes(inner)),
            _ => return,
        };
        if inst.operands.is_empty() {
            return;
        }
        for name in inst.written() {
            if self.computed.contains(name) {
                let register = name.to_string();
                self.fail(Error::Computed { register, instruction: inst.to_string() });
            }
            let Some(vars) = self.named.remove(name) else { continue };
            self.depths.get_mut().clear();
            for var in vars.into_iter().map(|id| id.index as usize) {
                self.vars[var].stale = true;
                let Var { ref reg, depth, used, .. } = self.vars[var];
                // The loop's next round would compute from the value that is written here, and not from the value that was declared.
                let mut inside =
                    self.scopes.iter().skip(depth.saturating_add(1)).filter_map(|scope| scope.repeats);
                if inside.any(|opened| used > opened) {
                    let register = reg.name.to_string();
                    self.fail(Error::Overwritten { register, instruction: inst.to_string() });
                }
            }
        }
    }

    /// Notes that `reg` holds a computed value, so that no other instruction may write `reg`.
    pub(super) fn keep(&mut self, reg: &Reg) {
        if !self.named.contains_key(&reg.name) {
            self.computed.insert(reg.name.clone());
        }
    }
}
