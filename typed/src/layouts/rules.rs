//! The arithmetic of [`Int`](super::Int) for run-time integers: results depend on what is static, not on the values
//! that dynamic integers happen to have.

use girih_layout::{Error, Int, Stride};

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
    a.is_static() && (!b.is_static() || a.coefficient() < b.coefficient())
}

/// Whether both are static and `a` divides `b`.
pub(super) const fn divides(a: Int, b: Int) -> bool {
    a.is_static() && b.is_static() && matches!(b.coefficient().checked_rem(a.coefficient()), Some(0))
}

/// The quotient of numbers of at least 0, rounded up. The quotient by 0 is the greatest number, but 0 if `a` is static
/// 0.
pub(super) const fn ceil_div(a: Int, b: Int) -> Result<Int, Error> {
    if is_zero(a) || a.is_static() && a.coefficient() < 0 || b.is_static() && b.coefficient() < 0 {
        return Ok(Int::ZERO);
    }
    let quotient =
        match (a.coefficient().checked_rem(b.coefficient()), a.coefficient().checked_div(b.coefficient())) {
            (Some(rest), Some(quotient)) => quotient + (rest > 0) as i64,
            _ if b.coefficient() == 0 => i64::MAX,
            _ => return Err(Error::Overflow { op: "a quotient" }),
        };
    Ok(if a.is_static() && b.is_static() { Int::fixed(quotient) } else { Int::value(quotient) })
}

/// The least of two extents.
pub(super) const fn least(a: Int, b: Int) -> Int {
    if is_one(a) {
        return a;
    }
    let least = if a.coefficient() < b.coefficient() { a.coefficient() } else { b.coefficient() };
    if a.is_static() && b.is_static() { Int::fixed(least) } else { Int::value(least) }
}

/// The integer less 1, at least 0.
pub(super) const fn pred(a: Int) -> Int {
    let less = if a.coefficient() > 0 { a.coefficient() - 1 } else { 0 };
    if a.is_static() { Int::fixed(less) } else { Int::value(less) }
}

/// The sum of numbers of at least 0.
pub(super) const fn add(a: Int, b: Int) -> Result<Int, Error> {
    if is_zero(a) || a.is_static() && a.coefficient() < 0 {
        return Ok(b);
    }
    if is_zero(b) || b.is_static() && b.coefficient() < 0 {
        return Ok(a);
    }
    match a.coefficient().checked_add(b.coefficient()) {
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

/// The integer that the stride of an operand of `op` must be.
pub(super) const fn integer(op: &'static str, stride: Stride) -> Result<Int, Error> {
    match stride {
        Stride::Int(stride) => Ok(stride),
        Stride::Basis { .. } => Err(Error::Unsupported { op, what: "basis strides" }),
        Stride::F2(_) => Err(Error::Unsupported { op, what: "F2 columns" }),
    }
}

/// The greatest common divisor.
pub(super) const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

/// Whether both are static and the same; basis strides must also be along the same basis vector.
pub(super) const fn same_stride(a: Stride, b: Stride) -> bool {
    match (a, b) {
        (Stride::Int(a), Stride::Int(b)) => same(a, b),
        (Stride::Basis { scale, .. }, Stride::Basis { scale: other, .. }) => same(scale, other) && a.same(b),
        _ => false,
    }
}
