//! The text form through serde.

use girih_layout::{Composed, Coord, Int, Lay, Shape, Strides, Sum, Swizzle, Symbol, Tiler, lay};
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

/// The symbols of a layout with what is known of them, in the order of their places.
fn known(l: &Lay) -> Vec<(u8, i64, i64, Option<i64>)> {
    let strides = l.stride();
    let ints = l.shape().leaves().chain(strides.leaves().filter_map(|d| match d {
        girih_layout::Stride::Int(d) | girih_layout::Stride::Basis { scale: d, .. } => Some(d),
        girih_layout::Stride::F2(_) => None,
    }));
    let symbols = ints.flat_map(|int| int.factors()).flatten().map(|factor| factor.symbol);
    symbols.map(|s| (s.id(), s.divisor(), s.lower(), s.upper())).collect()
}

/// What is decided of a layout by what is known of its symbols, as text with the facts of each answer.
fn decisions(l: &Lay) -> Vec<String> {
    let mut out = vec![format!("{:+#}", l.coalesce()), format!("{:+#}", l.filter())];
    let mut tell = |answer: Result<Lay, girih_layout::Error>| {
        out.push(answer.map_or_else(|error| error.to_string(), |l| format!("{l:+#}")));
    };
    tell(l.right_inverse());
    tell(l.left_inverse());
    tell(l.complement(Int::fixed(48)));
    for right in ["4:1", "(2,3):(3,1)", "2:8", "16:1"] {
        let right = Lay::parse(right).expect("a layout");
        tell(l.composition(&right));
        tell(l.logical_divide(&Tiler::Lay(right)));
        tell(l.zipped_divide(&Tiler::modes(&[girih_layout::Tile::Lay(right)]).expect("a tiler")));
    }
    for int in l.shape().leaves() {
        out.push(format!("{:?} {:?}", int.lower(), int.upper()));
        out.extend([2, 3, 4, 8, 16, 48].map(|n| format!("{:?}", int.is_divisible_by(n))));
        out.extend([1, 5, 100].map(|n| format!("{:?}", Int::fixed(n).less(int))));
    }
    out.push(l.cosize().map_or_else(|error| error.to_string(), |sum| format!("{sum:+#}")));
    out
}

macro_rules! the_same {
    ($($type:ty: $value:expr;)*) => {$(
        let value: $type = $value;
        let json = to_string(&value).expect("JSON");
        let read: $type = from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(read, value);
        assert_eq!(format!("{read:+#}"), format!("{value:+#}"));
        assert_eq!(json, format!("{:?}", format!("{value:+#}")));
    )*};
}

fn survives(l: &Lay) {
    let read: Lay = from_str(&to_string(l).expect("JSON")).expect("the same");
    assert_eq!(known(&read), known(l), "{l:+#}");
    assert_eq!(decisions(&read), decisions(l), "{l:+#}");
    let sum = l.cosize().unwrap_or(Sum::ZERO);
    the_same! {
        Lay: *l;
        Shape: *l.shape();
        Strides: l.stride();
        Int: l.shape().leaves().next().unwrap_or(Int::ONE);
        Sum: sum;
        Tiler: Tiler::Lay(*l);
        Tiler: Tiler::modes(&[girih_layout::Tile::All, girih_layout::Tile::Lay(*l)]).expect("a tiler");
        Composed: Composed::new(Swizzle::parse("Sw<3,4,3>").expect("a swizzle"), 0, *l);
    }
}

#[test]
fn facts_of_symbols_survive() {
    const M: Symbol = Symbol::new(0).divisible_by(8).at_least(16).at_most(1024);
    const N: Symbol = Symbol::new(255).at_most(0);
    let m = Int::symbol(M);
    let rows = lay!("(s0,8):(8,1)").assume(M).expect("facts");
    let text = "(s0,8):(8,1) where s0=divisible_by(8),at_least(16),at_most(1024)";
    assert_eq!(to_string(&rows).expect("JSON"), format!("{text:?}"));
    survives(&rows);
    survives(
        &lay!("(s0,s255,ceil(s0/3)):(s255,1,s0*s1)").assume(M).and_then(|l| l.assume(N)).expect("facts"),
    );
    survives(&lay!("(s0,s1):(2*s0@1,s1@0@1)").assume(M).expect("facts"));
    // Text is read as it is written, and a symbol that nothing is known of is not in it.
    let written = Lay::parse("(8*ceil(s0/8),s1):(1,s0) where s0=divisible_by(8)").expect("text");
    assert_eq!(written.to_string(), "(8*ceil(s0/8),s1):(1,s0)");
    survives(&written);
    assert_eq!(
        format!("{:+}", m.mul(Int::symbol(Symbol::new(1))).expect("a product")),
        "s0*s1 where s0=divisible_by(8),at_least(16),at_most(1024)"
    );
    // Facts are moved inwards, as those of `Symbol`.
    let int = Int::parse("2*s3 where  s3 = at_least(97) ,divisible_by( 8 ) ").expect("text");
    assert_eq!(format!("{int:+}"), "2*s3 where s3=divisible_by(8),at_least(104)");
    // Two factors of a symbol know the same of it.
    let twice = m.mul(Int::parse("ceil(s0/3)").expect("text")).expect("a product");
    let read: Int = from_str(&to_string(&twice).expect("JSON")).expect("the same");
    let lower = |int: Int| int.factors().map(|factor| factor.map(|factor| factor.symbol.lower()));
    assert_eq!((lower(read), lower(twice)), ([Some(16), Some(16), None], [Some(16), Some(16), None]));
}

#[test]
fn facts_that_cannot_be_are_refused() {
    for (text, why) in [
        ("s0 where", "at byte 8: expected a symbol such as s0"),
        ("s0 where s0", "at byte 11: expected '=' and a fact such as at_least(1)"),
        ("s0 where s0.at_least(1)", "at byte 11: expected '=' and a fact such as at_least(1)"),
        ("s0 where s0=", "at byte 12: expected divisible_by, at_least or at_most"),
        ("s0 where s0=even()", "at byte 12: expected divisible_by, at_least or at_most"),
        ("s0 where s0=at_least", "at byte 20: expected '('"),
        ("s0 where s0=at_least()", "at byte 21: expected a number"),
        ("s0 where s0=at_least(s1)", "at byte 21: expected a number"),
        ("s0 where s0=at_least(1", "at byte 22: expected ')'"),
        ("s0 where s0=at_least(-1)", "at byte 21: expected a number of at least 0"),
        ("s0 where s0=at_most(-1)", "at byte 20: expected a number of at least 0"),
        ("s0 where s0=divisible_by(0)", "at byte 25: expected a divisor of at least 1"),
        ("s0 where s0=at_most(9223372036854775808)", "at byte 20: expected a number that fits in 64 bits"),
        ("s0 where s256=at_least(1)", "at byte 10: expected a number from 0 to 255"),
        ("s0 where s0=at_least(5),at_most(4)", "at byte 9: expected facts that some number agrees with"),
        (
            "s0 where s0=divisible_by(8),at_least(1),at_most(7)",
            "at byte 9: expected facts that some number agrees with",
        ),
        (
            "s0 where s0=divisible_by(4611686018427387904),at_least(4611686018427387905)",
            "at byte 9: expected facts that some number agrees with",
        ),
        ("s0 where s0=at_least(1),at_least(1)", "at byte 24: expected each fact once"),
        ("s0 where s0=at_least(1), s0=at_most(9)", "at byte 25: expected each symbol once"),
        ("s0 where s1=at_least(1)", "at byte 9: expected a symbol of the text before the facts"),
        ("8 where s0=at_least(1)", "at byte 8: expected a symbol of the text before the facts"),
        ("s0 where s0=at_least(1),", "at byte 24: expected divisible_by, at_least or at_most"),
        ("s0 where s0=at_least(1) and s1=at_least(1)", "at byte 24: expected the end of the text"),
        (
            "s0 where s0=at_least(1), s1.at_least(1)",
            "at byte 27: expected '=' and a fact such as at_least(1)",
        ),
        (
            "s0 where s0=at_least(1), s1=at_least(1)",
            "at byte 25: expected a symbol of the text before the facts",
        ),
        ("s0 where s0=at_least(1) where s0=at_most(2)", "at byte 24: expected the end of the text"),
        ("where s0=at_least(1)", "at byte 0: expected an integer, a symbol or '('"),
    ] {
        assert_eq!(Int::parse(text).expect_err(text).to_string(), why, "{text}");
        let error = from_str::<Int>(&format!("{text:?}")).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let facts = "where s7=at_least(1)";
    for text in
        ["(s0,8):(1,s0)", "Sw<3,4,3> o 0 o (s0,8):(8,1)", "<s0,_>", "3*s0 + s1", "(s0,4)", "<(s0,8):(8,1)>"]
    {
        let text = format!("\"{text} {facts}\"");
        assert!(from_str::<Lay>(&text).is_err() && from_str::<Composed>(&text).is_err(), "{text}");
        assert!(from_str::<Tiler>(&text).is_err() && from_str::<Sum>(&text).is_err(), "{text}");
        assert!(from_str::<Shape>(&text).is_err() && from_str::<Strides>(&text).is_err(), "{text}");
    }
    assert!(Coord::parse("(1,_) where s0=at_least(1)").is_err());
    // What no number agrees with is written, and not read.
    let none = Int::symbol(Symbol::new(0).at_least(5).at_most(4));
    assert!(from_str::<Int>(&to_string(&none).expect("JSON")).is_err());
}

#[cfg(feature = "proptest")]
mod random {
    use girih_layout::{Lay, Symbol, strategies};
    use proptest::prelude::*;

    type Facts = (i64, i64, Option<i64>);

    fn facts() -> impl Strategy<Value = Facts> {
        (prop::sample::select(&[1i64, 2, 3, 4, 8, 60][..]), 0i64..70, prop::option::of(200i64..5000))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn symbolic_layouts_survive((l, _) in strategies::symbolic(4), more in [facts(), facts(), facts()]) {
            let know = |id: u8, (divisor, least, most): Facts| {
                let symbol = Symbol::new(id).divisible_by(divisor).at_least(least);
                most.map_or(symbol, |most| symbol.at_most(most))
            };
            let all = more.into_iter().zip(0u8..).try_fold(l, |l, (facts, id)| l.assume(know(id, facts)));
            super::survives(&l);
            super::survives(&all.expect("facts"));
        }

        #[test]
        fn text_is_read_or_refused(
            words in prop::collection::vec(prop::sample::select(&[
                "s0=", "s1=", "at_least", "at_most", "divisible_by", "(3)", "(8)", "(-1)", ",", " ", "at_least(9)",
                "at_most(20)", "divisible_by(8)", "s1=at_least(1)", "s2=at_least(1)",
            ][..]), 0..8),
        ) {
            if let Ok(l) = Lay::parse(&format!("(s0,8*s1):(1,ceil(s0/4)) where s0=at_most(64),{}", words.concat())) {
                for (_, divisor, least, most) in super::known(&l) {
                    prop_assert!(most.is_none_or(|most| least <= most) && least % divisor == 0);
                }
                super::survives(&l);
            }
        }
    }
}
