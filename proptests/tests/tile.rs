//! Every record of testdata/tile.jsonl on the reference evaluator, judged as testdata/tile-SCHEMA.md says.

use std::collections::BTreeMap;

use girih_cli::tile::{Reference, answer};
use girih_proptests::tile_records::judge;
use serde_json::Value;

const VECTORS: &str = include_str!("../../testdata/tile.jsonl");
const RECORDS: usize = 1345;

/// What is not built: products of tiles.
fn left_out(record: &Value) -> bool {
    record["group"] == "mma" || ["gemm_tiled", "attention_online_softmax"].iter().any(|op| record["op"] == *op)
}

#[test]
fn records_hold_on_the_reference() {
    let mut tally: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut unsupported = 0;
    for line in VECTORS.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let answered = answer(&record, &Reference);
        if left_out(&record) {
            assert_eq!(answered.line["unsupported"], true, "{}", answered.line);
            unsupported += 1;
            continue;
        }
        let count = tally.entry(record["group"].as_str().unwrap_or_default().to_string()).or_default();
        match judge(&record, &answered.line, answered.returned.as_deref()) {
            Ok(()) => count.0 += 1,
            Err(message) => {
                count.1 += 1;
                failures.push(format!("{}: {message}", record["id"]));
            }
        }
    }
    println!("{tally:?}, not built {unsupported}");
    let judged: usize = tally.values().map(|(passed, failed)| passed + failed).sum();
    assert_eq!(judged + unsupported, RECORDS);
    assert!(failures.is_empty(), "{} records fail:\n{}", failures.len(), failures.join("\n"));
}

/// An answer that is not what is expected is a failure: the judge does not let everything pass.
#[test]
fn wrong_answers_are_found() {
    let want = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let record = want(
        r#"{"expect": {"kind": "value", "dtype": "f32", "shape": [2], "data": ["-0.0", 1.5], "rtol": 0, "atol": 0}, "attrs": {}}"#,
    );
    let line = |data: &str| {
        want(&format!(r#"{{"result": {{"kind": "value", "dtype": "f32", "shape": [2], "data": {data}}}}}"#))
    };
    assert!(judge(&record, &line(r#"["-0.0", 1.5]"#), None).is_ok());
    for wrong in [r#"[0.0, 1.5]"#, r#"["-0.0", 1.5000001]"#, r#"["-0.0"]"#, r#"["-0.0", "nan"]"#] {
        assert!(judge(&record, &line(wrong), None).is_err(), "{wrong}");
    }
    assert!(judge(&record, &want(r#"{"error": {"code": "broadcast"}}"#), None).is_err());
}
