use girih_page::{Fault, call};
use serde_json::{Value, json};

fn ask(request: Value) -> Result<Value, Fault> {
    let answer = call("layouts", "evaluate", request.to_string().as_bytes())?;
    Ok(serde_json::from_str(&answer).unwrap())
}

fn evaluate(expression: &str) -> Value {
    ask(json!({ "expression": expression })).unwrap()
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

/// The panels' names, parts and values.
fn parts(answer: &Value) -> Vec<(&str, &str, &str)> {
    let text =
        |panel: &'_ Value, field: &str| -> &'static str { panel[field].as_str().unwrap().to_owned().leak() };
    let panels = answer["panels"].as_array().unwrap();
    panels.iter().map(|panel| (text(panel, "name"), text(panel, "part"), text(panel, "value"))).collect()
}

#[test]
fn tables_are_the_function_of_the_layout() {
    let answer = evaluate("composition((10,2):(16,4), (5,4):(1,5))");
    let table = &answer["panels"][2]["table"];
    assert_eq!((&table["rows"], &table["columns"], &table["line"]), (&json!(5), &json!(4), &json!(false)));
    for (cell, value) in numbers(&table["values"]).into_iter().enumerate() {
        let inner = (cell / 4 + 5 * (cell % 4)) as i64;
        assert_eq!(value, 16 * (inner % 10) + 4 * (inner / 10), "cell {cell}");
    }
}

#[test]
fn every_layout_of_an_expression_has_a_panel() {
    let answer = evaluate("coalesce(logical_divide((4,2,3):(2,1,8), 4:2))");
    assert_eq!(
        parts(&answer),
        [
            ("A", "(4,2,3):(2,1,8)", "(4,2,3):(2,1,8)"),
            ("B", "4:2", "4:2"),
            ("C", "logical_divide(A, B)", "((2,2),(2,3)):((4,1),(2,8))"),
            ("D", "coalesce(C)", answer["text"].as_str().unwrap()),
        ]
    );
    // Shapes, numbers and tilers of several modes are no layouts.
    assert_eq!(parts(&evaluate("zipped_divide((8,12), <4,3>)")).len(), 2);
    assert_eq!(parts(&evaluate("complement((2,2):(1,6), 24)")).len(), 2);
    assert_eq!(parts(&evaluate("size((2,2):(1,6))")).len(), 1);
    assert!(parts(&evaluate("congruent((2,2), (1,6))")).len() <= 2);
}

/// A path says which cell of the argument a cell of the result has its index from.
#[test]
fn paths_lead_to_the_same_index() {
    let expressions = [
        "composition((10,2):(16,4), (5,4):(1,5))",
        "logical_divide((4,2,3):(2,1,8), 4:2)",
        "zipped_divide((8,12):(12,1), <4,3>)",
        "coalesce((2,(1,6)):(1,(6,2)))",
        "composition(Sw<2,0,3> o 0 o (8,8):(8,1), (4,4):(1,8))",
    ];
    for expression in expressions {
        let answer = evaluate(expression);
        let panels = answer["panels"].as_array().unwrap();
        let result = panels.last().unwrap();
        let values = numbers(&result["table"]["values"]);
        let paths = result["paths"].as_array().unwrap();
        let argument = paths.iter().find(|path| path["kind"] == "argument").expect(expression);
        assert_eq!(argument["panel"], 0);
        let of_argument = numbers(&panels[0]["table"]["values"]);
        for (value, cell) in values.iter().zip(numbers(&argument["cells"])) {
            assert_eq!(*value, of_argument[cell as usize], "{expression}");
        }
    }
    // The index of the inner layout is the coordinate of the outer one: here both are lines of numbers.
    let answer = evaluate("composition(12:3, (2,3):(4,1))");
    let inner =
        answer["panels"][2]["paths"].as_array().unwrap().iter().find(|path| path["kind"] == "inner").unwrap();
    let (inner, of_inner) = (numbers(&inner["cells"]), numbers(&answer["panels"][1]["table"]["values"]));
    for (value, cell) in numbers(&answer["panels"][2]["table"]["values"]).into_iter().zip(inner) {
        assert_eq!(value, 3 * of_inner[cell as usize]);
    }
    // A right inverse comes back.
    let answer = evaluate("right_inverse((2,4,3):(12,3,1))");
    assert_eq!(answer["panels"][1]["paths"][0]["kind"], "inverse");
    // A product takes its indices from elsewhere: what is no path is not said to be one.
    assert_eq!(evaluate("logical_product((2,2):(1,2), 3:1)")["panels"][2]["paths"], json!([]));
}

#[test]
fn a_refused_composition_lights_its_witness() {
    let text = "  coalesce(composition((4,2):(1,10), (2,2):(2,3)))";
    let fault = ask(json!({ "expression": text })).unwrap_err();
    assert_eq!((fault.kind, fault.field), ("carry", Some("expression")));
    let span = fault.span.unwrap();
    assert_eq!(&text[span.at..span.end], "composition((4,2):(1,10), (2,2):(2,3))");
    let witness = fault.witness.unwrap();
    assert_eq!(parts(&witness).len(), 2);
    // B(3) = B(1,1) = 5 and A(5) = A(1,1) = 11, where a layout with the values before would have 5.
    let marks = [json!({ "panel": 1, "cells": [3] }), json!({ "panel": 0, "cells": [3] })];
    assert_eq!(witness["marks"], json!(marks));
    assert_eq!(numbers(&witness["panels"][0]["table"]["values"])[3], 11);
    assert!(fault.message.contains("11") && fault.message.contains('5'), "{}", fault.message);

    let fault = ask(json!({ "expression": "left_inverse((2,2):(1,1))" })).unwrap_err();
    let witness = fault.witness.unwrap();
    let values = numbers(&witness["panels"][0]["table"]["values"]);
    let cells = numbers(&witness["marks"][0]["cells"]);
    assert_eq!((cells.len(), values[cells[0] as usize]), (2, values[cells[1] as usize]));
}

#[test]
fn errors_point_at_the_text_in_utf_16() {
    let spans = [
        ("coalesce((2,3)", "parse", 14..15),
        ("  coalesce((2,3)) x", "parse", 18..19),
        ("colesce((2,3))", "unknown_operation", 0..7),
        ("coalesce(4:1, 2, 3)", "arguments", 0..19),
        ("flatten(coalesce((2,z):1))", "parse", 20..21),
        ("", "parse", 0..1),
        ("\u{1d400}(2", "parse", 0..1),
    ];
    for (text, kind, span) in spans {
        let fault = ask(json!({ "expression": text })).unwrap_err();
        let found = fault.span.unwrap();
        assert_eq!((fault.kind, found.at..found.end), (kind, span), "{text:?}: {}", fault.message);
        assert!(!fault.message.contains('^'), "{}", fault.message);
    }
    let fault = ask(json!({ "expression": "4:1", "facts": "s0=at_most(4), s1=odd" })).unwrap_err();
    assert_eq!((fault.field, fault.span.unwrap().at), (Some("facts"), 18));
    let fault = ask(json!({ "expression": "4:1", "dtype": "f31" })).unwrap_err();
    assert_eq!(fault.field, Some("dtype"));
    let fault = ask(json!({ "expression": "(4,2):(1,4)", "tile": "(2,2)" })).unwrap_err();
    assert_eq!(fault.field, Some("tile"));
}

#[test]
fn hierarchies_have_coordinates_and_borders() {
    let answer = evaluate("((2,3),(2,2),2):((1,4),(2,12),24)");
    let table = &answer["panels"][0]["table"];
    assert_eq!((&table["rows"], &table["columns"]), (&json!(6), &json!(8)));
    assert_eq!(table["names"][0][5], "(1,2)");
    assert_eq!(table["names"][1][7], "(1,1),1");
    let of_two = &evaluate("((2,3),(2,2)):((1,4),(2,12))")["panels"][0]["table"]["names"];
    assert_eq!((&of_two[0][5], &of_two[1][3]), (&json!("(1,2)"), &json!("(1,1)")));
    assert_eq!(evaluate("(2,3):(1,2)")["panels"][0]["table"]["names"], json!([["0", "1"], ["0", "1", "2"]]));
    assert_eq!(table["levels"], json!([[0, 0, 1, 0, 1, 0], [0, 0, 1, 0, 2, 0, 1, 0]]));
}

#[test]
fn lines_go_on_in_rows() {
    let table = &evaluate("(128):(2)")["panels"][0]["table"];
    assert_eq!((&table["rows"], &table["columns"], &table["line"]), (&json!(2), &json!(64), &json!(true)));
    assert_eq!(numbers(&table["values"]), (0..128).map(|at| 2 * at).collect::<Vec<_>>());
    // The rows end where the hierarchy does.
    let table = &evaluate("((16,10)):((1,32))")["panels"][0]["table"];
    assert_eq!((&table["rows"], &table["columns"]), (&json!(10), &json!(16)));
    // Rows of a prime length's line have 64 cells, and the last one has what is left.
    let table = &evaluate("65521:3")["panels"][0]["table"];
    assert_eq!((&table["rows"], &table["columns"]), (&json!(1024), &json!(64)));
    assert_eq!(numbers(&table["values"]), (0..65521).map(|at| 3 * at).collect::<Vec<_>>());
    assert_eq!(table["fills"]["cells"].as_array().unwrap().len(), 65521);
}

#[test]
fn layouts_that_cannot_be_drawn_say_why() {
    for (expression, said) in [("(s0,4):(1,s1)", "symbol"), ("(1000,1000)", "too many")] {
        let panel = &evaluate(expression)["panels"][0];
        assert_eq!(panel["table"], Value::Null);
        assert!(panel["why"].as_str().unwrap().contains(said), "{panel}");
    }
    let table = &evaluate("make_identity_layout((2,3))")["panels"][0]["table"];
    assert_eq!(table["words"], json!(["(0,0)", "(0,1)", "(0,2)", "(1,0)", "(1,1)", "(1,2)"]));
}

/// Cells of one bank, sector, thread or block have one colour, and other cells another.
#[test]
fn colours_tell_apart_what_they_are_chosen_by() {
    let group = |by: &str, text: &str, of: fn(i64, i64, i64) -> i64| {
        let answer = ask(json!({ "expression": text, "by": by, "dtype": "bf16", "level": 1 })).unwrap();
        let table = &answer["panels"][0]["table"];
        let (fills, values) = (numbers(&table["fills"]["cells"]), numbers(&table["values"]));
        let columns = table["columns"].as_i64().unwrap();
        let groups = (0..).zip(&values).map(|(cell, value)| of(cell / columns, cell % columns, *value));
        let mut colours = std::collections::BTreeMap::new();
        for (group, fill) in groups.zip(fills) {
            assert_eq!(*colours.entry(group).or_insert(fill), fill, "{by}: {group}");
        }
        let distinct: std::collections::BTreeSet<_> = colours.values().collect();
        assert_eq!(distinct.len(), colours.len(), "{by}");
    };
    group("bank", "(8,16):(16,1)", |_, _, value| value * 16 / 32 % 32);
    group("sector", "(8,16):(16,1)", |_, _, value| value * 16 / 256);
    group("thread", "(32,2):(1,32)", |row, _, _| row);
    group("mode", "((2,2),(2,2)):((1,4),(2,8))", |row, column, _| row / 2 + 2 * (column / 2));
    group("value", "(4,8):(1,4)", |_, _, value| value);
    group("grey", "(4,8):(1,4)", |_, _, value| value % 8);
}

#[test]
fn indices_may_be_as_large_as_numbers_are() {
    for by in ["value", "grey", "thread", "mode", "bank", "sector"] {
        for text in
            ["(2,2):(1,9223372036854775800)", "(2,2):(1,-9223372036854775800)", "9:1000000000000000000"]
        {
            let table =
                &ask(json!({ "expression": text, "by": by, "dtype": "s64" })).unwrap()["panels"][0]["table"];
            assert_eq!(
                table["fills"]["cells"].as_array().unwrap().len(),
                numbers(&table["values"]).len(),
                "{by} {text}"
            );
        }
    }
}

#[test]
fn calls_in_calls_end_somewhere() {
    let nested = |depth: usize| format!("{}4:1{}", "coalesce(".repeat(depth), ")".repeat(depth));
    assert_eq!(evaluate(&nested(64))["text"], "4:1");
    for text in [nested(65), nested(100_000), "(".repeat(100_000), "<".repeat(100_000)] {
        let fault = ask(json!({ "expression": text })).unwrap_err();
        assert!(["parse", "capacity"].contains(&fault.kind), "{}", fault.message);
    }
}

/// What is offered works.
#[test]
fn every_example_has_a_value_but_the_one_that_is_refused() {
    let menus: Value = serde_json::from_str(&call("layouts", "menus", b"{}").unwrap()).unwrap();
    let mut refused = 0;
    for example in menus["examples"].as_array().unwrap() {
        let request =
            json!({ "expression": example["expression"], "by": example["by"], "tile": example["tile"] });
        match ask(request) {
            Ok(answer) => {
                assert!(answer["panels"].as_array().unwrap().iter().all(|panel| panel["table"].is_object()))
            }
            Err(fault) => {
                assert!(fault.witness.unwrap()["marks"][0].is_object(), "{example}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 1);
    assert!(menus["operations"].as_array().unwrap().len() > 50);
}
