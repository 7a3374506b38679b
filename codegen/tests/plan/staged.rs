//! Tiles through shared memory: every element is read once and written once, in vectors that memory has, whatever the two orders.

use girih_codegen::Error;
use girih_codegen::plan::{Pieces, StagedCopy, WarpAccess, staged_copy};
use girih_layout::{Lay, lay};
use proptest::prelude::*;

/// A tile of these extents whose modes lie in the destination in the order `order`, the fastest first.
fn tile(extents: &[i64], order: &[usize]) -> Lay {
    let (mut strides, mut step) = (vec![0; extents.len()], 1);
    for &mode in order {
        strides[mode] = step;
        step *= extents[mode];
    }
    Lay::strided(extents.iter().copied(), strides).unwrap()
}

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

/// The indices of each thread's values.
fn parts(tv: &Lay) -> Vec<Vec<i64>> {
    let [threads, values] = [0, 1].map(|mode| size(&tv.mode(mode).unwrap()));
    let part = |thread| (0..values).map(|value| tv.at(thread + threads * value).unwrap()).collect();
    (0..threads).map(part).collect()
}

/// Whether every index below `size` is in one part once.
fn is_once(parts: &[Vec<i64>], size: i64) -> bool {
    let mut all: Vec<i64> = parts.concat();
    all.sort_unstable();
    all.into_iter().eq(0..size)
}

/// Whether the values of each part are vectors of neighbours that begin at multiples of their length.
fn is_in_vectors(parts: &[Vec<i64>], vector: i64) -> bool {
    let whole = |run: &[i64]| run[0] % vector == 0 && run.windows(2).all(|pair| pair[1] == pair[0] + 1);
    parts.iter().all(|part| part.chunks(vector as usize).all(whole))
}

fn tiles() -> impl Strategy<Value = (Vec<i64>, Vec<usize>)> {
    let extents = prop::sample::select(vec![2i64, 3, 4, 5, 6, 8, 16, 32, 64]);
    prop::collection::vec(extents, 1..=4)
        .prop_filter("at most 8192 elements", |extents| extents.iter().product::<i64>() <= 8192)
        .prop_flat_map(|extents| {
            let order: Vec<usize> = (0..extents.len()).collect();
            (Just(extents), Just(order).prop_shuffle())
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_element_is_read_once_and_written_once(
        (extents, order) in tiles(),
        bits in prop::sample::select(vec![8i64, 16, 32, 64]),
        vectors in (0u32..=4, 0u32..=4),
        threads in 0u32..=8,
    ) {
        let tile = tile(&extents, &order);
        let vectors = [vectors.0, vectors.1].map(|bit| (1i64 << bit).min(128 / bits));
        let StagedCopy { load, store, pack, map } = match staged_copy(&tile, bits, vectors, 1 << threads) {
            Ok(copy) => copy,
            Err(error) => {
                prop_assert!(matches!(error, Error::Mismatch { what: "staged_copy", .. }), "{error}");
                // One thread takes any tile that has vectors; two rows of which both sides have none are the exception.
                let power = |extents: Vec<i64>| extents.iter().product::<i64>();
                let all = power(extents.clone());
                prop_assert!(threads > 0 || vectors.iter().any(|vector| all % vector != 0), "{tile}: {error}");
                return Ok(());
            }
        };
        let (read, written) = (parts(&load), parts(&store));
        prop_assert_eq!([read.len(), written.len()], [1 << threads; 2]);
        prop_assert!(is_once(&read, size(&tile)) && is_once(&written, size(&tile)), "{}: {} {}", tile, load, store);
        prop_assert!(is_in_vectors(&read, vectors[0]) && is_in_vectors(&written, vectors[1]), "{}: {} {}", tile, load, store);
        // Elements that share a word are neighbours in the destination's order.
        if let Some(pack) = pack {
            let values = load.mode(1).unwrap();
            let within: i64 = (0..pack).map(|leaf| values.flat_leaf(leaf).0.get().unwrap()).product();
            let together = values.flat_leaf(pack).0.get().unwrap();
            prop_assert!(bits * together <= 32);
            for part in &read {
                for first in 0..within as usize {
                    let to = |i: i64| tile.at(part[first + (i * within) as usize]).unwrap();
                    prop_assert!((1..together).all(|i| to(i) == to(0) + i) && to(0) % together == 0, "{}: {}", tile, load);
                }
            }
        }
        prop_assert!(map.wavefronts.taken >= map.wavefronts.least);
    }
}

/// The wavefronts of all warps: of what is written to shared memory, word by word, and of what is read.
fn wavefronts(tile: &Lay, copy: &StagedCopy, bits: i64, vector: i64) -> [Pieces; 2] {
    let address = |index: i64| copy.map.map.apply(index).unwrap() * bits / 8;
    let by_warp = |tv: &Lay, chosen: &dyn Fn(&[i64]) -> Vec<i64>, bytes: i64| -> Pieces {
        let parts = parts(tv);
        let access = |(warp, lanes): (usize, &[Vec<i64>])| -> Pieces {
            let firsts: Vec<Vec<i64>> = lanes.iter().map(|part| chosen(part)).collect();
            let access = |i: usize| {
                let addresses = firsts.iter().map(|own| address(own[i])).collect();
                WarpAccess { warp: warp as i64, value: i as i64, addresses, bytes }.wavefronts()
            };
            (0..firsts[0].len()).map(access).sum()
        };
        parts.chunks(32).enumerate().map(access).sum()
    };
    // The elements of a word are written together, by the first of them.
    let to = |index: &i64| tile.at(*index).unwrap();
    let word = if copy.pack.is_some() { 32 / bits } else { 1 };
    let words = |part: &[i64]| part.iter().map(to).filter(|to| to % word == 0).collect::<Vec<_>>();
    let vectors = |part: &[i64]| part.iter().copied().step_by(vector as usize).collect::<Vec<_>>();
    [by_warp(&copy.load, &words, bits * word / 8), by_warp(&copy.store, &vectors, bits * vector / 8)]
}

/// The transposes that copies choose meet no bank conflict.
#[test]
fn transposes_meet_no_conflict() {
    let copy = |extents: [i64; 2], bits: i64, threads| {
        staged_copy(&tile(&extents, &[1, 0]), bits, [128 / bits; 2], threads).unwrap()
    };
    for (bits, side) in [(8, 128), (16, 64), (16, 128), (32, 32), (32, 64), (32, 128), (64, 32), (64, 64)] {
        for threads in [64, 128, 256] {
            if side * side * bits / 128 / threads >= (32 / bits).max(1) {
                let found = copy([side, side], bits, threads);
                let all = wavefronts(&tile(&[side, side], &[1, 0]), &found, bits, 128 / bits);
                assert!(
                    all.iter().all(Pieces::is_least),
                    "{side}^2 of {bits} bits by {threads}: {found}, {all:?}"
                );
                assert!(found.map.wavefronts.is_least());
            }
        }
    }
}

#[test]
fn what_is_no_copy_of_a_tile_is_refused() {
    let message = |tile: &Lay, bits, vectors, threads| {
        staged_copy(tile, bits, vectors, threads).unwrap_err().to_string()
    };
    let square = lay!("(8,8):(8,1)");
    assert!(message(&lay!("(8,8):(1,1)"), 32, [1, 1], 32).contains("a bijection"));
    assert!(message(&square, 32, [8, 1], 32).contains("accesses of 1, 2, 4, 8 or 16 bytes"));
    assert!(message(&square, 32, [1, 0], 32).contains("accesses of 1, 2, 4, 8 or 16 bytes"));
    assert!(message(&square, 32, [1, 1], 48).contains("a power of two up to 1024"));
    assert!(message(&square, 32, [4, 4], 32).contains("as many vectors as threads"));
    assert!(matches!(
        staged_copy(&lay!("(s0,8):(8,1)"), 32, [1, 1], 32),
        Err(Error::NotStatic { .. } | Error::Layout(_))
    ));
}
