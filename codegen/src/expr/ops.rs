//! Sums and products of polynomials.

use std::rc::Rc;

use super::node::{MOST_FACTORS, MOST_MULTIPLIED, Sum};
use super::{Atom, Expr, Term};
use crate::Error;

/// Why an operation has no result.
enum Over {
    /// A number does not fit 64 bits.
    Bits,
    /// The result has more factors than are accepted.
    Factors(usize),
    /// The result would have more factors than are accepted before like terms are collected.
    Multiplied(usize),
}

/// The result of an operation on `a` and `b`, or an expression that says why there is none.
fn or_refused(result: Result<Expr, Over>, a: &Expr, operator: char, b: &Expr) -> Expr {
    if let Some(refused) = [a, b].into_iter().find(|e| e.refusal().is_some()) {
        return refused.clone();
    }
    let large = |what, found, most| {
        let operation = if operator == '+' { "sum" } else { "product" };
        Error::Large { operation, operands: vec![a.brief(), b.brief()], what, found, most }
    };
    let error = match result {
        Ok(expr) => return expr,
        Err(Over::Bits) => Error::Beyond { expr: format!("({}) {operator} ({})", a.brief(), b.brief()) },
        Err(Over::Factors(found)) => large("factors in all terms", found, MOST_FACTORS),
        Err(Over::Multiplied(found)) => {
            large("factors before like terms are collected", found, MOST_MULTIPLIED)
        }
    };
    Expr::refused(error)
}

/// The expression, if it has no more factors than are accepted.
fn bounded(expr: Expr) -> Result<Expr, Over> {
    if expr.0.factors > MOST_FACTORS { Err(Over::Factors(expr.0.factors)) } else { Ok(expr) }
}

impl std::ops::Add for &Expr {
    type Output = Expr;
    fn add(self, other: &Expr) -> Expr {
        if other.as_constant() == Some(0) {
            return self.clone();
        }
        if self.as_constant() == Some(0) {
            return other.clone();
        }
        or_refused(sum(self, other), self, '+', other)
    }
}

impl std::ops::Sub for &Expr {
    type Output = Expr;
    fn sub(self, other: &Expr) -> Expr {
        self + &(other * -1)
    }
}

impl std::ops::Mul for &Expr {
    type Output = Expr;
    fn mul(self, other: &Expr) -> Expr {
        or_refused(product(self, other), self, '*', other)
    }
}

/// Puts the terms of the shorter sum in their places among those of the longer one; both are in order.
fn sum(left: &Expr, right: &Expr) -> Result<Expr, Over> {
    let [long, short] = if left.0.terms.len() < right.0.terms.len() { [right, left] } else { [left, right] };
    let mut terms = Vec::with_capacity(long.0.terms.len() + short.0.terms.len());
    let mut rest = &long.0.terms[..];
    for term in &short.0.terms {
        let (before, behind) = rest.split_at(rest.partition_point(|x| x.atoms < term.atoms));
        terms.extend_from_slice(before);
        rest = behind;
        match rest.split_first() {
            Some((same, behind)) if same.atoms == term.atoms => {
                let coefficient = same.coefficient.checked_add(term.coefficient).ok_or(Over::Bits)?;
                if coefficient != 0 {
                    terms.push(Term { atoms: same.atoms.clone(), coefficient });
                }
                rest = behind;
            }
            _ => terms.push(term.clone()),
        }
    }
    terms.extend_from_slice(rest);
    let constant = left.0.constant.checked_add(right.0.constant).ok_or(Over::Bits)?;
    bounded(Expr(Sum::new(terms, constant)))
}

fn product(left: &Expr, right: &Expr) -> Result<Expr, Over> {
    if let Some(by) = right.as_constant() {
        return left.scaled(by).ok_or(Over::Bits);
    }
    if let Some(by) = left.as_constant() {
        return right.scaled(by).ok_or(Over::Bits);
    }
    // Each term of a sum is multiplied by each term of the other, and by its constant.
    let multiplied = left.0.factors * (right.0.terms.len() + 1) + right.0.factors * (left.0.terms.len() + 1);
    if multiplied > MOST_MULTIPLIED {
        return Err(Over::Multiplied(multiplied));
    }
    let mut terms = Vec::new();
    let mut push = |atoms: Rc<[Atom]>, a: i64, b: i64| {
        terms.push(Term { atoms, coefficient: a.checked_mul(b).ok_or(Over::Bits)? });
        Ok(())
    };
    for a in &left.0.terms {
        for b in &right.0.terms {
            let mut atoms: Vec<Atom> = a.atoms.iter().chain(b.atoms.iter()).cloned().collect();
            atoms.sort_unstable();
            push(atoms.into(), a.coefficient, b.coefficient)?;
        }
        push(a.atoms.clone(), a.coefficient, right.0.constant)?;
    }
    for b in &right.0.terms {
        push(b.atoms.clone(), b.coefficient, left.0.constant)?;
    }
    let constant = left.0.constant.checked_mul(right.0.constant).ok_or(Over::Bits)?;
    bounded(Expr::collect(terms, constant).ok_or(Over::Bits)?)
}

impl std::ops::Mul<i64> for &Expr {
    type Output = Expr;
    fn mul(self, by: i64) -> Expr {
        or_refused(self.scaled(by).ok_or(Over::Bits), self, '*', &Expr::from(by))
    }
}

impl std::ops::Add<i64> for &Expr {
    type Output = Expr;
    fn add(self, by: i64) -> Expr {
        self + &Expr::from(by)
    }
}
