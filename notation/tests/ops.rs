//! The operations by name, with swizzled operands, facts and notes.

use girih_layout::{Composed, Lay};
use girih_notation::facts::Facts;
use girih_notation::ops::{self, Answer};
use serde_json::{Map, Value};

fn call(op: &str, args: &[(&str, &str)], facts: &str) -> Result<Answer, String> {
    let mut known = Facts::default();
    if !facts.is_empty() {
        known.add(facts).map_err(|error| error.to_string())?;
    }
    let args: Map<_, _> = args.iter().map(|(name, text)| ((*name).into(), Value::from(*text))).collect();
    ops::answer(op, &args, known.symbols()).map_err(|error| error.to_string())
}

/// The indices of a layout, swizzled or not, from its text.
fn indices(text: &str) -> Vec<i64> {
    let composed = if text.starts_with("Sw<") {
        Composed::parse(text)
    } else {
        Lay::parse(text).map(|layout| Composed::new(girih_layout::Swizzle::NONE, 0, layout))
    };
    let composed = composed.unwrap_or_else(|error| panic!("{text}: {error}"));
    let size = composed.layout().size().expect("a size").get().expect("a number");
    (0..size).map(|i| composed.at(i).expect("an index")).collect()
}

/// An operation on a swizzled layout is the operation on the same function without a swizzle. Every operation of the table that takes a
/// layout takes a swizzled layout.
#[test]
fn swizzled_operands_are_the_functions_that_they_are() {
    let more = [
        ("crd", "(1,_)"),
        ("shape", "(4,16)"),
        ("profile", "(1,1)"),
        ("begin", "0"),
        ("end", "1"),
        ("modes", "(1,0)"),
        ("at", "1"),
        ("mode", "1"),
        ("by", "4:2"),
        ("b", "4:2"),
        ("tiler", "<4:2,2:1>"),
        ("target", "(16,16)"),
        ("cotarget", "128"),
        ("idx", "9"),
        ("n", "1"),
        ("old_bits", "16"),
        ("new_bits", "16"),
        ("values", "(0,1)"),
        ("order", "(0,1)"),
        ("rank", "3"),
    ];
    let mut compared = 0;
    for op in ops::all().filter(|op| !op.name.starts_with("swizzle")) {
        let Some(first) = op.params.first().filter(|name| ["layout", "a", "block"].contains(name)) else {
            continue;
        };
        let Some(second) = op.params[1..].iter().try_fold(Vec::new(), |mut all, name| {
            let given = more.iter().find(|(known, _)| known == name);
            if !name.starts_with('?') {
                all.push(*given?);
            }
            Some(all)
        }) else {
            panic!("{}: no argument for {:?}", op.name, op.params)
        };
        // These operations tile a layout by another layout, or take coordinates without '_'.
        let second: Vec<_> = second
            .into_iter()
            .map(|(name, text)| match (op.name, name) {
                ("blocked_product" | "raked_product", "tiler") => (name, "(2,2):(1,2)"),
                (
                    "logical_product" | "outer_product" | "zipped_product" | "tiled_product" | "flat_product",
                    _,
                ) => (name, "4:2"),
                ("crd2idx" | "domain_offset", _) => (name, "(1,3)"),
                _ => (name, text),
            })
            .collect();
        if [
            "congruent",
            "weakly_congruent",
            "compatible",
            "evenly_divides",
            "shape_div",
            "ceil_div",
            "round_up",
        ]
        .contains(&op.name)
        {
            continue;
        }
        let of = |layout: &str| {
            let args: Vec<_> = std::iter::once((*first, layout)).chain(second.iter().copied()).collect();
            call(op.name, &args, "").map(|answer| answer.value)
        };
        let swizzled = of("Sw<3,0,3> o 0 o (8,8):(8,1)");
        let columns = of("(8,8):(^9,^1)");
        let (Ok(swizzled), Ok(columns)) = (&swizzled, &columns) else {
            // The compact layout of F2 columns differs from that of integers; only the swizzle is known to permute indices.
            assert!(swizzled.is_ok() || columns.is_err(), "{}: {swizzled:?}, {columns:?}", op.name);
            if let Err(error) = &swizzled {
                assert!(!error.contains("expected"), "{}: {error}", op.name);
            }
            continue;
        };
        compared += 1;
        match (swizzled.as_str(), columns.as_str()) {
            (Some(a), Some(b))
                if a.contains(':') && b.contains(':') && !a.contains('@') && !b.contains('@') =>
            {
                assert_eq!(indices(a), indices(b), "{}: {a}, {b}", op.name);
            }
            // The offset stands before the swizzle, or is part of the indices.
            (Some(a), Some(b)) if b.contains('@') => {
                assert!(a.starts_with("Sw<3,0,3> o 11 o"), "{}: {a}", op.name)
            }
            _ => assert_eq!(swizzled, columns, "{}", op.name),
        }
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn operands_of_either_kind_mix() {
    for (op, args, result) in [
        ("composition", [("a", "(64):(2)"), ("b", "Sw<1,0,1> o 0 o (2,2):(2,1)")], "(2,2):(^6,^2)"),
        ("max_common_vector", [("a", "Sw<3,3,3> o 0 o (64):(1)"), ("b", "64:1")], "64"),
        ("composition", [("a", "Sw<1,0,1> o 0 o (2,2):(2,1)"), ("b", "2:1")], "Sw<1,0,1> o 0 o 2:2"),
        ("slice", [("layout", "Sw<1,0,1> o 4 o (2,2):(2,1)"), ("crd", "(1,_)")], "Sw<1,0,1> o 6 o (2):(1)"),
        (
            "recast",
            [("layout", "Sw<3,4,3> o 0 o (8,128):(128,1)"), ("old_bits", "8")],
            "Sw<3,3,3> o 0 o (8,64):(64,1)",
        ),
    ] {
        let args: Vec<_> = args.into_iter().chain((op == "recast").then_some(("new_bits", "16"))).collect();
        let answer = call(op, &args, "").unwrap_or_else(|error| panic!("{op}: {error}"));
        let text = answer.value.as_str().map_or_else(|| answer.value.to_string(), String::from);
        assert_eq!(text, result, "{op} {args:?}");
    }
    // An offset cannot be written as F2 columns.
    let error =
        call("complement_floor", &[("layout", "Sw<1,0,1> o 4 o (2,2):(2,1)"), ("cotarget", "16")], "")
            .unwrap_err();
    assert!(error.contains("an offset"), "{error}");
}

#[test]
fn operations_that_only_expressions_lacked() {
    for (op, args, result) in [
        ("rank", &[("layout", "((4,2),3)")][..], "2"),
        ("depth", &[("layout", "((4,2),3)")], "2"),
        ("replace", &[("layout", "(4,8):(1,4)"), ("mode", "1"), ("by", "2:7")], "(4,2):(1,7)"),
        ("unflatten", &[("layout", "(4,2,3):(1,4,8)"), ("profile", "((1,1),1)")], "((4,2),3):((1,4),8)"),
        ("domain_offset", &[("layout", "(4,8):(8,1)"), ("crd", "(1,2)")], "(4,8):(8,1) @ 10"),
        ("domain_offset", &[("layout", "(128,32):(s0,1)"), ("crd", "(3,0)")], "(128,32):(s0,1) @ 3*s0"),
        ("domain_offset", &[("layout", "(128,64):(s0,1)"), ("crd", "(3,2)")], "(128,64):(s0,1) @ 3*s0 + 2"),
        ("crd2idx", &[("layout", "(128,64):(s0,1)"), ("crd", "(3,2)")], "3*s0 + 2"),
        ("slice", &[("layout", "(128,64):(s0,1)"), ("crd", "(3,_)")], "(64):(1)"),
        (
            "slice_offset",
            &[("layout", "((4,4),64):((s0,4*s1),1)"), ("crd", "(7,_)")],
            "(64):(1) @ 3*s0 + 4*s1",
        ),
        ("cosize", &[("layout", "(128,64):(s0,1)")], "127*s0 + 64"),
        ("cosize", &[("layout", "(s0,s1):(s2,-1)")], "s0*s2 + s1 - s2"),
        ("size", &[("layout", "(s0,s1):(s2,1)")], "s0*s1"),
        ("coshape", &[("layout", "((4,s0),3):((1@0,8@0),2@1)")], "(8*s0 - 4,5)"),
        ("coshape", &[("layout", "((4,2),3):((1@0,8@0),2@1)")], "(12,5)"),
        ("coshape", &[("layout", "4:1@1")], "(1,4)"),
        ("coshape", &[("layout", "(4,(2,s0)):(E0,(E<1,0>,2@1@1))")], "(4,(2,2*s0 - 1))"),
        (
            "zipped_divide",
            &[("a", "((4,6),8):((1,4),24)"), ("tiler", "<<2,2>,4>")],
            "(((2,2),4),((2,3),2)):(((1,4),24),((2,8),96))",
        ),
    ] {
        let answer = call(op, args, "").unwrap_or_else(|error| panic!("{op}: {error}"));
        let text = answer.value.as_str().map_or_else(|| answer.value.to_string(), String::from);
        assert_eq!(text, result, "{op} {args:?}");
    }
}

/// The strict complement does not exist for any value of the symbol, and whether the rounded complement exists is left open.
#[test]
fn a_complement_on_symbols_does_not_say_what_numbers_contradict() {
    let of = |layout, cotarget| call("complement", &[("layout", layout), ("cotarget", cotarget)], "");
    assert_eq!(of("(16,3):(16,3)", "4").unwrap().value, "3:1");
    let open = of("(s2,3):(16,3)", "4").unwrap_err();
    assert!(open.starts_with("complement needs a known number"), "{open}");
    let nothing = of("(2,2,2):(8,3,24)", "0").unwrap_err();
    assert!(!nothing.contains("build on one another"), "{nothing}");
}

#[test]
fn facts_decide_what_was_undecided() {
    for (op, args, result) in [
        ("composition", [("a", "(s0,8):(1,s1)"), ("b", "16:1")], "16:1"),
        ("shape_div", [("a", "(s0,4)"), ("b", "2")], "(ceil(s0/2),4)"),
    ] {
        // The fact that the error names can be given in the words of the error.
        let error = call(op, &args, "").unwrap_err();
        let (symbol, fact) = error
            .split_once("fact about ")
            .and_then(|(_, rest)| rest.split_once(": declare it "))
            .unwrap_or_else(|| panic!("{error}"));
        let answer = call(op, &args, &format!("{symbol}={fact}"));
        let answer = answer.unwrap_or_else(|error| panic!("{op} with {symbol}={fact}: {error}"));
        assert_eq!(answer.value, result, "{op}");
    }
}

#[test]
fn what_is_no_fact_is_shown() {
    for (text, message) in [
        (
            "s0=at_least(0)",
            "expected at_least(n), at_most(n) or divisible_by(n), with n of at least 1\n  s0=at_least(0)\n     ^",
        ),
        (
            "s0=at_least(1), even",
            "expected at_least(n), at_most(n) or divisible_by(n), with n of at least 1\n  s0=at_least(1), even\n                  ^",
        ),
        ("t0=at_least(1)", "expected a symbol such as s0\n  t0=at_least(1)\n  ^"),
        ("at_least(1)", "expected a symbol and '=', as in s0=at_least(1)\n  at_least(1)\n  ^"),
        (
            "s0=at_least(8),at_most(4)",
            "no value of s0 has this fact and those before\n  s0=at_least(8),at_most(4)\n                 ^",
        ),
        ("s300=at_least(8)", "expected a symbol such as s0\n  s300=at_least(8)\n  ^"),
        ("", "expected a symbol and '=', as in s0=at_least(1)\n  \n  ^"),
    ] {
        assert_eq!(Facts::default().add(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn what_may_have_been_meant_otherwise_is_noted() {
    let notes = |op, args: &[(&str, &str)]| call(op, args, "").expect("an answer").notes;
    assert_eq!(
        notes("logical_divide", &[("a", "(16,16):(16,1)"), ("tiler", "(4,8)")]),
        ["the tiler (4,8) is the layout (4,8):(1,4) of 1-D coordinates; <4,8> is a tiler for each mode"]
    );
    assert_eq!(notes("logical_divide", &[("a", "(16,16):(16,1)"), ("tiler", "<4,8>")]), [""; 0]);
    assert_eq!(notes("logical_divide", &[("a", "(16,16):(16,1)"), ("tiler", "(4,8):(1,4)")]), [""; 0]);
    assert_eq!(notes("logical_divide", &[("a", "(16,16):(16,1)"), ("tiler", "4")]), [""; 0]);
    let rounded = notes("complement", &[("layout", "(2,2):(1,3)"), ("cotarget", "12")]);
    assert!(
        rounded.len() == 1
            && rounded[0].contains("complement_floor")
            && rounded[0].contains("3 is no multiple of 2"),
        "{rounded:?}"
    );
    assert_eq!(notes("complement", &[("layout", "(2,2):(1,6)"), ("cotarget", "24")]), [""; 0]);
}

#[test]
fn malformed_arguments_are_quoted_with_a_caret() {
    let error = call("size", &[("layout", "(4,8:(1,4)")], "").unwrap_err();
    assert_eq!(error, "argument \"layout\": expected ',' or ')'\n  (4,8:(1,4)\n      ^");
    let error = call("size", &[("layout", "Sw<3,x,3> o 0 o 8:1")], "").unwrap_err();
    assert!(error.ends_with("\n  Sw<3,x,3> o 0 o 8:1\n       ^"), "{error}");
}
