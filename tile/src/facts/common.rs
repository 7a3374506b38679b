//! The coordinates that accesses of different blocks have in common where they meet.

use std::collections::BTreeSet;

use num_integer::gcd;

use super::access::Access;
use super::disjoint::Extra;
use super::index::Index;
use super::poly::{Atom, Poly};
use crate::fit;
use crate::ir::Value;

/// The coordinates that two accesses of different forms have in common where they meet: along axes of one form, and along those where they
/// are apart by a number that is the same in all blocks.
pub(super) fn between(index: &Index<'_>, a: &Access, b: &Access) -> (Vec<Poly>, Extra) {
    let along = |access: &Access, axes: &[usize]| Access {
        origin: axes.iter().map(|&axis| access.origin[axis].clone()).collect(),
        tile: axes.iter().map(|&axis| access.tile[axis]).collect(),
        ..access.clone()
    };
    let alike = |axes: &[usize]| form(&along(a, axes)) == form(&along(b, axes));
    let (same, other): (Vec<usize>, Vec<usize>) = (0..a.origin.len()).partition(|&axis| alike(&[axis]));
    let same = if alike(&same) { same } else { Vec::new() };
    let (mut common, mut extra) = union(index, &[&along(a, &same), &along(b, &same)]);
    for axis in other {
        let Some(apart) = b.origin[axis].plus(&a.origin[axis], -1).filter(Poly::is_uniform) else { continue };
        let number = fit::axis(common.len());
        let which = Poly::atom(Atom::Which(number)).times(&apart);
        let poly = which.and_then(|which| a.origin[axis].plus(&which, 1));
        if let Some(poly) = poly.and_then(|poly| poly.plus(&Poly::atom(Atom::Element(number)), 1)) {
            common.push(poly);
            extra.elements.push(a.tile[axis].max(b.tile[axis]));
            extra.which.push(2);
        }
    }
    (common, extra)
}

/// The coordinates without their constants, with loops and lanes numbered as they appear: what is equal for accesses that differ by
/// constants alone.
pub(super) fn form(access: &Access) -> Vec<Poly> {
    let mut seen: Vec<Atom> = Vec::new();
    let mut number = |atom: &Atom| match atom {
        Atom::Iteration(_) | Atom::Lane(..) => {
            let at = seen.iter().position(|other| other == atom).unwrap_or_else(|| {
                seen.push(atom.clone());
                seen.len() - 1
            });
            let value = Value(u32::MAX - fit::item(at));
            Poly::atom(match atom {
                Atom::Iteration(_) => Atom::Iteration(value),
                _ => Atom::Lane(value, value),
            })
        }
        other => Poly::atom(other.clone()),
    };
    access
        .origin
        .iter()
        .map(|poly| poly.without_constant().map(&mut number).unwrap_or_else(|| poly.clone()))
        .collect()
}

/// Accesses by their form.
pub(super) fn groups<'a>(of: &[&'a Access]) -> Vec<Vec<&'a Access>> {
    let mut found: Vec<(Vec<Poly>, Vec<&Access>)> = Vec::new();
    for access in of {
        let form = form(access);
        match found.iter_mut().find(|(other, _)| *other == form) {
            Some((_, group)) => group.push(access),
            None => found.push((form, vec![access])),
        }
    }
    found.into_iter().map(|(_, group)| group).collect()
}

/// Whether two accesses never meet, since along some axis they keep to different numbers.
pub(super) fn apart(a: &Access, b: &Access) -> bool {
    // Expressions that are the same for all, but for constants.
    (0..a.origin.len()).any(|axis| {
        let (x, y) = (&a.origin[axis], &b.origin[axis]);
        let ([start, other], [tile, of_other]) = ([x, y].map(Poly::constant), [a.tile[axis], b.tile[axis]]);
        x.is_uniform()
            && x.without_constant() == y.without_constant()
            && (start + tile <= other || other + of_other <= start)
    })
}

/// The atoms of loops and lanes in the order in which they appear.
fn movers(access: &Access) -> Vec<Atom> {
    let mut seen = Vec::new();
    for poly in &access.origin {
        let _ = poly.map(&mut |atom| {
            if matches!(atom, Atom::Iteration(_) | Atom::Lane(..)) && !seen.contains(atom) {
                seen.push(atom.clone());
            }
            Poly::atom(atom.clone())
        });
    }
    seen
}

/// The coordinates that any two accesses of one form have in common where they meet.
pub(super) fn union(index: &Index<'_>, group: &[&Access]) -> (Vec<Poly>, Extra) {
    let first = group[0];
    let rank = first.origin.len();
    let mut extra = Extra { elements: vec![1; rank], which: vec![1; rank] };
    // Loops that differ in how far they go bound nothing.
    let own = movers(first);
    let mut loose = BTreeSet::new();
    for other in &group[1..] {
        for (mine, theirs) in own.iter().zip(movers(other)) {
            if mine != &theirs && index.extents(mine) != index.extents(&theirs) {
                loose.insert(mine.clone());
            }
        }
    }
    let mut common = Vec::new();
    for axis in 0..rank {
        extra.elements[axis] = group.iter().map(|access| access.tile[axis]).max().unwrap_or(1);
        let constants: Vec<i64> = group.iter().map(|access| access.origin[axis].constant()).collect();
        let least = constants.iter().copied().min().unwrap_or(0);
        let unit = constants.iter().map(|&c| c - least).fold(0, gcd);
        let mut poly = first.origin[axis].without_constant();
        if unit > 0 {
            let most = constants.iter().map(|&c| (c - least) / unit).max().unwrap_or(0);
            extra.which[axis] = most + 1;
            poly = poly.plus(&Poly::atom(Atom::Which(fit::axis(axis))), unit).unwrap_or_default();
        }
        if extra.elements[axis] > 1 {
            poly = poly.plus(&Poly::atom(Atom::Element(fit::axis(axis))), 1).unwrap_or_default();
        }
        let loosened = poly.map(&mut |atom| match atom {
            Atom::Iteration(value) | Atom::Lane(_, value) if loose.contains(atom) => {
                Poly::atom(Atom::Free(*value))
            }
            other => Poly::atom(other.clone()),
        });
        common.push(loosened.unwrap_or_default());
    }
    (common, extra)
}
