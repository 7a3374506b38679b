//! Index expressions, from which a kernel computes addresses, predicates and loop bounds.
//!
//! An [`Expr`] is a polynomial in normal form: a constant plus terms, each a coefficient times a product of
//! [`Atom`]s (a register, a quotient, a remainder, an exclusive or, ...). Equal polynomials are equal values and one node in memory, so the
//! [builder](crate::builder) computes each one once, in the outermost scope that has its registers. Every
//! expression knows its range and which of its bits can be set; the rules below use nothing else:
//!
//! * `x / c` and `x % c` divide only the terms that are no multiples of `c`, and need no instruction where `x < c`;
//! * `a ^ b` is `a + b` where no bit is set in both;
//! * a sum stays in 32 bits as long as its range does.
//!
//! An expression has at most 1024 factors in all its terms, and at most 1000 quotients, remainders, minima and their like inside one
//! another. An operation that would make a larger one gives an expression that the builder refuses
//! ([`Error::Large`](crate::Error::Large)), as it refuses numbers beyond 64 bits;
//! [`Builder::hold_index`](crate::Builder::hold_index) keeps a part in a register, and a new expression begins there.

use girih_layout::{Int, Symbol};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

mod bits;
mod division;
mod facts;
mod node;
mod ops;
mod text;

use crate::Error;
use node::Sum;

/// The number of a register among the variables of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VarId {
    pub(crate) index: u32,
    /// The number of the builder that has the variable.
    pub(crate) home: u64,
}

/// Hashes the index alone: an order by hashes must be the same for every builder that writes the same kernel.
impl Hash for VarId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

/// A factor of a polynomial's term.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A register, known to be in `lower..=upper` and to be a multiple of `multiple`.
    Var { id: VarId, lower: i64, upper: i64, multiple: i64 },
    /// `ceil(symbol / den)` of a layout's symbolic leaf; the kernel binds the symbol to a parameter.
    Symbol { id: u8, den: i64, lower: i64, upper: i64, multiple: i64 },
    /// `floor(x / c)`, x >= 0, c > 0.
    Div(Expr, i64),
    /// `x mod c`, x >= 0, c > 0.
    Rem(Expr, i64),
    /// `a ^ b`, both >= 0.
    Xor(Expr, Expr),
    /// `a & mask`, a >= 0.
    And(Expr, i64),
    /// The smaller of two expressions.
    Min(Expr, Expr),
    /// The larger of two expressions.
    Max(Expr, Expr),
    /// Why the expression cannot be computed; such an expression has no other atom.
    Refused(Rc<Error>),
}

impl Atom {
    /// `ceil(symbol / den)`.
    pub(crate) fn symbol(symbol: Symbol, den: i64) -> Atom {
        let ceil = |v: i64| v.saturating_add(den - 1) / den;
        let multiple = if symbol.divisor() % den == 0 { symbol.divisor() / den } else { 1 };
        let most = symbol.upper().unwrap_or(i64::from(u32::MAX));
        Atom::Symbol { id: symbol.id(), den, lower: ceil(symbol.lower()), upper: ceil(most), multiple }
    }
}

/// `coefficient * product of atoms`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    pub(crate) atoms: Rc<[Atom]>,
    pub(crate) coefficient: i64,
}

/// An integer that a kernel computes: a polynomial over registers. Expressions are compared and hashed in constant time; their
/// order is that of their structures.
#[derive(Clone)]
pub struct Expr(Rc<Sum>);

impl From<i64> for Expr {
    fn from(constant: i64) -> Self {
        Expr(Sum::new(Vec::new(), constant))
    }
}

impl Expr {
    pub(crate) fn var(id: VarId, lower: i64, upper: i64, multiple: i64) -> Expr {
        if lower == upper { Expr::from(lower) } else { Expr::atom(Atom::Var { id, lower, upper, multiple }) }
    }

    pub(crate) fn terms(&self) -> &[Term] {
        &self.0.terms
    }

    /// The constant addend.
    pub fn constant(&self) -> i64 {
        self.0.constant
    }

    /// An expression that the builder refuses to compute.
    fn refused(error: Error) -> Expr {
        Expr(Sum::new(vec![Term { atoms: Rc::new([Atom::Refused(Rc::new(error))]), coefficient: 1 }], 0))
    }

    /// Why the expression cannot be computed.
    pub(crate) fn refusal(&self) -> Option<&Error> {
        match self.single_atom() {
            Some(Atom::Refused(error)) => Some(error),
            _ => None,
        }
    }

    /// The expression, or why it cannot be computed.
    fn accepted(self) -> Result<Expr, Error> {
        self.refusal().cloned().map_or(Ok(self), Err)
    }

    /// The value, where it does not depend on a register.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.terms.is_empty().then_some(self.0.constant)
    }

    /// `self - other`, where that does not depend on a register.
    pub(crate) fn distance(&self, other: &Expr) -> Option<i64> {
        let same = self.0.terms == other.0.terms && self.refusal().is_none();
        self.0.constant.checked_sub(other.0.constant).filter(|_| same)
    }

    /// The expression without its constant addend.
    pub fn variable_part(&self) -> Expr {
        self - &Expr::from(self.constant())
    }

    /// Builds the normal form from terms in any order; `None` if a coefficient does not fit 64 bits.
    fn collect(mut terms: Vec<Term>, constant: i64) -> Option<Expr> {
        if terms.len() > 1 {
            terms.sort_unstable();
        }
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.atoms == term.atoms => {
                    last.coefficient = last.coefficient.checked_add(term.coefficient)?;
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|t| t.coefficient != 0);
        Some(Expr(Sum::new(merged, constant)))
    }

    /// The sum of `constant` and of some terms of an expression, given in the order of that expression.
    pub(crate) fn from_terms(terms: &[&Term], constant: i64) -> Expr {
        Expr(Sum::new(terms.iter().map(|t| (*t).clone()).collect(), constant))
    }

    /// The expression multiplied by `by`; `None` if a number does not fit 64 bits.
    fn scaled(&self, by: i64) -> Option<Expr> {
        match by {
            0 => return Some(Expr::from(0)),
            1 => return Some(self.clone()),
            _ => {}
        }
        let scaled =
            |t: &Term| Some(Term { atoms: t.atoms.clone(), coefficient: t.coefficient.checked_mul(by)? });
        let terms = self.0.terms.iter().map(scaled).collect::<Option<_>>()?;
        // In order as they were.
        Some(Expr(Sum::new(terms, self.0.constant.checked_mul(by)?)))
    }

    /// The expression divided by `c`, which must divide every coefficient and the constant.
    fn quotient(&self, c: i64) -> Expr {
        let terms = self.0.terms.iter();
        let terms = terms.map(|t| Term { atoms: t.atoms.clone(), coefficient: t.coefficient / c }).collect();
        Expr(Sum::new(terms, self.0.constant / c))
    }

    /// The smaller of two expressions.
    pub fn minimum(&self, other: &Expr) -> Expr {
        if let Some(refused) = [self, other].into_iter().find(|e| e.refusal().is_some()) {
            return refused.clone();
        }
        if self.range().1 <= other.range().0 {
            return self.clone();
        }
        if other.range().1 <= self.range().0 {
            return other.clone();
        }
        Expr::atom(Atom::Min(self.clone(), other.clone()))
    }

    /// The larger of two expressions.
    pub fn maximum(&self, other: &Expr) -> Expr {
        if let Some(refused) = [self, other].into_iter().find(|e| e.refusal().is_some()) {
            return refused.clone();
        }
        if self.range().0 >= other.range().1 {
            return self.clone();
        }
        if other.range().0 >= self.range().1 {
            return other.clone();
        }
        Expr::atom(Atom::Max(self.clone(), other.clone()))
    }

    fn single_atom(&self) -> Option<&Atom> {
        match self.0.terms.as_slice() {
            [Term { atoms, coefficient: 1 }] if self.0.constant == 0 && atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }

    /// A leaf of a layout as an expression, in which the leaf's symbols stand for 32-bit parameters of the kernel.
    pub fn from_int(int: &Int) -> Expr {
        let mut expr = Expr::from(int.coefficient());
        for girih_layout::Factor { symbol, den } in int.factors().into_iter().flatten() {
            expr = &expr * &Expr::atom(Atom::symbol(symbol, den));
        }
        expr
    }

    /// An index or a cosize of a layout with symbols, as an expression.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Expr;
    /// use girih_layout::{Coord, lay};
    ///
    /// let offset = lay!("(128,64):(s0,1)").index(&Coord::of(&[3, 2])?)?;
    /// assert_eq!(Expr::from_sum(&offset).to_string(), "3*s0 + 2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn from_sum(sum: &girih_layout::Sum) -> Expr {
        sum.terms().fold(Expr::from(sum.constant()), |expr, term| &expr + &Expr::from_int(&term))
    }
}
