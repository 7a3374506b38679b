//! Composition: the laws M, by comparison with `A(B(c))` over the whole domain.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Error, Int, Lay, Stride, Tile, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

fn definition(a: &Lay, b: &Lay) -> Vec<i64> {
    oracle::table(b).into_iter().map(|i| oracle::at(a, i)).collect()
}

fn scaled(l: &Lay, k: i64) -> Lay {
    let mut stride = Vec::new();
    for (s, d) in oracle::leaves(l) {
        stride.push(Lay::leaf(Int::value(s), Stride::from(d * k)).unwrap());
    }
    Lay::concat(&stride).unwrap()
}

/// The negative side: what the error claims has to be so.
fn check_error(a: &Lay, b: &Lay, error: Error) -> Result<(), TestCaseError> {
    let truth = definition(a, b);
    match error {
        Error::Carry { witness: Some(w), .. } => {
            prop_assert_eq!(truth[w.coord as usize], w.expected);
            prop_assert_ne!(w.expected, w.obtained);
        }
        Error::StrideDivisibility { .. } | Error::ShapeDivisibility { .. } => {}
        Error::NoLayout { witness: Some(w), .. } if w.expected != w.obtained => {}
        other => prop_assert!(false, "{} o {}: {}", a, b, other),
    }
    prop_assert!(!oracle::has_layout(b, &truth), "{} o {} exists: {:?}", a, b, truth);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn m01_m02_m15_exact_or_there_is_none(a in strategies::any_layout(4), b in strategies::arbitrary(3)) {
        match a.composition(&b) {
            Ok(r) => {
                prop_assert_eq!(oracle::table(&r), definition(&a, &b));
                prop_assert!(b.shape().compatible(r.shape()).unwrap());
            }
            Err(error) => check_error(&a, &b, error)?,
        }
    }

    #[test]
    fn m01_tractable_right_hand_sides(a in strategies::any_layout(4), b in strategies::tractable(3)) {
        match a.composition(&b) {
            Ok(r) => prop_assert_eq!(oracle::table(&r), definition(&a, &b)),
            Err(error) => check_error(&a, &b, error)?,
        }
    }
}

proptest! {
    #[test]
    fn m05_associative_inside_the_domain(
        a in strategies::compact(3), b in strategies::compact(2), c in strategies::arbitrary(2),
    ) {
        if c.max_index().unwrap() >= oracle::size(&b) {
            return Ok(()); // not what the law is about
        }
        if let (Ok(ab), Ok(bc)) = (a.composition(&b), b.composition(&c))
            && let (Ok(left), Ok(right)) = (ab.composition(&c), a.composition(&bc))
        {
            prop_assert!(left.equivalent(&right));
        }
    }

    #[test]
    fn m07_m08_identities(a in strategies::any_layout(4), b in strategies::arbitrary(3)) {
        let shaped = a.composition(&Lay::left(a.shape()).unwrap()).unwrap();
        prop_assert_eq!(oracle::table(&shaped), oracle::table(&a));
        let size = oracle::size(&a);
        let line = a.composition(&Lay::leaf(Int::value(size), Stride::from(1)).unwrap()).unwrap();
        prop_assert_eq!(line.coalesce(), a.coalesce());
        let n = Int::try_from(b.cosize().unwrap()).unwrap();
        let identity = Lay::leaf(n, Stride::from(1)).unwrap();
        prop_assert_eq!(oracle::table(&identity.composition(&b).unwrap()), oracle::table(&b));
    }

    #[test]
    fn m10_coalescing_the_right_hand_side(a in strategies::any_layout(4), b in strategies::arbitrary(3)) {
        if let Ok(r) = a.composition(&b) {
            prop_assert_eq!(oracle::table(&a.composition(&b.coalesce()).unwrap()), oracle::table(&r));
        }
    }

    #[test]
    fn m11_m14_small_right_hand_sides(a in strategies::any_layout(4), s in 1i64..9, d in 0i64..99) {
        let of = |s, d| Lay::leaf(Int::value(s), Stride::from(d)).unwrap();
        prop_assert_eq!(a.composition(&of(s, 0)).unwrap(), of(s, 0));
        prop_assert_eq!(a.composition(&of(1, d)).unwrap(), Lay::UNIT);
        let two = a.composition(&of(2, d)).unwrap();
        prop_assert_eq!(oracle::table(&two), vec![0, oracle::at(&a, d)]);
    }

    #[test]
    fn m12_scaling_the_strides(a in strategies::any_layout(4), b in strategies::arbitrary(3), k in 1i64..5) {
        if let (Ok(r), Ok(scaled)) = (a.composition(&b), scaled(&a, k).composition(&b)) {
            let expected: Vec<i64> = oracle::table(&r).into_iter().map(|i| i * k).collect();
            prop_assert_eq!(oracle::table(&scaled), expected);
        }
    }

    #[test]
    fn m17_m18_by_mode(a in strategies::any_layout(4), s in 1i64..5) {
        let tile = Lay::leaf(Int::value(s), Stride::from(1)).unwrap();
        let whole = a.mode(0).unwrap().composition(&tile);
        match (a.composition_by(&[Tile::Lay(tile)]), whole) {
            (Ok(r), Ok(mode)) => prop_assert_eq!(r, Lay::concat(&[mode]).unwrap()),
            (r, mode) => prop_assert_eq!(r.map_err(|e| e.kind()).err(), mode.map_err(|e| e.kind()).err()),
        }
        let all = vec![Tile::All; a.rank()];
        prop_assert_eq!(oracle::table(&a.composition_by(&all).unwrap()), oracle::table(&a));
        prop_assert_eq!(a.composition_by(&vec![Tile::All; a.rank() + 1]).unwrap_err().kind(), "rank_mismatch");
    }

    #[test]
    fn m19_inside_stays_inside(a in strategies::any_layout(3), b in strategies::compact(2)) {
        if oracle::size(&b) > oracle::size(&a) {
            return Ok(()); // not what the law is about
        }
        if let Ok(r) = a.composition(&b) {
            let image = oracle::table(&a);
            prop_assert!(oracle::table(&r).iter().all(|i| image.contains(i)));
        }
    }
}

#[test]
fn m04_injective_is_not_enough() {
    // The strides divide, the right-hand side is injective, and mode by mode it is still wrong.
    let (a, b) = (lay!("(4,2):(1,10)"), lay!("(2,2):(2,3)"));
    let Err(Error::Carry { witness: Some(w), .. }) = a.composition(&b) else { panic!("must not compose") };
    assert_eq!((w.coord, w.expected, w.obtained), (3, 11, 5));
}

#[test]
fn m06_not_associative_past_the_domain() {
    let (a, b, c) = (lay!("(5,3):(1,7)"), lay!("4:1"), lay!("2:5"));
    let left = a.composition(&b).unwrap().composition(&c).unwrap();
    let right = a.composition(&b.composition(&c).unwrap()).unwrap();
    assert!(!left.equivalent(&right));
}

#[test]
fn the_weak_divisibility_rule_is_refused() {
    // CuTe answers (2,3):(6,3), whose table is 0 6 3 9 6 12.
    let (a, b) = (lay!("(4,6,8):(2,3,5)"), lay!("6:3"));
    assert_eq!(definition(&a, &b), [0, 6, 7, 8, 9, 15]);
    assert_eq!(a.composition(&b).unwrap_err().kind(), "no_layout");
    // Not a matter of dogma: two elements always compose.
    assert_eq!(a.composition(&lay!("2:5")).unwrap(), lay!("2:5"));
}

#[test]
fn negative_steps_need_a_single_mode() {
    assert_eq!(lay!("4:3").composition(&lay!("4:-1")).unwrap(), lay!("4:-3"));
    let error = lay!("(4,4):(1,9)").composition(&lay!("4:-1")).unwrap_err();
    assert_eq!(error.kind(), "non_positive_stride");
}
