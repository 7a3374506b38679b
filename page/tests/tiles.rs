//! Programs over tiles as the page shows them.

use std::collections::HashMap;

use girih_page::{Fault, call};
use serde_json::{Value, json};

fn ask(name: &str, body: &Value) -> Result<Value, Fault> {
    call("tiles", name, body.to_string().as_bytes()).map(|text| serde_json::from_str(&text).unwrap())
}

fn explained(program: &str) -> Value {
    ask("explain", &json!({ "program": program, "sm": 90 })).unwrap()
}

#[test]
fn a_program_has_its_source_its_text_and_its_ptx() {
    for (program, function) in [("softmax_bf16_16x1024", "softmax"), ("gather_rows_f32_64x32", "gather_rows")]
    {
        let answer = explained(program);
        let source = answer["source"]["text"].as_str().unwrap();
        assert!(source.contains(&format!("pub fn {function}")) && source.ends_with('}'), "{source}");
        assert!(answer["lines"][0]["text"].as_str().unwrap().starts_with(&format!("kernel {function}(")));
        assert!(answer["ptx"].as_str().unwrap().contains(&format!(".entry {function}(")));
        // The lines are the program's text, which is one again.
        let lines = answer["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap());
        let text = lines.collect::<Vec<_>>().join("\n");
        let again = ask("explain", &json!({ "program": program, "sm": 90, "text": text })).unwrap();
        // The text has no lines of Rust.
        let summary = |of: &Value| -> Vec<String> {
            let lines = of["summary"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
            lines.map(|line| line.split(", most at ").next().unwrap_or(line).to_string()).collect()
        };
        assert_eq!(summary(&again), summary(&answer));
        assert!(again["source"].is_null());
    }
}

/// Every element of a tile is held, and a thread's value holds one element.
#[test]
fn layouts_hold_every_element() {
    for program in ["softmax_bf16_16x1024", "gather_rows_f32_64x32", "cumsum_f32_2048"] {
        let answer = explained(program);
        let threads = answer["threads"].as_i64().unwrap();
        let tiles: Vec<&Value> = answer["lines"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|line| line["tiles"].as_array().unwrap())
            .collect();
        assert!(!tiles.is_empty(), "{program}");
        for tile in tiles {
            let held =
                ask("layout", &json!({ "program": program, "sm": 90, "value": tile["value"] })).unwrap();
            let picture = &held["picture"];
            let [rows, columns] = ["rows", "columns"].map(|name| picture[name].as_u64().unwrap() as usize);
            let owners: Vec<Vec<i64>> = serde_json::from_value(held["owners"].clone()).unwrap();
            assert_eq!(owners.len(), rows * columns);
            let mut seen = HashMap::new();
            for (at, owner) in owners.iter().enumerate() {
                assert!(
                    (0..threads).contains(&owner[0]) && (1..=threads).contains(&owner[2]),
                    "{program}: {tile}"
                );
                assert_eq!(seen.insert(&owner[..2], at), None, "{program}: {owner:?}");
                // Lines separate warps: cells of one group are one warp's.
                if owner[2] == 1 {
                    assert_eq!(picture["groups"][at], owner[0] / 32, "{program}: {tile}");
                    assert_eq!(picture["words"][at], format!("T{}\nV{}", owner[0], owner[1]));
                }
            }
        }
    }
}

/// Of all programs, all tiles can be drawn: of a few, or of as many as `GIRIH_CASES` says.
#[test]
fn every_tile_has_a_picture() {
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let all = ask("list", &json!({})).unwrap().as_array().unwrap().clone();
    for entry in all.iter().step_by(all.len().div_ceil(cases).max(1)) {
        let answer = explained(entry["name"].as_str().unwrap());
        for tile in
            answer["lines"].as_array().unwrap().iter().flat_map(|line| line["tiles"].as_array().unwrap())
        {
            let of = json!({ "program": entry["name"], "sm": 90, "value": tile["value"] });
            assert!(ask("layout", &of).is_ok(), "{} {tile}: {:?}", entry["name"], ask("layout", &of));
        }
    }
}

#[test]
fn regions_in_regions_end_somewhere() {
    let nested = |depth: usize| {
        let open = "loop {\n".repeat(depth);
        format!("kernel k() {{\n{open}break\n{}}}\n", "}\n".repeat(depth))
    };
    let fault = |depth: usize| {
        ask("explain", &json!({ "program": "", "sm": 90, "text": nested(depth) })).unwrap_err()
    };
    for depth in [65, 100_000] {
        assert!(fault(depth).message.contains("at most 64 regions"), "{}", fault(depth).message);
    }
    assert!(!fault(10).message.contains("at most 64 regions"), "{}", fault(10).message);
}

#[test]
fn conversions_are_marked() {
    let converts = |program: &str| -> usize {
        explained(program)["lines"].as_array().unwrap().iter().filter(|line| line["converts"] == true).count()
    };
    let told = |program: &str| -> usize {
        let answer = explained(program);
        let lines = answer["lines"].as_array().unwrap().iter();
        lines.filter(|line| line["text"].as_str().unwrap().contains(" = convert ")).count()
    };
    assert_eq!(converts("softmax_bf16_16x1024"), 0);
    let program = "transpose_f32_64x64";
    let all = ask("list", &json!({})).unwrap();
    let transposes = all.as_array().unwrap().iter().find(|of| of["kernel"] == "transpose");
    let program = transposes.map_or(program, |of| of["name"].as_str().unwrap()).to_owned();
    assert_eq!(converts(&program), told(&program));
    assert!(converts(&program) > 0);
}

#[test]
fn what_is_no_program_is_refused_in_its_field() {
    let fault = ask("explain", &json!({ "program": "softmax", "sm": 90 })).unwrap_err();
    assert!(fault.field == Some("program") && fault.message.contains("softmax_bf16_16x1024"), "{fault:?}");
    let fault = ask("explain", &json!({ "program": "", "sm": 90, "text": "kernel k() {\n  %0 = frob\n}" }))
        .unwrap_err();
    assert_eq!(fault.field, Some("text"), "{fault:?}");
    let fault =
        ask("layout", &json!({ "program": "softmax_bf16_16x1024", "sm": 90, "value": 9999 })).unwrap_err();
    assert_eq!(fault.kind, "no_tile");
}
