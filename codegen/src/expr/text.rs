//! The text of expressions, without recursion and of bounded length: operands that are shared are written each time, so that a text may be
//! longer than any memory.

use std::fmt;

use super::{Atom, Expr, Term};

/// The most factors that a text has.
const SHOWN: usize = 1000;

/// A part of a text that is still to be written.
enum Part<'a> {
    /// The terms of a sum from a number on, and the constant.
    Terms(&'a Expr, usize),
    /// The factors of a term from a number on.
    Factors(&'a Term, usize),
    Atom(&'a Atom),
    Text(&'static str),
    /// A constant operand, and what follows it.
    Number(&'static str, i64, &'static str),
}

fn write(mut parts: Vec<Part<'_>>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut left = f.precision().unwrap_or(SHOWN);
    while let Some(part) = parts.pop() {
        match part {
            Part::Text(text) => f.write_str(text)?,
            Part::Number(before, number, after) => write!(f, "{before}{number}{after}")?,
            Part::Terms(expr, from) => {
                let (terms, constant) = (expr.terms(), expr.constant());
                if let Some(term) = terms.get(from) {
                    f.write_str(if from > 0 { " + " } else { "" })?;
                    if term.coefficient != 1 {
                        write!(f, "{}*", term.coefficient)?;
                    }
                    parts.extend([Part::Terms(expr, from + 1), Part::Factors(term, 0)]);
                } else if terms.is_empty() {
                    write!(f, "{constant}")?;
                } else if constant != 0 {
                    write!(f, " + {constant}")?;
                }
            }
            Part::Factors(term, from) => {
                if let Some(atom) = term.atoms.get(from) {
                    f.write_str(if from > 0 { "*" } else { "" })?;
                    parts.extend([Part::Factors(term, from + 1), Part::Atom(atom)]);
                }
            }
            Part::Atom(_) if left == 0 => return f.write_str(".."),
            Part::Atom(atom) => {
                left -= 1;
                match atom {
                    Atom::Var { id, .. } => write!(f, "v{}", id.index)?,
                    Atom::Symbol { id, den: 1, .. } => write!(f, "s{id}")?,
                    Atom::Symbol { id, den, .. } => write!(f, "ceil(s{id}/{den})")?,
                    Atom::Refused(error) => write!(f, "[{error}]")?,
                    Atom::Div(x, c) => {
                        f.write_str("(")?;
                        parts.extend([Part::Number(")/", *c, ""), Part::Terms(x, 0)]);
                    }
                    Atom::Rem(x, c) => {
                        f.write_str("(")?;
                        parts.extend([Part::Number(")%", *c, ""), Part::Terms(x, 0)]);
                    }
                    Atom::And(x, mask) => {
                        f.write_str("(")?;
                        parts.extend([Part::Number("&", *mask, ")"), Part::Terms(x, 0)]);
                    }
                    Atom::Xor(a, b) => {
                        f.write_str("(")?;
                        parts.extend(pair(a, "^", b));
                    }
                    Atom::Min(a, b) => {
                        f.write_str("min(")?;
                        parts.extend(pair(a, ", ", b));
                    }
                    Atom::Max(a, b) => {
                        f.write_str("max(")?;
                        parts.extend(pair(a, ", ", b));
                    }
                }
            }
        }
    }
    Ok(())
}

/// `a`, `between`, `b` and a parenthesis, the last first.
fn pair<'a>(a: &'a Expr, between: &'static str, b: &'a Expr) -> [Part<'a>; 4] {
    [Part::Text(")"), Part::Terms(b, 0), Part::Text(between), Part::Terms(a, 0)]
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(vec![Part::Atom(self)], f)
    }
}

/// Writes at most 1000 factors, or as many as the precision says (`{:.32}`), and `..` in place of the others.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(vec![Part::Terms(self, 0)], f)
    }
}

/// Writes what `Display` writes.
impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
