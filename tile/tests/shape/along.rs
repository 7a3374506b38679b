//! The digits, columns and names of random distributions, by enumeration.

use girih_codegen::plan::{Digit, Dist, Line};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::programs::shape;
use crate::common::dists::random_dist;

fn coordinate(dist: &Dist, thread: i64, value: usize, rank: usize) -> Vec<i64> {
    dist.origin(thread, rank).iter().zip(dist.offset(value, rank)).map(|(a, b)| a + b).collect()
}

#[test]
fn random_distributions_hold_every_element_and_columns_are_lines() {
    let mut rng = StdRng::seed_from_u64(3);
    for _ in 0..200 {
        let extents = shape(&mut rng, 300);
        let rank = extents.len();
        let dist = random_dist(&mut rng, &extents, 64);
        assert!(dist.covers(&extents), "{dist} {extents:?}");
        let line = Line::row_major(&extents);
        let mut seen = vec![0; extents.iter().product::<i64>() as usize];
        for thread in (0..64).filter(|thread| thread & dist.copies() == 0) {
            for value in 0..dist.size() {
                let at = coordinate(&dist, thread, value, rank);
                if line.has(&at) {
                    seen[line.at(&at) as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&n| n == 1), "{dist} {extents:?}");
        for mode in 0..rank {
            let slice = dist.slice(mode);
            for (which, column) in dist.columns(mode).iter().enumerate() {
                assert!(column.windows(2).all(|pair| pair[0].1 < pair[1].1));
                for &(value, offset) in column {
                    let mut at = dist.offset(value, rank);
                    assert_eq!(std::mem::take(&mut at[mode]), offset);
                    assert_eq!(at, slice.offset(which, rank));
                }
            }
            // The digits are those of the coordinate, in order.
            let digits = dist.digits(mode);
            assert!(digits.windows(2).all(|pair| pair[0].scale() < pair[1].scale()), "{dist}");
            for thread in [0, 1, 17, 42, 63] {
                for value in 0..dist.size() {
                    let sum: i64 = digits
                        .iter()
                        .map(|digit| match *digit {
                            Digit::Bit { bit, scale } => (thread >> bit & 1) * scale,
                            Digit::Values { leaf, extent, scale } => {
                                (value / dist.stride(leaf)) as i64 % extent * scale
                            }
                        })
                        .sum();
                    assert_eq!(sum, coordinate(&dist, thread, value, rank)[mode]);
                }
            }
        }
    }
}

/// Whether each thread has what it needs, by looking at all that it has.
fn has_all(to: &Dist, line: &Line, from: &Dist, own: &Line, names: Option<&[(usize, usize)]>) -> bool {
    let rank = line.extents.len();
    (0..to.threads()).all(|thread| {
        (0..to.size()).all(|value| {
            let at = coordinate(to, thread, value, rank);
            let held = |source: usize| {
                let at_source = coordinate(from, thread, source, own.extents.len());
                own.has(&at_source) && own.at(&at_source) == line.at(&at)
            };
            !line.has(&at)
                || match names {
                    Some(names) => held(names[value].1),
                    None => (0..from.size()).any(held),
                }
        })
    })
}

#[test]
fn names_are_those_of_the_same_elements() {
    let mut rng = StdRng::seed_from_u64(4);
    let (mut named, mut refused) = (0, 0);
    for _ in 0..300 {
        let extents = shape(&mut rng, 200);
        let size: i64 = extents.iter().product();
        let from = random_dist(&mut rng, &extents, 32);
        let own = Line::row_major(&extents);
        let (to, line) = match rng.random_range(0..3) {
            // The same tile with its values in another order.
            0 => {
                let mut to = from.clone();
                to.vals.reverse();
                (to, own.clone())
            }
            // An axis of extent 1 more.
            1 => {
                let axes: Vec<usize> = (0..extents.len()).map(|mode| mode + 1).collect();
                let mut to = from.clone();
                to.bits.iter_mut().flatten().for_each(|bit| bit.0 = axes[bit.0]);
                to.vals.iter_mut().for_each(|leaf| leaf.mode = axes[leaf.mode]);
                let extents: Vec<i64> = std::iter::once(1).chain(extents.clone()).collect();
                (to, Line::row_major(&extents))
            }
            _ => (random_dist(&mut rng, &[size], 32), Line::row_major(&[size])),
        };
        match to.renamed(&line, &[(&from, &own)]) {
            Some(names) => {
                named += 1;
                assert!(has_all(&to, &line, &from, &own, Some(&names)), "{to} of {from} {extents:?}");
            }
            // A register that is another one's in another thread is no name.
            None => refused += usize::from(!has_all(&to, &line, &from, &own, None)),
        }
    }
    assert!(named > 150 && refused > 20, "{named} {refused}");
}
