//! A result put into the structure that its type has: static integers stay in their places, dynamic integers take the
//! values that the result needs.

use girih_layout::{Int, Lay, Stride};

use super::tree::{LeafList, Tree};

/// `exact` under the tree and with the static integers of `found`, if that is possible; with `whole`, without regard to
/// the tree of `exact`.
pub(super) fn fit(found: &Tree, exact: &Lay, whole: bool) -> Option<Tree> {
    let mut out = LeafList::EMPTY;
    fit_modes(found, exact, whole, &mut out)?;
    out.under(found.profile()).ok()
}

/// Appends the leaves of `found` with the values of `exact`.
fn fit_modes(found: &Tree, exact: &Lay, whole: bool, out: &mut LeafList) -> Option<()> {
    let alike = !found.is_leaf() && !exact.is_leaf() && found.rank() == exact.rank();
    if whole || !alike {
        return fill(found, &exact.coalesce(), out);
    }
    (0..found.rank()).try_for_each(|k| fit_modes(&found.mode(k).ok()?, &exact.mode(k).ok()?, false, out))
}

/// Appends the leaves of a tree with the values of coalesced modes, from left to right.
fn fill(found: &Tree, modes: &Lay, out: &mut LeafList) -> Option<()> {
    let leaves = found.leaf_count();
    let mut rest = modes.size().ok()?.get()?;
    let (mut next, mut extent, mut stride) = (0, 1, Stride::ZERO);
    for i in 0..leaves {
        if extent == 1 && next < modes.leaf_count() {
            extent = modes.flat_leaf(next).0.get()?;
            stride = modes.flat_leaf(next).1;
            next += 1;
        }
        let (s, d) = (found.extent(i), found.step(i));
        let fits = steps(d, stride);
        let behind = i + 1..leaves;
        let taken = if s.is_static() {
            s.get()?
        } else if behind.clone().all(|k| found.extent(k).is_static()) {
            // The last dynamic extent takes all coordinates that the leaves after it leave.
            let others = behind.map(|k| found.extent(k).coefficient());
            rest.checked_div(others.product())?
        } else if fits {
            extent
        } else {
            1
        };
        if taken < 1 || extent % taken != 0 || taken > 1 && !fits {
            return None;
        }
        let s = if s.is_static() { s } else { Int::value(taken) };
        out.push(s, if taken > 1 { as_in(d, stride) } else { d }).ok()?;
        if taken > 1 {
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
        (Stride::Int(d), Stride::Int(wanted)) if !d.is_static() => {
            Stride::Int(Int::value(wanted.coefficient()))
        }
        (Stride::Basis { scale, mode }, Stride::Basis { scale: wanted, .. }) if !scale.is_static() => {
            Stride::Basis { scale: Int::value(wanted.coefficient()), mode }
        }
        _ => d,
    }
}
