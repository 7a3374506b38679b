//! Shapes, strides and layouts from Rust's numbers.

use girih_layout::{Coord, Error, Int, Lay, ModePath, Shape, Stride, Strides, Symbol, lay};

#[test]
fn every_integer_type_makes_the_same_layout() {
    macro_rules! same {
        ($($number:ty),*) => { $(
            let (m, n, ld): ($number, $number, $number) = (12, 7, 20);
            assert_eq!(Lay::strided([m, n], [ld, 1]).unwrap(), lay!("(12,7):(20,1)"), stringify!($number));
            assert_eq!(Lay::row_major([m, n]).unwrap(), lay!("(12,7):(7,1)"), stringify!($number));
            assert_eq!(Lay::col_major(vec![m, n]).unwrap(), lay!("(12,7):(1,12)"), stringify!($number));
            assert_eq!(Int::try_from(m).unwrap(), Int::value(12), stringify!($number));
            assert_eq!(Stride::try_from(m).unwrap(), Stride::from(12), stringify!($number));
            assert_eq!(Coord::try_from(m).unwrap(), Coord::at(12), stringify!($number));
        )* };
    }
    same!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
}

#[test]
fn numbers_symbols_and_strides_stand_side_by_side() {
    let (m, ld) = (Symbol::new(0).at_least(1), Int::symbol(Symbol::new(1)));
    let padded = Lay::strided([m.into(), Int::value(8)], [ld, 1.into()]).unwrap();
    assert_eq!(padded, lay!("(s0,8):(s1,1)"));
    assert_eq!(padded.shape().get(0).unwrap().lower(), Some(1));
    let along = Stride::Basis { scale: Int::ONE, mode: ModePath::new(&[1]).unwrap() };
    assert_eq!(Lay::strided([4, 8], [along, Stride::F2(9)]).unwrap(), lay!("(4,8):(1@1,^9)"));
    assert_eq!(Lay::row_major([4]).unwrap(), lay!("(4):(1)"));
}

#[test]
fn what_does_not_fit_or_match_is_an_error() {
    assert_eq!(Int::try_from(u64::MAX), Err(Error::Overflow { op: "an integer" }));
    assert_eq!(Shape::of([i128::MAX]), Err(Error::Overflow { op: "an integer" }));
    assert_eq!(Strides::of([usize::MAX]), Err(Error::Overflow { op: "an integer" }));
    assert_eq!(Coord::try_from(u64::MAX), Err(Error::Overflow { op: "a position" }));
    assert!(matches!(Lay::strided([4, 8], [1]), Err(Error::NotCongruent { .. })));
    assert!(matches!(Lay::strided([4, 0], [1, 4]), Err(Error::NonPositiveShape { leaf: 1, extent: 0 })));
    assert!(matches!(Lay::col_major([-1]), Err(Error::NonPositiveShape { leaf: 0, extent: -1 })));
    assert!(matches!(Lay::col_major([i64::MAX, 2, 2]), Err(Error::Overflow { .. })));
    assert!(matches!(Lay::row_major([0i64; 0]), Err(Error::Unsupported { .. })));
    assert!(matches!(Lay::row_major([2; 25]), Err(Error::Capacity { .. })));
}
