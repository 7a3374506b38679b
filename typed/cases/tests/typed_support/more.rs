//! Cases of the operations that do not take a tiler, a few of each.

use std::fmt::Write;

use girih_layout::{Coord, Lay, MAX_LEAVES, Shape, Stride};

use super::{Case, Random, tiler};

/// Cases of each operation of [`MORE`], static and mixed.
const EACH: usize = 15;
/// Static cases of each operation of [`MORE`] without the feature `all`.
const SAMPLE_OF_EACH: usize = 3;

/// Operations whose cases say what the run-time layer answers.
const MORE: [&str; 36] = [
    "identity",
    "identity_composed",
    "identity_divided",
    "left",
    "right",
    "ordered",
    "compact_like",
    "fragment_like",
    "with_shape",
    "filter",
    "filter_zeros",
    "coalesce_by",
    "flatten",
    "unflatten",
    "mode",
    "select",
    "take",
    "group",
    "append",
    "prepend",
    "replace",
    "upcast",
    "downcast",
    "recast",
    "quasi_inverse",
    "nullspace",
    "max_common_layout",
    "max_common_vector",
    "max_alignment",
    "domain_distribute",
    "tile_to_shape",
    "tile_to_shape_by",
    "composition_past_the_end",
    "reverse",
    "zip",
    "dice",
];

/// A tree of integers as text and as source, some of them dynamic.
fn int_tuple(
    random: &mut Random,
    leaves: &[i64],
    mixed: bool,
    nested: Option<(usize, usize)>,
) -> (Shape, String) {
    let dynamic = leaves.iter().map(|_| (mixed && random.below(3) == 0, false)).collect();
    let case = Case { shape: leaves.to_vec(), stride: leaves.to_vec(), dynamic, nested };
    let text = case.tree(&case.shape, |_| false, false);
    let source = case.tree(&case.shape, |i| case.dynamic[i].0, true);
    (Shape::parse(&text).unwrap(), format!("int_tuple!({source})"))
}

/// Extents whose product is `size`.
fn factors(random: &mut Random, mut size: i64) -> Vec<i64> {
    let mut out = Vec::new();
    while size > 1 && out.len() < 4 {
        let divisors: Vec<i64> = (2..=size).filter(|n| size % n == 0).collect();
        let n = divisors[random.below(divisors.len())];
        size /= n;
        out.push(n);
    }
    if size > 1 || out.is_empty() {
        out.push(size);
    }
    out
}

fn permutation(random: &mut Random, n: usize) -> Vec<i64> {
    let mut order: Vec<i64> = (0..n as i64).collect();
    (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
    order
}

/// The call and what it answers, unless it was not lucky.
fn more(random: &mut Random, mixed: bool, op: &str) -> Option<(String, Lay)> {
    let left = Case::random(random, 4, mixed);
    let (a, source) = (left.lay(), left.source());
    let right = Case::random(random, 3, mixed);
    let (b, other) = (right.lay(), right.source());
    let rank = a.rank();
    let plain = |name: &str, arguments: &str| format!("{source}.{name}({arguments})");
    // Some have one form for all operands.
    let single = |name: &str, arguments: &str| {
        let call = plain(name, arguments);
        if mixed { format!("Ok({call})") } else { call }
    };
    let name = if mixed { format!("try_{op}") } else { op.to_string() };
    let number = |n: usize| format!("int!({n})");
    let (result, call) = match op {
        "identity" | "identity_composed" | "identity_divided" => {
            let (shape, tuple) = int_tuple(random, &left.shape, mixed, left.nested);
            let (id, made) = (
                Lay::identity(&shape).unwrap(),
                format!("Layout::{}({tuple})", attempt_of(mixed, "identity")),
            );
            let made = if mixed { format!("{made}.unwrap()") } else { made };
            match op {
                "identity" => (Ok(id), if mixed { format!("Ok({made})") } else { made }),
                _ => {
                    let (t, tiler) = tiler(random, rank, mixed);
                    let (result, name) = match op {
                        "identity_composed" => (id.compose(&t), "composition"),
                        _ => (id.zipped_divide(&t), "zipped_divide"),
                    };
                    (result, format!("{made}.{}({tiler})", attempt_of(mixed, name)))
                }
            }
        }
        "left" | "right" | "ordered" | "domain_distribute" => {
            let (shape, tuple) = int_tuple(random, &left.shape, mixed, left.nested);
            match op {
                "left" => (Lay::left(&shape), format!("Layout::{name}({tuple})")),
                "right" => (Lay::right(&shape), format!("Layout::{name}({tuple})")),
                "ordered" => {
                    let keys = permutation(random, left.shape.len());
                    let (order, keys) = int_tuple(random, &keys, false, left.nested);
                    (Lay::ordered(&shape, &order), format!("Layout::{name}({tuple}, {keys})"))
                }
                _ => {
                    let n = random.one_of(&[2, 4, 6, 8, 12, 32]);
                    (Lay::domain_distribute(&shape, n), format!("Layout::{name}({tuple}, int!({n}))"))
                }
            }
        }
        "compact_like" => (a.compact_like(), plain(&name, "")),
        "fragment_like" => (a.fragment_like(), plain(&name, "")),
        "filter" => (Ok(a.filter()), plain(&name, "")),
        "filter_zeros" => (Ok(a.filter_zeros()), plain(&name, "")),
        "quasi_inverse" => (a.quasi_inverse(), plain(&name, "")),
        "nullspace" => (a.nullspace(), plain(&name, "")),
        "with_shape" => {
            let extents = factors(random, a.size().unwrap().get().unwrap());
            let (shape, tuple) = int_tuple(random, &extents, mixed, None);
            (a.with_shape(&shape), plain(&name, &tuple))
        }
        "coalesce_by" => {
            let ones = vec![1; 1 + random.below(rank)];
            let (profile, tuple) = int_tuple(random, &ones, false, None);
            (a.coalesce_by(&profile), plain(&name, &tuple))
        }
        "flatten" => (Ok(a.flatten()), single(op, "")),
        "unflatten" => {
            let n = left.shape.len();
            let begin = random.below(n);
            let nested = (begin, begin + 1 + random.below(n - begin));
            let (profile, tuple) = int_tuple(random, &vec![0; n], false, Some(nested));
            (a.unflatten(profile.profile()), single(op, &tuple))
        }
        "mode" => {
            let k = random.below(rank);
            (a.mode(k), single(op, &number(k)))
        }
        "select" => {
            let picks: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(rank)).collect();
            let numbers: String = picks.iter().map(|k| format!("{}, ", number(*k))).collect();
            (a.select(&picks), single(op, &format!("({numbers})")))
        }
        "take" | "group" => {
            let begin = random.below(rank);
            let end = begin + 1 + random.below(rank - begin);
            let result = if op == "take" { a.take(begin, end) } else { a.group(begin, end) };
            (result, single(op, &format!("{}, {}", number(begin), number(end))))
        }
        "reverse" => (Ok(a.reverse()), single(op, "")),
        "zip" => (a.zip(&b), single(op, &other)),
        "dice" => {
            // A position, `_`, or a tuple of them in a nested mode.
            let mut places = |n: usize| -> Vec<&str> {
                (0..n).map(|_| if random.below(2) == 0 { "__" } else { "0usize" }).collect()
            };
            let modes: Vec<String> = (0..rank)
                .map(|k| match a.mode(k).unwrap() {
                    mode if !mode.is_leaf() => format!("({},)", places(mode.rank()).join(", ")),
                    _ => places(1).concat(),
                })
                .collect();
            let coord = if a.is_leaf() { modes.concat() } else { format!("({},)", modes.join(", ")) };
            let text = coord.replace(",)", ")").replace("usize", "").replace("__", "_");
            let some = coord.contains("usize");
            (a.dice(&some.then(|| Coord::parse(&text).unwrap())?), single(op, &coord))
        }
        "append" => (a.append(&b), single(op, &other)),
        "prepend" => (a.prepend(&b), single(op, &other)),
        "replace" => {
            let k = random.below(rank);
            (a.replace(k, &b), single(op, &format!("{}, {other}", number(k))))
        }
        "upcast" | "downcast" => {
            let n = random.one_of(&[1, 2, 3, 4, 8]);
            let result = if op == "upcast" { a.upcast(n) } else { a.downcast(n) };
            (result, plain(&name, &number(n as usize)))
        }
        "recast" => {
            let (old, new) = (random.one_of(&[4, 8, 16, 32, 48]), random.one_of(&[4, 8, 16, 32, 48, 128]));
            (a.recast(old, new), plain(&name, &format!("int!({old}), int!({new})")))
        }
        "max_common_layout" => (a.max_common_layout(&b), plain(&name, &other)),
        "max_common_vector" => (number_of(a.max_common_vector(&b).ok()?.get()?), plain(&name, &other)),
        "max_alignment" => (number_of(a.max_alignment().ok()?), plain(&name, "")),
        "tile_to_shape" | "tile_to_shape_by" => {
            let sizes = (0..rank + random.below(2))
                .map(|k| a.mode(k).map_or(1, |m| m.size().unwrap().get().unwrap()));
            let target: Vec<i64> =
                sizes.collect::<Vec<_>>().iter().map(|n| n * random.one_of(&[1, 2, 3, 4])).collect();
            // With dynamic extents a typed result has room in every mode for a leaf of each.
            if mixed && target.len() * target.len() > MAX_LEAVES {
                return None;
            }
            let (shape, tuple) = int_tuple(random, &target, mixed, None);
            if op == "tile_to_shape" {
                (a.tile_to_shape(&shape, None), plain(&name, &tuple))
            } else {
                let keys = permutation(random, target.len());
                let (order, keys) = int_tuple(random, &keys, false, None);
                (a.tile_to_shape(&shape, Some(&order)), plain(&name, &format!("{tuple}, {keys}")))
            }
        }
        _ => {
            let extent = 2 * a.size().unwrap().get().unwrap();
            let name = if mixed { "try_composition" } else { "composition" };
            (
                a.composition(&Lay::parse(&format!("_{extent}:_1")).unwrap()),
                plain(name, &format!("int!({extent})")),
            )
        }
    };
    let result = result.ok()?;
    let small = result.rank() <= 12 && result.size().ok()?.get()? <= 20_000;
    // The run-time layer marks no number of its own as static.
    let own = matches!(op, "max_common_vector" | "max_alignment" | "domain_distribute");
    // Most layouts have nothing in common, which says little.
    let dull = op.starts_with("max_common") && result.flat_leaf(0).0.is(1) && random.below(50) > 0;
    (small && !dull && (own || result.is_static())).then_some((call, result))
}

fn attempt_of(mixed: bool, name: &str) -> String {
    if mixed { format!("try_{name}") } else { name.to_string() }
}

/// Whether its coordinates are nested.
fn is_nested(layout: &Lay) -> bool {
    (0..layout.leaf_count())
        .any(|leaf| matches!(layout.flat_leaf(leaf).1, Stride::Basis { mode, .. } if mode.depth() > 1))
}

fn number_of(n: i64) -> Result<Lay, girih_layout::Error> {
    Lay::parse(&format!("{n}:0"))
}

pub(super) fn more_cases(random: &mut Random, mixed: bool, text: &mut String) {
    for op in MORE {
        let open = if mixed { "    let answered = [\n" } else { "" };
        write!(text, "\n#[test]\n#[rustfmt::skip]\nfn {op}() {{\n{open}").unwrap();
        for k in 0..EACH {
            if !mixed && k == SAMPLE_OF_EACH {
                let rest = "#[test]\n#[cfg(feature = \"all\")]\n#[rustfmt::skip]";
                write!(text, "}}\n\n{rest}\nfn more_of_{op}() {{\n").unwrap();
            }
            let (call, result) = (0..10_000).find_map(|_| more(random, mixed, op)).unwrap();
            let check = match op {
                "max_common_vector" | "max_alignment" => "number",
                "identity" | "identity_composed" | "identity_divided" if is_nested(&result) => "nested",
                "identity" | "identity_composed" | "identity_divided" => "coordinates",
                _ => "answer",
            };
            if mixed && op == "max_common_layout" {
                let (a, b) = call.split_once(".try_max_common_layout(").unwrap();
                writeln!(text, "        common!({a}, {}),", b.strip_suffix(')').unwrap()).unwrap();
            } else if mixed && op == "quasi_inverse" {
                writeln!(
                    text,
                    "        unary!({op}, {}),",
                    call.strip_suffix(".try_quasi_inverse()").unwrap()
                )
                .unwrap();
            } else if mixed {
                writeln!(text, "        {check}!({call}, \"{result}\"),").unwrap();
            } else {
                writeln!(text, "    {check}!({call}, \"{result}\");").unwrap();
            }
        }
        *text += if mixed { "    ];\n    support::enough(&answered, 60);\n}\n" } else { "}\n" };
    }
}
