//! Errors for questions that only more facts about symbols can answer: the error names a fact that settles the
//! question, if a single fact does.

use crate::leaf::symbol::gcd;
use crate::{Error, Fact, Int, Symbol};

/// The error where the facts don't tell whether `value >= n`.
pub(crate) const fn at_least(op: &'static str, value: Int, n: i64) -> Error {
    let factors = value.factors();
    let mut i = 0;
    while i < factors.len() {
        if let Some(factor) = factors[i] {
            // A product of several factors is at least 1 when each factor is; a single fact does not give a larger
            // bound.
            let alone = i == 0 && factors[1].is_none();
            let least = match (alone, value.coefficient()) {
                (true, c @ 1..) => Some(((n - 1).div_euclid(c)).saturating_mul(factor.den).saturating_add(1)),
                (false, 1..) if n <= 1 => Some(1),
                _ => None,
            };
            if let Some(least) = least
                && factor.symbol.lower() < least
            {
                return fact(op, factor.symbol, Fact::AtLeast(least), value);
            }
        }
        i += 1;
    }
    Error::NotKnown { op, value: value.quoted() }
}

/// The error where the facts don't tell whether `n` divides `value`.
pub(crate) const fn divisible(op: &'static str, value: Int, n: i64) -> Error {
    match (value.factors()[0], value.factors()[1], n) {
        (Some(factor), None, 2..) => {
            let by = (n / gcd(n, value.coefficient())).saturating_mul(factor.den);
            fact(op, factor.symbol, Fact::DivisibleBy(by), value)
        }
        _ => Error::NotKnown { op, value: value.quoted() },
    }
}

/// The error that asks for `fact`, unless this is known already or contradicts the known facts.
pub(crate) const fn fact(op: &'static str, symbol: Symbol, fact: Fact, value: Int) -> Error {
    let with = match fact {
        Fact::DivisibleBy(n) => symbol.divisible_by(n),
        Fact::AtLeast(n) => symbol.at_least(n),
        Fact::AtMost(n) => symbol.at_most(n),
    };
    let news = with.divisor() != symbol.divisor()
        || with.lower() != symbol.lower()
        || !same(with.upper(), symbol.upper());
    // The least multiple of the divisor that is large enough.
    let lower = match fact {
        Fact::AtLeast(n) if n > symbol.lower() => n,
        _ => symbol.lower(),
    };
    let least = match lower.checked_add(with.divisor() - 1) {
        Some(up) => up / with.divisor() * with.divisor(),
        None => return Error::NotKnown { op, value: value.quoted() },
    };
    let possible = match with.upper() {
        Some(upper) => least <= upper,
        None => true,
    };
    if news && possible {
        Error::NeedsFact { op, symbol, fact }
    } else {
        Error::NotKnown { op, value: value.quoted() }
    }
}

const fn same(a: Option<i64>, b: Option<i64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => false,
    }
}

/// Whether an extent is at least 2; an error where the facts of a symbol don't tell.
pub(crate) const fn is_wide(op: &'static str, extent: Int) -> Result<bool, Error> {
    match (extent.lower(), extent.upper()) {
        (Some(2..), _) => Ok(true),
        (_, Some(..2)) => Ok(false),
        _ => Err(at_least(op, extent, 2)),
    }
}

/// Whether `a <= b`, where the facts tell.
pub(crate) const fn at_most(a: Int, b: Int) -> Option<bool> {
    if a.same(b) {
        return Some(true);
    }
    match b.less(a) {
        Some(less) => Some(!less),
        None => None,
    }
}

/// Whether two integers are equal for all values of their symbols (`true`), or for none (`false`).
pub(crate) const fn equal(a: Int, b: Int) -> Option<bool> {
    if a.same(b) {
        return Some(true);
    }
    match (a.less(b), b.less(a)) {
        (Some(true), _) | (_, Some(true)) => Some(false),
        (Some(false), Some(false)) => Some(true),
        _ => None,
    }
}
