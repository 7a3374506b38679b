//! Swizzled layouts and F2 matrices: the laws W01 to W09, I10 and V06.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Composed, Error, F2Matrix, Int, Lay, Stride, Swizzle, Tiler, lay};
use girih_proptests::strategies::swizzles;
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;
use proptest::sample::select;

/// Layouts of powers of two without holes, in any order of the modes.
fn powers() -> impl Strategy<Value = Lay> {
    let extents = prop::collection::vec(select(vec![1i64, 2, 4, 8]), 1..4);
    extents.prop_flat_map(|extents| {
        Just((0..extents.len()).collect::<Vec<_>>()).prop_shuffle().prop_map(move |order| {
            let (mut leaves, mut step) = (vec![Lay::UNIT; extents.len()], 1);
            for i in order {
                leaves[i] = Lay::leaf(Int::value(extents[i]), Stride::from(step)).unwrap();
                step *= extents[i];
            }
            Lay::concat(&leaves).unwrap()
        })
    })
}

/// The indices, one exclusive or after the other.
fn table(composed: &Composed) -> Vec<i64> {
    let plain = oracle::table(composed.layout());
    plain.into_iter().map(|i| composed.swizzle().apply(i + composed.offset())).collect()
}

fn apply_all(matrix: &F2Matrix) -> Vec<i64> {
    (0..1 << matrix.inputs()).map(|i| matrix.apply(i).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// By the definition: the `bits` bits at one place are added, exclusive or, to those at another; over all of the period.
    #[test]
    fn w01_w02_a_swizzle_is_an_involution_of_its_period(swizzle in swizzles(), far in 0i64..1 << 40) {
        let (bits, base, shift) = (swizzle.bits(), swizzle.base(), swizzle.shift());
        let places = (base, base + shift.unsigned_abs());
        let (from, to) = if shift < 0 { places } else { (places.1, places.0) };
        let period = 1i64 << (base + bits + shift.unsigned_abs());
        prop_assert_eq!(swizzle.period(), period);
        for x in (0..period).chain([far]) {
            let moved = (0..bits).fold(x, |y, bit| y ^ (x >> (from + bit) & 1) << (to + bit));
            prop_assert_eq!(swizzle.apply(x), moved, "{} of {}", swizzle, x);
            prop_assert_eq!(swizzle.apply(moved), x);
            prop_assert!(moved / period == x / period && swizzle.apply(x + period) == moved + period);
        }
        let image = (0..period).map(|x| swizzle.apply(x)).collect();
        prop_assert_eq!(oracle::sorted(image), (0..period).collect::<Vec<_>>());
    }

    #[test]
    fn w03_a_swizzle_is_linear(swizzle in swizzles(), a in 0i64..1 << 40, b in 0i64..1 << 40) {
        prop_assert_eq!(swizzle.apply(a ^ b), swizzle.apply(a) ^ swizzle.apply(b));
    }

    /// An aligned run of `2^base` elements moves as a whole; where a bit moves, no longer one does.
    #[test]
    fn w04_a_swizzle_keeps_runs_together(swizzle in swizzles(), block in 0i64..1 << 20) {
        let run = 1i64 << swizzle.base();
        for j in 0..run {
            prop_assert_eq!(swizzle.apply(block * run + j), swizzle.apply(block * run) + j);
        }
        let together = |x: i64| swizzle.apply(2 * x * run + run) == swizzle.apply(2 * x * run) + run;
        prop_assert_eq!((0..swizzle.period()).all(together), swizzle.bits() == 0);
    }

    #[test]
    fn w05_a_swizzle_keeps_injectivity(swizzle in swizzles(), l in strategies::arbitrary(3)) {
        let swizzled = Composed::new(swizzle, 0, l);
        let table = table(&swizzled);
        let distinct = oracle::sorted(table.clone()).windows(2).all(|w| w[0] != w[1]);
        prop_assert_eq!(distinct, oracle::injective(&l));
        let most = l.cosize().unwrap().get().unwrap();
        let end = (most + swizzle.period() - 1) / swizzle.period() * swizzle.period();
        prop_assert!(table.iter().all(|i| 0 <= *i && *i < end));
        prop_assert_eq!(swizzled.cosize().unwrap().get(), table.iter().max().map(|most| most + 1));
    }

    #[test]
    fn w06_bits_apart_add(swizzle in swizzles(), a in 0i64..1 << 14, b in 0i64..1 << 14) {
        let b = b & !a;
        let (x, y) = (swizzle.apply(a), swizzle.apply(b));
        prop_assert_eq!(swizzle.apply(a + b) == x + y, x & y == 0);
    }

    #[test]
    fn w06_decay_is_exact(swizzle in swizzles(), l in strategies::arbitrary(2), offset in 0i64..300) {
        let composed = Composed::new(swizzle, offset, l);
        let truth = table(&composed);
        let relative: Vec<i64> = truth.iter().map(|i| i - truth[0]).collect();
        match composed.decay() {
            Ok((plain, start)) => {
                prop_assert_eq!(start, truth[0]);
                prop_assert_eq!(oracle::table(&plain), relative);
                prop_assert!(l.shape().compatible(plain.shape()).unwrap());
            }
            Err(Error::NoLayout { witness: Some(w), .. }) => {
                prop_assert_eq!(relative[w.coord as usize], w.expected);
                prop_assert!(!oracle::has_layout(&l, &relative));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn w07_through_a_layout_only_where_it_is_right(swizzle in swizzles(), l in powers(), m in strategies::arbitrary(2)) {
        for l in [l, m] {
            let size = oracle::size(&l);
            match swizzle.through(&l) {
                Ok(after) => for x in 0..size {
                    prop_assert!(swizzle.apply(x) < size);
                    prop_assert_eq!(after.apply(oracle::at(&l, x)), oracle::at(&l, swizzle.apply(x)), "{} {}", swizzle, l);
                },
                // A permutation of bits that the swizzle stays inside of is refused only where no swizzle does it.
                Err(_) if l.is_compact().unwrap() && size.count_ones() == 1 && swizzle.period() <= size => {
                    for (bits, base, shift) in (0..4).flat_map(|b| (0..9).flat_map(move |m| (-9..10).map(move |s| (b, m, s)))) {
                        if let Ok(other) = Swizzle::new(bits, base, shift) {
                            prop_assert!((0..size).any(|x| other.apply(oracle::at(&l, x)) != oracle::at(&l, swizzle.apply(x))));
                        }
                    }
                }
                Err(_) => {}
            }
        }
    }

    /// Of 32 lanes, each with a word: in no bank more distinct words than the ranks say, which the rows of layouts without
    /// carries have, whatever the swizzle.
    #[test]
    fn w09_wavefronts_are_ranks(swizzle in swizzles(), strides in Just((0i64..10).collect::<Vec<_>>()).prop_shuffle(), none in prop::collection::vec(prop::bool::weighted(0.15), 5)) {
        let stride = |i: usize| if none[i] { 0 } else { 1 << strides[i] };
        let bits: Vec<Lay> = (0..5).map(|i| strategies::line(2, stride(i))).collect();
        let lanes = Composed::new(swizzle, 0, Lay::concat(&bits).unwrap());
        let words: std::collections::BTreeSet<i64> = table(&lanes).into_iter().collect();
        let most = (0..32).map(|bank| words.iter().filter(|word| *word % 32 == bank).count()).max();
        let matrix = F2Matrix::of_composed(&lanes).unwrap();
        let banks = matrix.columns().iter().map(|c| Lay::leaf(Int::value(2), Stride::F2(c % 32)).unwrap());
        let banks = F2Matrix::of_layout(&Lay::concat(&banks.collect::<Vec<_>>()).unwrap()).unwrap();
        prop_assert_eq!(most, Some(1 << (matrix.rank() - banks.rank())), "{}", lanes);
    }

    #[test]
    fn i10_inverses_of_swizzled_layouts(swizzle in swizzles(), l in powers()) {
        let composed = Composed::new(swizzle, 0, l);
        let (size, right) = (oracle::size(&l), composed.right_inverse().unwrap());
        for i in 0..right.size().unwrap().get().unwrap() {
            prop_assert_eq!(composed.at(right.at(i).unwrap()).unwrap(), i);
        }
        let inside = (0..size).all(|i| swizzle.apply(i) < size);
        prop_assert!(!inside || right.size().unwrap().is(size));
        let left = composed.left_inverse().unwrap();
        for (x, index) in table(&composed).into_iter().enumerate() {
            prop_assert_eq!(left.at_extended(index).unwrap(), x as i64);
        }
    }

    #[test]
    fn inverses_of_slices(swizzle in swizzles(), l in powers(), stage in 0i64..4, stages in 1i64..5) {
        // A tile of a pipeline: the stage is an offset, and the inverse of the tile in its stage forgets it.
        let size = oracle::size(&l).max(swizzle.period());
        let tile = Composed::new(swizzle, stage * size, l);
        let left = tile.left_inverse().unwrap();
        for (x, index) in table(&tile).into_iter().enumerate() {
            prop_assert_eq!(left.at_extended(index).unwrap(), x as i64, "{}: {}", tile, left);
        }
        // All stages at once, however many.
        let stages = Lay::leaf(Int::value(stages), Stride::from(size)).unwrap();
        let all = Composed::new(swizzle, 0, Lay::concat(&[l, stages]).unwrap());
        let (left, right) = (all.left_inverse().unwrap(), all.right_inverse().unwrap());
        for (x, index) in table(&all).into_iter().enumerate() {
            prop_assert_eq!(left.at_extended(index).unwrap(), x as i64, "{}: {}", all, left);
        }
        for i in 0..right.size().unwrap().get().unwrap() {
            prop_assert_eq!(all.at(right.at(i).unwrap()).unwrap(), i);
        }
    }

    #[test]
    fn swizzled_layouts_as_columns(swizzle in swizzles(), l in powers(), m in strategies::arbitrary(3), offset in 0i64..40) {
        for l in [l, m] {
            let composed = Composed::new(swizzle, 0, l);
            match composed.columns() {
                Ok(columns) => {
                    prop_assert!(columns.indices().unwrap().eq(table(&composed)), "{}: {}", composed, columns);
                    prop_assert!(l.shape().compatible(columns.shape()).unwrap());
                }
                Err(error) => {
                    let binary = oracle::leaves(&l).iter().all(|(s, d)| (s * d).max(1).count_ones() == 1);
                    prop_assert!(!(binary && oracle::injective(&l)), "{}: {}", composed, error);
                }
            }
            let moved = Composed::new(swizzle, offset, l);
            prop_assert_eq!(moved.cosize().unwrap().get(), table(&moved).iter().max().map(|most| most + 1));
            if let Ok(left) = moved.left_inverse() {
                for (x, index) in table(&moved).into_iter().enumerate() {
                    prop_assert_eq!(left.at_extended(index).unwrap(), x as i64, "{}: {}", moved, left);
                }
            }
        }
    }

    #[test]
    fn complements_of_swizzled_layouts(swizzle in swizzles(), l in strategies::tractable(2), n in 1i64..4) {
        let covered = n * swizzle.period() * oracle::leaves(&l).iter().map(|(s, d)| s * d).max().unwrap_or(1).max(1);
        let composed = Composed::new(swizzle, 0, l);
        let rest = composed.complement(Int::value(covered)).unwrap();
        let both = Composed::new(swizzle, 0, Lay::concat(&[l.filter(), rest]).unwrap());
        prop_assert_eq!(oracle::sorted(table(&both)), (0..covered).collect::<Vec<_>>());
        prop_assert_eq!(composed.filter(), Composed::new(swizzle, 0, l.filter()));
        for x in oracle::table(&composed.nullspace().unwrap()) {
            prop_assert_eq!(composed.at(x), composed.at(0));
        }
    }

    #[test]
    fn what_swizzled_layouts_share(s in swizzles(), t in swizzles(), l in powers(), m in powers()) {
        let (a, b) = (Composed::new(s, 0, l), Composed::new(t, 0, m));
        for (a, b) in [(a, b), (a, a)] {
            let common = a.max_common_layout(&b).unwrap();
            let n = common.size().unwrap().get().unwrap();
            for i in 0..n {
                let x = common.at(i).unwrap();
                prop_assert_eq!((a.at(x).unwrap(), b.at(x).unwrap()), (i, i));
            }
            let place = |t: &[i64], i: i64| t.iter().position(|x| *x == i);
            let (u, v) = (table(&a), table(&b));
            let run = (0..512).take_while(|i| place(&u, *i).is_some() && place(&u, *i) == place(&v, *i)).count() as i64;
            prop_assert!(n <= run && run < 2 * n, "{} and {}: {} of {}", a, b, common, run);
        }
    }

    #[test]
    fn v06_matrices_and_back(swizzle in swizzles(), l in powers()) {
        let plain = F2Matrix::of_layout(&l).unwrap();
        prop_assert_eq!(apply_all(&plain), oracle::table(&l));
        let back = plain.layout(l.shape()).unwrap();
        prop_assert!(back.equivalent(&l) && l.shape().compatible(back.shape()).unwrap());
        let composed = Composed::new(swizzle, 0, l);
        let matrix = F2Matrix::of_composed(&composed).unwrap();
        prop_assert_eq!(apply_all(&matrix), table(&composed));
        // As a layout of F2 columns it is the same function, and reads back as the same matrix.
        let columns = matrix.layout(l.shape()).unwrap();
        prop_assert!(columns.indices().unwrap().eq(table(&composed)));
        prop_assert_eq!(F2Matrix::of_layout(&columns).unwrap(), matrix);
        prop_assert_eq!(Lay::parse(&columns.to_string()).unwrap(), columns);
        prop_assert_eq!(matrix.rank(), matrix.inputs());
        if let Ok(inverse) = matrix.inverse() {
            prop_assert_eq!(inverse.after(&matrix).unwrap(), F2Matrix::identity(matrix.inputs()).unwrap());
        } else {
            prop_assert!(table(&composed).into_iter().any(|i| i >= oracle::size(&l)));
        }
        let n = (swizzle.bits() + swizzle.base() + swizzle.shift().unsigned_abs()).max(1);
        let read = F2Matrix::of_swizzle(swizzle, n).unwrap().swizzle().unwrap();
        prop_assert!((0..1 << n).all(|x| read.apply(x) == swizzle.apply(x)));
    }

    #[test]
    fn f2_columns_compose_by_definition(
        swizzle in swizzles(), l in powers(), b in strategies::arbitrary(2),
    ) {
        let columns = F2Matrix::of_composed(&Composed::new(swizzle, 0, l)).unwrap().layout(l.shape()).unwrap();
        prop_assert!(columns.coalesce().indices().unwrap().eq(columns.indices().unwrap()));
        let size = oracle::size(&l);
        let inside = oracle::table(&b).into_iter().all(|i| i < size);
        if let (true, Ok(r)) = (inside, columns.composition(&b)) {
            let truth: Vec<i64> = oracle::table(&b).into_iter().map(|i| columns.at(i).unwrap()).collect();
            prop_assert_eq!(r.indices().unwrap().collect::<Vec<_>>(), truth, "{} o {}", columns, b);
        }
    }

    #[test]
    fn the_algebra_acts_on_the_domain(swizzle in swizzles(), l in powers(), t in select(vec![1i64, 2, 4]), offset in 0i64..9) {
        let composed = Composed::new(swizzle, offset, l);
        let through = |r: &Composed, plain: &Lay| {
            (0..oracle::size(plain)).all(|i| r.at(i) == Ok(swizzle.apply(offset + oracle::at(plain, i))))
        };
        let tiler = Tiler::Lay(Lay::leaf(Int::value(t), Stride::from(1)).unwrap());
        type Op = fn(&Composed, &Tiler) -> Result<Composed, Error>;
        type Plain = fn(&Lay, &Tiler) -> Result<Lay, Error>;
        let ops: [(Op, Plain); 6] = [
            (Composed::compose, Lay::compose),
            (Composed::logical_divide, Lay::logical_divide),
            (Composed::zipped_divide, Lay::zipped_divide),
            (Composed::tiled_divide, Lay::tiled_divide),
            (Composed::flat_divide, Lay::flat_divide),
            (Composed::logical_product, Lay::logical_product),
        ];
        for (op, plain) in ops {
            match (op(&composed, &tiler), plain(&l, &tiler)) {
                (Ok(r), Ok(plain)) => prop_assert!(through(&r, &plain)),
                (r, plain) => prop_assert_eq!(r.is_ok(), plain.is_ok()),
            }
        }
        prop_assert!(through(&composed.coalesce(), &l) && through(&composed.flatten(), &l));
        let twice = composed.swizzled(swizzle).unwrap();
        prop_assert_eq!(twice.at(0).unwrap(), offset);
    }

    #[test]
    fn recast_of_swizzled_layouts(base in 2u32..5, bits in 0u32..4, n in 0u32..3) {
        let swizzle = Swizzle::new(bits, base, 3).unwrap();
        let composed = Composed::new(swizzle, 0, lay!("(64,8):(1,64)"));
        let up = composed.recast(8, 8 << n).unwrap();
        for i in 0..512 >> n {
            prop_assert_eq!(up.at(i).unwrap(), composed.at(i << n).unwrap() >> n);
        }
        prop_assert_eq!(up.recast(8 << n, 8).unwrap(), composed);
    }
}

#[test]
fn w08_the_canonical_tiles_are_free_of_conflicts() {
    // 8 rows of 16 * 2^b bytes: each column of 16-byte units touches all 8 groups of 4 banks.
    for b in 0..4u32 {
        let row = 16i64 << b;
        let swizzle = Swizzle::new(b, 4, 3).unwrap();
        for column in 0..1i64 << b {
            let groups = (0..8i64).map(|r| swizzle.apply(r * row + column * 16) / 16 % 8);
            assert!(oracle::sorted(groups.collect()).into_iter().eq(0..8), "b {b} column {column}");
            // The plain tile has as many rows in a group as rows are wider than 16 bytes.
            let plain = (0..8i64).filter(|r| (r * row + column * 16) / 16 % 8 == column % 8).count();
            assert_eq!(plain, 1 << b, "b {b} column {column}");
        }
    }
}

#[test]
fn f2_columns_are_refused_where_they_mean_nothing() {
    let columns = lay!("(8,8):(^1,^9)");
    assert_eq!(columns.at(9).unwrap(), 1 ^ 9);
    // The place of an element is no sum: only a slice that fixes nothing has an offset.
    let row = columns.slice(&girih_layout::Coord::parse("(3,_)").unwrap());
    assert_eq!(row.unwrap_err().kind(), "unsupported");
    assert_eq!(lay!("(3,8):(1,^2)").max_index().unwrap_err().kind(), "unsupported");
    assert_eq!(lay!("8:^3").composition(&lay!("(2,2):(3,1)")).unwrap_err().kind(), "carry");
    assert_eq!(F2Matrix::of_layout(&lay!("3:1")).unwrap_err().kind(), "unsupported");
    assert_eq!(F2Matrix::of_layout(&lay!("(4,2):(1,2)")).unwrap_err().kind(), "unsupported");
    // CuTe says Sw<1,2,1> here, and is wrong at 6.
    assert!(Swizzle::new(1, 0, 1).unwrap().through(&lay!("(6,4):(4,1)")).is_err());
    // The bit that the swizzle would read comes from another column too.
    assert!(Swizzle::new(1, 0, 1).unwrap().through(&lay!("(2,2,2):(^1,^2,^6)")).is_err());
    let (first, second) = (Swizzle::new(2, 0, 2).unwrap(), Swizzle::new(2, 4, 3).unwrap());
    assert_eq!(Composed::new(first, 0, lay!("8:1")).swizzled(second).unwrap_err().kind(), "unsupported");
}
