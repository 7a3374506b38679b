//! How a value is computed from values that are nearer to registers.

use std::rc::Rc;

use super::Width;
use crate::Error;
use crate::builder::Builder;
use crate::expr::{Atom, Expr, Term};

/// How a value is computed.
pub(super) struct Plan {
    pub(super) operands: Vec<(Expr, Width)>,
    pub(super) write: Write,
}

impl Plan {
    fn of<const N: usize>(operands: [(Expr, Width); N], write: Write) -> Plan {
        Plan { operands: operands.into(), write }
    }
}

/// The instructions of a value whose operands are in registers.
pub(super) enum Write {
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

impl Builder {
    /// Sums the terms from the outermost scope inwards, each prefix in the scope that has its registers.
    pub(super) fn plan(&self, expr: &Expr, width: Width, depth: usize) -> Result<Plan, Error> {
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
}
