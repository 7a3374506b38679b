//! The scopes in which the registers of an expression are.

use super::{Builder, CLOSED, Var};
use crate::Error;
use crate::expr::{Atom, Expr, Term};

/// The depth of a register that has been written since; deeper than any scope but a closed one.
const STALE: usize = CLOSED - 1;

/// The depth of an expression over registers that belong to another builder, greater than all other depths.
const FOREIGN: usize = CLOSED + 1;

impl Builder {
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

    pub(super) fn term_depth(&self, term: &Term) -> usize {
        term.atoms.iter().map(|a| self.atom_depth(a)).max().unwrap_or(0)
    }

    pub(super) fn atom_depth(&self, atom: &Atom) -> usize {
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
}
