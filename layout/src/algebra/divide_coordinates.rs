//! Divides by a tile whose indices are coordinates of the layout's shape.

use crate::algebra::compose_coordinates::{along, leaves_along, node_at, require_coordinates, stay};
use crate::algebra::divide_integers::divide_by_integers;
use crate::tuple::profile::Node;
use crate::{Error, Lay, ModePath};

/// Appends the tile's modes and the rest's, each mode of the left-hand side divided by the leaves that go along it: a
/// mode that no leaf goes along is part of the rest as it is.
pub(crate) const fn divide_by_coordinates(
    left: &Lay,
    l: Node,
    tiles: &Lay,
    t: Node,
    room: &mut [Lay; 2],
    out: &mut Lay,
) -> Result<(), Error> {
    tri!(require_coordinates("a divide", tiles, t));
    tri!(out.open());
    let mut i = t.begin;
    while i < t.end {
        let (opens, closes) = tiles.shape.profile.parens(t, i);
        tri!(out.shape.profile.open_many(opens));
        match along(tiles, i) {
            Some(path) => {
                let (group, k) = tri!(leaves_along(tiles, t, path, i));
                let mut divided = Lay::EMPTY;
                let node = tri!(node_at(left, l, path));
                tri!(divide_by_integers(left, node, &group, group.root(), room, &mut divided));
                let tile = tri!(divided.node(0));
                tri!(out.copy(&divided, tri!(divided.part(tile, k))));
            }
            None => tri!(stay(tiles, i, out)),
        }
        out.shape.profile.close_many(closes);
        i += 1;
    }
    tri!(rest_into(left, l, ModePath::ROOT, tiles, t, room, out));
    out.close();
    Ok(())
}

/// Appends where the tiles are in the subtree of `left` at `path`.
const fn rest_into(
    left: &Lay,
    node: Node,
    path: ModePath,
    tiles: &Lay,
    t: Node,
    room: &mut [Lay; 2],
    out: &mut Lay,
) -> Result<(), Error> {
    let (mut deeper, mut i) = (false, t.begin);
    while i < t.end {
        match along(tiles, i) {
            Some(mode) if mode.same(path) => {
                let (group, _) = tri!(leaves_along(tiles, t, path, i));
                let mut divided = Lay::EMPTY;
                tri!(divide_by_integers(left, node, &group, group.root(), room, &mut divided));
                return out.copy(&divided, tri!(divided.node(1)));
            }
            Some(mode) if mode.after(path).is_some() => deeper = true,
            _ => {}
        }
        i += 1;
    }
    if !deeper {
        return out.copy(left, node);
    }
    tri!(out.open());
    let mut k = 0;
    while k < left.shape.profile.rank_of(node) {
        let (mode, path) = (tri!(left.part(node, k)), tri!(path.then(k)));
        tri!(rest_into(left, mode, path, tiles, t, room, out));
        k += 1;
    }
    out.close();
    Ok(())
}
