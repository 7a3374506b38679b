//! Index expressions: what a kernel computes addresses, predicates and loop bounds from.
//!
//! An [`Expr`] is a polynomial in normal form: a constant plus terms, each a coefficient times a product of
//! [`Atom`]s (a register, a quotient, a remainder, an exclusive or, ...). Equal polynomials are equal values, so the
//! [builder](crate::builder) materialises each one once, in the outermost scope that has its operands. Every
//! expression knows its range and which of its bits can be set; the rules below use nothing else:
//!
//! * `x / c` and `x % c` drop the terms that `c` divides, and vanish where `x < c`;
//! * `a ^ b` is `a + b` where no bit is set in both;
//! * a sum stays in 32 bits as long as its range does.

use girih_layout::{Int, Swizzle};
use std::rc::Rc;

use crate::Error;

/// A register's number among the builder's variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub(crate) u32);

/// Something that a polynomial is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A register, known to lie in `lower..=upper` and to be a multiple of `multiple`.
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
    /// The smaller of two.
    Min(Expr, Expr),
    /// The larger of two.
    Max(Expr, Expr),
}

/// `coefficient * product of atoms`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) coefficient: i64,
}

/// An integer that a kernel computes: a polynomial over registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(Rc<Sum>);

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: i64,
}

/// Ranges saturate here: anything beyond is computed in 64 bits anyway.
const FAR: i64 = i64::MAX / 4;

fn saturate(value: i128) -> i64 {
    value.clamp(-(FAR as i128), FAR as i128) as i64
}

fn hull(products: [i128; 4]) -> (i64, i64) {
    let low = products.iter().copied().fold(i128::MAX, i128::min);
    let high = products.iter().copied().fold(i128::MIN, i128::max);
    (saturate(low), saturate(high))
}

fn multiply_ranges(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let [al, ah, bl, bh] = [a.0, a.1, b.0, b.1].map(i128::from);
    hull([al * bl, al * bh, ah * bl, ah * bh])
}

/// The largest power of two dividing `value`; 2^62 for 0.
fn power_of_two_in(value: i64) -> i64 {
    if value == 0 { 1 << 62 } else { 1 << value.trailing_zeros().min(62) }
}

/// All bits up to the highest of `upper`.
fn bits_up_to(upper: i64) -> i64 {
    if upper <= 0 { 0 } else { (1u64 << (64 - (upper as u64).leading_zeros()).min(62)) as i64 - 1 }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { greatest_common_divisor(b, a % b) }
}

impl Atom {
    pub(crate) fn range(&self) -> (i64, i64) {
        match self {
            Atom::Var { lower, upper, .. } | Atom::Symbol { lower, upper, .. } => (*lower, *upper),
            Atom::Div(x, c) => (x.range().0 / c, x.range().1 / c),
            Atom::Rem(x, c) => (0, (c - 1).min(x.range().1)),
            Atom::Xor(a, b) => (0, a.possible_bits() | b.possible_bits()),
            Atom::And(x, mask) => (0, x.possible_bits() & mask),
            Atom::Min(a, b) => (a.range().0.min(b.range().0), a.range().1.min(b.range().1)),
            Atom::Max(a, b) => (a.range().0.max(b.range().0), a.range().1.max(b.range().1)),
        }
    }

    /// A divisor of every value this atom takes.
    fn multiple(&self) -> i64 {
        match self {
            Atom::Var { multiple, .. } | Atom::Symbol { multiple, .. } => *multiple,
            Atom::Div(x, c) if x.multiple() % c == 0 => (x.multiple() / c).max(1),
            Atom::Div(..) => 1,
            Atom::Rem(x, c) => greatest_common_divisor(x.multiple(), *c),
            Atom::Xor(a, b) => power_of_two_in(a.multiple()).min(power_of_two_in(b.multiple())),
            Atom::And(x, mask) => power_of_two_in(x.possible_bits() & mask),
            Atom::Min(a, b) | Atom::Max(a, b) => greatest_common_divisor(a.multiple(), b.multiple()),
        }
    }

    /// The bits that can be set, for a value that is never negative.
    fn possible_bits(&self) -> i64 {
        let (_, upper) = self.range();
        match self {
            Atom::Xor(a, b) => a.possible_bits() | b.possible_bits(),
            Atom::And(x, mask) => x.possible_bits() & mask,
            _ => bits_up_to(upper) & !(power_of_two_in(self.multiple()) - 1),
        }
    }
}

impl Term {
    pub(crate) fn range(&self) -> (i64, i64) {
        self.atoms.iter().fold((self.coefficient, self.coefficient), |r, a| multiply_ranges(r, a.range()))
    }

    fn multiple(&self) -> i64 {
        self.atoms.iter().fold(self.coefficient.abs(), |m, a| m.saturating_mul(a.multiple()).min(FAR))
    }
}

impl From<i64> for Expr {
    fn from(constant: i64) -> Self {
        Expr(Rc::new(Sum { terms: Vec::new(), constant }))
    }
}

impl Expr {
    pub(crate) fn atom(atom: Atom) -> Expr {
        Expr(Rc::new(Sum { terms: vec![Term { atoms: vec![atom], coefficient: 1 }], constant: 0 }))
    }

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

    /// The value, where it does not depend on a register.
    pub fn as_constant(&self) -> Option<i64> {
        self.0.terms.is_empty().then_some(self.0.constant)
    }

    /// The expression without its constant addend.
    pub fn variable_part(&self) -> Expr {
        self - &Expr::from(self.constant())
    }

    /// Least and greatest value (saturated far beyond 32 bits).
    pub fn range(&self) -> (i64, i64) {
        let start = (i128::from(self.0.constant), i128::from(self.0.constant));
        let (low, high) = self.0.terms.iter().fold(start, |(low, high), term| {
            let (l, h) = term.range();
            (low + i128::from(l), high + i128::from(h))
        });
        (saturate(low), saturate(high))
    }

    /// The greatest known divisor of every value (0 only for the constant 0).
    pub fn multiple(&self) -> i64 {
        self.0.terms.iter().fold(self.0.constant.abs(), |m, t| greatest_common_divisor(m, t.multiple()))
    }

    /// The bits that can be set in some value, for an expression that is never negative.
    pub(crate) fn possible_bits(&self) -> i64 {
        let (_, upper) = self.range();
        let coarse = bits_up_to(upper) & !(power_of_two_in(self.multiple()) - 1);
        // A sum of bit-disjoint powers keeps its summands' bits.
        let mut seen = self.0.constant;
        for term in &self.0.terms {
            let single = term.atoms.len() == 1
                && term.coefficient > 0
                && term.coefficient & (term.coefficient - 1) == 0
                && term.range().0 >= 0;
            let bits = if single {
                i128::from(term.atoms[0].possible_bits()) * i128::from(term.coefficient)
            } else {
                -1
            };
            let Ok(bits) = i64::try_from(bits) else { return coarse };
            if bits < 0 || seen < 0 || seen & bits != 0 {
                return coarse;
            }
            seen |= bits;
        }
        seen & coarse
    }

    /// Builds the normal form from terms in any order.
    fn collect(mut terms: Vec<Term>, constant: i64) -> Expr {
        terms.sort_unstable();
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.atoms == term.atoms => last.coefficient += term.coefficient,
                _ => merged.push(term),
            }
        }
        merged.retain(|t| t.coefficient != 0);
        Expr(Rc::new(Sum { terms: merged, constant }))
    }

    pub(crate) fn from_terms(terms: &[&Term], constant: i64) -> Expr {
        Expr::collect(terms.iter().map(|t| (*t).clone()).collect(), constant)
    }

    /// Every term and the constant times `by`, exactly divided by `den`.
    fn rescale(&self, by: i64, den: i64) -> Expr {
        let terms = self.0.terms.iter();
        let terms =
            terms.map(|t| Term { atoms: t.atoms.clone(), coefficient: t.coefficient * by / den }).collect();
        Expr::collect(terms, self.0.constant * by / den)
    }

    /// Splits into a part whose coefficients `c` divides and a remainder in `0..c` if that can be seen.
    fn split(&self, c: i64) -> Option<(Expr, Expr)> {
        let (divisible, rest): (Vec<&Term>, Vec<&Term>) =
            self.0.terms.iter().partition(|t| t.coefficient % c == 0);
        let low = self.0.constant.rem_euclid(c);
        let quotient = Expr::from_terms(&divisible, self.0.constant - low).rescale(1, c);
        let remainder = Expr::from_terms(&rest, low);
        let (lower, upper) = remainder.range();
        (lower >= 0 && upper < c).then_some((quotient, remainder))
    }

    /// `floor(self / c)`.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if `c <= 0` or the expression can be negative.
    pub fn div(&self, c: i64) -> Result<Expr, Error> {
        self.check_division("division", c)?;
        if c == 1 {
            return Ok(self.clone());
        }
        if let Some((quotient, _)) = self.split(c) {
            return Ok(quotient);
        }
        if let Some(Atom::Div(x, inner)) = self.single_atom() {
            // Past 64 bits the divisor is greater than any value.
            return inner.checked_mul(c).map_or(Ok(Expr::from(0)), |by| x.div(by));
        }
        // floor((c*q + r) / c) = q + floor(r / c), where r stays non-negative.
        let (divisible, rest): (Vec<&Term>, Vec<&Term>) =
            self.0.terms.iter().partition(|t| t.coefficient % c == 0);
        let low = self.0.constant.rem_euclid(c);
        let remainder = Expr::from_terms(&rest, low);
        if !divisible.is_empty() && remainder.range().0 >= 0 {
            let quotient = Expr::from_terms(&divisible, self.0.constant - low).rescale(1, c);
            return Ok(&quotient + &Expr::atom(Atom::Div(remainder, c)));
        }
        Ok(Expr::atom(Atom::Div(self.clone(), c)))
    }

    /// `self mod c`, in `0..c`.
    ///
    /// # Errors
    /// As [`Expr::div`].
    pub fn rem(&self, c: i64) -> Result<Expr, Error> {
        self.check_division("remainder", c)?;
        if let Some((_, remainder)) = self.split(c) {
            return Ok(remainder);
        }
        let rest: Vec<&Term> = self.0.terms.iter().filter(|t| t.coefficient % c != 0).collect();
        let remainder = Expr::from_terms(&rest, self.0.constant.rem_euclid(c));
        let base = if remainder.range().0 >= 0 { remainder } else { self.clone() };
        Ok(Expr::atom(Atom::Rem(base, c)))
    }

    fn check_division(&self, operation: &'static str, c: i64) -> Result<(), Error> {
        if c <= 0 || self.range().0 < 0 {
            return Err(Error::Arithmetic {
                operation,
                operand: self.to_string(),
                by: c,
                accepted: "a non-negative expression and a positive constant",
            });
        }
        Ok(())
    }

    fn check_natural(&self, operation: &'static str) -> Result<(), Error> {
        if self.range().0 < 0 {
            let accepted = "a non-negative expression";
            return Err(Error::Arithmetic { operation, operand: self.to_string(), by: 0, accepted });
        }
        Ok(())
    }

    /// `self ^ other`, bit by bit.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if one of them can be negative.
    pub fn xor(&self, other: &Expr) -> Result<Expr, Error> {
        self.check_natural("exclusive or")?;
        other.check_natural("exclusive or")?;
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return Ok(Expr::from(a ^ b));
        }
        if self.possible_bits() & other.possible_bits() == 0 {
            return Ok(self + other);
        }
        if self == other {
            return Ok(Expr::from(0));
        }
        let (a, b) = if self <= other { (self, other) } else { (other, self) };
        Ok(Expr::atom(Atom::Xor(a.clone(), b.clone())))
    }

    /// `self & mask`.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the expression or the mask can be negative.
    pub fn and(&self, mask: i64) -> Result<Expr, Error> {
        if mask < 0 || self.range().0 < 0 {
            return Err(Error::Arithmetic {
                operation: "and",
                operand: self.to_string(),
                by: mask,
                accepted: "a non-negative expression and mask",
            });
        }
        if let Some(value) = self.as_constant() {
            return Ok(Expr::from(value & mask));
        }
        let possible = self.possible_bits();
        if possible & mask == 0 {
            return Ok(Expr::from(0));
        }
        if possible & !mask == 0 {
            return Ok(self.clone());
        }
        // Terms whose bits the mask keeps or drops whole need no instruction, if no carry can cross: the bits are disjoint.
        let parts: Vec<Expr> = self.disjoint_parts();
        let kept: Vec<Expr> = parts.iter().filter(|p| p.possible_bits() & mask != 0).cloned().collect();
        if kept.len() < parts.len() {
            let sum = kept.iter().fold(Expr::from(0), |sum, part| &sum + part);
            return sum.and(mask);
        }
        Ok(Expr::atom(Atom::And(self.clone(), mask & possible)))
    }

    /// The summands, if no bit is possible in two of them; else the whole.
    fn disjoint_parts(&self) -> Vec<Expr> {
        let mut parts: Vec<Expr> = self.0.terms.iter().map(|t| Expr::from_terms(&[t], 0)).collect();
        if self.0.constant != 0 {
            parts.push(Expr::from(self.0.constant));
        }
        let mut seen = 0;
        for part in &parts {
            if part.range().0 < 0 || part.possible_bits() & seen != 0 {
                return vec![self.clone()];
            }
            seen |= part.possible_bits();
        }
        parts
    }

    /// The smaller of two.
    pub fn minimum(&self, other: &Expr) -> Expr {
        if self.range().1 <= other.range().0 {
            return self.clone();
        }
        if other.range().1 <= self.range().0 {
            return other.clone();
        }
        Expr::atom(Atom::Min(self.clone(), other.clone()))
    }

    /// The larger of two.
    pub fn maximum(&self, other: &Expr) -> Expr {
        if self.range().0 >= other.range().1 {
            return self.clone();
        }
        if other.range().0 >= self.range().1 {
            return other.clone();
        }
        Expr::atom(Atom::Max(self.clone(), other.clone()))
    }

    /// `Sw<bits, base, shift>(self)`: the swizzle of an index, with every summand that it leaves alone kept outside.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the expression can be negative.
    pub fn swizzle(&self, swizzle: &Swizzle) -> Result<Expr, Error> {
        self.check_natural("swizzle")?;
        // Sw is linear over exclusive or, so bit-disjoint summands can be swizzled one by one.
        let mut constant = Expr::from(0);
        let mut variable = Expr::from(0);
        for part in self.disjoint_parts() {
            match part.as_constant() {
                Some(value) => constant = Expr::from(swizzle.apply(value)),
                None => variable = &variable + &part,
            }
        }
        let lowest = i64::from(swizzle.base()) + i64::from(swizzle.shift().max(0));
        let source = variable.and(((1 << swizzle.bits()) - 1) << lowest)?;
        let moved = if swizzle.shift() >= 0 {
            source.div(1 << swizzle.shift())?
        } else {
            source.rescale(1 << -swizzle.shift(), 1)
        };
        variable.xor_parts(&moved)?.xor_parts(&constant)
    }

    /// `self ^ other` where only the summands that share bits with `other` go through the instruction.
    fn xor_parts(&self, other: &Expr) -> Result<Expr, Error> {
        let (mut apart, mut together) = (Expr::from(0), Expr::from(0));
        for part in self.disjoint_parts() {
            if part.possible_bits() & other.possible_bits() == 0 {
                apart = &apart + &part;
            } else {
                together = &together + &part;
            }
        }
        match other.as_constant() {
            // Bits of a constant that no summand has are added: they become an address's immediate.
            Some(value) => {
                let shared = value & together.possible_bits();
                Ok(&(&apart + &together.xor(&Expr::from(shared))?) + (value - shared))
            }
            None => Ok(&apart + &together.xor(other)?),
        }
    }

    fn single_atom(&self) -> Option<&Atom> {
        match self.0.terms.as_slice() {
            [Term { atoms, coefficient: 1 }] if self.0.constant == 0 && atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }

    /// A layout's leaf as an expression: its symbols become parameters of the kernel.
    pub fn from_int(int: &Int) -> Expr {
        let mut expr = Expr::from(int.coefficient());
        for girih_layout::Factor { symbol, den } in int.factors().into_iter().flatten() {
            let ceil = |v: i64| v.saturating_add(den - 1) / den;
            let multiple = if symbol.divisor() % den == 0 { symbol.divisor() / den } else { 1 };
            let (lower, upper) = (ceil(symbol.lower()), ceil(symbol.upper().unwrap_or(FAR)));
            expr = &expr * &Expr::atom(Atom::Symbol { id: symbol.id(), den, lower, upper, multiple });
        }
        expr
    }
}

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

#[cfg(test)]
pub(crate) mod tests;
