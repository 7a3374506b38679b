//! Sums and products of polynomials, and their text.

use super::{Atom, Expr, Term};

impl std::ops::Add for &Expr {
    type Output = Expr;
    fn add(self, other: &Expr) -> Expr {
        if other.as_constant() == Some(0) {
            return self.clone();
        }
        let terms = self.0.terms.iter().chain(&other.0.terms).cloned().collect();
        Expr::collect(terms, self.0.constant + other.0.constant)
    }
}

impl std::ops::Sub for &Expr {
    type Output = Expr;
    fn sub(self, other: &Expr) -> Expr {
        self + &other.rescale(-1, 1)
    }
}

impl std::ops::Mul for &Expr {
    type Output = Expr;
    fn mul(self, other: &Expr) -> Expr {
        let mut terms = Vec::new();
        for a in &self.0.terms {
            for b in &other.0.terms {
                let mut atoms: Vec<Atom> = a.atoms.iter().chain(&b.atoms).cloned().collect();
                atoms.sort_unstable();
                terms.push(Term { atoms, coefficient: a.coefficient * b.coefficient });
            }
            terms.push(Term { atoms: a.atoms.clone(), coefficient: a.coefficient * other.0.constant });
        }
        let scaled = other.0.terms.iter();
        terms.extend(
            scaled.map(|b| Term { atoms: b.atoms.clone(), coefficient: b.coefficient * self.0.constant }),
        );
        Expr::collect(terms, self.0.constant * other.0.constant)
    }
}

impl std::ops::Mul<i64> for &Expr {
    type Output = Expr;
    fn mul(self, by: i64) -> Expr {
        self.rescale(by, 1)
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
            Atom::Var { id, .. } => write!(f, "v{}", id.0),
            Atom::Symbol { id, den: 1, .. } => write!(f, "s{id}"),
            Atom::Symbol { id, den, .. } => write!(f, "ceil(s{id}/{den})"),
            Atom::Div(x, c) => write!(f, "({x})/{c}"),
            Atom::Rem(x, c) => write!(f, "({x})%{c}"),
            Atom::Xor(a, b) => write!(f, "({a}^{b})"),
            Atom::And(x, mask) => write!(f, "({x}&{mask})"),
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
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
