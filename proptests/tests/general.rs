//! Composition and recognition beyond the rules, and what stands beside them: the laws M, K04, N09, D09 and V, by enumeration.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Coord, Crd, Error, Int, IntTuple, Lay, Product, Shape, Stride, Tiler, idx2crd, lay};
use girih_proptests::{oracle, soak, strategies};
use proptest::prelude::*;

fn line(s: i64, d: i64) -> Lay {
    Lay::leaf(Int::value(s), Stride::from(d)).unwrap()
}

fn flat(leaves: &[(i64, i64)]) -> Lay {
    Lay::concat(&leaves.iter().map(|(s, d)| line(*s, *d)).collect::<Vec<_>>()).unwrap()
}

fn definition(a: &Lay, b: &Lay) -> Vec<i64> {
    oracle::table(b).into_iter().map(|i| oracle::at(a, i)).collect()
}

/// The condition of M03, number by number.
fn no_carry(a: &Lay, b: &Lay) -> bool {
    let extents: Vec<i64> = oracle::leaves(a).into_iter().map(|(s, _)| s).collect();
    let mut end = 1;
    extents[..extents.len() - 1].iter().all(|extent| {
        end *= extent;
        let most = oracle::leaves(b).into_iter().map(|(s, d)| (0..s).map(|x| x * d % end).max().unwrap_or(0));
        most.sum::<i64>() < end
    })
}

/// Whether `A` of the sum is the sum of `A`'s.
fn additive(a: &Lay, b: &Lay) -> bool {
    (0..oracle::size(b)).all(|i| {
        let (mut rest, mut sum, mut parts) = (i, 0, 0);
        for (s, d) in oracle::leaves(b) {
            sum += rest % s * d;
            parts += oracle::at(a, rest % s * d);
            rest /= s;
        }
        oracle::at(a, sum) == parts
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn m03_no_carry_is_additivity(a in strategies::any_layout(4), g in strategies::generic(4), b in strategies::arbitrary(3)) {
        if no_carry(&a, &b) {
            prop_assert!(additive(&a, &b));
        }
        // For strides without a relation to one another (the same ones must not follow on either) the converse holds.
        prop_assert_eq!(no_carry(&g, &b), additive(&g, &b), "{} {}", g, b);
    }

    #[test]
    fn m09_coalescing_the_left_hand_side(a in strategies::any_layout(4), b in strategies::arbitrary(3)) {
        // Extents of 1 at the end keep the extended function, so only those before it go.
        let mut leaves = oracle::leaves(&a);
        let last = leaves.pop().unwrap();
        leaves.retain(|(s, _)| *s > 1);
        leaves.push(last);
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (s, d) in leaves {
            match joined.last_mut() {
                Some((t, e)) if *t * *e == d => *t *= s,
                _ => joined.push((s, d)),
            }
        }
        prop_assert_eq!(a.composition(&b), flat(&joined).composition(&b));
    }

    #[test]
    fn m13_strides_add_up(shape in strategies::compact(3), d in strategies::generic(3), e in strategies::arbitrary(3), b in strategies::arbitrary(2)) {
        let extents: Vec<i64> = oracle::leaves(&shape).into_iter().map(|(s, _)| s).collect();
        let strides = |l: &Lay| oracle::leaves(l).into_iter().map(|(_, d)| d).cycle().take(extents.len()).collect::<Vec<_>>();
        let of = |strides: &[i64]| flat(&extents.iter().copied().zip(strides.iter().copied()).collect::<Vec<_>>());
        let (d, e) = (strides(&d), strides(&e));
        let sum: Vec<i64> = d.iter().zip(&e).map(|(d, e)| d + e).collect();
        if let (Ok(x), Ok(y), Ok(z)) =
            (of(&d).composition(&b), of(&e).composition(&b), of(&sum).composition(&b))
        {
            let added: Vec<i64> =
                oracle::table(&x).into_iter().zip(oracle::table(&y)).map(|(x, y)| x + y).collect();
            prop_assert_eq!(oracle::table(&z), added);
        }
    }

    #[test]
    fn m15_m16_v05_general_is_exact(a in strategies::any_layout(4), b in strategies::arbitrary(3)) {
        let truth = definition(&a, &b);
        match a.compose_general(&b) {
            Ok(r) => {
                prop_assert_eq!(oracle::table(&r), truth);
                if let Ok(strict) = a.composition(&b) { prop_assert_eq!(strict, r); }
            }
            Err(Error::NoLayout { witness: Some(w), .. }) => {
                prop_assert!(a.composition(&b).is_err());
                prop_assert_eq!(truth[w.coord as usize], w.expected);
                prop_assert_ne!(w.expected, w.obtained);
                prop_assert!(!oracle::has_layout(&b, &truth));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn m20_refining_the_right_hand_side_never_helps(
        a in strategies::any_layout(4), b in strategies::arbitrary(2), split in 1i64..9, which in 0usize..2,
    ) {
        let mut leaves = oracle::leaves(&b);
        let which = which % leaves.len();
        let (s, d) = leaves[which];
        if s % split != 0 {
            return Ok(()); // not what the law is about
        }
        leaves.splice(which..=which, [(split, d), (s / split, d * split)]);
        if let Ok(refined) = a.compose_general(&flat(&leaves)) {
            prop_assert_eq!(oracle::table(&a.compose_general(&b).unwrap()), oracle::table(&refined));
        }
    }

    #[test]
    fn in_bounds_or_refused(a in strategies::any_layout(3), b in strategies::signed(2)) {
        let inside = oracle::table(&b).into_iter().all(|i| 0 <= i && i < oracle::size(&a));
        match a.compose_in_bounds(&b) {
            Ok(r) => { prop_assert!(inside); prop_assert_eq!(oracle::table(&r), definition(&a, &b)); }
            Err(error) => prop_assert_eq!(error.kind() == "coord_out_of_range", !inside),
        }
    }

    #[test]
    fn k04_recognition_is_coalescing(l in strategies::any_layout(4), at in 0usize..4096, by in 1i64..9) {
        let mut table = oracle::table(&l);
        prop_assert!(l.indices().unwrap().eq(table.iter().copied()));
        prop_assert_eq!(Lay::recognise(&table).unwrap(), l.coalesce());
        let shaped = Lay::recognise_shaped(&table, l.shape()).unwrap();
        prop_assert!(l.shape().compatible(shaped.shape()).unwrap());
        prop_assert_eq!(oracle::table(&shaped), table.clone());
        // One value changed: a layout if and only if there is one.
        let at = at % table.len();
        table[at] += by;
        match Lay::recognise(&table) {
            Ok(other) => prop_assert_eq!(oracle::table(&other), table),
            Err(Error::NoLayout { witness: Some(w), .. }) => {
                prop_assert_eq!(table[w.coord as usize], w.expected);
                prop_assert_ne!(w.expected, w.obtained);
                prop_assert!(!oracle::is_layout(&table));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn v01_v02_injective_and_compact(l in strategies::any_layout(4)) {
        prop_assert_eq!(l.is_injective().unwrap(), oracle::injective(&l));
        let sorted = oracle::sorted(oracle::table(&l));
        prop_assert_eq!(l.is_compact().unwrap(), sorted.into_iter().eq(0..oracle::size(&l)));
        let mut modes: Vec<_> = oracle::leaves(&l).into_iter().filter(|(s, _)| *s > 1).collect();
        modes.sort_by_key(|(_, d)| *d);
        let mut reach = 0;
        let superincreasing = modes.iter().all(|(s, d)| { let fits = *d > reach; reach += d * (s - 1); fits });
        prop_assert!(!superincreasing || l.is_injective().unwrap());
    }

    #[test]
    fn v04_the_range_is_what_bounds_need(l in strategies::any_layout(4), n in 0i64..200) {
        let inside = oracle::table(&l).into_iter().all(|i| 0 <= i && i < n);
        prop_assert_eq!(l.min_index().unwrap() >= 0 && l.max_index().unwrap() < n, inside);
    }

    #[test]
    fn preimages_are_exact(l in strategies::any_layout(3), probe in -50i64..200) {
        let table = oracle::table(&l);
        for index in table.iter().copied().chain([probe, probe * 1009]) {
            match l.preimage(index).unwrap() {
                Some(c) => prop_assert_eq!(l.crd2idx(&c).unwrap(), index),
                None => prop_assert!(!table.contains(&index), "{} in {}", index, l),
            }
        }
    }

    #[test]
    fn coordinates_in_order(l in strategies::any_layout(4)) {
        let coords: Vec<Coord> = l.shape().coords().unwrap().collect();
        prop_assert_eq!(coords.len() as i64, oracle::size(&l));
        for (i, c) in coords.into_iter().enumerate() {
            prop_assert_eq!(c, idx2crd(l.shape(), i as i64).unwrap());
        }
    }

    #[test]
    fn n09_a_complement_is_the_only_one(l in strategies::tractable(3), k in 1i64..4) {
        // With exact cover, the least index that is not covered must be the next of the complement.
        let image = oracle::table(&l.filter());
        let end = oracle::leaves(&l).into_iter().filter(|(s, d)| *s > 1 && *d > 0).map(|(s, d)| s * d).max().unwrap_or(1);
        let m = end * k;
        let (mut covered, mut only) = (vec![false; m as usize], Vec::new());
        while let Some(next) = covered.iter().position(|c| !c) {
            only.push(next as i64);
            for i in &image { covered[*i as usize + next] = true; }
        }
        prop_assert_eq!(oracle::table(&l.complement(Int::value(m)).unwrap()), only);
    }

    #[test]
    fn d05_the_residue_is_exactly_the_outside(a in strategies::generic(3), tile in strategies::tractable(2)) {
        if oracle::size(&a) * oracle::size(&tile) > 4096 {
            return Ok(()); // not what the law is about
        }
        if let Ok((divided, residue)) = a.divide_with_residue(&Tiler::Lay(tile)) {
            prop_assert_eq!(divided.size().unwrap(), residue.coords().size().unwrap());
            let mut inside = Vec::new();
            for (i, index) in oracle::table(&divided).into_iter().enumerate() {
                if residue.is_inside(i as i64).unwrap() {
                    inside.push(index);
                }
            }
            prop_assert_eq!(oracle::sorted(inside), oracle::sorted(oracle::table(&a)));
        }
    }

    #[test]
    fn a_residue_of_nothing_divided(a in strategies::arbitrary(3)) {
        let tiler = Tiler::modes(&vec![girih_layout::Tile::All; a.rank()]).unwrap();
        let (divided, residue) = a.divide_with_residue(&tiler).unwrap();
        prop_assert_eq!(oracle::table(&divided), oracle::table(&a));
        let size = oracle::size(&a);
        prop_assert!((0..size).all(|i| residue.is_inside(i) == Ok(true)));
        prop_assert!(residue.is_inside(size).is_err() && residue.is_inside(-1).is_err());
        prop_assert_eq!(residue.bounds().to_string(), "()");
    }

    #[test]
    fn d05_the_residue_by_mode(m in 1i64..20, n in 1i64..20, p in 1i64..8, q in 1i64..8) {
        let a = flat(&[(m, 1), (n, 1000), (2, 500_000)]);
        let (divided, residue) = a.divide_with_residue(&Tiler::sizes(&[p, q]).unwrap()).unwrap();
        for (i, index) in oracle::table(&divided).into_iter().enumerate() {
            let (row, column) = (index % 1000, index / 1000 % 500);
            prop_assert_eq!(residue.is_inside(i as i64).unwrap(), row < m && column < n);
        }
    }

    #[test]
    fn d09_tiles_partition(m in 1i64..6, n in 1i64..6, p in 1i64..5, q in 1i64..5, d in 1i64..4) {
        let a = flat(&[(m * p, d), (n * q, d * m * p)]);
        let tiles = a.zipped_divide(&Tiler::sizes(&[p, q]).unwrap()).unwrap();
        let mut all = Vec::new();
        for i in 0..m {
            for j in 0..n {
                let block = Coord::of(&[i, j]).unwrap();
                let coord = Coord::concat(&[Coord::leaf(Crd::All), block]).unwrap();
                let (tile, offset) = tiles.slice(&coord).unwrap();
                prop_assert_eq!(oracle::size(&tile), p * q);
                all.extend(oracle::table(&tile).into_iter().map(|i| i + offset.get().unwrap()));
            }
        }
        prop_assert_eq!(oracle::sorted(all), oracle::sorted(oracle::table(&a)));
    }

    #[test]
    fn outer_products_always_exist(a in strategies::arbitrary(3), b in strategies::arbitrary(2)) {
        let product = a.logical_product_with(&Tiler::Lay(b), Product::Outer).unwrap();
        prop_assert_eq!(product.mode(0).unwrap(), a);
        prop_assert_eq!(*product.mode(1).unwrap().shape(), *b.shape());
        if oracle::injective(&a) && oracle::injective(&b) && oracle::size(&product) <= 4096 {
            prop_assert!(oracle::injective(&product));
        }
    }

    #[test]
    fn coordinates_compose_by_definition(extents in prop::collection::vec(1i64..7, 1..4), b in strategies::arbitrary(2)) {
        let shape = Shape::flat(&extents.iter().map(|s| Int::value(*s)).collect::<Vec<_>>()).unwrap();
        let identity = Lay::identity(&shape).unwrap();
        if oracle::table(&b).into_iter().any(|i| i >= extents.iter().product()) {
            return Ok(()); // coordinates past the end are not compared here
        }
        // A generic integer in the place of each basis vector tells whether there is a layout at all.
        let generic: Vec<_> = extents.iter().copied().zip([1, 1_009, 1_018_081]).collect();
        let numbers = flat(&generic).compose_general(&b);
        match identity.composition(&b) {
            Ok(r) => for i in 0..oracle::size(&b) {
                prop_assert_eq!(r.coord_at(i, extents.len()), identity.coord_at(oracle::at(&b, i), extents.len()));
            },
            Err(error) => prop_assert!(
                numbers.is_err() || along_several(&numbers.unwrap()), "{} o {}: {}", identity, b, error),
        }
    }
}

/// Whether a stride is a sum of several generic units, which no basis stride is.
fn along_several(l: &Lay) -> bool {
    oracle::leaves(l)
        .into_iter()
        .any(|(_, d)| [d % 1_009, d / 1_009 % 1_009, d / 1_018_081].iter().filter(|x| **x != 0).count() > 1)
}

#[test]
fn compositions_of_all_families() {
    let report = soak::compositions(40_000, 7);
    println!("{report}");
    assert_eq!(report.wrong(), 0, "{report}");
    assert!(report.families.values().all(|counts| counts.right > 1000 && counts.refused > 1000));
}

#[test]
fn symbols_and_basis_strides_fall_back_to_enumeration() {
    // 0, 5, 10 ... steps over a mode of 4 unevenly: two elements always compose.
    let pitch = lay!("(4,6):(1,s2)");
    assert_eq!(pitch.composition(&lay!("2:4")).unwrap(), lay!("2:s2"));
    assert_eq!(lay!("(4,6):(s1,s1*s2)").composition(&lay!("(2,2):(1,1)")).unwrap(), lay!("(2,2):(s1,s1)"));
    assert_eq!(
        lay!("(4,6,8):(1@0,1@1,1@2)").composition(&lay!("(2,2):(4,24)")).unwrap(),
        lay!("(2,2):(1@1,1@2)")
    );
    // (3,3) modulo 4 carries: 0 3 6 is (0,0) (3,0) (2,1).
    assert!(lay!("(4,6):(1@0,1@1)").composition(&lay!("3:3")).is_err());
    assert_eq!(lay!("(4,2):(1@0,1@1)").composition(&lay!("(2,2):(2,3)")).unwrap_err().kind(), "carry");
}

#[test]
fn preimages_and_products_refuse_what_they_cannot_do() {
    assert_eq!(lay!("(s0,4):(4,1)").preimage(3).unwrap_err().kind(), "not_known");
    assert_eq!(lay!("(4,4):(1@0,1@1)").preimage(3).unwrap_err().kind(), "unsupported");
    let negative = Tiler::Lay(lay!("2:1"));
    assert_eq!(
        lay!("4:-1").logical_product_with(&negative, Product::Outer).unwrap_err().kind(),
        "non_positive_stride"
    );
    assert_eq!(Lay::recognise(&[]).unwrap_err().kind(), "unsupported");
    assert_eq!(Lay::recognise(&[3]).unwrap_err().kind(), "no_layout");
}

proptest! {
    #[test]
    fn any_function_after_a_layout(l in strategies::arbitrary(3), offset in 0i64..50, tile in 1i64..5, step in 1i64..7) {
        use girih_layout::{Composition, Tiler};
        // A gather: no layout has these values.
        let gather = |index: i64| -> Result<i64, Error> { Ok(index * index % 101) };
        let composed = Composition::new(gather, offset, l);
        let of = oracle::table(&l);
        for (c, index) in of.iter().enumerate() {
            prop_assert_eq!(composed.at(c as i64).unwrap(), (index + offset) * (index + offset) % 101);
        }
        // The algebra acts on the domain.
        let tiler = Tiler::Lay(strategies::line(tile, step));
        if let Ok(tiles) = composed.map(|l| l.logical_divide(&tiler)) {
            let divided = oracle::table(&l.logical_divide(&tiler).unwrap());
            for (c, index) in divided.iter().enumerate() {
                prop_assert_eq!(tiles.at(c as i64).unwrap(), (index + offset) * (index + offset) % 101);
            }
        }
        // A layout as the function is composition, without its limits.
        let plain = Composition::new(l, 0, strategies::line(tile, step));
        for i in 0..tile {
            prop_assert_eq!(plain.at(i).unwrap(), oracle::at(&l, i * step));
        }
    }

    #[test]
    fn keys_stand_for_leaves_or_modes(l in strategies::arbitrary(4), keys in prop::collection::vec(0i64..4, 4)) {
        // One key a mode: the modes in that order, each leftmost first.
        let shape = l.shape();
        let mut next = keys.iter().copied();
        let coarse = shape.product_each().unwrap().map(|_| Int::value(next.next().unwrap())).unwrap();
        let ordered = Lay::ordered(shape, &coarse).unwrap();
        prop_assert_eq!(ordered.shape(), shape);
        let mut modes: Vec<usize> = (0..shape.rank()).collect();
        modes.sort_by_key(|mode| coarse.get(*mode).and_then(Int::get));
        let mut step = 1;
        for mode in modes {
            let part = ordered.mode(mode).unwrap();
            let expected: Vec<i64> = (0..oracle::size(&part)).map(|i| i * step).collect();
            prop_assert_eq!(oracle::table(&part), expected);
            step *= oracle::size(&part);
        }
        prop_assert!(Lay::ordered(&shape.product_each().unwrap().wrap(), &IntTuple::parse("((0,1),2,3,4,5)").unwrap()).is_err());
    }

    #[test]
    fn hierarchical_coordinates_are_of_indices_that_are_there(l in strategies::any_layout(3), index in -3i64..60) {
        let of = oracle::table(&l);
        match l.hier_coord(index) {
            Ok(coord) => prop_assert_eq!(l.crd2idx(&coord).unwrap(), index),
            Err(error) => prop_assert!(
                error == Error::NoCoordinate { op: "hier_coord", index } && !of.contains(&index)
                    || matches!(error, Error::NonPositiveStride { .. }), "{} at {}: {}", l, index, error),
        }
    }
}
