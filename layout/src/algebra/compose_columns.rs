//! Composition with F2 columns: `A(B(c))` where the digits of `A` or `B` join by exclusive or.
//!
//! If `B` has integer strides only, it composes leaf by leaf. If no two columns of `B` have a bit in common, the
//! columns are integers. Otherwise `B` is a map below `2^n` and integers in steps of `2^n` above. Where `A` maps these
//! two parts separately, and is a map over F2 itself below `2^n`, the maps multiply. Cases that these rules leave open
//! are settled by the definition: the values are those of a layout of integers, of a layout of columns, or of no
//! layout.

use crate::algebra::compose_integers::compose_integers;
use crate::exact::definition::Function;
use crate::exact::space::{Refusal, Space};
use crate::f2::columns::Parts;
use crate::leaf::int::FACTORS;
use crate::tuple::profile::Node;
use crate::tuple::store::Small;
use crate::{EXACT_LIMIT, Error, F2Matrix, Int, Lay, Stride};

const OP: &str = "composition";

/// Appends the composition of two subtrees, one of them with columns, to `out`.
pub(crate) const fn compose_columns(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    let (mut a, mut b) = (Lay::EMPTY, Lay::EMPTY);
    tri!(a.copy(left, l));
    tri!(b.copy(right, r));
    let refusal = match by_rules(&a, &b) {
        Ok(both) => return out.copy(&both, both.root()),
        Err(error) => error,
    };
    match tri!(b.size()).get() {
        Some(size) if size <= EXACT_LIMIT && !a.is_symbolic() && !b.is_symbolic() => {}
        _ => return Err(refusal),
    }
    match tri!(by_values(&a, &b)) {
        Ok(both) => out.copy(&both, both.root()),
        Err(_) if !b.has_columns() => Err(refusal),
        Err(none) => Err(Error::NoLayout { op: OP, witness: none.witness }),
    }
}

/// The composition leaf by leaf or part by part.
const fn by_rules(a: &Lay, b: &Lay) -> Result<Lay, Error> {
    if !b.has_columns() {
        return written!(|out| compose_integers::<FACTORS>(a, a.root(), b, b.root(), out));
    }
    let parts = tri!(b.parts(OP));
    if !parts.map.columns_apart() {
        return compose_parts(a, &parts, b);
    }
    a.composition(&b.columns_as_integers())
}

/// The composition part by part, if the left-hand side maps the two parts separately.
const fn compose_parts(a: &Lay, parts: &Parts, b: &Lay) -> Result<Lay, Error> {
    // The whole range of the map, then the steps above it.
    let mut range = Lay::EMPTY;
    tri!(range.open());
    tri!(range.push(parts.unit(), Stride::Int(Int::ONE)));
    let mut i = 0;
    while i < parts.upper.leaf_count() {
        tri!(range.push(parts.upper.extent(i), parts.upper.step(i)));
        i += 1;
    }
    range.close();
    let composed = tri!(a.composition(&range));
    let map = tri!(F2Matrix::of_layout(&tri!(composed.mode(0))));
    let map = tri!(map.after(&parts.map));
    let low = tri!(map.layout(&parts.low.shape.flatten().wrap()));
    // Columns do not touch integers above the columns' bits.
    let end = Int::value(match map.reduced().greatest().checked_ilog2() {
        Some(top) => 2 << top,
        None => 1,
    });
    let (joined, mut i) = (composed.has_columns() || low.has_columns(), tri!(composed.node(0)).end);
    while i < composed.leaf_count() {
        match composed.step(i) {
            Stride::Int(d) if !joined || d.div_exact(end).is_some() => {}
            _ => return Err(Error::Carry { op: "composition", witness: None }),
        }
        i += 1;
    }
    interleave(b, parts, &low, &composed)
}

/// The modes of `low`, and those of `rest` from mode 1 on, in the places of `b`'s leaves in the map and of its other
/// leaves.
pub(crate) const fn interleave(b: &Lay, parts: &Parts, low: &Lay, rest: &Lay) -> Result<Lay, Error> {
    let (mut out, root) = (Lay::EMPTY, b.root());
    let (mut next_low, mut next_rest, mut i) = (0, 1, root.begin);
    while i < root.end {
        let (opens, closes) = b.shape.profile.parens(root, i);
        tri!(out.shape.profile.open_many(opens));
        if parts.is_low[i] {
            tri!(out.copy(low, tri!(low.node(next_low))));
            next_low += 1;
        } else {
            tri!(out.copy(rest, tri!(rest.node(next_rest))));
            next_rest += 1;
        }
        out.shape.profile.close_many(closes);
        i += 1;
    }
    Ok(out)
}

/// The composition as a layout found from its values.
const fn by_values(a: &Lay, b: &Lay) -> Result<Result<Lay, Refusal>, Error> {
    let (function, root) = (Function::Joined { left: a, right: b }, b.root());
    let mut found = Lay::EMPTY;
    let Err(refusal) = tri!(function.lay_out(&Space::INTEGERS, &b.shape, root, &mut found)) else {
        return Ok(Ok(found));
    };
    found = Lay::EMPTY;
    match tri!(function.lay_out(&Space::COLUMNS, &b.shape, root, &mut found)) {
        Ok(()) => Ok(Ok(found)),
        Err(_) => Ok(Err(refusal)),
    }
}

impl Lay {
    /// The same function with integer strides, if no two columns have a bit in common.
    const fn columns_as_integers(&self) -> Lay {
        let (mut out, mut i) = (*self, 0);
        while i < out.leaf_count() {
            if let Stride::F2(column) = out.step(i) {
                out.steps.set(i, Small::number(column as i64, false));
            }
            i += 1;
        }
        out
    }
}
