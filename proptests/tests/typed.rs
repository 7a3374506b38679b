//! The typed layer with dynamic integers against definitions that are counted out here: whatever the values, an answer is right.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::Error;
use girih_typed::{__, Layout, Mode, Modes, int, layout};
use proptest::prelude::*;

type Dynamic = Mode<usize, usize>;
type Three = Layout<(Dynamic, (Dynamic, Dynamic))>;

fn extent() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1usize, 2, 2, 3, 4, 4, 6, 8])
}

fn stride() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![0usize, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64])
}

fn three() -> impl Strategy<Value = Three> {
    ((extent(), stride()), (extent(), stride()), (extent(), stride())).prop_map(|(a, b, c)| {
        let mode = |(s, d)| Mode(s, d);
        Layout((mode(a), (mode(b), mode(c))))
    })
}

/// The index by definition: digits of a position, the last without an end.
fn counted<const N: usize>(leaves: [(usize, usize); N], position: usize) -> usize {
    let (mut rest, mut sum) = (position, 0);
    for (k, (s, d)) in leaves.into_iter().enumerate() {
        let digit = if k + 1 < N { rest % s } else { rest };
        rest /= s;
        sum += digit * d;
    }
    sum
}

fn leaves(l: &Three) -> [(usize, usize); 3] {
    let Layout((a, (b, c))) = *l;
    [(a.0, a.1), (b.0, b.1), (c.0, c.1)]
}

fn indices<M: Modes>(l: &Layout<M>) -> Vec<usize> {
    (0..l.try_size().unwrap()).map(|i| l.at(i)).collect()
}

/// Leaves out what the result's type can't hold or nobody can answer.
fn answer<T>(found: Result<T, Error>) -> Result<T, TestCaseError> {
    found.map_err(|error| TestCaseError::reject(error.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 200_000, ..ProptestConfig::default() })]

    #[test]
    fn an_index_is_a_sum_of_digits_times_strides(l in three()) {
        let size: usize = leaves(&l).iter().map(|(s, _)| s).product();
        prop_assert_eq!(l.try_size().unwrap(), size);
        for i in 0..size {
            prop_assert_eq!(l.at(i), counted(leaves(&l), i));
            prop_assert_eq!(l.try_at(i).unwrap(), counted(leaves(&l), i) as i64);
        }
        prop_assert!(l.try_at(size).is_err());
    }

    #[test]
    fn coalesce_keeps_the_function(l in three()) {
        prop_assert_eq!(indices(&l.try_coalesce().unwrap()), indices(&l));
    }

    #[test]
    fn composition_is_one_after_the_other(a in three(), s in extent(), d in stride(), t in extent(), e in stride()) {
        let b = layout!((s, t) : (d, e));
        let r = answer(a.try_composition(b))?;
        for c in 0..s * t {
            prop_assert_eq!(r.at(c), counted(leaves(&a), counted([(s, d), (t, e)], c)));
        }
    }

    #[test]
    fn static_tiles_compose_too(a in three()) {
        let r = answer(a.try_composition(layout!((2, 4) : (4, 1))))?;
        for c in 0..8 {
            prop_assert_eq!(r.at(c), counted(leaves(&a), counted([(2, 4), (4, 1)], c)));
        }
        let r = answer(a.try_composition((int!(2), int!(3))))?;
        for (i, j) in (0..2).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let [first, second, third] = leaves(&a);
            prop_assert_eq!(r.at((i, j)), counted([first], i) + counted([second, third], j));
        }
    }

    #[test]
    fn a_layout_and_its_complement_meet_every_index_once(
        s in extent(), d in 1usize..20, n in 1usize..300,
    ) {
        let a = layout!((2, s) : (1, d));
        let c = answer(a.try_complement(n))?;
        let mut met = indices(&Layout((a.0, c.0)));
        met.sort_unstable();
        prop_assert!(met.len() >= n);
        prop_assert!(met.iter().enumerate().all(|(i, index)| i == *index), "{a} and {c} for {n}");
    }

    #[test]
    fn a_right_inverse_is_undone(l in three()) {
        // Whole, or there is no room for it.
        let Ok(r) = l.try_right_inverse() else { return Ok(()) };
        prop_assert_eq!(r.erase().unwrap().size(), l.erase().unwrap().right_inverse().unwrap().size());
        for i in 0..r.try_size().unwrap() {
            prop_assert_eq!(l.at(r.at(i)), i);
        }
    }

    #[test]
    fn tiles_of_a_matrix_are_where_they_should_be(m in 1usize..300, n in 1usize..100, ld in 100usize..5000) {
        let tiles = layout!((m, n) : (ld, 1)).try_zipped_divide((int!(32), int!(8))).unwrap();
        prop_assert_eq!(tiles.slice((0, __)).0.try_size().unwrap(), m.div_ceil(32) * n.div_ceil(8));
        for (bi, bj) in (0..m.div_ceil(32)).flat_map(|i| (0..n.div_ceil(8)).map(move |j| (i, j))) {
            for (i, j) in [(0, 0), (31, 7), (5, 3)] {
                prop_assert_eq!(tiles.at(((i, j), (bi, bj))), (32 * bi + i) * ld + 8 * bj + j);
            }
        }
    }

    #[test]
    fn a_product_is_copies_of_its_block(s in extent(), t in extent(), d in 1usize..5) {
        let block = layout!((2, s) : (1, 2));
        let p = answer(block.try_logical_product(layout!(t : d)))?;
        for c in 0..t {
            let offset = p.at((0, c));
            prop_assert_eq!(offset, c * d * 2 * s);
            for b in 0..2 * s {
                prop_assert_eq!(p.at((b, c)), offset + b);
            }
        }
    }
}
