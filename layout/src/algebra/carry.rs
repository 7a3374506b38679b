//! Whether composing leaf by leaf is right: the no-carry condition, and the comparison with the definition where it fails.

use crate::exact::definition::Function;
use crate::exact::space::Space;
use crate::leaf::symbol::gcd;
use crate::tuple::profile::Node;
use crate::{EXACT_LIMIT, Error, Int, Lay, Stride};

const OP: &str = "composition";

/// Whether the digits of the right-hand leaves provably never carry across an end of a left-hand mode.
const fn no_carry<const F: usize>(a: &Lay, right: &Lay, r: Node) -> bool {
    let (mut end, mut i) = (Int::<F>::number(1, true), 0);
    while i + 1 < a.leaf_count() {
        end = match end.mul(a.extent_at(i)) {
            Ok(end) => end,
            Err(Error::Overflow { .. }) => return true, // no index gets there
            Err(_) => return false,
        };
        if !stays_below(right, r, end) && !chain_divides(right, r, end) {
            return false;
        }
        i += 1;
    }
    true
}

/// The no-carry condition for one `end` by its definition; `false` where a number that matters is not known.
const fn stays_below<const F: usize>(right: &Lay, r: Node, end: Int<F>) -> bool {
    let (mut sum, mut i) = (0i64, r.begin);
    while i < r.end {
        let (s, d) = (right.extent_at::<F>(i), right.step_at::<F>(i));
        i += 1;
        if !d.is_int() {
            return false;
        }
        let d = d.scale;
        if s.is(1) || d.div_exact(end).is_some() {
            continue;
        }
        let most = match (s.get(), d.get(), end.get()) {
            (Some(s), Some(d), Some(end)) => most_modulo(s, d, end),
            (_, Some(d), Some(end)) => end - gcd(d, end),
            (Some(s), Some(d), None) => match (s - 1).checked_mul(d) {
                Some(reach) => reach,
                None => return false,
            },
            _ => return false,
        };
        sum = match sum.checked_add(most) {
            Some(sum) => sum,
            None => return false,
        };
    }
    matches!(Int::number(sum, false).less(end), Some(true))
}

/// The greatest `x*d mod p` for `0 <= x < s`, or a bound on it where that would take long.
const fn most_modulo(s: i64, d: i64, p: i64) -> i64 {
    const FEW: i64 = 4096;
    let d = d % p;
    if let Some(reach) = (s - 1).checked_mul(d)
        && reach < p
    {
        return reach;
    }
    let g = gcd(d, p);
    if s >= p / g || s > FEW {
        return p - g;
    }
    let (mut most, mut x, mut value) = (0, 1, 0i128);
    while x < s {
        value = (value + d as i128) % p as i128;
        if value > most {
            most = value;
        }
        x += 1;
    }
    most as i64
}

/// Whether each leaf below `end`, from left to right, has a stride that is a multiple of the end of the leaf before
/// (extent times stride), and `end` is a multiple of the last leaf's end: then no sum of digits reaches `end`. This
/// works on symbols.
const fn chain_divides<const F: usize>(right: &Lay, r: Node, end: Int<F>) -> bool {
    let (mut reach, mut i) = (Int::number(1, true), r.begin);
    while i < r.end {
        let (s, d) = (right.extent_at::<F>(i), right.step_at::<F>(i));
        i += 1;
        if !d.is_int() {
            return false;
        }
        let d = d.scale;
        if s.is(1) || d.is(0) || d.div_exact(end).is_some() {
            continue;
        }
        if d.div_exact(reach).is_none() {
            return false;
        }
        reach = match d.mul(s) {
            Ok(reach) => reach,
            Err(_) => return false,
        };
    }
    end.div_exact(reach).is_some()
}

/// Whether no two right-hand leaves reach the same bit of the index: then adding their contributions is joining them by
/// exclusive or.
const fn bits_apart(right: &Lay, r: Node) -> bool {
    let (mut taken, mut i) = (0u64, r.begin);
    while i < r.end {
        let (s, d) = (right.extent(i), right.step(i));
        i += 1;
        if s.is(1) || d.is_zero() {
            continue;
        }
        let (Some(s), Stride::Int(d)) = (s.get(), d) else { return false };
        let Some(d) = d.get() else { return false };
        if s & (s - 1) != 0 || d < 1 || d & (d - 1) != 0 || s.trailing_zeros() + d.trailing_zeros() > 62 {
            return false;
        }
        let bits = (s as u64 - 1) << d.trailing_zeros();
        if taken & bits != 0 {
            return false;
        }
        taken |= bits;
    }
    true
}

/// Whether composing leaf by leaf is right, by the rules above; `false` where the rules don't tell.
pub(crate) const fn composes_by_leaf<const F: usize>(a: &Lay, right: &Lay, r: Node) -> bool {
    (r.end - r.begin <= 1 || a.leaf_count() <= 1 || no_carry::<F>(a, right, r))
        && (r.end - r.begin <= 1 || !a.has_columns() || bits_apart(right, r))
}

/// Compares the sum of the leaves' lines with `a(right(c))` over the whole domain.
pub(crate) const fn by_definition(a: &Lay, right: &Lay, r: Node) -> Result<(), Error> {
    let mut size = 1i64;
    let mut i = r.begin;
    while i < r.end {
        let extent = right.extent(i);
        let Some(known) = extent.get() else {
            return Err(Error::NotKnown { op: OP, value: extent.quoted() });
        };
        tri!(right.step(i).require_known(OP));
        size = match size.checked_mul(known) {
            Some(size) if size <= EXACT_LIMIT => size,
            _ => return Err(Error::Carry { op: "composition", witness: None }),
        };
        i += 1;
    }
    let function = Function::Composition { left: a, right, node: r };
    match tri!(function.adds_up(&Space::of(a), &right.shape, r)) {
        Ok(()) => Ok(()),
        Err(refusal) => Err(Error::Carry { op: "composition", witness: refusal.witness }),
    }
}
