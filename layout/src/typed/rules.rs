//! The arithmetic of [`Int`](super::Int) for run-time integers: results depend on what is static, not on the values
//! that dynamic integers happen to have.

use crate::{Error, Int, Stride};

pub(super) const fn is_one(a: Int) -> bool {
    a.is_static() && a.is(1)
}

pub(super) const fn is_zero(a: Int) -> bool {
    a.is_static() && a.is(0)
}

pub(super) const fn same(a: Int, b: Int) -> bool {
    a.is_static() && b.is_static() && a.same(b)
}

/// Whether `a` sorts before `b`.
pub(super) const fn less(a: Int, b: Int) -> bool {
    a.is_static() && (!b.is_static() || a.coef < b.coef)
}

/// Whether both are static and `a` divides `b`.
pub(super) const fn divides(a: Int, b: Int) -> bool {
    a.is_static() && b.is_static() && matches!(b.coef.checked_rem(a.coef), Some(0))
}

/// The quotient of numbers of at least 0, rounded up. The quotient by 0 is the greatest number, but 0 if `a` is static
/// 0.
pub(super) const fn ceil_div(a: Int, b: Int) -> Result<Int, Error> {
    if is_zero(a) || a.is_static() && a.coef < 0 || b.is_static() && b.coef < 0 {
        return Ok(Int::ZERO);
    }
    let quotient = match (a.coef.checked_rem(b.coef), a.coef.checked_div(b.coef)) {
        (Some(rest), Some(quotient)) => quotient + (rest > 0) as i64,
        _ if b.coef == 0 => i64::MAX,
        _ => return Err(Error::Overflow { op: "a quotient" }),
    };
    Ok(if a.is_static() && b.is_static() { Int::fixed(quotient) } else { Int::value(quotient) })
}

/// The least of two extents.
pub(super) const fn least(a: Int, b: Int) -> Int {
    if is_one(a) {
        return a;
    }
    let least = if a.coef < b.coef { a.coef } else { b.coef };
    if a.is_static() && b.is_static() { Int::fixed(least) } else { Int::value(least) }
}

/// The integer less 1, at least 0.
pub(super) const fn pred(a: Int) -> Int {
    let less = if a.coef > 0 { a.coef - 1 } else { 0 };
    if a.is_static() { Int::fixed(less) } else { Int::value(less) }
}

/// The sum of numbers of at least 0.
pub(super) const fn add(a: Int, b: Int) -> Result<Int, Error> {
    if is_zero(a) || a.is_static() && a.coef < 0 {
        return Ok(b);
    }
    if is_zero(b) || b.is_static() && b.coef < 0 {
        return Ok(a);
    }
    match a.coef.checked_add(b.coef) {
        Some(sum) if a.is_static() && b.is_static() => Ok(Int::fixed(sum)),
        Some(sum) => Ok(Int::value(sum)),
        None => Err(Error::Overflow { op: "a sum" }),
    }
}

pub(super) const fn is_zero_stride(d: Stride) -> bool {
    match d {
        Stride::Int(d) | Stride::Basis { scale: d, .. } => is_zero(d),
        Stride::F2(_) => false,
    }
}

/// Whether both are static and the same; basis strides must also be along the same basis vector.
pub(super) const fn same_stride(a: Stride, b: Stride) -> bool {
    match (a, b) {
        (Stride::Int(a), Stride::Int(b)) => same(a, b),
        (Stride::Basis { scale: a, mode: i }, Stride::Basis { scale: b, mode: j }) => i.same(j) && same(a, b),
        _ => false,
    }
}
