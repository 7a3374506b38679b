//! The operations that pick, cut and repeat, on numbers: each answer is judged by enumeration, without calling the algebra.

use std::collections::BTreeSet;

use girih_layout::{Error, Int, Lay, Product, Shape, Tiler};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::binding::Counts;
use crate::oracle::{at, injective, leaves, size, sorted, table};
use crate::soak;

/// The families of operations, by the name of one.
pub const FAMILIES: &[&str] = &[
    "max_common_layout",
    "max_common_vector",
    "domain_distribute",
    "logical_divide",
    "upcast",
    "downcast",
    "recast",
    "logical_product",
    "outer_product",
    "right_inverse",
    "left_inverse",
];

/// The operations of the command line's table that belong to the families.
pub const OPERATIONS: &[&str] = &[
    "max_common_layout",
    "max_common_vector",
    "domain_distribute",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "upcast",
    "downcast",
    "recast",
    "logical_product",
    "outer_product",
    "zipped_product",
    "tiled_product",
    "flat_product",
    "blocked_product",
    "raked_product",
    "right_inverse",
    "left_inverse",
];

/// What an answer must be, or why it is refused.
type Judged = Result<Result<(), String>, Error>;

/// Runs `count` cases of a family.
///
/// # Panics
/// For a name that is not in [`FAMILIES`].
pub fn run(family: &str, count: u64, seed: u64) -> Counts {
    let (mut rng, mut counts) = (StdRng::seed_from_u64(seed), Counts::default());
    for i in 0..count {
        let kind = (i % 4) as usize;
        let (a, b) = (small(&mut rng, kind, 4, 256), small(&mut rng, (i / 4 % 4) as usize, 2, 16));
        let n = [1, 2, 3, 4, 6, 8, 12][rng.random_range(0..7)];
        let (text, judged) = match family {
            "max_common_layout" | "max_common_vector" => {
                let b = related(&mut rng, &a);
                let judged =
                    if family.ends_with("layout") { common_layout(&a, &b) } else { common_vector(&a, &b) };
                (format!("{a}, {b}"), judged)
            }
            "domain_distribute" => (format!("{}, {n}", a.shape()), distributed(a.shape(), n)),
            "logical_divide" => (format!("{a}, {b}"), divided(&a, &b)),
            "upcast" => (format!("{a}, {n}"), a.upcast(n).map(|r| covers(&a, 1, &r, n))),
            "downcast" => (format!("{a}, {n}"), a.downcast(n).map(|r| covers(&a, n, &r, 1))),
            "recast" => {
                let old = [4, 8, 16, 24, 32][rng.random_range(0..5)];
                let new = [4, 8, 16, 24, 32][rng.random_range(0..5)];
                (format!("{a}, {old}, {new}"), a.recast(old, new).map(|r| covers(&a, old, &r, new)))
            }
            "logical_product" => (format!("{a}, {b}"), product(&a, &b)),
            "outer_product" => (format!("{a}, {b}"), outer(&a, &b)),
            "right_inverse" => (a.to_string(), a.right_inverse().map(|r| inverts_right(&a, &r))),
            "left_inverse" => (a.to_string(), left(&a)),
            other => panic!("there is no family {other}"),
        };
        match judged {
            Ok(Ok(())) => counts.right += 1,
            Ok(Err(why)) => counts.fail(format!("{family}({text}): {why}")),
            Err(_) => counts.refused += 1,
        }
    }
    counts
}

fn check(right: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(why()) }
}

/// A layout that is quick to enumerate; some steps of extents of 1 lead far away.
fn small(rng: &mut StdRng, family: usize, most: usize, largest: i64) -> Lay {
    loop {
        let lay = soak::layout(rng, family, most);
        if size(&lay) <= largest {
            return match rng.random_range(0..8) {
                0 => flipped(rng, &lay),
                _ => lay,
            };
        }
    }
}

/// One stride with another sign or another value.
fn flipped(rng: &mut StdRng, lay: &Lay) -> Lay {
    let at = rng.random_range(0..lay.leaf_count());
    let by = [-1, 0, 2, 100][rng.random_range(0..4)];
    let mut strides = leaves(lay).into_iter().enumerate().map(|(i, (_, d))| if i == at { d * by } else { d });
    let strides =
        lay.shape().map(|_| girih_layout::Stride::from(strides.next().unwrap_or(0))).unwrap_or(lay.stride());
    Lay::new(lay.shape(), &strides).unwrap_or(*lay)
}

/// The same layout with other steps or extents in places.
fn related(rng: &mut StdRng, lay: &Lay) -> Lay {
    match rng.random_range(0..3) {
        0 => flipped(rng, lay),
        1 => {
            let other = small(rng, 2, lay.leaf_count(), 256);
            if other.leaf_count() == lay.leaf_count() {
                Lay::new(other.shape(), &other.stride()).unwrap_or(*lay)
            } else {
                *lay
            }
        }
        _ => small(rng, 2, 3, 256),
    }
}

fn common_layout(a: &Lay, b: &Lay) -> Judged {
    let (r, places) = (a.max_common_layout(b)?, b.right_inverse()?.flatten());
    let (ta, tb, there) = (table(a), table(b), table(&r));
    let both = there
        .iter()
        .zip(0..)
        .all(|(c, i)| *c >= 0 && ta.get(*c as usize) == Some(&i) && tb.get(*c as usize) == Some(&i));
    // As far as the right inverse is common: whole modes of it, and a part of the next.
    let far =
        table(&places).iter().zip(0..).take_while(|(c, i)| ta.get(**c as usize) == Some(i)).count() as i64;
    let (mut whole, mut most) = (1, 1);
    for (extent, _) in leaves(&places) {
        most = whole * extent.min(far / whole).max(1);
        whole *= extent;
        if whole > far {
            break;
        }
    }
    Ok(check(both && there.len() as i64 == most, || format!("{r} is not the {most} that both share")))
}

fn common_vector(a: &Lay, b: &Lay) -> Judged {
    let width = a.max_common_vector(b)?;
    let common = table(a).iter().zip(table(b)).zip(0..).take_while(|((a, b), i)| **a == *i && b == i).count();
    // The places may begin in another mode, in which both count too.
    let n = width.get().unwrap_or(0);
    Ok(check(1 <= n && n <= common.max(1) as i64, || format!("{width} of {common}")))
}

fn distributed(shape: &Shape, n: i64) -> Judged {
    let r = Lay::domain_distribute(shape, n)?;
    let extents: Vec<i64> = shape.leaves().filter_map(|extent| extent.get()).collect();
    let (mut rest, mut workers) = (n, 1);
    for extent in &extents {
        let both = (1..=rest).rev().find(|d| rest % d == 0 && extent % d == 0).unwrap_or(1);
        (rest, workers) = (rest / both, workers * both);
    }
    let whole: i64 = extents.iter().product();
    let here = table(&r);
    // The workers and what is left over meet each coordinate once.
    let others = r.complement(Int::value(whole))?;
    let sums = sorted(table(&others).iter().flat_map(|o| here.iter().map(move |h| o + h)).collect());
    let even = sums.iter().copied().eq(0..whole);
    Ok(check(here.len() as i64 == workers && even, || format!("{r} does not divide {shape} evenly")))
}

fn divided(a: &Lay, tile: &Lay) -> Judged {
    let r = a.logical_divide(&Tiler::Lay(*tile))?;
    if r.size()?.get().is_none_or(|size| size > 1 << 13) {
        return Err(Error::Capacity { op: "an enumeration" }); // a tile that reaches far
    }
    let (first, all, whole) = (table(&r.mode(0)?), table(&r), table(a));
    let tiles = first.iter().zip(table(tile)).all(|(index, place)| *index == at(a, place));
    let there: BTreeSet<i64> = all.iter().copied().collect();
    let none_lost = whole.iter().all(|index| there.contains(index));
    let even = all.len() != whole.len() || sorted(all.clone()) == sorted(whole);
    let shapes = [Lay::zipped_divide, Lay::tiled_divide, Lay::flat_divide];
    let alike =
        shapes.iter().all(|divide| divide(a, &Tiler::Lay(*tile)).is_ok_and(|other| table(&other) == all));
    Ok(check(tiles && none_lost && even && alike, || {
        format!("{r}: tile {tiles}, all there {none_lost}, each once {even}, other forms {alike}")
    }))
}

/// Whether elements of `new` bits touch the bits of the elements of `old` bits and no others.
fn covers(a: &Lay, old: i64, r: &Lay, new: i64) -> Result<(), String> {
    let bits = |lay: &Lay, n: i64| -> BTreeSet<i64> {
        table(lay).into_iter().flat_map(|i| (i * n..(i + 1) * n).map(|bit| bit.div_euclid(new))).collect()
    };
    check(bits(a, old) == bits(r, new), || format!("{r} is not the same memory"))
}

fn product(a: &Lay, b: &Lay) -> Judged {
    let r = a.logical_product(&Tiler::Lay(*b))?;
    let (ta, all) = (table(a), table(&r));
    let origins: Vec<i64> = all.iter().step_by(ta.len()).copied().collect();
    let moved =
        all.chunks(ta.len()).zip(&origins).all(|(copy, o)| copy.iter().zip(&ta).all(|(i, x)| *i == o + x));
    let apart = !(injective(a) && injective(b)) || sorted(all.clone()).windows(2).all(|w| w[0] != w[1]);
    // The holes of the block in order, then past its end: the copy at `b(j)` begins at the hole of that number.
    let holes = a.complement(Int::value(size(a)).mul(b.cosize()?.try_into()?)?)?;
    let placed = origins.iter().zip(table(b)).all(|(origin, place)| *origin == at(&holes, place));
    let same = [Lay::zipped_product, Lay::tiled_product, Lay::flat_product]
        .iter()
        .all(|product| product(a, &Tiler::Lay(*b)).is_ok_and(|other| table(&other) == all));
    let blocks = [Lay::blocked_product, Lay::raked_product]
        .iter()
        .all(|product| product(a, b).map_or(true, |other| sorted(table(&other)) == sorted(all.clone())));
    Ok(check(moved && apart && placed && same && blocks, || {
        format!("{r}: moved {moved}, apart {apart}, placed {placed}, other forms {same}, blocks {blocks}")
    }))
}

fn outer(a: &Lay, b: &Lay) -> Judged {
    let r = a.logical_product_with(&Tiler::Lay(*b), Product::Outer)?;
    let ta = table(a);
    let ends = leaves(a).into_iter().filter(|(s, _)| *s > 1).map(|(s, d)| s * d);
    let reach = ends.chain(ta.iter().map(|index| index + 1)).max().unwrap_or(1);
    let by_definition: Vec<i64> =
        table(b).iter().flat_map(|y| ta.iter().map(move |x| x + reach * y)).collect();
    Ok(check(table(&r) == by_definition, || format!("{r} does not step by {reach}")))
}

fn inverts_right(a: &Lay, r: &Lay) -> Result<(), String> {
    let of = table(a);
    let right = table(r).iter().zip(0..).all(|(c, i)| of.get(*c as usize) == Some(&i));
    // Modes follow on one another, the largest of equal steps first.
    let (mut step, mut steps) = (1, Vec::new());
    for (s, d) in crate::oracle::leaves(&a.coalesce()) {
        steps.push((s, d, step));
        step *= s;
    }
    let mut end = 1;
    while let Some((s, ..)) = steps.iter().filter(|(s, d, _)| *s > 1 && *d == end).max_by_key(|(s, ..)| *s) {
        end *= s;
    }
    check(right && size(r) == end, || format!("{r}: right {right}, of {end}"))
}

fn left(a: &Lay) -> Judged {
    let of = table(a);
    if let Ok(q) = a.quasi_inverse() {
        let back = of.iter().all(|index| of.get(at(&q, *index) as usize) == Some(index));
        if !back {
            return Ok(Err(format!("{q} is no quasi-inverse")));
        }
    }
    match a.left_inverse() {
        Ok(l) => Ok(check(of.iter().zip(0..).all(|(index, i)| at(&l, *index) == i), || {
            format!("{l} is no inverse")
        })),
        Err(Error::Overlap { .. }) => Ok(check(!injective(a), || "said to overlap".into())),
        Err(error) => Err(error),
    }
}
