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
        assert_eq!(again["summary"], answer["summary"]);
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
            let ints = |name: &str| -> Vec<i64> {
                held[name].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
            };
            let (by, values, holders) = (ints("threads"), ints("values"), ints("holders"));
            assert_eq!(by.len() as i64, held["rows"].as_i64().unwrap() * held["columns"].as_i64().unwrap());
            assert!(by.iter().all(|thread| (0..threads).contains(thread)), "{program}: {tile}");
            let mut seen = HashMap::new();
            for (at, place) in by.iter().zip(&values).enumerate() {
                assert_eq!(seen.insert(place, at), None, "{program}: {place:?}");
            }
            assert!(holders.iter().all(|count| (1..=threads).contains(count)));
        }
    }
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
