//! The verdicts of proofs against enumeration.

use std::collections::HashMap;

use girih_codegen::Error;
use girih_codegen::plan::*;
use girih_layout::{Coord, Int, Lay, ModePath, Shape, Stride, idx2crd, lay};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A leaf: extent, stride, dimension.
type Leaf = (i64, i64, u8);

/// `(Thr,Val)` of leaves.
fn layout(threads: &[Leaf], values: &[Leaf], basis: bool) -> Lay {
    let mode = |leaves: &[Leaf]| {
        let leaf = |&(extent, stride, dimension): &Leaf| {
            let scale = Int::fixed(stride);
            let stride = if basis {
                Stride::Basis { scale, mode: ModePath::new(&[usize::from(dimension)]).unwrap() }
            } else {
                Stride::Int(scale)
            };
            Lay::leaf(Int::fixed(extent), stride).unwrap()
        };
        Lay::concat(&leaves.iter().map(leaf).collect::<Vec<_>>()).unwrap()
    };
    Lay::concat(&[mode(threads), mode(values)]).unwrap()
}

/// The element that every place holds, by the definition: a vector of indices, one for each dimension.
fn held(threads: &[Leaf], values: &[Leaf], dimensions: usize, basis: bool) -> Vec<(Place, Vec<i64>)> {
    let size = |leaves: &[Leaf]| leaves.iter().map(|l| l.0).product::<i64>();
    let add = |leaves: &[Leaf], mut number: i64, to: &mut Vec<i64>| {
        for &(extent, stride, dimension) in leaves {
            to[if basis { usize::from(dimension) } else { 0 }] += number % extent * stride;
            number /= extent;
        }
    };
    let mut out = Vec::new();
    for (thread, value) in (0..size(threads)).flat_map(|t| (0..size(values)).map(move |v| (t, v))) {
        let mut index = vec![0; dimensions];
        add(threads, thread, &mut index);
        add(values, value, &mut index);
        out.push((Place { thread, value }, index));
    }
    out
}

/// Arbitrary leaves, or those of a tile dealt out to threads and values, one of them bent now and then.
fn leaves() -> impl Strategy<Value = (Vec<Leaf>, Vec<Leaf>)> {
    let leaf = (1i64..6, -3i64..14, 0u8..2);
    let arbitrary = (prop::collection::vec(leaf.clone(), 1..4), prop::collection::vec(leaf, 1..4));
    let dealt = (prop::collection::vec((2i64..5, 0u8..2), 2..6), any::<prop::sample::Index>(), -1i64..3)
        .prop_flat_map(|(extents, which, bend)| {
            let (mut next, mut made) = ([1, 1], Vec::new());
            for (extent, dimension) in extents {
                made.push((extent, next[usize::from(dimension)], dimension));
                next[usize::from(dimension)] *= extent;
            }
            let bent = which.index(made.len());
            made[bent].1 += if bend < 1 { bend } else { 0 };
            let cut = 1..made.len();
            (Just(made).prop_shuffle(), cut)
        })
        .prop_map(|(made, cut)| (made[..cut].to_vec(), made[cut..].to_vec()));
    prop_oneof![arbitrary, dealt]
}

fn number(coord: &Coord, dimensions: usize, tile: Option<&Shape>) -> Vec<i64> {
    let at = |c: &Coord| c.to_string().parse::<i64>().unwrap();
    match tile {
        Some(tile) => {
            let size = tile.size().unwrap().get().unwrap();
            let index = (0..size).find(|&i| idx2crd(tile, i).unwrap() == *coord).unwrap();
            vec![index]
        }
        // Dimensions past the last that a stride names are 0.
        None => (0..dimensions).map(|d| coord.mode(d).map_or(0, |c| at(&c))).collect(),
    }
}

#[test]
fn verdicts_are_those_of_enumeration() {
    let mut runner = TestRunner::new_with_rng(
        Config::with_cases(10_000),
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    );
    let counts = std::cell::Cell::new([0usize; 4]);
    let strategy = (leaves(), any::<bool>(), [1i64..5, 1i64..5], any::<bool>());
    runner
        .run(&strategy, |((threads, values), basis, odd, fit)| {
            let tv = layout(&threads, &values, basis);
            let dimensions = if basis { 2 } else { 1 };
            let places = held(&threads, &values, dimensions, basis);
            // The tile that a compact layout fills, or one of another size.
            let filled = |d: u8| {
                let mine = threads.iter().chain(&values).filter(|l| !basis || l.2 == d);
                mine.map(|l| l.0).product::<i64>()
            };
            let extents = if fit { [filled(0), if basis { filled(1) } else { 1 }] } else { odd };
            let tile = Shape::flat(&extents.map(Int::fixed)).unwrap();
            let limits = if basis { extents.to_vec() } else { vec![extents[0] * extents[1]] };
            let inside = |index: &[i64]| index.iter().zip(&limits).all(|(x, n)| (0..*n).contains(x));
            let mut holders: HashMap<&[i64], Vec<Place>> = HashMap::new();
            for (place, index) in &places {
                holders.entry(index).or_default().push(*place);
            }
            let twice = holders.values().any(|h| h.len() > 1);
            let raced = holders.values().any(|h| h.iter().any(|p| p.thread != h[0].thread));
            let outside = places.iter().any(|(_, index)| !inside(index));
            let once = !twice && !outside && places.len() as i64 == limits.iter().product::<i64>();
            let at = |place: &Place| {
                places.iter().find(|(p, _)| p == place).map(|(_, index)| index.clone()).unwrap()
            };

            let tally = |i: usize, hit: bool| {
                let mut all = counts.get();
                all[i] += usize::from(hit);
                counts.set(all);
            };
            let check = |verdict: Result<(), Error>, right: bool, tile: Option<&Shape>, threads: bool| {
                match verdict {
                    Ok(()) => prop_assert!(right, "{tv} is proved"),
                    Err(Error::Refuted(fault)) => {
                        prop_assert!(!right, "{tv}: {fault}");
                        match *fault {
                            Fault::Twice { first, second, element } => {
                                prop_assert!(first != second && (!threads || first.thread != second.thread));
                                prop_assert_eq!(at(&first), at(&second));
                                let tile = if basis { None } else { tile };
                                prop_assert_eq!(number(&element, dimensions, tile), at(&first));
                            }
                            Fault::Outside { place, index, .. } => {
                                prop_assert!(!inside(&at(&place)));
                                prop_assert!(at(&place).iter().any(|&held| i128::from(held) == index));
                            }
                            Fault::Never { element } => {
                                let index = number(&element, dimensions, if basis { None } else { tile });
                                prop_assert!(inside(&index) && !holders.contains_key(&index[..]));
                            }
                            other => prop_assert!(false, "{tv}: {other}"),
                        }
                    }
                    Err(other) => prop_assert!(false, "{tv}: {other}"),
                }
                Ok(())
            };
            check(injective(&tv), !twice, None, false)?;
            check(race_free(&tv), !raced, None, true)?;
            check(in_bounds(&tv, &tile), !outside, Some(&tile), false)?;
            check(exactly_once(&tv, &tile), once, Some(&tile), false)?;
            for (i, hit) in [twice, raced, outside, once].into_iter().enumerate() {
                tally(i, hit);
            }
            Ok(())
        })
        .unwrap();
    // Every verdict came up often, and so did its contrary.
    assert!(counts.get().iter().all(|&n| (500..9_500).contains(&n)), "{:?}", counts.get());
}

#[test]
fn what_cannot_be_enumerated_is_decided_too() {
    // These layouts have 2^40 elements; the second stride is one short of what the first mode reaches.
    injective(&lay!("(1048576,1048576):(1,1048576)")).unwrap();
    let overlap = injective(&lay!("(1048576,1048576):(1,1048575)")).unwrap_err();
    assert_eq!(overlap.to_string(), "thread 1048575 value 0 and thread 0 value 1 both hold element 1048575");
}

#[test]
fn refusals_say_what_would_be_accepted() {
    let tile = Shape::parse("8").unwrap();
    let cases = [
        (exactly_once(&lay!("(4,2):(1,8)"), &tile), "thread 3 value 1 holds index 11, 0 to 7 are inside"),
        (exactly_once(&lay!("(2,2):(1,4)"), &tile), "nobody holds element 2"),
        (race_free(&lay!("(4,2):(0,1)")), "thread 1 value 0 and thread 0 value 0 both hold element 0"),
        (
            in_bounds(&lay!("(4,4):(4611686018427387904,4611686018427387904)"), &tile),
            "thread 3 value 3 holds index 27670116110564327424, 0 to 7 are inside",
        ),
        (
            in_bounds(&lay!("(4,2):(1@0,1@1)"), &tile),
            "in_bounds: (4,2):(1@0,1@1) does not fit a tile of 1 modes: a tile with every mode that a stride names",
        ),
    ];
    for (verdict, text) in cases {
        assert_eq!(verdict.unwrap_err().to_string(), text);
    }
    // One thread may hold an element twice, if no other thread holds it.
    race_free(&lay!("(4,2):(1,0)")).unwrap();
}
