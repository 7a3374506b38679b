//! Inverses, and what two layouts share: the laws I.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Lay, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

proptest! {
    #[test]
    fn i01_i07_right_inverse(l in strategies::any_layout(4)) {
        let inverse = l.right_inverse().unwrap();
        for (i, c) in oracle::table(&inverse).into_iter().enumerate() {
            prop_assert_eq!(oracle::at(&l, c), i as i64);
        }
        // Where modes follow on one another from 1, none is left out.
        let mut run = 1;
        while let Some(s) = oracle::essential(&l.coalesce()).iter().filter(|(_, d)| *d == run).map(|(s, _)| *s).max() {
            run *= s;
        }
        prop_assert_eq!(oracle::size(&inverse), run);
    }

    #[test]
    fn i02_i03_i04_compact_layouts_have_two_sided_inverses(l in strategies::compact(4)) {
        let (right, left) = (l.right_inverse().unwrap(), l.left_inverse().unwrap());
        prop_assert_eq!(oracle::size(&right), oracle::size(&l));
        prop_assert!(right.equivalent(&left));
        prop_assert_eq!(right.right_inverse().unwrap(), l.coalesce());
        let identity = strategies::line(oracle::size(&l), 1);
        prop_assert!(l.composition(&right).unwrap().equivalent(&identity));
        prop_assert!(right.composition(&l).unwrap().equivalent(&identity));
    }

    #[test]
    fn i05_i06_left_inverse(l in strategies::any_layout(3)) {
        match l.left_inverse() {
            Ok(inverse) => for (i, index) in oracle::table(&l).into_iter().enumerate() {
                prop_assert_eq!(inverse.at_extended(index).unwrap(), i as i64);
            },
            Err(error) => {
                let leaves = oracle::essential(&l);
                let divides = leaves.windows(2).all(|w| w[1].1 % w[0].1 == 0);
                let positive = leaves.iter().all(|(_, d)| *d > 0);
                prop_assert!(!(oracle::injective(&l) && divides && positive), "{}: {}", l, error);
            }
        }
    }

    #[test]
    fn i08_quasi_inverse(l in strategies::arbitrary(3)) {
        if let Ok(inverse) = l.quasi_inverse() {
            for index in oracle::table(&l) {
                prop_assert_eq!(oracle::at(&l, inverse.at_extended(index).unwrap()), index);
            }
        }
    }

    #[test]
    fn i09_the_inverse_of_a_composition(a in strategies::tractable(2), b in strategies::tractable(2)) {
        if let (Ok(both), Ok(ia), Ok(ib)) = (a.composition(&b), a.left_inverse(), b.left_inverse())
            && b.max_index().unwrap() < oracle::size(&a)
            && let Ok(inverse) = both.left_inverse()
        {
            for index in oracle::table(&both) {
                let steps = ib.at_extended(ia.at_extended(index).unwrap()).unwrap();
                prop_assert_eq!(inverse.at_extended(index).unwrap(), steps);
            }
        }
    }

    #[test]
    fn i11_i12_what_two_layouts_share(a in strategies::any_layout(3), b in strategies::any_layout(3), c in strategies::compact(3), d in strategies::compact(3)) {
        for (a, b) in [(a, b), (c, d), (c, c), (a, c), (c, a)] {
            let common = a.max_common_layout(&b).unwrap();
            for (i, x) in oracle::table(&common).into_iter().enumerate() {
                prop_assert_eq!((oracle::at(&a, x), oracle::at(&b, x)), (i as i64, i as i64));
            }
            prop_assert_eq!(oracle::size(&common), longest_common(&a, &b), "{} and {}: {}", a, b, common);
            prop_assert_eq!(a.max_common_vector(&b).unwrap().get().unwrap(), longest_vector(&a, &b));
        }
        let whole = strategies::line(oracle::size(&c), 1);
        prop_assert_eq!(c.max_common_layout(&c).unwrap(), c.right_inverse().unwrap());
        prop_assert_eq!(whole.max_common_vector(&whole).unwrap(), whole.size().unwrap());
    }
}

#[test]
fn i07_of_equal_strides_the_largest_mode_counts() {
    assert_eq!(lay!("(2,3):(1,1)").right_inverse().unwrap(), lay!("3:2"));
    assert_eq!(lay!("(3,2):(1,1)").right_inverse().unwrap(), lay!("3:1"));
    assert_eq!(lay!("(3,4):(0,1)").right_inverse().unwrap(), lay!("4:3"));
    assert_eq!(lay!("4:2").right_inverse().unwrap(), Lay::UNIT);
}

/// The size of the longest piece of `b`'s right inverse that is a layout and on which `a` counts from 0: every length is tried.
fn longest_common(a: &Lay, b: &Lay) -> i64 {
    let places = oracle::table(&b.right_inverse().unwrap());
    let common = |(i, x): (i64, &i64)| *x < oracle::size(a) && oracle::at(a, *x) == i;
    let run = (0..).zip(&places).take_while(|pair| common(*pair)).count();
    (1..=run).rev().find(|n| oracle::is_layout(&places[..*n])).unwrap() as i64
}

/// How many of the first places of that piece follow on one another.
fn longest_vector(a: &Lay, b: &Lay) -> i64 {
    let places = oracle::table(&b.right_inverse().unwrap());
    let n = longest_common(a, b) as usize;
    (0..).zip(&places[..n]).take_while(|(i, x)| i == *x).count() as i64
}
