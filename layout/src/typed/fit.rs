//! A result put into the structure that its type has: static integers stay in their places, dynamic integers take the
//! values that the result needs.

use crate::tuple::profile::Node;
use crate::{Int, Lay, Stride};

/// `exact` under the tree and with the static integers of `found`, if that is possible; with `whole`, without regard to
/// the tree of `exact`.
pub(super) fn fit(found: &Lay, exact: &Lay, whole: bool) -> Option<Lay> {
    let mut out = *found;
    fit_node(&mut out, found.root(), exact, exact.root(), whole)?;
    Some(out)
}

fn fit_node(out: &mut Lay, f: Node, exact: &Lay, e: Node, whole: bool) -> Option<()> {
    let alike =
        !f.is_leaf() && !e.is_leaf() && out.shape.profile.rank_of(f) == exact.shape.profile.rank_of(e);
    if whole || !alike {
        let mut part = Lay::EMPTY;
        part.copy(exact, e).ok()?;
        return fill(out, f, &part.coalesce());
    }
    let (mut i, mut j) = (f.begin, e.begin);
    while i < f.end {
        let (ours, theirs) = (out.shape.profile.child(f, i), exact.shape.profile.child(e, j));
        fit_node(out, ours, exact, theirs, false)?;
        (i, j) = (ours.end, theirs.end);
    }
    Some(())
}

/// Gives the leaves of a subtree the values of coalesced modes, from left to right.
fn fill(out: &mut Lay, node: Node, modes: &Lay) -> Option<()> {
    let leaves = node.begin..node.end;
    let mut rest = modes.size().ok()?.get()?;
    let (mut next, mut extent, mut stride) = (0, 1, Stride::ZERO);
    for i in leaves.clone() {
        if extent == 1 && next < modes.leaf_count() {
            extent = modes.extent(next).get()?;
            stride = modes.step(next);
            next += 1;
        }
        let (s, d) = (out.extent(i), out.step(i));
        let fits = steps(d, stride);
        let taken = if s.is_static() {
            s.get()?
        } else if leaves.clone().skip(i + 1 - node.begin).all(|k| out.extent(k).is_static()) {
            // The last dynamic extent takes all coordinates that the leaves behind it leave.
            let others = leaves.clone().skip(i + 1 - node.begin).map(|k| out.extent(k).coef);
            rest.checked_div(others.product())?
        } else if fits {
            extent
        } else {
            1
        };
        if taken < 1 || extent % taken != 0 || taken > 1 && !fits {
            return None;
        }
        if !s.is_static() {
            out.set_extent(i, Int::value(taken)).ok()?;
        }
        if taken > 1 {
            out.set_step(i, as_in(d, stride)).ok()?;
            (extent, rest) = (extent / taken, rest / taken);
            stride = stride.scaled(Int::value(taken)).ok()?;
        }
    }
    (rest == 1).then_some(())
}

/// Whether a leaf of stride `d` can have the stride `wanted`.
fn steps(d: Stride, wanted: Stride) -> bool {
    match (d, wanted) {
        (Stride::Int(d), Stride::Int(wanted)) => !d.is_static() || d.same(wanted),
        (Stride::Basis { scale: d, mode: i }, Stride::Basis { scale: wanted, mode: j }) => {
            i == j && (!d.is_static() || d.same(wanted))
        }
        _ => false,
    }
}

/// The stride `wanted` if `d` is dynamic, otherwise `d`.
fn as_in(d: Stride, wanted: Stride) -> Stride {
    match (d, wanted) {
        (Stride::Int(d), Stride::Int(wanted)) if !d.is_static() => Stride::Int(Int::value(wanted.coef)),
        (Stride::Basis { scale, mode }, Stride::Basis { scale: wanted, .. }) if !scale.is_static() => {
            Stride::Basis { scale: Int::value(wanted.coef), mode }
        }
        _ => d,
    }
}
