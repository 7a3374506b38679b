//! Overlap, decided by enumeration: whole small domains, random layouts, and layouts that programs have, of sizes that
//! nobody enumerates.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeSet, HashMap};

use girih_layout::{Error, Lay, lay};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use girih_proptests::{oracle, strategies};

/// How many cases, unless `GIRIH_CASES` says another number.
fn cases(usual: usize) -> usize {
    std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Whether the answer is that of enumeration, and its witness one.
fn right(a: &Lay, begin: i64, b: &Lay, other: i64, meets: bool) {
    match a.overlap(begin, b, other).unwrap() {
        Some((x, y)) => {
            assert!(x.profile() == a.shape().profile() && y.profile() == b.shape().profile());
            assert_eq!(
                begin + a.crd2idx(&x).unwrap(),
                other + b.crd2idx(&y).unwrap(),
                "{a} @ {begin}, {b} @ {other}"
            );
        }
        None => assert!(!meets, "{a} @ {begin} and {b} @ {other} are said to be disjoint"),
    }
}

fn right_alone(l: &Lay) {
    match l.self_overlap().unwrap() {
        Some((x, y)) => {
            assert_ne!(x, y, "{l}");
            assert_eq!(l.crd2idx(&x).unwrap(), l.crd2idx(&y).unwrap(), "{l}");
        }
        None => assert!(oracle::injective(l), "{l} is said to be injective"),
    }
}

fn image(l: &Lay) -> BTreeSet<i64> {
    oracle::table(l).into_iter().collect()
}

/// C of a batch, by extents, pitch and the step of a product.
fn batch(m: i64, n: i64, count: i64, pitch: i64, step: i64) -> Lay {
    Lay::strided([m, n, count], [pitch, 1, step]).unwrap()
}

#[test]
fn all_small_batches_meet_themselves_as_enumeration_says() {
    let mut cases = 0;
    for (m, n, count) in (0..4 * 4 * 3).map(|i| (i % 4 + 1, i / 4 % 4 + 1, i / 16 + 1)) {
        for (pitch, step) in (0..12 * 25).map(|i| (i % 12, i / 12 - 3)) {
            right_alone(&batch(m, n, count, pitch, step));
            cases += 1;
        }
    }
    assert_eq!(cases, 14_400);
}

/// All pairs of layouts of two modes with extents up to 3, at all distances; one in so many in the gate.
#[test]
fn all_small_pairs_are_decided_as_enumeration_decides_them() {
    const STRIDES: [i64; 6] = [-3, 0, 1, 2, 4, 7];
    let mut layouts = Vec::new();
    for (s, t) in (0..9).map(|i| (i % 3 + 1, i / 3 + 1)) {
        for (d, e) in (0..36).map(|i| (STRIDES[i % 6], STRIDES[i / 6])) {
            let l = Lay::strided([s, t], [d, e]).unwrap();
            layouts.push((l, image(&l)));
        }
    }
    let all = layouts.len() * layouts.len();
    let skip = all.div_ceil(cases(6000));
    for at in (0..all).step_by(skip) {
        let ((a, to), (b, from)) = (&layouts[at % layouts.len()], &layouts[at / layouts.len()]);
        for distance in -9..=9 {
            right(a, 5, b, 5 + distance, from.iter().any(|i| to.contains(&(i + distance))));
        }
    }
}

/// A layout of up to four modes of any sign; strides that build on one another, and strides that don't.
fn random(rng: &mut StdRng) -> Lay {
    const STRIDES: [i64; 16] = [0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 40, 97, 1009];
    let modes = rng.random_range(1..=4);
    let shape: Vec<i64> = (0..modes).map(|_| rng.random_range(1..=5)).collect();
    let sign = if rng.random_bool(0.3) { -1 } else { 1 };
    let stride: Vec<i64> = (0..modes)
        .map(|_| STRIDES[rng.random_range(0..16)] * if rng.random_bool(0.7) { 1 } else { sign })
        .collect();
    Lay::strided(shape, stride).unwrap()
}

/// 100 000 random pairs; some in the gate.
#[test]
fn random_pairs_are_decided_as_enumeration_decides_them() {
    let (mut rng, mut answers) = (StdRng::seed_from_u64(12), HashMap::new());
    for _ in 0..cases(4000) {
        let (a, b) = (random(&mut rng), random(&mut rng));
        right_alone(&a);
        let (to, from) = (image(&a), image(&b));
        let reach = (to.last().unwrap() - from.first().unwrap(), from.last().unwrap() - to.first().unwrap());
        for _ in 0..4 {
            let distance = rng.random_range(-reach.1 - 1..=reach.0 + 1);
            let meets = from.iter().any(|i| to.contains(&(i + distance)));
            right(&a, -distance, &b, 0, meets);
            *answers.entry(meets).or_insert(0) += 1;
        }
    }
    assert!(answers[&true] * 4 > answers[&false] && answers[&false] * 4 > answers[&true], "{answers:?}");
}

proptest! {
    #[test]
    fn nested_layouts_are_decided(a in strategies::any_layout(4), b in strategies::any_layout(3), k in 0usize..4096, by in -2i64..3) {
        right_alone(&a);
        let (to, from) = (image(&a), image(&b));
        let distance = to.iter().nth(k % to.len()).unwrap() - from.iter().nth(k % from.len()).unwrap() + by;
        right(&a, -distance, &b, 0, from.iter().any(|i| to.contains(&(i + distance))));
    }

    #[test]
    fn elements_of_different_sizes_meet_in_bytes(
        a in strategies::any_layout(2), b in strategies::any_layout(2), sizes in (1i64..5, 1i64..5), at in 0i64..64,
    ) {
        let bytes = |l: &Lay, n, at: i64| -> BTreeSet<i64> {
            oracle::table(l).iter().flat_map(|i| (0..n).map(move |byte| at + i * n + byte)).collect()
        };
        let meets = !bytes(&a, sizes.0, 0).is_disjoint(&bytes(&b, sizes.1, at));
        let (a, b) = (a.units(sizes.0).unwrap(), b.units(sizes.1).unwrap());
        prop_assert_eq!(oracle::sorted(oracle::table(&a)), oracle::sorted(a.indices().unwrap().collect()));
        right(&a, 0, &b, at, meets);
    }
}

#[track_caller]
fn decided(a: &str, begin: i64, b: &str, other: i64, meets: bool) {
    let (a, b) = (Lay::parse(a).unwrap(), Lay::parse(b).unwrap());
    assert_eq!(a.overlap(begin, &b, other).unwrap().is_some(), meets, "{a} @ {begin}, {b} @ {other}");
    assert_eq!(b.overlap(other, &a, begin).unwrap().is_some(), meets, "{b} @ {other}, {a} @ {begin}");
    right(&a, begin, &b, other, meets);
}

/// Sizes that enumeration never finishes with, of which a reader sees the answer.
#[test]
fn views_of_programs_are_decided_at_any_size() {
    // Columns of one matrix, and the same columns turned around or transposed.
    decided("(1048576,4096):(8192,1)", 0, "(1048576,4096):(8192,1)", 4096, false);
    decided("(1048576,4097):(8192,1)", 0, "(1048576,4096):(8192,1)", 4096, true);
    decided("(1048576,4096):(8192,1)", 0, "(1048576,4096):(-8192,-1)", 8192 * 1048575 + 8191, false);
    decided("(4096,1048576):(1,8192)", 0, "(1048576,4096):(8192,1)", 4096, false);
    // q | k | v | o packed: batch, query, head, column.
    for (part, other) in (0..16).map(|i| (i % 4, i / 4)) {
        let view = "(4096,1048576,64,128):(4398046511104,32768,128,1)";
        decided(view, part * 8192, view, other * 8192, part == other);
    }
    // Even and odd elements; thirds.
    decided("1073741824:2", 0, "1073741824:2", 1, false);
    decided("1073741824:2", 0, "1073741823:-2", 2147483647, false);
    decided("1073741824:2", 0, "1073741824:3", 1, true);
    decided("(1073741824,2):(9,1)", 0, "(1073741824,2):(6,1)", 2, true);
    decided("(1073741824,2):(9,1)", 0, "1073741824:6", 2, false);
    // Other pitches in one buffer: they miss one another where the pitches' divisor says so, and at the ends.
    decided("(1048576,16):(192,1)", 0, "(1048576,16):(320,1)", 16, false);
    decided("(1048576,16):(192,1)", 0, "(1048576,16):(320,1)", 48, false);
    decided("(1048576,16):(192,1)", 0, "(1048576,16):(320,1)", 49, true);
    decided("(1048576,100):(131,1)", 0, "(1048576,100):(127,1)", 131 * 1048576, false);
    decided("(1048576,100):(131,1)", 0, "(1048576,100):(127,1)", 131 * 1048575 + 99, true);
    // Batches woven into one another, with pitches and steps of their own.
    decided("(1048576,1024,64):(131072,4096,1)", 0, "(1048576,1024,64):(131072,4096,1)", 64, false);
    decided("(512,8,65536):(100,1,51200)", 0, "(512,8,65536):(100,1,51200)", 8, false);
    decided("(512,8,65536):(100,1,51200)", 0, "(500,8,65536):(102,1,51000)", 8, true);
    // What repeats an element, and what has one.
    decided("(1048576,1099511627776):(16,0)", 0, "(1048576,8):(16,1)", 8, false);
    decided("1:4398046511104", 77, "(1,1):(0,-5)", 77, true);
    // All of 64 bits.
    decided(
        "2:9223372036854775807",
        -9223372036854775808,
        "2:-9223372036854775808",
        9223372036854775807,
        true,
    );
    decided("(2,3):(9223372036854775807,2)", 0, "(2,3):(9223372036854775807,2)", 1, false);
    decided("4611686018427387904:2", 0, "4611686018427387904:2", 1, false);
}

#[test]
fn self_overlap_is_decided_at_any_size() {
    for (layout, injective) in [
        (lay!("(1048576,4096,64):(4096,1,4294967296)"), true),
        (lay!("(1048576,4096,64):(4096,1,4294967295)"), false),
        (lay!("(1048576,4097):(4096,1)"), false),
        (lay!("(1073741824,1073741824):(1073741824,1)"), true),
        (lay!("(1073741824,1073741824):(1073741823,1)"), false),
        (lay!("(1048576,1048576):(1048577,1048576)"), true),
        (lay!("(1048577,1048578):(1048577,1048576)"), false),
        (lay!("(1048576,8,1048576):(-16,1,16777216)"), true),
        (lay!("(3,1048576,1048576):(7,3000000,3000021)"), false),
        (lay!("(2,1048576,9223372036854775807):(1,0,2)"), false),
        (lay!("9223372036854775807:-9223372036854775808"), true),
    ] {
        assert_eq!(layout.is_injective(), Ok(injective), "{layout}");
        assert_eq!(layout.self_overlap().unwrap().is_none(), injective, "{layout}");
    }
}

#[test]
fn columns_say_where_they_meet() {
    let twice = lay!("((4,2),4):((^1,^3),64)");
    let (a, b) = twice.self_overlap().unwrap().unwrap();
    assert!(a != b && twice.crd2idx(&a).unwrap() == twice.crd2idx(&b).unwrap(), "{a}, {b}");
    assert_eq!(lay!("((8,8),4):((^1,^9),64)").self_overlap().unwrap(), None);
    let above = lay!("((8,8),4,2):((^1,^9),64,128)");
    let (a, b) = above.self_overlap().unwrap().unwrap();
    assert!(a != b && above.crd2idx(&a).unwrap() == above.crd2idx(&b).unwrap(), "{a}, {b}");
}

#[test]
fn what_is_not_decided_is_an_error() {
    let unknown = lay!("(4,s0):(1,4)").overlap(0, &lay!("4:1"), 0);
    assert_eq!(unknown.unwrap_err().to_string(), "overlap needs a known number, not s0");
    assert!(matches!(lay!("4:1@0").overlap(0, &lay!("4:1"), 0), Err(Error::Unsupported { .. })));
    assert!(matches!(lay!("4:^1").overlap(0, &lay!("4:1"), 0), Err(Error::Unsupported { .. })));
    assert_eq!(lay!("4:3").units(0).unwrap_err().kind(), "non_positive_shape");
    assert_eq!(lay!("4:9223372036854775807").units(2).unwrap_err().kind(), "overflow");
    // A knapsack: strides near 2^50 that have nothing in common, and an offset in the middle.
    let mut rng = StdRng::seed_from_u64(3);
    let mut sums =
        || Lay::strided([2; 24], [(); 24].map(|()| (1i64 << 50) + rng.random_range(0..1i64 << 49)));
    let (a, b) = (sums().unwrap(), sums().unwrap());
    let undecided = a.overlap(0, &b, 77).unwrap_err();
    assert_eq!(
        undecided.to_string(),
        "overlap is not decided within 1048576 steps: it wants fewer modes, or strides of which most are multiples of others"
    );
    assert_eq!((undecided.kind(), undecided.op()), ("undecided", Some("overlap")));
}
