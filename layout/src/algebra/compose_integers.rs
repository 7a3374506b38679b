//! Composition of layouts with integer strides on the right: the walk that `composition.rs` describes, leaf by leaf.

use crate::algebra::carry::{by_definition, composes_by_leaf};
use crate::algebra::coalesce::{coalesce_into, is_coalesced, single_step};
use crate::arith::ask;
use crate::exact::definition::Function;
use crate::exact::space::Space;
use crate::leaf::step::Step;
use crate::tuple::profile::Node;
use crate::{EXACT_LIMIT, Error, Int, Lay, Symbol};

const OP: &str = "composition";

/// Appends the composition of two subtrees, the right-hand one with integer strides, to `out`.
pub(crate) const fn compose_integers<const F: usize>(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    if let Some(step) = single_step::<F>(left, l) {
        return scale_into(step, right, r, out);
    }
    let mut coalesced;
    let a = if l.end == left.leaf_count() && l.begin == 0 && is_coalesced::<F>(left, l) {
        left
    } else {
        coalesced = Lay::EMPTY;
        coalesce_into::<F>(left, l, true, &mut coalesced);
        &coalesced
    };
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        let (begin, stride) = (out.leaf_count(), tri!(right.step_at::<F>(i).require_int(OP)));
        tri!(compose_leaf(a, right.extent_at(i), stride, out));
        tri!(out.wrap_from(begin));
        out.shape.profile.close_many(closes);
        i += 1;
    }
    if composes_by_leaf::<F>(a, right, r) { Ok(()) } else { by_definition(a, right, r) }
}

/// Appends a subtree with its strides in units of `step`: the composition with a single mode.
const fn scale_into<const F: usize>(step: Step<F>, right: &Lay, r: Node, out: &mut Lay) -> Result<(), Error> {
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        let (s, d) = (right.extent_at::<F>(i), tri!(right.step_at(i).require_int(OP)));
        if s.is(1) {
            tri!(out.push_leaf::<F>(Int::number(1, true), Step::ZERO));
        } else {
            tri!(out.push_leaf(s, if d.is(0) { Step::ZERO } else { tri!(step.scaled(d)) }));
        }
        out.shape.profile.close_many(closes);
        i += 1;
    }
    Ok(())
}

/// Appends the modes of the composition `a o s:d`, flat; `a` is coalesced with its last mode kept.
const fn compose_leaf<const F: usize>(a: &Lay, s: Int<F>, d: Int<F>, out: &mut Lay) -> Result<(), Error> {
    if s.is(1) || d.is(0) {
        return if s.is(1) { Ok(()) } else { out.push_leaf(s, Step::ZERO) };
    }
    let last = a.leaf_count() - 1;
    if last > 0
        && let Some(lower) = d.lower()
        && lower < 0
    {
        // Only a single mode allows steps back. For some values of the symbols, several modes may be a single one.
        return Err(match a.is_symbolic() {
            true => Error::NotKnown { op: OP, value: a.first_symbolic().quoted() },
            false => Error::NonPositiveStride { op: OP, stride: d.quoted() },
        });
    }
    let begin = out.leaf_count();
    let strict = strict_leaf(a, s, d, out);
    if let (Err(_), Some(s), Some(d)) = (&strict, s.get(), d.get())
        && s <= EXACT_LIMIT
    {
        out.shape.profile.take_back(begin);
        match (Function::Extended { left: a, step: d }).line(&Space::of(a), 1, s, out) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(refusal)) if !a.is_symbolic() => {
                return Err(Error::NoLayout { op: OP, witness: refusal.witness });
            }
            Err(error @ (Error::Capacity { .. } | Error::Overflow { .. })) => return Err(error),
            _ => {}
        }
    }
    match strict {
        // For some values of the symbols there may be a layout where the rules refuse.
        Err(Error::StrideDivisibility { .. } | Error::ShapeDivisibility { .. }) if a.is_symbolic() => {
            Err(Error::NotKnown { op: OP, value: a.first_symbolic().quoted() })
        }
        strict => strict,
    }
}

const fn strict_leaf<const F: usize>(a: &Lay, s: Int<F>, d: Int<F>, out: &mut Lay) -> Result<(), Error> {
    let (mut s, mut d, mut i) = (s, d, 0);
    while i + 1 < a.leaf_count() {
        let (m, e) = (a.extent_at::<F>(i), a.step_at::<F>(i));
        i += 1;
        if let Some(steps) = d.div_exact(m) {
            d = steps;
            continue;
        }
        if ends_within(s, d, m) {
            return out.push_leaf(s, tri!(e.scaled(d)));
        }
        let Some(taken) = m.div_exact(d) else {
            return Err(undecided(m, s, d));
        };
        let Some(rest) = s.div_exact(taken) else {
            return Err(match first_symbol(m, s, d) {
                Some(_) => undecided(m, s, d),
                None => Error::ShapeDivisibility { op: OP, divisor: taken.quoted(), shape: s.quoted() },
            });
        };
        if !taken.is(1) {
            tri!(out.push_leaf(taken, tri!(e.scaled(d))));
        }
        (s, d) = (rest, Int::number(1, true));
        if s.is(1) {
            return Ok(());
        }
    }
    out.push_leaf(s, tri!(a.step_at(i).scaled(d)))
}

/// Whether `(s-1)*d < m` is known.
const fn ends_within<const F: usize>(s: Int<F>, d: Int<F>, m: Int<F>) -> bool {
    if let (Some(s), Some(d), Some(m)) = (s.upper(), d.upper(), m.lower()) {
        return match (s - 1).checked_mul(d) {
            Some(reach) => reach < m,
            None => false,
        };
    }
    false
}

const fn first_symbol<const F: usize>(m: Int<F>, s: Int<F>, d: Int<F>) -> Option<Symbol> {
    if let Some(symbol) = m.first_symbol() {
        return Some(symbol);
    }
    if let Some(symbol) = d.first_symbol() {
        return Some(symbol);
    }
    s.first_symbol()
}

/// The error of a walk that is stuck at extent `m`: what is wrong, or which fact would help.
const fn undecided<const F: usize>(m: Int<F>, s: Int<F>, d: Int<F>) -> Error {
    let (m, s, d) = (m.wide(), s.wide(), d.wide());
    if let (true, Some(s), Some(d)) = (m.is_symbolic(), s.get(), d.get()) {
        return ask::at_least(OP, m, (s - 1).saturating_mul(d).saturating_add(1));
    }
    if let (true, Some(m)) = (d.is_symbolic(), m.get()) {
        return ask::divisible(OP, d, m);
    }
    if let (false, false, true) = (m.is_symbolic(), d.is_symbolic(), s.is_symbolic())
        && let Some(taken) = m.div_exact(d)
        && let Some(n) = taken.get()
    {
        return ask::divisible(OP, s, n);
    }
    match first_symbol(m, s, d) {
        Some(_) if m.is_symbolic() => Error::NotKnown { op: OP, value: m.quoted() },
        Some(_) if d.is_symbolic() => Error::NotKnown { op: OP, value: d.quoted() },
        Some(_) => Error::NotKnown { op: OP, value: s.quoted() },
        None => Error::StrideDivisibility { op: OP, extent: m.coef, shape: s.quoted(), stride: d.coef },
    }
}
