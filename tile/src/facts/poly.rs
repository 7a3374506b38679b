//! Index expressions as polynomials in normal form over the values that vary between blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::ir::Value;
use crate::ir::table::Each;

/// An indivisible part of an index expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// The block's index along an axis of the grid.
    Bid(u8),
    /// The grid's extent along an axis.
    Blocks(u8),
    /// A value that is the same in all blocks.
    Uniform(Value),
    /// Iterations of a loop so far, by the loop's number or the carried value that counts them.
    Iteration(Value),
    /// The position along a tile that counts its elements, the first value, as the second one lays it out.
    Lane(Value, Value),
    /// The position in a tile that is stored, along an axis of the array.
    Element(u8),
    /// Which of several accesses, along an axis of the array.
    Which(u8),
    /// Anything else.
    Free(Value),
    /// Quotient, rounded down.
    Div(Arc<Poly>, Arc<Poly>),
    /// Remainder with the divisor's sign.
    Mod(Arc<Poly>, Arc<Poly>),
    /// The smaller.
    Min(Arc<Poly>, Arc<Poly>),
    /// The greater.
    Max(Arc<Poly>, Arc<Poly>),
}

/// A sum of products of atoms.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Poly(BTreeMap<Vec<Atom>, i64>);

/// The most terms of a polynomial; what has more is not followed.
const TERMS: usize = 64;

impl Poly {
    /// A number.
    pub fn number(n: i64) -> Poly {
        if n == 0 { Poly(BTreeMap::new()) } else { Poly::term(Vec::new(), n) }
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Poly {
        Poly::term(vec![atom], 1)
    }

    /// A product of atoms, times a number.
    pub fn term(atoms: Vec<Atom>, factor: i64) -> Poly {
        let mut terms = BTreeMap::new();
        terms.insert(atoms, factor);
        Poly(terms)
    }

    /// The terms: atoms in order, and their factor, which is not 0.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.0.iter().map(|(atoms, &factor)| (atoms.as_slice(), factor))
    }

    /// Evaluates the polynomial, given the values of numbers and atoms, and the product and sum.
    pub(super) fn of<T>(
        &self,
        number: impl Fn(i64) -> T,
        mut atom: impl FnMut(&Atom) -> Option<T>,
        binary: impl Fn(Each, T, T) -> Option<T>,
    ) -> Option<T> {
        self.terms().try_fold(number(0), |sum, (atoms, factor)| {
            let times = |product, of: &Atom| binary(Each::Mul, product, atom(of)?);
            binary(Each::Add, sum, atoms.iter().try_fold(number(factor), times)?)
        })
    }

    /// `self + factor * other`; `None` beyond 64 bits.
    pub fn plus(&self, other: &Poly, factor: i64) -> Option<Poly> {
        let mut terms = self.0.clone();
        for (atoms, c) in &other.0 {
            let sum = terms.entry(atoms.clone()).or_insert(0);
            *sum = sum.checked_add(c.checked_mul(factor)?)?;
        }
        terms.retain(|_, c| *c != 0);
        (terms.len() <= TERMS).then_some(Poly(terms))
    }

    /// The product; `None` beyond 64 bits.
    pub fn times(&self, other: &Poly) -> Option<Poly> {
        let mut terms: BTreeMap<Vec<Atom>, i64> = BTreeMap::new();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut atoms: Vec<Atom> = a.iter().chain(b).cloned().collect();
                atoms.sort();
                let sum = terms.entry(atoms).or_insert(0);
                *sum = sum.checked_add(x.checked_mul(*y)?)?;
            }
        }
        terms.retain(|_, c| *c != 0);
        (terms.len() <= TERMS).then_some(Poly(terms))
    }

    /// The number that the polynomial is.
    pub fn as_number(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The constant term.
    pub fn constant(&self) -> i64 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Without the constant term.
    #[must_use]
    pub fn without_constant(&self) -> Poly {
        let mut poly = self.clone();
        poly.0.remove(&Vec::new());
        poly
    }

    /// The atoms of the terms, not those inside of quotients and the like.
    pub fn atoms(&self) -> BTreeSet<&Atom> {
        self.0.keys().flatten().collect()
    }

    /// Whether every atom, those inside of others too, satisfies a condition. `Div` and the like are looked into, and not asked about.
    pub fn all(&self, holds: &mut dyn FnMut(&Atom) -> bool) -> bool {
        self.0.keys().flatten().all(|atom| match atom.parts() {
            Some((_, a, b)) => a.all(holds) && b.all(holds),
            None => holds(atom),
        })
    }

    /// Whether the polynomial has the same value in all blocks, at all times.
    pub fn is_uniform(&self) -> bool {
        self.all(&mut |atom| matches!(atom, Atom::Blocks(_) | Atom::Uniform(_)))
    }

    /// With every atom, those inside of others too, replaced; `None` beyond 64 bits.
    pub fn map(&self, with: &mut dyn FnMut(&Atom) -> Poly) -> Option<Poly> {
        let replaced = |atom: &Atom| match atom.parts() {
            Some((make, a, b)) => Some(Poly::atom(make(Arc::new(a.map(with)?), Arc::new(b.map(with)?)))),
            None => Some(with(atom)),
        };
        self.of(Poly::number, replaced, Poly::binary)
    }

    /// The product, or the sum.
    pub(super) fn binary(each: Each, a: Poly, b: Poly) -> Option<Poly> {
        if each == Each::Mul { a.times(&b) } else { a.plus(&b, 1) }
    }
}

/// Makes an atom of two polynomials.
type Make = fn(Arc<Poly>, Arc<Poly>) -> Atom;

impl Atom {
    /// The constructor and the two polynomials of an atom that is made of two.
    pub(super) fn parts(&self) -> Option<(Make, &Poly, &Poly)> {
        match self {
            Atom::Div(a, b) => Some((Atom::Div, a, b)),
            Atom::Mod(a, b) => Some((Atom::Mod, a, b)),
            Atom::Min(a, b) => Some((Atom::Min, a, b)),
            Atom::Max(a, b) => Some((Atom::Max, a, b)),
            _ => None,
        }
    }

    fn show(&self, name: &dyn Fn(Value) -> String) -> String {
        match self {
            Atom::Bid(axis) => format!("bid({axis})"),
            Atom::Blocks(axis) => format!("num_blocks({axis})"),
            Atom::Uniform(value) | Atom::Free(value) => name(*value),
            Atom::Iteration(value) => format!("iteration({})", name(*value)),
            Atom::Lane(_, value) => format!("lane({})", name(*value)),
            Atom::Element(axis) => format!("element({axis})"),
            Atom::Which(axis) => format!("which({axis})"),
            Atom::Div(a, b) => format!("({}) / ({})", a.show(name), b.show(name)),
            Atom::Mod(a, b) => format!("({}) % ({})", a.show(name), b.show(name)),
            Atom::Min(a, b) => format!("min({}, {})", a.show(name), b.show(name)),
            Atom::Max(a, b) => format!("max({}, {})", a.show(name), b.show(name)),
        }
    }
}

impl Poly {
    /// The polynomial as text, with the names of values.
    pub fn show(&self, name: &dyn Fn(Value) -> String) -> String {
        if self.0.is_empty() {
            return String::from("0");
        }
        let mut text = String::new();
        for (i, (atoms, factor)) in self.0.iter().enumerate() {
            text += match (i, *factor < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let size = factor.unsigned_abs();
            if size != 1 || atoms.is_empty() {
                text += &size.to_string();
            }
            for (j, atom) in atoms.iter().enumerate() {
                text += if j > 0 || size != 1 { "*" } else { "" };
                text += &atom.show(name);
            }
        }
        text
    }
}

/// A value by its number.
fn number(value: Value) -> String {
    format!("%{}", value.0)
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&number))
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&number))
    }
}

impl fmt::Debug for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
