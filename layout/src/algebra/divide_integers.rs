//! The divide of a subtree by a tile of integer strides or columns: the tile, then its complement in the domain rounded up to whole tiles.

use crate::algebra::coalesce::coalesce_into;
use crate::algebra::complement::{complement_into, end_of};
use crate::algebra::composition::compose_into;
use crate::arith::ask;
use crate::leaf::int::{FACTORS, KNOWN};
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, Stride};

/// Appends the divide of a subtree by another one of integer strides or columns; `room` is where its operands are written.
pub(crate) const fn divide_by_integers(
    left: &Lay,
    l: Node,
    tiles: &Lay,
    t: Node,
    room: &mut [Lay; 2],
    out: &mut Lay,
) -> Result<(), Error> {
    let [domain, right] = room;
    domain.restart();
    right.restart();
    if left.is_known() && tiles.is_known() {
        coalesce_into::<KNOWN>(left, l, true, domain);
        tri!(tile_and_rest::<KNOWN>(domain, tiles, t, right));
    } else {
        coalesce_into::<FACTORS>(left, l, true, domain);
        tri!(tile_and_rest::<FACTORS>(domain, tiles, t, right));
    }
    compose_into(domain, domain.root(), right, right.root(), out)
}

/// Rounds the coalesced domain up to whole tiles, and writes `(tile, complement(tile, size(domain)))`.
pub(crate) const fn tile_and_rest<const F: usize>(
    domain: &mut Lay,
    tiles: &Lay,
    t: Node,
    right: &mut Lay,
) -> Result<(), Error> {
    tri!(right.open());
    tri!(right.copy(tiles, t));
    if right.has_columns() {
        let parts = tri!(right.parts("a divide"));
        tri!(round_up(domain, tri!(parts.end())));
        tri!(parts.complement_into(tri!(domain.size()), right));
        right.close();
        return Ok(());
    }
    let mut sorted;
    let (modes, node) = if tiles.is_sorted(t) {
        (tiles, t)
    } else {
        sorted = Lay::EMPTY;
        tri!(right.sort_into::<F>("a divide", &mut sorted));
        (&sorted, sorted.root())
    };
    tri!(round_up::<F>(domain, tri!(end_of(modes, node))));
    let size = tri!(domain.shape.product_of::<F>(domain.root()));
    tri!(complement_into(modes, node, size, right));
    right.close();
    Ok(())
}

/// Refuses to round up a mode that for some values of the symbols merges with a later mode: then the merged mode would
/// have to be rounded, or nothing.
const fn require_apart(domain: &Lay, i: usize, step: Int) -> Result<(), Error> {
    let (extent, stride) = domain.flat_leaf(i);
    let mut k = i + 1;
    while k < domain.leaf_count() {
        let (later, next) = domain.flat_leaf(k);
        if let (Stride::Int(d), Stride::Int(next)) = (stride, next) {
            let end = tri!(d.mul(extent));
            if !matches!(ask::equal(end, next), Some(false)) {
                return Err(match (extent.is_symbolic(), step.get()) {
                    (true, Some(step)) => ask::divisible("a divide", extent, step),
                    _ => Error::NotKnown {
                        op: "a divide",
                        value: (if next.is_symbolic() { next } else { end }).quoted(),
                    },
                });
            }
        }
        // A mode further on can only continue mode `i` past modes whose extent may be 1.
        if !matches!(later.lower(), Some(..=1)) {
            return Ok(());
        }
        k += 1;
    }
    Ok(())
}

/// Rounds the mode in which the tile ends up to whole tiles, so that no tile straddles its end: with `4:1`, `(9,16):(96,3)` is divided as
/// `(12,16):(96,3)`, 3 tiles in each of 16 columns. The last mode needs no rounding: it goes on by itself.
const fn round_up<const F: usize>(domain: &mut Lay, end: Int<F>) -> Result<(), Error> {
    let (mut begin, mut i) = (Int::number(1, true), 0);
    while i + 1 < domain.leaf_count() {
        let extent = domain.extent_at::<F>(i);
        let Some(step) = end.div_exact(begin) else {
            return Ok(());
        };
        let next = tri!(begin.mul(extent));
        if matches!(end.less(next), Some(true)) {
            if extent.div_exact(step).is_none() {
                tri!(require_apart(domain, i, step.wide()));
                tri!(domain.set_extent(i, tri!(tri!(extent.ceil_div(step)).mul(step))));
            }
            return Ok(());
        }
        begin = next;
        i += 1;
    }
    Ok(())
}
