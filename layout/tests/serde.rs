//! The text form through serde.

use girih_layout::{Composed, Coord, Int, Lay, Shape, Swizzle, Tiler};
use serde_json::{from_str, to_string};

macro_rules! round_trip {
    ($($type:ty: $text:expr;)*) => {$(
        let value = <$type>::parse($text).expect("text");
        let json = to_string(&value).expect("JSON");
        assert_eq!(json, format!("{:?}", format!("{value:#}")));
        assert_eq!(from_str::<$type>(&json).expect("the same"), value);
    )*};
}

#[test]
fn values_go_there_and_back() {
    round_trip! {
        Int: "_8";
        Shape: "(4,(_2,3))";
        Coord: "(1,(0,_))";
        Lay: "((_2,_2),s0):((1,_8),2*s1)";
        Tiler: "<128,_,(4,2):(2,1)>";
        Swizzle: "Sw<2,4,-3>";
        Composed: "Sw<3,4,3> o 16 o (8,64):(64,1)";
    }
    // The mark of static integers survives.
    let lay: Lay = from_str("\"_8:_1\"").expect("a layout");
    assert!(lay.is_static() && to_string(&lay).is_ok_and(|json| json == "\"_8:_1\""));
}

#[test]
fn what_is_no_layout_says_why() {
    let error = from_str::<Lay>("\"(4,8):(1\"").expect_err("malformed");
    assert!(error.to_string().contains("at byte 8: expected ',' or ')'"), "{error}");
    for wrong in ["Sw<3,4,2>", "Sw<3,4>", "Sw<3,4,3> o 0", "3,4,3"] {
        assert!(
            Swizzle::parse(wrong).is_err() && from_str::<Swizzle>(&format!("{wrong:?}")).is_err(),
            "{wrong}"
        );
    }
    assert!(from_str::<Lay>("8").expect_err("a number").to_string().contains("a layout such as"));
}
