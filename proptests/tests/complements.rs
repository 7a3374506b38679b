//! Complements: the laws N.

use girih_layout::{Error, Int, Lay, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

fn complement(l: &Lay, n: i64) -> Result<Lay, Error> {
    l.complement(Int::value(n))
}

proptest! {
    #[test]
    fn n01_n02_n03_n04_a_complement_fills_the_holes(l in strategies::tractable(4), n in 1i64..200) {
        let (filtered, c) = (l.filter(), oracle::end(&l));
        let rest = complement(&l, n).unwrap();
        prop_assert!(oracle::increasing(&rest));
        let covered = oracle::round_up(n, c);
        prop_assert_eq!(oracle::sums(&filtered, &rest), (0..covered).collect::<Vec<_>>());
    }

    #[test]
    fn n05_n06_twice_is_sorted(l in strategies::tractable(4), k in 1i64..4) {
        let m = oracle::end(&l) * k;
        let once = complement(&l, m).unwrap();
        let twice = complement(&once, m).unwrap();
        let leaves: Vec<Lay> = oracle::essential(&l).into_iter().map(|(s, d)| strategies::line(s, d)).collect();
        let sorted = if leaves.is_empty() { Lay::UNIT } else { Lay::concat(&leaves).unwrap() };
        prop_assert_eq!(twice, sorted.coalesce());
        prop_assert_eq!(complement(&l.flatten(), m).unwrap(), once);
        prop_assert_eq!(complement(&sorted, m).unwrap(), once);
    }

    #[test]
    fn n08_irregular_holes_are_refused(l in strategies::signed(4), n in 1i64..99) {
        let leaves = oracle::essential(&l);
        let regular = leaves.iter().scan(1, |end, (s, d)| {
            let fits = *d > 0 && d % *end == 0;
            *end = s * d;
            Some(fits)
        }).all(|fits| fits);
        // Coalescing may join modes first, which never makes them irregular.
        match complement(&l, n) {
            Ok(rest) => {
                prop_assert!(oracle::increasing(&rest));
                prop_assert_eq!(oracle::sums(&l.filter(), &rest), (0..oracle::round_up(n, oracle::end(&l))).collect::<Vec<_>>());
            }
            Err(error) => {
                prop_assert!(!regular, "{}: {}", l, error);
                prop_assert!(error.kind() != "overlap" || !oracle::injective(&l.filter()), "{}: {}", l, error);
                prop_assert!(matches!(error.kind(), "not_tractable" | "overlap" | "non_positive_stride"));
            }
        }
    }

    #[test]
    fn the_floored_complement_is_disjoint(l in strategies::arbitrary(3), n in 1i64..99) {
        if let Ok(rest) = l.complement_floor(Int::value(n)) {
            prop_assert!(oracle::increasing(&rest));
            if oracle::injective(&l.filter()) && complement(&l, n).is_ok() {
                prop_assert_eq!(rest, complement(&l, n).unwrap());
            }
        }
    }
}

#[test]
fn n07_worked_complements() {
    for (l, n, expected) in [
        (lay!("4:1"), 24, lay!("6:4")),
        (lay!("6:4"), 24, lay!("4:1")),
        (lay!("1:0"), 7, lay!("7:1")),
        (lay!("7:1"), 7, lay!("1:0")),
        (lay!("(2,2):(1,6)"), 24, lay!("(3,2):(2,12)")),
    ] {
        assert_eq!(complement(&l, n).unwrap(), expected);
    }
    assert_eq!(complement(&lay!("(2,2):(1,1)"), 8).unwrap_err().kind(), "overlap");
    assert_eq!(complement(&lay!("(2,2):(1,3)"), 12).unwrap_err().kind(), "not_tractable");
    assert_eq!(lay!("(2,2):(1,3)").complement_floor(Int::value(12)).unwrap(), lay!("2:6"));
    assert_eq!(complement(&lay!("4:-1"), 8).unwrap_err().kind(), "non_positive_stride");
}
