//! Facts about an expression: its range, its divisor, and the bits that can be set.

use super::{Atom, Expr, Term};
use crate::Error;

/// The bound at which ranges saturate. Sums and products beyond it are right modulo 2^64, which is enough for the parts of an
/// address; [`Expr::check_fits`] refuses any other operation on such expressions.
pub(super) const FAR: i64 = i64::MAX / 4;

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

/// A mask of all bits up to the highest bit of `upper`.
fn bits_up_to(upper: i64) -> i64 {
    if upper <= 0 { 0 } else { (1u64 << (64 - (upper as u64).leading_zeros()).min(62)) as i64 - 1 }
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
            Atom::Refused(_) => (-FAR, FAR),
        }
    }

    /// A divisor of every value this atom takes.
    fn multiple(&self) -> i64 {
        match self {
            Atom::Var { multiple, .. } | Atom::Symbol { multiple, .. } => *multiple,
            Atom::Div(x, c) if x.multiple() % c == 0 => (x.multiple() / c).max(1),
            Atom::Div(..) => 1,
            Atom::Rem(x, c) => num_integer::gcd(x.multiple(), *c),
            Atom::Xor(a, b) => power_of_two_in(a.multiple()).min(power_of_two_in(b.multiple())),
            Atom::And(x, mask) => power_of_two_in(x.possible_bits() & mask),
            Atom::Min(a, b) | Atom::Max(a, b) => num_integer::gcd(a.multiple(), b.multiple()),
            Atom::Refused(_) => 1,
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
        self.atoms
            .iter()
            .fold(self.coefficient.saturating_abs(), |m, a| m.saturating_mul(a.multiple()).min(FAR))
    }
}

/// The facts of a sum.
#[derive(Clone, Copy)]
pub(super) struct Known {
    range: (i64, i64),
    multiple: i64,
    possible_bits: i64,
}

impl Known {
    pub(super) fn of(terms: &[Term], constant: i64) -> Known {
        let start = (i128::from(constant), i128::from(constant));
        let (low, high) = terms.iter().fold(start, |(low, high), term| {
            let (l, h) = term.range();
            (low + i128::from(l), high + i128::from(h))
        });
        let range = (saturate(low), saturate(high));
        let multiple = terms.iter().fold(constant.saturating_abs(), |m, t| num_integer::gcd(m, t.multiple()));
        let coarse = bits_up_to(range.1) & !(power_of_two_in(multiple) - 1);
        let possible_bits = summands_bits(terms, constant).map_or(coarse, |bits| bits & coarse);
        Known { range, multiple, possible_bits }
    }
}

/// The bits that can be set in the summands, if each is an atom times a power of two and no two can have a bit in common.
fn summands_bits(terms: &[Term], constant: i64) -> Option<i64> {
    let mut seen = constant;
    for term in terms {
        let single = term.atoms.len() == 1
            && term.coefficient > 0
            && term.coefficient & (term.coefficient - 1) == 0
            && term.range().0 >= 0;
        let bits = if single {
            i128::from(term.atoms[0].possible_bits()) * i128::from(term.coefficient)
        } else {
            -1
        };
        let bits = i64::try_from(bits).ok()?;
        if bits < 0 || seen < 0 || seen & bits != 0 {
            return None;
        }
        seen |= bits;
    }
    Some(seen)
}

impl Expr {
    /// Least and greatest value (saturated far beyond 32 bits).
    pub fn range(&self) -> (i64, i64) {
        self.0.known.range
    }

    /// The greatest known divisor of every value (0 only for the constant 0).
    pub fn multiple(&self) -> i64 {
        self.0.known.multiple
    }

    /// Checks that the range is known to fit 64 bits. Sums and products alone need not fit, since they are right modulo 2^64.
    pub(crate) fn check_fits(&self, operation: &'static str) -> Result<(), Error> {
        if let Some(error) = self.refusal() {
            return Err(error.clone());
        }
        let (lower, upper) = self.range();
        if lower <= -FAR || upper >= FAR {
            let accepted = "an expression that is known to stay below 2^61";
            return Err(Error::Arithmetic { operation, operand: self.to_string(), by: None, accepted });
        }
        Ok(())
    }

    /// The bits that can be set in some value, for an expression that is never negative.
    pub(crate) fn possible_bits(&self) -> i64 {
        self.0.known.possible_bits
    }
}
