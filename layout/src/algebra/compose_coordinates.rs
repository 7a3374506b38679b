//! Composition with a right-hand side whose indices are coordinates of the left-hand shape: `A(B(c))` where the strides of `B` are basis
//! vectors (CuTe's composition with `ScaledBasis` strides).
//!
//! `A` at a coordinate is the sum of its modes at the coordinate's entries. So the leaves of `B` that go along one entry
//! are a layout of integers, which that mode of `A` is composed with.

use crate::algebra::compose_integers::compose_integers;
use crate::leaf::int::FACTORS;
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, ModePath, Stride};

/// Whether a leaf of the subtree has a basis vector.
pub(crate) const fn has_coordinates(of: &Lay, node: Node) -> bool {
    let mut i = node.begin;
    while i < node.end {
        if matches!(of.step(i), Stride::Basis { .. }) {
            return true;
        }
        i += 1;
    }
    false
}

/// The mode of the left-hand side that leaf `i` steps along; `None` for a leaf that stays where it is, or that counts indices.
pub(crate) const fn along(of: &Lay, i: usize) -> Option<ModePath> {
    match of.step(i) {
        Stride::Basis { scale, mode } if !scale.is(0) && !of.is_narrow(i) => Some(mode),
        _ => None,
    }
}

/// Refuses integers and columns mixed with basis vectors, and strides along a mode mixed with strides along modes of that mode.
pub(crate) const fn require_coordinates(op: &'static str, right: &Lay, r: Node) -> Result<(), Error> {
    let mut i = r.begin;
    while i < r.end {
        match along(right, i) {
            Some(mode) => {
                let mut k = r.begin;
                while k < r.end {
                    if let Some(other) = along(right, k)
                        && other.after(mode).is_some()
                    {
                        return Err(Error::MixedModes { op, mode });
                    }
                    k += 1;
                }
            }
            None if right.is_narrow(i) || right.step(i).is_zero() => {}
            None => {
                return Err(Error::Unsupported {
                    op,
                    what: "basis strides beside other strides on the right",
                });
            }
        }
        i += 1;
    }
    Ok(())
}

/// The node of `left`, in the subtree `l`, that a path leads to.
pub(crate) const fn node_at(left: &Lay, l: Node, path: ModePath) -> Result<Node, Error> {
    let (mut node, mut level) = (l, 0);
    while level < path.depth() {
        node = tri!(left.part(node, path.level(level)));
        level += 1;
    }
    Ok(node)
}

/// The leaves of `right` that go along `path`, with integer strides, as a flat tuple; and how many of them come before leaf `i`.
pub(crate) const fn leaves_along(
    right: &Lay,
    r: Node,
    path: ModePath,
    i: usize,
) -> Result<(Lay, usize), Error> {
    let (mut out, mut before, mut k) = (Lay::EMPTY, 0, r.begin);
    tri!(out.open());
    while k < r.end {
        if let Some(mode) = along(right, k)
            && mode.same(path)
            && let Stride::Basis { scale, .. } = right.step(k)
        {
            tri!(out.push(right.extent(k), Stride::Int(scale)));
            before += (k < i) as usize;
        }
        k += 1;
    }
    out.close();
    Ok((out, before))
}

/// Appends the composition of two subtrees, the right-hand one with basis strides, to `out`.
pub(crate) const fn compose_coordinates(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    tri!(require_coordinates("composition", right, r));
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        match along(right, i) {
            Some(path) => {
                let (group, k) = tri!(leaves_along(right, r, path, i));
                let (node, root) = (tri!(node_at(left, l, path)), group.root());
                let mut both = Lay::EMPTY;
                tri!(compose_integers::<FACTORS>(left, node, &group, root, &mut both));
                tri!(out.copy(&both, tri!(both.node(k))));
            }
            None => tri!(stay(right, i, out)),
        }
        out.shape.profile.close_many(closes);
        i += 1;
    }
    Ok(())
}

pub(crate) const fn stay(of: &Lay, i: usize, out: &mut Lay) -> Result<(), Error> {
    out.push(if of.is_narrow(i) { Int::ONE } else { of.extent(i) }, Stride::ZERO)
}

/// Refuses a right-hand side that leaves a mode of `left` which it goes along.
pub(crate) const fn require_within(left: &Lay, right: &Lay) -> Result<(), Error> {
    let r = right.root();
    tri!(require_coordinates("composition", right, r));
    let mut i = r.begin;
    while i < r.end {
        if let Some(path) = along(right, i) {
            let (mut mode, node) = (Lay::EMPTY, tri!(node_at(left, left.root(), path)));
            tri!(mode.copy(left, node));
            tri!(mode.compose_in_bounds(&tri!(leaves_along(right, r, path, i)).0));
        }
        i += 1;
    }
    Ok(())
}
