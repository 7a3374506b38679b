//! Strategies shrink to the smallest case that fails, and reach what they promise.

use std::collections::BTreeMap;

use girih_layout::{Coord, Crd, Lay, Stride, Tile, Tiler};
use girih_proptests::strategies;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

fn runner(cases: u32, seed: u8) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 100_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

/// The smallest case for which `holds` is false, from several beginnings.
fn least<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    holds: impl Fn(&T) -> bool,
    print: impl Fn(&T) -> String,
) -> Vec<String> {
    let found = (0..6).map(|seed| {
        let failed = runner(20_000, seed).run(&strategy, |case| {
            prop_assert!(holds(&case));
            Ok(())
        });
        match failed {
            Err(TestError::Fail(_, case)) => print(&case),
            other => panic!("no case: {other:?}"),
        }
    });
    let mut found: Vec<String> = found.collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn the_smallest_layout_is_found() {
    // Not in colexicographic order: two modes of two elements show it.
    let ordered = |l: &Lay| l.indices().unwrap().is_sorted();
    assert_eq!(least(strategies::compact(4), ordered, Lay::to_string), ["(2,2):(2,1)"]);
    assert_eq!(least(strategies::tractable(4), ordered, Lay::to_string), ["(2,2):(2,1)"]);
    let upwards = |l: &Lay| l.min_index().unwrap() >= 0;
    assert_eq!(least(strategies::signed(4), upwards, Lay::to_string), ["2:-1"]);
    let shallow = |l: &Lay| l.depth() < 3;
    let deep = least(strategies::arbitrary(4), shallow, Lay::to_string);
    assert!(deep.iter().all(|l| l.chars().all(|c| "(1,):0".contains(c))), "{deep:?}");
}

#[test]
fn the_smallest_tiler_and_pair_are_found() {
    let plain = |t: &Tiler| !matches!(t, Tiler::Modes(tiles) if (0..tiles.len()).any(|i| tiles.tile(i) == Ok(Tile::All)));
    assert_eq!(least(strategies::tilers(3), plain, Tiler::to_string), ["<_>"]);
    let small = |(_, b): &(Lay, Lay)| b.size().unwrap().get() < Some(4);
    assert_eq!(least(strategies::composable(3), small, |(_, b)| b.size().unwrap().to_string()), ["4"]);
}

#[test]
fn basis_strides_nest_to_three_levels() {
    let depth = |l: &Lay| {
        l.stride()
            .leaves()
            .map(|d| match d {
                Stride::Basis { mode, .. } => mode.depth(),
                _ => 0,
            })
            .max()
            .unwrap_or(0)
    };
    let mut runner = runner(2000, 2);
    let mut depths = [0; 4];
    for _ in 0..2000 {
        depths[depth(&strategies::along(3, 2).new_tree(&mut runner).unwrap().current())] += 1;
    }
    assert!(depths[0] == 0 && depths[1..].iter().all(|count| *count > 200), "{depths:?}");
    // Whichever entry is deep: the other one is a number.
    let nested = least(strategies::along(4, 2), |l| depth(l) < 2, Lay::to_string);
    assert!(nested.iter().all(|l| l == "1:1@0@0" || l == "1:1@0@1"), "{nested:?}");
}

#[test]
fn trees_nest_to_depth_4() {
    let mut runner = runner(2000, 1);
    let mut depths = [0; 5];
    runner
        .run(&strategies::any_layout(6), |l| {
            prop_assert!(l.depth() <= 4);
            Ok(())
        })
        .unwrap();
    for _ in 0..2000 {
        let l = strategies::any_layout(6).new_tree(&mut runner).unwrap().current();
        depths[l.depth()] += 1;
    }
    assert!(depths.iter().all(|count| *count > 20), "{depths:?}");
}

proptest! {
    #[test]
    fn pairs_compose((a, b) in strategies::composable(4)) {
        let both = a.composition(&b).unwrap();
        for i in 0..b.size().unwrap().get().unwrap() {
            prop_assert_eq!(both.at(i).unwrap(), a.at_extended(b.at(i).unwrap()).unwrap());
        }
    }

    #[test]
    fn basis_strides_add_up_along_their_paths(l in strategies::along(3, 2), place in any::<prop::sample::Index>()) {
        let (mut rest, mut sums) = (place.index(l.size().unwrap().get().unwrap() as usize) as i64, BTreeMap::new());
        let index = l.coord_at(rest, 2).unwrap();
        for (s, d) in l.shape().leaves().zip(l.stride().leaves()) {
            let (s, Stride::Basis { scale, mode }) = (s.get().unwrap(), d) else { panic!("{d}") };
            let path: Vec<usize> = mode.modes().collect();
            *sums.entry(path).or_insert(0) += rest % s * scale.get().unwrap();
            rest /= s;
        }
        fn places(c: &Coord, at: Vec<usize>, out: &mut BTreeMap<Vec<usize>, i64>) {
            if let (true, Some(Crd::At(place))) = (c.is_leaf(), c.get(0)) {
                out.insert(at, place);
                return;
            }
            for mode in 0..c.rank() {
                places(&c.mode(mode).unwrap(), [&at[..], &[mode]].concat(), out);
            }
        }
        let mut found = BTreeMap::new();
        places(&index, Vec::new(), &mut found);
        // What no stride goes along is 0.
        sums.retain(|_, sum| *sum != 0);
        found.retain(|_, place| *place != 0);
        prop_assert_eq!(found, sums, "{} is {}", l, index);
    }

    #[test]
    fn symbols_have_values_that_their_facts_allow((l, values) in strategies::symbolic(4)) {
        let bound = values.iter().try_fold(l, |l, (symbol, value)| l.bind(*symbol, *value)).unwrap();
        prop_assert!(!bound.is_symbolic() && bound.shape().profile() == l.shape().profile());
    }
}
