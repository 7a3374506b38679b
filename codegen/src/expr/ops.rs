//! Sums and products of polynomials, and their text.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Atom, Expr, Sum, Term};

/// The result of an operation on `a` and `b`. It is beyond 64 bits if an operand is so, or if `result` is `None`.
fn or_beyond(result: Option<Expr>, a: &Expr, operator: char, b: &Expr) -> Expr {
    match [a, b].into_iter().find(|e| e.is_beyond()) {
        Some(beyond) => beyond.clone(),
        None => result.unwrap_or_else(|| Expr::beyond(format!("({a}) {operator} ({b})"))),
    }
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
        or_beyond(sum(self, other), self, '+', other)
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
        or_beyond(product(self, other), self, '*', other)
    }
}

/// Merges the terms of two sums, which are in order.
fn sum(left: &Expr, right: &Expr) -> Option<Expr> {
    let mut terms = Vec::with_capacity(left.0.terms.len() + right.0.terms.len());
    let (mut a, mut b) = (left.0.terms.iter().peekable(), right.0.terms.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.atoms.cmp(&y.atoms) {
            Ordering::Less => terms.extend(a.next().cloned()),
            Ordering::Greater => terms.extend(b.next().cloned()),
            Ordering::Equal => {
                let coefficient = x.coefficient.checked_add(y.coefficient)?;
                if coefficient != 0 {
                    terms.push(Term { atoms: x.atoms.clone(), coefficient });
                }
                a.next();
                b.next();
            }
        }
    }
    terms.extend(a.chain(b).cloned());
    Some(Expr(Sum::new(terms, left.0.constant.checked_add(right.0.constant)?)))
}

fn product(left: &Expr, right: &Expr) -> Option<Expr> {
    if let Some(by) = right.as_constant() {
        return left.scaled(by);
    }
    if let Some(by) = left.as_constant() {
        return right.scaled(by);
    }
    let mut terms = Vec::new();
    let mut push = |atoms: Rc<[Atom]>, a: i64, b: i64| {
        terms.push(Term { atoms, coefficient: a.checked_mul(b)? });
        Some(())
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
    Expr::collect(terms, left.0.constant.checked_mul(right.0.constant)?)
}

impl std::ops::Mul<i64> for &Expr {
    type Output = Expr;
    fn mul(self, by: i64) -> Expr {
        or_beyond(self.scaled(by), self, '*', &Expr::from(by))
    }
}

impl std::ops::Add<i64> for &Expr {
    type Output = Expr;
    fn add(self, by: i64) -> Expr {
        self + &Expr::from(by)
    }
}

impl std::fmt::Display for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Atom::Var { id, .. } => write!(f, "v{}", id.index),
            Atom::Symbol { id, den: 1, .. } => write!(f, "s{id}"),
            Atom::Symbol { id, den, .. } => write!(f, "ceil(s{id}/{den})"),
            Atom::Div(x, c) => write!(f, "({x})/{c}"),
            Atom::Rem(x, c) => write!(f, "({x})%{c}"),
            Atom::Xor(a, b) => write!(f, "({a}^{b})"),
            Atom::And(x, mask) => write!(f, "({x}&{mask})"),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
            Atom::Beyond(text) => write!(f, "[{text}: beyond 64 bits]"),
        }
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut first = true;
        for term in &self.0.terms {
            if !first {
                f.write_str(" + ")?;
            }
            first = false;
            if term.coefficient != 1 {
                write!(f, "{}*", term.coefficient)?;
            }
            for (i, atom) in term.atoms.iter().enumerate() {
                write!(f, "{}{atom}", if i > 0 { "*" } else { "" })?;
            }
        }
        match (first, self.0.constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) => write!(f, " + {c}"),
        }
    }
}
